package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"redq/queue"
	"redq/queue/payload"
)

// operation is what one command does to messages that lie in a queue.
type operation struct {
	op      queue.Op
	what    string          // in words, without the server: "delete 3 messages from …"
	past    string          // "deleted"
	matched int             // messages it is about
	samples []queue.Message // the first of them, or all
	asks    bool            // it refuses without --yes where nobody can be asked
	do      func(ctx context.Context) queue.Report
}

// operationFlags are those that all such commands take.
type operationFlags struct{ json, dryRun, yes bool }

func (f *operationFlags) define(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would be done, and change nothing")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	jsonVar(cmd, &f.json)
}

const (
	samples     = 3   // messages shown before a question and in a dry run
	sampleBytes = 120 // of each of them
)

// operate shows, asks and does. The set of messages is fixed before the question.
func (r *run) operate(ctx context.Context, c connection, q queue.Queue, o operation, f operationFlags) error {
	o.what += " on " + line(c.server())
	switch {
	case f.dryRun:
		return r.dryRun(q, o, f.json)
	case o.matched == 0:
		return r.report(queue.Report{Op: o.op, Queue: q.Name}, o.past, f.json)
	case !f.yes:
		if err := r.ask(ctx, o); err != nil {
			return err
		}
	}
	report := o.do(ctx)
	r.log.Info(string(o.op), "queue", q.Name, "entry", report.Entry, "matched", o.matched, "done", report.Count(queue.Done))
	return r.report(report, o.past, f.json)
}

func (r *run) ask(ctx context.Context, o operation) error {
	if _, ok := r.terminal(); ok {
		if err := printSamples(r.Stderr, o); err != nil {
			return err
		}
	} else if !o.asks {
		return nil
	}
	return r.confirm(ctx, strings.ToUpper(o.what[:1])+o.what[1:])
}

func (r *run) dryRun(q queue.Queue, o operation, asJSON bool) error {
	if asJSON {
		j := operationOf(queue.Report{Op: o.op, Queue: q.Name}, o.matched)
		j.DryRun = true
		for _, m := range o.first() {
			j.Samples = append(j.Samples, messageOf(q, m))
		}
		return writeJSON(r.Stdout, j)
	}
	if _, err := fmt.Fprintf(r.Stdout, "would %s\n", o.what); err != nil {
		return err
	}
	return printSamples(r.Stdout, o)
}

func (o operation) first() []queue.Message { return o.samples[:min(len(o.samples), samples)] }

func printSamples(w io.Writer, o operation) error {
	var text strings.Builder
	for _, m := range o.first() {
		fmt.Fprintf(&text, "  %s\n", payload.Preview(m.Payload, sampleBytes))
	}
	if more := o.matched - len(o.first()); more > 0 {
		fmt.Fprintf(&text, "  and %d more\n", more)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// report prints what became of an operation; its error says what was refused or
// is unknown.
func (r *run) report(report queue.Report, past string, asJSON bool) error {
	var err error
	if asJSON {
		err = writeJSON(r.Stdout, operationOf(report, len(report.Results)))
	} else {
		_, err = fmt.Fprintln(r.Stdout, summary(report, past))
	}
	if err != nil {
		return err
	}
	return trouble(report)
}

// summary is a line like "re-driven 37, 2 already gone, 1 refused".
func summary(report queue.Report, past string) string {
	done := report.Count(queue.Done)
	text := fmt.Sprintf("%s %d", past, done)
	for _, more := range []struct {
		outcome queue.Outcome
		words   string
	}{
		{queue.Gone, "already gone"}, {queue.Refused, "refused"}, {queue.Unknown, "unknown"},
	} {
		if n := report.Count(more.outcome); n > 0 {
			text += fmt.Sprintf(", %d %s", n, more.words)
		}
	}
	if report.Entry != "" && report.Op != queue.OpUndo && done > 0 {
		text += fmt.Sprintf(" (redq undo --id %s takes it back)", report.Entry)
	}
	return text
}

// absent is the end of an operation on a place that the queue has no key for.
// There is nothing in it, which is a failure only when the queue cannot have it.
func (r *run) absent(q queue.Queue, p queue.Place, o operation, f operationFlags) error {
	if !mayHave(q, p) {
		return failf("%s", missing(q, p))
	}
	if f.json {
		j := operationOf(queue.Report{Op: o.op, Queue: q.Name}, 0)
		j.DryRun = f.dryRun
		return writeJSON(r.Stdout, j)
	}
	_, err := fmt.Fprintf(r.Stdout, "%s 0: %s\n", o.past, missing(q, p))
	return err
}

// troubles is how many different reasons are told.
const troubles = 3

// trouble returns the reasons of what was refused or is unknown, nil when there is nothing of the kind.
func trouble(report queue.Report) error {
	counts := map[string]int{}
	var reasons []string
	for _, res := range report.Results {
		if res.Outcome != queue.Refused && res.Outcome != queue.Unknown {
			continue
		}
		reason := queue.Explain(res.Err)
		if res.Note != "" {
			reason += ": " + res.Note
		}
		if counts[reason]++; counts[reason] == 1 {
			reasons = append(reasons, reason)
		}
	}
	if len(reasons) == 0 {
		return nil
	}
	var told []string
	for _, reason := range reasons[:min(len(reasons), troubles)] {
		if len(report.Results) == 1 {
			told = append(told, reason)
		} else {
			told = append(told, fmt.Sprintf("%d of %s: %s", counts[reason], plural(len(report.Results)), reason))
		}
	}
	if more := len(reasons) - troubles; more > 0 {
		told = append(told, fmt.Sprintf("and %d further reasons", more))
	}
	return failf("%s", strings.Join(told, "; "))
}
