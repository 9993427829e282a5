package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"redq/queue"
	"redq/queue/filter"
	"redq/queue/sieve"
	"redq/queue/transfer"
)

type exportFlags struct {
	place  queue.Place // "" for all that the queue has
	filter filter.Matcher
	limit  int64 // 0: all
	output string
	force  bool
}

func (r *run) export() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export QUEUE [flags] > FILE",
		Short: "Write messages to a file, every byte of them",
		Long: `Write the messages of a queue, or of one of its places, as JSON lines: exact
payloads (payload_b64 where they are not valid UTF-8), order, scores and failed
attempts. redq import brings them back. It only reads, and holds few messages at
a time. Of a queue that is worked on meanwhile, a message that moves from one
place to another can be in the file twice or not at all.` + filterHelp,
		Example: `  redq export orders > orders.jsonl
  redq export orders --in dead --filter timeout -o dead.jsonl`,
		Args:                  queueArg(0),
		ValidArgsFunction:     r.completeQueue,
		DisableFlagsInUseLine: true,
		RunE:                  func(cmd *cobra.Command, args []string) error { return r.exportQueue(cmd.Context(), args[0], f) },
	}
	placeVar(cmd, &f.place, "`PLACE`: ready, backup, delayed or dead (default: all)")
	filterVar(cmd.Flags(), &f.filter)
	cmd.Flags().VarP(&countFlag{&f.limit, 1}, "count", "n", "at most `N` messages, the oldest first")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "write `FILE`, as a whole or not at all")
	cmd.Flags().BoolVar(&f.force, "force", false, "replace FILE when it is there")
	_ = cmd.MarkFlagFilename("output", "jsonl")
	return cmd
}

func (r *run) exportQueue(ctx context.Context, name string, f exportFlags) (err error) {
	c, err := r.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	q, err := c.find(ctx, name)
	if err != nil {
		return err
	}
	o := transfer.Options{Limit: f.limit}
	if f.place != "" {
		o.Places = []queue.Place{f.place}
		if !q.Has(f.place) && !mayHave(q, f.place) {
			return failf("%s", missing(q, f.place))
		}
	}
	out, done, err := r.exportTo(f)
	if err != nil {
		return err
	}
	report, err := r.exportInto(ctx, c, q, f.filter, o, out)
	if err = done(err); err != nil {
		return exportTrouble(report, err)
	}
	fmt.Fprintf(r.Stderr, "redq: exported %s of %s%s\n", plural(report.Written.Sum()), line(q.Name), inBrackets(report.Written))
	return nil
}

// exportInto writes the messages that the filter lets through.
func (r *run) exportInto(ctx context.Context, c connection, q queue.Queue, m filter.Matcher, o transfer.Options, w io.Writer) (transfer.Report, error) {
	page, err := c.Peek(ctx, q, firstPlace(q), 0, 0) // for the server's clock
	if err != nil {
		return transfer.Report{}, err
	}
	sift := sieve.Sieve{Filter: m, Unit: q.Unit, Now: page.Now}
	if !m.All() {
		o.Match = func(m queue.Message) (bool, error) { return sift.Match(ctx, m) }
	}
	gauge := &gauge{}
	if _, shown := terminalOf(w); !shown { // the lines would run through it
		gauge = r.newGauge()
	}
	o.Progress = func(now transfer.Report) {
		gauge.show("exported %d, looked at %d of %d messages", now.Written.Sum(), now.Looked, now.Total)
	}
	report, err := transfer.Export(ctx, c.Client, q, o, w)
	gauge.clear()
	if err == nil {
		r.conclude(sift, report.Looked, report.Written.Sum())
	}
	return report, err
}

// exportTo opens what is written to. done ends that, when nothing has failed so that the file
// is there under its name, and returns what has failed.
func (r *run) exportTo(f exportFlags) (w io.Writer, done func(failed error) error, err error) {
	if f.output == "" {
		return r.Stdout, func(failed error) error { return failed }, nil
	}
	file, err := transfer.Create(f.output, f.force)
	if err != nil {
		return nil, nil, f.outputTrouble(err)
	}
	return file, func(failed error) error {
		if failed != nil {
			file.Discard()
			return failed
		}
		if err := file.Commit(); err != nil {
			return f.outputTrouble(err)
		}
		return nil
	}, nil
}

func (f exportFlags) outputTrouble(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return failf("%s is there already: --force replaces it", line(f.output))
	}
	return failf("%v", err)
}

func exportTrouble(report transfer.Report, err error) error {
	var failed *failure
	if errors.As(err, &failed) {
		return err
	}
	return failf("stopped after %s: %s", plural(report.Written.Sum()), queue.Explain(err))
}

// inBrackets is " (ready 2, dead 1)", or nothing when there is nothing to count.
func inBrackets(c transfer.Counts) string {
	if c.Sum() == 0 {
		return ""
	}
	return " (" + c.String() + ")"
}
