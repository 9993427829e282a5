package model

import "slices"

// follower finds messages of an older view of a place in a newer page of it.
//
// Positions change with all that is pushed and popped, so it first looks for
// anchors: messages that are in both views, once in each. A message is then the one
// with its bytes that is nearest to where the anchors say it should be.
type follower struct {
	page    page
	byID    map[identity][]int64
	anchors []anchor // by their old position
	taken   map[int64]bool
}

// anchor is a message whose old and new positions are certain.
type anchor struct{ was, is int64 }

type fate uint8

const (
	fateUnseen fate = iota // should be outside the page
	fateSeen
	fateGone // should be on the page and is not
	fateLost // not on the page, and neither is anything else that was seen before
)

// newFollower compares the old rows, the first at position from, with a page.
func newFollower(old []MessageRow, from int64, p page) *follower {
	f := &follower{page: p, byID: map[identity][]int64{}, taken: map[int64]bool{}}
	for i, r := range p.rows {
		f.byID[r.id] = append(f.byID[r.id], p.from+int64(i))
	}
	copies := map[identity]int{}
	for _, r := range old {
		copies[r.id]++
	}
	for i, r := range old {
		if now := f.byID[r.id]; copies[r.id] == 1 && len(now) == 1 {
			f.anchors = append(f.anchors, anchor{was: from + int64(i), is: now[0]})
		}
	}
	return f
}

// find returns where a message is now, or, if it is not there, where what
// followed it is. Of identical copies claimed before none is found again.
func (f *follower) find(s sighting) (pos int64, fate fate) {
	expected := f.expected(s.pos)
	nearest := int64(-1)
	for _, p := range f.byID[s.id] {
		if !f.taken[p] && (nearest < 0 || abs(p-expected) < abs(nearest-expected)) {
			nearest = p
		}
	}
	last := f.page.from + int64(len(f.page.rows))
	switch {
	case nearest >= 0:
		return nearest, fateSeen
	case int64(len(f.page.rows)) == f.page.total:
		return f.gap(s.pos), fateGone
	case len(f.anchors) == 0:
		return s.pos, fateLost
	case expected < f.page.from || expected >= last && last < f.page.total:
		return expected, fateUnseen
	}
	return f.gap(s.pos), fateGone
}

// claim is find for one of several: what it finds is not found again.
func (f *follower) claim(s sighting) (int64, fate) {
	pos, fate := f.find(s)
	if fate == fateSeen {
		f.taken[pos] = true
	}
	return pos, fate
}

// expected is where a message should be, going by the anchor nearest to it.
func (f *follower) expected(pos int64) int64 {
	before, after := f.around(pos)
	switch {
	case before == nil && after == nil:
		return pos
	case before == nil || after != nil && after.was-pos < pos-before.was:
		return after.is - (after.was - pos)
	}
	return before.is + (pos - before.was)
}

// gap is where the messages around a missing one have closed up: its follower's place.
func (f *follower) gap(pos int64) int64 {
	before, after := f.around(pos)
	switch {
	case after != nil:
		return after.is
	case before != nil:
		return before.is + 1
	}
	return pos
}

// around returns the anchors next to a position.
func (f *follower) around(pos int64) (before, after *anchor) {
	i, _ := slices.BinarySearchFunc(f.anchors, pos, func(a anchor, pos int64) int { return int(a.was - pos) })
	if i > 0 {
		before = &f.anchors[i-1]
	}
	if i < len(f.anchors) {
		after = &f.anchors[i]
	}
	return before, after
}

func (f *follower) at(pos int64) MessageRow { return f.page.rows[pos-f.page.from] }

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}
