package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"redq/queue"
)

type deleteFlags struct {
	operationFlags
	selection
	bulkFlags
	all bool
}

func (r *run) delete() *cobra.Command {
	var f deleteFlags
	cmd := &cobra.Command{
		Use:   "delete QUEUE --in PLACE (--filter EXPR | --all)",
		Short: "Delete messages; redq undo brings them back",
		Long: `Delete messages of one place. Which ones is fixed before the question: what
arrives later stays. Each is in the undo journal before it is deleted.` + filterHelp,
		Example: `  redq delete orders --in dead --filter '/card (declined|expired)/'
  redq delete orders --in dead --all --dry-run`,
		Args:                  queueArg(0),
		ValidArgsFunction:     r.completeQueue,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.place == "" {
				return usagef("redq delete wants --in PLACE: ready, backup, delayed or dead")
			}
			if err := f.selectsOnce(f.all); err != nil {
				return err
			}
			return r.deleteFrom(cmd.Context(), args[0], f)
		},
	}
	placeVar(cmd, &f.place, "`PLACE` to delete from: ready, backup, delayed or dead")
	filterVar(cmd.Flags(), &f.filter)
	cmd.Flags().BoolVar(&f.all, "all", false, "all messages that are there now")
	f.bulkFlags.define(cmd)
	f.operationFlags.define(cmd)
	return cmd
}

// selectsOnce asks for a filter or all, so that nothing is taken for want of a word.
func (s selection) selectsOnce(all bool) error {
	if all == s.filter.All() {
		return nil
	}
	return usagef("expected either --filter EXPR or --all")
}

func (r *run) deleteFrom(ctx context.Context, name string, f deleteFlags) error {
	c, err := r.connectToChange(ctx, f.dryRun)
	if err != nil {
		return err
	}
	defer c.close()
	q, err := c.find(ctx, name)
	if err != nil {
		return err
	}
	o := operation{op: queue.OpDelete, past: "deleted", asks: true}
	if !q.Has(f.place) {
		return r.absent(q, f.place, o, f.operationFlags)
	}
	set, err := r.collect(ctx, c, q, f.selection, false)
	if err != nil {
		return err
	}
	o.of(set, f.bulkFlags)
	o.what = fmt.Sprintf("delete %s from %s", plural(set.Count), f.describe(q))
	o.do = r.bulk(c, set, queue.Bulk{Op: queue.OpDelete, Rate: f.rate}, f.bulkFlags)
	return r.operate(ctx, c, q, o, f.operationFlags)
}
