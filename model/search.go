package model

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redq/queue"
	"redq/queue/filter"
	"redq/queue/sieve"
)

// A filter may match a million messages. The first of them are kept for showing, so many
// and of so many bytes; the others are counted.
const (
	maxRows     = 10_000
	maxRowBytes = 16 << 20
)

// A finished search is made again when the place has changed, if the place has no more
// than researchAll messages and the last search took no longer than researchTime.
const (
	researchAll  = 2_000
	researchTime = time.Second
)

// Search is a filter at work in one place.
type Search struct {
	Text string // the filter as typed; "" when there is none
	Scan
	Running bool
	Err     string // why it stopped before the end
	GaveUp  bool   // it does not go on by itself: the jq expression takes too long

	gen     int // of the search under way: answers of others are dropped
	matcher filter.Matcher
	again   *repeat // the same search once more, shown when it is done
}

// Scan is how far a search has come. What it could not decide about does not match.
type Scan struct {
	Searched int64 // messages looked at
	Of       int64 // messages in the place
	Beyond   int64 // matches that are not kept for showing
	sieve.Tally

	started time.Time // client's clock
	now     time.Time // server's clock then, by which messages are due
	took    time.Duration
	bytes   int64 // of the payloads kept
	next    queue.Spot
}

// repeat is a search under way while the matches of the last one are on screen.
type repeat struct {
	Scan
	rows []MessageRow
}

// found is a step's answer.
type found struct {
	queue.Found
	rows   []MessageRow
	beyond int64 // matches for which there was no room
	tally  sieve.Tally
	err    error
}

// Matched is how many messages match, as far as the search has come.
func (l List) Matched() int64 { return l.Total + l.Search.Beyond }

// searching starts a search from the head. A repeated one keeps the old matches
// on screen until it is done.
func (l List) searching(text string, m filter.Matcher, scan Scan, again bool) List {
	s := Search{Text: text, Scan: scan, Running: true, gen: l.Search.gen + 1, matcher: m}
	if again {
		s.Scan, s.again = l.Search.Scan, &repeat{Scan: scan}
		l.Search = s
		return l
	}
	l.Search = s
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

// scan is the one under way and what it has found so far.
func (l List) scan() (Scan, []MessageRow) {
	if a := l.Search.again; a != nil {
		return a.Scan, a.rows
	}
	return l.Search.Scan, l.Rows
}

// stepped takes what one step of the search found.
func (l List) stepped(f found, now time.Time, height int) List {
	scan, rows := l.scan()
	scan = scan.after(f, now)
	rows = append(rows[:len(rows):len(rows)], f.rows...)
	s := &l.Search
	s.GaveUp = errors.Is(f.err, sieve.ErrGaveUp)
	s.Running, s.Err = f.err == nil && !f.Done, ""
	if f.err != nil {
		s.Err = explain(f.err)
	}
	if s.again != nil && !f.Done && !s.GaveUp {
		s.again = &repeat{scan, rows}
		return l
	}
	fresh := s.again != nil || len(f.rows) > 0 || !l.Loaded
	s.Scan, s.again = scan, nil
	if !fresh {
		return l
	}
	return l.paged(page{rows: rows, total: int64(len(rows))}, height)
}

// after is the scan after another step.
func (s Scan) after(f found, now time.Time) Scan {
	s.Searched += f.Looked
	if s.Of = max(f.Total, s.Searched); f.Done {
		s.Of = f.Total
	}
	s.Beyond += f.beyond
	s.Tally, s.next, s.took = f.tally, f.Next, now.Sub(s.started)
	for _, r := range f.rows {
		s.bytes += rowBytes(r.Message)
	}
	return s
}

// rowBytes is how much of a message's payload is kept.
func rowBytes(m queue.Message) int64 {
	return min(m.Size, queue.HeadBytes+queue.TailBytes)
}

// catch is what one step of a search has found.
type catch struct {
	sieve  sieve.Sieve
	rows   int   // for which there is room
	bytes  int64 // for which there is room
	beyond int64
}

// take reports whether a message matches and is to be kept.
func (c *catch) take(ctx context.Context, m queue.Message) (bool, error) {
	hit, err := c.sieve.Match(ctx, m)
	switch {
	case !hit || err != nil:
		return false, err
	case c.rows <= 0 || c.bytes <= 0:
		c.beyond++
		return false, nil
	}
	c.rows--
	c.bytes -= rowBytes(m)
	return true, nil
}

// outcome says how a search came to its end, when that is worth a sentence.
func (s Search) outcome() Status {
	switch {
	case s.GaveUp:
		return Status{Text: fmt.Sprintf("%s (at %s of %s)", s.Err, Thousands(s.Searched), Thousands(s.Of)), Kind: StatusError}
	case s.Undecided > 0:
		return Status{Text: fmt.Sprintf("%s undecided: %s", Thousands(s.Undecided), s.Reason()), Kind: StatusWarn}
	}
	return Status{}
}
