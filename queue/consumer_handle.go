package queue

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime/debug"
	"time"
)

// handle calls the handler for a message and settles it. It returns false when the
// handler took so long that somebody else has settled the message and does this worker's job.
func (e *engine) handle(h *hand) bool {
	e.mu.Lock()
	begun := e.start(h, time.Now())
	e.mu.Unlock()
	if !begun {
		return true
	}
	err := e.attempt(h)
	now := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.finish(h, err, now)
}

// handleAside handles a message in a goroutine that is neither worker nor lane, and so
// must wake a lane for what is to be told to the server.
func (e *engine) handleAside(h *hand) {
	e.handle(h)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cond.Broadcast()
}

// start marks a message as being handled; false when it is not to be handled any more.
// The mutex is held.
func (e *engine) start(h *hand, now time.Time) bool {
	if h.state != waiting || e.stopping.Err() != nil {
		return false // a stop gives back what nobody has begun
	}
	h.state, h.started = running, now
	if h.ctx == nil {
		h.ctx = &h.firstCtx
	} else {
		h.ctx = new(handContext) // it was put off: a goroutine may still hold the first
	}
	h.ctx.base = e.base
	if e.timeLimit > 0 {
		h.ctx.deadline = h.started.Add(e.timeLimit)
	}
	return true
}

// errGoexit is the error of a message whose handler ended its goroutine.
var errGoexit = errors.New("the handler ended its goroutine (runtime.Goexit)")

// attempt calls the handler, with the lock if one is needed, and makes an error of a panic.
func (e *engine) attempt(h *hand) (err error) {
	returned := false
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		} else if !returned {
			e.leaveBehind(h, errGoexit) // nothing after this call runs: another one takes over
		}
	}()
	if e.lock != nil {
		err = e.withLock(h.ctx, h, func(ctx context.Context) error { return e.handler(ctx, e.message(h)) })
	} else {
		err = e.handler(h.ctx, e.message(h))
	}
	returned = true
	return err
}

// finish settles a message whose handler has returned, or is not waited for any
// longer. It returns false when that was done already. The mutex is held, but not while the server is asked.
func (e *engine) finish(h *hand, err error, now time.Time) bool {
	if h.state != running {
		return false
	}
	h.took, h.err = now.Sub(h.started), err
	cause := h.ctx.end(nil)
	if errors.Is(cause, ErrTimeLimit) && errors.Is(h.err, context.Canceled) {
		h.err = ErrTimeLimit // says more than what the handler passed on
	}
	switch {
	case e.abandoned && err != nil:
		h.state = waiting // for whoever gives it back or recovers it
	case errors.Is(cause, ErrNotOurs):
		e.notOurs(h)
		e.nudge()
	case err == nil:
		h.done = true
		e.forget(h)
		e.acknowledge(h)
	default:
		h.state = settling
		e.mu.Unlock()
		e.settle(h)
		e.mu.Lock()
	}
	return true
}

// forget removes what is known of the failed attempts of a message that was handled
// well, where no acknowledgement does that. The mutex is held, but not while the server is asked.
func (e *engine) forget(h *hand) {
	if e.backup != "" || h.attempts == 0 {
		return
	}
	h.state = acking
	e.mu.Unlock()
	_ = e.conns.work.HDel(e.calls, e.queue.MetaKey(), digestOf(h.raw)).Err() // else it expires
	e.mu.Lock()
}

// acknowledge ends a message that was handled well: with the
// next round trip, or at once where there is no backup list. The mutex is held.
func (e *engine) acknowledge(h *hand) {
	if e.backup == "" {
		e.conclude(h)
	} else {
		h.state = acking
		e.acks = append(e.acks, h)
	}
	if h.aside {
		e.cond.Broadcast() // no lane comes back from this handler
	}
	e.nudge()
}

// conclude ends a message in hand: it was acknowledged. The mutex is held.
func (e *engine) conclude(h *hand) {
	e.count.done.Add(1)
	if e.feed.open() {
		e.feed.tell(Event{Kind: EventDone, Message: e.message(h), Attempt: h.attempt(), Took: h.took})
	}
	e.let(h)
}

// notOurs ends a message that somebody took out of the backup list while it was in
// hand. The mutex is held.
func (e *engine) notOurs(h *hand) {
	e.count.notOurs.Add(1)
	e.recheck = beatsMissed // after a failover the list is that of a moment ago
	note := "its handler had not finished"
	if h.done {
		note = "its handler had finished well"
	}
	e.feed.tell(Event{Kind: EventNotOurs, Message: e.message(h), Attempt: h.attempt(), Took: h.took, Err: ErrNotOurs, Note: note})
	e.let(h)
}

// keeper ends handlers whose time is over, and leaves those behind that do not return then.
func (e *engine) keeper(ctx context.Context) {
	if e.timeLimit == 0 {
		return
	}
	grace := min(e.timeLimit, 5*time.Second)
	wait := e.timeLimit
	for ctx.Err() == nil {
		e.pause(ctx, wait)
		now := time.Now()
		wait = e.timeLimit
		var late []*hand
		e.mu.Lock()
		for h := range e.hands.all() {
			if h.state != running {
				continue
			}
			left := h.started.Add(e.timeLimit).Sub(now)
			if left <= 0 {
				h.ctx.end(ErrTimeLimit)
				if left += grace; left <= 0 {
					late = append(late, h)
					continue
				}
			}
			wait = min(wait, left)
		}
		e.mu.Unlock()
		for _, h := range late {
			e.leaveBehind(h, ErrTimeLimit)
		}
	}
}

// leaveBehind settles a message whose handler does not return. Its goroutine ends when
// the handler does; another one takes its place.
func (e *engine) leaveBehind(h *hand, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.finish(h, err, time.Now()) {
		return
	}
	switch {
	case h.aside:
	case e.inline():
		go e.lane()
	default:
		go e.worker()
	}
}

// again is how long a message waits before its next attempt.
func (r Retry) again(failed int) time.Duration {
	wait := r.Max
	if shift := failed - 1; shift < 40 && r.Base<<shift > 0 {
		wait = min(r.Max, r.Base<<shift)
	}
	if r.Jitter > 0 {
		wait -= time.Duration(r.Jitter * rand.Float64() * float64(wait))
	}
	return wait
}
