package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

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

// collect fixes the set: the messages selected, the oldest first to the limit; newest
// turns that round, as a re-drive to the front needs it. What arrives later is not part of it.
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

// gather reads the oldest of the messages selected, to the limit, in the place's own
// order: those that go to the front one by one.
func (r *run) gather(ctx context.Context, c connection, q queue.Queue, s selection) ([]queue.Message, error) {
	from, err := c.start(ctx, q, s)
	if err != nil {
		return nil, err
	}
	search, err := r.newSift(ctx, c, q, s.place, s.filter, from)
	if err != nil {
		return nil, err
	}
	var all []queue.Message
	for !search.done {
		found, err := search.more(ctx, siftMatches)
		if err != nil {
			return nil, err
		}
		// A selection of few costs the memory of few.
		if all = append(all, found...); s.limit > 0 && int64(len(all)) > s.limit {
			all = s.oldest(all)
		}
		if s.place == queue.Delayed && int64(len(all)) == s.limit {
			break // what follows is due later
		}
	}
	r.conclude(search.sieve, search.looked, search.matched)
	return all, nil
}

// start returns the position to search from: near the tail, where the oldest
// lie, when their number is all that matters.
func (c connection) start(ctx context.Context, q queue.Queue, s selection) (int64, error) {
	if s.limit == 0 || s.place == queue.Delayed || !s.filter.All() || len(q.Keys(s.place)) != 1 {
		return 0, nil
	}
	page, err := c.Peek(ctx, q, s.place, 0, 1)
	return max(0, page.Total-s.limit), err
}

// oldest keeps as many of ms as the limit allows. In a sorted set the lowest
// score is first. A list has its newest at the head; of several lists nobody
// knows which is older, so each gives what lies nearest to its tail.
func (s selection) oldest(ms []queue.Message) []queue.Message {
	if s.place == queue.Delayed {
		return ms[:s.limit]
	}
	order := make([]int, len(ms))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(toTail(ms[a]), toTail(ms[b])) })
	order = order[:s.limit]
	slices.Sort(order)
	kept := make([]queue.Message, len(order))
	for i, at := range order {
		kept[i] = ms[at]
	}
	return kept
}

func toTail(m queue.Message) int64 { return m.Len - m.Index }

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
