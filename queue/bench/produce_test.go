package bench

import (
	"slices"
	"testing"

	"redq/queue"
)

// Many messages are added at once; piece is how many EnqueueAll sends in a round trip.
func BenchmarkEnqueue(b *testing.B) {
	const n, piece = 300_000, 1_000
	r := newRig(b)
	all := messages(n)
	// in is a way that sends all in pieces, and finds them in a key.
	in := func(name, key string, send func() error) way {
		return way{name: name, n: n, run: func(int) func() {
			r.must(send())
			return func() {
				if length := r.server.Client.LLen(r.Context(), key).Val(); length != n {
					r.Fatalf("%s: %d messages are there", name, length)
				}
			}
		}}
	}
	r.race(
		in("redq-EnqueueAll", r.queue.Ready, func() error {
			_, err := r.client.EnqueueAll(r.Context(), r.queue, all, queue.EnqueueOptions{})
			return err
		}),
		in("LPUSH", "ready", func() error {
			values := make([]any, piece)
			for chunk := range slices.Chunk(all, piece) {
				for i, m := range chunk {
					values[i] = m
				}
				if err := r.server.Client.LPush(r.Context(), "ready", values...).Err(); err != nil {
					return err
				}
			}
			return nil
		}),
		in("rmq", "rmq::queue::[orders]::ready", func() error {
			q := r.rmqQueue()
			for chunk := range slices.Chunk(all, piece) {
				if err := q.PublishBytes(chunk...); err != nil {
					return err
				}
			}
			return nil
		}),
		way{name: "asynq-10-clients", n: 10_000, run: func(n int) func() {
			r.asynqEnqueue(n)
			return func() {}
		}},
	)
}
