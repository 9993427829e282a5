package model

import (
	"redq/queue"
	"redq/queue/filter"
)

// maxMatches is how many matches of a filter are kept; researchAll up to how many
// messages a finished search is made again when the place has changed.
const (
	maxMatches  = 10_000
	researchAll = 2_000
)

// Search is a filter at work in one place.
type Search struct {
	Text     string // the filter as typed; "" when there is none
	Searched int64  // messages looked at
	Of       int64  // messages in the place when it began
	Running  bool
	Capped   bool   // stopped at the most matches redq keeps
	Err      string // why it stopped early

	next    int64 // position where the next step begins
	gen     int   // of the search under way: answers of others are dropped
	matcher filter.Matcher
	fresh   []MessageRow // found by a repeated search; shown when it is done
	repeat  bool
}

// found is a step's answer.
type found struct {
	rows []MessageRow
	next int64 // where to go on; -1 at the end
	err  error
}

// searching starts a search from the head. A repeated one keeps the old matches
// on screen until it is done.
func (l List) searching(text string, m filter.Matcher, total int64, repeat bool) List {
	gen := l.Search.gen + 1
	l.Search = Search{Text: text, Of: total, Running: true, gen: gen, matcher: m, repeat: repeat}
	if repeat {
		return l
	}
	return l.emptied()
}

// unfiltered drops the filter: the place is read from its head again.
func (l List) unfiltered() List {
	l.Search = Search{gen: l.Search.gen + 1}
	return l.emptied()
}

// emptied forgets the rows, and with them cursor and marks.
func (l List) emptied() List {
	return List{Place: l.Place, Search: l.Search, At: l.At}
}

// stepped takes what one step of the search found. more tells to go on.
func (l List) stepped(f found, height int) (_ List, more bool) {
	s := &l.Search
	if f.err != nil {
		s.Running, s.Err = false, queue.Explain(f.err)
		return l, false
	}
	s.Searched, s.next = max(s.Searched, f.next), f.next
	rows := l.Rows
	if s.repeat {
		rows = s.fresh
	}
	rows = append(rows[:len(rows):len(rows)], f.rows...)
	if len(rows) >= maxMatches {
		rows, s.Capped = rows[:maxMatches], true
	}
	s.Running = f.next >= 0 && !s.Capped
	if !s.Running && f.next < 0 {
		s.Searched = max(s.Of, s.Searched)
	}
	if s.repeat && s.Running {
		s.fresh = rows
		return l, true
	}
	s.fresh = nil
	return l.paged(page{rows: rows, total: int64(len(rows))}, height), s.Running
}
