package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"redq/queue"
)

type redriveFlags struct {
	operationFlags
	selection
	bulkFlags
	delay
	front bool
	to    string
	reset bool
}

func (r *run) redrive() *cobra.Command {
	f := redriveFlags{}
	f.place = queue.Backup
	cmd := &cobra.Command{
		Use:   "redrive QUEUE",
		Short: "Move messages from backup, dead or delayed back to ready",
		Long: `Move messages from backup, dead or delayed back to ready, in their order, each
in one atomic step. Without -n and --filter it moves all that are there now.` + filterHelp,
		Example: `  redq redrive orders --in dead --filter timeout --dry-run
  redq redrive orders -n 1 --front`,
		Args:              queueArg(0),
		ValidArgsFunction: r.completeQueue,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.place == queue.Ready {
				return usagef("--in ready is where messages are re-driven to: expected backup, dead or delayed")
			}
			return r.redriveQueue(cmd.Context(), args[0], f)
		},
	}
	placeVar(cmd, &f.place, "`PLACE` to take from: backup, dead or delayed")
	cmd.Flags().VarP(&countFlag{&f.limit, 1}, "count", "n", "at most `N` messages, the oldest first")
	filterVar(cmd.Flags(), &f.filter)
	cmd.Flags().BoolVar(&f.front, "front", false, "to the end that runs next, instead of the back")
	cmd.Flags().StringVar(&f.to, "to", "", "to the list `KEY`, instead of the queue's ready")
	cmd.Flags().BoolVar(&f.reset, "reset-attempts", false, "forget how often they have failed")
	f.delay.define(cmd)
	f.bulkFlags.define(cmd)
	f.operationFlags.define(cmd)
	return cmd
}

func (r *run) redriveQueue(ctx context.Context, name string, f redriveFlags) error {
	c, err := r.connectToChange(ctx, f.dryRun)
	if err != nil {
		return err
	}
	defer c.close()
	q, err := c.find(ctx, name)
	if err != nil {
		return err
	}
	o := operation{op: queue.OpRedrive, past: "re-driven", asks: true}
	if !q.Has(f.place) {
		return r.absent(q, f.place, o, f.operationFlags)
	}
	place, to := q.RedriveTarget()
	switch {
	case f.to != "":
		place, to = queue.Ready, f.to
	case f.delay.given:
		place, to = queue.Delayed, q.Delayed
	}
	switch {
	case f.delay.given && q.Delayed == "":
		return failf("%s has no delayed", line(q.Name))
	case to == "":
		return failf("%s has no ready list: --to KEY says where to", line(q.Name))
	case place == queue.Ready && slices.Contains(q.Keys(f.place), to):
		return queue.ErrSameKey
	case place == queue.Delayed && f.front:
		return failf("%s has no ready list, so re-driven messages become due now: there is no front", line(q.Name))
	}
	set, err := r.collect(ctx, c, q, f.selection, f.front)
	if err != nil {
		return err
	}
	b := queue.Bulk{Op: queue.OpRedrive, ToKey: f.to, Front: f.front, ResetAttempts: f.reset, Rate: f.rate}
	where := "to the back of " + line(to)
	switch {
	case place == queue.Delayed:
		page, err := c.Peek(ctx, q, queue.Delayed, 0, 1) // for the server's clock
		if err != nil {
			return err
		}
		b.ToPlace, b.Due = queue.Delayed, f.delay.due(page.Now)
		where = "in " + line(to) + ", " + f.delay.String()
	case f.front:
		where = "to the front of " + line(to)
	}
	o.of(set, f.bulkFlags)
	o.what = fmt.Sprintf("re-drive %s from %s %s", plural(set.Count), f.describe(q), where)
	o.do = r.bulk(c, set, b, f.bulkFlags)
	return r.operate(ctx, c, q, o, f.operationFlags)
}
