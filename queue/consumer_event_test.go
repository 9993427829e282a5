package queue_test

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/queuetest"
)

// A receiver that does not return holds up no message; what it misses is counted, and
// what it gets is in order.
func TestASlowReceiverOfEventsHoldsUpNothing(t *testing.T) {
	for _, late := range []bool{false, true} { // it goes on only when the consumer has ended
		t.Run(fmt.Sprintf("late %t", late), func(t *testing.T) { slowReceiver(t, late) })
	}
}

func slowReceiver(t *testing.T, late bool) {
	const total = 6000 // each is told of twice: more than wait for a receiver
	s := queuetest.Redis(t)
	c, q := reader(t, s.URL), orders()
	pushMany(t, s, q.Ready, 0, total)
	var told []queue.Event
	hold := make(chan struct{})
	con := consumerOf(c, q, queue.Pipeline, func(context.Context, queue.Message) error { return nil })
	con.Events = func(ev queue.Event) {
		<-hold
		told = append(told, ev)
	}
	r := launch(t, con)
	eventually(t, func() bool { return con.Stats().Done == total })
	if late {
		r.cancel()
		eventually(t, func() bool {
			listed, err := s.Client.HLen(context.Background(), q.ConsumersKey()).Result()
			return con.Stats().State == queue.ConsumerStopped && err == nil && listed == 0
		})
		time.Sleep(50 * time.Millisecond) // it has told everything by now
	}
	close(hold)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	left := 0
	state := map[string]queue.EventKind{}
	for i, ev := range told {
		if i > 0 && ev.Kind != queue.EventOverflow && ev.Time.Before(told[i-1].Time) {
			t.Errorf("%s comes after an event that is later", ev.Kind)
		}
		switch ev.Kind {
		case queue.EventOverflow:
			left += ev.Count
		case queue.EventTaken, queue.EventDone:
			p := string(ev.Message.Payload)
			if before := state[p]; before == ev.Kind || before == queue.EventDone {
				t.Errorf("%s is %s after it was %s", p, ev.Kind, before)
			}
			state[p] = ev.Kind
		}
	}
	if st := con.Stats(); left == 0 || int64(left) != st.Overflow {
		t.Errorf("the events tell of %d that were left out, the counter of %d", left, st.Overflow)
	}
	if told[0].Kind != queue.EventStarted || told[len(told)-1].Kind != queue.EventStopped {
		t.Errorf("the first is %s, the last %s", told[0].Kind, told[len(told)-1].Kind)
	}
}

// No event comes after Run has returned, and the last tells that it has ended.
func TestEventsEndWithTheConsumer(t *testing.T) {
	s := queuetest.Redis(t)
	c, q := reader(t, s.URL), orders()
	for _, abandon := range []bool{false, true} {
		pushMany(t, s, q.Ready, 0, 100)
		var kinds []queue.EventKind
		var ended atomic.Bool
		con := consumerOf(c, q, queue.Pipeline, func(context.Context, queue.Message) error { return nil })
		con.Events = func(ev queue.Event) {
			if ended.Load() {
				t.Errorf("%s after the end", ev.Kind)
			}
			kinds = append(kinds, ev.Kind)
		}
		r := launch(t, con)
		eventually(t, func() bool { return con.Stats().Done >= 50 })
		if abandon {
			con.Abandon()
			_ = r.end()
		} else if err := r.stop(); err != nil {
			t.Fatal(err)
		}
		ended.Store(true)
		if n := len(kinds); kinds[0] != queue.EventStarted || kinds[n-1] != queue.EventStopped || !slices.Contains(kinds, queue.EventStopping) {
			t.Errorf("told: %v", kinds)
		}
		s.Client.FlushDB(t.Context())
	}
}

// What a handler may ask for, in every pattern.
func TestVerdictsOfHandlers(t *testing.T) {
	why := errors.New("no card")
	lists := func(p queue.Pattern) bool {
		return p == queue.ListPoll || p == queue.ListBlock || p == queue.BackupList
	}
	tests := []struct {
		name    string
		verdict error
		queue   func(q *queue.Queue, p queue.Pattern)
		where   string // everything on the server, but for parks
		parks   func(p queue.Pattern) bool
		kind    queue.EventKind
		stats   queue.ConsumerStats
		told    error
	}{
		{"drop", queue.Drop(why), nil, "", nil, queue.EventDropped, queue.ConsumerStats{Dropped: 1}, why},
		{"drop for nothing", queue.Drop(nil), nil, "", nil, queue.EventDropped, queue.ConsumerStats{Dropped: 1}, nil},
		{"dead", queue.DeadLetter(why), nil, "orders:dead=m", nil, queue.EventDead, queue.ConsumerStats{Dead: 1}, why},
		{"dead, wrapped", fmt.Errorf("it is: %w", queue.DeadLetter(why)), nil, "orders:dead=m", nil, queue.EventDead, queue.ConsumerStats{Dead: 1}, why},
		{"defer", queue.Defer(time.Hour, why), nil, "orders:delayed=m", lists, queue.EventDeferred, queue.ConsumerStats{Deferred: 1}, why},
		{"dead without a place", queue.DeadLetter(why), func(q *queue.Queue, p queue.Pattern) {
			if q.Dead = ""; p == queue.BackupList {
				q.Dead = "orders:dead" // there it would be kept
			}
		}, "", nil, queue.EventDropped, queue.ConsumerStats{Dropped: 1}, why},
	}
	s := queuetest.Redis(t)
	for _, tt := range tests {
		for _, pattern := range queue.Patterns() {
			t.Run(tt.name+" "+string(pattern), func(t *testing.T) {
				s.Client.FlushDB(t.Context())
				c, q := reader(t, s.URL), orders()
				kind, stats, where := tt.kind, tt.stats, tt.where
				if tt.queue != nil {
					if tt.queue(&q, pattern); q.Dead != "" {
						kind, stats, where = queue.EventDead, queue.ConsumerStats{Dead: 1}, "orders:dead=m"
					}
				}
				feedFor(t, c, q, pattern, "m")
				con := consumerOf(c, q, pattern, func(context.Context, queue.Message) error { return tt.verdict })
				con.Retry.Limit = 3
				if pattern == queue.ZsetRace {
					con.Concurrency = 1 // who has seen it due removes it, whatever its due time is by then
				}
				r := launch(t, con)
				ev := r.seen.one(t, kind)
				if tt.told != nil && !errors.Is(ev.Err, tt.told) || string(ev.Message.Payload) != "m" || ev.Attempt != 1 {
					t.Errorf("told: %+v", ev)
				}
				if tt.parks != nil && tt.parks(pattern) { // such a pattern takes nothing from delayed: it is kept in hand
					if n := con.Stats().InHand; n != 1 {
						t.Errorf("%d in hand", n)
					}
					where, stats.Returned = "orders=m", 1 // by the stop
				}
				if err := r.stop(); err != nil {
					t.Fatal(err)
				}
				if where == "" {
					wantEverywhere(t, s)
				} else {
					wantEverywhere(t, s, where)
				}
				wantStats(t, con.Stats(), stats)
				if n := len(r.seen.of(queue.EventFailed)); n != 0 {
					t.Errorf("%d times told as failed", n)
				}
				switch ms, _ := s.Client.HVals(t.Context(), q.MetaKey()).Result(); {
				case kind == queue.EventDead && (len(ms) != 1 || !strings.HasSuffix(ms[0], why.Error())):
					t.Errorf("kept of the dead one: %v", ms)
				case kind != queue.EventDead && len(ms) != 0:
					t.Errorf("an attempt was counted: %v", ms)
				}
			})
		}
	}
}

// A message that a handler defers comes back, and no attempt is used.
func TestADeferredMessageComesBack(t *testing.T) {
	s := queuetest.Redis(t)
	for _, pattern := range queue.Patterns() {
		t.Run(string(pattern), func(t *testing.T) {
			s.Client.FlushDB(t.Context())
			c, q := reader(t, s.URL), orders()
			feedFor(t, c, q, pattern, "m")
			var begun []time.Time
			con := consumerOf(c, q, pattern, func(_ context.Context, m queue.Message) error {
				if m.Attempts != 0 {
					t.Errorf("%d attempts were used", m.Attempts)
				}
				if begun = append(begun, time.Now()); len(begun) < 3 {
					return queue.Defer(20*time.Millisecond, nil)
				}
				return nil
			})
			con.Retry.Limit = 2
			if pattern == queue.ZsetRace {
				con.Concurrency = 1 // who has seen it due removes it, whatever its due time is by then
			}
			r := launch(t, con)
			eventually(t, func() bool { return con.Stats().Done == 1 })
			if err := r.stop(); err != nil {
				t.Fatal(err)
			}
			for i := range 2 {
				if early := begun[i+1].Sub(begun[i]); early < 19*time.Millisecond {
					t.Errorf("handled again after %s", early)
				}
			}
			wantEverywhere(t, s)
			wantStats(t, con.Stats(), queue.ConsumerStats{Done: 1, Deferred: 2})
		})
	}
}

// The wait before the next attempt doubles up to its limit, less the jitter: told by the due scores.
func TestTheWaitBeforeARetryDoubles(t *testing.T) {
	const base, most = 10 * time.Second, 100 * time.Second
	s := queuetest.Redis(t)
	for _, jitter := range []float64{-1, 0.5, 1} {
		t.Run(fmt.Sprint(jitter), func(t *testing.T) {
			s.Client.FlushDB(t.Context())
			c, q := reader(t, s.URL), orders()
			attempts := map[string]int{} // before this one
			for i := range 200 {
				p := fmt.Sprint("m", i)
				attempts[p] = i % 90
				if attempts[p] > 0 {
					digest := fmt.Sprintf("%x", sha1.Sum([]byte(p)))
					s.Client.HSet(t.Context(), q.MetaKey(), digest, fmt.Sprintf("%d 1700000000000 no card", attempts[p]))
				}
			}
			for p := range attempts {
				feedFor(t, c, q, queue.Pipeline, p)
			}
			before, _ := s.Client.Time(t.Context()).Result()
			con := consumerOf(c, q, queue.Pipeline, func(_ context.Context, m queue.Message) error {
				if want := attempts[string(m.Payload)]; m.Attempts != want || want > 0 && m.Reason != "no card" {
					t.Errorf("%s: the handler saw %d attempts (%q), want %d", m.Payload, m.Attempts, m.Reason, want)
				}
				return errors.New("no card")
			})
			con.Max, con.Retry = 200, queue.Retry{Limit: 100, Base: base, Max: most, Jitter: jitter}
			if err := runConsumer(t, con); err != nil {
				t.Fatal(err)
			}
			after, _ := s.Client.Time(t.Context()).Result()
			shares := map[int]int{} // of the jitter drawn, in tenths
			for p, n := range attempts {
				full := most
				if n < 4 {
					full = min(most, base<<n)
				}
				share := max(jitter, 0)
				least := full - time.Duration(share*float64(full))
				due := time.UnixMilli(int64(s.Client.ZScore(t.Context(), q.Delayed, p).Val()))
				if due.Before(before.Add(least).Truncate(time.Millisecond)) || due.After(after.Add(full+time.Millisecond)) {
					t.Errorf("after %d attempts: due %s later, want between %s and %s", n+1, due.Sub(before), least, full)
				}
				shares[int(10*float64(due.Sub(before))/float64(full))]++
			}
			if spread := len(shares) > 4; spread != (jitter > 0) {
				t.Errorf("with a jitter of %g the waits are spread so: %v", jitter, shares)
			}
		})
	}
}

// Messages that others have failed are known as such to a consumer that was idle meanwhile.
func TestAttemptsOfOtherConsumersAreKnown(t *testing.T) {
	s := queuetest.Redis(t)
	for _, pattern := range queue.Patterns() {
		t.Run(string(pattern), func(t *testing.T) {
			s.Client.FlushDB(t.Context())
			c, q := reader(t, s.URL), orders()
			var known atomic.Int32
			con := consumerOf(c, q, pattern, func(_ context.Context, m queue.Message) error {
				known.Store(int32(m.Attempts))
				return nil
			})
			con.Heartbeat = 50 * time.Millisecond
			r := launch(t, con)
			r.seen.one(t, queue.EventIdle)
			for i := 0; known.Load() == 0; i++ {
				if i > 1000 {
					t.Fatal("its handler never saw the failed attempts")
				}
				p := fmt.Sprint("m", i)
				s.Client.HSet(t.Context(), q.MetaKey(), fmt.Sprintf("%x", sha1.Sum([]byte(p))), "3 1700000000000 no card")
				feedFor(t, c, q, pattern, p)
				eventually(t, func() bool { return con.Stats().Done == int64(i+1) })
			}
			if known.Load() != 3 {
				t.Errorf("%d attempts are known, want 3", known.Load())
			}
			if err := r.stop(); err != nil {
				t.Fatal(err)
			}
			if n := s.Client.HLen(t.Context(), q.MetaKey()).Val(); n != 0 && pattern.AtLeastOnce() {
				t.Errorf("%d done messages are still known as failed", n)
			}
		})
	}
}

// In every pattern the limit of attempts is kept.
func TestTheLimitOfAttemptsIsKept(t *testing.T) {
	s := queuetest.Redis(t)
	for _, pattern := range queue.Patterns() {
		if pattern == queue.BackupList {
			continue // never retries by itself
		}
		t.Run(string(pattern), func(t *testing.T) {
			s.Client.FlushDB(t.Context())
			c, q := reader(t, s.URL), orders()
			feedFor(t, c, q, pattern, "poison")
			var mu sync.Mutex
			var attempts []int
			con := consumerOf(c, q, pattern, func(_ context.Context, m queue.Message) error {
				mu.Lock()
				defer mu.Unlock()
				attempts = append(attempts, m.Attempts)
				return errors.New("no card")
			})
			con.Retry = queue.Retry{Limit: 3, Base: time.Millisecond}
			r := launch(t, con)
			ev := r.seen.one(t, queue.EventDead)
			if err := r.stop(); err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(attempts) != "[0 1 2]" || ev.Attempt != 3 {
				t.Errorf("attempts before each handling: %v; dead at attempt %d", attempts, ev.Attempt)
			}
			wantEverywhere(t, s, "orders:dead=poison")
			wantStats(t, con.Stats(), queue.ConsumerStats{Failed: 3, Retried: 2, Dead: 1})
		})
	}
}

func TestAConsumerSaysWhatIsWrongWithIt(t *testing.T) {
	s := queuetest.Embedded(t)
	c := reader(t, s.URL)
	ok := func(context.Context, queue.Message) error { return nil }
	only := func(change func(*queue.Queue)) queue.Queue {
		q := orders()
		change(&q)
		return q
	}
	tests := []struct {
		name string
		con  *queue.Consumer
		want string // "" is fine
	}{
		{"all defaults", &queue.Consumer{Client: c, Queue: orders(), Handler: ok}, ""},
		{"no client", &queue.Consumer{Queue: orders(), Handler: ok}, "needs a client"},
		{"no handler", &queue.Consumer{Client: c, Queue: orders()}, "needs a handler"},
		{"no queue", &queue.Consumer{Client: c, Handler: ok}, "needs a name"},
		{"no such pattern", &queue.Consumer{Client: c, Queue: orders(), Handler: ok, Pattern: "P9"}, "not a pattern"},
		{"queue's pattern", &queue.Consumer{Client: c, Queue: only(func(q *queue.Queue) { q.Pattern = "what" }), Handler: ok}, "not a pattern"},
		{"concurrency", &queue.Consumer{Client: c, Queue: orders(), Handler: ok, Concurrency: -1}, "concurrency"},
		{"concurrency above", &queue.Consumer{Client: c, Queue: orders(), Handler: ok, Concurrency: 10_001}, "concurrency"},
		{"batch", &queue.Consumer{Client: c, Queue: orders(), Handler: ok, Batch: 1001}, "batch"},
		{"max", &queue.Consumer{Client: c, Queue: orders(), Handler: ok, Max: -1}, "negative"},
		{"heartbeat", &queue.Consumer{Client: c, Queue: orders(), Handler: ok, Heartbeat: time.Millisecond}, "heartbeat"},
		{"id", &queue.Consumer{Client: c, Queue: orders(), Handler: ok, ID: "a b"}, "id"},
		{"retry limit", &queue.Consumer{Client: c, Queue: orders(), Handler: ok, Retry: queue.Retry{Limit: -1}}, "negative"},
		{"retry waits", &queue.Consumer{Client: c, Queue: orders(), Handler: ok, Retry: queue.Retry{Base: time.Hour, Max: time.Minute}}, "longest wait"},
		{"jitter", &queue.Consumer{Client: c, Queue: orders(), Handler: ok, Retry: queue.Retry{Jitter: 1.5}}, "jitter"},
		{"no jitter", &queue.Consumer{Client: c, Queue: orders(), Handler: ok, Retry: queue.Retry{Jitter: -1}}, ""},
		{"no time limit", &queue.Consumer{Client: c, Queue: orders(), Handler: ok, TimeLimit: -1}, ""},
		{"lock policy", &queue.Consumer{Client: c, Queue: orders(), Handler: ok, Lock: &queue.Lock{Conflict: "hope"}}, "lock conflict"},
		{"lock time", &queue.Consumer{Client: c, Queue: orders(), Handler: ok, Lock: &queue.Lock{TTL: time.Millisecond}}, "time to live"},
		{"P5 without a lock", &queue.Consumer{Client: c, Queue: orders(), Handler: ok, Pattern: queue.LockRetry}, ""},
		{"P5 on a sorted set", &queue.Consumer{Client: c, Queue: only(func(q *queue.Queue) { q.Ready = "" }), Handler: ok, Pattern: queue.LockRetry}, ""},
		{"P8 without ready", &queue.Consumer{Client: c, Queue: only(func(q *queue.Queue) { q.Ready = "" }), Handler: ok}, "takes from ready"},
		{"P8 without delayed", &queue.Consumer{Client: c, Queue: only(func(q *queue.Queue) { q.Delayed = "" }), Handler: ok}, ""},
		{"P7 without backup", &queue.Consumer{Client: c, Queue: only(func(q *queue.Queue) { q.Backups = nil }), Handler: ok, Pattern: queue.BackupList}, "backup list"},
		{"P4 without delayed", &queue.Consumer{Client: c, Queue: only(func(q *queue.Queue) { q.Delayed = "" }), Handler: ok, Pattern: queue.ZsetScript}, "takes from delayed"},
		{"one key twice", &queue.Consumer{Client: c, Queue: only(func(q *queue.Queue) { q.Dead = q.Ready }), Handler: ok}, "both"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.con.Validate()
			if tt.want == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want it to contain %q", err, tt.want)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if run := tt.con.Run(ctx); run == nil || run.Error() != err.Error() {
				t.Errorf("Run: %v", run)
			}
		})
	}
	if keys := s.Client.Keys(t.Context(), "*").Val(); len(keys) != 0 {
		t.Errorf("something was written: %v", keys)
	}
}

func TestAReadOnlyClientConsumesNothing(t *testing.T) {
	s := queuetest.Redis(t)
	c, _ := open(t, s, func(o *queue.Options) { o.ReadOnly = true })
	push(t, s, "orders", "m1")
	con := consumerOf(c, orders(), queue.ListBlock, func(context.Context, queue.Message) error { t.Error("handled"); return nil })
	if err := con.Run(t.Context()); !errors.Is(err, queue.ErrReadOnly) {
		t.Errorf("Run: %v", err)
	}
	wantEverywhere(t, s, "orders=m1")
	if keys := s.Client.Keys(t.Context(), "*").Val(); len(keys) != 1 {
		t.Errorf("something was written: %v", keys)
	}
}

func TestAConsumerRunsOnce(t *testing.T) {
	s := queuetest.Embedded(t)
	c := reader(t, s.URL)
	con := consumerOf(c, orders(), queue.ListBlock, func(context.Context, queue.Message) error { return nil })
	if st := con.Stats(); st.State != queue.ConsumerNew || con.InHand() != nil {
		t.Errorf("before it runs: %+v", st)
	}
	con.StopWhenEmpty = true
	if err := runConsumer(t, con); err != nil {
		t.Fatal(err)
	}
	if err := con.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "once") {
		t.Errorf("the second Run: %v", err)
	}
	con.Abandon() // late: nothing happens
	early := consumerOf(c, orders(), queue.ListBlock, con.Handler)
	early.Abandon()
	if err := early.Run(t.Context()); !errors.Is(err, queue.ErrAbandoned) {
		t.Errorf("Run of one that was abandoned before: %v", err)
	}
}
