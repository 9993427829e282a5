package queue_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"redq/queue"
	"redq/queue/queuetest"
)

// memory is a journal that only remembers.
type memory struct {
	mu      sync.Mutex
	records []queue.Record
}

func (m *memory) Append(rs ...queue.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records = append(m.records, rs...)
	return nil
}

// bulkRig is a server with a client that keeps a journal.
func bulkRig(t testing.TB) (*queuetest.Server, *queue.Client, *memory) {
	t.Helper()
	s := queuetest.Redis(t)
	log := &memory{}
	c, err := queue.Open(t.Context(), queue.Options{URL: s.URL, Journal: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return s, c, log
}

// listOf returns a list from the head.
func listOf(t testing.TB, s *queuetest.Server, key string) []string {
	t.Helper()
	all, err := s.Client.LRange(t.Context(), key, 0, -1).Result()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// lay pushes messages to the tail of a list.
func lay(t testing.TB, s *queuetest.Server, key string, payloads ...string) {
	t.Helper()
	for piece := range slices.Chunk(payloads, 1000) {
		values := make([]any, len(piece))
		for i, p := range piece {
			values[i] = p
		}
		if err := s.Client.RPush(t.Context(), key, values...).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func reversed(all []string) []string {
	all = slices.Clone(all)
	slices.Reverse(all)
	return all
}

func all(queue.Message) (bool, error) { return true, nil }

// A whole place goes to ready, in order, to either end.
func TestBulkRedriveKeepsOrderAtBothEnds(t *testing.T) {
	const n = 2500
	s, c, _ := bulkRig(t)
	for _, push := range []queue.End{queue.Left, queue.Right} {
		for _, front := range []bool{false, true} {
			for _, match := range []func(queue.Message) (bool, error){nil, all} {
				t.Run(fmt.Sprintf("push %s, front %v, match %v", push, front, match != nil), func(t *testing.T) {
					s.Client.FlushAll(t.Context())
					q := queue.Named("q")
					q.Push = push
					dead := numbered(0, n) // newest at the head
					lay(t, s, q.Dead, reversed(dead)...)
					waiting := []string{"w1", "w2", "w3"}
					lay(t, s, q.Ready, waiting...)
					set, err := c.Select(t.Context(), q, queue.Dead, queue.SelectOptions{Newest: front, Match: match})
					if err != nil {
						t.Fatal(err)
					}
					report, err := c.RunBulk(t.Context(), set, queue.Bulk{Op: queue.OpRedrive, Front: front})
					if err != nil || report.Done != n || report.Left() != 0 {
						t.Fatalf("%+v, %v", report, err)
					}
					// As they are popped: from the end that producers do not push to.
					popped := listOf(t, s, q.Ready)
					if push == queue.Left {
						popped = reversed(popped)
						waiting = reversed(waiting)
					}
					want := append(slices.Clone(waiting), dead...)
					if front {
						want = append(slices.Clone(dead), waiting...)
					}
					if !slices.Equal(popped, want) {
						t.Errorf("popped %d: %.8q ... want %.8q", len(popped), popped, want)
					}
					if left := listOf(t, s, q.Dead); len(left) > 0 {
						t.Errorf("%d are left in dead", len(left))
					}
				})
			}
		}
	}
}

// Scattered messages leave without touching the others, and what arrives later stays.
func TestBulkTakesOnlyItsSet(t *testing.T) {
	s, c, log := bulkRig(t)
	q := queue.Named("q")
	rnd := rand.New(rand.NewPCG(1, 2))
	var dead, wanted, kept []string
	for i := range 5000 {
		m := fmt.Sprintf("keep %d", i)
		if rnd.IntN(4) == 0 {
			m = fmt.Sprintf("take %d", i%700) // some of them equal
			wanted = append(wanted, m)
		} else {
			kept = append(kept, m)
		}
		dead = append(dead, m)
	}
	lay(t, s, q.Dead, dead...)
	set, err := c.Select(t.Context(), q, queue.Dead, queue.SelectOptions{
		Match: func(m queue.Message) (bool, error) { return m.Payload[0] == 't', nil },
	})
	if err != nil || set.Count != int64(len(wanted)) || set.Looked != 5000 {
		t.Fatalf("%d of %d, %v", set.Count, set.Looked, err)
	}
	lay(t, s, q.Dead, "keep late")
	if err := s.Client.LPush(t.Context(), q.Dead, "keep later").Err(); err != nil {
		t.Fatal(err)
	}
	gone := wanted[len(wanted)/2]
	if n := s.Client.LRem(t.Context(), q.Dead, 1, gone).Val(); n != 1 {
		t.Fatal("not there")
	}
	report, err := c.RunBulk(t.Context(), set, queue.Bulk{Op: queue.OpDelete})
	if err != nil || report.Done != int64(len(wanted)-1) || report.Gone != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	want := append(append([]string{"keep later"}, kept...), "keep late")
	if got := listOf(t, s, q.Dead); !slices.Equal(got, want) {
		t.Errorf("%d are left, want %d", len(got), len(want))
	}
	journalled := 0
	for _, r := range log.records {
		if r.Kind == queue.Intent {
			journalled += len(r.Batch.Payloads)
		}
	}
	if journalled < len(wanted)-1 {
		t.Errorf("%d payloads are in the journal", journalled)
	}
}

func zmember(score float64, m string) redis.Z { return redis.Z{Score: score, Member: m} }

// A few of several backup lists: each gives what lies nearest to its tail.
func TestSelectFewOfSeveralLists(t *testing.T) {
	s, c, _ := bulkRig(t)
	q := queue.Named("q")
	q.Backups = []string{"q:a", "q:b", "q:c"}
	lay(t, s, "q:a", "a0", "a1", "a2")
	lay(t, s, "q:b", "b0", "b1")
	lay(t, s, "q:c", "c0", "c1", "c2", "c3")
	for limit, want := range map[int64][]string{
		1: {"a2"}, 3: {"a2", "b1", "c3"}, 5: {"a1", "a2", "b0", "b1", "c3"}, 8: {"a0", "a1", "a2", "b0", "b1", "c1", "c2", "c3"}, 20: {"a0", "a1", "a2", "b0", "b1", "c0", "c1", "c2", "c3"},
	} {
		set, err := c.Select(t.Context(), q, queue.Backup, queue.SelectOptions{Limit: limit})
		if err != nil || set.Count != int64(len(want)) {
			t.Fatalf("limit %d: %d in the set, %v", limit, set.Count, err)
		}
		if r, err := c.RunBulk(t.Context(), set, queue.Bulk{Op: queue.OpRedrive}); err != nil || r.Done != set.Count {
			t.Fatalf("limit %d: %+v, %v", limit, r, err)
		}
		got := listOf(t, s, q.Ready)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("limit %d: %q, want %q", limit, got, want)
		}
		for _, m := range got {
			s.Client.LRem(t.Context(), q.Ready, 0, m)
		}
		s.Client.Del(t.Context(), q.Backups...)
		lay(t, s, "q:a", "a0", "a1", "a2")
		lay(t, s, "q:b", "b0", "b1")
		lay(t, s, "q:c", "c0", "c1", "c2", "c3")
	}
}

// The oldest few go to the front in their order, so that the oldest of them runs next; a set
// of marked messages is cut to its oldest too.
func TestFewGoToTheFrontInOrder(t *testing.T) {
	t.Parallel()
	s, c, log := bulkRig(t)
	q := queue.Named("q")
	all := numbered(0, 2500) // the last one is the oldest
	for _, limit := range []int{1, 3, 1200, 2000} {
		for _, marked := range []bool{false, true} {
			s.Client.Del(t.Context(), q.Ready, q.Dead)
			lay(t, s, q.Dead, all...)
			lay(t, s, q.Ready, "waits")
			o := queue.SelectOptions{Limit: int64(limit), Newest: true}
			set, err := c.Select(t.Context(), q, queue.Dead, o)
			if marked {
				page, failed := c.Peek(t.Context(), q, queue.Dead, 0, len(all))
				if failed != nil {
					t.Fatal(failed)
				}
				set, err = c.SetOf(t.Context(), q, page.Messages, o)
			}
			if err != nil || set.Count != int64(limit) {
				t.Fatalf("%+v, %v", set, err)
			}
			r, err := c.RunBulk(t.Context(), set, queue.Bulk{Op: queue.OpRedrive, Front: true})
			if err != nil || r.Done != int64(limit) {
				t.Fatalf("%+v, %v", r, err)
			}
			want := append([]string{"waits"}, all[len(all)-limit:]...)
			if got := listOf(t, s, q.Ready); !slices.Equal(got, want) {
				t.Errorf("limit %d, marked %v: %d are in ready, ending with %q, want %q", limit, marked, len(got), got[len(got)-2:], want[len(want)-2:])
			}
			if got := listOf(t, s, q.Dead); !slices.Equal(got, all[:len(all)-limit]) {
				t.Errorf("limit %d, marked %v: %d are left in dead", limit, marked, len(got))
			}
			if _, err := c.UndoBulk(t.Context(), log.entry(r.Entry), nil); err != nil {
				t.Fatal(err)
			}
			if got := listOf(t, s, q.Dead); !slices.Equal(got, all) {
				t.Errorf("limit %d, marked %v: the undo leaves %d, ending with %q", limit, marked, len(got), got[len(got)-2:])
			}
		}
	}
}

// What dies during an operation is counted, whatever the operation itself takes from dead.
func TestDeadRise(t *testing.T) {
	s, c, _ := bulkRig(t)
	q := queue.Named("q")
	lay(t, s, q.Dead, numbered(0, 10)...)
	count := func(d *queue.DeadRise, done, want int64) {
		t.Helper()
		if n, err := d.Count(t.Context(), done); err != nil || n != want {
			t.Errorf("%d died, %v, want %d", n, err, want)
		}
	}
	from, err := c.NewDeadRise(q, queue.Dead)
	if err != nil {
		t.Fatal(err)
	}
	beside, err := c.NewDeadRise(q, queue.Backup)
	if err != nil {
		t.Fatal(err)
	}
	count(from, 0, 0)
	count(beside, 0, 0)
	s.Client.RPop(t.Context(), q.Dead) // re-driven, and back at once
	lay(t, s, q.Dead, "failed again")
	count(from, 1, 1)
	count(beside, 1, 0)
	s.Client.RPopCount(t.Context(), q.Dead, 3) // somebody else cleans up
	count(beside, 1, 0)
	lay(t, s, q.Dead, "one", "two")
	count(beside, 1, 2)
	beside.Again()
	count(beside, 1, 0)
	if _, err := c.NewDeadRise(queue.Queue{Name: "x", Ready: "x"}, queue.Ready); !errors.Is(err, queue.ErrNoSuchPlace) {
		t.Errorf("no dead: %v", err)
	}
}

// Paused before each step and at a rate, a few out of many go all the same.
func TestBulkAtARate(t *testing.T) {
	s, c, _ := bulkRig(t)
	q := queue.Named("q")
	lay(t, s, q.Dead, numbered(0, 3000)...)
	for _, limit := range []int64{1, 25, 120} {
		set, err := c.Select(t.Context(), q, queue.Dead, queue.SelectOptions{Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		steps := int64(0)
		r, err := c.RunBulk(t.Context(), set, queue.Bulk{Op: queue.OpRedrive, Rate: 200, Gate: func(context.Context) error {
			steps++
			return nil
		}})
		if err != nil || r.Done != limit || r.Left() != 0 || steps < limit/20 {
			t.Errorf("limit %d: %+v in %d steps, %v", limit, r, steps, err)
		}
	}
}
