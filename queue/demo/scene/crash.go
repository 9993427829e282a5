package scene

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"redq/queue"
)

// crashQueues are a list that is popped from, and one with backup lists.
func crashQueues() (plain, kept queue.Queue) {
	plain = queue.Queue{Name: Prefix + "crash-plain", Ready: Prefix + "crash-plain", Pattern: queue.ListBlock}
	kept = queue.Queue{
		Name: Prefix + "crash-safe", Ready: Prefix + "crash-safe", Backups: []string{Prefix + "crash-safe:backup"},
		Pattern: queue.Pipeline,
	}
	return plain, kept
}

const (
	crashMessages = 12 // in each queue
	crashDone     = 4  // handled before the crash
	crashWorkers  = 4
)

// playCrash kills two consumers with messages in hand.
func playCrash(ctx context.Context, a *act) error {
	plainQueue, keptQueue := crashQueues()
	for _, q := range []queue.Queue{plainQueue, keptQueue} {
		if err := a.enqueue(ctx, q, numbered("order", crashMessages)...); err != nil {
			return err
		}
	}
	killed := make(chan struct{})
	plain, err := a.hire(&queue.Consumer{Queue: plainQueue, ID: "popper", Concurrency: crashWorkers, Handler: a.untilKilled(killed)})
	if err != nil {
		return err
	}
	kept, err := a.hire(&queue.Consumer{
		Queue: keptQueue, ID: "first", Concurrency: crashWorkers, Batch: 1,
		Heartbeat: a.heartbeat(time.Second), Handler: a.untilKilled(nil),
	})
	if err != nil {
		return err
	}
	if err := a.until(ctx, func() (bool, error) { return holds(plain) && holds(kept), nil }); err != nil {
		return err
	}
	p, k := plain.Stats(), kept.Stats()
	a.tell("crash-plain has handled %d and has %d in hand, crash-safe %d and %d, of %d each. Now both are killed.",
		p.Done, p.InHand, k.Done, k.InHand, crashMessages)
	if err := a.pause(ctx, 4*time.Second); err != nil {
		return err
	}
	// A plain pop has no process to kill here: its workers die with what they have popped.
	plain.cancel()
	close(killed)
	<-plain.ended
	kept.kill()
	return a.afterCrash(ctx, plain, kept)
}

// untilKilled handles the first messages and keeps all others in hand.
func (a *act) untilKilled(killed <-chan struct{}) queue.Handler {
	var begun atomic.Int64
	return func(ctx context.Context, _ queue.Message) error {
		if begun.Add(1) <= crashDone {
			return a.pause(ctx, 1500*time.Millisecond)
		}
		select {
		case <-killed:
			return queue.ErrCrash
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// holds reports whether a consumer has all its workers busy with messages that it will not finish.
func holds(p *player) bool {
	if p.Stats().Done < crashDone {
		return false
	}
	n := 0
	for _, h := range p.InHand() {
		if !h.Started.IsZero() {
			n++
		}
	}
	return n == crashWorkers
}

// afterCrash counts what is left, and lets another consumer recover it.
func (a *act) afterCrash(ctx context.Context, plain, kept *player) error {
	ready, err := a.length(ctx, plain.Queue.Ready)
	if err != nil {
		return err
	}
	backup, err := a.length(ctx, kept.Queue.BackupKey(kept.ID))
	if err != nil {
		return err
	}
	lost := crashMessages - plain.Stats().Done - ready
	a.tell("crash-plain has lost %d: %d handled, %d still ready, the rest nowhere. crash-safe has its %d in the backup list (press 2).",
		lost, plain.Stats().Done, ready, backup)
	if err := a.pause(ctx, 3*time.Second); err != nil {
		return err
	}
	second, err := a.hire(&queue.Consumer{
		Queue: kept.Queue, ID: "second", Concurrency: crashWorkers, Batch: 1, Heartbeat: a.heartbeat(time.Second),
		Handler: func(ctx context.Context, _ queue.Message) error { return a.pause(ctx, 600*time.Millisecond) },
	})
	if err != nil {
		return err
	}
	rest := crashMessages - kept.Stats().Done
	err = a.until(ctx, func() (bool, error) {
		s := second.Stats()
		if s.Recovered == 0 {
			a.tell("A new consumer of crash-safe has handled %d, and waits until the heartbeat of the dead one is gone.", s.Done)
		} else {
			a.tell("The heartbeat is gone: the new consumer has recovered %d messages, and handled %d of the %d that were left.", s.Recovered, s.Done, rest)
		}
		return s.Done == rest, nil
	})
	if err != nil {
		return err
	}
	second.stop()
	a.tell("The same crash twice: a plain pop lost %d of %d for good; with a backup list %d were recovered, and %d handled.",
		lost, crashMessages, second.Stats().Recovered, kept.Stats().Done+second.Stats().Done)
	return nil
}

// numbered makes n different messages.
func numbered(what string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`{"%s":%d}`, what, i+1)
	}
	return all
}
