package queue_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"redq/queue"
	"redq/queue/queuetest"
)

// walked goes through a key and calls between, when it is not nil, after each step.
func walked(t *testing.T, w *queue.Walk, between func(step int)) []queue.Message {
	t.Helper()
	var all []queue.Message
	for step := 0; ; step++ {
		ms, err := w.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(ms) == 0 {
			return all
		}
		all = append(all, ms...)
		if between != nil {
			between(step)
		}
	}
}

func payloadsOf(ms []queue.Message) []string {
	all := make([]string, len(ms))
	for i, m := range ms {
		all[i] = string(m.Payload)
	}
	return all
}

func TestWalkMeetsAllOldestFirst(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	const n = 4321
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		want := numbered(0, n)
		for name, c := range restricted(t, s) {
			for _, push := range []queue.End{queue.Left, queue.Right} {
				t.Run(fmt.Sprintf("%s, push %s", name, push), func(t *testing.T) {
					s.Client.FlushAll(t.Context())
					q := queue.Named("q")
					q.Push = push
					laid := want
					if push == queue.Left {
						laid = reversed(want)
					}
					lay(t, s, q.Ready, laid...)
					for i, m := range want {
						s.Client.ZAdd(t.Context(), q.Delayed, redis.Z{Score: float64(i / 2000), Member: m})
					}
					for place, key := range map[queue.Place]string{queue.Ready: q.Ready, queue.Delayed: q.Delayed} {
						w := c.Walk(q, place, key)
						got := walked(t, w, nil)
						if !slices.Equal(payloadsOf(got), want) || w.Total() != n {
							t.Errorf("%s: %d of %d messages, or not in order", place, len(got), w.Total())
						}
						for i, m := range got {
							index := int64(i)
							if place == queue.Ready && push == queue.Left {
								index = int64(n - 1 - i)
							}
							if m.Index != index || m.Len != n || m.Place != place || m.Key != key {
								t.Fatalf("message %d: %+v", i, m)
							}
						}
					}
					if got := walked(t, c.Walk(q, queue.Dead, q.Dead), nil); len(got) > 0 {
						t.Errorf("%d messages in a key that does not exist", len(got))
					}
				})
			}
		}
	})
}

// Large payloads come whole, between small ones, and each once.
func TestWalkOfLargePayloads(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	s := queuetest.Redis(t)
	for name, c := range restricted(t, s) {
		t.Run(name, func(t *testing.T) {
			s.Client.FlushAll(t.Context())
			q := queue.Named("q")
			var want []string
			for i := range 60 {
				size := 10
				switch {
				case i%20 == 7:
					size = 5 << 20
				case i > 40:
					size = 300 << 10
				}
				want = append(want, fmt.Sprintf("%d", i)+strings.Repeat("x", size))
			}
			lay(t, s, q.Dead, reversed(want)...)
			if got := payloadsOf(walked(t, c.Walk(q, queue.Dead, q.Dead), nil)); !slices.Equal(got, want) {
				t.Errorf("%d messages, want %d", len(got), len(want))
			}
		})
	}
}

// What stays in a key is met once, whatever is taken, added and removed meanwhile.
func TestWalkWhileOthersWork(t *testing.T) {
	const n = 10_000
	s, c, _ := bulkRig(t)
	ctx := t.Context()
	q := queue.Named("q")
	for _, tt := range []struct {
		name    string
		between func(step int)
		taken   func(i int) bool // messages that may be missing
	}{
		{"a consumer takes few", func(int) { s.Client.RPopCount(ctx, q.Dead, 50) }, func(i int) bool { return i < 1000 }},
		{"a consumer takes many", func(int) { s.Client.RPopCount(ctx, q.Dead, 700) }, func(i int) bool { return i < 9000 }},
		{"a producer pushes", func(step int) { lpush(t, s, q.Dead, fmt.Sprint("new", step), fmt.Sprint("new too", step)) }, nil},
		{"some are put back in front", func(step int) { lay(t, s, q.Dead, numbered(100_000+step*10, 100_010+step*10)...) }, nil},
		{"many are put back in front", func(step int) { lay(t, s, q.Dead, numbered(100_000+step*1000, 100_700+step*1000)...) }, nil},
		{"the last that were met are removed", func(step int) {
			for i := range 20 {
				s.Client.LRem(ctx, q.Dead, 1, fmt.Sprintf("m%05d", (step+1)*1000-1-2*i))
			}
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s.Client.FlushAll(ctx)
			lay(t, s, q.Dead, reversed(numbered(0, n))...)
			met := map[string]int{}
			for _, m := range walked(t, c.Walk(q, queue.Dead, q.Dead), tt.between) {
				met[string(m.Payload)]++
			}
			for i, m := range numbered(0, n) {
				if met[m] > 1 || met[m] == 0 && (tt.taken == nil || !tt.taken(i)) {
					t.Fatalf("%s was met %d times", m, met[m])
				}
			}
		})
	}
}

func TestWalkOfASortedSetThatMoves(t *testing.T) {
	t.Parallel()
	const n = 5000
	s, c, _ := bulkRig(t)
	ctx := t.Context()
	q := queue.Named("q")
	for name, between := range map[string]func(step int){
		"the lowest are taken":      func(int) { s.Client.ZPopMin(ctx, q.Delayed, 700) },
		"more are put in front":     func(step int) { zfill(t, s, q.Delayed, -float64(step+1), 700) },
		"all that was met is taken": func(step int) { s.Client.ZRemRangeByRank(ctx, q.Delayed, 0, 999) },
		"the last is put off": func(step int) {
			s.Client.ZAdd(ctx, q.Delayed, redis.Z{Score: 1e9, Member: fmt.Sprintf("m%05d", (step+1)*1000-1)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s.Client.FlushAll(ctx)
			for i, m := range numbered(0, n) {
				s.Client.ZAdd(ctx, q.Delayed, redis.Z{Score: float64(i / 3000), Member: m})
			}
			met := map[string]int{}
			for _, m := range walked(t, c.Walk(q, queue.Delayed, q.Delayed), between) {
				met[string(m.Payload)]++
			}
			twice, never := 0, 0
			for _, m := range numbered(0, n) {
				if met[m] > 1 {
					twice++
				}
				if met[m] == 0 {
					never++
				}
			}
			if never > 0 || twice > 0 && name != "the last is put off" {
				t.Errorf("%d were never met, %d twice", never, twice)
			}
		})
	}
}

func TestWalkOfEqualMessages(t *testing.T) {
	const n = 3000
	s, c, _ := bulkRig(t)
	q := queue.Named("q")
	all := slices.Repeat([]string{"tick"}, n)
	lay(t, s, q.Dead, all...)
	if got := walked(t, c.Walk(q, queue.Dead, q.Dead), nil); len(got) != n {
		t.Errorf("%d messages, want %d", len(got), n)
	}
}

func TestWalkOfAnotherType(t *testing.T) {
	s, c, _ := bulkRig(t)
	s.Client.Set(t.Context(), "q:dead", "x", 0)
	q := queue.Named("q")
	if _, err := c.Walk(q, queue.Dead, q.Dead).Next(t.Context()); !errors.Is(err, queue.ErrWrongType) {
		t.Errorf("%v", err)
	}
}

func zfill(t *testing.T, s *queuetest.Server, key string, score float64, n int) {
	t.Helper()
	all := make([]redis.Z, n)
	for i := range all {
		all[i] = redis.Z{Score: score, Member: fmt.Sprintf("filler %g %d", score, i)}
	}
	if err := s.Client.ZAdd(t.Context(), key, all...).Err(); err != nil {
		t.Fatal(err)
	}
}

func lpush(t *testing.T, s *queuetest.Server, key string, payloads ...any) {
	t.Helper()
	if err := s.Client.LPush(t.Context(), key, payloads...).Err(); err != nil {
		t.Fatal(err)
	}
}
