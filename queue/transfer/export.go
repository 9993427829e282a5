package transfer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"redq/queue"
)

// Options say what Export writes. The zero value is the whole queue.
type Options struct {
	// Places are those whose messages are written; nil are all that the queue has. Their order is
	// the one of queue.Places.
	Places []queue.Place
	// Match decides about a message, whose payload is whole; nil takes all. An error ends the export.
	Match func(queue.Message) (bool, error)
	// Limit is how many at most, the oldest of the first place first; 0: all.
	Limit int64
	// Progress, when not nil, is called after each step.
	Progress func(Report)
}

// Report is what an export has written so far.
type Report struct {
	Written Counts
	Looked  int64 // messages that were looked at
	Total   int64 // messages of the keys that were begun
}

// Export writes messages of a queue as lines. It reads step by step, and holds a few thousand
// messages or a few MB at a time, or one message when that is larger. Beside an error the report says how many
// lines were written before; w may end with a part of a line then.
func Export(ctx context.Context, c *queue.Client, q queue.Queue, o Options, w io.Writer) (Report, error) {
	e := &export{Options: o, c: c, queue: q, out: bufio.NewWriterSize(w, 256<<10), report: Report{Written: Counts{}}}
	e.lines = encoder{to: e.out, queue: q}
	err := e.places(ctx)
	if flushed := e.out.Flush(); err == nil {
		err = flushed
	}
	return e.report, err
}

// export is one under way.
type export struct {
	Options
	c      *queue.Client
	queue  queue.Queue
	out    *bufio.Writer
	lines  encoder
	report Report
}

// full reports whether there are as many as were asked for.
func (e *export) full() bool { return e.Limit > 0 && e.report.Written.Sum() >= e.Limit }

func (e *export) places(ctx context.Context) error {
	for _, p := range queue.Places() {
		if !e.wants(p) {
			continue
		}
		for _, key := range e.queue.Keys(p) {
			if e.full() {
				return nil
			}
			if err := e.key(ctx, p, key); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	return nil
}

func (e *export) wants(p queue.Place) bool {
	if e.Places == nil {
		return true
	}
	for _, wanted := range e.Places {
		if wanted == p {
			return true
		}
	}
	return false
}

// step is what one step of a walk has read.
type step struct {
	messages []queue.Failed
	total    int64
	err      error
}

// key writes one key. While the messages of a step are written the next ones are read.
func (e *export) key(ctx context.Context, p queue.Place, key string) error {
	ctx, stop := context.WithCancel(ctx)
	steps := make(chan step)
	go e.read(ctx, e.c.Walk(e.queue, p, key), e.failures(ctx), steps)
	defer func() {
		stop()
		for range steps { // until the reader has ended
		}
	}()
	before := e.report.Total
	for s := range steps {
		if s.err != nil {
			return s.err
		}
		e.report.Total = before + s.total
		for _, m := range s.messages {
			if e.full() {
				return nil
			}
			if err := e.write(m); err != nil {
				return err
			}
		}
		if e.Progress != nil {
			e.Progress(e.report)
		}
	}
	return ctx.Err()
}

// failures reports whether there may be messages whose failed attempts are known.
func (e *export) failures(ctx context.Context) bool {
	n, err := e.c.Reader().Exists(ctx, e.queue.MetaKey()).Result()
	return n > 0 || err != nil
}

// read walks through a key until its end or that of ctx.
func (e *export) read(ctx context.Context, walk *queue.Walk, failures bool, steps chan<- step) {
	defer close(steps)
	for {
		ms, err := walk.Next(ctx)
		if err == nil && len(ms) == 0 {
			return
		}
		s := step{total: walk.Total(), err: err}
		if err == nil {
			s.messages, s.err = e.attempts(ctx, ms, failures)
		}
		select {
		case steps <- s:
		case <-ctx.Done():
			return
		}
		if s.err != nil {
			return
		}
	}
}

// attempts adds how often messages have failed, as far as that is known. What a queue of other
// programs has in the place of redq's hash, or does not let be read, is not known.
func (e *export) attempts(ctx context.Context, ms []queue.Message, ask bool) ([]queue.Failed, error) {
	if !ask {
		all := make([]queue.Failed, len(ms))
		for i, m := range ms {
			all[i].Message = m
		}
		return all, nil
	}
	all, err := e.c.Failures(ctx, e.queue, ms)
	var refused *queue.RefusedError
	if errors.Is(err, queue.ErrWrongType) || errors.As(err, &refused) {
		err = nil
	}
	return all, err
}

// write writes one message, if it is wanted.
func (e *export) write(m queue.Failed) error {
	e.report.Looked++
	if e.Match != nil {
		hit, err := e.Match(m.Message)
		if err != nil || !hit {
			return err
		}
	}
	if err := e.lines.message(m); err != nil {
		return err
	}
	e.report.Written[m.Place]++
	return nil
}

// Write writes messages that were read whole as lines.
func Write(q queue.Queue, ms []queue.Failed, w io.Writer) error {
	out := bufio.NewWriter(w)
	lines := encoder{to: out, queue: q}
	for _, m := range ms {
		if !m.Complete() {
			return fmt.Errorf("%s #%d was not read whole", m.Key, m.Index)
		}
		if err := lines.message(m); err != nil {
			return err
		}
	}
	return out.Flush()
}
