// Package cli is redq's command line: the operations of the dashboard as
// commands for people and scripts, in text and in JSON. It knows flags, the
// configuration file and package queue, and nothing of how the dashboard looks.
//
// The exit status is 0 when what was asked is done, 1 when something failed,
// was refused or is unknown, and 2 when the command was used wrongly. Results
// go to standard output, everything else to standard error.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"redq/queue"
	"redq/queue/filter"
	"redq/queue/layout"
	"redq/queue/payload"
)

// Program is the command line and what it needs of the world around it.
type Program struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Env reads an environment variable, as os.Getenv does.
	Env func(string) string
	// Now is this machine's clock; due times after a while are by the server's.
	Now func() time.Time
	// Version is what redq version prints.
	Version string
	// Dashboard shows a session until the person quits or ctx ends.
	Dashboard func(ctx context.Context, s Session) error
}

// The exit statuses.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// run is one invocation of the program.
type run struct {
	Program
	flags flags
	log   *logFile
	// started is set when a command's own code begins: an error before that is
	// cobra's, and one of usage.
	started bool
}

// Run runs one command line (without the program's name) and returns the exit status.
func (p Program) Run(ctx context.Context, args []string) int {
	r := &run{Program: p, log: discardLog()}
	root := r.root()
	r.mark(root)
	root.SetArgs(args)
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	err := root.ExecuteContext(ctx)
	if err != nil {
		r.complain(err)
	}
	r.log.close()
	return r.status(err)
}

// mark makes every command below cmd note that its own code began, and tell its
// flags in the order they were defined.
func (r *run) mark(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false
	if work := cmd.RunE; work != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			r.started = true
			if err := noEmptyFlag(cmd.Flags()); err != nil {
				return err
			}
			return work(cmd, args)
		}
	}
	for _, sub := range cmd.Commands() {
		r.mark(sub)
	}
}

// noEmptyFlag refuses a text flag that was given without text: an unset variable
// of a script must not end on the default server.
func noEmptyFlag(set *pflag.FlagSet) (err error) {
	set.Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" {
			err = usagef("--%s is empty: expected a value", f.Name)
		}
	})
	return err
}

func (r *run) status(err error) int {
	var usage *usageError
	var options *queue.BadOptionsError
	switch {
	case err == nil:
		return exitDone
	case !r.started, errors.As(err, &usage), errors.As(err, &options):
		return exitUsage
	}
	return exitFailed
}

// note says something beside the results of a command.
func (r *run) note(format string, args ...any) {
	text := line(fmt.Sprintf(format, args...))
	r.log.Warn(text)
	fmt.Fprintln(r.Stderr, "redq: "+text)
}

// complain prints an error as one plain line, without secrets and without bytes
// that a terminal would obey. Only the dashboard may say more: it tells of its faults.
func (r *run) complain(err error) {
	text := line(redact(explain(err)))
	var crash *dashboardError
	if errors.As(err, &crash) {
		text = payload.Text([]byte(redact(crash.Error())), math.MaxInt)
	}
	r.log.Error(text)
	fmt.Fprintln(r.Stderr, "redq: "+text)
	var wrong *filter.Error
	if errors.As(err, &wrong) {
		fmt.Fprintln(r.Stderr, indented(wrong.Pointed()))
	}
}

// indented sets lines off from the sentence before them.
func indented(lines string) string { return "  " + strings.ReplaceAll(lines, "\n", "\n  ") }

// explain leaves what is said in plain words as it is; package queue explains the rest.
func explain(err error) string {
	var usage *usageError
	var failed *failure
	var unknown *unknownQueueError
	if errors.As(err, &usage) || errors.As(err, &failed) || errors.As(err, &unknown) || errors.Is(err, layout.ErrScanDenied) {
		return err.Error()
	}
	return queue.Explain(err)
}

// usageError says what was expected; it ends the program with status 2.
type usageError struct {
	sentence string
	cause    error // nil when the sentence says it all
}

func (e *usageError) Error() string { return e.sentence }
func (e *usageError) Unwrap() error { return e.cause }

func usagef(format string, args ...any) error {
	return &usageError{sentence: fmt.Sprintf(format, args...)}
}

// badFlag is the error of a flag that could not be read.
func badFlag(cmd *cobra.Command, err error) error {
	text := err.Error()
	var wrong *filter.Error
	if errors.As(err, &wrong) { // where it is wrong is told below the sentence
		text = "--filter: " + wrong.Reason
	}
	return &usageError{fmt.Sprintf("%s (%s --help tells more)", text, cmd.CommandPath()), err}
}

// dashboardError is what the dashboard has to say after its end.
type dashboardError struct{ error }

// failure says in plain words what went wrong; it ends the program with status 1.
type failure struct{ sentence string }

func (e *failure) Error() string { return e.sentence }

func failf(format string, args ...any) error {
	return &failure{fmt.Sprintf(format, args...)}
}
