package model

import (
	"cmp"
	"slices"

	"redq/queue"
)

// Marks are the messages chosen for the next action. They hold on to the
// messages, not to positions. A value: changes return a new one.
type Marks struct {
	items []mark
}

type mark struct {
	sighting
	message queue.Message
	gone    bool
}

// sighting is a message and where it was seen.
type sighting struct {
	id  identity
	pos int64 // in the place
}

// Len returns how many messages are marked.
func (m Marks) Len() int { return len(m.items) }

// Gone returns how many of them were seen to have left the place.
func (m Marks) Gone() int {
	n := 0
	for _, it := range m.items {
		if it.gone {
			n++
		}
	}
	return n
}

// messages returns what is marked, in the place's own order.
func (m Marks) messages() []queue.Message {
	sorted := slices.SortedStableFunc(slices.Values(m.items), func(a, b mark) int { return cmp.Compare(a.pos, b.pos) })
	ms := make([]queue.Message, len(sorted))
	for i, it := range sorted {
		ms[i] = it.message
	}
	return ms
}

// seen returns where the marked messages were seen.
func (m Marks) seen() map[sighting]bool {
	seen := make(map[sighting]bool, len(m.items))
	for _, it := range m.items {
		seen[it.sighting] = true
	}
	return seen
}

// with adds messages that are not marked yet.
func (m Marks) with(add ...mark) Marks {
	seen := m.seen()
	items := slices.Clone(m.items)
	for _, a := range add {
		if !seen[a.sighting] {
			items = append(items, a)
		}
	}
	return Marks{items}
}

// toggled marks a message or takes its mark away.
func (m Marks) toggled(k mark) Marks {
	i := slices.IndexFunc(m.items, func(it mark) bool { return it.sighting == k.sighting })
	if i < 0 {
		return m.with(k)
	}
	return Marks{slices.Delete(slices.Clone(m.items), i, i+1)}
}

// followed moves the marks to where their messages are now.
func (m Marks) followed(f *follower) Marks {
	items := slices.Clone(m.items)
	for i, it := range items {
		pos, fate := f.claim(it.sighting)
		switch fate {
		case fateSeen:
			items[i].message, items[i].gone = f.at(pos).Message, false
		case fateGone:
			items[i].gone = true
		}
		items[i].pos = pos
	}
	return Marks{items}
}
