package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"redq/queue"
)

// completeWithin bounds what a press of the tab key may cost.
const completeWithin = time.Second

// completeQueue completes the name of a queue. It fails in silence: a shell has
// no place for an error.
func (r *run) completeQueue(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	const nothingElse = cobra.ShellCompDirectiveNoFileComp
	if len(args) > 0 {
		return nil, nothingElse
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
	defer cancel()
	s, err := r.settings()
	if err != nil {
		return nil, nothingElse
	}
	s.options.Timeout, s.options.ReadOnly = completeWithin, true
	client, err := queue.Open(ctx, s.options)
	if err != nil {
		return nil, nothingElse
	}
	defer client.Close()
	d, _ := connection{Client: client, settings: s}.discover(ctx) // what was found until then is better than nothing
	var names []string
	for _, q := range d.queues {
		names = append(names, line(q.Name))
	}
	return names, nothingElse
}
