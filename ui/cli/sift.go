package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	tell  io.Writer // where a person watches; nil when nobody does

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
	s := &sift{c: c, queue: q, place: p, next: queue.At(from), sieve: sieve.Sieve{Filter: m, Unit: q.Unit, Now: page.Now}}
	if _, ok := terminalOf(r.Stderr); ok && !m.All() {
		s.tell = r.Stderr
	}
	return s, nil
}

// more returns the next matches, at most limit of them; none when a step found none.
func (s *sift) more(ctx context.Context, limit int) ([]queue.Message, error) {
	o := queue.SearchOptions{Limit: limit, Within: siftStep}
	if !s.sieve.Filter.All() {
		o.Match = func(m queue.Message) (bool, error) { return s.sieve.Match(ctx, m) }
	}
	s.progress()
	f, err := s.c.Search(ctx, s.queue, s.place, s.next, o)
	s.unprogress()
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

// clearLine takes back what stands on the line of a terminal.
const clearLine = "\r\x1b[K"

// progress tells how far it is, while the next step is made.
func (s *sift) progress() {
	if s.tell != nil && s.looked > 0 {
		fmt.Fprintf(s.tell, "looked at %d of %d messages, %d match", s.looked, s.total, s.matched)
	}
}

func (s *sift) unprogress() {
	if s.tell != nil {
		fmt.Fprint(s.tell, clearLine)
	}
}

// conclude tells what a person would not see from the matches: that there are none, and
// those that could not be decided.
func (s *sift) conclude(w io.Writer) {
	if s.sieve.Filter.All() {
		return
	}
	if s.matched == 0 && s.looked > 0 {
		fmt.Fprintf(w, "redq: none of %s matches\n", plural(int(s.looked)))
	}
	if n := s.sieve.Undecided; n > 0 {
		fmt.Fprintf(w, "redq: %d of %s undecided, which do not match: %s\n", n, plural(int(s.looked)), s.sieve.Reason())
	}
}
