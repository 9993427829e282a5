package cli

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"redq/model/when"
	"redq/queue"
)

// bulkFlags are those of operations on many messages.
type bulkFlags struct {
	rate        float64 // messages a second; 0: full speed
	pauseOnDead int64   // 0: never
}

func (f *bulkFlags) define(cmd *cobra.Command) {
	cmd.Flags().Var(&rateFlag{&f.rate}, "rate", "at most `N/s` messages a second, or N/m a minute")
	cmd.Flags().Var(&countFlag{&f.pauseOnDead, 1}, "pause-on-dead", "stop when `N` more messages than at the start are dead")
}

// of says which messages an operation is about, and how fast it goes.
func (o *operation) of(set *queue.Set, f bulkFlags) {
	o.matched, o.samples, o.rate = set.Count, set.Samples, f.rate
}

// bulk carries out an operation on a set.
func (r *run) bulk(c connection, set *queue.Set, b queue.Bulk, f bulkFlags) func(context.Context, func(queue.BulkReport)) (queue.BulkReport, error) {
	return func(ctx context.Context, progress func(queue.BulkReport)) (queue.BulkReport, error) {
		b.Progress = progress
		if f.pauseOnDead > 0 {
			if err := c.stopOnDead(ctx, set, &b, f.pauseOnDead); err != nil {
				return queue.BulkReport{Op: b.Op, Queue: set.Queue.Name, Total: set.Count}, err
			}
		}
		return c.RunBulk(ctx, set, b)
	}
}

// stopOnDead stops an operation when so many messages have died while it goes on: what it
// re-drives fails again.
func (c connection) stopOnDead(ctx context.Context, set *queue.Set, b *queue.Bulk, most int64) error {
	rise, err := c.NewDeadRise(set.Queue, set.Place)
	if err != nil {
		return failf("%s has no dead, so --pause-on-dead could not see anything", line(set.Queue.Name))
	}
	if _, err := rise.Count(ctx, 0); err != nil {
		return err
	}
	var done atomic.Int64
	progress := b.Progress
	b.Progress = func(report queue.BulkReport) {
		done.Store(report.Done)
		progress(report)
	}
	b.Gate = func(ctx context.Context) error {
		n, err := rise.Count(ctx, done.Load())
		if err == nil && n >= most { // of an error the operation itself finds out, and waits
			return fmt.Errorf("stopped: %d messages died meanwhile", n)
		}
		return nil
	}
	return nil
}

// rateFlag is messages a second.
type rateFlag struct{ value *float64 }

func (f *rateFlag) Set(s string) error {
	n, err := when.ParseRate(s)
	if err == nil {
		*f.value = n
	}
	return err
}

func (f *rateFlag) Type() string   { return "rate" }
func (f *rateFlag) String() string { return "" }

// shiftFlag is a duration that may be negative.
type shiftFlag struct {
	by    time.Duration
	given bool
}

func (f *shiftFlag) Set(s string) error {
	text, back := strings.CutPrefix(strings.TrimPrefix(s, "+"), "-")
	d, err := when.ParseDuration(text)
	if err != nil {
		return err
	}
	if back {
		d = -d
	}
	f.by, f.given = d, true
	return nil
}

func (f *shiftFlag) Type() string   { return "shift" }
func (f *shiftFlag) String() string { return f.by.String() }

// delay says when messages that are re-driven into delayed are due.
type delay struct {
	after, spread, jitter time.Duration
	given                 bool
}

func (d *delay) define(cmd *cobra.Command) {
	each := func(value *time.Duration, name, usage string) {
		cmd.Flags().Var(&delayFlag{durationFlag{value, 0}, d}, name, usage)
	}
	each(&d.after, "after", "into delayed, due after this `TIME` instead of at once")
	each(&d.spread, "spread", "into delayed, due one after the other over this `TIME`")
	each(&d.jitter, "jitter", "into delayed, each later by up to this `TIME`, at random")
}

// delayFlag notes that a delay was asked for.
type delayFlag struct {
	durationFlag
	of *delay
}

func (f *delayFlag) Set(s string) error {
	f.of.given = true
	return f.durationFlag.Set(s)
}

func (d delay) due(now time.Time) queue.Due {
	return queue.Due{At: now.Add(d.after), Spread: d.spread, Jitter: d.jitter}
}

// String says it in words.
func (d delay) String() string {
	text := "due now"
	if d.after > 0 {
		text = "due in " + d.after.String()
	}
	if d.spread > 0 {
		text += ", spread over " + d.spread.String()
	}
	if d.jitter > 0 {
		text += ", each later by up to " + d.jitter.String()
	}
	return text
}
