package bench

import (
	"testing"
	"time"

	"redq/queue"
)

// How many commands a consumer that has had nothing to do for a while sends the server.
func BenchmarkIdle(b *testing.B) {
	const settle, span = 35 * time.Second, 10 * time.Second
	names := []string{"asynq"}
	asynq := newRig(b)
	b.Cleanup(asynq.asynqServer(10, func([]byte) {}))
	rigs := []*rig{asynq}
	for _, p := range []queue.Pattern{queue.Pipeline, queue.BackupList, queue.ListBlock, queue.ZsetScript} {
		r := newRig(b)
		b.Cleanup(r.background(&queue.Consumer{Pattern: p, Handler: noop}))
		names, rigs = append(names, "redq-"+string(p)), append(rigs, r)
	}
	time.Sleep(settle)
	before := make([]float64, len(rigs))
	for i, r := range rigs {
		before[i] = r.info("total_commands_processed")
	}
	time.Sleep(span)
	for i, r := range rigs {
		sent := r.info("total_commands_processed") - before[i] - 1 // the INFO of before
		r.report(names[i], row{"commands/s": sent / span.Seconds()})
	}
}
