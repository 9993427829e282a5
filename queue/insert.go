package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

var scriptInsert = loadScriptWith("insert", "prelude")

// InsertMessages is how many messages one Insertion may have.
const InsertMessages = 1000

// metaLife is how long the hash of failed attempts is kept (see Queue.MetaKey).
const metaLife = 7 * 24 * time.Hour

// Inserter adds messages as they once were: exact bytes, order and scores. It works in
// steps, each of which happens as a whole or not at all, and once: the server keeps a stamp of it
// until Close, so that after a lost answer the step can be asked for again.
type Inserter struct {
	c       *Client
	queue   Queue
	trouble func(error)
	entry   string
	steps   int
	keys    map[string]bool // where steps went
	unknown bool            // there is a step of which nobody knows whether it happened
}

// Insertion is one step: some messages for one key of the queue, InsertMessages at most. Of each
// the payload counts, in a sorted set the score, and what is known of its failed attempts, which
// the queue's meta hash gets unless it knows of others.
type Insertion struct {
	Place    Place
	Key      string
	End      End // of a list: where they are pushed, one after the other
	Messages []Failed
}

// NewInserter returns an Inserter for q. trouble, when not nil, is told why the server is not asked
// at the moment while Insert waits for it, and nil when that is over.
func (c *Client) NewInserter(q Queue, trouble func(error)) *Inserter {
	if trouble == nil {
		trouble = func(error) {}
	}
	return &Inserter{c: c, queue: q, trouble: trouble, entry: rand.Text(), keys: map[string]bool{}}
}

// Insert carries out one step. It returns which of the messages were left out: a sorted set holds equal
// bytes once, and those that it has keep their score.
//
// A lost connection is waited for until ctx ends. The error is then ErrUnknownOutcome when the step was sent
// and no answer came: it must not be asked for again. With any other error nothing of the step has happened: ErrReadOnly, ErrWrongType,
// ErrCrossSlot, ErrNoScripts, ErrNotSent, a *RefusedError, or that of a ctx that ended before.
func (in *Inserter) Insert(ctx context.Context, step Insertion) (left []int, err error) {
	switch {
	case in.c.opts.ReadOnly:
		return nil, ErrReadOnly
	case len(step.Messages) == 0 || len(step.Messages) > InsertMessages:
		return nil, fmt.Errorf("a step has from 1 to %d messages, not %d", InsertMessages, len(step.Messages))
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	cl, err := in.call(step)
	if err != nil {
		return nil, err
	}
	in.keys[step.Key] = true
	in.steps++
	if err := in.insist(ctx, cl); err != nil {
		in.unknown = in.unknown || errors.Is(err, ErrUnknownOutcome)
		return nil, err
	}
	if res := cl.result(); res.Err != nil {
		return nil, res.Err
	}
	for number := range strings.SplitSeq(cl.str(1), ";") {
		if n, err := strconv.Atoi(number); err == nil {
			left = append(left, n-1)
		}
	}
	return left, nil
}

// call makes the call of a step.
func (in *Inserter) call(step Insertion) (*call, error) {
	stamp := bulkStampKey(step.Key, in.entry)
	if err := in.c.oneSlot(step.Key, stamp); err != nil {
		return nil, err
	}
	keys := []string{step.Key, stamp}
	args := make([]any, 0, 6+2*len(step.Messages))
	args = append(args, kind(step.Place), string(step.End), in.steps, stampLife.Milliseconds(), len(step.Messages))
	for _, m := range step.Messages {
		args = append(args, m.Payload)
	}
	if step.Place == Delayed {
		for _, m := range step.Messages {
			args = append(args, string(m.Score))
		}
	}
	// Where the meta hash lies in another slot the attempts cannot be kept, as consumers there cannot.
	meta := in.queue.MetaKey()
	if known := attemptsOf(step.Messages); len(known) > 0 && in.c.oneSlot(step.Key, meta) == nil {
		keys = append(keys, meta)
		args = append(append(args, known...), metaLife.Milliseconds())
	}
	return &call{script: scriptInsert, keys: keys, args: args}, nil
}

// attemptsOf returns the entries of the meta hash, each behind its digest.
func attemptsOf(ms []Failed) (pairs []any) {
	for _, m := range ms {
		if m.Attempts > 0 && !m.First.IsZero() {
			entry := fmt.Sprintf("%d %d %s", m.Attempts, m.First.UnixMilli(), m.Reason)
			pairs = append(pairs, digestOf(string(m.Payload)), entry)
		}
	}
	return pairs
}

// insist asks until there is an answer, which the stamp makes safe.
func (in *Inserter) insist(ctx context.Context, cl *call) error {
	var lost error
	run := &bulkRun{c: in.c}
	run.Progress = func(r BulkReport) { in.trouble(r.Trouble) }
	for {
		sending, done := in.c.bounded(ctx)
		in.c.runCalls(sending, []*call{cl})
		done()
		var refused *RefusedError
		switch {
		case lost != nil && errors.As(cl.err, &refused) && refused.Code == "READONLY":
			return lost // another server answers, which may not have heard of it yet
		case !isAway(cl.err):
			return nil
		case errors.Is(cl.err, ErrUnknownOutcome):
			lost = cl.err
		}
		err := run.await(ctx, cl.err, func(ctx context.Context) error { return in.c.write.Ping(ctx).Err() })
		in.trouble(nil)
		switch {
		case err == nil:
			cl.err, cl.reply = nil, nil
		case lost != nil:
			return lost
		case errors.Is(cl.err, ErrNotSent):
			return cl.err
		default:
			return fmt.Errorf("%w: %w", ErrNotSent, cl.err)
		}
	}
}

// Close removes the stamps, unless there is a step of which nobody knows whether it happened: then
// they stay for a week.
func (in *Inserter) Close(ctx context.Context) {
	if in.unknown {
		return
	}
	for key := range in.keys {
		forgetting, done := in.c.bounded(ctx)
		_ = in.c.write.Del(forgetting, bulkStampKey(key, in.entry)).Err() // else it expires
		done()
	}
}
