package transfer_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/queuetest"
	"redq/queue/transfer"
)

// many is how many messages of 200 bytes the benchmarks work on: a million when
// REDQ_BENCH_LARGE=1.
func many() int {
	if os.Getenv("REDQ_BENCH_LARGE") == "1" {
		return 1_000_000
	}
	return 100_000
}

// message is like those of real queues: JSON, so that every fifth byte is escaped.
func message(i int) string {
	return fmt.Sprintf(`{"id":%012d,"type":"order.created","to":"a%d@example.com","note":"%0128d"}`, i, i%100, i)[:200]
}

// rawPush adds messages with nothing but variadic RPUSH, a thousand a round trip.
func rawPush(b *testing.B, s *queuetest.Server, key string, n int) {
	b.Helper()
	values := make([]any, 0, 1000)
	for i := range n {
		if values = append(values, message(i)); len(values) == cap(values) || i == n-1 {
			if err := s.Client.RPush(b.Context(), key, values...).Err(); err != nil {
				b.Fatal(err)
			}
			values = values[:0]
		}
	}
}

// All of dead goes to a file and comes back; beside it the same by nothing but LRANGE in
// pages, written to a file without a thought, and variadic RPUSH.
func BenchmarkTransfer(b *testing.B) {
	n := many()
	s := queuetest.Redis(b)
	c := open(b, s.URL)
	q := queue.Named("q")
	path := filepath.Join(b.TempDir(), "file.jsonl")
	for b.Loop() {
		s.Client.FlushAll(b.Context())
		start := time.Now()
		rawPush(b, s, q.Dead, n)
		pushing := time.Since(start)

		start = time.Now()
		out, err := os.Create(path)
		if err != nil {
			b.Fatal(err)
		}
		lines := bufio.NewWriter(out)
		for at := 0; at < n; at += 1000 {
			page, err := s.Client.LRange(b.Context(), q.Dead, int64(at), int64(at+999)).Result()
			if err != nil {
				b.Fatal(err)
			}
			for _, m := range page {
				lines.WriteString(m)
				lines.WriteByte('\n')
			}
		}
		lines.Flush()
		out.Close()
		reading := time.Since(start)

		ping := pinging(b, s)
		start = time.Now()
		if out, err = os.Create(path); err != nil {
			b.Fatal(err)
		}
		r, err := transfer.Export(b.Context(), c, q, transfer.Options{}, out)
		if err != nil || r.Written.Sum() != int64(n) {
			b.Fatal(r, err)
		}
		out.Close()
		exporting := time.Since(start)
		b.ReportMetric(ping().Seconds()*1000, "export-worst-ping-ms")

		s.Client.FlushAll(b.Context())
		in, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		start = time.Now()
		if _, err := transfer.Look(b.Context(), c, q, in, transfer.PreviewOptions{}); err != nil {
			b.Fatal(err)
		}
		looking := time.Since(start)
		if _, err := in.Seek(0, 0); err != nil {
			b.Fatal(err)
		}
		ping = pinging(b, s)
		start = time.Now()
		done, err := transfer.Import(b.Context(), c, q, in, transfer.ImportOptions{})
		if err != nil || done.Added.Sum() != int64(n) {
			b.Fatal(done, err)
		}
		importing := time.Since(start)
		in.Close()
		b.ReportMetric(ping().Seconds()*1000, "import-worst-ping-ms")

		b.ReportMetric(float64(n)/exporting.Seconds(), "export-msg/s")
		b.ReportMetric(float64(n)/importing.Seconds(), "import-msg/s")
		b.ReportMetric(float64(n)/looking.Seconds(), "look-msg/s")
		b.ReportMetric(reading.Seconds()/exporting.Seconds(), "export-of-raw")
		b.ReportMetric(pushing.Seconds()/importing.Seconds(), "import-of-raw")
		b.ReportMetric(peakMB(b), "peak-MB")
		b.ReportMetric(0, "ns/op")
	}
}

// pinging has another client ask for a PING again and again, and returns what ends that and
// tells the longest time it took.
func pinging(b *testing.B, s *queuetest.Server) func() time.Duration {
	b.Helper()
	ctx, stop := context.WithCancel(b.Context())
	worst := make(chan time.Duration)
	go func() {
		var most time.Duration
		for ctx.Err() == nil {
			start := time.Now()
			if s.Client.Ping(ctx).Err() == nil {
				most = max(most, time.Since(start))
			}
			time.Sleep(time.Millisecond)
		}
		worst <- most
	}()
	return func() time.Duration {
		stop()
		return <-worst
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
