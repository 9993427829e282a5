package queue

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
)

const (
	// walkOverlap and walkOverlapBytes are how many messages of a step are read again with
	// the next one at most, of which there is always one.
	walkOverlap      = 128
	walkOverlapBytes = 64 << 10
	// walkPlain is the size of messages from which on they are read by a plain command: a
	// script copies each several times.
	walkPlain = 256 << 10
)

// Walk passes over the messages of one key once, the oldest first, as a consumer would
// take them; those of a sorted set from the lowest score on. It only reads, in steps of up
// to 1,000 messages or 2 MB, and of one message when that is larger.
//
// Consumers may take and producers add messages meanwhile. It ends after as many
// messages as the key held when it began. Of those none is passed over that stays where it
// is, and none is met twice: a step begins with messages of the one before, which tell how far
// the key has moved. Only equal messages can be mistaken for each other there. Where all
// messages that it has met seem to be gone, it goes on with the oldest that is there.
type Walk struct {
	c    *Client
	side side

	at    int64     // position, from the end, behind the last message that was met
	last  []Message // those before it
	chunk int       // how many may be read at once, going by the last step
	total int64     // messages of the key when it was last read
	first int64     // and when the walk began; -1 before
	seen  int64     // messages returned
	done  bool
}

// Walk begins a walk over a key of a place of q.
func (c *Client) Walk(q Queue, p Place, key string) *Walk {
	return &Walk{c: c, side: side{place: p, key: key, end: workEnd(q, p, false)}, first: -1, chunk: 1}
}

// Total is how many messages the key held when the walk began; 0 before the first step.
func (w *Walk) Total() int64 { return max(0, w.first) }

// Next returns the next messages with their whole payloads, none at the end. After an error
// it may be asked again.
func (w *Walk) Next(ctx context.Context) ([]Message, error) {
	for !w.done {
		from := w.at - int64(len(w.last))
		page, err := w.read(ctx, from)
		if err != nil {
			return nil, err
		}
		seen, held := w.behind(page)
		if !held {
			if from, page, seen, err = w.find(ctx); err != nil {
				return nil, err
			}
		}
		if fresh := w.took(from, page, seen); len(fresh) > 0 {
			return fresh, nil
		}
	}
	return nil, nil
}

// took moves the walk behind a page, of which so many were met before, and returns the others.
func (w *Walk) took(from int64, page []Message, seen int) []Message {
	fresh := page[seen:]
	if left := w.first - w.seen; int64(len(fresh)) >= left {
		fresh, w.done = fresh[:left], true
	}
	w.seen += int64(len(fresh))
	w.at = from + int64(seen+len(fresh))
	w.done = w.done || w.at >= w.total
	passed, size, n := page[:seen+len(fresh)], int64(0), 0
	for n < min(len(passed), walkOverlap) {
		if size += passed[len(passed)-1-n].Size; n > 0 && size > walkOverlapBytes {
			break
		}
		n++
	}
	w.last = tailOf(passed, n)
	return fresh
}

// behind returns how many messages of a page were met before, going by the last ones, and
// whether the page is where the walk stands.
func (w *Walk) behind(page []Message) (seen int, held bool) {
	if len(w.last) == 0 {
		return 0, true
	}
	if w.side.place == Delayed {
		seen, same := slices.BinarySearchFunc(page, w.last[len(w.last)-1], byScore)
		if same {
			seen++
		}
		return seen, seen > 0
	}
	if at, ok := rejoined(w.last, page); ok {
		return at, true
	}
	seen = thinned(w.last, page)
	return seen, seen > 0
}

// byScore is the order of a sorted set.
func byScore(a, b Message) int {
	x, _ := a.Score.Float()
	y, _ := b.Score.Float()
	return cmp.Or(cmp.Compare(x, y), bytes.Compare(a.Payload, b.Payload))
}

// thinned returns how many messages at the beginning of page are what is left of last,
// of which any may have been removed.
func thinned(last, page []Message) int {
	next := 0
	for n, m := range page {
		for next < len(last) && !m.Same(last[next]) {
			next++
		}
		if next == len(last) {
			return n
		}
		next++
	}
	return len(page)
}

// find looks for the place where the walk stands in a key that has moved by more than the
// overlap. Where nothing is left of it, all that the walk has met was taken.
func (w *Walk) find(ctx context.Context) (from int64, page []Message, seen int, err error) {
	if w.side.place == Delayed {
		return w.findScore(ctx)
	}
	for until := w.at + stepMessages; until > 0; {
		lowest := max(0, until-2*stepMessages)
		for from = lowest; from < until; {
			if page, err = w.read(ctx, from); err != nil {
				return 0, nil, 0, err
			}
			if seen, held := w.behind(page); held {
				return from, page, seen, nil
			}
			if len(page) == 0 {
				break
			}
			from += int64(max(1, len(page)-searchAnchor))
		}
		until = lowest
	}
	page, err = w.read(ctx, 0)
	return 0, page, 0, err
}

// findScore is find for a sorted set, whose order tells where the walk stands.
func (w *Walk) findScore(ctx context.Context) (from int64, page []Message, seen int, err error) {
	last := w.last[len(w.last)-1]
	from, err = w.c.read.ZCount(ctx, w.side.key, "-inf", "("+string(last.Score)).Result()
	if err != nil {
		return 0, nil, 0, w.c.readError(err)
	}
	for { // past those of the same score that were met
		if page, err = w.read(ctx, from); err != nil {
			return 0, nil, 0, err
		}
		seen, _ = w.behind(page)
		if seen < len(page) || from+int64(seen) >= w.total {
			return from, page, seen, nil
		}
		from += int64(seen)
	}
}

// read reads the messages of a step from a position on.
func (w *Walk) read(ctx context.Context, from int64) ([]Message, error) {
	sp, err := w.span(ctx, from, stepMessages+len(w.last))
	if err != nil {
		return nil, err
	}
	w.total, w.chunk = sp.total, sp.chunk()
	if w.first < 0 {
		w.first = w.total
	}
	ms := make([]Message, len(sp.all))
	for i, m := range sp.all {
		ms[i] = m.message(w.side, from+int64(i), sp.total)
	}
	return ms, nil
}

// span reads by the script, or without where that is denied or too costly.
func (w *Walk) span(ctx context.Context, from int64, n int) (span, error) {
	var large int64 // payloads of this size may follow
	for _, m := range w.last {
		large = max(large, m.Size)
	}
	if large < walkPlain && !w.c.lacks.scripts.Load() {
		sp, err := w.c.readSpanBy(ctx, w.side, from, n, math.MaxInt64, w.chunk)
		if !errors.Is(err, ErrNoScripts) {
			return sp, err
		}
	}
	n = min(n, len(w.last)+plainMessages)
	if large > 0 {
		n = len(w.last) + int(max(1, min(plainMessages, stepBytes/large)))
	}
	return w.c.readSpanPlain(ctx, w.side, from, n)
}

// readSpanPlain is readSpan without a script: all payloads are read whole.
func (c *Client) readSpanPlain(ctx context.Context, s side, from int64, n int) (span, error) {
	total, err := c.length(ctx, s.place, s.key)
	if err != nil || from >= total {
		return span{from: from, total: total}, err
	}
	first, last := from, from+int64(n)-1
	if s.end == Right {
		first, last = -last-1, -from-1
	}
	entries, err := c.window(ctx, s.place, s.key, first, last)
	if err != nil {
		return span{}, err
	}
	if s.end == Right {
		slices.Reverse(entries)
	}
	sp := span{from: from, total: total, all: make([]spanned, len(entries))}
	for i, e := range entries {
		sp.all[i] = spanned{payload: []byte(e.payload), size: int64(len(e.payload)), score: e.score}
		sp.bytes += sp.all[i].size
	}
	return sp, nil
}
