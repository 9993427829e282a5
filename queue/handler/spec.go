package handler

import (
	"fmt"
	"io"

	"redq/queue"
)

// Kind is one of the ways that a Spec can describe.
type Kind string

// The kinds, by the names the command line and the dashboard use.
const (
	KindLog      Kind = "log"
	KindExec     Kind = "exec"
	KindPost     Kind = "post"
	KindSimulate Kind = "simulate"
)

// Kinds returns all kinds in their usual order.
func Kinds() []Kind { return []Kind{KindLog, KindExec, KindPost, KindSimulate} }

// Spec describes a handler as the fields of a form do. Only what its kind needs is used.
type Spec struct {
	Kind       Kind
	Command    string     // exec: a line for /bin/sh -c
	URL        string     // post
	Simulation Simulation // simulate

	// Queue is the name of the queue, told to commands and servers; "" tells them none.
	Queue string
	// Output is where lines of log and the standard output of commands go; nil discards them.
	Output io.Writer
}

// Build makes the handler. The error tells what is missing or wrong.
func (s Spec) Build() (queue.Handler, error) {
	switch s.Kind {
	case KindLog:
		if s.Output == nil {
			return Log(io.Discard), nil
		}
		return Log(s.Output), nil
	case KindExec:
		return Exec(ExecOptions{Shell: s.Command, Queue: s.Queue, Stdout: s.Output})
	case KindPost:
		return Post(s.URL, PostOptions{Queue: s.Queue})
	case KindSimulate:
		return Simulate(s.Simulation)
	}
	return nil, fmt.Errorf("%q is no kind of handler: expected log, exec, post or simulate", s.Kind)
}

// String names the handler in a few words, without the user, password and query of a URL.
// It holds text that people wrote: not safe to print as it is.
func (s Spec) String() string {
	detail := ""
	switch s.Kind {
	case KindExec:
		detail = s.Command
	case KindPost:
		if u, err := parseAddress(s.URL); err == nil {
			detail = shown(u)
		}
	case KindSimulate:
		detail = s.Simulation.String()
	}
	if detail == "" {
		return string(s.Kind)
	}
	return string(s.Kind) + " " + detail
}
