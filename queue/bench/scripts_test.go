package bench

import (
	"os"

	"github.com/redis/go-redis/v9"
)

// script reads one of redq's own scripts, with what goes in front of it, to run it in a bare loop.
func (r *rig) script(parts ...string) *redis.Script {
	var src string
	for _, name := range parts {
		text, err := os.ReadFile("../scripts/" + name + ".lua")
		r.must(err)
		src += string(text)
	}
	return redis.NewScript(src)
}

// Bounds that the scripts take and that these messages never reach.
const (
	manyBytes   = 1 << 20
	lowestScore = 1e11 // in milliseconds, and still a time
)

// stepLoop takes and acknowledges batches with the consumer's script and nothing around it.
func (r *rig) stepLoop(batch, n int) way {
	step := r.script("step")
	return way{
		name: "bare-script", n: n,
		lay: func(n int) { r.fill("ready", n) },
		run: func(n int) func() {
			var hand []any
			for acked := 0; acked < n; {
				args := append([]any{"right", batch, manyBytes, -1, len(hand), 1, acked}, hand...)
				reply, err := step.Run(r.Context(), r.server.Client, []string{"ready", "backup", "meta", "stamps"}, args...).Slice()
				r.must(err)
				acked += len(hand)
				hand = reply[2].([]any)
			}
			return func() { r.empty("ready", "backup") }
		},
	}
}

// promoteLoop moves due messages with the promoter's script and nothing around it.
func (r *rig) promoteLoop(batch, n int) way {
	promote := r.script("due", "promote")
	return way{
		name: "bare-script", n: n,
		lay: func(n int) { r.fillDue("delayed", n) },
		run: func(n int) func() {
			for moved := 0; moved < n; {
				reply, err := promote.Run(r.Context(), r.server.Client, []string{"delayed", "ready", "meta"},
					batch, manyBytes, "ms", int64(lowestScore), "left").Slice()
				r.must(err)
				moved += len(reply[1].([]any)) / 2
			}
			return func() { r.empty("delayed") }
		},
	}
}
