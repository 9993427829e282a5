package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redq/queue"
	"redq/queue/filter"
	"redq/queue/sieve"
)

const (
	// siftStep is how long a search goes on before it tells how far it is.
	siftStep = 500 * time.Millisecond
	// siftMatches is after how many matches it hands over what it has.
	siftMatches = 5000
)

// sift walks one place for what matches a filter, which may be all, and tells how it goes.
type sift struct {
	c     connection
	queue queue.Queue
	place queue.Place
	sieve sieve.Sieve
	gauge *gauge // shown to who waits at a terminal for a filter

	next    queue.Spot
	done    bool
	looked  int64
	total   int64 // messages in the place
	matched int64
}

// newSift begins a search at a position. What is due is decided by the server's clock now.
func (r *run) newSift(ctx context.Context, c connection, q queue.Queue, p queue.Place, m filter.Matcher, from int64) (*sift, error) {
	page, err := c.Peek(ctx, q, p, 0, 1)
	if err != nil {
		return nil, err
	}
	s := &sift{
		c: c, queue: q, place: p, next: queue.At(from), gauge: &gauge{},
		sieve: sieve.Sieve{Filter: m, Unit: q.Unit, Now: page.Now},
	}
	if !m.All() {
		s.gauge = r.newGauge()
	}
	return s, nil
}

// more returns the next matches, at most limit of them; none when a step found none.
func (s *sift) more(ctx context.Context, limit int) ([]queue.Message, error) {
	o := queue.SearchOptions{Limit: limit, Within: siftStep}
	if !s.sieve.Filter.All() {
		o.Match = func(m queue.Message) (bool, error) { return s.sieve.Match(ctx, m) }
	}
	if s.looked > 0 {
		s.gauge.show("looked at %d of %d messages, %d match", s.looked, s.total, s.matched)
	}
	f, err := s.c.Search(ctx, s.queue, s.place, s.next, o)
	s.gauge.clear()
	s.next, s.done = f.Next, f.Done
	s.looked, s.total = s.looked+f.Looked, f.Total
	s.matched += int64(len(f.Messages))
	s.sieve.Unread(f.Unread)
	if errors.Is(err, sieve.ErrGaveUp) {
		err = failf("%v (looked at %d of %d messages)", err, s.looked, s.total)
	}
	return f.Messages, err
}

// each hands up to count matches to show as they are found. Their payloads may be heads.
func (s *sift) each(ctx context.Context, count int64, show func(queue.Message) error) error {
	for !s.done && s.matched < count {
		found, failed := s.more(ctx, int(min(count-s.matched, siftMatches)))
		for _, m := range found {
			if err := show(m); err != nil {
				return err
			}
		}
		if failed != nil {
			return failed
		}
	}
	return nil
}

// conclude tells what a person would not see from the matches: that there are none, and
// those that could not be decided.
func (r *run) conclude(s sieve.Sieve, looked, matched int64) {
	if s.Filter.All() {
		return
	}
	if matched == 0 && looked > 0 {
		fmt.Fprintf(r.Stderr, "redq: none of %s matches\n", plural(looked))
	}
	if n := s.Undecided; n > 0 {
		fmt.Fprintf(r.Stderr, "redq: %d of %s undecided, which do not match: %s\n", n, plural(looked), s.Reason())
	}
}
