package handler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"redq/queue"
)

// tempFail is EX_TEMPFAIL of sysexits.h: "not really an error, try later".
const tempFail = 75

// pipesOpen is how long the pipes of a command that has ended may stay open: what it left
// in the background can hold them for ever.
const pipesOpen = time.Second

// ExecOptions say which command Exec runs, and how. Shell or Argv must be set, not both.
type ExecOptions struct {
	Shell string   // a line for /bin/sh -c
	Argv  []string // a command and its arguments, run without a shell

	Dir string   // where it runs; "" means where the program runs
	Env []string // NAME=VALUE, added to the program's own environment
	// Queue is the name of the queue, told to the command; "" tells it none.
	Queue string
	// Stdout is where the command's standard output goes; nil discards it. Commands that
	// run at once share it: their writes come one at a time, and an *os.File is handed on as it is.
	Stdout io.Writer

	// Wait is how far a command that exits with 75 puts its message off; 0 means 5 s.
	Wait time.Duration
	// Grace is how long a command that was told to end (SIGTERM) may take until it
	// is killed (SIGKILL); 0 means 3 s, less than a consumer waits for a handler whose time is over.
	Grace time.Duration
	// StderrBytes is how much of the end of its standard error is kept; 0 means 4 KiB.
	StderrBytes int
}

// Exec returns a handler that runs a command for each message, with the exact bytes of the
// payload on its standard input and these variables in its environment:
//
//	REDQ_QUEUE    the queue's name, if ExecOptions has it
//	REDQ_PLACE    where the message was taken from: ready, delayed …
//	REDQ_KEY      the Redis key it was taken from
//	REDQ_ATTEMPT  which attempt this is, from 1
//
// A key or name that holds a NUL byte or is longer than 4 KiB is left out.
//
// Exit status 0 means done, 75 (EX_TEMPFAIL) try later (see ExecOptions.Wait), and
// anything else, a signal too, fails the message with an *ExitError. A command need not read
// its standard input.
//
// The command leads a process group of its own, so that a ctrl+c at the terminal reaches the
// program alone. When the context ends, the whole group is told to end, and killed after
// ExecOptions.Grace; the handler returns when the group has gone. What such a command exits
// with counts for nothing: many programs exit with 0 when they are told to end. What a
// command leaves in the background when it exits by itself is left alone; it should not
// hold its standard error, or each message takes a second longer. Systems that are not Unix
// have no process groups: the command alone is killed there, at once.
//
// The error is about o: nothing to run, or a command that does not exist.
func Exec(o ExecOptions) (queue.Handler, error) {
	switch {
	case o.Shell != "" && len(o.Argv) > 0:
		return nil, errors.New("exec: expected a shell line or a command with arguments, not both")
	case strings.TrimSpace(o.Shell) == "" && (len(o.Argv) == 0 || o.Argv[0] == ""):
		return nil, errors.New("exec: no command given")
	case o.Wait < 0, o.Grace < 0, o.StderrBytes < 0:
		return nil, errors.New("exec: times and sizes cannot be negative")
	}
	if o.Shell != "" {
		o.Argv = []string{"/bin/sh", "-c", o.Shell}
	}
	if err := exec.Command(o.Argv[0]).Err; err != nil {
		return nil, err
	}
	if o.Wait == 0 {
		o.Wait = defaultWait
	}
	if o.Grace == 0 {
		o.Grace = 3 * time.Second
	}
	if o.StderrBytes == 0 {
		o.StderrBytes = 4 << 10
	}
	if _, file := o.Stdout.(*os.File); o.Stdout != nil && !file {
		o.Stdout = &serialWriter{w: o.Stdout}
	}
	return o.run, nil
}

func (o ExecOptions) run(ctx context.Context, m queue.Message) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	stderr := &tail{limit: o.StderrBytes}
	cmd := o.command(m, stderr)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("the command cannot be started: %w", err)
	}

	told := false // to end
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(over)
		told = endGroup(cmd.Process, o.Grace)
	})
	err := cmd.Wait()
	if !stop() {
		<-over
	}
	switch {
	case told:
		return &interruptedError{cause: context.Cause(ctx), stderr: stderr.String()}
	case cmd.ProcessState == nil:
		return fmt.Errorf("the command was lost: %w", err)
	}
	// Wait's own error may be about pipes; the exit status alone says what the command thinks.
	return o.verdict(cmd.ProcessState, stderr.String())
}

func (o ExecOptions) command(m queue.Message, stderr io.Writer) *exec.Cmd {
	cmd := exec.Command(o.Argv[0], o.Argv[1:]...)
	cmd.Dir = o.Dir
	cmd.Env = append(os.Environ(), o.Env...)
	for _, f := range facts(o.Queue, m) {
		if strings.IndexByte(f.value, 0) < 0 {
			cmd.Env = append(cmd.Env, "REDQ_"+strings.ToUpper(f.name)+"="+f.value)
		}
	}
	cmd.Stdin = bytes.NewReader(m.Payload)
	cmd.Stdout = o.Stdout
	cmd.Stderr = stderr
	cmd.WaitDelay = pipesOpen
	ownGroup(cmd)
	return cmd
}

func (o ExecOptions) verdict(state *os.ProcessState, stderr string) error {
	if state.Success() {
		return nil
	}
	e := &ExitError{Code: state.ExitCode(), Stderr: stderr}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Signal = status.Signal()
	}
	if e.Code == tempFail {
		return queue.Defer(o.Wait, e)
	}
	return e
}

// ExitError is the error of a message whose command did not exit with 0.
type ExitError struct {
	Code   int            // the exit status; -1 when a signal ended it
	Signal syscall.Signal // that ended it; 0 when it exited by itself
	// Stderr is the end of what it wrote to its standard error, without the white space
	// around it. It begins with "…" when it was cut.
	Stderr string
}

func (e *ExitError) Error() string {
	if e.Signal != 0 {
		return withDetail(fmt.Sprintf("killed by signal %d (%s)", int(e.Signal), e.Signal), e.Stderr)
	}
	return withDetail(fmt.Sprintf("exit status %d", e.Code), e.Stderr)
}

// interruptedError is the error of a message whose command was told to end.
type interruptedError struct {
	cause  error
	stderr string
}

func (e *interruptedError) Error() string {
	return withDetail(e.cause.Error()+", the command was ended", e.stderr)
}
func (e *interruptedError) Unwrap() error { return e.cause }

func withDetail(text, detail string) string {
	if detail == "" {
		return text
	}
	return text + ": " + detail
}

// tail keeps the last bytes written to it.
type tail struct {
	limit int
	kept  []byte
	cut   bool
}

func (t *tail) Write(b []byte) (int, error) {
	n := len(b)
	if n > t.limit {
		b = b[n-t.limit:]
		t.cut = true
	}
	if over := len(t.kept) + len(b) - t.limit; over > 0 {
		t.kept = t.kept[:copy(t.kept, t.kept[over:])]
		t.cut = true
	}
	t.kept = append(t.kept, b...)
	return n, nil
}

func (t *tail) String() string {
	if !t.cut {
		return strings.TrimSpace(string(t.kept))
	}
	kept := t.kept
	for range utf8.UTFMax - 1 { // what is left of a character that was cut
		if len(kept) > 0 && !utf8.RuneStart(kept[0]) {
			kept = kept[1:]
		}
	}
	return "…" + strings.TrimSpace(string(kept))
}

// serialWriter makes writes of several goroutines come one at a time.
type serialWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *serialWriter) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(b)
}
