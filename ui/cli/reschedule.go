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
	due
	all bool
}

func (r *run) reschedule() *cobra.Command {
	var f rescheduleFlags
	f.place = queue.Delayed
	cmd := &cobra.Command{
		Use:   "reschedule QUEUE (--filter EXPR | --all) (--in TIME | --at TIME)",
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
			if !f.given() {
				return usagef("redq reschedule wants --in or --at: when the messages are to be due")
			}
			return r.rescheduleQueue(cmd.Context(), args[0], f)
		},
	}
	filterVar(cmd.Flags(), &f.filter)
	cmd.Flags().BoolVar(&f.all, "all", false, "all messages that are delayed now")
	f.due.define(cmd, r.Now)
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
	ms, err := r.collect(ctx, c, q, f.selection)
	if err != nil {
		return err
	}
	page, err := c.Peek(ctx, q, queue.Delayed, 0, 1) // for the server's clock
	if err != nil {
		return err
	}
	at := f.from(page.Now)
	if err := fits(q.Unit, at); err != nil {
		return err
	}
	o.matched, o.samples = len(ms), ms
	o.what = fmt.Sprintf("reschedule %s from %s to %s", plural(len(ms)), f.describe(q), timeText(at, page.Now))
	o.do = func(ctx context.Context) queue.Report { return c.Reschedule(ctx, q, ms, at) }
	return r.operate(ctx, c, q, o, f.operationFlags)
}
