package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"time"
)

// Purged is a purge's result so far.
type Purged struct {
	Entry string
	Taken int64 // messages in the snapshot
	Freed int64 // of those, freed so far
}

// Purge empties a place as it is now: each key is renamed to a private one in one
// step (what arrives later stays), its messages are written to the journal, and it
// is freed in pieces. progress, when not nil, is called after each piece.
//
// When it stops half-way the messages that are left lie in the private key, which
// the journal names: Undo brings all of them back.
func (c *Client) Purge(ctx context.Context, q Queue, p Place, progress func(Purged)) (Purged, error) {
	var sum Purged
	if c.opts.ReadOnly {
		return sum, ErrReadOnly
	}
	if err := c.mayDelete(); err != nil {
		return sum, err
	}
	keys := q.Keys(p)
	if len(keys) == 0 {
		return sum, fmt.Errorf("%w: %s", ErrNoSuchPlace, p)
	}
	run := purge{c: c, queue: q, place: p, entry: rand.Text(), sum: &sum, progress: progress}
	if c.opts.Journal != nil {
		sum.Entry = run.entry
	}
	for i, key := range keys {
		if err := run.key(ctx, key, i); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// purge is one purge under way.
type purge struct {
	c        *Client
	queue    Queue
	place    Place
	entry    string
	seq      int
	sum      *Purged
	progress func(Purged)
}

func (p *purge) intent(seq int, m Message) Record {
	return Record{
		Kind: Intent, Entry: p.entry, Seq: seq, Time: time.Now(), Server: p.c.address,
		Queue: p.queue.Name, Op: OpPurge, Message: m, End: oldestEnd(p.queue, p.place),
	}
}

func (p *purge) answer(r Record, o Outcome) Record {
	return Record{Kind: Answered, Entry: p.entry, Seq: r.Seq, Time: time.Now(), Outcome: o}
}

// key purges one key of the place, the nth.
func (p *purge) key(ctx context.Context, key string, nth int) error {
	private := privateKey(key, p.entry+fmt.Sprint(nth))
	if err := p.c.oneSlot(key, private); err != nil {
		return err
	}
	header := p.intent(-1-nth, Message{Place: p.place, Key: key})
	header.ToKey = private
	if err := p.c.record(header); err != nil {
		return err
	}
	taken := p.ask(ctx, &call{script: scriptSnapshot, keys: []string{key, private}, args: []any{kind(p.place)}})
	res := taken.result()
	if err := p.c.record(p.answer(header, res.Outcome)); err != nil {
		p.c.logf("journal: %v", err)
	}
	switch {
	case errors.Is(res.Err, ErrGone):
		return nil // an empty key is purged already
	case res.Outcome == Unknown:
		return fmt.Errorf("%w: where %s is empty now, its messages lie in %s%s", res.Err, p.place, private, p.wayBack())
	case res.Err != nil:
		return res.Err
	}
	p.sum.Taken += taken.num(1)
	if err := p.free(ctx, key, private, taken.num(1)); err != nil {
		return fmt.Errorf("the purge stopped after %d of %d messages (what is left lies in %s%s): %w",
			p.sum.Freed, p.sum.Taken, private, p.wayBack(), err)
	}
	return nil
}

// wayBack is what to say of an undo, which needs a journal.
func (p *purge) wayBack() string {
	if p.c.opts.Journal == nil {
		return ""
	}
	return ": an undo brings its messages back"
}

// free writes the snapshot to the journal and trims it, piece by piece from the head.
func (p *purge) free(ctx context.Context, key, private string, left int64) error {
	total := left
	snapshot := side{place: p.place, key: private, end: Left}
	var before span
	for left > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		piece, err := p.c.readSpanBy(ctx, snapshot, 0, stepMessages, math.MaxInt64, before.chunk())
		if err != nil {
			return err
		}
		if len(piece.all) == 0 {
			return fmt.Errorf("%w: the snapshot has changed", ErrGone)
		}
		r := p.intent(p.seq, Message{Place: p.place, Key: key, Index: total - left, Len: total})
		r.Batch = batchOf(piece)
		p.seq += len(piece.all)
		if err := p.c.record(r); err != nil {
			return err
		}
		trimmed := p.ask(ctx, &call{script: scriptTrim, keys: []string{private}, args: []any{kind(p.place), len(piece.all), left}})
		res := trimmed.result()
		if err := p.c.record(p.answer(r, res.Outcome)); err != nil {
			p.c.logf("journal: %v", err)
		}
		if res.Err != nil {
			return res.Err
		}
		left -= int64(len(piece.all))
		p.sum.Freed += int64(len(piece.all))
		if p.progress != nil {
			p.progress(*p.sum)
		}
		before = piece
	}
	return nil
}

// batchOf is what the journal keeps of a piece.
func batchOf(piece span) *Batch {
	b := &Batch{}
	for _, m := range piece.all {
		b.Payloads = append(b.Payloads, m.payload)
		if m.score != "" {
			b.Scores = append(b.Scores, m.score)
		}
	}
	return b
}

// ask runs one call, which an operator who cancels does not cut short.
func (p *purge) ask(ctx context.Context, cl *call) *call {
	sending, done := p.c.bounded(ctx)
	defer done()
	p.c.runCalls(sending, []*call{cl})
	return cl
}
