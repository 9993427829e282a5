package queue_test

import (
	"fmt"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/queuetest"
)

// reportCPU adds what a run cost the server.
func reportCPU(b *testing.B, before, after time.Duration) {
	b.Helper()
	b.ReportMetric(float64((after-before).Microseconds())/float64(b.N), "server-µs/op")
}

func BenchmarkPoll1000Queues(b *testing.B) {
	s := queuetest.Redis(b)
	var qs []queue.Queue
	for i := range 1000 {
		q := queue.Queue{Name: fmt.Sprint(i), Ready: fmt.Sprintf("q%d", i)}
		rpush(b, s, q.Ready, "x")
		if i%4 == 0 {
			q.Backups = []string{q.Ready + ":backup"}
			rpush(b, s, q.Backups[0], numbered(0, 20)...)
		}
		qs = append(qs, q)
	}
	c := reader(b, s.URL)
	sampler := c.NewSampler()
	if _, err := sampler.Sample(b.Context(), qs); err != nil {
		b.Fatal(err)
	}
	before := serverCPU(b, s)
	b.ResetTimer()
	for b.Loop() {
		if p, err := sampler.Sample(b.Context(), qs); err != nil || p.Samples[0].Ready.N != 1 {
			b.Fatal(err)
		}
	}
	reportCPU(b, before, serverCPU(b, s))
}

// The lengths alone, in one pipeline and one by one, to compare with.
func BenchmarkLengths1000(b *testing.B) {
	s := queuetest.Redis(b)
	for i := range 1000 {
		rpush(b, s, fmt.Sprintf("q%d", i), "x")
	}
	b.Run("pipeline", func(b *testing.B) {
		before := serverCPU(b, s)
		for b.Loop() {
			pipe := s.Client.Pipeline()
			for i := range 1000 {
				pipe.LLen(b.Context(), fmt.Sprintf("q%d", i))
			}
			if _, err := pipe.Exec(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		reportCPU(b, before, serverCPU(b, s))
	})
	b.Run("one by one", func(b *testing.B) {
		before := serverCPU(b, s)
		for b.Loop() {
			for i := range 1000 {
				if err := s.Client.LLen(b.Context(), fmt.Sprintf("q%d", i)).Err(); err != nil {
					b.Fatal(err)
				}
			}
		}
		reportCPU(b, before, serverCPU(b, s))
	})
}

func BenchmarkPage(b *testing.B) {
	for _, n := range large() {
		s := queuetest.Redis(b)
		payload := make([]any, 1000)
		for i := range payload {
			payload[i] = fmt.Sprintf(`{"id":"%032d","msg":"an order of about a hundred bytes, as they are"}`, i)
		}
		for range n / len(payload) {
			if err := s.Client.RPush(b.Context(), "orders", payload...).Err(); err != nil {
				b.Fatal(err)
			}
		}
		c := reader(b, s.URL)
		for name, from := range map[string]int64{"head": 0, "middle": int64(n) / 2, "tail": int64(n) - 50} {
			b.Run(fmt.Sprintf("of=%d/%s", n, name), func(b *testing.B) {
				before := serverCPU(b, s)
				for b.Loop() {
					if p, err := c.Peek(b.Context(), queue.Named("orders"), queue.Ready, from, 50); err != nil || len(p.Messages) != 50 {
						b.Fatal(err)
					}
				}
				reportCPU(b, before, serverCPU(b, s))
			})
		}
	}
}

func BenchmarkOpenAndFirstPoll(b *testing.B) {
	s := queuetest.Redis(b)
	rpush(b, s, "orders", "x")
	for b.Loop() {
		c, err := queue.Open(b.Context(), queue.Options{URL: s.URL})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := c.NewSampler().Sample(b.Context(), []queue.Queue{queue.Named("orders")}); err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
}
