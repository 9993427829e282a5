package queue_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/journal"
	"redq/queue/queuetest"
)

// through opens a client whose connections pass a proxy.
func through(t *testing.T, s *queuetest.Server) (*queue.Client, *journal.Journal, *queuetest.Proxy) {
	t.Helper()
	p := queuetest.NewProxy(t, s.Addr)
	c, j := open(t, s, func(o *queue.Options) {
		o.URL = "redis://" + p.Addr
		o.Timeout = 500 * time.Millisecond
	})
	return c, j, p
}

func TestALostAnswerIsUnknownAndNeverASecondCopy(t *testing.T) {
	s := queuetest.Redis(t)
	q := orders()
	push(t, s, "orders:backup", "a", "b")
	s.Client.ZAdd(t.Context(), "orders:delayed", z(1764547200000, "x"))
	c, _, p := through(t, s)
	backup, delayed := peek(t, c, q, queue.Backup), peek(t, c, q, queue.Delayed)

	knowScripts(t, c, s)
	lose := func(marker string) { p.CutAfterRequest(marker) }
	lose("the-payload")
	sent, err := c.Enqueue(t.Context(), q, []byte("the-payload"), queue.EnqueueOptions{})
	if !errors.Is(err, queue.ErrUnknownOutcome) || !strings.Contains(sent.Note, "in ready now") {
		t.Errorf("enqueue: %v, note %q", err, sent.Note)
	}
	wantList(t, s, "orders", "the-payload")

	for _, step := range []struct {
		do   func() queue.Report
		note string
	}{
		{func() queue.Report { return c.Redrive(t.Context(), q, backup[:1], queue.RedriveOptions{}) }, "it is in ready now"},
		{func() queue.Report { return c.Delete(t.Context(), q, backup[1:]) }, "not in backup now"},
		{func() queue.Report { return c.Reschedule(t.Context(), q, delayed, time.UnixMilli(1764547299000)) }, "1764547299000"},
		{func() queue.Report {
			ready := peek(t, c, q, queue.Ready)
			lose("redq-edited")
			return c.Edit(t.Context(), q, ready[0], []byte("redq-edited"))
		}, "new bytes"},
	} {
		lose("evalsha")
		r := step.do()
		wantOutcomes(t, r, queue.Unknown)
		if !errors.Is(r.Err(), queue.ErrUnknownOutcome) || !strings.Contains(r.Results[0].Note, step.note) {
			t.Errorf("%s: %v, note %q, want %q", r.Op, r.Err(), r.Results[0].Note, step.note)
		}
	}
	wantList(t, s, "orders", "redq-edited", "the-payload")
	wantList(t, s, "orders:backup")
}

// knowScripts makes the server know the scripts, so that the next call of each
// is carried out at the first request.
func knowScripts(t *testing.T, c *queue.Client, s *queuetest.Server) {
	t.Helper()
	q := queue.Named("warm")
	push(t, s, "warm:backup", "a", "b")
	s.Client.ZAdd(t.Context(), "warm:delayed", z(1764547200000, "x"))
	if _, err := c.Enqueue(t.Context(), q, []byte("y"), queue.EnqueueOptions{}); err != nil {
		t.Fatal(err)
	}
	ms := peek(t, c, q, queue.Backup)
	wantAll(t, c.Edit(t.Context(), q, ms[0], []byte("A")), queue.Done)
	wantAll(t, c.Redrive(t.Context(), q, ms[1:], queue.RedriveOptions{}), queue.Done)
	wantAll(t, c.Delete(t.Context(), q, peek(t, c, q, queue.Backup)), queue.Done)
	wantAll(t, c.Reschedule(t.Context(), q, peek(t, c, q, queue.Delayed), time.Now()), queue.Done)
}

// Hazard 1: with warm idle connections and a stalled server a client library that
// retries turns one enqueue into four.
func TestAStalledServerGetsOneCopy(t *testing.T) {
	t.Parallel()
	s := queuetest.Redis(t)
	c, _ := open(t, s, func(o *queue.Options) { o.Timeout = 300 * time.Millisecond })
	q := orders()
	push(t, s, "orders:backup", "m1", "m2", "m3", "m4")
	ms := peek(t, c, q, queue.Backup)
	warm := make(chan error, 8)
	for range 8 {
		go func() {
			_, err := c.Enqueue(t.Context(), q, []byte("warm"), queue.EnqueueOptions{})
			warm <- err
		}()
	}
	for range 8 {
		if err := <-warm; err != nil {
			t.Fatal(err)
		}
	}
	s.Stall()
	_, err := c.Enqueue(t.Context(), q, []byte("once"), queue.EnqueueOptions{})
	if !errors.Is(err, queue.ErrUnknownOutcome) && !errors.Is(err, queue.ErrNotSent) {
		t.Errorf("enqueue on a stalled server: %v", err)
	}
	r := c.Redrive(t.Context(), q, ms[:1], queue.RedriveOptions{})
	if r.Count(queue.Done) != 0 {
		t.Error("a stalled server cannot have answered")
	}
	s.Resume()
	var once, m1 int
	for _, key := range []string{"orders", "orders:backup"} {
		for _, p := range list(t, s, key) {
			switch p {
			case "once":
				once++
			case "m1":
				m1++
			}
		}
	}
	if once > 1 || m1 != 1 {
		t.Errorf("%d copies of one enqueue, %d of one re-driven message", once, m1)
	}
	if n := len(list(t, s, "orders:backup")); n < 3 {
		t.Errorf("one re-drive moved %d messages", 4-n)
	}
}

func TestNothingWasSentWhenNobodyListens(t *testing.T) {
	s := queuetest.Redis(t)
	q := orders()
	push(t, s, "orders:backup", "a", "b")
	c, _, p := through(t, s)
	ms := peek(t, c, q, queue.Backup)
	p.Refuse(true)
	p.Cut()
	r := c.Delete(t.Context(), q, ms)
	if r.Count(queue.Done) != 0 || r.Count(queue.Gone) != 0 {
		t.Errorf("got %+v", r.Results)
	}
	wantList(t, s, "orders:backup", "a", "b")
	p.Refuse(false)
	wantAll(t, c.Delete(t.Context(), q, ms), queue.Done)
}

func TestScriptsAreLoadedAgainAfterAFlush(t *testing.T) {
	s := queuetest.Redis(t)
	c, _ := open(t, s)
	q := orders()
	for range 3 {
		push(t, s, "orders:backup", "a", "b", "c")
		ms := peek(t, c, q, queue.Backup)
		s.Client.ScriptFlush(t.Context())
		wantAll(t, c.Redrive(t.Context(), q, ms, queue.RedriveOptions{}), queue.Done)
	}
	if n := len(list(t, s, "orders")); n != 9 {
		t.Errorf("%d messages in ready, want 9", n)
	}
}

// A purge whose snapshot was not confirmed has set the messages aside: the journal
// knows where, and undo brings them back.
func TestAPurgeThatWasNotConfirmedIsUndone(t *testing.T) {
	s := queuetest.Redis(t)
	q := orders()
	c, j, p := through(t, s)
	push(t, s, "warm:dead", "x")
	if _, err := c.Purge(t.Context(), queue.Named("warm"), queue.Dead, nil); err != nil {
		t.Fatal(err)
	}
	push(t, s, "orders:dead", "a", "b", "c")
	p.CutAfterRequest("redq-purge")
	purged, err := c.Purge(t.Context(), q, queue.Dead, nil)
	if !errors.Is(err, queue.ErrUnknownOutcome) || !strings.Contains(err.Error(), "an undo brings its messages back") {
		t.Errorf("got %v", err)
	}
	wantList(t, s, "orders:dead")
	wantUndone(t, c, entry(t, j, purged.Entry))
	wantList(t, s, "orders:dead", "a", "b", "c")
}
