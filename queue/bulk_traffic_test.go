package queue_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redq/queue"
	"redq/queue/queuetest"
)

// traffic is what others do to a queue while an operator is at work on it.
type traffic struct {
	s     *queuetest.Server
	stop  context.CancelFunc
	ctx   context.Context
	busy  sync.WaitGroup
	mu    sync.Mutex
	taken []string // by consumers
	added []string // by producers
}

func newTraffic(s *queuetest.Server) *traffic {
	f := &traffic{s: s}
	f.ctx, f.stop = context.WithCancel(context.Background())
	return f
}

// end stops all of it.
func (f *traffic) end() {
	f.stop()
	f.busy.Wait()
}

// each calls do until the end.
func (f *traffic) each(do func(i int) (taken, added []string)) {
	f.busy.Go(func() {
		for i := 0; f.ctx.Err() == nil; i++ {
			taken, added := do(i)
			f.mu.Lock()
			f.taken, f.added = append(f.taken, taken...), append(f.added, added...)
			f.mu.Unlock()
		}
	})
}

// consumes pops from a key, a few at a time.
func (f *traffic) consumes(key string, zset bool) {
	ctx := context.Background()
	f.each(func(int) ([]string, []string) {
		if !zset {
			return f.s.Client.RPopCount(ctx, key, 20).Val(), nil
		}
		var taken []string
		for _, z := range f.s.Client.ZPopMin(ctx, key, 20).Val() {
			taken = append(taken, z.Member.(string))
		}
		return taken, nil
	})
}

// produces adds to a key.
func (f *traffic) produces(key string, zset bool) {
	ctx := context.Background()
	f.each(func(i int) ([]string, []string) {
		m := fmt.Sprint("late ", i)
		if zset {
			f.s.Client.ZAdd(ctx, key, redis.Z{Member: m, Score: float64(time.Now().UnixMilli() - int64(i%2)*86_400_000)})
		} else {
			f.s.Client.LPush(ctx, key, m)
		}
		return nil, []string{m}
	})
}

// inKey returns the messages of a list or sorted set.
func inKey(t *testing.T, s *queuetest.Server, key string, zset bool) []string {
	t.Helper()
	if !zset {
		return listOf(t, s, key)
	}
	all, err := s.Client.ZRange(t.Context(), key, 0, -1).Result()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// deleted returns the messages that the journal says were removed.
func (m *memory) deleted(entry string) []string {
	var all []string
	for _, it := range m.entry(entry).Batches.(stepsInMemory) {
		if it.Outcome == queue.Done {
			for _, p := range it.Batch.Payloads {
				all = append(all, string(p))
			}
		}
	}
	return all
}

// A consumer and a producer go at full speed while each kind of operation is carried out, and
// while it is undone: every message is somewhere exactly once, and what came late was not touched.
func TestEachBulkUnderTraffic(t *testing.T) {
	t.Parallel()
	const n = 20_000
	half := func(m queue.Message) (bool, error) { return m.Payload[len(m.Payload)-1]%2 == 0, nil }
	soon := queue.Due{At: time.Now().Add(time.Hour), Spread: time.Hour}
	for _, tt := range []struct {
		name  string
		place queue.Place
		match func(queue.Message) (bool, error)
		bulk  queue.Bulk
	}{
		{"delete", queue.Dead, nil, queue.Bulk{Op: queue.OpDelete}},
		{"delete some", queue.Dead, half, queue.Bulk{Op: queue.OpDelete}},
		{"delete delayed", queue.Delayed, half, queue.Bulk{Op: queue.OpDelete}},
		{"re-drive to the front", queue.Dead, nil, queue.Bulk{Op: queue.OpRedrive, Front: true}},
		{"re-drive into delayed", queue.Dead, half, queue.Bulk{Op: queue.OpRedrive, ToPlace: queue.Delayed, Due: soon}},
		{"run now", queue.Delayed, nil, queue.Bulk{Op: queue.OpRedrive}},
		{"move", queue.Ready, half, queue.Bulk{Op: queue.OpRedrive, ToKey: "parked"}},
		{"reschedule", queue.Delayed, nil, queue.Bulk{Op: queue.OpReschedule, Due: soon}},
		{"shift", queue.Delayed, half, queue.Bulk{Op: queue.OpReschedule, Due: queue.Due{Shift: 30 * time.Minute}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, c, log := bulkRig(t)
			q := queue.Named("q")
			source, zset := q.Keys(tt.place)[0], tt.place == queue.Delayed
			layEither(t, s, source, zset, numbered(0, n))
			set, err := c.Select(t.Context(), q, tt.place, queue.SelectOptions{Match: tt.match, Newest: tt.bulk.Front})
			if err != nil {
				t.Fatal(err)
			}
			places := map[string]bool{q.Dead: false, q.Ready: false, "parked": false, q.Delayed: true}
			everything := func(f *traffic, removed []string) map[string]int {
				lists := [][]string{f.taken, removed}
				for key, zset := range places {
					lists = append(lists, inKey(t, s, key, zset))
				}
				return tallyOf(lists...)
			}
			f := newTraffic(s)
			f.produces(source, zset)
			for key, zset := range places {
				f.consumes(key, zset)
			}
			report, err := c.RunBulk(t.Context(), set, tt.bulk)
			f.end()
			if err != nil || report.Left() != 0 || report.Unknown != 0 || report.Done == 0 {
				t.Fatalf("%+v, %v", report, err)
			}
			removed := log.deleted(report.Entry)
			if tt.bulk.Op == queue.OpDelete && int64(len(removed)) != report.Done {
				t.Errorf("%d of %d are in the journal", len(removed), report.Done)
			}
			for _, m := range removed {
				if strings.HasPrefix(m, "late") {
					t.Fatalf("%s came after the set was fixed", m)
				}
			}
			wantTally(t, everything(f, removed), once(append(numbered(0, n), f.added...)))

			back := newTraffic(s)
			back.taken = f.taken
			back.produces(source, zset)
			for key, zset := range places {
				back.consumes(key, zset)
			}
			undone, err := c.UndoBulk(t.Context(), log.entry(report.Entry), nil)
			back.end()
			var busy *queue.RefusedError
			if errors.As(err, &busy) && busy.Code == "BUSY" {
				t.Logf("others were faster than the undo: %v", err)
				undone, err = c.UndoBulk(t.Context(), log.entry(report.Entry), nil)
			}
			if err != nil {
				t.Fatalf("%+v, %v", undone, err)
			}
			wantTally(t, everything(back, nil), once(append(append(numbered(0, n), f.added...), back.added...)))
		})
	}
}

// layEither fills a list, or a sorted set with times around now.
func layEither(t *testing.T, s *queuetest.Server, key string, zset bool, ms []string) {
	t.Helper()
	if !zset {
		lay(t, s, key, reversed(ms)...)
		return
	}
	now := time.Now().UnixMilli()
	for i := 0; i < len(ms); i += 1000 {
		var some []redis.Z
		for j, m := range ms[i:min(i+1000, len(ms))] {
			some = append(some, zmember(float64(now+int64(i+j)*100), m))
		}
		if err := s.Client.ZAdd(t.Context(), key, some...).Err(); err != nil {
			t.Fatal(err)
		}
	}
}
