package queue_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/queuetest"
)

// book counts how often each payload was handled.
type book struct {
	mu    sync.Mutex
	times map[string]int
}

func (b *book) note(m queue.Message) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.times == nil {
		b.times = map[string]int{}
	}
	b.times[string(m.Payload)]++
	return b.times[string(m.Payload)]
}

// once fails unless exactly the payloads of want were handled, once each.
func (b *book) once(t *testing.T, want []string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range want {
		if b.times[p] != 1 {
			t.Errorf("%q was handled %d times, want once", p, b.times[p])
		}
	}
	if len(b.times) != len(want) {
		t.Errorf("%d messages were handled, want %d", len(b.times), len(want))
	}
}

// runConsumer runs a consumer until it returns, at most for a minute.
func runConsumer(t *testing.T, c *queue.Consumer) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := c.Run(ctx)
	if ctx.Err() != nil {
		t.Fatalf("the consumer did not end: %+v", c.Stats())
	}
	return err
}

func TestEveryPatternHandlesEveryMessageOnce(t *testing.T) {
	t.Parallel()
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		for _, pattern := range queue.Patterns() {
			for _, concurrency := range []int{1, 4} {
				t.Run(fmt.Sprintf("%s-%d", pattern, concurrency), func(t *testing.T) {
					c, _ := open(t, s)
					q := queue.Named(fmt.Sprintf("q-%s-%d", pattern, concurrency))
					var want []string
					for i := range 50 {
						p := fmt.Sprintf(`{"n":%d}`, i)
						want = append(want, p)
						o := queue.EnqueueOptions{}
						switch pattern {
						case queue.ZsetRace, queue.ZsetScript, queue.Dispatch:
							o.At = time.Now().Add(-time.Second)
						case queue.Pipeline:
							if i%2 == 0 {
								o.At = time.Now().Add(-time.Second)
							}
						}
						if _, err := c.Enqueue(t.Context(), q, []byte(p), o); err != nil {
							t.Fatal(err)
						}
					}
					var b book
					con := &queue.Consumer{
						Client: c, Queue: q, Pattern: pattern, Concurrency: concurrency, StopWhenEmpty: true,
						Idle:    queue.Idle{Sleep: 10 * time.Millisecond},
						Handler: func(_ context.Context, m queue.Message) error { b.note(m); return nil },
					}
					switch pattern {
					case queue.ZsetScript:
						con.Idle = queue.Idle{}
					case queue.LockRetry:
						con.Lock = &queue.Lock{Key: func(m queue.Message) string { return "lock:" + string(m.Payload) }}
					}
					if err := runConsumer(t, con); err != nil {
						t.Fatal(err)
					}
					b.once(t, want)
					st := con.Stats()
					if st.Taken != 50 || st.Done != 50 || st.InHand != 0 || st.State != queue.ConsumerStopped {
						t.Errorf("stats: %+v", st)
					}
					keys, err := s.Client.Keys(t.Context(), "*").Result()
					if err != nil {
						t.Fatal(err)
					}
					for _, k := range keys {
						if k != q.StatsKey() {
							t.Errorf("key %s is left over", k)
						}
					}
					s.Client.FlushDB(t.Context())
				})
			}
		}
	})
}

func TestFailuresAreRetriedAndThenDead(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, _ := open(t, s)
		q := queue.Named("orders")
		if _, err := c.Enqueue(t.Context(), q, []byte("poison"), queue.EnqueueOptions{}); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var attempts []int
		con := &queue.Consumer{
			Client: c, Queue: q, Pattern: queue.Pipeline, Max: 3,
			Retry: queue.Retry{Limit: 3, Base: time.Millisecond},
			Handler: func(_ context.Context, m queue.Message) error {
				mu.Lock()
				defer mu.Unlock()
				attempts = append(attempts, m.Attempts)
				return errors.New("no card")
			},
		}
		if err := runConsumer(t, con); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(attempts) != "[0 1 2]" {
			t.Errorf("attempts before each handling: %v", attempts)
		}
		dead, _ := s.Client.LRange(t.Context(), q.Dead, 0, -1).Result()
		if fmt.Sprint(dead) != "[poison]" {
			t.Errorf("dead: %v", dead)
		}
		page, err := c.Peek(t.Context(), q, queue.Dead, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		known, err := c.Failures(t.Context(), q, page.Messages)
		if err != nil || known[0].Attempts != 3 || known[0].Reason != "no card" {
			t.Errorf("known of it: %+v, %v", known, err)
		}
		if st := con.Stats(); st.Failed != 3 || st.Retried != 2 || st.Dead != 1 {
			t.Errorf("stats: %+v", st)
		}
	})
}

// A message that the pattern cannot put into delayed waits in hand, and is handled anew
// with a context of its own.
func TestADeferredMessageIsHandledAgain(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, _ := open(t, s)
		q := queue.Named("orders")
		if _, err := c.Enqueue(t.Context(), q, []byte("later"), queue.EnqueueOptions{}); err != nil {
			t.Fatal(err)
		}
		times := 0
		con := &queue.Consumer{
			Client: c, Queue: q, Pattern: queue.BackupList, Max: 1,
			Handler: func(ctx context.Context, m queue.Message) error {
				if times++; times == 1 {
					return queue.Defer(time.Millisecond, nil)
				}
				return ctx.Err()
			},
		}
		if err := runConsumer(t, con); err != nil {
			t.Fatal(err)
		}
		if st := con.Stats(); st.Done != 1 || st.Deferred != 1 || st.Kept != 0 {
			t.Errorf("stats: %+v", st)
		}
	})
}
