package queue_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/queuetest"
)

// noise is so many random bytes, the same for the same seed.
func noise(seed uint64, size int) []byte {
	b := make([]byte, size)
	src := rand.NewChaCha8([32]byte{byte(seed)})
	_, _ = src.Read(b)
	return b
}

// Messages of 50 MB beside small ones arrive byte by byte and do not fill the memory. With
// REDQ_SOAK also after a failed attempt, which moves them five times more.
func TestHugeMessagesBesideSmallOnes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("moves hundreds of megabytes")
	}
	const size = 50 << 20
	fails := os.Getenv("REDQ_SOAK") != ""
	tests := []struct {
		pattern queue.Pattern
		huge    int
	}{
		{queue.Pipeline, 1},
		{queue.BackupList, 1},
		{queue.ZsetScript, 2},
	}
	for _, tt := range tests {
		t.Run(string(tt.pattern), func(t *testing.T) {
			s := queuetest.Redis(t)
			c, _ := open(t, s, func(o *queue.Options) { o.Timeout = time.Minute }) // a busy machine takes seconds for each
			q := orders()
			small := numbered(0, 40)
			want := map[[32]byte]int{} // how often each is handled
			for _, p := range small {
				want[sha256.Sum256([]byte(p))] = 1
			}
			feedFor(t, c, q, tt.pattern, small[:20]...)
			for i := range tt.huge {
				p := noise(uint64(i), size)
				want[sha256.Sum256(p)] = 1
				if fails && tt.pattern != queue.BackupList {
					want[sha256.Sum256(p)] = 2
				}
				if tt.pattern == queue.ZsetScript {
					s.Client.ZAdd(t.Context(), q.Delayed, z(float64(time.Now().Add(-time.Second).UnixMilli()), string(p)))
				} else {
					s.Client.LPush(t.Context(), q.Ready, p)
				}
				feedFor(t, c, q, tt.pattern, small[20+10*i:30+10*i]...)
			}
			feedFor(t, c, q, tt.pattern, small[20+10*tt.huge:]...)

			var mu sync.Mutex
			seen := map[[32]byte]int{}
			var most uint64
			con := consumerOf(c, q, tt.pattern, func(_ context.Context, m queue.Message) error {
				sum := sha256.Sum256(m.Payload)
				var mem runtime.MemStats
				runtime.ReadMemStats(&mem)
				mu.Lock()
				defer mu.Unlock()
				most = max(most, mem.HeapAlloc)
				if seen[sum]++; seen[sum] < want[sum] {
					return errors.New("too large")
				}
				return nil
			})
			con.Idle, con.Retry = queue.Idle{}, queue.Retry{Limit: 2, Base: time.Millisecond}
			ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
			defer stop()
			con.Events = func(queue.Event) {
				if con.Stats().Done == int64(len(want)) {
					stop()
				}
			}
			if err := con.Run(ctx); err != nil {
				t.Fatalf("Run: %v, %+v", err, con.Stats())
			}
			if !maps.Equal(seen, want) {
				t.Errorf("of %d messages %d were handled with their very bytes: %+v", len(want), len(seen), con.Stats())
			}
			wantEverywhere(t, s)
			peak := peakMemory(t, s)
			t.Logf("peak: heap %d MB, server %d MB", most>>20, peak>>20)
			if most > 1<<30 || peak > 1<<30 {
				t.Error("that is more than a gigabyte")
			}
		})
	}
}

// peakMemory is the most that the server has used since it started.
func peakMemory(t *testing.T, s *queuetest.Server) (n int64) {
	t.Helper()
	for line := range strings.Lines(s.Client.Info(context.Background(), "memory").Val()) {
		_, _ = fmt.Sscanf(line, "used_memory_peak:%d", &n)
	}
	if n == 0 {
		t.Fatal("the server does not tell its memory")
	}
	return n
}

// 100,000 messages are due all at once: each is handled once, the earliest first.
func TestManyMessagesDueAtOnce(t *testing.T) {
	t.Parallel()
	total := 100_000
	if testing.Short() {
		total = 10_000
	}
	s := queuetest.Redis(t)
	for _, pattern := range []queue.Pattern{queue.Pipeline, queue.ZsetScript} {
		for _, concurrency := range []int{1, 10} {
			t.Run(fmt.Sprintf("%s %d", pattern, concurrency), func(t *testing.T) {
				s.Client.FlushDB(t.Context())
				c, q := reader(t, s.URL), orders()
				first := time.Now().Add(-time.Hour).UnixMilli()
				for from := 0; from < total; from += 1000 {
					pipe := s.Client.Pipeline()
					for i := from; i < from+1000; i++ {
						pipe.ZAdd(t.Context(), q.Delayed, z(float64(first+int64(i)), fmt.Sprint(i)))
					}
					if _, err := pipe.Exec(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				times := make([]int, total)
				var mu sync.Mutex
				handled, behind := 0, 0 // how far one came behind its turn at most
				con := consumerOf(c, q, pattern, func(_ context.Context, m queue.Message) error {
					var i int
					if _, err := fmt.Sscan(string(m.Payload), &i); err != nil {
						return err
					}
					mu.Lock()
					defer mu.Unlock()
					times[i]++
					behind = max(behind, handled-i, i-handled)
					handled++
					return nil
				})
				con.Idle, con.Concurrency, con.StopWhenEmpty = queue.Idle{}, concurrency, true
				if err := runConsumer(t, con); err != nil {
					t.Fatal(err)
				}
				wrong := 0
				for _, n := range times {
					if n != 1 {
						wrong++
					}
				}
				if wrong > 0 {
					t.Errorf("%d of %d messages were not handled exactly once", wrong, total)
				}
				wantEverywhere(t, s)
				t.Logf("at most %d places from its turn", behind)
				if concurrency == 1 && behind > total/10 {
					t.Errorf("one was handled %d places from its turn", behind)
				}
			})
		}
	}
}
