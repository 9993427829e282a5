package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"redq/queue/queuetest"
	"redq/ui/cli"
)

func TestImportAsksAtATerminal(t *testing.T) {
	server := queuetest.Redis(t)
	queuetest.Seed(t, server)
	file := filepath.Join(t.TempDir(), "orders.jsonl")
	lines := `{"place":"dead","payload":"one"}` + "\n" + `{"place":"dead","payload":"two\u001b[2J"}` + "\n"
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		answer string
		status int
		added  int64
	}{{"\n", 1, 0}, {"y\n", 0, 2}} {
		before := server.Client.LLen(t.Context(), "orders:dead").Val()
		s := atTerminal(t, server.URL, "import", "orders", file)
		s.waitFor("[y/N]")
		if shown := s.shown(); !strings.Contains(shown, "  one\r\n") || !strings.Contains(shown, "2 to dead (orders:dead)") || strings.Contains(shown, "\x1b[2J") {
			t.Errorf("%q", shown)
		}
		s.answer(c.answer)
		s.ends(c.status)
		if added := server.Client.LLen(t.Context(), "orders:dead").Val() - before; added != c.added {
			t.Errorf("%q: %d were added", c.answer, added)
		}
	}
	s := atTerminal(t, server.URL, "import", "orders")
	s.waitFor("expected a FILE")
	s.ends(2)
}

// The operator gives up while more lines are to come: it says which are done.
func TestImportIsCancelled(t *testing.T) {
	server := queuetest.Redis(t)
	in, feed := io.Pipe()
	defer in.Close()
	var out, errs bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	status := make(chan int, 1)
	dir := t.TempDir()
	program := cli.Program{Stdin: in, Stdout: &out, Stderr: &errs, Now: time.Now, Env: func(name string) string {
		switch name {
		case "REDIS_URL":
			return server.URL
		case "XDG_CONFIG_HOME", "XDG_STATE_HOME":
			return dir
		}
		return ""
	}}
	go func() {
		status <- program.Run(ctx, []string{"import", "q", "--create", "--yes", "--no-journal"})
	}()
	for i := range 1500 {
		if _, err := fmt.Fprintf(feed, `{"place":"ready","payload":"m%d"}`+"\n", i); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(20 * time.Second); server.Client.LLen(t.Context(), "q").Val() < 1000; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing was imported")
		}
	}
	cancel()
	if got := <-status; got != 1 {
		t.Errorf("status %d", got)
	}
	if want := "imported 1000 (ready 1000)\n"; out.String() != want {
		t.Errorf("%q, want %q", &out, want)
	}
	if want := "redq: stopped: cancelled; lines 1 to 1000 are done, nothing behind was sent; --from-line 1001 goes on\n"; errs.String() != want {
		t.Errorf("%q, want %q", &errs, want)
	}
}
