package bench

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"redq/queue"
)

// send gives away a message that is due at an instant.
type send func(m []byte, due time.Time) error

// delivery is one way to bring a message to a handler.
type delivery struct {
	name string
	// start makes ready on a server of its own; each message that comes out goes to arrived.
	start      func(r *rig, arrived func(payload []byte)) (send send, stop func())
	neverEarly bool // whether it promises not to be early
}

// deliver sends n messages each way and reports how long after their due time they
// arrive. The ways take turns with every message, 5 ms apart, so that the load is low
// and what disturbs one disturbs the others. The servers run on this host: their clock is time.Now's.
func deliver(b *testing.B, n int, due func() time.Time, ways ...delivery) {
	watches, sends := make([]*stopwatch, len(ways)), make([]send, len(ways))
	for i, w := range ways {
		watches[i] = newStopwatch(n)
		send, stop := w.start(newRig(b), watches[i].arrived)
		defer stop()
		sends[i] = send
	}
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	for m := range n {
		for i := range ways {
			<-pace.C
			at := due()
			watches[i].start(m, at)
			if err := sends[i](message(m), at); err != nil {
				b.Fatal(err)
			}
		}
	}
	r := &rig{B: b}
	redq := watches[0].times()
	for i, w := range ways {
		took := watches[i].times()
		if w.neverEarly && took.at(0) < 0 {
			b.Fatalf("%s delivered %v ms early", w.name, -took.at(0))
		}
		r.report(w.name, row{"ms-min": took.at(0), "ms-p50": took.at(50), "ms-p99": took.at(99),
			"p50-redq/this": redq.at(50) / took.at(50), "p99-redq/this": redq.at(99) / took.at(99)})
	}
}

// deliverTo runs a consumer on the rig that hands what it takes to arrived.
func (r *rig) deliverTo(c *queue.Consumer, arrived func([]byte)) (stop func()) {
	c.Handler = func(_ context.Context, m queue.Message) error {
		arrived(m.Payload)
		return nil
	}
	return r.background(c)
}

// stopwatch times n messages, each from an instant of its own until it arrives.
type stopwatch struct {
	mu   sync.Mutex
	from []time.Time
	took times
	one  func()
	all  <-chan struct{} // closes when all have arrived
}

func newStopwatch(n int) *stopwatch {
	w := &stopwatch{from: make([]time.Time, n)}
	w.one, w.all = countdown(n)
	return w
}

func (w *stopwatch) start(i int, from time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.from[i] = from
}

func (w *stopwatch) arrived(payload []byte) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.took = append(w.took, now.Sub(w.from[numberOf(payload)]))
	w.one()
}

// times waits for all messages and returns what they took, shortest first.
func (w *stopwatch) times() times {
	<-w.all
	slices.Sort(w.took)
	return w.took
}

type times []time.Duration

// at returns a percentile in milliseconds.
func (t times) at(percent int) float64 {
	return float64(t[(len(t)-1)*percent/100].Microseconds()) / 1000
}

// From Enqueue until the handler starts, on a queue that is empty otherwise.
func BenchmarkLatency(b *testing.B) {
	redq := func(name string, c *queue.Consumer) delivery {
		return delivery{name: name, start: func(r *rig, arrived func([]byte)) (send, func()) {
			return func(m []byte, _ time.Time) error {
				_, err := r.client.Enqueue(r.Context(), r.queue, m, queue.EnqueueOptions{})
				return err
			}, r.deliverTo(c, arrived)
		}}
	}
	deliver(b, 400, time.Now,
		redq("redq-pipeline", &queue.Consumer{Pattern: queue.Pipeline}),
		redq("redq-list-block", &queue.Consumer{Pattern: queue.ListBlock}),
		delivery{name: "BLMOVE", start: func(r *rig, arrived func([]byte)) (send, func()) {
			return func(m []byte, _ time.Time) error {
				return r.server.Client.LPush(r.Context(), "ready", m).Err()
			}, r.blockingPop(arrived)
		}},
		delivery{name: "asynq", start: func(r *rig, arrived func([]byte)) (send, func()) {
			client := r.asynqClient()
			return func(m []byte, _ time.Time) error {
				_, err := client.EnqueueContext(r.Context(), asynq.NewTask("order", m))
				return err
			}, r.asynqServer(10, arrived)
		}},
	)
}
