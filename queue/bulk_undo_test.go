package queue_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redq/queue"
	"redq/queue/queuetest"
)

// entry puts together what a memory journal holds of a bulk operation.
func (m *memory) entry(id string) queue.Entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := queue.Entry{ID: id}
	at := map[int]int{}
	var steps stepsInMemory
	for _, r := range m.records {
		if r.Entry != id {
			continue
		}
		i, known := at[r.Seq]
		if r.Kind == queue.Intent {
			if len(steps) == 0 {
				e.Time, e.Op, e.Server, e.Queue = r.Time, r.Op, r.Server, r.Queue
			}
			at[r.Seq] = len(steps)
			steps = append(steps, queue.Item{Record: r})
			continue
		}
		if !known {
			continue
		}
		switch it := &steps[i]; r.Kind {
		case queue.Answered:
			it.Outcome = r.Outcome
		case queue.UndoIntent:
			it.Tried, it.Undone = true, ""
		case queue.Undone:
			it.Undone = r.Outcome
			it.Back += r.Count
		}
	}
	e.Batches = steps
	return e
}

type stepsInMemory []queue.Item

func (s stepsInMemory) Len() int                       { return len(s) }
func (s stepsInMemory) Step(i int) (queue.Item, error) { return s[i], nil }
func (s stepsInMemory) Messages() (all, undoable int64) {
	for _, it := range s {
		all += int64(it.Batch.Len())
		if it.Undoable() {
			undoable += int64(it.Batch.Len())
		}
	}
	return all, undoable
}

// zsetOf returns a sorted set as text, in its order.
func zsetOf(t testing.TB, s *queuetest.Server, key string) []string {
	t.Helper()
	all, err := s.Client.Do(t.Context(), "ZRANGE", key, 0, -1, "WITHSCORES").Slice()
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, v := range all {
		text = append(text, fmt.Sprint(v))
	}
	return text
}

// What a bulk operation did comes back, bytes, order, scores and all, and a second undo changes nothing.
func TestUndoBulk(t *testing.T) {
	t.Parallel()
	const n = 2300
	s, c, log := bulkRig(t)
	some := func(m queue.Message) (bool, error) { return len(m.Payload)%3 == 0, nil }
	due := time.Now().Add(time.Hour)
	tests := []struct {
		name  string
		place queue.Place
		match func(queue.Message) (bool, error)
		bulk  queue.Bulk
		order bool // within the list comes back too
	}{
		{"redrive all of dead", queue.Dead, nil, queue.Bulk{Op: queue.OpRedrive}, true},
		{"redrive all of dead to the front", queue.Dead, nil, queue.Bulk{Op: queue.OpRedrive, Front: true}, true},
		{"redrive some of dead", queue.Dead, some, queue.Bulk{Op: queue.OpRedrive}, false},
		{"redrive dead into delayed", queue.Dead, nil, queue.Bulk{Op: queue.OpRedrive, ToPlace: queue.Delayed, Due: queue.Due{At: due, Spread: time.Hour, Jitter: time.Minute}}, false},
		{"redrive backup elsewhere", queue.Backup, nil, queue.Bulk{Op: queue.OpRedrive, ToKey: "other"}, true},
		{"run all of delayed", queue.Delayed, nil, queue.Bulk{Op: queue.OpRedrive}, true},
		{"run some of delayed", queue.Delayed, some, queue.Bulk{Op: queue.OpRedrive}, true},
		{"delete all of dead", queue.Dead, nil, queue.Bulk{Op: queue.OpDelete}, true},
		{"delete some of dead", queue.Dead, some, queue.Bulk{Op: queue.OpDelete}, true},
		{"delete all of delayed", queue.Delayed, nil, queue.Bulk{Op: queue.OpDelete}, true},
		{"delete some of delayed", queue.Delayed, some, queue.Bulk{Op: queue.OpDelete}, true},
		{"shift all of delayed", queue.Delayed, nil, queue.Bulk{Op: queue.OpReschedule, Due: queue.Due{Shift: 5 * time.Minute}}, true},
		{"shift some of delayed back", queue.Delayed, some, queue.Bulk{Op: queue.OpReschedule, Due: queue.Due{Shift: -5 * time.Minute}}, true},
		{"spread all of delayed", queue.Delayed, nil, queue.Bulk{Op: queue.OpReschedule, Due: queue.Due{At: due, Spread: time.Minute}}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.Client.FlushAll(t.Context())
			q := queue.Named("q")
			var members []redis.Z
			for i, m := range numbered(0, n) {
				m += fmt.Sprintf("%*s", i%7, "") + "\x00\xff"
				for _, key := range []string{q.Dead, q.Backups[0]} {
					s.Client.LPush(t.Context(), key, m)
				}
				members = append(members, redis.Z{Score: float64(time.Now().Add(time.Duration(i)*time.Second).UnixMilli()) + 0.25, Member: m})
			}
			s.Client.ZAdd(t.Context(), q.Delayed, members...)
			before := [][]string{listOf(t, s, q.Dead), listOf(t, s, q.Backups[0]), zsetOf(t, s, q.Delayed)}
			if tt.bulk.ToPlace == queue.Delayed { // equal bytes must not be there already
				s.Client.Del(t.Context(), q.Delayed)
				before[2] = nil
			}
			set, err := c.Select(t.Context(), q, tt.place, queue.SelectOptions{Match: tt.match, Newest: tt.bulk.Front})
			if err != nil || set.Count == 0 {
				t.Fatal(set, err)
			}
			report, err := c.RunBulk(t.Context(), set, tt.bulk)
			if err != nil || report.Done != set.Count {
				t.Fatalf("%+v of %d, %v", report, set.Count, err)
			}
			undone, err := c.UndoBulk(t.Context(), log.entry(report.Entry), nil)
			if err != nil || undone.Done != set.Count || undone.Left() != 0 {
				t.Fatalf("undo: %+v, %v", undone, err)
			}
			after := [][]string{listOf(t, s, q.Dead), listOf(t, s, q.Backups[0]), zsetOf(t, s, q.Delayed)}
			for i := range before {
				if !tt.order {
					slices.Sort(before[i])
					slices.Sort(after[i])
				}
				if !slices.Equal(before[i], after[i]) {
					t.Errorf("place %d has %d and had %d", i, len(after[i]), len(before[i]))
				}
			}
			if left := s.Client.LLen(t.Context(), q.Ready).Val() + s.Client.LLen(t.Context(), "other").Val(); left != 0 {
				t.Errorf("%d are left where they went", left)
			}
			again, err := c.UndoBulk(t.Context(), log.entry(report.Entry), nil)
			if err != nil || again.Done != 0 {
				t.Errorf("undone twice: %+v, %v", again, err)
			}
		})
	}
}

// A consumer has taken some of what was re-driven: those stay where they are.
func TestUndoBulkLeavesWhatWasTaken(t *testing.T) {
	s, c, log := bulkRig(t)
	q := queue.Named("q")
	lay(t, s, q.Dead, numbered(0, 1500)...)
	set, err := c.Select(t.Context(), q, queue.Dead, queue.SelectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	report, err := c.RunBulk(t.Context(), set, queue.Bulk{Op: queue.OpRedrive})
	if err != nil {
		t.Fatal(err)
	}
	for range 40 {
		s.Client.RPop(t.Context(), q.Ready)
	}
	undone, err := c.UndoBulk(t.Context(), log.entry(report.Entry), nil)
	if err != nil || undone.Done != 1460 || undone.Gone != 40 {
		t.Fatalf("%+v, %v", undone, err)
	}
	if n := s.Client.LLen(t.Context(), q.Dead).Val(); n != 1460 {
		t.Errorf("%d are in dead", n)
	}
}

// A purge of which the journal has lost the beginning, and that had died, may have left
// messages aside that nobody finds: what may be among them is not put back a second time.
func TestUndoOfAPurgeWithoutItsBeginning(t *testing.T) {
	s := queuetest.Redis(t)
	for _, bulk := range []bool{true, false} {
		c, j := open(t, s)
		push(t, s, "orders", "a")
		for i, answered := range []bool{true, false} {
			r := queue.Record{Kind: queue.Intent, Entry: "headless", Seq: 7 + i, Time: time.Now(), Server: c.Address(), Queue: "orders", Op: queue.OpPurge, End: queue.Right}
			r.Message = queue.Message{Place: queue.Ready, Key: "orders", Index: int64(i), Len: 2}
			if payload := []byte{'x', byte('0' + i)}; bulk {
				r.Batch = &queue.Batch{Payloads: [][]byte{payload}}
			} else {
				r.Message.Payload, r.Message.Size = payload, 2
			}
			rs := []queue.Record{r}
			if answered {
				rs = append(rs, queue.Record{Kind: queue.Answered, Entry: "headless", Seq: 7 + i, Outcome: queue.Done})
			}
			if err := j.Append(rs...); err != nil {
				t.Fatal(err)
			}
		}
		e := entry(t, j, "headless")
		if e.Lost != 7 {
			t.Errorf("%d are lost", e.Lost)
		}
		if bulk {
			if r, err := c.UndoBulk(t.Context(), e, nil); err == nil || r.Done > 0 {
				t.Errorf("%+v, %v", r, err)
			}
			wantList(t, s, "orders", "a")
			continue
		}
		if r := c.Undo(t.Context(), e); r.Count(queue.Done) != 1 || r.Count(queue.Refused) != 1 {
			t.Errorf("done %d, refused %d: %v", r.Count(queue.Done), r.Count(queue.Refused), r.Err())
		}
		if n := s.Client.LLen(t.Context(), "orders").Val(); n != 3 { // a twice, and the one that was surely freed
			t.Errorf("%d messages", n)
		}
	}
}

// What is refused before it is asked for leaves no gap in the journal.
func TestNumbersHaveNoGap(t *testing.T) {
	s := queuetest.Redis(t)
	c, j := open(t, s)
	push(t, s, "orders", "a")
	push(t, s, "orders:dead", "b", "c")
	q := orders()
	ms := append(peek(t, c, q, queue.Ready), peek(t, c, q, queue.Dead)...)
	r := c.Redrive(t.Context(), q, ms, queue.RedriveOptions{ToKey: "orders"})
	if r.Count(queue.Refused) != 1 || r.Count(queue.Done) != 2 {
		t.Fatalf("%+v", r.Results)
	}
	if e := entry(t, j, r.Entry); e.Lost != 0 || len(e.Items) != 2 || e.Items[0].Seq != 0 {
		t.Errorf("lost %d of %+v", e.Lost, e.Items)
	}
}
