package filter

import (
	"context"
	"errors"
	"fmt"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"time"

	"github.com/itchyny/gojq"

	"redq/queue/payload"
)

const (
	jqPrefix = "jq:"
	// maxReason is how many bytes are shown of why a payload is undecided.
	maxReason = 200

	// maxSteps is how many steps an expression may take on a payload: about 100 ms.
	// Steps and not time, so that the same messages are undecided each time.
	maxSteps = 2 << 20
	// maxTime stops what is slow though its steps are few: a function that takes long
	// is one step.
	maxTime = 2 * time.Second
	// maxMemory is how much the heap may grow meanwhile.
	maxMemory = 128 << 20
	// checkEvery is after how many steps time and memory are looked at, which takes 1 µs.
	checkEvery = 256
	// maxSlow is how many of those may run at once, those that were given up among them.
	maxSlow = 4
)

var (
	errSteps  = fmt.Errorf("%w: it took more than %d steps", ErrStopped, maxSteps)
	errTime   = fmt.Errorf("%w: it took more than %v", ErrStopped, maxTime)
	errMemory = fmt.Errorf("%w: it took more than %d MiB of memory", ErrStopped, maxMemory>>20)
)

// program is a compiled jq expression.
type program struct {
	code *gojq.Code
	// slow holds a token for each evaluation under way; nil when all that the
	// expression calls is quick.
	slow chan struct{}
}

func (p *program) needs() Needs { return Needs{Payload: true, Decoded: true} }
func (p *program) cost() int    { return 3 }

func (p *program) ask(ctx context.Context, s Subject) (answer, error) {
	if !s.complete() {
		return unknown, ErrIncomplete
	}
	doc, err := document(s.Payload)
	if err != nil {
		return unknown, err
	}
	m := &meter{Context: ctx}
	if p.slow == nil {
		return p.run(m, doc)
	}
	return p.runAside(m, doc)
}

// run tells what the first output is.
func (p *program) run(m *meter, doc any) (_ answer, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("jq failed: %s", payload.LineString(fmt.Sprint(r), maxReason))
		}
	}()
	v, ok := p.code.RunWithContext(m, doc).Next()
	if err, failed := v.(error); failed {
		return unknown, reason(err)
	}
	return answerOf(ok && v != nil && v != false), nil
}

// reason makes an error of jq short, and safe to print.
func reason(err error) error {
	if errors.Is(err, ErrStopped) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	text := ""
	if thrown, ok := err.(gojq.ValueError); ok {
		text = gojq.Preview(thrown.Value()) // which may be of any size
	} else {
		text = err.Error()
	}
	return fmt.Errorf("jq: %s", payload.LineString(text, maxReason))
}

// runAside is run for an expression that calls functions which may take minutes on a
// large payload and cannot be interrupted: after some time it is left to itself, and
// stops when the function returns.
func (p *program) runAside(m *meter, doc any) (answer, error) {
	limit := time.NewTimer(maxTime)
	defer limit.Stop()
	select {
	case p.slow <- struct{}{}:
	case <-limit.C:
		return unknown, errTime
	case <-m.Context.Done():
		return unknown, m.Context.Err()
	}
	type outcome struct {
		answer answer
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		defer func() { <-p.slow }()
		a, err := p.run(m, doc)
		done <- outcome{a, err}
	}()
	select {
	case o := <-done:
		return o.answer, o.err
	case <-limit.C:
		m.abandoned.Store(true)
		return unknown, errTime
	case <-m.Context.Done():
		return unknown, m.Context.Err()
	}
}

// meter is the context of one evaluation. gojq asks it before each step whether it is
// done, so that is where steps are counted.
type meter struct {
	context.Context
	steps     int
	start     time.Time // of the first check
	heap      uint64    // the fewest bytes there were since
	stopped   error
	abandoned atomic.Bool // nobody waits for the outcome
}

func (m *meter) Done() <-chan struct{} {
	m.steps++
	switch {
	case m.stopped != nil:
	case m.steps > maxSteps:
		m.stopped = errSteps
	case m.abandoned.Load():
		m.stopped = errTime
	case m.steps%checkEvery == 0:
		m.stopped = m.check()
	}
	if m.stopped == nil {
		return m.Context.Done()
	}
	closed := make(chan struct{})
	close(closed)
	return closed
}

func (m *meter) Err() error {
	if m.stopped != nil {
		return m.stopped
	}
	return m.Context.Err()
}

// check compares time and memory with those of the first check. Others use the heap as
// well: the bound is far above what they do in such a time.
func (m *meter) check() error {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	heap := sample[0].Value.Uint64()
	if m.start.IsZero() {
		m.start, m.heap = time.Now(), heap
	}
	m.heap = min(m.heap, heap)
	switch {
	case heap-m.heap > maxMemory:
		return errMemory
	case time.Since(m.start) > maxTime:
		return errTime
	}
	return nil
}

// jq takes a jq expression.
func (p *parser) jq() (condition, error) {
	source := strings.TrimPrefix(p.rest(), jqPrefix)
	at := p.end - len(source)
	p.pos = p.end
	if rest, ok := strings.CutPrefix(source, "'"); ok {
		n := strings.IndexByte(rest, '\'')
		if n < 0 {
			return nil, p.wrong(at, 1, "expected another ' behind the jq expression")
		}
		source, at = rest[:n], at+1
		p.pos = at + n + 1
		if !endsTerm(p.rest()) {
			after := p.pos
			return nil, p.wrong(after, len(p.word()), "expected a blank behind the jq expression")
		}
	}
	if strings.TrimSpace(source) == "" {
		return nil, p.wrong(at, 0, "expected a jq expression")
	}
	compiled, err := compile(source)
	if err != nil {
		return nil, p.wrong(at+err.at, err.len, err.reason)
	}
	return compiled, nil
}
