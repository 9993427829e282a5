package queue_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/queuetest"
)

// lockPatterns are patterns to lock in: with an own backup list, taken in batches, and without one.
func lockPatterns() []queue.Pattern {
	return []queue.Pattern{queue.LockRetry, queue.Pipeline, queue.ZsetScript, queue.ListBlock}
}

// deadHolder leaves a lock behind as a holder that died does.
func deadHolder(t *testing.T, s *queuetest.Server, key string, ttl time.Duration) {
	t.Helper()
	if err := s.Client.Set(t.Context(), key, "of the dead", ttl).Err(); err != nil {
		t.Fatal(err)
	}
}

func TestALockWhoseHolderDiedFreesItself(t *testing.T) {
	t.Parallel()
	type lock = queue.Lock
	tests := []struct {
		name string
		lock lock
		want queue.ConsumerStats // Deferred and Retried are "some" when not 0
	}{
		{"fail", lock{Conflict: queue.LockFail}, queue.ConsumerStats{Done: 1, Retried: 1}},
		{"sleep", lock{Conflict: queue.LockSleep, Wait: 10 * time.Millisecond, Tries: 10_000}, queue.ConsumerStats{Done: 1}},
		{"defer", lock{Conflict: queue.LockDefer, Wait: 10 * time.Millisecond}, queue.ConsumerStats{Done: 1, Deferred: 1}},
		{"default", lock{Wait: 10 * time.Millisecond}, queue.ConsumerStats{Done: 1, Deferred: 1}},
	}
	s := queuetest.Redis(t)
	for _, pattern := range lockPatterns() {
		for _, tt := range tests {
			t.Run(fmt.Sprintf("%s %s", pattern, tt.name), func(t *testing.T) {
				s.Client.FlushDB(t.Context())
				c, q := reader(t, s.URL), orders()
				if pattern == queue.ListBlock {
					q.Delayed = "" // put back into ready, or kept in hand
				}
				deadHolder(t, s, "orders:lock", 150*time.Millisecond)
				feedFor(t, c, q, pattern, "m1")
				var attempts atomic.Int32
				con := &queue.Consumer{Client: c, Queue: q, Pattern: pattern, ID: "w1", Lock: &tt.lock, Idle: quick,
					Retry: queue.Retry{Limit: 100_000, Base: 10 * time.Millisecond, Max: 10 * time.Millisecond},
					Handler: func(_ context.Context, m queue.Message) error {
						attempts.Store(int32(m.Attempts))
						if s.Client.Get(context.Background(), "orders:lock").Val() == "of the dead" {
							t.Error("handled while somebody else held the lock")
						}
						return nil
					},
				}
				r := launch(t, con)
				eventually(t, func() bool { return con.Stats().Done == 1 })
				if err := r.stop(); err != nil {
					t.Fatal(err)
				}
				got := con.Stats()
				for _, n := range []*int64{&got.Retried, &got.Deferred} {
					*n = min(*n, 1)
				}
				if got.Failed != con.Stats().Retried {
					t.Errorf("failed %d, retried %d", got.Failed, got.Retried)
				}
				got.Failed = 0
				wantStats(t, got, tt.want)
				if used := attempts.Load() > 0; used != (tt.want.Retried > 0) {
					t.Errorf("%d attempts were used", attempts.Load())
				}
				for _, kind := range []queue.EventKind{queue.EventFailed, queue.EventDeferred} {
					for _, ev := range r.seen.of(kind) {
						if !errors.Is(ev.Err, queue.ErrLocked) {
							t.Errorf("%s for %v", kind, ev.Err)
						}
					}
				}
				wantEverywhere(t, s)
				if n := s.Client.Exists(t.Context(), "orders:lock", q.MetaKey()).Val(); n != 0 {
					t.Error("the lock or the memory of failed attempts is still there")
				}
			})
		}
	}
}

func TestASleeperGivesUpAfterItsTries(t *testing.T) {
	s := queuetest.Redis(t)
	c, q := reader(t, s.URL), orders()
	deadHolder(t, s, "orders:lock", time.Hour)
	feedFor(t, c, q, queue.LockRetry, "m1")
	con := &queue.Consumer{Client: c, Queue: q, Pattern: queue.LockRetry, Max: 1, Retry: queue.Retry{Limit: 1},
		Lock:    &queue.Lock{Conflict: queue.LockSleep, Wait: time.Millisecond, Tries: 3},
		Handler: func(context.Context, queue.Message) error { t.Error("handled without the lock"); return nil },
	}
	r := launch(t, con)
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	if ev := r.seen.one(t, queue.EventDead); !errors.Is(ev.Err, queue.ErrLocked) {
		t.Errorf("dead for %v", ev.Err)
	}
	wantEverywhere(t, s, "orders:dead=m1")
	if s.Client.Get(t.Context(), "orders:lock").Val() != "of the dead" {
		t.Error("somebody else's lock was freed")
	}
}

// One lock for the whole queue: two consumers with four workers each handle one at a time.
func TestTheLockKeepsHandlersApart(t *testing.T) {
	const total = 30
	s := queuetest.Redis(t)
	c, q := reader(t, s.URL), orders()
	feedFor(t, c, q, queue.LockRetry, numbered(0, total)...)
	var inside, most atomic.Int32
	var b book
	var both []*running
	for _, id := range []string{"w1", "w2"} {
		con := &queue.Consumer{Client: c, Queue: q, Pattern: queue.LockRetry, ID: id, Concurrency: 4,
			Lock: &queue.Lock{Conflict: queue.LockSleep, Wait: time.Millisecond, Tries: 1_000_000},
			Handler: func(_ context.Context, m queue.Message) error {
				most.Store(max(most.Load(), inside.Add(1)))
				time.Sleep(time.Millisecond)
				b.note(m)
				inside.Add(-1)
				return nil
			},
		}
		both = append(both, launch(t, con))
	}
	eventually(t, func() bool { return both[0].Stats().Done+both[1].Stats().Done == total })
	for _, r := range both {
		if err := r.stop(); err != nil {
			t.Fatal(err)
		}
	}
	b.once(t, numbered(0, total))
	if most.Load() != 1 {
		t.Errorf("%d handlers ran at once", most.Load())
	}
}

func TestALockIsExtendedWhileTheHandlerRuns(t *testing.T) {
	s := queuetest.Redis(t)
	c, q := reader(t, s.URL), orders()
	feedFor(t, c, q, queue.Pipeline, "m1")
	con := &queue.Consumer{Client: c, Queue: q, Pattern: queue.Pipeline, Max: 1, Lock: &queue.Lock{TTL: 600 * time.Millisecond},
		Handler: func(ctx context.Context, _ queue.Message) error {
			token := s.Client.Get(ctx, "orders:lock").Val()
			last, extended := time.Hour, 0
			for extended < 4 && ctx.Err() == nil { // longer than the lock lives by itself
				left := s.Client.PTTL(ctx, "orders:lock").Val()
				if left > last {
					extended++
				}
				last = left
				time.Sleep(5 * time.Millisecond)
			}
			if now := s.Client.Get(ctx, "orders:lock").Val(); token == "" || now != token {
				t.Errorf("the token was %q and is %q", token, now)
			}
			return context.Cause(ctx)
		},
	}
	if err := runConsumer(t, con); err != nil {
		t.Fatal(err)
	}
	wantStats(t, con.Stats(), queue.ConsumerStats{Done: 1})
	if s.Client.Exists(t.Context(), "orders:lock").Val() != 0 {
		t.Error("the lock was not freed")
	}
}

// A lock that somebody else holds suddenly, or that is gone, ends the handler's context: others may be at work.
func TestALostLockEndsTheHandler(t *testing.T) {
	s := queuetest.Redis(t)
	for name, lose := range map[string]func(){
		"taken": func() { s.Client.Set(context.Background(), "orders:lock", "another", time.Hour) },
		"gone":  func() { s.Client.Del(context.Background(), "orders:lock") },
	} {
		t.Run(name, func(t *testing.T) {
			s.Client.FlushDB(t.Context())
			c, q := reader(t, s.URL), orders()
			feedFor(t, c, q, queue.Pipeline, "m1")
			con := &queue.Consumer{Client: c, Queue: q, Pattern: queue.Pipeline, Max: 1, Retry: queue.Retry{Limit: 1},
				Lock: &queue.Lock{TTL: 60 * time.Millisecond, Conflict: queue.LockSleep, Tries: 1000},
				Handler: func(ctx context.Context, _ queue.Message) error {
					lose()
					<-ctx.Done()
					return context.Cause(ctx)
				},
			}
			r := launch(t, con)
			if err := r.end(); err != nil {
				t.Fatal(err)
			}
			if ev := r.seen.one(t, queue.EventFailed); !errors.Is(ev.Err, queue.ErrLockLost) {
				t.Errorf("failed with %v", ev.Err)
			}
			if got := s.Client.Get(t.Context(), "orders:lock").Val(); (got == "another") != (name == "taken") {
				t.Errorf("the lock holds %q afterwards", got)
			}
		})
	}
}
