package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"redq/queue"
	"redq/queue/payload"
)

// operation is what one command does to messages that lie in a queue.
type operation struct {
	op      queue.Op
	what    string          // in words, without the server: "delete 3 messages from …"
	past    string          // "deleted"
	matched int64           // messages it is about
	samples []queue.Message // the first of them, or all
	asks    bool            // it refuses without --yes where nobody can be asked
	rate    float64         // messages a second, for a dry run's estimate; 0: full speed
	do      func(ctx context.Context, progress func(queue.BulkReport)) (queue.BulkReport, error)
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
		return r.report(queue.BulkReport{Op: o.op, Queue: q.Name}, nil, o.past, f.json)
	case !f.yes:
		if err := r.ask(ctx, o); err != nil {
			return err
		}
	}
	gauge := r.newGauge()
	report, err := o.do(ctx, func(b queue.BulkReport) {
		if b.Trouble != nil {
			gauge.show("%s %d of %d; waiting: %s", o.past, b.Done, b.Total, queue.Explain(b.Trouble))
			return
		}
		gauge.show("%s %d of %d", o.past, b.Done, b.Total)
	})
	gauge.clear()
	r.log.Info(string(o.op), "queue", q.Name, "entry", report.Entry, "matched", o.matched, "done", report.Done)
	return r.report(report, err, o.past, f.json)
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
		j := operationOf(queue.BulkReport{Op: o.op, Queue: q.Name, Total: o.matched})
		j.DryRun = true
		for _, m := range o.first() {
			j.Samples = append(j.Samples, messageOf(q, m))
		}
		return writeJSON(r.Stdout, j)
	}
	what := o.what
	if o.rate > 0 {
		what += fmt.Sprintf(", which takes %s", time.Duration(float64(o.matched)/o.rate*float64(time.Second)).Round(time.Second))
	}
	if _, err := fmt.Fprintf(r.Stdout, "would %s\n", what); err != nil {
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
	if more := o.matched - int64(len(o.first())); more > 0 {
		fmt.Fprintf(&text, "  and %d more\n", more)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// report prints what became of an operation, which failed says has ended early. Its error
// says that too, and what was refused or is unknown.
func (r *run) report(report queue.BulkReport, failed error, past string, asJSON bool) error {
	var err error
	if asJSON {
		err = writeJSON(r.Stdout, operationOf(report))
	} else {
		_, err = fmt.Fprintln(r.Stdout, summary(report, past))
	}
	if err != nil {
		return err
	}
	return trouble(report, failed)
}

// summary is a line like "re-driven 37, 2 already gone, 1 refused".
func summary(report queue.BulkReport, past string) string {
	text := fmt.Sprintf("%s %d", past, report.Done)
	for _, more := range []struct {
		n     int64
		words string
	}{
		{report.Gone, "already gone"}, {report.Refused, "refused"}, {report.Unknown, "unknown"}, {report.Left(), "not asked for"},
	} {
		if more.n > 0 {
			text += fmt.Sprintf(", %d %s", more.n, more.words)
		}
	}
	if report.Entry != "" && report.Op != queue.OpUndo && report.Done > 0 {
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
		j := operationOf(queue.BulkReport{Op: o.op, Queue: q.Name})
		j.DryRun = f.dryRun
		return writeJSON(r.Stdout, j)
	}
	_, err := fmt.Fprintf(r.Stdout, "%s 0: %s\n", o.past, missing(q, p))
	return err
}

// trouble returns why an operation ended early, or that some of it was refused or is
// unknown; nil when there is nothing of the kind.
func trouble(report queue.BulkReport, failed error) error {
	switch {
	case failed != nil && report.Total == 1:
		return failf("%s", queue.Explain(failed))
	case failed != nil:
		return failf("after %d of %s: %s", report.Done, plural(report.Total), queue.Explain(failed))
	case report.Unknown > 0:
		return failf("what became of %s is unknown", plural(report.Unknown))
	case report.Refused > 0 && report.Why != nil:
		return failf("%d of %s: %s", report.Refused, plural(report.Total), queue.Explain(report.Why))
	}
	return nil
}
