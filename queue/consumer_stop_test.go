package queue_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/queuetest"
)

// A stop is asked at random moments around a push, while the consumer waits in a
// blocking pop: the message is handled, put back, or was never taken.
func TestStopInTheMomentABlockingPopReturns(t *testing.T) {
	t.Parallel()
	limited := func(t *testing.T) (*queuetest.Server, string) { // cannot end a blocked pop, nor learn its connection's id
		s := queuetest.Redis(t)
		return s, s.User("eve", "pw", "~* &* +@all -client")
	}
	servers := []struct {
		name   string
		rounds int
		start  func(t *testing.T) (*queuetest.Server, string)
	}{
		{"redis", 1000, func(t *testing.T) (*queuetest.Server, string) { s := queuetest.Redis(t); return s, s.URL }},
		{"no CLIENT", 12, limited},
		{"embedded", 12, func(t *testing.T) (*queuetest.Server, string) { s := queuetest.Embedded(t); return s, s.URL }},
	}
	for _, sv := range servers {
		if testing.Short() {
			sv.rounds = min(sv.rounds, 100)
		}
		t.Run(sv.name, func(t *testing.T) {
			s, url := sv.start(t)
			c := reader(t, url)
			for _, pattern := range []queue.Pattern{queue.ListBlock, queue.BackupList, queue.Pipeline} {
				t.Run(string(pattern), func(t *testing.T) {
					var todo, handled, returned, stayed atomic.Int64
					todo.Store(int64(sv.rounds))
					var workers sync.WaitGroup
					for w := range 12 { // at once, as most of a round is waiting
						workers.Go(func() {
							for n := todo.Add(-1); n >= 0; n = todo.Add(-1) {
								q := queue.Named(fmt.Sprintf("%s-%d", pattern, w))
								st, err := stopRound(s, c, q, pattern)
								if err != nil {
									t.Error(err)
									return
								}
								handled.Add(st.Done)
								returned.Add(st.Returned)
								if st.Taken == 0 {
									stayed.Add(1)
								}
							}
						})
					}
					workers.Wait()
					t.Logf("%d handled, %d put back, %d never taken", handled.Load(), returned.Load(), stayed.Load())
					if sv.rounds >= 1000 && (handled.Load() == 0 || stayed.Load() == 0) {
						t.Error("one of the two never happened: the moment was not met")
					}
					wantEverywhere(t, s)
				})
			}
		})
	}
}

// stopRound lets a consumer wait, pushes a message and asks for a stop at nearly the
// same moment. It returns what the consumer counted, and empties the queue.
func stopRound(s *queuetest.Server, c *queue.Client, q queue.Queue, pattern queue.Pattern) (st queue.ConsumerStats, err error) {
	bg := context.Background()
	var handled atomic.Int32
	waits := make(chan struct{})
	var once sync.Once
	con := &queue.Consumer{
		Client: c, Queue: q, Pattern: pattern, Concurrency: 1 + rand.IntN(2),
		Handler: func(context.Context, queue.Message) error { handled.Add(1); return nil },
		Events: func(ev queue.Event) {
			if ev.Kind == queue.EventIdle {
				once.Do(func() { close(waits) })
			}
		},
	}
	ctx, stop := context.WithCancel(bg)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- con.Run(ctx) }()
	select {
	case <-waits:
	case <-time.After(20 * time.Second):
		return st, fmt.Errorf("the consumer never waited: %+v", con.Stats())
	}
	time.Sleep(time.Duration(rand.IntN(1<<rand.IntN(14))) * time.Microsecond) // the pop is on its way, or blocked
	var pushed sync.WaitGroup
	// Microseconds on an idle machine, milliseconds on a busy one: of all sizes alike.
	offset := time.Duration(rand.IntN(1<<rand.IntN(14))) * time.Microsecond
	if rand.IntN(4) == 0 {
		offset = -offset
	}
	pushed.Go(func() {
		time.Sleep(max(0, -offset))
		s.Client.LPush(bg, q.Ready, "m")
	})
	time.Sleep(max(0, offset))
	stop()
	pushed.Wait()
	select {
	case err := <-ended:
		if err != nil {
			return st, err
		}
	case <-time.After(20 * time.Second):
		return st, fmt.Errorf("the consumer did not end: %+v", con.Stats())
	}
	h := int(handled.Load())
	left := s.Client.LRange(bg, q.Ready, 0, -1).Val()
	inBackup := s.Client.LRange(bg, q.Backups[0], 0, -1).Val()
	st = con.Stats()
	if h+len(left) != 1 || len(inBackup) != 0 || st.InHand != 0 || int(st.Done) != h || st.Taken != st.Done+st.Returned || st.Taken > 1 {
		return st, fmt.Errorf("handled %d times, %v in ready, %v in backup; %+v", h, left, inBackup, st)
	}
	return st, s.Client.Del(bg, q.Ready).Err()
}

// Messages that no worker has begun when a stop is asked come back to the front, in order.
func TestAStopPutsBackWhatNobodyHasBegun(t *testing.T) {
	s := queuetest.Redis(t)
	for _, push := range []queue.End{queue.Left, queue.Right} {
		t.Run(string(push), func(t *testing.T) {
			s.Client.FlushDB(t.Context())
			c, q := reader(t, s.URL), orders()
			q.Push = push
			want := numbered(0, 30)
			feedFor(t, c, q, queue.Pipeline, want...)
			begun, release := make(chan struct{}, 2), make(chan struct{})
			con := consumerOf(c, q, queue.Pipeline, func(context.Context, queue.Message) error {
				begun <- struct{}{}
				<-release
				return nil
			})
			con.Concurrency, con.Batch = 2, 10
			r := launch(t, con)
			<-begun
			<-begun
			r.cancel()
			eventually(t, func() bool { return con.Stats().State == queue.ConsumerStopping && con.Stats().InHand == 2 })
			close(release)
			if err := r.end(); err != nil {
				t.Fatal(err)
			}
			got := list(t, s, q.Ready)
			if push == queue.Left {
				slices.Reverse(got)
			}
			if !slices.Equal(got, want[2:]) {
				t.Errorf("in ready, next first: %v", got)
			}
			wantEverywhere(t, s, "orders="+strings.Join(want[2:], ","))
		})
	}
}

// Abandoned, a consumer ends at once though its handlers hang: what is in hand stays in
// the backup list, or is put back where there is none.
func TestAbandonDoesNotWaitForHandlers(t *testing.T) {
	t.Parallel()
	s := queuetest.Redis(t)
	for _, pattern := range queue.Patterns() {
		for _, obeys := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s obeys=%t", pattern, obeys), func(t *testing.T) {
				s.Client.FlushDB(t.Context())
				c, q := reader(t, s.URL), orders()
				want := []string{"m1", "m2", "m3", "m4", "m5"}
				feedFor(t, c, q, pattern, want...)
				release := make(chan struct{})
				t.Cleanup(func() { close(release) })
				var begun atomic.Int32
				var causes sync.WaitGroup
				causes.Add(2)
				con := consumerOf(c, q, pattern, func(ctx context.Context, m queue.Message) error {
					begun.Add(1)
					<-ctx.Done()
					if context.Cause(ctx) != queue.ErrAbandoned {
						t.Errorf("cause: %v", context.Cause(ctx))
					}
					causes.Done()
					if !obeys {
						<-release
					}
					return ctx.Err()
				})
				con.Concurrency, con.Heartbeat = 2, 50*time.Millisecond
				r := launch(t, con)
				eventually(t, func() bool { return begun.Load() == 2 })
				con.Abandon()
				if err := r.end(); !errors.Is(err, queue.ErrAbandoned) {
					t.Fatalf("Run: %v", err)
				}
				causes.Wait()
				var all []string
				for _, payloads := range everywhere(t, s) {
					all = append(all, payloads...)
				}
				slices.Sort(all)
				if !slices.Equal(all, want) {
					t.Errorf("on the server: %v", everywhere(t, s))
				}
				backup := len(everywhere(t, s)[q.BackupKey("w1")]) + len(everywhere(t, s)[q.Backups[0]])
				if keeps := pattern.AtLeastOnce(); keeps != (backup > 0) {
					t.Errorf("in backup: %d", backup)
				}
				if pattern != queue.Pipeline && pattern != queue.LockRetry {
					return
				}
				// Another one finds it dead after three of its heartbeats.
				var b book
				next := consumerOf(c, q, pattern, func(_ context.Context, m queue.Message) error { b.note(m); return nil })
				next.ID, next.Heartbeat = "w2", 50*time.Millisecond
				n := launch(t, next)
				eventually(t, func() bool { return next.Stats().Done == 5 })
				if err := n.stop(); err != nil {
					t.Fatal(err)
				}
				b.once(t, want)
				wantEverywhere(t, s)
				if ev := n.seen.one(t, queue.EventRecovered); ev.Note != "from w1" || ev.Count != backup {
					t.Errorf("recovered: %+v", ev)
				}
				if n := s.Client.HLen(t.Context(), q.ConsumersKey()).Val(); n != 0 {
					t.Errorf("%d consumers are still listed", n)
				}
			})
		}
	}
}

// Abandoned while messages fail, whose end is told to the server just then: each is somewhere once.
func TestAbandonWhileMessagesAreSettled(t *testing.T) {
	s := queuetest.Redis(t)
	c := reader(t, s.URL)
	const rounds, total = 20, 60
	for _, pattern := range []queue.Pattern{queue.ListBlock, queue.ZsetScript, queue.Dispatch} {
		t.Run(string(pattern), func(t *testing.T) {
			for range rounds {
				s.Client.FlushDB(t.Context())
				q := orders()
				want := numbered(0, total)
				feedFor(t, c, q, pattern, want...)
				var n atomic.Int32
				abandonAt := int32(1 + rand.IntN(total-1))
				con := consumerOf(c, q, pattern, nil)
				con.Concurrency, con.Retry = 30, queue.Retry{Limit: 9, Base: time.Hour, Max: time.Hour}
				con.Handler = func(context.Context, queue.Message) error {
					if n.Add(1) == abandonAt {
						go con.Abandon()
					}
					return errors.New("no card")
				}
				if err := runConsumer(t, con); !errors.Is(err, queue.ErrAbandoned) {
					t.Fatalf("Run: %v", err)
				}
				var all []string
				for _, payloads := range everywhere(t, s) {
					all = append(all, payloads...)
				}
				slices.Sort(all)
				if !slices.Equal(all, want) {
					t.Fatalf("on the server: %v", everywhere(t, s))
				}
			}
		})
	}
}

func TestMaxIsExact(t *testing.T) {
	s := queuetest.Redis(t)
	for _, pattern := range queue.Patterns() {
		for _, most := range []int{1, 7, 50} {
			t.Run(fmt.Sprintf("%s %d", pattern, most), func(t *testing.T) {
				s.Client.FlushDB(t.Context())
				c, q := reader(t, s.URL), orders()
				feedFor(t, c, q, pattern, numbered(0, 60)...)
				var b book
				con := consumerOf(c, q, pattern, func(_ context.Context, m queue.Message) error { b.note(m); return nil })
				con.Concurrency, con.Max = 8, int64(most)
				if err := runConsumer(t, con); err != nil {
					t.Fatal(err)
				}
				left := 0
				for _, payloads := range everywhere(t, s) {
					left += len(payloads)
				}
				if st := con.Stats(); st.Taken != int64(most) || len(b.times) != most || left != 60-most {
					t.Errorf("taken %d, handled %d, left %d", st.Taken, len(b.times), left)
				}
			})
		}
	}
}

// Whoever stops when all is done must not stop while the promoter moves messages from one
// place to the other.
func TestStopWhenEmptyLeavesNothing(t *testing.T) {
	t.Parallel()
	s := queuetest.Redis(t)
	const rounds, total = 25, 40
	for _, pattern := range []queue.Pattern{queue.Pipeline, queue.LockRetry, queue.ZsetScript} {
		t.Run(string(pattern), func(t *testing.T) {
			c := reader(t, s.URL)
			for round := range rounds {
				s.Client.FlushDB(t.Context())
				q := orders()
				feedFor(t, c, q, queue.ZsetScript, numbered(0, total)...)
				var b book
				con := consumerOf(c, q, pattern, func(_ context.Context, m queue.Message) error { b.note(m); return nil })
				con.StopWhenEmpty = true
				if pattern == queue.ZsetScript {
					con.Idle = queue.Idle{}
				}
				if err := runConsumer(t, con); err != nil {
					t.Fatal(err)
				}
				if len(b.times) != total {
					t.Fatalf("round %d: handled %d of %d, left %v", round, len(b.times), total, everywhere(t, s))
				}
			}
		})
	}
}
