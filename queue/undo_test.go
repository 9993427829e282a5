package queue_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/queuetest"
)

func TestUndoPutsDeletedMessagesBackInPlace(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, j := open(t, s)
		q := orders()
		push(t, s, "orders:backup", "a", "b", "c", "d", "e", "f", "g")
		s.Client.ZAdd(t.Context(), "orders:delayed", z(1764547200000.5, "x"), z(9, "y"))
		ms := peek(t, c, q, queue.Backup)
		chosen := []queue.Message{ms[5], ms[0], ms[2], ms[3], ms[6]}
		chosen = append(chosen, peek(t, c, q, queue.Delayed)...)
		r := c.Delete(t.Context(), q, chosen)
		if r.Count(queue.Done) != 7 {
			t.Fatal(r.Err())
		}
		wantList(t, s, "orders:backup", "b", "e")
		e := entry(t, j, r.Entry)
		if e.Op != queue.OpDelete || e.Queue != "orders" || len(e.Items) != 7 || e.Undoable() != 7 {
			t.Fatalf("the entry is %+v", e)
		}
		wantAll(t, c.Undo(t.Context(), e), queue.Done)
		wantList(t, s, "orders:backup", "a", "b", "c", "d", "e", "f", "g")
		if got := s.Client.ZScore(t.Context(), "orders:delayed", "x").Val(); got != 1764547200000.5 {
			t.Errorf("the score came back as %v", got)
		}
		// Once more: the journal knows, and nothing is doubled.
		e = entry(t, j, r.Entry)
		again := c.Undo(t.Context(), e)
		wantAll(t, again, queue.Gone)
		if !errors.Is(again.Err(), queue.ErrAlreadyBack) || e.Undoable() != 0 {
			t.Errorf("the second undo says %v, undoable %d", again.Err(), e.Undoable())
		}
		wantList(t, s, "orders:backup", "a", "b", "c", "d", "e", "f", "g")
	})
}

// The page an operator acts on is a moment old: what counts is where the message
// lay when it was taken.
func TestUndoAfterActingOnAnOldPage(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, j := open(t, s)
		q := orders()
		push(t, s, "orders:backup", "c", "b", "a")
		ms := peek(t, c, q, queue.Backup)
		wantAll(t, c.Redrive(t.Context(), q, ms[:1], queue.RedriveOptions{}), queue.Done)
		r := c.Delete(t.Context(), q, ms[1:2])
		wantAll(t, c.Undo(t.Context(), entry(t, j, r.Entry)), queue.Done)
		wantList(t, s, "orders:backup", "b", "a")
	})
}

func wantAll(t testing.TB, r queue.Report, want queue.Outcome) {
	t.Helper()
	if n := r.Count(want); n != len(r.Results) {
		t.Errorf("%s: %d of %d %s; first error: %v", r.Op, n, len(r.Results), want, r.Err())
	}
}

func TestUndoAfterNewMessagesArrived(t *testing.T) {
	s := queuetest.Redis(t)
	c, j := open(t, s)
	q := orders()
	push(t, s, "orders:backup", "a", "b", "c", "d", "e", "f")
	ms := peek(t, c, q, queue.Backup)
	r := c.Delete(t.Context(), q, ms[3:])
	s.Client.LPush(t.Context(), "orders:backup", "n1", "n2")
	wantAll(t, c.Undo(t.Context(), entry(t, j, r.Entry)), queue.Done)
	wantList(t, s, "orders:backup", "n2", "n1", "a", "b", "c", "d", "e", "f")
}

func TestUndoOfRedriveRescheduleAndWhatWasTakenSince(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, j := open(t, s)
		q := orders()
		push(t, s, "orders:backup", "a", "b", "c", "d")
		push(t, s, "orders", "r")
		s.Client.ZAdd(t.Context(), "orders:delayed", z(1764547200000, "x"))

		r := c.Redrive(t.Context(), q, peek(t, c, q, queue.Backup), queue.RedriveOptions{Front: true})
		wantAll(t, r, queue.Done)
		wantList(t, s, "orders", "r", "a", "b", "c", "d")
		s.Client.LRem(t.Context(), "orders", 1, "a") // taken meanwhile
		undo := c.Undo(t.Context(), entry(t, j, r.Entry))
		if undo.Count(queue.Done) != 3 || undo.Count(queue.Gone) != 1 {
			t.Errorf("done %d, gone %d: %v", undo.Count(queue.Done), undo.Count(queue.Gone), undo.Err())
		}
		wantList(t, s, "orders:backup", "b", "c", "d")
		wantList(t, s, "orders", "r")

		r = c.Redrive(t.Context(), q, peek(t, c, q, queue.Delayed), queue.RedriveOptions{})
		wantList(t, s, "orders", "x", "r")
		wantAll(t, c.Undo(t.Context(), entry(t, j, r.Entry)), queue.Done)
		if got := s.Client.ZScore(t.Context(), "orders:delayed", "x").Val(); got != 1764547200000 {
			t.Errorf("the score came back as %v", got)
		}
		wantList(t, s, "orders", "r")

		r = c.Reschedule(t.Context(), q, peek(t, c, q, queue.Delayed), time.Now().Add(time.Hour))
		wantAll(t, c.Undo(t.Context(), entry(t, j, r.Entry)), queue.Done)
		if got := s.Client.ZScore(t.Context(), "orders:delayed", "x").Val(); got != 1764547200000 {
			t.Errorf("the score came back as %v", got)
		}
	})
}

// A process that dies between the intent and the answer leaves an entry of which
// nobody knows whether it happened: undo looks, and never makes a second copy.
func TestUndoOfAnUnansweredEntryLooksFirst(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, j := open(t, s)
		q := orders()
		push(t, s, "orders:backup", "a", "b")
		intent := func(id string, m queue.Message, op queue.Op) {
			r := queue.Record{Kind: queue.Intent, Entry: id, Time: time.Now(), Server: c.Address(), Queue: "orders", Op: op, Message: m}
			if op == queue.OpRedrive {
				r.ToPlace, r.ToKey, r.End = queue.Ready, "orders", queue.Left
			}
			if err := j.Append(r); err != nil {
				t.Fatal(err)
			}
		}
		ms := peek(t, c, q, queue.Backup)
		intent("not-deleted", ms[0], queue.OpDelete)
		again := c.Undo(t.Context(), entry(t, j, "not-deleted"))
		wantAll(t, again, queue.Gone)
		if !errors.Is(again.Err(), queue.ErrAlreadyBack) {
			t.Errorf("got %v", again.Err())
		}
		wantList(t, s, "orders:backup", "a", "b")

		s.Client.LRem(t.Context(), "orders:backup", 1, "b")
		intent("deleted", ms[1], queue.OpDelete)
		wantAll(t, c.Undo(t.Context(), entry(t, j, "deleted")), queue.Done)
		wantList(t, s, "orders:backup", "a", "b")

		// A re-drive that never happened, while equal bytes lie in ready.
		push(t, s, "orders", "a")
		intent("not-redriven", ms[0], queue.OpRedrive)
		wantAll(t, c.Undo(t.Context(), entry(t, j, "not-redriven")), queue.Gone)
		wantList(t, s, "orders:backup", "a", "b")
		wantList(t, s, "orders", "a")
	})
}

func TestUndoOnAnotherServerIsRefused(t *testing.T) {
	s, other := queuetest.Redis(t), queuetest.Redis(t)
	c, j := open(t, s)
	push(t, s, "orders:backup", "a")
	r := c.Delete(t.Context(), orders(), peek(t, c, orders(), queue.Backup))
	elsewhere, _ := open(t, other)
	wantAll(t, elsewhere.Undo(t.Context(), entry(t, j, r.Entry)), queue.Refused)
	wantList(t, other, "orders:backup")
}

func TestPurgeTakesTheSnapshotAndUndoBringsItBack(t *testing.T) {
	t.Parallel()
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, j := open(t, s)
		q := orders()
		var want []string
		for i := range 2500 {
			want = append(want, fmt.Sprintf("m%d", i))
		}
		push(t, s, "orders:dead", want...)
		var steps int
		p, err := c.Purge(t.Context(), q, queue.Dead, func(queue.Purged) {
			if steps++; steps == 1 {
				push(t, s, "orders:dead", "newcomer")
			}
		})
		if err != nil || p.Taken != 2500 || p.Freed != 2500 || steps != 3 {
			t.Fatalf("%+v in %d pieces, %v", p, steps, err)
		}
		wantList(t, s, "orders:dead", "newcomer")
		if keys := s.Client.Keys(t.Context(), "*").Val(); len(keys) != 1 {
			t.Errorf("keys left: %q", keys)
		}
		wantUndone(t, c, entry(t, j, p.Entry))
		wantList(t, s, "orders:dead", append([]string{"newcomer"}, want...)...)
	})
}

func TestPurgeOfDelayedAndOfNothing(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, j := open(t, s)
		q := orders()
		for i := range 1200 {
			s.Client.ZAdd(t.Context(), "orders:delayed", z(float64(i)+0.25, fmt.Sprint(i)))
		}
		p, err := c.Purge(t.Context(), q, queue.Delayed, nil)
		if err != nil || p.Freed != 1200 {
			t.Fatalf("%+v, %v", p, err)
		}
		wantUndone(t, c, entry(t, j, p.Entry))
		if n := s.Client.ZCount(t.Context(), "orders:delayed", "-inf", "+inf").Val(); n != 1200 {
			t.Errorf("%d came back", n)
		}
		if got := s.Client.ZScore(t.Context(), "orders:delayed", "77").Val(); got != 77.25 {
			t.Errorf("score %v", got)
		}
		if p, err = c.Purge(t.Context(), q, queue.Backup, nil); err != nil || p.Taken != 0 {
			t.Errorf("an empty place: %+v, %v", p, err)
		}
	})
}

// A purge that was killed after its snapshot left the messages in the private
// key, some of them in the journal already.
func TestUndoOfAHalfDonePurge(t *testing.T) {
	for _, end := range []queue.End{queue.Left, queue.Right} {
		for _, newcomer := range []bool{false, true} {
			t.Run(fmt.Sprintf("oldest %s, newcomer %v", end, newcomer), func(t *testing.T) {
				queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
					c, j := open(t, s)
					q := orders()
					q.Push = end.Other()
					push(t, s, "orders", "a", "b", "c", "d", "e")
					ms := peek(t, c, q, queue.Ready)
					// freed a and b, wrote c to the journal, then died
					rec := func(kind queue.RecordKind, seq int, m queue.Message, o queue.Outcome) {
						r := queue.Record{Kind: kind, Entry: "half", Seq: seq, Time: time.Now(), Server: c.Address(), Queue: "orders", Op: queue.OpPurge, Message: m, End: end, Outcome: o}
						if seq < 0 {
							r.ToKey = "orders:redq-purge:half"
						}
						if err := j.Append(r); err != nil {
							t.Fatal(err)
						}
					}
					header := queue.Message{Place: queue.Ready, Key: "orders"}
					rec(queue.Intent, -1, header, "")
					rec(queue.Answered, -1, header, queue.Done)
					for i := range 3 {
						rec(queue.Intent, i, ms[i], "")
					}
					rec(queue.Answered, 0, ms[0], queue.Done)
					rec(queue.Answered, 1, ms[1], queue.Done)
					s.Client.Rename(t.Context(), "orders", "orders:redq-purge:half")
					s.Client.LTrim(t.Context(), "orders:redq-purge:half", 2, -1)

					want := []string{"a", "b", "c", "d", "e"}
					if newcomer {
						if end == queue.Left {
							s.Client.RPush(t.Context(), "orders", "new")
							want = append(want, "new")
						} else {
							s.Client.LPush(t.Context(), "orders", "new")
							want = append([]string{"new"}, want...)
						}
					}
					r := c.Undo(t.Context(), entry(t, j, "half"))
					if r.Count(queue.Done) != 2 || r.Count(queue.Gone) != 1 {
						t.Errorf("done %d, gone %d, %v", r.Count(queue.Done), r.Count(queue.Gone), r.Err())
					}
					wantList(t, s, "orders", want...)
					if n := s.Client.Exists(t.Context(), "orders:redq-purge:half").Val(); n != 0 {
						t.Error("the snapshot is still there")
					}
				})
			})
		}
	}
}

// halfPurged is a purge of five messages that freed two, had the third in the
// journal, and died before any answer about the freed ones was written.
func halfPurged(t *testing.T, s *queuetest.Server, payloads ...string) (*queue.Client, func() queue.Entry) {
	t.Helper()
	c, j := open(t, s)
	q := orders()
	push(t, s, "orders", payloads...)
	ms := peek(t, c, q, queue.Ready)
	intent := func(seq int, m queue.Message, private string) {
		r := queue.Record{Kind: queue.Intent, Entry: "half", Seq: seq, Time: time.Now(), Server: c.Address(), Queue: "orders", Op: queue.OpPurge, Message: m, End: queue.Right, ToKey: private}
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	intent(-1, queue.Message{Place: queue.Ready, Key: "orders"}, "orders:redq-purge:half")
	for i := range 3 {
		intent(i, ms[i], "")
	}
	s.Client.Rename(t.Context(), "orders", "orders:redq-purge:half")
	s.Client.LTrim(t.Context(), "orders:redq-purge:half", 2, -1)
	return c, func() queue.Entry { return entry(t, j, "half") }
}

// Equal bytes that came back with the set-aside ones do not stand for freed ones.
func TestUndoOfAHalfDonePurgeOfEqualMessages(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, load := halfPurged(t, s, "same", "same", "same", "same", "other")
		c.Undo(t.Context(), load())
		wantList(t, s, "orders", "same", "same", "same", "same", "other")
		c.Undo(t.Context(), load())
		wantList(t, s, "orders", "same", "same", "same", "same", "other")
	})
}

// Where what was set aside may not come back, nothing else may: a message could be
// there twice once the rest follows.
func TestUndoOfAPurgeStopsWhenTheRestMayNotComeBack(t *testing.T) {
	s := queuetest.Redis(t)
	c, load := halfPurged(t, s, "a", "b", "c", "d", "e")
	noRename := s.User("norename", "pw", "~* &* +@all -rename")
	denied, _ := open(t, s, func(o *queue.Options) { o.URL = noRename })
	r := denied.Undo(t.Context(), load())
	var refused *queue.RefusedError
	if r.Count(queue.Done) != 0 || !errors.As(r.Err(), &refused) || refused.Code != "NOPERM" {
		t.Errorf("done %d, %v", r.Count(queue.Done), r.Err())
	}
	wantList(t, s, "orders")
	c.Undo(t.Context(), load())
	wantList(t, s, "orders", "a", "b", "c", "d", "e")
}

// wantUndone undoes an entry of any kind and wants all of it to come back.
func wantUndone(t testing.TB, c *queue.Client, e queue.Entry) {
	t.Helper()
	if e.Batches == nil {
		wantAll(t, c.Undo(t.Context(), e), queue.Done)
		return
	}
	if r, err := c.UndoBulk(t.Context(), e, nil); err != nil || r.Done != r.Total || r.Total == 0 {
		t.Errorf("undo: %+v, %v", r, err)
	}
}
