package scene

import (
	"context"
	"time"

	"redq/queue"
)

// lockKey is what all three consumers need.
const lockKey = Prefix + "lock"

// lockQueue is the queue of the consumer that meets a conflict in one of the three ways.
func lockQueue(conflict queue.LockConflict) queue.Queue {
	q := queue.Named(Prefix + "lock-" + string(conflict))
	q.Pattern = queue.LockRetry
	return q
}

const (
	lockMessages = 3 // in each queue
	lockAttempts = 3
	lockHolder   = "the nightly job"
)

// playLock keeps a lock from three consumers until the one that fails has given up.
func playLock(ctx context.Context, a *act) error {
	// The holder frees it; the time to live is for the case that the scene is ended before.
	if err := a.stage.o.Redis.Set(ctx, lockKey, lockHolder, time.Minute).Err(); err != nil {
		return err
	}
	fail, err := a.locker(ctx, queue.LockFail, 0)
	if err != nil {
		return err
	}
	sleep, err := a.locker(ctx, queue.LockSleep, 500*time.Millisecond)
	if err != nil {
		return err
	}
	put, err := a.locker(ctx, queue.LockDefer, 2*time.Second)
	if err != nil {
		return err
	}
	err = a.until(ctx, func() (bool, error) {
		f, s, d := fail.Stats(), sleep.Stats(), put.Stats()
		a.tell("Somebody else has the lock. fail: %d attempts used, %d dead. sleep: its worker waits with %d in hand. defer: put off %d times.",
			f.Failed, f.Dead, s.InHand, d.Deferred)
		return f.Dead == lockMessages && d.Deferred >= 2*lockMessages, nil
	})
	if err != nil {
		return err
	}
	if err := a.stage.o.Redis.Del(ctx, lockKey).Err(); err != nil {
		return err
	}
	err = a.until(ctx, func() (bool, error) {
		s, d := sleep.Stats().Done, put.Stats().Done
		a.tell("The lock is free. sleep: %d of %d handled. defer: %d of %d, each when it is due again. fail: too late.",
			s, lockMessages, d, lockMessages)
		return s == lockMessages && d == lockMessages, nil
	})
	if err != nil {
		return err
	}
	dead, err := a.length(ctx, fail.Queue.Dead)
	if err != nil {
		return err
	}
	a.tell("fail: %d dead after %d attempts each. sleep: %d handled, but its worker stood still. defer: %d handled, put off %d times.",
		dead, fail.Stats().Failed/lockMessages, sleep.Stats().Done, put.Stats().Done, put.Stats().Deferred)
	return nil
}

// locker is a consumer that needs the lock, with messages to handle.
func (a *act) locker(ctx context.Context, conflict queue.LockConflict, wait time.Duration) (*player, error) {
	q := lockQueue(conflict)
	if err := a.enqueue(ctx, q, numbered("booking", lockMessages)...); err != nil {
		return nil, err
	}
	return a.hire(&queue.Consumer{
		Queue: q, ID: string(conflict), Concurrency: 1, Heartbeat: a.heartbeat(time.Second),
		Lock: &queue.Lock{
			Key: func(queue.Message) string { return lockKey }, Conflict: conflict, Wait: a.scaled(wait), Tries: 100,
		},
		Retry:   queue.Retry{Limit: lockAttempts, Base: a.scaled(2 * time.Second), Jitter: -1},
		Handler: func(ctx context.Context, _ queue.Message) error { return a.pause(ctx, 300*time.Millisecond) },
	})
}
