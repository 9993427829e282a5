package queue_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redq/queue"
	"redq/queue/queuetest"
)

// many is how many messages the benchmarks of bulk operations work on: a million when
// REDQ_BENCH_LARGE=1.
func many() int {
	if os.Getenv("REDQ_BENCH_LARGE") == "1" {
		return 1_000_000
	}
	return 100_000
}

// layMany pushes so many messages of 200 bytes to the head of a list, those at the given
// distance from each other with another first byte.
func layMany(b *testing.B, s *queuetest.Server, key string, n, apart int) {
	b.Helper()
	if err := s.Client.FlushAll(b.Context()).Err(); err != nil {
		b.Fatal(err)
	}
	values := make([]any, 0, 1000)
	for i := range n {
		m := fmt.Sprintf("%0200d", i)
		if apart > 0 && i%apart == apart/2 {
			m = "x" + m[1:]
		}
		if values = append(values, m); len(values) == cap(values) || i == n-1 {
			if err := s.Client.LPush(b.Context(), key, values...).Err(); err != nil {
				b.Fatal(err)
			}
			values = values[:0]
		}
	}
}

// rawMove moves a batch from the tail of one list to the head of another and does nothing else.
var rawMove = redis.NewScript(`
local got = redis.call('LRANGE', KEYS[1], -ARGV[1], -1)
local n = #got
if n == 0 then return 0 end
for i = 1, math.floor(n / 2) do got[i], got[n + 1 - i] = got[n + 1 - i], got[i] end
redis.call('LPUSH', KEYS[2], unpack(got))
redis.call('LTRIM', KEYS[1], 0, -n - 1)
return n`)

// All of dead goes back to ready: with redq (the set fixed first, the journal written), with
// a bare script in batches of the same size, and with one LMOVE a round trip.
func BenchmarkBulkRedrive(b *testing.B) {
	n := many()
	s := queuetest.Redis(b)
	c, _ := open(b, s)
	q := queue.Named("q")
	ctx := context.Background()
	for b.Loop() {
		layMany(b, s, q.Dead, n, 0)
		start := time.Now()
		set, err := c.Select(ctx, q, queue.Dead, queue.SelectOptions{})
		if err != nil {
			b.Fatal(err)
		}
		selected := time.Since(start)
		if r, err := c.RunBulk(ctx, set, queue.Bulk{Op: queue.OpRedrive}); err != nil || r.Done != int64(n) {
			b.Fatal(r, err)
		}
		all := time.Since(start)

		layMany(b, s, q.Dead, n, 0)
		start = time.Now()
		for moved := 1; moved > 0; {
			if moved, err = rawMove.Run(ctx, s.Client, []string{q.Dead, q.Ready}, 1000).Int(); err != nil {
				b.Fatal(err)
			}
		}
		raw := time.Since(start)

		layMany(b, s, q.Dead, n/20, 0)
		start = time.Now()
		for range n / 20 {
			if err := s.Client.LMove(ctx, q.Dead, q.Ready, "right", "left").Err(); err != nil {
				b.Fatal(err)
			}
		}
		single := 20 * time.Since(start)

		b.ReportMetric(float64(n)/all.Seconds(), "msg/s")
		b.ReportMetric(float64(n)/(all-selected).Seconds(), "msg/s-once-fixed")
		b.ReportMetric(raw.Seconds()/all.Seconds(), "of-raw")
		b.ReportMetric(raw.Seconds()/(all-selected).Seconds(), "of-raw-once-fixed")
		b.ReportMetric(single.Seconds()/all.Seconds(), "times-lmove")
		b.ReportMetric(peakMB(b), "peak-MB")
		b.ReportMetric(0, "ns/op")
	}
}

// A thousand messages from all over a long list are deleted, while another client asks for
// a PING again and again.
func BenchmarkBulkDeleteScattered(b *testing.B) {
	n := many()
	s := queuetest.Redis(b)
	c, _ := open(b, s)
	q := queue.Named("q")
	for b.Loop() {
		layMany(b, s, q.Dead, n, n/1000)
		worst := pinging(b, s)
		start := time.Now()
		set, err := c.Select(b.Context(), q, queue.Dead, queue.SelectOptions{
			Match: func(m queue.Message) (bool, error) { return m.Payload[0] == 'x', nil },
		})
		if err != nil || set.Count != 1000 {
			b.Fatal(set, err)
		}
		selected := time.Since(start)
		r, err := c.RunBulk(b.Context(), set, queue.Bulk{Op: queue.OpDelete})
		if err != nil || r.Done != 1000 {
			b.Fatal(r, err)
		}
		b.ReportMetric(time.Since(start).Seconds(), "s")
		b.ReportMetric((time.Since(start) - selected).Seconds(), "s-once-fixed")
		p99, most := worst()
		b.ReportMetric(most.Seconds()*1000, "worst-ping-ms")
		b.ReportMetric(p99.Seconds()*1000, "p99-ping-ms")
		b.ReportMetric(0, "ns/op")
	}
}

// pinging measures how long others wait for the server until the result is asked for.
func pinging(b *testing.B, s *queuetest.Server) func() (p99, worst time.Duration) {
	ctx, stop := context.WithCancel(b.Context())
	var asking sync.WaitGroup
	var took []time.Duration
	asking.Go(func() {
		runtime.LockOSThread()
		for ctx.Err() == nil {
			start := time.Now()
			if s.Client.Ping(context.Background()).Err() == nil {
				took = append(took, time.Since(start))
			}
			time.Sleep(200 * time.Microsecond)
		}
	})
	return func() (p99, worst time.Duration) {
		stop()
		asking.Wait()
		slices.Sort(took)
		return took[len(took)*99/100], took[len(took)-1]
	}
}

// A sorted set is purged, its messages written to the journal, while another client asks
// for a PING again and again.
func BenchmarkPurge(b *testing.B) {
	n := 5 * many()
	s := queuetest.Redis(b)
	c, _ := open(b, s)
	q := queue.Named("q")
	for b.Loop() {
		members := make([]redis.Z, 0, 1000)
		for i := range n {
			if members = append(members, redis.Z{Score: float64(i), Member: fmt.Sprintf("%0100d", i)}); len(members) == cap(members) {
				s.Client.ZAdd(b.Context(), q.Delayed, members...)
				members = members[:0]
			}
		}
		worst := pinging(b, s)
		start := time.Now()
		p, err := c.Purge(b.Context(), q, queue.Delayed, nil)
		if err != nil || p.Freed != int64(n) {
			b.Fatal(p, err)
		}
		b.ReportMetric(float64(n)/time.Since(start).Seconds(), "msg/s")
		p99, most := worst()
		b.ReportMetric(most.Seconds()*1000, "worst-ping-ms")
		b.ReportMetric(p99.Seconds()*1000, "p99-ping-ms")
		b.ReportMetric(peakMB(b), "peak-MB")
		b.ReportMetric(0, "ns/op")
	}
}

// peakMB is the most memory that this process has had so far.
func peakMB(b *testing.B) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip(err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kb, err := strconv.Atoi(strings.Fields(after)[0])
	if err != nil {
		b.Fatal(err)
	}
	return float64(kb) / 1024
}
