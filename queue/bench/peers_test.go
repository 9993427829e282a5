package bench

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/adjust/rmq/v5"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// fill pushes n messages to a list.
func (r *rig) fill(key string, n int) {
	const piece = 1000
	values := make([]any, 0, piece)
	for i := range n {
		if values = append(values, message(i)); len(values) == piece || i == n-1 {
			r.must(r.server.Client.LPush(r.Context(), key, values...).Err())
			values = values[:0]
		}
	}
}

// workers runs do n times in all from so many goroutines.
func (r *rig) workers(workers, n int, do func(i int) error) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					r.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// byHand is the reliable list of the books: BLMOVE into a backup list, LREM when done.
func (r *rig) byHand(workers, n int) way {
	return way{
		name: "BLMOVE+LREM", n: n,
		lay: func(n int) { r.fill("ready", n) },
		run: func(n int) func() {
			r.workers(workers, n, func(int) error {
				m, err := r.server.Client.BLMove(r.Context(), "ready", "backup", "RIGHT", "LEFT", time.Second).Result()
				if err != nil {
					return err
				}
				return r.server.Client.LRem(r.Context(), "backup", 1, m).Err()
			})
			return func() { r.empty("ready", "backup") }
		},
	}
}

// blockingPop is one worker that takes with BLMOVE, hands on, and acknowledges with LREM.
func (r *rig) blockingPop(arrived func(payload []byte)) (stop func()) {
	var stopping atomic.Bool
	var worker sync.WaitGroup
	worker.Go(func() {
		for !stopping.Load() {
			m, err := r.server.Client.BLMove(r.Context(), "ready", "backup", "RIGHT", "LEFT", time.Second).Result()
			switch {
			case err == nil:
				arrived([]byte(m))
				err = r.server.Client.LRem(r.Context(), "backup", 1, m).Err()
			case errors.Is(err, redis.Nil):
				err = nil // nothing within the second
			}
			if err != nil {
				r.Error(err)
				return
			}
		}
	})
	return func() {
		stopping.Store(true)
		worker.Wait()
	}
}

func (r *rig) asynqClient() *asynq.Client {
	return asynq.NewClientFromRedisClient(r.server.Client)
}

// asynqServer starts asynq with its defaults and returns what stops it.
func (r *rig) asynqServer(workers int, arrived func(payload []byte)) (stop func()) {
	server := asynq.NewServer(asynq.RedisClientOpt{Addr: r.server.Addr},
		asynq.Config{Concurrency: workers, LogLevel: asynq.FatalLevel})
	r.must(server.Start(asynq.HandlerFunc(func(_ context.Context, t *asynq.Task) error {
		arrived(t.Payload())
		return nil
	})))
	return server.Shutdown
}

func (r *rig) asynqEnqueue(n int) {
	client := r.asynqClient()
	r.workers(10, n, func(i int) error {
		_, err := client.EnqueueContext(r.Context(), asynq.NewTask("order", message(i)))
		return err
	})
}

// asynq handles messages with asynq's server.
func (r *rig) asynq(workers, n int) way {
	return way{
		name: "asynq", n: n,
		lay: r.asynqEnqueue,
		run: func(n int) func() {
			one, all := countdown(n)
			stop := r.asynqServer(workers, func([]byte) { one() })
			<-all
			return stop
		},
	}
}

func (r *rig) rmqQueue() rmq.Queue {
	connection, err := rmq.OpenConnectionWithRedisClient("bench", r.server.Client, nil)
	r.must(err)
	q, err := connection.OpenQueue("orders")
	r.must(err)
	return q
}

// rmq handles messages with rmq as its authors tune it: a long prefetch, a quick poll.
func (r *rig) rmq(workers, n int) way {
	var q rmq.Queue
	return way{
		name: "rmq", n: n,
		lay: func(n int) {
			q = r.rmqQueue()
			r.must(q.PublishBytes(messages(n)...))
		},
		run: func(n int) func() {
			one, all := countdown(n)
			r.must(q.StartConsuming(10_000, 10*time.Millisecond))
			for range workers {
				_, err := q.AddConsumerFunc("worker", func(d rmq.Delivery) {
					if err := d.Ack(); err != nil {
						r.Error(err)
					}
					one()
				})
				r.must(err)
			}
			<-all
			return func() { <-q.StopConsuming() }
		},
	}
}
