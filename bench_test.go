package main_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"redq/queue/queuetest"
	"redq/ui/uitest"
)

// BenchmarkFirstFrame measures from the start of the process to the first frame
// that shows a queue's numbers, in a terminal that answers at once.
func BenchmarkFirstFrame(b *testing.B) {
	b.Run("seeds", func(b *testing.B) {
		s := queuetest.Redis(b)
		queuetest.Seed(b, s)
		firstFrame(b, s, queueASeeded)
	})
	b.Run("1000-queues", func(b *testing.B) {
		s := queuetest.Redis(b)
		lay(b, s, 1000)
		firstFrame(b, s, `q-\d+ +3 +2\b`)
	})
}

func firstFrame(b *testing.B, s *queuetest.Server, data string) {
	var took []time.Duration
	var cpu time.Duration // tells more than the time when the machine is busy
	for b.Loop() {
		term := open(b, s, uitest.Options{W: 120, H: 40})
		term.WaitMatch(data)
		took = append(took, term.Age())
		cpu += usage(b, term).CPU
		term.Close()
	}
	b.ReportMetric(float64(cpu.Microseconds())/1000/float64(len(took)), "ms-cpu")
	slices.Sort(took)
	at := func(share int) float64 { return float64(took[len(took)*share/100].Microseconds()) / 1000 }
	b.ReportMetric(at(50), "ms-median")
	b.ReportMetric(at(95), "ms-p95")
}

// lay fills a server with queues of three ready messages and two in backup.
func lay(b *testing.B, s *queuetest.Server, n int) {
	b.Helper()
	pipe := s.Client.Pipeline()
	for i := range n {
		pipe.RPush(b.Context(), fmt.Sprintf("q-%04d", i), "1", "2", "3")
		pipe.RPush(b.Context(), fmt.Sprintf("q-%04d:backup", i), "1", "2")
	}
	if _, err := pipe.Exec(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkIdle measures what a dashboard costs that nobody touches, at its
// usual refresh of a second. One operation is five seconds.
func BenchmarkIdle(b *testing.B) {
	for _, queues := range []int{8, 1000} {
		b.Run(fmt.Sprintf("%d-queues", queues), func(b *testing.B) {
			s := queuetest.Redis(b)
			lay(b, s, queues)
			term := open(b, s, uitest.Options{W: 120, H: 40})
			term.WaitMatch(`q-\d+ +3 +2\b`)
			time.Sleep(2 * time.Second) // the scan is over by then
			idle(b, term)
		})
	}
}

func idle(b *testing.B, term *uitest.Term) {
	const span = 5 * time.Second
	var cpu, over time.Duration
	var most int64
	for b.Loop() {
		before := usage(b, term)
		start := time.Now()
		time.Sleep(span)
		after := usage(b, term)
		cpu, over = cpu+after.CPU-before.CPU, over+time.Since(start)
		most = max(most, after.Resident)
	}
	b.ReportMetric(100*cpu.Seconds()/over.Seconds(), "%cpu")
	b.ReportMetric(float64(most)/(1<<20), "MB-resident")
}

func usage(b *testing.B, term *uitest.Term) uitest.Usage {
	b.Helper()
	u, err := term.Usage()
	if err != nil {
		b.Skip(err)
	}
	return u
}

// BenchmarkLarge measures memory while somebody walks through a list of five
// million messages. It needs a gigabyte for the server: REDQ_BENCH_LARGE=1 runs it.
func BenchmarkLarge(b *testing.B) {
	if os.Getenv("REDQ_BENCH_LARGE") == "" {
		b.Skip("set REDQ_BENCH_LARGE=1 to run it")
	}
	const entries, piece = 5_000_000, 1000
	s := queuetest.Redis(b)
	ctx := context.Background()
	values := make([]any, piece)
	for i := 0; i < entries; i += piece {
		for j := range values {
			values[j] = fmt.Sprintf(`{"order":%d,"step":"pay"}`, i+j)
		}
		if err := s.Client.RPush(ctx, "large", values...).Err(); err != nil {
			b.Fatal(err)
		}
	}
	term := open(b, s, uitest.Options{W: 120, H: 40})
	term.WaitMatch(`large +5(?:,000,000|\.0?M|M)`)
	term.Press("enter")
	term.WaitFor(`"order":0,`)
	term.Press("G")
	term.WaitFor(`"order":4999999`)
	for range 50 {
		term.Press("pgup")
	}
	term.Press("g")
	term.WaitFor(`"order":0,`)
	term.Settle()
	idle(b, term)
}
