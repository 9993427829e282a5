package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// terminal returns the terminal that a person can answer on: standard input and
// standard error must both be one.
func (r *run) terminal() (*os.File, bool) {
	in, ok := terminalOf(r.Stdin)
	if !ok {
		return nil, false
	}
	_, ok = terminalOf(r.Stderr)
	return in, ok
}

func terminalOf(stream any) (*os.File, bool) {
	f, ok := stream.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// errNotConfirmed ends a command whose question was answered with anything but yes.
var errNotConfirmed = failf("nothing was done")

// confirm asks a question that starts on No. Without a terminal to ask on, it
// refuses and names the flag that answers beforehand.
func (r *run) confirm(ctx context.Context, question string) error {
	if _, ok := r.terminal(); !ok {
		return failf("refused without a terminal to ask on: --yes answers yes, --dry-run shows what would be done")
	}
	fmt.Fprintf(r.Stderr, "%s? [y/N] ", question)
	answer, err := wait(ctx, func() (string, error) { return bufio.NewReader(r.Stdin).ReadString('\n') })
	if err != nil && !errors.Is(err, io.EOF) {
		fmt.Fprintln(r.Stderr)
		return errNotConfirmed
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errNotConfirmed
}

// askPassword reads a password without showing it.
func (r *run) askPassword(ctx context.Context, address string) (string, error) {
	in, _ := r.terminal()
	fd := int(in.Fd())
	before, err := term.GetState(fd)
	if err == nil {
		err = echoOff(fd) // before the question: what is typed at once must not be seen either
	}
	if err != nil {
		return "", failf("cannot ask for a password: %v", err)
	}
	fmt.Fprintf(r.Stderr, "password for %s: ", line(redact(address)))
	password, err := wait(ctx, func() ([]byte, error) { return term.ReadPassword(fd) })
	fmt.Fprintln(r.Stderr)
	_ = term.Restore(fd, before)
	if err != nil {
		return "", failf("no password was given")
	}
	return string(password), nil
}

// echoOff has a terminal not show what is typed.
func echoOff(fd int) error {
	state, err := unix.IoctlGetTermios(fd, readTerminal)
	if err != nil {
		return err
	}
	state.Lflag &^= unix.ECHO
	return unix.IoctlSetTermios(fd, setTerminal, state)
}

// wait runs a read that nothing can interrupt, and leaves it behind when ctx
// ends: the process is about to end too.
func wait[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := read()
		done <- result{v, err}
	}()
	select {
	case got := <-done:
		return got.value, got.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
