package queue

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"time"
)

// Bulk says what is done with the messages of a Set. Op is OpRedrive, OpDelete or OpReschedule.
type Bulk struct {
	Op Op

	// Of a re-drive: where to. ToKey is another list, ToPlace Delayed puts them into the
	// queue's delayed at the times that Due gives; else they go to ready (see Queue.RedriveTarget).
	ToKey   string
	ToPlace Place
	// Push is the end that producers of ToKey push to; "" is that of the set's queue.
	Push End
	// Front puts them where they are popped next, the oldest first of them. The set must
	// have been selected with Newest.
	Front bool
	// ResetAttempts forgets how often they have failed.
	ResetAttempts bool

	// Of a reschedule, or a re-drive into delayed: when they are due.
	Due Due

	// Rate is how many messages a second are asked for at most; 0 is full speed.
	Rate float64
	// Gate, when not nil, is called before each step, and may wait: a pause. An error ends
	// the operation there.
	Gate func(context.Context) error
	// Progress, when not nil, is called after each step, and when the server is not to be
	// reached, which a bulk operation waits for.
	Progress func(BulkReport)
}

// Due gives messages their due times.
type Due struct {
	At time.Time
	// Spread distributes the messages evenly over so much time from At on, in their order.
	Spread time.Duration
	// Jitter moves each message by up to so much, at random, to later.
	Jitter time.Duration
	// Shift, when At is zero, moves each by so much from the due time it has. Messages
	// whose score is no time are refused.
	Shift time.Duration
}

// BulkReport is what became of a bulk operation, so far or in the end.
type BulkReport struct {
	Op      Op
	Queue   string
	Entry   string // the journal's id for it; "" when there is no journal
	Total   int64  // messages of the set
	Done    int64
	Gone    int64 // not there any more: somebody was faster
	Refused int64
	Unknown int64
	// Why is why the first one was refused, or is unknown.
	Why error
	// Trouble is why the server is not asked at the moment; nil when all goes well.
	Trouble error
}

// Left is how many messages nothing is known of yet.
func (r BulkReport) Left() int64 { return r.Total - r.Done - r.Gone - r.Refused - r.Unknown }

// stampLife is how long the server remembers the steps of a bulk operation.
const stampLife = 7 * 24 * time.Hour

// RunBulk carries out an operation on the messages of a set, which is used up by it: step by step, each written to
// the journal before the server is asked and then done as a whole or not at all. It stops
// between two steps when ctx ends. A lost connection does not end it: the server is asked
// what became of the step that was under way. The error is why it has stopped before the
// end: what the server refuses is Refused with all that would have come behind it, what was not
// asked for because ctx has ended is Left.
func (c *Client) RunBulk(ctx context.Context, set *Set, b Bulk) (BulkReport, error) {
	r := &bulkRun{Bulk: b, c: c, set: set, entry: rand.Text()}
	r.log, r.newScore = &bulkJournal{run: r}, r.dueScore
	r.report = BulkReport{Op: b.Op, Queue: set.Queue.Name, Total: set.Count}
	if c.opts.Journal != nil {
		r.report.Entry = r.entry
	}
	if err := r.check(); err != nil {
		r.refused(set.Count, err)
		return r.report, err
	}
	err := r.parts(ctx)
	if err != nil && ctx.Err() == nil && !errors.Is(err, ErrUnknownOutcome) {
		r.refused(r.report.Left(), err)
	}
	return r.report, err
}

// bulkRun is one bulk operation under way.
type bulkRun struct {
	Bulk
	c      *Client
	set    *Set
	entry  string
	report BulkReport
	next   time.Time // when the rate allows the next step

	to      string // key; "" where the messages go nowhere
	target  string // none, list, zset or same, as script bulk has it
	pushTo  End    // of a list
	seq     int
	ordinal int64 // of the next message, for its due time
	unseen  bool  // there was a step of which nobody knows for certain
	log     stepLog
	// newScore is the score of the message that is n-th of the set, at that place of its
	// part, and has another one now.
	newScore func(n int64, at int, now Score) (Score, error)
}

// check refuses what cannot be done, and says where the messages go.
func (r *bulkRun) check() error {
	q := r.set.Queue
	r.pushTo = q.PushEnd()
	if r.ToKey != "" {
		r.pushTo = cmp.Or(r.Push, r.pushTo)
	}
	if r.Front {
		r.pushTo = r.pushTo.Other()
	}
	switch r.Op {
	case OpDelete:
		r.target = "none"
		if err := r.c.mayDelete(); err != nil {
			return err
		}
	case OpReschedule:
		if r.set.Place != Delayed {
			return fmt.Errorf("%w to reschedule in: the messages are in %s", ErrNoSuchPlace, r.set.Place)
		}
		r.target = "same"
	case OpRedrive:
		r.ToPlace, r.to, r.target = r.whereTo(q)
		if r.to == "" && r.target != "same" {
			return fmt.Errorf("%w: %s", ErrNoSuchPlace, r.ToPlace)
		}
	default:
		return fmt.Errorf("%s is no bulk operation", r.Op)
	}
	if r.c.opts.ReadOnly {
		return ErrReadOnly
	}
	for _, part := range r.set.parts {
		if part.key == r.to {
			return ErrSameKey
		}
		if r.target == "zset" && r.Due.At.IsZero() || r.target == "same" && r.Due == (Due{}) {
			return errors.New("a due time is needed")
		}
		keys := []string{part.key, r.stampKey(part.key), q.MetaKey()}
		if r.to != "" {
			keys = append(keys, r.to)
		}
		if err := r.c.oneSlot(keys...); err != nil {
			return err
		}
	}
	return nil
}

// whereTo says where a re-drive goes.
func (r *bulkRun) whereTo(q Queue) (place Place, key, target string) {
	place, key = q.RedriveTarget()
	switch {
	case r.ToKey != "":
		return Ready, r.ToKey, "list"
	case r.ToPlace == Delayed || place == Delayed:
		if r.set.Place == Delayed {
			return Delayed, "", "same"
		}
		return Delayed, q.Delayed, "zset"
	}
	return Ready, key, "list"
}

// stampKey is where the server remembers the steps on a key: beside it, in its slot.
func (r *bulkRun) stampKey(key string) string { return bulkStampKey(key, r.entry) }

// parts works through the whole set.
func (r *bulkRun) parts(ctx context.Context) error {
	var err error
	for _, part := range r.set.parts {
		if err = r.part(ctx, part); err != nil {
			break
		}
	}
	if failed := r.log.flush(); failed != nil {
		r.c.logf("journal: %v", failed) // an undo asks the server then
	} else if !r.unseen {
		r.forget(ctx)
	}
	return err
}

// forget removes the stamps of an operation of whose steps nothing is unknown.
func (r *bulkRun) forget(ctx context.Context) {
	forgetting, done := r.c.bounded(ctx)
	defer done()
	for _, part := range r.set.parts {
		_ = r.c.write.Del(forgetting, r.stampKey(part.key)).Err() // else it expires
	}
}

// scored reports whether the messages get new scores.
func (r *bulkRun) scored() bool { return r.target == "zset" || r.target == "same" }

// part works through the messages of one key.
func (r *bulkRun) part(ctx context.Context, p *setPart) error {
	done, err := r.foreseen(ctx, p)
	if done || err != nil {
		return err
	}
	w := walker{run: r, part: p}
	return w.walk(ctx)
}

// gate waits until the next n messages may be asked for.
func (r *bulkRun) gate(ctx context.Context, n int) error {
	if r.Gate != nil {
		if err := r.Gate(ctx); err != nil {
			return err
		}
	}
	if r.Rate > 0 {
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(r.next)):
		}
		// A pause, or a server that was away, is not made up for.
		r.next = time.Now().Add(time.Duration(float64(n) / r.Rate * float64(time.Second)))
	}
	return ctx.Err()
}

// most is how many messages one step may have: at a rate no more than those of a tenth of a second.
func (r *bulkRun) most() int {
	if r.Rate > 0 {
		return max(1, min(stepMessages, int(r.Rate/10)))
	}
	return stepMessages
}

// tell reports how far it is.
func (r *bulkRun) tell() {
	if r.Progress != nil {
		r.Progress(r.report)
	}
}

// dueScore is the score that Due gives a message.
func (r *bulkRun) dueScore(n int64, _ int, before Score) (Score, error) {
	unit := r.set.Queue.Unit
	at := r.Due.At
	if at.IsZero() {
		was, ok := unit.Time(before)
		if !ok {
			return "", fmt.Errorf("score %s is no time in %s", before, unit)
		}
		at = was.Add(r.Due.Shift)
	}
	if r.Due.Spread > 0 {
		part := float64(n) / math.Max(1, float64(r.set.Count))
		at = at.Add(time.Duration(part * float64(r.Due.Spread)))
	}
	if r.Due.Jitter > 0 {
		at = at.Add(mathrand.N(r.Due.Jitter))
	}
	return unit.Score(at), nil
}
