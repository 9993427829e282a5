package queue_test

import (
	"slices"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/queuetest"
)

// listening subscribes to a queue's wake-ups. The function returns those since its last call.
func listening(t *testing.T, s *queuetest.Server, q queue.Queue) func() []string {
	t.Helper()
	sub := s.Client.Subscribe(t.Context(), q.WakeChannel())
	t.Cleanup(func() { _ = sub.Close() })
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	return func() []string {
		t.Helper()
		const end = "that was all"
		if err := s.Client.Publish(t.Context(), q.WakeChannel(), end).Err(); err != nil {
			t.Fatal(err)
		}
		var all []string
		for {
			m, err := sub.ReceiveMessage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if m.Payload == end {
				return all
			}
			all = append(all, m.Payload)
		}
	}
}

// inYears is an instant in the future, and its score in milliseconds.
func inYears(n int) (time.Time, string) {
	at := time.Date(2030+n, 1, 1, 0, 0, 0, 0, time.UTC)
	return at, string(queue.Milliseconds.Score(at))
}

// Whoever makes a message the earliest of the delayed ones tells its score, and only then.
func TestTheEarliestMessageWakesConsumers(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, _ := open(t, s)
		// Consumed from its sorted set: what is re-driven goes there.
		q := queue.Queue{Name: "orders", Backups: []string{"orders:backup"}, Delayed: "orders:delayed", Dead: "orders:dead"}
		wakes := listening(t, s, q)
		want := func(what string, scores ...string) {
			t.Helper()
			if got := wakes(); !slices.Equal(got, scores) {
				t.Errorf("%s: told %q, want %q", what, got, scores)
			}
		}
		at := func(n int) time.Time { at, _ := inYears(n); return at }
		score := func(n int) string { _, s := inYears(n); return s }
		schedule := func(payload string, n int) {
			t.Helper()
			if _, err := c.Schedule(t.Context(), q, []byte(payload), at(n)); err != nil {
				t.Fatal(err)
			}
		}

		schedule("m5", 5)
		want("the first", score(5))
		schedule("m4", 4)
		want("an earlier one", score(4))
		schedule("m6", 6)
		want("a later one")
		schedule("a4", 4)
		want("one as early as the first")
		if _, err := c.Schedule(t.Context(), q, []byte("m6"), at(1)); err == nil {
			t.Error("added twice")
		}
		want("one that was not added")

		if _, err := c.EnqueueAll(t.Context(), q, numberedPayloads("b", 3), queue.EnqueueOptions{At: at(3)}); err != nil {
			t.Fatal(err)
		}
		want("three at once", score(3))
		if _, err := c.EnqueueAll(t.Context(), q, numberedPayloads("c", 3), queue.EnqueueOptions{At: at(7)}); err != nil {
			t.Fatal(err)
		}
		want("three later ones")
		mixed := []queue.Scheduled{{[]byte("s8"), at(8)}, {[]byte("s2"), at(2)}, {[]byte("S2"), at(2)}, {[]byte("b0"), at(1)}}
		if _, err := c.ScheduleAll(t.Context(), q, mixed); err != nil {
			t.Fatal(err)
		}
		want("the earliest of several that are new", score(2))

		now := time.Now()
		if _, err := c.EnqueueAll(t.Context(), q, numberedPayloads("n", 2), queue.EnqueueOptions{Delay: true}); err != nil {
			t.Fatal(err)
		}
		got := wakes()
		if len(got) != 1 {
			t.Fatalf("due at once: told %q", got)
		}
		if due, ok := queue.Milliseconds.Time(queue.Score(got[0])); !ok || due.Sub(now).Abs() > time.Minute {
			t.Errorf("due at once: told %q", got)
		}

		// From here on each step of an operator.
		s.Client.FlushDB(t.Context())
		schedule("m5", 5)
		schedule("m6", 6)
		push(t, s, "orders:backup", "stuck")
		wakes()
		moved := c.Redrive(t.Context(), q, peek(t, c, q, queue.Backup), queue.RedriveOptions{})
		wantAll(t, moved, queue.Done)
		first := peek(t, c, q, queue.Delayed)[0]
		want("re-driven to be due now", string(first.Score))
		wantAll(t, c.Delete(t.Context(), q, []queue.Message{first}), queue.Done)
		want("deleted")

		ms := peek(t, c, q, queue.Delayed)
		wantAll(t, c.Reschedule(t.Context(), q, ms[1:], at(4)), queue.Done)
		want("rescheduled before the first", score(4))
		ms = peek(t, c, q, queue.Delayed)
		wantAll(t, c.Reschedule(t.Context(), q, ms[1:], at(9)), queue.Done)
		want("rescheduled behind the first")
		ms = peek(t, c, q, queue.Delayed)
		wantAll(t, c.Edit(t.Context(), q, ms[0], []byte("edited")), queue.Done)
		want("the first, edited", score(4))
		wantAll(t, c.Edit(t.Context(), q, ms[1], []byte("edited too")), queue.Done)
		want("the second, edited")
	})
}

func TestAnUndoWakesConsumers(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, j := open(t, s)
		q := orders()
		wakes := listening(t, s, q)
		at5, score5 := inYears(5)
		at6, _ := inYears(6)
		for payload, at := range map[string]time.Time{"m5": at5, "m6": at6} {
			if _, err := c.Schedule(t.Context(), q, []byte(payload), at); err != nil {
				t.Fatal(err)
			}
		}
		for _, tc := range []struct {
			do     func(ms []queue.Message) queue.Report
			of     int
			scores []string
		}{
			{func(ms []queue.Message) queue.Report { return c.Delete(t.Context(), q, ms) }, 0, []string{score5}},
			{func(ms []queue.Message) queue.Report { return c.Delete(t.Context(), q, ms) }, 1, nil},
			{func(ms []queue.Message) queue.Report { return c.Redrive(t.Context(), q, ms, queue.RedriveOptions{}) }, 0, []string{score5}},
			{func(ms []queue.Message) queue.Report { return c.Redrive(t.Context(), q, ms, queue.RedriveOptions{}) }, 1, nil},
		} {
			r := tc.do(peek(t, c, q, queue.Delayed)[tc.of : tc.of+1])
			wantAll(t, r, queue.Done)
			wakes()
			wantAll(t, c.Undo(t.Context(), entry(t, j, r.Entry)), queue.Done)
			if got := wakes(); !slices.Equal(got, tc.scores) {
				t.Errorf("undo of %s of message %d: told %q, want %q", r.Op, tc.of, got, tc.scores)
			}
		}
		p, err := c.Purge(t.Context(), q, queue.Delayed, nil)
		if err != nil {
			t.Fatal(err)
		}
		wakes()
		wantUndone(t, c, entry(t, j, p.Entry))
		if got := wakes(); !slices.Contains(got, score5) {
			t.Errorf("undo of a purge: told %q, want %s among them", got, score5)
		}
	})
}

// What a purge had set aside comes back in one step, or, where messages came meanwhile, in pieces.
func TestTheUndoOfAHalfDonePurgeWakesConsumers(t *testing.T) {
	s := queuetest.Redis(t)
	_, score5 := inYears(5)
	later, _ := inYears(7)
	for _, meanwhile := range []bool{false, true} {
		s.Client.FlushDB(t.Context())
		q := orders()
		c, j, p := through(t, s)
		wakes := listening(t, s, q)
		warm := queue.Named("warm")
		if _, err := c.Schedule(t.Context(), warm, []byte("x"), later); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Purge(t.Context(), warm, queue.Delayed, nil); err != nil {
			t.Fatal(err)
		}
		at, _ := inYears(5)
		for i := range 3 { // of which two are due as early
			if _, err := c.Schedule(t.Context(), q, []byte{byte('a' + i)}, at.AddDate(i/2, 0, 0)); err != nil {
				t.Fatal(err)
			}
		}
		p.CutAfterRequest("redq-purge")
		purged, err := c.Purge(t.Context(), q, queue.Delayed, nil)
		if err == nil {
			t.Fatal("the purge was confirmed")
		}
		if meanwhile {
			if _, err := c.Schedule(t.Context(), q, []byte("new"), later); err != nil {
				t.Fatal(err)
			}
		}
		wakes()
		wantUndone(t, c, entry(t, j, purged.Entry))
		if got := wakes(); !slices.Equal(got, []string{score5}) {
			t.Errorf("meanwhile=%v: told %q, want %s", meanwhile, got, score5)
		}
	}
}

// A user who may use no channel schedules all the same.
func TestWakingNeedsNoPermission(t *testing.T) {
	s := queuetest.Redis(t)
	q := orders()
	url := s.User("quiet", "pw", "~orders* +@all resetchannels")
	c, _ := open(t, s, func(o *queue.Options) { o.URL = url })
	wakes := listening(t, s, q)
	at, _ := inYears(1)
	if _, err := c.Schedule(t.Context(), q, []byte("a"), at); err != nil {
		t.Fatal(err)
	}
	if all, err := c.EnqueueAll(t.Context(), q, numberedPayloads("p", 3), queue.EnqueueOptions{Delay: true}); err != nil || all.Done != 3 {
		t.Errorf("%+v, %v", all, err)
	}
	ms := peek(t, c, q, queue.Delayed)
	wantAll(t, c.Reschedule(t.Context(), q, ms[3:], time.Now().Add(-time.Hour)), queue.Done)
	wantAll(t, c.Edit(t.Context(), q, peek(t, c, q, queue.Delayed)[0], []byte("edited")), queue.Done)
	if got := wakes(); got != nil {
		t.Errorf("told %q without permission", got)
	}
}

func TestWakingOnACluster(t *testing.T) {
	t.Parallel()
	nodes := queuetest.Cluster(t, 3)
	c, _ := open(t, nodes[0], func(o *queue.Options) { o.URL, o.Cluster = nodes[0].Addr, true })
	q := queue.Named("{orders}")
	// Whichever node a consumer listens on.
	sub := nodes[1].Client.Subscribe(t.Context(), q.WakeChannel())
	defer sub.Close()
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	at, score := inYears(1)
	if _, err := c.Schedule(t.Context(), q, []byte("a"), at); err != nil {
		t.Fatal(err)
	}
	if m, err := sub.ReceiveMessage(t.Context()); err != nil || m.Payload != score {
		t.Errorf("%v, %v", m, err)
	}
}
