package cli

import (
	"context"
	"errors"
	"fmt"

	"redq/queue"
	"redq/queue/filter"
	"redq/queue/sieve"
)

// selection says which messages of a place an operation is about.
type selection struct {
	place  queue.Place
	filter filter.Matcher
	limit  int64 // 0: all
}

// collect fixes the set: the messages selected, to the limit the oldest. newest has an
// operation begin at the other end, as a re-drive to the front needs it. What arrives later
// is not part of the set.
func (r *run) collect(ctx context.Context, c connection, q queue.Queue, s selection, newest bool) (*queue.Set, error) {
	page, err := c.Peek(ctx, q, s.place, 0, 1) // for the server's clock
	if err != nil {
		return nil, err
	}
	sift := sieve.Sieve{Filter: s.filter, Unit: q.Unit, Now: page.Now}
	o := queue.SelectOptions{Limit: s.limit, Newest: newest}
	if !s.filter.All() {
		o.Match = func(m queue.Message) (bool, error) { return sift.Match(ctx, m) }
	}
	gauge := &gauge{}
	if !s.filter.All() {
		gauge = r.newGauge()
	}
	o.Progress = func(looked, taken int64) {
		gauge.show("looked at %d of %d messages, %d match", looked, max(looked, page.Total), taken)
	}
	set, err := c.Select(ctx, q, s.place, o)
	gauge.clear()
	switch {
	case errors.Is(err, sieve.ErrGaveUp):
		return nil, failf("%v (looked at %d of %d messages)", err, set.Looked, page.Total)
	case err != nil:
		return nil, err
	}
	sift.Unread(set.Unread)
	r.conclude(sift, set.Looked, set.Count)
	return set, nil
}

// describe is the selection in words: "backup of queueA (queueA:backup)".
func (s selection) describe(q queue.Queue) string {
	keys := q.Keys(s.place)
	where := line(keys[0])
	if len(keys) > 1 {
		where = fmt.Sprintf("%d lists", len(keys))
	}
	text := fmt.Sprintf("%s of %s (%s)", s.place, line(q.Name), where)
	if !s.filter.All() {
		text += " matching " + line(s.filter.String())
	}
	return text
}

// plural returns "1 message" or "2 messages".
func plural[N int | int64](n N) string {
	if n == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}
