package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"redq/queue"
	"redq/queue/transfer"
)

type importFlags struct {
	to            string
	create, reset bool
	fromLine      int64
	rate          float64
	dryRun, yes   bool
}

func (r *run) importing() *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import QUEUE [FILE]",
		Short: "Bring messages back from a file of redq export",
		Long: `Bring back messages that redq export has written, from FILE or standard input:
to the place, and in the order, that they had, with their scores. They come
behind those that wait in ready, and at the head of backup and dead. Equal bytes
that are delayed already keep their score, and are counted. A file is read to
its end first: nothing is written when one of its lines is no message.

Each batch happens as a whole or not at all, and once. When it stops it says
which lines are done; --from-line goes on behind them. redq undo does not take
an import back.`,
		Example: `  redq import orders orders.jsonl --dry-run
  redq import orders --to ready --rate 50/s --yes < dead.jsonl`,
		Args:              queueArg(1),
		ValidArgsFunction: r.completeImport,
		RunE:              func(cmd *cobra.Command, args []string) error { return r.importInto(cmd.Context(), args, f) },
	}
	cmd.Flags().StringVar(&f.to, "to", "", "all of them to `PLACE`, or to the key of the queue\nnamed here (default: where each was)")
	cmd.Flags().BoolVar(&f.create, "create", false, "also to a queue or place that does not exist yet")
	cmd.Flags().BoolVar(&f.reset, "reset-attempts", false, "forget how often they have failed")
	cmd.Flags().Var(&countFlag{&f.fromLine, 1}, "from-line", "pass over the lines before line `N`")
	cmd.Flags().Var(&rateFlag{&f.rate}, "rate", "at most `N/s` messages a second, or N/m a minute")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would be done, and change nothing")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	return cmd
}

// completeImport completes the name of a queue, then that of a file.
func (r *run) completeImport(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 1 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return r.completeQueue(cmd, args, typed)
}

func (r *run) importInto(ctx context.Context, args []string, f importFlags) error {
	if f.create {
		if err := queue.Named(args[0]).Validate(); err != nil {
			return usagef("%v", err)
		}
	}
	in, err := r.importFrom(args[1:])
	if err != nil {
		return err
	}
	defer in.close()
	c, err := r.connectToChange(ctx, f.dryRun)
	if err != nil {
		return err
	}
	defer c.close()
	q, err := c.find(ctx, args[0])
	var unknown *unknownQueueError
	switch {
	case errors.As(err, &unknown) && f.create:
		q = queue.Named(args[0])
		q.Guessed = queue.GuessedKeys | queue.GuessedPush
	case errors.As(err, &unknown):
		return failf("%v; --create makes one", err)
	case err != nil:
		return err
	}
	to, err := f.target(q)
	if err != nil {
		return err
	}
	job := importJob{r: r, c: c, queue: q, in: in, to: to, importFlags: f}
	return job.do(ctx)
}

// target reads --to: a place, or a key that the queue has.
func (f importFlags) target(q queue.Queue) (transfer.Target, error) {
	to := transfer.Target{Create: f.create}
	if f.to == "" {
		return to, nil
	}
	var err error
	if to.Place, err = queue.ParsePlace(f.to); err == nil {
		return to, nil
	}
	place, known := q.PlaceOf(f.to)
	if !known {
		return to, failf("--to %s is neither a place nor a key of %s", line(f.to), line(q.Name))
	}
	to.Place, to.Key = place, f.to
	return to, nil
}

// source is what an import reads.
type source struct {
	io.Reader
	name string
	file *os.File // to be read twice; nil when that cannot be
	at   int64    // where it begins
	own  bool
}

func (s source) close() {
	if s.own {
		_ = s.file.Close() // it was only read
	}
}

// again goes back to the beginning.
func (s source) again() error {
	_, err := s.file.Seek(s.at, io.SeekStart)
	return err
}

// importFrom opens the file that is named, or standard input.
func (r *run) importFrom(names []string) (source, error) {
	if len(names) == 0 || names[0] == "-" {
		s := source{Reader: r.Stdin, name: "standard input"}
		if _, ok := terminalOf(r.Stdin); ok {
			return s, usagef("expected a FILE, or lines on standard input from a pipe or file")
		}
		if file, ok := r.Stdin.(*os.File); ok && regular(file) {
			if at, err := file.Seek(0, io.SeekCurrent); err == nil {
				s.file, s.at = file, at
			}
		}
		return s, nil
	}
	file, err := os.Open(names[0])
	if err != nil {
		return source{}, failf("%v", err)
	}
	s := source{Reader: file, name: line(names[0]), file: file, own: true}
	if !regular(file) {
		_ = file.Close()
		return source{}, failf("%s is no plain file: expected one, or its lines on standard input", s.name)
	}
	return s, nil
}

func regular(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}

// importJob is one import.
type importJob struct {
	importFlags
	r     *run
	c     connection
	queue queue.Queue
	in    source
	to    transfer.Target
	total int64 // messages that come; 0: nobody knows
}

// do looks at the file, where it can be read twice, asks and imports.
func (j importJob) do(ctx context.Context) error {
	switch {
	case j.dryRun:
		p, err := j.look(ctx, true)
		if err != nil {
			return err
		}
		return j.showDry(p)
	case j.in.file == nil && !j.yes:
		return failf("refused: what comes from a pipe is read once, so there is nothing to show and ask about: --yes answers yes")
	case j.in.file != nil:
		p, err := j.look(ctx, false)
		if err != nil {
			return err
		}
		if !j.yes {
			if err := j.ask(ctx, p); err != nil {
				return err
			}
		}
		j.total = p.Counts().Sum()
		if err := j.in.again(); err != nil {
			return failf("%v", err)
		}
	}
	return j.add(ctx)
}

// look reads the file to its end.
func (j importJob) look(ctx context.Context, duplicates bool) (transfer.Preview, error) {
	gauge := j.r.newGauge()
	p, err := transfer.Look(ctx, j.c.Client, j.queue, j.in, transfer.PreviewOptions{
		Target: j.to, FromLine: j.fromLine, Duplicates: duplicates,
		Progress: func(lines int64) { gauge.show("read %d lines", lines) },
	})
	gauge.clear()
	if err != nil {
		return p, failf("nothing was imported: %s%s", j.in.prefix(err), queue.Explain(err))
	}
	return p, nil
}

// prefix names the file in front of an error that is about its lines.
func (s source) prefix(err error) string {
	var wrong *transfer.LineError
	if errors.As(err, &wrong) {
		return s.name + ", "
	}
	return ""
}

// operation is what the import does, in the words of the others.
func (j importJob) operation(p transfer.Preview) operation {
	var where []string
	for _, k := range p.Keys {
		where = append(where, fmt.Sprintf("%d to %s (%s)", k.Count, k.Place, line(k.Key)))
	}
	n := p.Counts().Sum()
	what := fmt.Sprintf("import %s from %s into %s", plural(n), j.in.name, line(j.queue.Name))
	if len(where) > 0 {
		what += ": " + strings.Join(where, ", ")
	}
	return operation{what: what + " on " + line(j.c.server()), matched: n, samples: p.Samples, rate: j.rate, asks: true}
}

func (j importJob) showDry(p transfer.Preview) error {
	if err := j.r.dryRun(j.queue, j.operation(p), false); err != nil || p.Duplicates == 0 {
		return err
	}
	_, err := fmt.Fprintf(j.r.Stdout, "  %s would be left out: equal bytes are delayed already\n", plural(p.Duplicates))
	return err
}

func (j importJob) ask(ctx context.Context, p transfer.Preview) error {
	if o := j.operation(p); o.matched > 0 {
		return j.r.ask(ctx, o)
	}
	return nil
}

// add imports, and tells what became of it.
func (j importJob) add(ctx context.Context) error {
	gauge := j.r.newGauge()
	done, err := transfer.Import(ctx, j.c.Client, j.queue, j.in, transfer.ImportOptions{
		Target: j.to, FromLine: j.fromLine, Rate: j.rate, ResetAttempts: j.reset,
		Progress: func(now transfer.Imported) {
			text := fmt.Sprintf("imported %d", now.Added.Sum())
			if j.total > 0 {
				text += fmt.Sprintf(" of %d", j.total)
			}
			if now.Trouble != nil {
				text += "; waiting: " + queue.Explain(now.Trouble)
			}
			gauge.show("%s", text)
		},
	})
	gauge.clear()
	j.r.log.Info("import", "queue", j.queue.Name, "added", done.Added.Sum(), "duplicates", done.Duplicates, "through", done.Through, "ok", err == nil)
	if _, failed := fmt.Fprintln(j.r.Stdout, imported(done)); failed != nil {
		return failed
	}
	if err != nil {
		return j.stopped(done, err)
	}
	return nil
}

// imported is a line like "imported 412 (ready 400, delayed 12), 3 duplicates left out (lines 4, 7, 9)".
func imported(done transfer.Imported) string {
	text := fmt.Sprintf("imported %d%s", done.Added.Sum(), inBrackets(done.Added))
	if done.Duplicates == 0 {
		return text
	}
	var lines []string
	for _, n := range done.DuplicateLines {
		lines = append(lines, fmt.Sprint(n))
	}
	if done.Duplicates > int64(len(lines)) {
		lines = append(lines, "…")
	}
	return text + fmt.Sprintf(", %d duplicates left out: equal bytes are delayed already (line %s)", done.Duplicates, strings.Join(lines, ", "))
}

// stopped says why an import ended early, and what is known of each line.
func (j importJob) stopped(done transfer.Imported, why error) error {
	first, next := max(1, j.fromLine), done.Through+1
	text := fmt.Sprintf("stopped: %s%s; ", j.in.prefix(why), queue.Explain(why))
	if done.Through < first {
		text += "no line is known to be done"
	} else {
		text += linesAre(first, done.Through) + " done"
	}
	if done.UnknownThrough > 0 {
		return failf("%s, what became of %s unknown (all or none was added), nothing behind was sent; look first, then --from-line %d or %d goes on",
			text, linesAre(next, done.UnknownThrough), next, done.UnknownThrough+1)
	}
	return failf("%s, nothing behind was sent; --from-line %d goes on", text, next)
}

func linesAre(first, last int64) string {
	if first == last {
		return fmt.Sprintf("line %d is", first)
	}
	return fmt.Sprintf("lines %d to %d are", first, last)
}
