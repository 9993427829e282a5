package bench

import (
	"context"
	"errors"
	"sync"
	"time"

	"redq/queue"
)

func noop(context.Context, queue.Message) error { return nil }

// consume runs a consumer until it has settled n messages.
func (r *rig) consume(c *queue.Consumer, n int) {
	c.Client, c.Queue, c.Handler, c.Max = r.client, r.queue, noop, int64(n)
	r.must(c.Run(r.Context()))
	if s := c.Stats(); s.Done != int64(n) {
		r.Fatalf("%d of %d messages are done: %+v", s.Done, n, s)
	}
}

// consumer is a way that works through ready with a consumer made anew for each turn.
// Its start and its stop are within the time.
func (r *rig) consumer(name string, n int, create func() *queue.Consumer) way {
	return way{
		name: name, n: n,
		lay: func(n int) { r.fill(r.queue.Ready, n) },
		run: func(n int) func() {
			c := create()
			r.consume(c, n)
			return func() { r.empty(r.queue.Ready, r.queue.BackupKey(c.Stats().ID)) }
		},
	}
}

// empty checks that nothing was left behind.
func (r *rig) empty(keys ...string) {
	left, err := r.server.Client.Exists(r.Context(), keys...).Result()
	r.must(err)
	if left != 0 {
		r.Fatalf("messages are left in %v", keys)
	}
}

// background runs a consumer until the returned function is called.
func (r *rig) background(c *queue.Consumer) (stop func()) {
	c.Client, c.Queue = r.client, r.queue
	ctx, cancel := context.WithCancel(r.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := c.Run(ctx); err != nil && !errors.Is(err, queue.ErrAbandoned) {
			r.Error(err)
		}
	})
	return sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
}

// until waits for a state of the consumer or of the server that is sure to come.
func (r *rig) until(reached func() bool) {
	const generous = time.Minute
	for deadline := time.Now().Add(generous); !reached(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			r.Fatal("it does not come about")
		}
	}
}
