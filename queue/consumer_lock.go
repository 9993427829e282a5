package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"
)

// ErrLocked is why a message failed or was deferred when somebody else held its lock.
var ErrLocked = errors.New("the lock is held by somebody else")

// ErrLockLost is the cause of a handler's context when its lock could not be kept.
var ErrLockLost = errors.New("the lock was lost")

// withDefaults fills in a lock's defaults; a nil lock has them all.
func (l *Lock) withDefaults(q Queue) (Lock, error) {
	var lock Lock
	if l != nil {
		lock = *l
	}
	if lock.Key == nil {
		key := q.base() + ":lock"
		lock.Key = func(Message) string { return key }
	}
	if lock.TTL == 0 {
		lock.TTL = 30 * time.Second
	}
	if lock.Tries == 0 {
		lock.Tries = 10
	}
	switch lock.Conflict {
	case "":
		lock.Conflict = LockDefer
	case LockFail, LockSleep, LockDefer:
	default:
		return lock, fmt.Errorf("%q is not a way to meet a lock conflict: expected fail, sleep or defer", lock.Conflict)
	}
	if lock.Wait == 0 {
		lock.Wait = 200 * time.Millisecond
		if lock.Conflict == LockDefer {
			lock.Wait = 5 * time.Second
		}
	}
	if lock.TTL < 10*time.Millisecond || lock.Wait < 0 || lock.Tries < 0 {
		return lock, errors.New("a lock needs a time to live of 10 ms at least, and neither wait nor tries below 0")
	}
	return lock, nil
}

// withLock runs do while the message's lock is held.
func (e *engine) withLock(ctx context.Context, h *hand, do func(context.Context) error) error {
	key, token := e.lock.Key(e.message(h)), rand.Text()
	if err := e.obtain(ctx, key, token); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		e.keepLock(ctx, key, token, cancel)
	}()
	defer func() { // after a panic too
		cancel(nil)
		<-kept
		_, _ = e.call(e.calls, scriptUnlock, []string{key}, token) // else it frees itself
	}()
	return do(ctx)
}

// obtain takes the lock, or says what the policy has for a message that does not get it.
func (e *engine) obtain(ctx context.Context, key, token string) error {
	for try := 1; ; try++ {
		reply, err := e.call(e.calls, scriptLock, []string{key}, token, e.lock.TTL.Milliseconds(), flag(false))
		switch {
		case err != nil:
			// Nobody is to blame: asked again, which is safe.
			e.trouble(classify(err))
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			try--
			continue
		case textAt(reply, 0) == "done":
			return nil
		case e.lock.Conflict == LockDefer:
			return Defer(e.lock.Wait, ErrLocked)
		case e.lock.Conflict == LockFail, try >= e.lock.Tries:
			return ErrLocked
		}
		e.pause(ctx, e.lock.Wait)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// keepLock extends the lock until ctx ends, which it ends itself when the lock is lost.
func (e *engine) keepLock(ctx context.Context, key, token string, lost context.CancelCauseFunc) {
	until := time.Now().Add(e.lock.TTL)
	for {
		e.pause(ctx, e.lock.TTL/3)
		if ctx.Err() != nil {
			return
		}
		reply, err := e.call(e.calls, scriptLock, []string{key}, token, e.lock.TTL.Milliseconds(), flag(true))
		switch {
		case err == nil && textAt(reply, 0) == "done":
			until = time.Now().Add(e.lock.TTL)
		case err == nil || time.Now().After(until):
			lost(ErrLockLost)
			return
		}
	}
}
