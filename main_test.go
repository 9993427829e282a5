package main_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"redq/queue/queuetest"
	"redq/ui/uitest"
)

// redq is the program under test, built once; only TestMain writes it.
var redq uitest.Program

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "redq-test")
	if err != nil {
		fatal(err)
	}
	redq, err = uitest.Build(context.Background(), ".", dir, "redq", buildFlags()...)
	if err != nil {
		fatal(err)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(dir)
		os.Exit(code)
	}))
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// open starts the dashboard on a server.
func open(t testing.TB, s *queuetest.Server, o uitest.Options) *uitest.Term {
	t.Helper()
	o.Args = append([]string{"--url", s.URL}, o.Args...)
	return redq.Start(t, o)
}

// seeded starts a server with the queues of queuetest.Seeds.
func seeded(t testing.TB, args ...string) *queuetest.Server {
	t.Helper()
	s := queuetest.Redis(t, args...)
	queuetest.Seed(t, s)
	return s
}

// opened starts the dashboard on a server with the queues of queuetest.Seeds and
// waits until they are on screen.
func opened(t testing.TB, o uitest.Options) (*queuetest.Server, *uitest.Term) {
	t.Helper()
	s := seeded(t)
	term := open(t, s, o)
	term.WaitMatch(queueASeeded)
	return s, term
}

// queueASeeded matches the overview's row of queueA as it is laid down: 4 ready,
// 3 in backup.
const queueASeeded = `queueA +4 +3\b`

// list returns the messages of a list, from its head.
func list(t testing.TB, s *queuetest.Server, key string) []string {
	t.Helper()
	l, err := s.Client.LRange(context.Background(), key, 0, -1).Result()
	if err != nil {
		t.Fatalf("LRANGE %s: %v", key, err)
	}
	return l
}

// becomes waits until a list holds what it should, as redis-cli sees it: the
// screen may tell of a change a moment before or after.
func becomes(t testing.TB, s *queuetest.Server, key string, want ...string) {
	t.Helper()
	var got []string
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if got = list(t, s, key); slices.Equal(got, want) {
			return
		}
	}
	t.Fatalf("%s holds %q, want %q", key, got, want)
}

// leaves waits for the end of a program that was told to end, and checks that it
// left the terminal and standard error as they were.
func leaves(t testing.TB, term *uitest.Term, code int) {
	t.Helper()
	if got := term.Wait(); got != code {
		t.Errorf("exit status %d, want %d", got, code)
	}
	clean(t, term)
	if m := term.Modes(); m != (uitest.Modes{}) {
		t.Errorf("the terminal was not restored: %+v", m)
	}
}

// clean checks that nothing was written to standard error.
func clean(t testing.TB, term *uitest.Term) {
	t.Helper()
	if e := term.Stderr(); e != "" {
		t.Errorf("standard error: %s", e)
	}
}

// lineWith returns the first line of the screen with text in it.
func lineWith(t testing.TB, term *uitest.Term, text string) string {
	t.Helper()
	screen := term.Screen()
	for line := range strings.Lines(screen) {
		if strings.Contains(line, text) {
			return strings.TrimRight(line, "\n")
		}
	}
	t.Fatalf("no line with %q on\n%s", text, screen)
	return ""
}
