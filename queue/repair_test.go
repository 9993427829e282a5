package queue_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/journal"
	"redq/queue/payload/hostile"
	"redq/queue/queuetest"
)

// open connects to a test server with a journal of its own.
func open(t testing.TB, s *queuetest.Server, change ...func(*queue.Options)) (*queue.Client, *journal.Journal) {
	t.Helper()
	j, err := journal.Open(filepath.Join(t.TempDir(), "journal.jsonl"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := queue.Options{URL: s.URL, Journal: j}
	for _, f := range change {
		f(&o)
	}
	c, err := queue.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		_ = j.Close()
	})
	return c, j
}

// orders is a queue with every place.
func orders() queue.Queue { return queue.Named("orders") }

func push(t testing.TB, s *queuetest.Server, key string, payloads ...string) {
	t.Helper()
	for _, p := range payloads { // the first ends up at the head
		if err := s.Client.RPush(t.Context(), key, p).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func list(t testing.TB, s *queuetest.Server, key string) []string {
	t.Helper()
	got, err := s.Client.LRange(context.Background(), key, 0, -1).Result()
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func wantList(t testing.TB, s *queuetest.Server, key string, want ...string) {
	t.Helper()
	if got := list(t, s, key); !slices.Equal(got, want) {
		t.Errorf("%s holds %q, want %q", key, got, want)
	}
}

// peek reads a whole place.
func peek(t testing.TB, c *queue.Client, q queue.Queue, p queue.Place) []queue.Message {
	t.Helper()
	page, err := c.Peek(t.Context(), q, p, 0, 2000)
	if err != nil {
		t.Fatal(err)
	}
	return page.Messages
}

func wantOutcomes(t testing.TB, r queue.Report, want ...queue.Outcome) {
	t.Helper()
	var got []queue.Outcome
	for _, res := range r.Results {
		got = append(got, res.Outcome)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: outcomes %v (first error: %v), want %v", r.Op, got, r.Err(), want)
	}
}

func TestRedriveKeepsOrderAtBothEnds(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		for _, tc := range []struct {
			push  queue.End
			front bool
			want  []string
		}{
			// The tail of backup is the oldest: b0 was taken first and must run first.
			{queue.Left, false, []string{"b2", "b1", "b0", "r1", "r0"}},
			{queue.Left, true, []string{"r1", "r0", "b2", "b1", "b0"}},
			{queue.Right, false, []string{"r1", "r0", "b0", "b1", "b2"}},
			{queue.Right, true, []string{"b0", "b1", "b2", "r1", "r0"}},
		} {
			t.Run(fmt.Sprintf("%s front=%v", tc.push, tc.front), func(t *testing.T) {
				s.Client.FlushDB(t.Context())
				c, _ := open(t, s)
				q := orders()
				q.Push = tc.push
				push(t, s, "orders", "r1", "r0")
				push(t, s, "orders:backup", "b2", "b1", "b0")
				r := c.Redrive(t.Context(), q, peek(t, c, q, queue.Backup), queue.RedriveOptions{Front: tc.front})
				wantOutcomes(t, r, queue.Done, queue.Done, queue.Done)
				wantList(t, s, "orders", tc.want...)
				wantList(t, s, "orders:backup")
			})
		}
	})
}

func TestOneOfSeveralEqualMessagesIsTaken(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, _ := open(t, s)
		push(t, s, "orders:backup", "dup", "a", "dup", "b", "dup")
		ms := peek(t, c, orders(), queue.Backup)
		wantOutcomes(t, c.Delete(t.Context(), orders(), ms[2:3]), queue.Done)
		wantList(t, s, "orders:backup", "dup", "a", "b", "dup")
		// Asked again with the same sighting: the copies left are other messages
		// with the same bytes, and one of those is taken, never more.
		wantOutcomes(t, c.Delete(t.Context(), orders(), ms[2:3]), queue.Done)
		if got := list(t, s, "orders:backup"); len(got) != 3 || slices.Index(got, "a") < 0 || slices.Index(got, "b") < 0 {
			t.Errorf("after the second delete: %q", got)
		}
	})
}

func TestTheMessageIsFoundAfterTheListMoved(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		for name, move := range map[string]func(){
			"pushed at the head": func() { s.Client.LPush(t.Context(), "orders:backup", "x", "y", "z") },
			"popped at the tail": func() { s.Client.RPop(t.Context(), "orders:backup") },
			"both": func() {
				s.Client.LPush(t.Context(), "orders:backup", "x", "y")
				s.Client.RPop(t.Context(), "orders:backup")
			},
			"popped at the head": func() { s.Client.LPop(t.Context(), "orders:backup") },
		} {
			t.Run(name, func(t *testing.T) {
				s.Client.FlushDB(t.Context())
				c, _ := open(t, s)
				push(t, s, "orders:backup", "a", "b", "c", "d", "e")
				ms := peek(t, c, orders(), queue.Backup)
				move()
				before := list(t, s, "orders:backup")
				wantOutcomes(t, c.Delete(t.Context(), orders(), ms[2:3]), queue.Done)
				want := slices.DeleteFunc(before, func(p string) bool { return p == "c" })
				wantList(t, s, "orders:backup", want...)
			})
		}
	})
}

func TestGoneTouchesNothingElse(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, _ := open(t, s)
		push(t, s, "orders:backup", "a", "b", "c")
		s.Client.ZAdd(t.Context(), "orders:delayed", z(1764547200000, "d"))
		q := orders()
		ms := append(peek(t, c, q, queue.Backup)[1:2], peek(t, c, q, queue.Delayed)...)
		s.Client.LRem(t.Context(), "orders:backup", 1, "b")
		s.Client.ZRem(t.Context(), "orders:delayed", "d")
		for _, r := range []queue.Report{
			c.Delete(t.Context(), q, ms),
			c.Redrive(t.Context(), q, ms, queue.RedriveOptions{}),
		} {
			wantOutcomes(t, r, queue.Gone, queue.Gone)
			if !errors.Is(r.Err(), queue.ErrGone) {
				t.Errorf("%s: %v, want ErrGone", r.Op, r.Err())
			}
		}
		wantOutcomes(t, c.Reschedule(t.Context(), q, ms[1:], time.Now()), queue.Gone)
		wantOutcomes(t, c.Edit(t.Context(), q, ms[0], []byte("new")), queue.Gone)
		wantList(t, s, "orders:backup", "a", "c")
		wantList(t, s, "orders")
	})
}

func TestWrongTypeLosesNothing(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, _ := open(t, s)
		push(t, s, "orders:backup", "a", "b")
		s.Client.Set(t.Context(), "orders", "a string", 0)
		s.Client.SAdd(t.Context(), "orders:delayed", "a set")
		q := orders()
		r := c.Redrive(t.Context(), q, peek(t, c, q, queue.Backup), queue.RedriveOptions{})
		wantOutcomes(t, r, queue.Refused, queue.Refused)
		if !errors.Is(r.Err(), queue.ErrWrongType) {
			t.Errorf("redrive: %v", r.Err())
		}
		wantList(t, s, "orders:backup", "a", "b")
		if _, err := c.Enqueue(t.Context(), q, []byte("x"), queue.EnqueueOptions{}); !errors.Is(err, queue.ErrWrongType) {
			t.Errorf("enqueue: %v", err)
		}
		if _, err := c.Enqueue(t.Context(), q, []byte("x"), queue.EnqueueOptions{In: time.Minute}); !errors.Is(err, queue.ErrWrongType) {
			t.Errorf("enqueue delayed: %v", err)
		}
		if _, err := c.Purge(t.Context(), q, queue.Delayed, nil); !errors.Is(err, queue.ErrWrongType) {
			t.Errorf("purge: %v", err)
		}
		if got := s.Client.Get(t.Context(), "orders").Val(); got != "a string" {
			t.Errorf("the string became %q", got)
		}
	})
}

func TestPayloadsAreMovedByteExact(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		for _, h := range hostile.Payloads() {
			t.Run(h.Name, func(t *testing.T) {
				if testing.Short() && len(h.Bytes) > 1<<20 {
					t.Skip("large")
				}
				s.Client.FlushDB(t.Context())
				c, j := open(t, s)
				q := orders()
				s.Client.LPush(t.Context(), "orders:backup", "before", h.Bytes, "after")
				ms := peek(t, c, q, queue.Backup)
				wantOutcomes(t, c.Redrive(t.Context(), q, ms[1:2], queue.RedriveOptions{}), queue.Done)
				same(t, s, "orders", h.Bytes)
				wantList(t, s, "orders:backup", "after", "before")

				r := c.Delete(t.Context(), q, peek(t, c, q, queue.Ready))
				wantOutcomes(t, r, queue.Done)
				wantList(t, s, "orders")
				wantOutcomes(t, c.Undo(t.Context(), entry(t, j, r.Entry)), queue.Done)
				same(t, s, "orders", h.Bytes)
			})
		}
	})
}

func same(t testing.TB, s *queuetest.Server, key string, want []byte) {
	t.Helper()
	got := list(t, s, key)
	if len(got) != 1 || got[0] != string(want) {
		t.Errorf("%s does not hold the very bytes", key)
	}
}

func entry(t testing.TB, j *journal.Journal, id string) queue.Entry {
	t.Helper()
	e, err := j.Load(id)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestRunNowComparesTheScore(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, _ := open(t, s)
		q := orders()
		s.Client.ZAdd(t.Context(), "orders:delayed", z(1764547200000, "a"), z(1764547201000, "b"))
		ms := peek(t, c, q, queue.Delayed)
		s.Client.ZAdd(t.Context(), "orders:delayed", z(1764547999000, "a"))
		r := c.Redrive(t.Context(), q, ms, queue.RedriveOptions{})
		wantOutcomes(t, r, queue.Refused, queue.Done)
		var moved *queue.RescheduledError
		if !errors.As(r.Err(), &moved) || moved.Old != "1764547200000" || moved.Now != "1764547999000" {
			t.Errorf("got %v", r.Err())
		}
		wantList(t, s, "orders", "b")
	})
}

func TestRescheduleInEveryUnit(t *testing.T) {
	due := time.Date(2030, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		for unit, want := range map[queue.Unit]string{
			queue.Seconds:      "1893553446", // rounded up: never early
			queue.FloatSeconds: "1893553445.678",
			queue.Milliseconds: "1893553445678",
			queue.Microseconds: "1893553445678000",
		} {
			s.Client.FlushDB(t.Context())
			c, _ := open(t, s)
			q := orders()
			q.Unit = unit
			s.Client.ZAdd(t.Context(), "orders:delayed", z(7, "a"))
			wantOutcomes(t, c.Reschedule(t.Context(), q, peek(t, c, q, queue.Delayed), due), queue.Done)
			got := peek(t, c, q, queue.Delayed)[0].Score
			g, _ := got.Float()
			w, _ := queue.Score(want).Float()
			if g != w {
				t.Errorf("%v: score %s, want %s", unit, got, want)
			}
		}
	})
}

func TestEditInPlace(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, j := open(t, s)
		q := orders()
		push(t, s, "orders:dead", "a", "b", "c")
		s.Client.ZAdd(t.Context(), "orders:delayed", z(5, "x"), z(6, "y"))
		r := c.Edit(t.Context(), q, peek(t, c, q, queue.Dead)[1], []byte("B"))
		wantOutcomes(t, r, queue.Done)
		wantList(t, s, "orders:dead", "a", "B", "c")
		wantOutcomes(t, c.Undo(t.Context(), entry(t, j, r.Entry)), queue.Done)
		wantList(t, s, "orders:dead", "a", "b", "c")

		delayed := peek(t, c, q, queue.Delayed)
		r = c.Edit(t.Context(), q, delayed[0], []byte("y"))
		wantOutcomes(t, r, queue.Refused)
		var present *queue.AlreadyDelayedError
		if !errors.As(r.Err(), &present) || present.Score != "6" {
			t.Errorf("edit into equal bytes: %v", r.Err())
		}
		wantOutcomes(t, c.Edit(t.Context(), q, delayed[0], []byte("X")), queue.Done)
		if got := s.Client.ZScore(t.Context(), "orders:delayed", "X").Val(); got != 5 {
			t.Errorf("the score became %v", got)
		}
	})
}

func TestSameKeyAndMissingPlaceAreRefused(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, _ := open(t, s)
		q := orders()
		push(t, s, "orders", "a")
		ready := peek(t, c, q, queue.Ready)
		r := c.Redrive(t.Context(), q, ready, queue.RedriveOptions{})
		wantOutcomes(t, r, queue.Refused)
		if !errors.Is(r.Err(), queue.ErrSameKey) {
			t.Errorf("got %v", r.Err())
		}
		q.Ready, q.Delayed = "", ""
		r = c.Redrive(t.Context(), q, ready, queue.RedriveOptions{})
		if !errors.Is(r.Err(), queue.ErrNoSuchPlace) {
			t.Errorf("got %v", r.Err())
		}
		wantList(t, s, "orders", "a")
	})
}

// A queue that is consumed from its sorted set has no ready list to go back to.
func TestRedriveWithoutReadyMakesMessagesDueNow(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, j := open(t, s)
		q := queue.Queue{Name: "jobs", Delayed: "jobs", Dead: "jobs:dead", Unit: queue.Milliseconds}
		push(t, s, "jobs:dead", "b", "a")
		s.Client.ZAdd(t.Context(), "jobs", z(32503680000000, "later"))
		dead := c.Redrive(t.Context(), q, peek(t, c, q, queue.Dead), queue.RedriveOptions{})
		wantAll(t, dead, queue.Done)
		later := c.Redrive(t.Context(), q, peek(t, c, q, queue.Delayed)[2:], queue.RedriveOptions{})
		wantAll(t, later, queue.Done)
		now := s.Client.Time(t.Context()).Val()
		for _, m := range peek(t, c, q, queue.Delayed) {
			if due, ok := q.Unit.Time(m.Score); !ok || due.After(now.Add(time.Millisecond)) {
				t.Errorf("%s is due %v, now is %v", m.Payload, due, now)
			}
		}
		wantAll(t, c.Undo(t.Context(), entry(t, j, later.Entry)), queue.Done)
		wantAll(t, c.Undo(t.Context(), entry(t, j, dead.Entry)), queue.Done)
		wantList(t, s, "jobs:dead", "b", "a")
		if got := peek(t, c, q, queue.Delayed); len(got) != 1 || got[0].Score != "32503680000000" {
			t.Errorf("delayed holds %+v", got)
		}
	})
}

func TestReadOnlyIsRefusedInTheLibrary(t *testing.T) {
	s := queuetest.Redis(t)
	c, j := open(t, s, func(o *queue.Options) { o.ReadOnly = true })
	q := orders()
	push(t, s, "orders:backup", "a")
	s.Client.ZAdd(t.Context(), "orders:delayed", z(5, "x"))
	ms := peek(t, c, q, queue.Backup)
	for _, r := range []queue.Report{
		c.Redrive(t.Context(), q, ms, queue.RedriveOptions{}),
		c.Delete(t.Context(), q, ms),
		c.Edit(t.Context(), q, ms[0], []byte("b")),
		c.Reschedule(t.Context(), q, peek(t, c, q, queue.Delayed), time.Now()),
		c.Undo(t.Context(), queue.Entry{Server: c.Address(), Items: []queue.Item{{Record: queue.Record{Op: queue.OpDelete, Message: ms[0]}, Outcome: queue.Done}}}),
	} {
		if !errors.Is(r.Err(), queue.ErrReadOnly) {
			t.Errorf("%s: %v, want ErrReadOnly", r.Op, r.Err())
		}
	}
	if _, err := c.Enqueue(t.Context(), q, []byte("x"), queue.EnqueueOptions{}); !errors.Is(err, queue.ErrReadOnly) {
		t.Errorf("enqueue: %v", err)
	}
	if _, err := c.Purge(t.Context(), q, queue.Backup, nil); !errors.Is(err, queue.ErrReadOnly) {
		t.Errorf("purge: %v", err)
	}
	wantList(t, s, "orders:backup", "a")
	if sums, _ := j.Entries(10); len(sums) != 0 {
		t.Errorf("the journal has %d entries of refused writes", len(sums))
	}
}

// A journal that cannot be written stops the operation before the server is asked.
type fullJournal struct{}

func (fullJournal) Append(...queue.Record) error { return errors.New("no space left on device") }

func TestNothingIsAskedWhenTheJournalFails(t *testing.T) {
	s := queuetest.Redis(t)
	c, _ := open(t, s, func(o *queue.Options) { o.Journal = fullJournal{} })
	push(t, s, "orders:backup", "a")
	q := orders()
	r := c.Delete(t.Context(), q, peek(t, c, q, queue.Backup))
	wantOutcomes(t, r, queue.Refused)
	if !strings.Contains(r.Err().Error(), "no space left") {
		t.Errorf("got %v", r.Err())
	}
	if _, err := c.Purge(t.Context(), q, queue.Backup, nil); err == nil {
		t.Error("the purge went on without a journal")
	}
	wantList(t, s, "orders:backup", "a")
}

func TestOutOfMemoryLosesNothingAndStillDeletes(t *testing.T) {
	s := queuetest.Redis(t)
	c, _ := open(t, s)
	q := orders()
	push(t, s, "orders:backup", "a", "b", "c")
	ms := peek(t, c, q, queue.Backup)
	c.Delete(t.Context(), q, nil) // nothing to do is no error
	s.Client.ConfigSet(t.Context(), "maxmemory", "1")
	r := c.Redrive(t.Context(), q, ms, queue.RedriveOptions{})
	wantOutcomes(t, r, queue.Refused, queue.Refused, queue.Refused)
	var refused *queue.RefusedError
	if !errors.As(r.Err(), &refused) || refused.Code != "OOM" {
		t.Errorf("got %v", r.Err())
	}
	wantList(t, s, "orders:backup", "a", "b", "c")
	wantOutcomes(t, c.Delete(t.Context(), q, ms[1:2]), queue.Done)
	wantList(t, s, "orders:backup", "a", "c")
}

func TestReplicaAndScriptlessUserAreRefusedInPlainWords(t *testing.T) {
	s := queuetest.Redis(t)
	push(t, s, "orders:backup", "a")
	q := orders()
	noEval := s.User("noeval", "pw", "~* &* +@all -@scripting")
	c, _ := open(t, s, func(o *queue.Options) { o.URL = noEval })
	r := c.Redrive(t.Context(), q, peek(t, c, q, queue.Backup), queue.RedriveOptions{})
	if !errors.Is(r.Err(), queue.ErrNoScripts) {
		t.Errorf("without EVAL: %v", r.Err())
	}

	// May add and look, but not remove: the added copy must be taken back.
	noRem := s.User("norem", "pw", "~* &* +@all -lrem")
	c, _ = open(t, s, func(o *queue.Options) { o.URL = noRem })
	r = c.Redrive(t.Context(), q, peek(t, c, q, queue.Backup), queue.RedriveOptions{})
	wantOutcomes(t, r, queue.Refused)
	wantList(t, s, "orders:backup", "a")

	c, _ = open(t, s)
	s.Client.Do(t.Context(), "REPLICAOF", "127.0.0.1", "1")
	r = c.Redrive(t.Context(), q, peek(t, c, q, queue.Backup), queue.RedriveOptions{})
	var refused *queue.RefusedError
	if !errors.As(r.Err(), &refused) || refused.Code != "READONLY" {
		t.Errorf("on a replica: %v", r.Err())
	}
}

// Where nothing could bring messages back, none is removed.
func TestNoDeleteWithoutAJournal(t *testing.T) {
	s := queuetest.Redis(t)
	c, err := queue.Open(t.Context(), queue.Options{URL: s.URL, NoDelete: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	q := orders()
	push(t, s, "orders:dead", "a", "b")
	if r := c.Delete(t.Context(), q, peek(t, c, q, queue.Dead)); r.Count(queue.Refused) != 2 || !errors.Is(r.Err(), queue.ErrNoJournal) {
		t.Errorf("delete: %+v", r)
	}
	if r := c.Edit(t.Context(), q, peek(t, c, q, queue.Dead)[0], []byte("c")); !errors.Is(r.Err(), queue.ErrNoJournal) {
		t.Errorf("edit: %+v", r)
	}
	if _, err := c.Purge(t.Context(), q, queue.Dead, nil); !errors.Is(err, queue.ErrNoJournal) {
		t.Errorf("purge: %v", err)
	}
	set, err := c.Select(t.Context(), q, queue.Dead, queue.SelectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := c.RunBulk(t.Context(), set, queue.Bulk{Op: queue.OpDelete}); !errors.Is(err, queue.ErrNoJournal) || r.Refused != 2 {
		t.Errorf("in bulk: %+v, %v", r, err)
	}
	wantList(t, s, "orders:dead", "a", "b")
}
