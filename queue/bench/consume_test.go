package bench

import (
	"fmt"
	"testing"

	"redq/queue"
)

// Messages are taken into backup, handled by ten workers and acknowledged one by one.
func BenchmarkReliable(b *testing.B) {
	r := newRig(b)
	r.race(
		r.consumer("redq", 1_000_000, func() *queue.Consumer { return &queue.Consumer{Pattern: queue.Pipeline} }),
		r.stepLoop(200, 1_000_000),
		r.asynq(10, 30_000),
		r.rmq(10, 50_000),
	)
}

// The same without batches: a message is taken when the one before is handled.
func BenchmarkOneAtATime(b *testing.B) {
	const n = 10_000
	for _, workers := range []int{1, 10} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			one := func(p queue.Pattern) func() *queue.Consumer {
				return func() *queue.Consumer { return &queue.Consumer{Pattern: p, Batch: 1, Concurrency: workers} }
			}
			r := newRig(b)
			r.race(
				r.consumer("redq-pipeline", n, one(queue.Pipeline)),
				r.consumer("redq-backup-list", n, one(queue.BackupList)),
				r.byHand(workers, n),
				r.stepLoop(1, n),
			)
		})
	}
}

// Messages that others left in a shared backup list must not slow the acknowledgements.
func BenchmarkParked(b *testing.B) {
	const n, parked = 20_000, 100_000
	r := newRig(b)
	shared := func() *queue.Consumer { return &queue.Consumer{Pattern: queue.BackupList} }
	clean := r.consumer("beside-none", n, shared)
	beside := r.consumer("beside-100k", n, shared)
	beside.lay = func(n int) {
		r.fill(r.queue.Backups[0], parked)
		clean.lay(n)
	}
	r.race(beside, clean)
}
