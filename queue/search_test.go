package queue_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"redq/queue"
	"redq/queue/queuetest"
)

func endsWith(suffix string) func(queue.Message) (bool, error) {
	return func(m queue.Message) (bool, error) { return bytes.HasSuffix(m.Payload, []byte(suffix)), nil }
}

func TestSearch(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		rpush(t, s, "orders", numbered(0, 1800)...)
		rpush(t, s, "orders:backup:1", "a7", "b", "c7")
		rpush(t, s, "orders:backup:2", "d7")
		for i := range 700 {
			s.Client.ZAdd(t.Context(), "orders:delayed", redis.Z{Score: float64(i), Member: fmt.Sprintf("m%05d", i)})
		}
		q := queue.Named("orders")
		q.Backups = []string{"orders:backup:1", "orders:backup:2"}
		var sevens []string
		for i := 7; i < 1800; i += 10 {
			sevens = append(sevens, fmt.Sprintf("m%05d", i))
		}
		for name, c := range restricted(t, s) {
			for _, tt := range []struct {
				place  queue.Place
				from   int64
				limit  int
				want   []string
				next   int64
				done   bool
				looked int64
				total  int64
			}{
				{queue.Ready, 0, 0, sevens, 1800, true, 1800, 1800},
				{queue.Ready, 0, 3, sevens[:3], 28, false, 28, 1800},
				{queue.Ready, 28, 2, sevens[3:5], 48, false, 20, 1800},
				{queue.Ready, 1795, 0, sevens[179:], 1800, true, 5, 1800},
				{queue.Ready, 1795, 1, sevens[179:], 1798, false, 3, 1800},
				{queue.Ready, 5000, 0, nil, 5000, true, 0, 1800},
				{queue.Backup, 0, 0, []string{"a7", "c7", "d7"}, 4, true, 4, 4},
				{queue.Backup, 1, 2, []string{"c7", "d7"}, 4, true, 3, 4},
				{queue.Delayed, 0, 0, sevens[:70], 700, true, 700, 700},
				{queue.Dead, 0, 0, nil, 0, true, 0, 0},
			} {
				f, err := c.Search(t.Context(), q, tt.place, queue.At(tt.from), queue.SearchOptions{Match: endsWith("7"), Limit: tt.limit})
				if err != nil {
					t.Fatal(err)
				}
				if got := payloads(f.Messages); !slices.Equal(got, tt.want) || f.Next.Position() != tt.next || f.Done != tt.done || f.Looked != tt.looked || f.Total != tt.total {
					t.Errorf("%s: %s from %d limit %d: %d found (%v), next %d, done %v, looked at %d of %d; want %+v",
						name, tt.place, tt.from, tt.limit, len(got), got, f.Next.Position(), f.Done, f.Looked, f.Total, tt)
				}
			}
			// In pieces, nothing is missed or met twice.
			var got []string
			var at queue.Spot
			for pieces := 0; pieces < 2000; pieces++ {
				f, err := c.Search(t.Context(), q, queue.Ready, at, queue.SearchOptions{Match: endsWith("7"), Within: 1})
				if err != nil {
					t.Fatal(err)
				}
				if f.Looked != 1 {
					t.Fatalf("%s: looked at %d messages though its time was over", name, f.Looked)
				}
				got, at = append(got, payloads(f.Messages)...), f.Next
				if f.Done {
					break
				}
			}
			if !slices.Equal(got, sevens) {
				t.Errorf("%s: piece by piece: %d found, want %d", name, len(got), len(sevens))
			}
		}
	})
}

// The place moves while it is searched, within a call or between two: by pushes and pops
// at either end.
func TestSearchWhileThePlaceMoves(t *testing.T) {
	t.Parallel()
	moves := map[string]func(ctx context.Context, rdb *redis.Client){
		"pushes at the head": func(ctx context.Context, rdb *redis.Client) { rdb.LPush(ctx, "orders", "new7", "new7", "new7") },
		"as many pushes as are read": func(ctx context.Context, rdb *redis.Client) {
			rdb.LPush(ctx, "orders", asAny(numbered(10_000, 10_064))...)
		},
		"pops at the head": func(ctx context.Context, rdb *redis.Client) { rdb.LPopCount(ctx, "orders", 60) },
		"pops at the tail": func(ctx context.Context, rdb *redis.Client) { rdb.RPopCount(ctx, "orders", 2) },
		"both": func(ctx context.Context, rdb *redis.Client) {
			rdb.LPush(ctx, "orders", "new7", "new7")
			rdb.RPopCount(ctx, "orders", 2)
		},
	}
	for name, move := range moves {
		for calls, limit := range map[string]int{"one call": 0, "many calls": 500} {
			t.Run(name+", "+calls, func(t *testing.T) {
				queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
					rpush(t, s, "orders", numbered(0, 3000)...)
					c := reader(t, s.URL)
					seen := map[string]int{}
					n := 0
					match := func(m queue.Message) (bool, error) {
						seen[string(m.Payload)]++
						if n++; n%500 == 0 && n < 2500 {
							move(t.Context(), s.Client)
						}
						return true, nil
					}
					var f queue.Found
					for !f.Done {
						var err error
						f, err = c.Search(t.Context(), queue.Named("orders"), queue.Ready, f.Next, queue.SearchOptions{Match: match, Limit: limit})
						if err != nil {
							t.Fatal(err)
						}
					}
					for _, p := range numbered(0, 2900) {
						if seen[p] != 1 {
							t.Fatalf("%s was met %d times", p, seen[p])
						}
					}
				})
			})
		}
	}
}

func asAny(ss []string) []any {
	all := make([]any, len(ss))
	for i, s := range ss {
		all[i] = s
	}
	return all
}

// The whole payload is read only where Match cannot do without; matches come back cut.
func TestSearchReadsLargePayloadsOnDemand(t *testing.T) {
	long := strings.Repeat("z", 100<<10)
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		rpush(t, s, "orders", "x", long+"needle"+long, "large"+long, long)
		for name, c := range restricted(t, s) {
			heads, whole := 0, 0
			match := func(m queue.Message) (bool, error) {
				switch {
				case bytes.HasPrefix(m.Payload, []byte("large")):
					return true, nil
				case !m.Complete():
					heads++
					return false, queue.ErrCut
				}
				whole++
				return bytes.Contains(m.Payload, []byte("needle")), nil
			}
			f, err := c.Search(t.Context(), queue.Named("orders"), queue.Ready, queue.Spot{}, queue.SearchOptions{Match: match})
			if err != nil || len(f.Messages) != 2 || f.Messages[0].Complete() || f.Messages[0].Size != int64(len(long)*2+6) || f.Messages[0].Index != 1 || f.Unread != 0 {
				t.Errorf("%s: %d found, %d unread, %v", name, len(f.Messages), f.Unread, err)
			}
			if heads != 2 || whole != 3 {
				t.Errorf("%s: %d were read whole for %d that were asked for", name, whole-1, heads)
			}
		}
	})
}

// A large message that has gone, or moved too far, before it could be read whole.
func TestSearchOfWhatIsTaken(t *testing.T) {
	long := strings.Repeat("z", 100<<10)
	for name, tt := range map[string]struct {
		meanwhile func(ctx context.Context, rdb *redis.Client)
		unread    int64
	}{
		"gone": {func(ctx context.Context, rdb *redis.Client) { rdb.LRem(ctx, "orders", 1, long) }, 0},
		"moved": {func(ctx context.Context, rdb *redis.Client) {
			rdb.LPush(ctx, "orders", asAny(numbered(0, 3000))...)
			rdb.RPush(ctx, "orders", asAny(numbered(3000, 6000))...)
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := queuetest.Redis(t)
			rpush(t, s, "orders", "a")
			rpush(t, s, "orders", long)
			rpush(t, s, "orders", "b")
			c := reader(t, s.URL)
			match := func(m queue.Message) (bool, error) {
				if !m.Complete() {
					tt.meanwhile(t.Context(), s.Client)
					return false, queue.ErrCut
				}
				return len(m.Payload) == 1, nil
			}
			f, err := c.Search(t.Context(), queue.Named("orders"), queue.Ready, queue.Spot{}, queue.SearchOptions{Match: match, Limit: 2})
			if err != nil || !slices.Equal(payloads(f.Messages), []string{"a", "b"}) || f.Unread != tt.unread {
				t.Errorf("found %q, %d unread, %v; want %d unread", payloads(f.Messages), f.Unread, err, tt.unread)
			}
		})
	}
}

func TestSearchStops(t *testing.T) {
	s := queuetest.Redis(t)
	rpush(t, s, "orders", numbered(0, 2000)...)
	c := reader(t, s.URL)
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	f, err := c.Search(ctx, queue.Named("orders"), queue.Ready, queue.Spot{}, queue.SearchOptions{Match: func(queue.Message) (bool, error) {
		if n++; n == 600 {
			cancel()
		}
		return true, nil
	}})
	if !errors.Is(err, context.Canceled) || len(f.Messages) < 600 || f.Next.Position() != f.Looked || f.Looked != int64(len(f.Messages)) {
		t.Errorf("%d found, next %d, %v", len(f.Messages), f.Next.Position(), err)
	}

	// An error of Match ends it before the message, where another call goes on.
	enough := errors.New("enough")
	f, err = c.Search(t.Context(), queue.Named("orders"), queue.Ready, queue.Spot{}, queue.SearchOptions{Match: func(m queue.Message) (bool, error) {
		if string(m.Payload) == "m00700" {
			return false, enough
		}
		return true, nil
	}})
	if !errors.Is(err, enough) || len(f.Messages) != 700 || f.Next.Position() != 700 || f.Done {
		t.Errorf("%d found, next %d, %v", len(f.Messages), f.Next.Position(), err)
	}
	f, err = c.Search(t.Context(), queue.Named("orders"), queue.Ready, f.Next, queue.SearchOptions{Limit: 1})
	if err != nil || !slices.Equal(payloads(f.Messages), []string{"m00700"}) {
		t.Errorf("it goes on with %q, %v", payloads(f.Messages), err)
	}

	s.Client.Set(t.Context(), "orders:dead", "x", 0)
	if _, err := c.Search(t.Context(), queue.Named("orders"), queue.Dead, queue.Spot{}, queue.SearchOptions{}); !errors.Is(err, queue.ErrWrongType) {
		t.Errorf("%v, want ErrWrongType", err)
	}
}
