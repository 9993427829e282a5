package queue_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/queuetest"
)

func TestTimeLimitEndsAHandlerThatBlocksForEver(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		pattern queue.Pattern
		batch   int
		obeys   bool // the handler ends with its context
	}{
		{"workers, obedient", queue.Pipeline, 0, true},
		{"workers, deaf", queue.Pipeline, 0, false},
		{"lanes, obedient", queue.Pipeline, 1, true},
		{"lanes, deaf", queue.Pipeline, 1, false},
		{"sorted set, deaf", queue.Dispatch, 0, false},
	}
	s := queuetest.Redis(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.Client.FlushDB(t.Context())
			c, q := reader(t, s.URL), orders()
			innocents := []string{"m1", "m2", "m3", "m4", "m5"}
			feedFor(t, c, q, tt.pattern, slices.Insert(slices.Clone(innocents), 2, "stuck")...)

			release := make(chan struct{})
			t.Cleanup(func() { close(release) })
			var b book
			var causes sync.Map
			con := consumerOf(c, q, tt.pattern, func(ctx context.Context, m queue.Message) error {
				if n := b.note(m); string(m.Payload) == "stuck" {
					if _, ok := ctx.Deadline(); !ok {
						t.Error("the context knows no deadline")
					}
					<-ctx.Done()
					causes.Store(n, context.Cause(ctx))
					if !tt.obeys {
						<-release
					}
					return ctx.Err()
				}
				return nil
			})
			con.Batch, con.Concurrency, con.TimeLimit = tt.batch, 1, 50*time.Millisecond
			con.Retry = queue.Retry{Limit: 2, Base: time.Millisecond}
			r := launch(t, con)
			eventually(t, func() bool { return con.Stats().Dead == 1 && con.Stats().Done == 5 })
			wantEverywhere(t, s, "orders:dead=stuck")
			if n := b.times["stuck"]; n != 2 {
				t.Errorf("the stuck message was handled %d times, want 2", n)
			}
			delete(b.times, "stuck")
			b.once(t, innocents)
			for n := 1; n <= 2; n++ {
				if cause, _ := causes.Load(n); cause != queue.ErrTimeLimit {
					t.Errorf("cause of the context of attempt %d: %v", n, cause)
				}
			}
			for _, ev := range r.seen.of(queue.EventFailed) {
				if !tt.obeys && !errors.Is(ev.Err, queue.ErrTimeLimit) {
					t.Errorf("failed with %v", ev.Err)
				}
			}

			feedFor(t, c, q, tt.pattern, "stuck")
			eventually(t, func() bool { return con.Stats().InHand == 1 })
			if err := r.stop(); err != nil {
				t.Errorf("Run: %v", err)
			}
			if st := con.Stats(); st.InHand != 0 || st.State != queue.ConsumerStopped {
				t.Errorf("after the stop: %+v", st)
			}
		})
	}
}

func TestAPanicFailsItsMessageOnly(t *testing.T) {
	s := queuetest.Redis(t)
	for _, pattern := range queue.Patterns() {
		t.Run(string(pattern), func(t *testing.T) {
			s.Client.FlushDB(t.Context())
			c, q := reader(t, s.URL), orders()
			feedFor(t, c, q, pattern, "m1", "boom", "m2")
			var b book
			con := consumerOf(c, q, pattern, func(_ context.Context, m queue.Message) error {
				if string(m.Payload) == "boom" {
					explode()
				}
				b.note(m)
				return nil
			})
			con.Concurrency, con.Retry.Limit = 1, 1
			r := launch(t, con)
			eventually(t, func() bool { return con.Stats().Done == 2 && con.Stats().Failed == 1 })
			if err := r.stop(); err != nil {
				t.Fatal(err)
			}
			b.once(t, []string{"m1", "m2"})
			want := "orders:dead=boom"
			if pattern == queue.BackupList {
				want = "orders:backup=boom"
			}
			wantEverywhere(t, s, want)
			ev := r.seen.one(t, queue.EventFailed)
			var p *queue.PanicError
			if !errors.As(ev.Err, &p) || p.Value != "out of cheese" || !strings.Contains(string(p.Stack), "explode") {
				t.Errorf("the event tells %v", ev.Err)
			}
			if pattern == queue.LockRetry && s.Client.Exists(t.Context(), "lock:boom").Val() != 0 {
				t.Error("the lock is still held after the panic")
			}
		})
	}
}

// A handler that ends its goroutine, as the FailNow of a test does, fails its message only.
func TestAHandlerThatEndsItsGoroutine(t *testing.T) {
	s := queuetest.Redis(t)
	for _, pattern := range queue.Patterns() {
		t.Run(string(pattern), func(t *testing.T) {
			s.Client.FlushDB(t.Context())
			c, q := reader(t, s.URL), orders()
			feedFor(t, c, q, pattern, "m1", "exit", "m2")
			var b book
			con := consumerOf(c, q, pattern, func(_ context.Context, m queue.Message) error {
				if string(m.Payload) == "exit" {
					runtime.Goexit()
				}
				b.note(m)
				return nil
			})
			con.Concurrency, con.Retry.Limit = 1, 1
			r := launch(t, con)
			eventually(t, func() bool { return con.Stats().Done == 2 && con.Stats().Failed == 1 })
			if err := r.stop(); err != nil {
				t.Fatal(err)
			}
			b.once(t, []string{"m1", "m2"})
			if ev := r.seen.one(t, queue.EventFailed); !strings.Contains(ev.Err.Error(), "Goexit") {
				t.Errorf("failed with %v", ev.Err)
			}
			if pattern == queue.LockRetry && s.Client.Exists(t.Context(), "lock:exit").Val() != 0 {
				t.Error("the lock is still held")
			}
		})
	}
}

// explode panics in a function whose name can be looked for in the stack.
func explode() { panic("out of cheese") }

func TestEqualPayloadsInWorkTwice(t *testing.T) {
	tests := []struct {
		name    string
		pattern queue.Pattern
		limit   int
		fail    int // which of the two fails; 0 none, 3 both
		want    []string
		stats   queue.ConsumerStats
	}{
		{"both done", queue.Pipeline, 1, 0, nil, queue.ConsumerStats{Done: 2}},
		{"both done, shared", queue.BackupList, 1, 0, nil, queue.ConsumerStats{Done: 2}},
		{"first fails", queue.Pipeline, 1, 1, []string{"orders:dead=same"}, queue.ConsumerStats{Done: 1, Failed: 1, Dead: 1}},
		{"second fails", queue.Pipeline, 1, 2, []string{"orders:dead=same"}, queue.ConsumerStats{Done: 1, Failed: 1, Dead: 1}},
		{"first fails, shared", queue.BackupList, 1, 1, []string{"orders:backup=same"}, queue.ConsumerStats{Done: 1, Failed: 1, Kept: 1}},
		{"both fail", queue.Pipeline, 1, 3, []string{"orders:dead=same,same"}, queue.ConsumerStats{Failed: 2, Dead: 2}},
	}
	s := queuetest.Redis(t)
	for _, tt := range tests {
		for _, batch := range []int{1, 10} {
			t.Run(fmt.Sprintf("%s, batch %d", tt.name, batch), func(t *testing.T) {
				s.Client.FlushDB(t.Context())
				c, q := reader(t, s.URL), orders()
				feedFor(t, c, q, tt.pattern, "same", "same")
				var both sync.WaitGroup // both are in work before either ends
				both.Add(2)
				var n atomic.Int32
				con := consumerOf(c, q, tt.pattern, func(context.Context, queue.Message) error {
					nth := int(n.Add(1))
					both.Done()
					both.Wait()
					if nth&tt.fail != 0 {
						return errors.New("no card")
					}
					return nil
				})
				con.Batch, con.Concurrency, con.Retry.Limit, con.Max = batch, 2, tt.limit, 2
				if err := runConsumer(t, con); err != nil {
					t.Fatal(err)
				}
				wantEverywhere(t, s, tt.want...)
				wantStats(t, con.Stats(), tt.stats)
			})
		}
	}
}

// Equal payloads, handled for longer than a heartbeat: what is in hand is compared with the
// backup list again and again, and none of them is taken for lost.
func TestEqualPayloadsAreNotTakenForLost(t *testing.T) {
	const total = 200
	s := queuetest.Redis(t)
	for _, pattern := range []queue.Pattern{queue.Pipeline, queue.BackupList} {
		t.Run(string(pattern), func(t *testing.T) {
			s.Client.FlushDB(t.Context())
			c, q := reader(t, s.URL), orders()
			feedFor(t, c, q, pattern, slices.Repeat([]string{"same"}, total)...)
			var n atomic.Int32
			con := consumerOf(c, q, pattern, func(ctx context.Context, _ queue.Message) error {
				i := n.Add(1)
				if i%8 == 0 { // in hand for long, so that it is looked for
					time.Sleep(120 * time.Millisecond)
				}
				if ctx.Err() != nil {
					t.Errorf("ended by %v", context.Cause(ctx))
				}
				if i%2 == 0 {
					return errors.New("no card")
				}
				return nil
			})
			con.Heartbeat, con.Concurrency, con.Retry.Limit, con.Max = 50*time.Millisecond, 16, 1, total
			if err := runConsumer(t, con); err != nil {
				t.Fatal(err)
			}
			half := strings.Join(slices.Repeat([]string{"same"}, total/2), ",")
			if pattern == queue.BackupList {
				wantEverywhere(t, s, "orders:backup="+half)
				wantStats(t, con.Stats(), queue.ConsumerStats{Done: total / 2, Failed: total / 2, Kept: total / 2})
			} else {
				wantEverywhere(t, s, "orders:dead="+half)
				wantStats(t, con.Stats(), queue.ConsumerStats{Done: total / 2, Failed: total / 2, Dead: total / 2})
			}
		})
	}
}

// A message that fails while equal bytes are delayed already cannot join them there: a
// sorted set holds equal bytes once.
func TestARetryOfEqualBytesIsNotSwallowed(t *testing.T) {
	s := queuetest.Redis(t)
	c, q := reader(t, s.URL), orders()
	feedFor(t, c, q, queue.Pipeline, "same")
	before, err := c.Enqueue(t.Context(), q, []byte("same"), queue.EnqueueOptions{In: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	var attempts []int
	con := consumerOf(c, q, queue.Pipeline, func(_ context.Context, m queue.Message) error {
		attempts = append(attempts, m.Attempts)
		return errors.New("no card")
	})
	con.Concurrency, con.Max, con.Retry = 1, 3, queue.Retry{Limit: 3}
	r := launch(t, con)
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(attempts) != "[0 1 2]" {
		t.Errorf("attempts before each handling: %v", attempts)
	}
	wantEverywhere(t, s, "orders:dead=same", "orders:delayed=same")
	if score := queue.ScoreOf(s.Client.ZScore(t.Context(), q.Delayed, "same").Val()); score != before.Score {
		t.Errorf("the delayed one has score %s now, had %s", score, before.Score)
	}
	for _, ev := range r.seen.of(queue.EventRetried) {
		if !strings.Contains(ev.Note, "equal bytes") || !ev.Due.IsZero() {
			t.Errorf("a retry into ready is told as %+v", ev)
		}
	}
}

// What an operator does to a message while it is handled.
func TestAMessageTakenAwayWhileItIsHandled(t *testing.T) {
	redrive := func(t *testing.T, c *queue.Client, q queue.Queue, ms []queue.Message) queue.Report {
		return c.Redrive(t.Context(), q, ms, queue.RedriveOptions{ToKey: "elsewhere"})
	}
	remove := func(t *testing.T, c *queue.Client, q queue.Queue, ms []queue.Message) queue.Report {
		return c.Delete(t.Context(), q, ms)
	}
	s := queuetest.Redis(t)
	for _, pattern := range []queue.Pattern{queue.Pipeline, queue.BackupList, queue.LockRetry} {
		for name, act := range map[string]func(*testing.T, *queue.Client, queue.Queue, []queue.Message) queue.Report{"redrive": redrive, "delete": remove} {
			for _, end := range []error{nil, errors.New("no card"), context.Canceled} { // the last: it ends with its context
				t.Run(fmt.Sprintf("%s %s %v", pattern, name, end), func(t *testing.T) {
					s.Client.FlushDB(t.Context())
					c, _ := open(t, s)
					q := orders()
					feedFor(t, c, q, pattern, "m1", "taken", "m2")
					begun, proceed := make(chan struct{}), make(chan struct{})
					var cause error
					con := consumerOf(c, q, pattern, func(ctx context.Context, m queue.Message) error {
						if string(m.Payload) != "taken" {
							return nil
						}
						close(begun)
						if end == context.Canceled {
							<-ctx.Done()
							cause = context.Cause(ctx)
							return ctx.Err()
						}
						<-proceed
						return end
					})
					con.Heartbeat, con.Retry.Limit = time.Minute, 3
					if end == context.Canceled {
						con.Heartbeat = 50 * time.Millisecond
					}
					r := launch(t, con)
					<-begun
					eventually(t, func() bool { return con.Stats().Done == 2 })

					seen := q
					if pattern != queue.BackupList {
						seen.Backups = []string{q.BackupKey("w1")}
					}
					wantOutcomes(t, act(t, c, seen, peek(t, c, seen, queue.Backup)), queue.Done)
					close(proceed)
					eventually(t, func() bool { return con.Stats().InHand == 0 })
					if err := r.stop(); err != nil {
						t.Fatal(err)
					}
					var want []string
					if name == "redrive" {
						want = []string{"elsewhere=taken"}
					}
					wantEverywhere(t, s, want...)
					// A shared list is left as it is when a handler fails: nobody looks.
					stats := queue.ConsumerStats{Done: 2, NotOurs: 1}
					if pattern == queue.BackupList && end != nil && end != context.Canceled {
						stats = queue.ConsumerStats{Done: 2, Failed: 1, Kept: 1}
					} else if pattern != queue.BackupList && end != nil && end != context.Canceled {
						stats.Failed = 1
					}
					wantStats(t, con.Stats(), stats)
					if end == context.Canceled && cause != queue.ErrNotOurs {
						t.Errorf("the handler's context ended with %v", cause)
					}
					if stats.NotOurs == 1 {
						ev := r.seen.one(t, queue.EventNotOurs)
						if string(ev.Message.Payload) != "taken" || !errors.Is(ev.Err, queue.ErrNotOurs) {
							t.Errorf("told: %+v", ev)
						}
						if well := strings.Contains(ev.Note, "finished well"); well != (end == nil) {
							t.Errorf("note of a handler that returned %v: %q", end, ev.Note)
						}
					}
				})
			}
		}
	}
}

// Re-driven into its own queue, a message comes back to the same consumer: one of the two in hand has no copy.
func TestAMessageReDrivenToTheSameConsumer(t *testing.T) {
	s := queuetest.Redis(t)
	c, _ := open(t, s)
	q := orders()
	feedFor(t, c, q, queue.Pipeline, "again")
	var n atomic.Int32
	first := make(chan struct{})
	con := consumerOf(c, q, queue.Pipeline, func(context.Context, queue.Message) error {
		if n.Add(1) == 1 {
			<-first
		}
		return nil
	})
	con.Concurrency = 2
	r := launch(t, con)
	eventually(t, func() bool { return n.Load() == 1 })
	seen := q
	seen.Backups = []string{q.BackupKey("w1")}
	wantOutcomes(t, c.Redrive(t.Context(), seen, peek(t, c, seen, queue.Backup), queue.RedriveOptions{}), queue.Done)
	eventually(t, func() bool { return con.Stats().Done == 1 })
	close(first)
	eventually(t, func() bool { return con.Stats().InHand == 0 })
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	wantEverywhere(t, s)
	wantStats(t, con.Stats(), queue.ConsumerStats{Done: 1, NotOurs: 1})
}

func TestACrashedWorkerLosesWhatThePatternLoses(t *testing.T) {
	s := queuetest.Redis(t)
	for _, pattern := range queue.Patterns() {
		t.Run(string(pattern), func(t *testing.T) {
			s.Client.FlushDB(t.Context())
			c, q := reader(t, s.URL), orders()
			feedFor(t, c, q, pattern, "m1", "crash", "m2")
			var attempts sync.Map
			con := consumerOf(c, q, pattern, func(_ context.Context, m queue.Message) error {
				attempts.Store(string(m.Payload), m.Attempts)
				if string(m.Payload) == "crash" {
					return fmt.Errorf("out of memory: %w", queue.ErrCrash)
				}
				return nil
			})
			r := launch(t, con) // with a heartbeat of 10 s: nobody recovers it
			eventually(t, func() bool { return con.Stats().Done == 2 && con.Stats().Crashed == 1 })
			r.seen.one(t, queue.EventCrashed)
			own := pattern == queue.Pipeline || pattern == queue.LockRetry
			switch {
			case own:
				wantEverywhere(t, s, q.BackupKey("w1")+"=crash")
			case pattern == queue.BackupList:
				wantEverywhere(t, s, "orders:backup=crash")
			default:
				wantEverywhere(t, s)
			}
			if err := r.stop(); err != nil {
				t.Fatal(err)
			}
			if !own {
				return
			}
			// A clean stop leaves no own backup list behind: it was an attempt, and the next has another.
			wantEverywhere(t, s, "orders=crash")
			next := consumerOf(c, q, pattern, con.Handler)
			next.Heartbeat, next.Retry = 50*time.Millisecond, queue.Retry{Limit: 3, Base: time.Millisecond}
			r = launch(t, next) // here its worker is found dead after three heartbeats
			eventually(t, func() bool { return next.Stats().Dead == 1 })
			if err := r.stop(); err != nil {
				t.Fatal(err)
			}
			wantEverywhere(t, s, "orders:dead=crash")
			if n, _ := attempts.Load("crash"); n != 2 {
				t.Errorf("the last handler saw %v failed attempts, want 2", n)
			}
			if got := slices.Sorted(maps.Keys(everywhere(t, s))); len(got) != 1 {
				t.Errorf("left over: %v", got)
			}
		})
	}
}
