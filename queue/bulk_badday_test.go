package queue_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redq/queue"
	"redq/queue/queuetest"
)

// tallyOf counts messages by their bytes.
func tallyOf(lists ...[]string) map[string]int {
	n := map[string]int{}
	for _, l := range lists {
		for _, m := range l {
			n[m]++
		}
	}
	return n
}

// once is a tally of messages that are there once each.
func once(ms []string) map[string]int { return tallyOf(ms) }

func wantTally(t *testing.T, got, want map[string]int) {
	t.Helper()
	if maps.Equal(got, want) {
		return
	}
	lost, doubled := 0, 0
	for m, n := range want {
		if got[m] < n {
			lost++
		}
		if got[m] > n {
			doubled++
		}
	}
	t.Errorf("%d lost, %d doubled, %d kinds for %d", lost, doubled, len(got), len(want))
}

// A consumer takes from where the messages go, a producer adds to where they come from,
// and others take away from the middle: each message is somewhere exactly once.
func TestBulkUnderTraffic(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		match func(queue.Message) (bool, error)
	}{{"all", nil}, {"some", func(m queue.Message) (bool, error) { return m.Payload[len(m.Payload)-1]%2 == 0, nil }}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, c, _ := bulkRig(t)
			q := queue.Named("q")
			const n = 30_000
			lay(t, s, q.Dead, reversed(numbered(0, n))...)
			set, err := c.Select(t.Context(), q, queue.Dead, queue.SelectOptions{Match: tt.match})
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			var busy sync.WaitGroup
			var popped, removed, added []string
			busy.Go(func() {
				for ctx.Err() == nil {
					popped = append(popped, s.Client.RPopCount(context.Background(), q.Ready, 50).Val()...)
				}
			})
			busy.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					m := fmt.Sprint("late ", i)
					s.Client.LPush(context.Background(), q.Dead, m)
					added = append(added, m)
				}
			})
			busy.Go(func() {
				for ctx.Err() == nil {
					at := rand.Int64N(n)
					if m, err := s.Client.LIndex(context.Background(), q.Dead, at).Result(); err == nil && !strings.HasPrefix(m, "late") {
						if s.Client.LRem(context.Background(), q.Dead, 1, m).Val() == 1 {
							removed = append(removed, m)
						}
					}
					if m, err := s.Client.RPop(context.Background(), q.Dead).Result(); err == nil { // at the very end that it works from
						removed = append(removed, m)
					}
					time.Sleep(time.Millisecond)
				}
			})
			report, err := c.RunBulk(t.Context(), set, queue.Bulk{Op: queue.OpRedrive})
			stop()
			busy.Wait()
			if err != nil || report.Left() != 0 || report.Done == 0 {
				t.Fatalf("%+v, %v", report, err)
			}
			t.Logf("%+v", report)
			wantTally(t, tallyOf(listOf(t, s, q.Dead), listOf(t, s, q.Ready), popped, removed),
				once(append(numbered(0, n), added...)))
			for _, m := range append(popped, listOf(t, s, q.Ready)...) {
				if strings.HasPrefix(m, "late") {
					t.Fatalf("%s came after the set was fixed", m)
				}
			}
		})
	}
}

// Two operators have confirmed the same set: what one has done is gone for the other.
func TestTwoOperatorsInBulk(t *testing.T) {
	t.Parallel()
	s, c, _ := bulkRig(t)
	q := queue.Named("q")
	const n = 20_000
	lay(t, s, q.Dead, numbered(0, n)...)
	var both sync.WaitGroup
	reports, sets := make([]queue.BulkReport, 2), make([]*queue.Set, 2)
	for i := range sets {
		var err error
		if sets[i], err = c.Select(t.Context(), q, queue.Dead, queue.SelectOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for i, set := range sets {
		both.Go(func() {
			var err error
			if reports[i], err = c.RunBulk(t.Context(), set, queue.Bulk{Op: queue.OpRedrive}); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	if done := reports[0].Done + reports[1].Done; done != n || reports[0].Done+reports[0].Gone != n || reports[1].Done+reports[1].Gone != n {
		t.Errorf("%+v", reports)
	}
	wantTally(t, tallyOf(listOf(t, s, q.Dead), listOf(t, s, q.Ready)), once(numbered(0, n)))
}

// Answers are lost, connections cut: the operation goes on where it was, and its undo finds all.
func TestBulkOverABadNetwork(t *testing.T) {
	t.Parallel()
	for _, op := range []queue.Op{queue.OpRedrive, queue.OpDelete} {
		t.Run(string(op), func(t *testing.T) {
			t.Parallel()
			s := queuetest.Redis(t)
			p := queuetest.NewProxy(t, s.Addr)
			log := &memory{}
			c, err := queue.Open(t.Context(), queue.Options{URL: p.URL, Timeout: 300 * time.Millisecond, Journal: log})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			q := queue.Named("q")
			const n = 100_000
			lay(t, s, q.Dead, numbered(0, n)...)
			set, err := c.Select(t.Context(), q, queue.Dead, queue.SelectOptions{})
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			var bad sync.WaitGroup
			bad.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					p.CutAfterRequest("evalsha")
					if i%10 == 9 {
						p.Cut()
					}
					if i%20 == 19 { // nobody listens there for a while
						p.Refuse(true)
						time.Sleep(50 * time.Millisecond)
						p.Refuse(false)
					}
					time.Sleep(20 * time.Millisecond)
				}
			})
			troubles := 0
			report, err := c.RunBulk(t.Context(), set, queue.Bulk{Op: op, Progress: func(r queue.BulkReport) {
				if r.Trouble != nil {
					troubles++
				}
			}})
			stop()
			bad.Wait()
			if err != nil || report.Done+report.Gone != n || troubles == 0 {
				t.Fatalf("%+v after %d troubles, %v", report, troubles, err)
			}
			t.Logf("%+v, %d troubles", report, troubles)
			if op == queue.OpRedrive {
				wantTally(t, tallyOf(listOf(t, s, q.Dead), listOf(t, s, q.Ready)), once(numbered(0, n)))
			}
			undone, err := c.UndoBulk(t.Context(), log.entry(report.Entry), nil)
			if err != nil {
				t.Fatalf("%+v, %v", undone, err)
			}
			wantTally(t, tallyOf(listOf(t, s, q.Dead), listOf(t, s, q.Ready)), once(numbered(0, n)))
			if left := len(listOf(t, s, q.Ready)); left > 0 {
				t.Errorf("%d are left in ready", left)
			}
		})
	}
}

// What the server refuses half-way ends the operation with everything in its place.
func TestBulkThatIsRefusedHalfWay(t *testing.T) {
	t.Parallel()
	const n = 5000
	tests := []struct {
		name   string
		bulk   queue.Bulk
		refuse func(t *testing.T, s *queuetest.Server, q queue.Queue)
		mend   func(t *testing.T, s *queuetest.Server, q queue.Queue)
		want   string
	}{
		{"OOM", queue.Bulk{Op: queue.OpRedrive},
			func(t *testing.T, s *queuetest.Server, _ queue.Queue) {
				s.Client.ConfigSet(t.Context(), "maxmemory", "1")
			},
			func(t *testing.T, s *queuetest.Server, _ queue.Queue) {
				s.Client.ConfigSet(t.Context(), "maxmemory", "0")
			}, "memory"},
		{"READONLY", queue.Bulk{Op: queue.OpDelete},
			func(t *testing.T, s *queuetest.Server, _ queue.Queue) {
				s.Client.ReplicaOf(t.Context(), "127.0.0.1", "1")
			},
			func(t *testing.T, s *queuetest.Server, _ queue.Queue) { s.Client.ReplicaOf(t.Context(), "NO", "ONE") }, "replica"},
		{"WRONGTYPE", queue.Bulk{Op: queue.OpRedrive},
			func(t *testing.T, s *queuetest.Server, q queue.Queue) {
				_, _ = s.Client.TxPipelined(t.Context(), func(p redis.Pipeliner) error {
					p.Rename(t.Context(), q.Ready, "aside")
					return p.Set(t.Context(), q.Ready, "x", 0).Err()
				})
			},
			func(t *testing.T, s *queuetest.Server, q queue.Queue) { s.Client.Rename(t.Context(), "aside", q.Ready) }, "wrong type"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, c, log := bulkRig(t)
			q := queue.Named("q")
			lay(t, s, q.Dead, numbered(0, n)...)
			set, err := c.Select(t.Context(), q, queue.Dead, queue.SelectOptions{})
			if err != nil {
				t.Fatal(err)
			}
			steps := 0
			tt.bulk.Gate = func(context.Context) error {
				if steps++; steps == 3 {
					tt.refuse(t, s, q)
				}
				return nil
			}
			report, err := c.RunBulk(t.Context(), set, tt.bulk)
			if err == nil || !strings.Contains(err.Error(), tt.want) || report.Done == 0 || report.Done+report.Refused != n || report.Refused == 0 {
				t.Fatalf("%+v, %v", report, err)
			}
			tt.mend(t, s, q)
			undone, err := c.UndoBulk(t.Context(), log.entry(report.Entry), nil)
			if err != nil || undone.Done != report.Done {
				t.Fatalf("undo: %+v, %v", undone, err)
			}
			if got := listOf(t, s, q.Dead); !slices.Equal(got, numbered(0, n)) {
				t.Errorf("%d are in dead", len(got))
			}
		})
	}
}

// A cancelled operation stops between two steps, and the rest stays.
func TestBulkThatIsCancelled(t *testing.T) {
	t.Parallel()
	s, c, _ := bulkRig(t)
	q := queue.Named("q")
	lay(t, s, q.Dead, numbered(0, 5000)...)
	set, err := c.Select(t.Context(), q, queue.Dead, queue.SelectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	report, err := c.RunBulk(ctx, set, queue.Bulk{Op: queue.OpRedrive, Progress: func(r queue.BulkReport) {
		if r.Done >= 2000 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || report.Done < 2000 || report.Left() == 0 || report.Unknown != 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	if n := int64(len(listOf(t, s, q.Ready))); n != report.Done {
		t.Errorf("%d are in ready, %d were told", n, report.Done)
	}
}

// Equal bytes in the target are refused one by one, the others go.
func TestBulkIntoDelayedLeavesWhatIsThere(t *testing.T) {
	t.Parallel()
	s, c, _ := bulkRig(t)
	q := queue.Named("q")
	lay(t, s, q.Dead, numbered(0, 1500)...)
	present := numbered(0, 1500)[700:703]
	for i, m := range present {
		s.Client.ZAddNX(t.Context(), q.Delayed, zmember(float64(i), m))
	}
	set, err := c.Select(t.Context(), q, queue.Dead, queue.SelectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	report, err := c.RunBulk(t.Context(), set, queue.Bulk{Op: queue.OpRedrive, ToPlace: queue.Delayed, Due: queue.Due{At: time.Now()}})
	if err != nil || report.Done != 1497 || report.Refused != 3 {
		t.Fatalf("%+v, %v", report, err)
	}
	if got := listOf(t, s, q.Dead); !slices.Equal(got, present) {
		t.Errorf("%q are left", got)
	}
	if score := s.Client.ZScore(t.Context(), q.Delayed, present[1]).Val(); score != 1 {
		t.Errorf("the one that was there has score %v", score)
	}
}

// The disk of the journal is full before a step: the operation stops there, and what it did
// before can be undone, though the last answer was never written.
func TestBulkWithoutRoomForItsJournal(t *testing.T) {
	t.Parallel()
	for _, op := range []queue.Op{queue.OpRedrive, queue.OpDelete} {
		s := queuetest.Redis(t)
		log := &fullAfter{left: 3}
		c, err := queue.Open(t.Context(), queue.Options{URL: s.URL, Journal: log})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		q := queue.Named("q")
		lay(t, s, q.Dead, numbered(0, 8000)...)
		set, err := c.Select(t.Context(), q, queue.Dead, queue.SelectOptions{})
		if err != nil {
			t.Fatal(err)
		}
		report, err := c.RunBulk(t.Context(), set, queue.Bulk{Op: op})
		if !errors.Is(err, errFull) || report.Done == 0 || report.Done+report.Refused != 8000 {
			t.Fatalf("%s: %+v, %v", op, report, err)
		}
		log.left = 1000
		undone, err := c.UndoBulk(t.Context(), log.entry(report.Entry), nil)
		if err != nil || undone.Done != report.Done {
			t.Fatalf("%s: undo %+v of %+v, %v", op, undone, report, err)
		}
		if got := listOf(t, s, q.Dead); !slices.Equal(got, numbered(0, 8000)) {
			t.Errorf("%s: %d are in dead", op, len(got))
		}
		if keys := s.Client.Keys(t.Context(), "*").Val(); len(keys) != 1 {
			t.Errorf("%s: keys left: %q", op, keys)
		}
	}
}

var errFull = errors.New("no space left on device")

// fullAfter is a journal with room for so many writes.
type fullAfter struct {
	memory
	left int
}

func (f *fullAfter) Append(rs ...queue.Record) error {
	if f.left--; f.left < 0 {
		return errFull
	}
	return f.memory.Append(rs...)
}
