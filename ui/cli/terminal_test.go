package cli_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"redq/queue/queuetest"
)

// session is redq at a terminal.
type session struct {
	t    *testing.T
	tty  *os.File
	cmd  *exec.Cmd
	done chan struct{} // closed when the output has ended

	mu     sync.Mutex
	output bytes.Buffer
}

func atTerminal(t *testing.T, url string, args ...string) *session {
	t.Helper()
	return runAtTerminal(t, url, exec.Command("redq", args...))
}

func runAtTerminal(t *testing.T, url string, cmd *exec.Cmd) *session {
	t.Helper()
	dir := t.TempDir()
	cmd.Env = append(os.Environ(), "REDIS_URL="+url, "XDG_CONFIG_HOME="+dir, "XDG_STATE_HOME="+dir, "TERM=dumb")
	tty, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, tty: tty, cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		_, _ = io.Copy(s, tty) // ends with EIO when the program does
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = tty.Close()
	})
	return s
}

func (s *session) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.output.Write(b)
}

func (s *session) shown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.output.String()
}

// waitFor returns when text is on the screen.
func (s *session) waitFor(text string) {
	s.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(s.shown(), text); {
		if time.Now().After(deadline) {
			s.t.Fatalf("no %q in:\n%s", text, s.shown())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (s *session) answer(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.tty, text); err != nil {
		s.t.Fatal(err)
	}
}

// ends waits for the end of the program and checks its exit status.
func (s *session) ends(status int) {
	s.t.Helper()
	<-s.done
	err := s.cmd.Wait()
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		s.t.Fatal(err)
	}
	if got != status {
		s.t.Errorf("exit status %d, want %d:\n%s", got, status, s.shown())
	}
}

func TestConfirm(t *testing.T) {
	server := queuetest.Redis(t)
	queuetest.Seed(t, server)
	for _, c := range []struct {
		name, answer string
		status       int
		left         int64
	}{
		{"enter is no", "\n", 1, 3},
		{"anything else is no", "why?\n", 1, 3},
		{"the end of input is no", "\x04", 1, 3},
		{"y", "y\n", 0, 2},
		{"YES", "YES\n", 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := atTerminal(t, server.URL, "redrive", "queueA", "-n", "1")
			s.waitFor("Re-drive 1 message from backup of queueA (queueA:backup) to the back of queueA on " + server.Addr + "/0? [y/N] ")
			s.answer(c.answer)
			s.ends(c.status)
			left, err := server.Client.LLen(t.Context(), "queueA:backup").Result()
			if err != nil || left != c.left {
				t.Errorf("%d left in backup (%v), want %d", left, err, c.left)
			}
			if c.status != 0 && !strings.Contains(s.shown(), "nothing was done") {
				t.Errorf("it does not say that nothing was done:\n%s", s.shown())
			}
		})
	}
}

func TestTheSetIsFixedBeforeTheQuestion(t *testing.T) {
	server := queuetest.Redis(t)
	queuetest.Seed(t, server)
	s := atTerminal(t, server.URL, "delete", "queueA", "--in", "ready", "--all")
	s.waitFor("Delete 4 messages from ready of queueA")
	ctx := t.Context()
	if err := server.Client.LPush(ctx, "queueA", "late").Err(); err != nil {
		t.Fatal(err)
	}
	if err := server.Client.RPop(ctx, "queueA").Err(); err != nil { // a consumer takes Hello-3
		t.Fatal(err)
	}
	s.answer("y\n")
	s.ends(0)
	if !strings.Contains(s.shown(), "deleted 3, 1 already gone") {
		t.Errorf("screen:\n%s", s.shown())
	}
	if left, err := server.Client.LRange(ctx, "queueA", 0, -1).Result(); err != nil || len(left) != 1 || left[0] != "late" {
		t.Errorf("left %q, %v; want the late one", left, err)
	}
}

func TestRescheduleAsksWhoCanAnswer(t *testing.T) {
	server := queuetest.Redis(t)
	queuetest.Seed(t, server)
	s := atTerminal(t, server.URL, "reschedule", "q-demo", "--all", "--in", "5m")
	s.waitFor("Reschedule 10 messages from delayed of q-demo")
	s.answer("n\n")
	s.ends(1)
}

func TestPasswordIsAskedForAndNotShown(t *testing.T) {
	server := queuetest.WithPassword(t, "s3cret")
	if err := server.Client.LPush(t.Context(), "secret-queue", "x").Err(); err != nil {
		t.Fatal(err)
	}
	s := atTerminal(t, server.URL, "ls")
	s.waitFor("password for ")
	s.answer("s3cret\n")
	s.ends(0)
	if out := s.shown(); strings.Contains(out, "s3cret") || !strings.Contains(out, "secret-queue") {
		t.Errorf("screen:\n%s", out)
	}

	s = atTerminal(t, server.URL, "ls")
	s.waitFor("password for ")
	s.answer("wrong\n")
	s.ends(1)
}

func TestTheDashboardOpensAtATerminal(t *testing.T) {
	server := queuetest.Redis(t)
	s := atTerminal(t, server.URL, "--refresh", "2s", "--no-mouse", "--queue", "a", "--match", "x*")
	s.ends(0)
	s.waitFor(`dashboard "" ` + server.Addr + `/0: 1 queues named, journal true, mouse false, refresh 2s, match "x*"`)

	s = atTerminal(t, server.URL, "--read-only")
	s.ends(0)
	s.waitFor("journal false, mouse true")

	s = atTerminal(t, server.URL, "demo")
	s.ends(0)
	s.waitFor(`dashboard "demo" 127.0.0.1:`)
}
