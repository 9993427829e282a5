package cli

import (
	"time"

	"github.com/spf13/cobra"

	"redq/queue"
)

// due is when a message is to be due: after a while by the server's clock, or at a time.
type due struct {
	in    time.Duration
	at    time.Time
	hasIn bool
	hasAt bool
}

func (d *due) define(cmd *cobra.Command, now func() time.Time) {
	cmd.Flags().Var(&durationFlag{&d.in, 0}, "in", "due this long from now: `TIME` like 5m, 1h30m, 2d")
	cmd.Flags().Var(&timeFlag{&d.at, now}, "at", "due at this `TIME`: 15:04, \"2006-01-02 15:04\" or RFC 3339")
}

// read notes which flags were given.
func (d *due) read(cmd *cobra.Command) error {
	d.hasIn, d.hasAt = cmd.Flags().Changed("in"), cmd.Flags().Changed("at")
	if d.hasIn && d.hasAt {
		return usagef("expected either --in or --at, not both")
	}
	return nil
}

// given reports whether a due time was asked for.
func (d due) given() bool { return d.hasIn || d.hasAt }

// from returns the due time, as it is when the clock shows now.
func (d due) from(now time.Time) time.Time {
	if d.hasIn {
		return now.Add(d.in)
	}
	return d.at
}

// fits refuses a due time that no unit of scores tells from another number.
func fits(u queue.Unit, t time.Time) error {
	if v, ok := u.Score(t).Float(); !ok || !u.Fits(v) {
		return usagef("expected a time between the years 2001 and 3018, not %s", t.Format(time.DateTime))
	}
	return nil
}
