package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"redq/queue"
)

type rescheduleFlags struct {
	operationFlags
	selection
	bulkFlags
	due
	shift shiftFlag
	all   bool
}

func (r *run) reschedule() *cobra.Command {
	var f rescheduleFlags
	f.place = queue.Delayed
	cmd := &cobra.Command{
		Use:   "reschedule QUEUE (--filter EXPR | --all) (--in|--at|--shift TIME)",
		Short: "Give delayed messages another due time",
		Long: `Give delayed messages another due time, each only if its score is still the one
that was seen. Nothing is lost by it, so a script needs no --yes; somebody at a
terminal is asked.` + filterHelp,
		Example:               `  redq reschedule reminders --filter 'reminder:7' --in 5m`,
		Args:                  queueArg(0),
		ValidArgsFunction:     r.completeQueue,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.selectsOnce(f.all); err != nil {
				return err
			}
			if err := f.read(cmd); err != nil {
				return err
			}
			switch {
			case !f.given() && !f.shift.given:
				return usagef("redq reschedule wants --in, --at or --shift: when the messages are to be due")
			case f.given() && f.shift.given:
				return usagef("expected either --shift, or --in or --at, not both")
			}
			return r.rescheduleQueue(cmd.Context(), args[0], f)
		},
	}
	filterVar(cmd.Flags(), &f.filter)
	cmd.Flags().BoolVar(&f.all, "all", false, "all messages that are delayed now")
	f.due.define(cmd, r.Now)
	cmd.Flags().Var(&f.shift, "shift", "move each due time by this `TIME`: 5m later, -1h earlier")
	f.bulkFlags.define(cmd)
	f.operationFlags.define(cmd)
	return cmd
}

func (r *run) rescheduleQueue(ctx context.Context, name string, f rescheduleFlags) error {
	c, err := r.connectToChange(ctx, f.dryRun)
	if err != nil {
		return err
	}
	defer c.close()
	q, err := c.find(ctx, name)
	if err != nil {
		return err
	}
	o := operation{op: queue.OpReschedule, past: "rescheduled"}
	if !q.Has(queue.Delayed) {
		return r.absent(q, queue.Delayed, o, f.operationFlags)
	}
	set, err := r.collect(ctx, c, q, f.selection, false)
	if err != nil {
		return err
	}
	b := queue.Bulk{Op: queue.OpReschedule, Rate: f.rate, Due: queue.Due{Shift: f.shift.by}}
	to := "by " + f.shift.String()
	if !f.shift.given {
		page, err := c.Peek(ctx, q, queue.Delayed, 0, 1) // for the server's clock
		if err != nil {
			return err
		}
		b.Due.At = f.from(page.Now)
		if err := fits(q.Unit, b.Due.At); err != nil {
			return err
		}
		to = "to " + timeText(b.Due.At, page.Now)
	}
	o.of(set, f.bulkFlags)
	o.what = fmt.Sprintf("reschedule %s from %s %s", plural(set.Count), f.describe(q), to)
	o.do = r.bulk(c, set, b, f.bulkFlags)
	return r.operate(ctx, c, q, o, f.operationFlags)
}
