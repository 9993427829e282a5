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

func endsWith(suffix string) func(queue.Message) bool {
	return func(m queue.Message) bool { return bytes.HasSuffix(m.Payload, []byte(suffix)) }
}

func TestSearch(t *testing.T) {
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
				place           queue.Place
				from            int64
				limit, maxPages int
				want            []string
				next            int64
			}{
				{queue.Ready, 0, 0, 0, sevens, -1},
				{queue.Ready, 0, 3, 0, sevens[:3], 28},
				{queue.Ready, 28, 2, 0, sevens[3:5], 48},
				{queue.Ready, 1795, 0, 0, sevens[179:], -1},
				{queue.Ready, 1795, 1, 0, sevens[179:], 1798},
				{queue.Ready, 5000, 0, 0, nil, -1},
				{queue.Backup, 0, 0, 0, []string{"a7", "c7", "d7"}, -1},
				{queue.Backup, 1, 2, 0, []string{"c7", "d7"}, -1},
				{queue.Delayed, 0, 0, 0, sevens[:70], -1},
				{queue.Dead, 0, 0, 0, nil, -1},
			} {
				found, next, err := c.Search(t.Context(), q, tt.place, tt.from, endsWith("7"), tt.limit, tt.maxPages)
				if err != nil {
					t.Fatal(err)
				}
				if got := payloads(found); !slices.Equal(got, tt.want) || next != tt.next {
					t.Errorf("%s: %s from %d limit %d: %d found (%v), next %d; want %d, next %d", name, tt.place, tt.from, tt.limit, len(got), got, next, len(tt.want), tt.next)
				}
			}
			// In pieces of one page each, nothing is missed or met twice.
			var got []string
			for at, pieces := int64(0), 0; at >= 0 && pieces < 200; pieces++ {
				found, next, err := c.Search(t.Context(), q, queue.Ready, at, endsWith("7"), 0, 1)
				if err != nil {
					t.Fatal(err)
				}
				got, at = append(got, payloads(found)...), next
			}
			if !slices.Equal(got, sevens) {
				t.Errorf("%s: page by page: %d found, want %d", name, len(got), len(sevens))
			}
		}
	})
}

// The place moves while it is searched: by pushes and pops at either end.
func TestSearchWhileThePlaceMoves(t *testing.T) {
	moves := map[string]func(ctx context.Context, rdb *redis.Client){
		"pushes at the head": func(ctx context.Context, rdb *redis.Client) { rdb.LPush(ctx, "orders", "new7", "new7", "new7") },
		"pops at the head":   func(ctx context.Context, rdb *redis.Client) { rdb.LPopCount(ctx, "orders", 90) },
		"pops at the tail":   func(ctx context.Context, rdb *redis.Client) { rdb.RPopCount(ctx, "orders", 2) },
		"both": func(ctx context.Context, rdb *redis.Client) {
			rdb.LPush(ctx, "orders", "new7", "new7")
			rdb.RPopCount(ctx, "orders", 2)
		},
	}
	for name, move := range moves {
		t.Run(name, func(t *testing.T) {
			queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
				rpush(t, s, "orders", numbered(0, 3000)...)
				c := reader(t, s.URL)
				seen := map[string]int{}
				n := 0
				_, _, err := c.Search(t.Context(), queue.Named("orders"), queue.Ready, 0, func(m queue.Message) bool {
					seen[string(m.Payload)]++
					if n++; n%500 == 0 && n < 2500 {
						move(t.Context(), s.Client)
					}
					return false
				}, 0, 0)
				if err != nil {
					t.Fatal(err)
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

func TestSearchMatchesWholePayloadsAndReturnsThemCut(t *testing.T) {
	long := strings.Repeat("z", 100<<10)
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		rpush(t, s, "orders", "x", long+"needle"+long, long)
		for name, c := range restricted(t, s) {
			found, _, err := c.Search(t.Context(), queue.Named("orders"), queue.Ready, 0, func(m queue.Message) bool {
				if !m.Complete() {
					t.Errorf("%s: asked about %d bytes of %d", name, len(m.Payload), m.Size)
				}
				return bytes.Contains(m.Payload, []byte("needle"))
			}, 0, 0)
			if err != nil || len(found) != 1 || found[0].Complete() || found[0].Size != int64(len(long)*2+6) || found[0].Index != 1 {
				t.Errorf("%s: %d found, %v", name, len(found), err)
			}
		}
	})
}

func TestSearchStops(t *testing.T) {
	s := queuetest.Redis(t)
	rpush(t, s, "orders", numbered(0, 2000)...)
	c := reader(t, s.URL)
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	found, next, err := c.Search(ctx, queue.Named("orders"), queue.Ready, 0, func(queue.Message) bool {
		if n++; n == 600 {
			cancel()
		}
		return true
	}, 0, 0)
	if !errors.Is(err, context.Canceled) || len(found) < 600 || next != int64(len(found)) {
		t.Errorf("%d found, next %d, %v", len(found), next, err)
	}
	s.Client.Set(t.Context(), "orders:dead", "x", 0)
	if _, _, err := c.Search(t.Context(), queue.Named("orders"), queue.Dead, 0, endsWith(""), 0, 0); !errors.Is(err, queue.ErrWrongType) {
		t.Errorf("%v, want ErrWrongType", err)
	}
}
