package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"redq/queue"
)

// fillDue adds n messages that are due since a while to a sorted set.
func (r *rig) fillDue(key string, n int) {
	const piece = 1000
	since := time.Now().Add(-time.Hour).UnixMilli()
	entries := make([]redis.Z, 0, piece)
	for i := range n {
		entries = append(entries, redis.Z{Score: float64(since + int64(i/100)), Member: message(i)})
		if len(entries) == piece || i == n-1 {
			r.must(r.server.Client.ZAdd(r.Context(), key, entries...).Err())
			entries = entries[:0]
		}
	}
}

// Due messages are moved to ready while the one worker is busy, so that nothing else is measured.
func BenchmarkPromote(b *testing.B) {
	r := newRig(b)
	busy := func(ctx context.Context, _ queue.Message) error {
		<-ctx.Done()
		return ctx.Err()
	}
	r.race(
		way{
			name: "redq", n: 200_000,
			lay: func(n int) { r.fillDue(r.queue.Delayed, n) },
			run: func(n int) func() {
				c := &queue.Consumer{Pattern: queue.Pipeline, Concurrency: 1, Handler: busy}
				stop := r.background(c)
				r.until(func() bool { return c.Stats().Promoted == int64(n) })
				return func() {
					c.Abandon()
					stop()
				}
			},
		},
		r.promoteLoop(500, 200_000),
	)
}

// How often a worker of a sorted set finds that another one was faster, a message.
func BenchmarkWaste(b *testing.B) {
	for _, p := range []queue.Pattern{queue.ZsetRace, queue.ZsetScript} {
		for _, workers := range []int{1, 4, 16} {
			const n = 5_000
			r := newRig(b)
			r.fillDue(r.queue.Delayed, n)
			c := &queue.Consumer{Pattern: p, Concurrency: workers}
			start := time.Now()
			r.consume(c, n)
			r.report(fmt.Sprintf("%s-%d-workers", p, workers), row{
				"wasted-takes/msg": float64(c.Stats().Wasted) / n, "msg/s": n / time.Since(start).Seconds()})
		}
	}
}

// Messages become due one by one over ten seconds; each is scheduled up to a second
// before, so that many are due before what the consumer sleeps for.
func BenchmarkLateness(b *testing.B) {
	soon := func() time.Time {
		return time.UnixMilli(time.Now().UnixMilli() + 10 + rand.Int64N(1000))
	}
	redq := func(name string, c *queue.Consumer) delivery {
		return delivery{name: name, neverEarly: true, start: func(r *rig, arrived func([]byte)) (send, func()) {
			return func(m []byte, due time.Time) error {
				_, err := r.client.Schedule(r.Context(), r.queue, m, due)
				return err
			}, r.deliverTo(c, arrived)
		}}
	}
	deliver(b, 500, soon,
		redq("redq-pipeline", &queue.Consumer{Pattern: queue.Pipeline}),
		redq("redq-zset-script", &queue.Consumer{Pattern: queue.ZsetScript}),
		redq("redq-zset-race-500ms", &queue.Consumer{Pattern: queue.ZsetRace, Concurrency: 1, Idle: queue.Idle{Sleep: 500 * time.Millisecond}}),
		delivery{name: "asynq", start: func(r *rig, arrived func([]byte)) (send, func()) {
			client := r.asynqClient()
			return func(m []byte, due time.Time) error {
				_, err := client.EnqueueContext(r.Context(), asynq.NewTask("order", m), asynq.ProcessAt(due))
				return err
			}, r.asynqServer(10, arrived)
		}},
	)
}
