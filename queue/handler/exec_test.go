//go:build unix

package handler_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"redq/queue"
	"redq/queue/handler"
	"redq/queue/payload/hostile"
)

func shell(t *testing.T, line string, o handler.ExecOptions) queue.Handler {
	t.Helper()
	o.Shell = line
	return must(handler.Exec(o))(t)
}

// output runs a line and returns what it printed.
func output(t *testing.T, line string, m queue.Message, o handler.ExecOptions) string {
	t.Helper()
	var out bytes.Buffer
	o.Stdout = &out
	if err := shell(t, line, o)(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestExecGivesTheExactBytes(t *testing.T) {
	for _, p := range hostile.Payloads() {
		t.Run(p.Name, func(t *testing.T) {
			if got := output(t, "cat", queue.Message{Payload: p.Bytes}, handler.ExecOptions{}); got != string(p.Bytes) {
				t.Errorf("%d bytes came, %d were sent", len(got), len(p.Bytes))
			}
		})
	}
}

func TestExecExitStatus(t *testing.T) {
	tests := []struct{ name, line, want string }{
		{"done", "exit 0", ""},
		{"done with complaints", "echo oops >&2", ""},
		{"failed", "exit 1", "exit status 1"},
		{"failed with a reason", "echo; echo no such customer >&2; echo >&2; exit 3", "exit status 3: no such customer"},
		{"reason of two lines", "echo a >&2; echo b >&2; exit 3", "exit status 3: a\nb"},
		{"signal", "kill -9 $$", "killed by signal 9 (killed)"},
		{"signal with a reason", "echo bye >&2; kill -TERM $$", "killed by signal 15 (terminated): bye"},
		{"near try later", "exit 74", "exit status 74"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := shell(t, tt.line, handler.ExecOptions{})(t.Context(), message("hello"))
			if tt.want == "" && err == nil {
				return
			}
			wantText(t, err, tt.want)
			wantPlain(t, err)
		})
	}
}

func TestExitErrorTellsWhatHappened(t *testing.T) {
	var exit *handler.ExitError
	err := shell(t, "echo why >&2; exit 3", handler.ExecOptions{})(t.Context(), message(""))
	if !errors.As(err, &exit) || exit.Code != 3 || exit.Signal != 0 || exit.Stderr != "why" {
		t.Errorf("%#v", err)
	}
	err = shell(t, "kill -KILL $$", handler.ExecOptions{})(t.Context(), message(""))
	if !errors.As(err, &exit) || exit.Code != -1 || exit.Signal != syscall.SIGKILL || exit.Stderr != "" {
		t.Errorf("%#v", err)
	}
}

func TestExecTryLater(t *testing.T) {
	err := shell(t, "echo busy >&2; exit 75", handler.ExecOptions{})(t.Context(), message(""))
	wantDeferred(t, err, 5*time.Second)
	wantText(t, err, "exit status 75: busy")
	wantDeferred(t, shell(t, "exit 75", handler.ExecOptions{Wait: time.Hour})(t.Context(), message("")), time.Hour)
}

// The pipe breaks, which is no failure of a command that needs no input.
func TestExecNeedNotReadItsInput(t *testing.T) {
	m := message(strings.Repeat("x", 1<<20))
	if err := shell(t, "exec <&-; exit 0", handler.ExecOptions{})(t.Context(), m); err != nil {
		t.Error(err)
	}
	wantText(t, shell(t, "exit 4", handler.ExecOptions{})(t.Context(), m), "exit status 4")
}

func TestExecKeepsTheEndOfStandardError(t *testing.T) {
	reason := func(line string, limit int) string {
		err := shell(t, line+"; exit 1", handler.ExecOptions{StderrBytes: limit})(t.Context(), message(""))
		return strings.TrimPrefix(err.Error(), "exit status 1: ")
	}
	const flood = "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done >&2; echo the end >&2"
	got := reason(flood, 0)
	if !strings.HasPrefix(got, "…") || !strings.HasSuffix(got, "line 19999\nthe end") || len(got) > 4<<10+len("…") || len(got) < 4000 {
		t.Errorf("%d bytes: %.20q … %q", len(got), got, got[max(0, len(got)-30):])
	}
	if got := reason("printf 0123456789 >&2", 10); got != "0123456789" {
		t.Errorf("what fits: %q", got)
	}
	if got := reason("printf 01234567 >&2; printf 89ab >&2", 10); got != "…23456789ab" {
		t.Errorf("in pieces: %q", got)
	}
	if got := reason("printf 注文注文 >&2", 8); got != "…注文" || !utf8.ValidString(got) {
		t.Errorf("a cut character: %q", got)
	}
	if got := reason(`printf '\277\277\277\277\277\277' >&2`, 5); got != "…\xbf\xbf" {
		t.Errorf("bytes that are no text: %q", got)
	}
}

func TestExecEnvironment(t *testing.T) {
	t.Setenv("HANDLER_TEST", "inherited")
	const print = `env | grep -e ^REDQ_ -e ^HANDLER_ -e ^ADDED | sort`
	m := message("")
	m.Key, m.Place, m.Attempts = "orders:delayed", queue.Delayed, 2
	tests := []struct {
		name string
		o    handler.ExecOptions
		key  string
		want []string
	}{
		{"all", handler.ExecOptions{Queue: "orders", Env: []string{"ADDED=1", "REDQ_ATTEMPT=99"}}, "orders:delayed",
			[]string{"ADDED=1", "HANDLER_TEST=inherited", "REDQ_ATTEMPT=3", "REDQ_KEY=orders:delayed", "REDQ_PLACE=delayed", "REDQ_QUEUE=orders"}},
		{"no queue", handler.ExecOptions{}, "a b=c $HOME",
			[]string{"HANDLER_TEST=inherited", "REDQ_ATTEMPT=3", "REDQ_KEY=a b=c $HOME", "REDQ_PLACE=delayed"}},
		{"NUL", handler.ExecOptions{}, "orders\x00delayed", []string{"HANDLER_TEST=inherited", "REDQ_ATTEMPT=3", "REDQ_PLACE=delayed"}},
		{"a key of 1 MiB", handler.ExecOptions{}, strings.Repeat("k", 1<<20), []string{"HANDLER_TEST=inherited", "REDQ_ATTEMPT=3", "REDQ_PLACE=delayed"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m.Key = tt.key
			got := strings.Split(strings.TrimSpace(output(t, print, m, tt.o)), "\n")
			if !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestExecDirAndArguments(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if got := output(t, "pwd -P", message(""), handler.ExecOptions{Dir: dir}); got != dir+"\n" {
		t.Errorf("ran in %q", got)
	}
	var out bytes.Buffer
	h := must(handler.Exec(handler.ExecOptions{Argv: []string{"printf", "%s|", "$HOME", "a b", ";"}, Stdout: &out}))(t)
	if err := h(t.Context(), message("")); err != nil || out.String() != "$HOME|a b|;|" {
		t.Errorf("%q, %v", &out, err)
	}
}

func TestExecIntoAFile(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := shell(t, "cat", handler.ExecOptions{Stdout: file})(t.Context(), message("hello")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file.Name()); string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestExecIsChecked(t *testing.T) {
	tests := []struct {
		o    handler.ExecOptions
		want string
	}{
		{handler.ExecOptions{}, "exec: no command given"},
		{handler.ExecOptions{Shell: " \n"}, "exec: no command given"},
		{handler.ExecOptions{Argv: []string{""}}, "exec: no command given"},
		{handler.ExecOptions{Shell: "true", Argv: []string{"true"}}, "exec: expected a shell line or a command with arguments, not both"},
		{handler.ExecOptions{Shell: "true", Wait: -1}, "exec: times and sizes cannot be negative"},
		{handler.ExecOptions{Shell: "true", Grace: -1}, "exec: times and sizes cannot be negative"},
		{handler.ExecOptions{Shell: "true", StderrBytes: -1}, "exec: times and sizes cannot be negative"},
		{handler.ExecOptions{Argv: []string{"no-such-command-here"}}, `exec: "no-such-command-here": executable file not found in $PATH`},
	}
	for _, tt := range tests {
		_, err := handler.Exec(tt.o)
		wantText(t, err, tt.want)
	}
}

func TestExecThatCannotStart(t *testing.T) {
	h := must(handler.Exec(handler.ExecOptions{Argv: []string{"/nonexistent/command"}}))(t)
	err := h(t.Context(), message(""))
	wantText(t, err, "the command cannot be started: fork/exec /nonexistent/command: no such file or directory")
	wantPlain(t, err)
	wantText(t, shell(t, "no-such-command-here 2>&-", handler.ExecOptions{})(t.Context(), message("")), "exit status 127")
}

func TestExecFromManyGoroutines(t *testing.T) {
	var out bytes.Buffer // the race detector tells when two write at once
	h := shell(t, "cat; echo", handler.ExecOptions{Stdout: &out})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if err := h(context.Background(), message("hello")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := strings.Count(out.String(), "hello"); n != 20 {
		t.Errorf("%d of 20 outputs came", n)
	}
}

func TestExecWithAnEndedContextRunsNothing(t *testing.T) {
	for _, cause := range causes() {
		file := filepath.Join(t.TempDir(), "ran")
		if err := shell(t, "touch "+file, handler.ExecOptions{})(ended(cause), message("")); !errors.Is(err, cause) {
			t.Errorf("%v, want %v", err, cause)
		}
		if _, err := os.Stat(file); err == nil {
			t.Error("it ran")
		}
	}
}

// lines hands on each line that a command prints.
type lines struct {
	partial []byte
	out     chan string
}

func newLines() *lines { return &lines{out: make(chan string, 100)} }

func (l *lines) Write(b []byte) (int, error) {
	l.partial = append(l.partial, b...)
	for {
		line, rest, found := bytes.Cut(l.partial, []byte("\n"))
		if !found {
			return len(b), nil
		}
		l.out <- string(line)
		l.partial = rest
	}
}

func (l *lines) next(t *testing.T) string {
	t.Helper()
	select {
	case line := <-l.out:
		return line
	case <-time.After(30 * time.Second):
		t.Fatal("the command printed nothing")
		return ""
	}
}

func (l *lines) pid(t *testing.T) int {
	t.Helper()
	return number(t, l.next(t))
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// alive reports whether a process runs. One that has ended counts as gone, though nobody
// may have collected it: that is not ours to do for children of children.
func alive(t *testing.T, pid int) bool {
	t.Helper()
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) || !hasProc()
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}

func hasProc() bool {
	_, err := os.Stat("/proc/self/stat")
	return err == nil
}

// wantGone waits until a process that was killed has gone.
func wantGone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); alive(t, pid); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("process %d still runs", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
			return
		}
	}
}

// interrupted runs a line and ends its context once it has printed "ready". It returns the
// process ids that were printed before.
func interrupted(t *testing.T, line string, cause error, o handler.ExecOptions) (pids []int, err error) {
	t.Helper()
	out := newLines()
	o.Stdout = out
	h := shell(t, line, o)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	result := make(chan error, 1)
	go func() { result <- h(ctx, message("hello")) }()
	for got := out.next(t); got != "ready"; got = out.next(t) {
		pids = append(pids, number(t, got))
	}
	cancel(cause)
	return pids, <-result
}

func TestExecEndsWithItsContext(t *testing.T) {
	for _, cause := range causes() {
		t.Run(cause.Error(), func(t *testing.T) {
			t.Parallel()
			_, err := interrupted(t, "echo half way >&2; echo ready; exec sleep 1000", cause, handler.ExecOptions{})
			if !errors.Is(err, cause) {
				t.Errorf("%v does not wrap %v", err, cause)
			}
			wantText(t, err, cause.Error()+", the command was ended: half way")
			wantPlain(t, err)
		})
	}
}

// A program that ends well when it is told to end has not handled its message.
func TestExecToldToEndIsNotDone(t *testing.T) {
	for _, status := range []int{0, 75} {
		line := fmt.Sprintf("trap 'exit %d' TERM; echo ready; while :; do sleep 0.01; done", status)
		_, err := interrupted(t, line, queue.ErrTimeLimit, handler.ExecOptions{})
		if !errors.Is(err, queue.ErrTimeLimit) {
			t.Errorf("exit status %d: %v", status, err)
		}
		wantPlain(t, err)
	}
}

func TestExecKillsWhatDoesNotEnd(t *testing.T) {
	t.Parallel()
	line := "trap '' TERM; sh -c 'while :; do sleep 0.01; done' & echo $$; echo $!; echo ready; while :; do sleep 0.01; done"
	pids, err := interrupted(t, line, queue.ErrNotOurs, handler.ExecOptions{Grace: 50 * time.Millisecond})
	if !errors.Is(err, queue.ErrNotOurs) {
		t.Error(err)
	}
	for _, pid := range pids {
		wantGone(t, pid)
	}
}

// The command's own children are told as well, and have their grace though it has gone.
func TestExecTellsTheWholeGroup(t *testing.T) {
	t.Parallel()
	cleaned := filepath.Join(t.TempDir(), "cleaned")
	child := "trap 'sleep 0.2; touch " + cleaned + "; exit' TERM; echo ready; while :; do sleep 0.01; done"
	pids, err := interrupted(t, `sh -c "echo \$\$; `+child+`" & wait`, queue.ErrAbandoned, handler.ExecOptions{})
	if !errors.Is(err, queue.ErrAbandoned) {
		t.Error(err)
	}
	if _, err := os.Stat(cleaned); err != nil {
		t.Error("the child could not clean up:", err)
	}
	for _, pid := range pids {
		wantGone(t, pid)
	}
}

// What a command leaves behind when it exits by itself holds its pipes, and is no failure.
func TestExecLeavesTheBackgroundAlone(t *testing.T) {
	t.Parallel()
	out := newLines()
	err := shell(t, "sleep 1000 & echo $!", handler.ExecOptions{Stdout: out})(t.Context(), message(strings.Repeat("x", 1<<20)))
	if err != nil {
		t.Error(err)
	}
	pid := out.pid(t)
	if !alive(t, pid) {
		t.Error("it was ended")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}
