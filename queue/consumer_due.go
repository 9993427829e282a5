package queue

import (
	"context"
	"errors"
	"net"
	"time"
)

const (
	// mostSleep is how long nobody looks at delayed messages: a producer that does not
	// tell of an earlier message is noticed by then.
	mostSleep = 500 * time.Millisecond
	// lazySleep is the same after lazyAfter without any message.
	lazySleep = 5 * time.Second
	lazyAfter = 30 * time.Second
	// followerLag is how much later than the first of several consumers the others look:
	// one timer for each due message is enough.
	followerLag = 500 * time.Millisecond
	promoteMost = 500
)

// wakes reports whether the pattern sleeps until a due time and wants to be woken.
func (e *engine) wakes() bool {
	if e.queue.Delayed == "" {
		return false
	}
	_, claims := e.source.(*claimSource)
	return e.promotes() || claims && e.idle.Sleep == 0
}

// lazy reports whether there has been nothing to do for long.
func (e *engine) lazy() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return time.Since(e.lastTaken) > lazyAfter
}

// sleepUntilDue waits until a message is due (not at all when next is zero) plus
// lag, a producer tells of an earlier one, or it is time to look again. It reports whether
// that time of looking has come with nothing known to be due.
func (e *engine) sleepUntilDue(ctx context.Context, next time.Time, lag time.Duration) (idle bool) {
	wait, idle := mostSleep, true
	if e.lazy() {
		wait = lazySleep
	}
	if !next.IsZero() {
		if left := next.Sub(e.clock.now()) + lag; left < wait {
			wait, idle = left, false
		}
	}
	t := time.NewTimer(max(wait, 0))
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-e.wake:
		return false
	case <-t.C:
	}
	return idle
}

// doze is sleepUntilDue again and again, as long as there is nothing to do: after a long
// time without messages the looks between are the cheapest there are.
func (e *engine) doze(ctx context.Context, next time.Time, lag time.Duration) {
	for ctx.Err() == nil && e.sleepUntilDue(ctx, next, lag) && e.lazy() {
		if e.mayBeDue() {
			return
		}
	}
}

// mayBeDue is the cheapest look there is: whether anything is due, or was put there by a
// mistake of units, or the server does not say.
func (e *engine) mayBeDue() bool {
	upto := string(latestScore(e.queue.Unit, e.clock.now()))
	n, err := e.conns.work.ZCount(e.calls, e.queue.Delayed, "0", upto).Result()
	return err != nil || n > 0
}

// listen receives what producers tell of earlier messages, until ctx ends.
func (e *engine) listen(ctx context.Context) {
	sub := e.conns.work.Subscribe(ctx, e.queue.WakeChannel())
	// A read does not end with its context, but with its connection.
	closing := context.AfterFunc(ctx, func() { _ = sub.Close() })
	defer closing()
	for ctx.Err() == nil {
		if _, err := sub.ReceiveTimeout(ctx, time.Minute); err != nil {
			if ctx.Err() == nil && !isTimeout(err) {
				e.pause(ctx, time.Second) // it subscribes again by itself
			}
			continue
		}
		e.rouse()
	}
}

func isTimeout(err error) bool {
	var late net.Error
	return errors.As(err, &late) && late.Timeout()
}

// rouse ends a sleep.
func (e *engine) rouse() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// promoter moves due messages to ready until a stop is asked.
func (e *engine) promoter() {
	source, _ := e.source.(*listSource)
	for e.stopping.Err() == nil {
		moved, next, err := e.promote(e.calls, source)
		switch {
		case err != nil:
			e.trouble(err)
			continue
		case moved == promoteMost:
			continue // there is more
		}
		e.doze(e.stopping, next, e.lag())
	}
}

func (e *engine) lag() time.Duration {
	if e.rank.Load() == 0 {
		return 0
	}
	return followerLag
}

// promote moves due messages to ready, and returns how many and when the next is due.
func (e *engine) promote(ctx context.Context, source *listSource) (moved int, next time.Time, err error) {
	q := e.queue
	from, _ := q.Unit.Range()
	reply, err := e.call(ctx, scriptPromote, []string{q.Delayed, q.Ready, q.MetaKey()},
		promoteMost, takeBudget, q.Unit.scriptName(), string(ScoreOf(from)), string(q.PushEnd()))
	if err != nil {
		return 0, next, classify(err)
	}
	now := e.clock.set(textAt(reply, 3))
	if numberAt(reply, 4) > 0 {
		e.failures.Store(true) // of other consumers, mostly
	}
	pairs := arrayAt(reply, 1)
	moved = len(pairs) / 2
	e.mu.Lock()
	for i := 0; i+1 < len(pairs); i += 2 {
		if due, ok := q.Unit.Time(Score(textAt(pairs, i+1))); ok {
			source.promoted(textAt(pairs, i), due)
		}
	}
	if moved > 0 {
		e.lastTaken = time.Now()
	}
	e.mu.Unlock()
	if moved > 0 {
		e.count.promoted.Add(int64(moved))
		e.feed.tell(Event{Kind: EventPromoted, Count: moved})
	}
	return moved, e.dueTime(Score(textAt(reply, 2)), now), nil
}
