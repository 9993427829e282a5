package queue_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redq/queue"
	"redq/queue/queuetest"
)

// Adding many messages, in pieces of the same size, beside LPUSH and ZADD by hand. The two
// ways take turns with each piece, so that other work on the machine slows both; "of-raw" is how many
// messages EnqueueAll adds in the time of one by hand.
func BenchmarkEnqueueAll(b *testing.B) {
	const n = 100_000
	payloads := make([][]byte, n)
	for i := range payloads {
		payloads[i] = fmt.Appendf(nil, `{"id":"%032d","msg":"an order of about a hundred bytes, as they are"}`, i)
	}
	counted := queue.Named("orders")
	counted.Stats = counted.StatsKey()
	for _, bc := range []struct {
		name  string
		q     queue.Queue
		o     queue.EnqueueOptions
		piece int
	}{
		{"ready/100", queue.Named("orders"), queue.EnqueueOptions{}, 100},
		{"ready/1000", queue.Named("orders"), queue.EnqueueOptions{}, 1000},
		{"ready/10000", queue.Named("orders"), queue.EnqueueOptions{}, 10_000},
		{"counted/100", counted, queue.EnqueueOptions{}, 100},
		{"counted/1000", counted, queue.EnqueueOptions{}, 1000},
		{"delayed/100", queue.Named("orders"), queue.EnqueueOptions{In: time.Hour}, 100},
		{"delayed/1000", queue.Named("orders"), queue.EnqueueOptions{In: time.Hour}, 1000},
	} {
		b.Run(bc.name, func(b *testing.B) {
			s := queuetest.Redis(b)
			c := reader(b, s.URL)
			var ours, raw time.Duration
			timed := func(sum *time.Duration, add func() error) {
				start := time.Now()
				if err := add(); err != nil {
					b.Fatal(err)
				}
				*sum += time.Since(start)
			}
			for b.Loop() {
				if err := s.Client.FlushDB(b.Context()).Err(); err != nil {
					b.Fatal(err)
				}
				for from := 0; from < n; from += bc.piece {
					piece := payloads[from : from+bc.piece]
					timed(&ours, func() error {
						_, err := c.EnqueueAll(b.Context(), bc.q, piece, bc.o)
						return err
					})
					timed(&raw, func() error { return addRaw(b, s, piece, bc.o.In != 0) })
				}
			}
			b.ReportMetric(float64(n*b.N)/ours.Seconds(), "msgs/s")
			b.ReportMetric(raw.Seconds()/ours.Seconds(), "of-raw")
		})
	}
}

// addRaw adds messages by one command a thousand.
func addRaw(b *testing.B, s *queuetest.Server, payloads [][]byte, delayed bool) error {
	for from := 0; from < len(payloads); from += 1000 {
		piece := payloads[from:min(from+1000, len(payloads))]
		var err error
		if delayed {
			members := make([]redis.Z, len(piece))
			for i, p := range piece {
				members[i] = redis.Z{Score: 1764547200000, Member: p}
			}
			err = s.Client.ZAddNX(b.Context(), "raw:delayed", members...).Err()
		} else {
			values := make([]any, len(piece))
			for i, p := range piece {
				values[i] = p
			}
			err = s.Client.LPush(b.Context(), "raw", values...).Err()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
