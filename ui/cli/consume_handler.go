package cli

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"redq/queue"
	"redq/queue/handler"
)

// handlerFlags say what is done with a message.
type handlerFlags struct {
	exec, post string
	simulation simulationFlag
	log        logFlag
}

func (f *handlerFlags) define(set *pflag.FlagSet) {
	set.StringVar(&f.exec, "exec", "", "give the message to the shell line `CMD` as its\ninput; status 0 is done, 75 means try later;\nits output goes to standard error")
	set.StringVar(&f.post, "post", "", "send the message to `URL`; 2xx is done, 429\nand 503 mean try later")
	set.Var(&f.simulation, "simulate", "pretend to work, as `SPEC` says: latency=50ms\nfail=5% defer=1% crash=1% panic=1% seed=7")
	set.Var(&f.log, "log", "print the message, which is the default\n(--log=FILE appends redq's own log to a file)")
	set.Lookup("log").NoOptDefVal = bare
}

// check refuses two handlers, one that cannot be made, and messages that would go unseen for want of a word.
func (f *handlerFlags) check(quiet bool) error {
	n := 0
	for _, given := range []bool{f.exec != "", f.post != "", f.simulation.given, f.log.print} {
		if given {
			n++
		}
	}
	switch {
	case n > 1:
		return usagef("expected one of --exec, --post, --simulate and --log")
	case n == 0 && quiet:
		return usagef("--quiet would take messages and show them to nobody: --exec, --post or --simulate say what is done with them, --log that this is meant")
	}
	if _, err := f.spec().Build(); err != nil {
		return usagef("%v", err)
	}
	return nil
}

// spec describes the handler that was asked for.
func (f *handlerFlags) spec() handler.Spec {
	s := handler.Spec{Kind: handler.KindLog, Command: f.exec, URL: f.post, Simulation: f.simulation.Simulation}
	switch {
	case f.exec != "":
		s.Kind = handler.KindExec
	case f.post != "":
		s.Kind = handler.KindPost
	case f.simulation.given:
		s.Kind = handler.KindSimulate
	}
	return s
}

// queueArg asks for a queue.
func (f *handlerFlags) queueArg() cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if f.log.print && len(args) > 1 {
			return usagef("%s was given %q: here --log prints messages, and --log=FILE writes redq's log", cmd.CommandPath(), args[1])
		}
		return queueArg(0)(cmd, args)
	}
}

// logFlag is --log, which prints messages, and --log=FILE, which means what it means
// to every other command.
type logFlag struct {
	print bool
	file  string
}

// bare is what the flag is set to when it stands alone.
const bare = "true"

func (f *logFlag) Set(s string) error {
	switch s {
	case "":
		return errors.New("expected a file behind the =")
	case bare:
		f.print = true
	default:
		f.file = s
	}
	return nil
}

func (f *logFlag) Type() string   { return "bool" }
func (f *logFlag) String() string { return "" }

// simulationFlag is how a simulated handler behaves.
type simulationFlag struct {
	handler.Simulation
	given bool
}

func (f *simulationFlag) Set(s string) (err error) {
	f.given = true
	f.Simulation, err = handler.ParseSimulation(s)
	return err
}

func (f *simulationFlag) Type() string { return "simulation" }

// handler makes the handler. Without another one, what is printed is the handling.
func (r *run) handler(f handlerFlags, out *eventWriter, quiet bool) (queue.Handler, error) {
	s := f.spec()
	s.Queue, s.Output = out.queue.Name, r.Stderr
	if s.Kind != handler.KindLog {
		return s.Build()
	}
	if quiet {
		s.Output = nil
		return s.Build()
	}
	out.logs = true
	return out.logHandler(r.Now), nil
}
