package queue_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/queuetest"
)

// After a while without messages a consumer asks hardly anything of the server.
func TestAnIdleConsumerCostsNextToNothing(t *testing.T) {
	t.Parallel()
	var shifts []*shift
	for _, pattern := range []queue.Pattern{queue.ListPoll, queue.ListBlock, queue.ZsetScript, queue.LockRetry, queue.Dispatch, queue.BackupList, queue.Pipeline} {
		s := queuetest.Redis(t)
		c, _ := open(t, s)
		w := newShift(t, s, c, orders(), pattern)
		w.hire(func(con *queue.Consumer) { con.Heartbeat, con.Concurrency, con.Idle = 0, 0, queue.Idle{} })
		shifts = append(shifts, w)
	}
	for _, w := range shifts {
		w.goesOn()
		eventually(t, func() bool { return w.staff[0].Stats().Idle })
		// A message that is due in an hour must not make it look more often.
		if _, err := w.c.Enqueue(t.Context(), w.q, []byte("later"), queue.EnqueueOptions{In: time.Hour}); err != nil {
			t.Fatal(err)
		}
		queue.BeLazy(w.staff[0].Consumer)
	}
	time.Sleep(time.Second) // what was under way ends
	before, since := make([]float64, len(shifts)), make([]time.Time, len(shifts))
	for i, w := range shifts {
		before[i], since[i] = commands(t, w.s), time.Now()
	}
	time.Sleep(10 * time.Second) // from one heartbeat to the next
	for i, w := range shifts {
		rate := (commands(t, w.s) - before[i] - 1) / time.Since(since[i]).Seconds()
		t.Logf("%s: %.2f commands a second", w.pattern, rate)
		if rate > 2 {
			t.Errorf("%s: %.2f commands a second", w.pattern, rate)
		}
	}
}

// A consumer that sleeps until the only message is due, in an hour, is woken by whoever
// makes another one due before.
func TestAnEarlierMessageWakesASleeper(t *testing.T) {
	t.Parallel()
	for _, pattern := range []queue.Pattern{queue.Pipeline, queue.ZsetScript} {
		t.Run(string(pattern), func(t *testing.T) {
			t.Parallel()
			s := queuetest.Redis(t)
			c, _ := open(t, s)
			w := newShift(t, s, c, orders(), pattern)
			if _, err := c.Enqueue(t.Context(), w.q, []byte("later"), queue.EnqueueOptions{In: time.Hour}); err != nil {
				t.Fatal(err)
			}
			r := w.hire(func(con *queue.Consumer) { con.Heartbeat = 0 })
			soon := time.Now().Add(30 * time.Millisecond)
			for what, do := range map[string]func() error{
				"enqueue": func() error {
					_, err := c.Enqueue(t.Context(), w.q, []byte("enqueue"), queue.EnqueueOptions{In: 10 * time.Millisecond})
					return err
				},
				"schedule": func() error { _, err := c.Schedule(t.Context(), w.q, []byte("schedule"), time.Now()); return err },
				"enqueue all": func() error {
					_, err := c.EnqueueAll(t.Context(), w.q, [][]byte{[]byte("enqueue all"), []byte("2")}, queue.EnqueueOptions{Delay: true})
					return err
				},
				"schedule all": func() error {
					_, err := c.ScheduleAll(t.Context(), w.q, []queue.Scheduled{{[]byte("2h"), time.Now().Add(2 * time.Hour)}, {[]byte("schedule all"), time.Now()}})
					return err
				},
				"run now": func() error {
					if _, err := c.Enqueue(t.Context(), w.q, []byte("run now"), queue.EnqueueOptions{In: 3 * time.Hour}); err != nil {
						return err
					}
					for _, m := range peek(t, c, w.q, queue.Delayed) {
						if string(m.Payload) == "run now" {
							return c.Reschedule(t.Context(), w.q, []queue.Message{m}, soon).Err()
						}
					}
					return errors.New("it is not there")
				},
			} {
				idle := len(r.seen.of(queue.EventIdle))
				eventually(t, func() bool { return r.Stats().Idle && len(r.seen.of(queue.EventIdle)) >= idle })
				queue.BeLazy(r.Consumer) // the next look is 4 s away
				time.Sleep(600 * time.Millisecond)
				if err := do(); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				asked := time.Now()
				w.awaitHandled([]string{what})
				if took := time.Since(asked); took > 2*time.Second {
					t.Errorf("%s: handled after %v", what, took)
				}
			}
		})
	}
}

// Of several consumers one promotes; when it leaves another one does.
func TestOneConsumerPromotes(t *testing.T) {
	t.Parallel()
	s := queuetest.Redis(t)
	c, _ := open(t, s)
	w := newShift(t, s, c, orders(), queue.Pipeline)
	named := func(id string) func(*queue.Consumer) { return func(con *queue.Consumer) { con.ID = id } }
	first, second := w.hire(named("a")), w.hire(named("b"))
	// They know of each other after a few heartbeats.
	eventually(t, func() bool {
		known, err := c.Consumers(t.Context(), w.q)
		return err == nil && len(known.Known) == 2
	})
	time.Sleep(2 * time.Second)
	schedule := func(prefix string) {
		t.Helper()
		var ms []queue.Scheduled
		var payloads []string
		for i := range 100 {
			payloads = append(payloads, fmt.Sprint(prefix, i))
			ms = append(ms, queue.Scheduled{Payload: []byte(payloads[i]), At: time.Now().Add(time.Duration(10*i) * time.Millisecond)})
		}
		if _, err := c.ScheduleAll(t.Context(), w.q, ms); err != nil {
			t.Fatal(err)
		}
		w.awaitHandled(payloads)
	}
	// On a busy machine the first may be so late that the second thinks it gone.
	for try := 1; ; try++ {
		a, b := first.Stats().Promoted, second.Stats().Promoted
		schedule(fmt.Sprintf("x%d-", try))
		a, b = first.Stats().Promoted-a, second.Stats().Promoted-b
		if a >= 4*b {
			break
		}
		if try == 10 {
			t.Fatalf("the first promoted %d, the second %d, also in the tenth try", a, b)
		}
	}
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	before := second.Stats().Promoted
	schedule("y")
	// Counted a moment after they are handled.
	eventually(t, func() bool { return second.Stats().Promoted-before == 100 })
}

// dueTimes is what one consumer of delayed messages was given, and when it handled it.
type dueTimes struct {
	*shift
	name string

	mu   sync.Mutex
	due  map[string]time.Time
	took map[string]time.Time
}

func TestNothingIsTakenBeforeItIsDue(t *testing.T) {
	t.Parallel()
	const each = 130 // for 16 consumers: 2,080
	s := queuetest.Redis(t)
	var all []*dueTimes
	for _, pattern := range []queue.Pattern{queue.ZsetRace, queue.ZsetScript, queue.Dispatch, queue.Pipeline} {
		for _, unit := range allUnits() {
			c, _ := open(t, s)
			d := &dueTimes{name: fmt.Sprintf("%s-%d", pattern, unit), due: map[string]time.Time{}, took: map[string]time.Time{}}
			q := queue.Named("due-" + d.name)
			q.Unit = unit
			d.shift = newShift(t, s, c, q, pattern)
			d.hire(func(con *queue.Consumer) { con.Heartbeat, con.Handler = 0, d.handle })
			all = append(all, d)
		}
	}
	for i := range each {
		for _, d := range all {
			payload := fmt.Sprint("m", i)
			at := time.Now().Add(rand.N(2 * time.Second))
			sent, err := d.c.Schedule(t.Context(), d.q, []byte(payload), at)
			if err != nil {
				t.Fatal(err)
			}
			if sent.Due.Before(at.Truncate(time.Microsecond)) {
				t.Errorf("%s: asked for %v, due %v", d.name, at, sent.Due)
			}
			d.due[payload] = sent.Due
		}
	}
	for _, d := range all {
		d.check(slices.Sorted(maps.Keys(d.due)))
	}
}

func (d *dueTimes) handle(_ context.Context, m queue.Message) error {
	now := time.Now() // the server is on this machine: its clock is this one
	d.mu.Lock()
	d.took[string(m.Payload)] = now
	d.mu.Unlock()
	d.note(m)
	return nil
}

func (d *dueTimes) check(payloads []string) {
	d.t.Helper()
	d.awaitHandled(payloads)
	d.goHome()
	d.once(d.t, payloads)
	for payload, at := range d.took {
		if early := d.due[payload].Sub(at); early > 0 {
			d.t.Errorf("%s: %s was handled %v before it was due", d.name, payload, early)
		}
	}
	st := d.staff[0].Stats()
	d.t.Logf("%s: late by %v, at the worst by %v, of %d", d.name, st.LateP50, st.LateP99, st.Lates)
	if st.Lates == 0 || st.LateP50 < 0 || st.LateP50 > 500*time.Millisecond {
		d.t.Errorf("%s: half of them were late by more than %v: %+v", d.name, st.LateP50, st)
	}
}

// clockOff keeps the embedded server's clock apart from the host's by so much. The
// function returns what it shows.
func clockOff(t *testing.T, s *queuetest.Server, off time.Duration) (now func() time.Time) {
	t.Helper()
	var shows atomic.Pointer[time.Time]
	tick := func() {
		at := time.Now().Add(off)
		s.Mini.SetTime(at)
		shows.Store(&at)
	}
	tick()
	ctx, stop := context.WithCancel(context.Background())
	var ticking sync.WaitGroup
	ticking.Go(func() {
		for ctx.Err() == nil {
			tick()
			time.Sleep(time.Millisecond)
		}
	})
	t.Cleanup(func() { stop(); ticking.Wait() })
	return func() time.Time { return *shows.Load() }
}

// The server's clock decides, in whichever direction the host's is wrong.
func TestTheHostsClockIsWrong(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{5 * time.Minute, -5 * time.Minute} {
		for _, pattern := range []queue.Pattern{queue.ZsetRace, queue.ZsetScript, queue.Dispatch, queue.Pipeline} {
			t.Run(fmt.Sprintf("%s %v", pattern, off), func(t *testing.T) {
				t.Parallel()
				s := queuetest.Embedded(t)
				now := clockOff(t, s, off)
				c, _ := open(t, s)
				w := newShift(t, s, c, orders(), pattern)
				var mu sync.Mutex
				due := map[string]time.Time{} // of the next attempt
				early := func(payload string) {
					mu.Lock()
					defer mu.Unlock()
					// ZsetRace reckons with the time that passes between two answers: this clock may jump there.
					slack := 10 * time.Millisecond
					if pattern == queue.ZsetRace {
						slack = time.Second
					}
					if at, n := due[payload], now(); n.Add(slack).Before(at) {
						t.Errorf("%s was handled %v before it was due", payload, at.Sub(n))
					}
				}
				var payloads []string
				for i := range 20 {
					payload := fmt.Sprint("m", i)
					payloads = append(payloads, payload)
					sent, err := c.Enqueue(t.Context(), w.q, []byte(payload), queue.EnqueueOptions{In: time.Duration(100+10*i) * time.Millisecond})
					if err != nil {
						t.Fatal(err)
					}
					due[payload] = sent.Due
					if d := sent.Due.Sub(now()); d.Abs() > time.Minute {
						t.Fatalf("due in %v", d)
					}
				}
				again := map[string]int{}
				r := w.hire(func(con *queue.Consumer) {
					con.Retry = queue.Retry{Limit: 3, Base: 100 * time.Millisecond, Jitter: -1}
					con.Handler = func(_ context.Context, m queue.Message) error {
						p := string(m.Payload)
						early(p)
						mu.Lock()
						defer mu.Unlock()
						again[p]++
						due[p] = now().Add(99 * time.Millisecond)
						switch again[p] {
						case 1:
							return errors.New("once more")
						case 2:
							return queue.Defer(100*time.Millisecond, nil)
						}
						w.note(m)
						return nil
					}
				})
				w.awaitHandled(payloads) // late by minutes would be too late for that
				w.goHome()
				w.once(t, payloads)
				st := r.Stats()
				if st.Retried != 20 || st.Deferred != 20 || st.Done != 20 {
					t.Errorf("%+v", st)
				}
				for _, kind := range []queue.EventKind{queue.EventRetried, queue.EventDeferred} {
					for _, ev := range r.seen.of(kind) {
						if d := ev.Due.Sub(ev.Time.Add(off)); d.Abs() > time.Minute {
							t.Errorf("%s: due in %v by the server's clock", kind, d)
						}
					}
				}
				if st.LateP50 < -time.Second || st.LateP99 > time.Minute {
					t.Errorf("late by %v, %v", st.LateP50, st.LateP99)
				}
			})
		}
	}
}
