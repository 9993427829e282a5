package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// How much one step of EnqueueAll adds at most: enough that a round trip and a script cost
// nothing beside it, little enough that other clients of the server do not wait.
const (
	enqueueMessages = 1000
	enqueueBytes    = 1 << 20
)

// countEnqueued is the counter of messages added (see Queue.StatsKey).
const countEnqueued = "enqueued"

// Schedule adds a message that is due at an instant. It is Enqueue with At.
func (c *Client) Schedule(ctx context.Context, q Queue, payload []byte, at time.Time) (Enqueued, error) {
	return c.Enqueue(ctx, q, payload, EnqueueOptions{At: at, Delay: true})
}

// Scheduled is a message and when it is due.
type Scheduled struct {
	Payload []byte
	At      time.Time
}

// EnqueuedAll is what became of the messages of an EnqueueAll or ScheduleAll.
type EnqueuedAll struct {
	Place Place
	Key   string
	Done  int // added
	// Already are the positions of those whose equal bytes were delayed already, or came
	// before them in the call; they were not added. That is no error.
	Already []int
	// Unknown counts messages whose batch was sent and whose answer never came.
	Unknown int
	IDs     []string // the ids of the envelopes with Wrap, one a payload, sent or not
	Len     int64    // of the key after the last batch
}

// EnqueueAll adds many messages, up to 1,000 or 1 MB of them in one round trip. A batch is
// added as a whole or not at all. payloads[0] is popped first of them, also with Front, which puts them
// before all that wait. Delayed ones have the same delay or due time; see ScheduleAll
// for one each. They are counted where the queue has Stats.
//
// The batches go one after the other, with Front the last payloads first, and the first one that
// fails ends it: the result then says how many are added (Done, Already), the next Unknown ones
// may be, and none behind those was sent. Nothing is ever sent twice. The error is ErrUnknownOutcome when an answer did
// not come, ctx's when it ended between two batches, else what the server refused.
func (c *Client) EnqueueAll(ctx context.Context, q Queue, payloads [][]byte, o EnqueueOptions) (EnqueuedAll, error) {
	to, err := c.destination(q, o)
	if err != nil {
		return EnqueuedAll{}, err
	}
	var score Score
	if to.each {
		if score, err = dueScore(q.Unit, o.At); err != nil {
			return EnqueuedAll{}, err
		}
	}
	ms := make([]outgoing, len(payloads))
	for i, p := range payloads {
		ms[i] = outgoing{p, score}
	}
	var ids []string
	if o.Wrap {
		if ids, err = wrapAll(ms); err != nil {
			return EnqueuedAll{}, err
		}
	}
	if o.Front {
		slices.Reverse(ms) // what is pushed last lies in front
	}
	all, err := c.addAll(ctx, to, ms)
	all.IDs = ids
	return all, err
}

// ScheduleAll adds many messages to delayed, each with its own due time, as EnqueueAll does.
// WrapMessage keeps equal ones apart.
func (c *Client) ScheduleAll(ctx context.Context, q Queue, messages []Scheduled) (EnqueuedAll, error) {
	to, err := c.destination(q, EnqueueOptions{Delay: true})
	if err != nil {
		return EnqueuedAll{}, err
	}
	to.each = true
	ms := make([]outgoing, len(messages))
	for i, m := range messages {
		score, err := dueScore(q.Unit, m.At)
		if err != nil {
			return EnqueuedAll{}, fmt.Errorf("message %d: %w", i, err)
		}
		ms[i] = outgoing{m.Payload, score}
	}
	return c.addAll(ctx, to, ms)
}

// addAll adds messages batch by batch until one fails.
func (c *Client) addAll(ctx context.Context, to destination, ms []outgoing) (EnqueuedAll, error) {
	all := EnqueuedAll{Place: to.place, Key: to.key}
	for from := 0; from < len(ms); {
		batch := firstBatch(ms[from:])
		err := c.addBatch(ctx, to, batch, from, &all)
		if err != nil && all.Done > 0 {
			err = fmt.Errorf("%d of %d messages were added, then: %w", all.Done, len(ms), err)
		}
		if err != nil {
			return all, err
		}
		from += len(batch)
	}
	return all, nil
}

// wrapAll puts every message into an envelope and returns their ids.
func wrapAll(ms []outgoing) (ids []string, err error) {
	ids = make([]string, len(ms))
	for i := range ms {
		if ms[i].payload, ids[i], err = WrapMessage(ms[i].payload); err != nil {
			return nil, fmt.Errorf("payload %d: %w", i, err)
		}
	}
	return ids, nil
}

// firstBatch returns the messages that one step adds, one at least.
func firstBatch(ms []outgoing) []outgoing {
	size := 0
	for i, m := range ms {
		size += len(m.payload)
		if i == enqueueMessages || i > 0 && size > enqueueBytes {
			return ms[:i]
		}
	}
	return ms
}

// addBatch adds the messages of one batch, the first of which is at position from of
// all, and takes what became of them into all.
func (c *Client) addBatch(ctx context.Context, to destination, batch []outgoing, from int, all *EnqueuedAll) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	// A program that cancels must not make an outcome unknown.
	sending, done := c.bounded(ctx)
	defer done()
	if to.place == Ready {
		n, err := c.push(sending, to, batch)
		return all.took(batch, n, nil, err)
	}
	cl := to.call(batch)
	c.runCalls(sending, []*call{cl})
	present := cl.present()
	for i := range present {
		present[i].at += from
	}
	return all.took(batch, cl.num(1), present, cl.result().Err)
}

// took notes the answer for a batch.
func (all *EnqueuedAll) took(batch []outgoing, length int64, present []delayedAlready, err error) error {
	switch {
	case errors.Is(err, ErrUnknownOutcome):
		all.Unknown = len(batch)
	case err == nil:
		all.Done += len(batch) - len(present)
		all.Len = length
		for _, p := range present {
			all.Already = append(all.Already, p.at)
		}
	}
	return err
}

// push adds messages to a list and returns its length. One command is one step, checks
// the type and costs the server less than a script around it.
func (c *Client) push(ctx context.Context, to destination, ms []outgoing) (int64, error) {
	args := make([]any, 2, 2+len(ms))
	args[0], args[1] = "lpush", to.key
	if to.end == Right {
		args[0] = "rpush"
	}
	for _, m := range ms {
		args = append(args, m.payload)
	}
	for round := 0; ; round++ {
		n, err := c.pushOnce(ctx, to, args, int64(len(ms)))
		if !isRedirect(err) || round >= redirects || ctx.Err() != nil {
			return n, classify(err)
		}
		c.awaitRedirect(ctx, round)
	}
}

// pushOnce sends the command that adds n messages, and counts them in the same round trip
// where they are counted. What cannot be counted is added all the same.
func (c *Client) pushOnce(ctx context.Context, to destination, args []any, n int64) (int64, error) {
	pipe := c.write.Pipeline()
	pushed := pipe.Do(ctx, args...)
	var counted *redis.IntCmd
	if to.stats != "" {
		counted = pipe.HIncrBy(ctx, to.stats, countEnqueued, n)
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	length, err := pushed.Int64()
	if isReply(err) && counted != nil && counted.Err() == nil { // what was refused has been counted
		if err := c.write.HIncrBy(ctx, to.stats, countEnqueued, -n).Err(); err != nil {
			c.logf("counting in %s: %v", to.stats, err)
		}
	}
	return length, err
}
