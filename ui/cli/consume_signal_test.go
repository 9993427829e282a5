package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"redq/queue/queuetest"
)

// slowly is a consumer at a terminal whose handler takes until release is called.
type slowly struct {
	*session
	server *queuetest.Server
	gate   string
}

func consumeSlowly(t *testing.T, args ...string) slowly {
	t.Helper()
	server := queuetest.Redis(t)
	if err := server.Client.LPush(t.Context(), "orders", "first", "second").Err(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	begun, gate := filepath.Join(dir, "begun"), filepath.Join(dir, "gate")
	wait := fmt.Sprintf("touch %s; until test -e %s; do sleep 0.01; done", begun, gate)
	args = append([]string{"consume", "orders", "--concurrency", "1", "--id", "tester", "--exec", wait}, args...)
	s := slowly{atTerminal(t, server.URL, args...), server, gate}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(begun); err == nil {
			return s
		}
		if time.Now().After(deadline) {
			t.Fatalf("no handler began:\n%s", s.shown())
		}
	}
}

// release lets the handlers end.
func (s slowly) release() {
	s.t.Helper()
	if err := os.WriteFile(s.gate, nil, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s slowly) signal(sig os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

func (s slowly) wants(key string, want ...string) {
	s.t.Helper()
	got, err := s.server.Client.LRange(s.t.Context(), key, 0, -1).Result()
	if err != nil || !slices.Equal(got, want) {
		s.t.Errorf("%s holds %q (%v), want %q\n%s", key, got, err, want, s.shown())
	}
}

// A first signal lets what is in hand be finished and puts back what nobody began.
// A ctrl+c at the terminal does not reach the command that handles it.
func TestConsumeStops(t *testing.T) {
	for _, c := range []struct {
		name string
		stop func(slowly)
	}{
		{"ctrl+c", func(s slowly) { s.answer("\x03") }},
		{"INT", func(s slowly) { s.signal(os.Interrupt) }},
		{"TERM", func(s slowly) { s.signal(syscall.SIGTERM) }},
		{"HUP, more than once", func(s slowly) {
			s.signal(syscall.SIGHUP)
			s.waitFor("redq: stopping")
			s.signal(syscall.SIGHUP)
		}},
	} {
		for _, pattern := range []string{"pipeline", "backup-list", "list-block"} {
			t.Run(c.name+" "+pattern, func(t *testing.T) {
				t.Parallel()
				s := consumeSlowly(t, "--pattern", pattern)
				c.stop(s)
				s.waitFor("redq: stopping: finishing ")
				s.release()
				s.ends(0)
				s.waitFor(", done 1")
				s.wants("orders", "second")
				s.wants("orders:backup")
				s.wants("orders:backup:tester")
				s.wants("orders:dead")
			})
		}
	}
}

// A second signal ends it at once, and the message is kept.
func TestConsumeIsForced(t *testing.T) {
	for _, c := range []struct {
		pattern, says, key string
		left               []string // in key; what nobody began may be there too
	}{
		{"pipeline", "they stay in backup", "orders:backup:tester", []string{"first"}},
		{"backup-list", "they stay in backup", "orders:backup", []string{"first"}},
		{"list-block", "they are put back", "orders", []string{"second", "first"}},
	} {
		t.Run(c.pattern, func(t *testing.T) {
			t.Parallel()
			s := consumeSlowly(t, "--pattern", c.pattern, "--batch", "1")
			s.signal(os.Interrupt)
			s.waitFor("(again to force: " + c.says)
			time.Sleep(600 * time.Millisecond) // sooner it could be an echo
			s.signal(syscall.SIGTERM)
			s.ends(1)
			s.waitFor("redq: forced to stop with messages in hand: " + c.says)
			s.wants(c.key, c.left...)
			s.wants("orders:dead")
		})
	}
}

// A terminal that is closed takes nothing along.
func TestConsumeOutlivesItsTerminal(t *testing.T) {
	s := consumeSlowly(t, "--pattern", "pipeline")
	if err := s.tty.Close(); err != nil {
		t.Fatal(err)
	}
	s.release()
	<-s.done
	_ = s.cmd.Wait() // with whatever status: nobody is there to see it
	s.wants("orders:backup:tester")
	s.wants("orders:dead")
}

// What nohup made it ignore does not stop it.
func TestConsumeUnderNohup(t *testing.T) {
	server := queuetest.Redis(t)
	s := runAtTerminal(t, server.URL, exec.Command("sh", "-c", "trap '' HUP; exec redq consume orders --pattern pipeline"))
	for _, payload := range []string{"first", "second"} {
		if err := server.Client.LPush(t.Context(), "orders", payload).Err(); err != nil {
			t.Fatal(err)
		}
		s.waitFor(payload)
		if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.ends(0)
	s.waitFor("taken 2, done 2")
}

// Who has seen enough stops it, and what was not shown is still there.
func TestConsumeIntoAClosedPipe(t *testing.T) {
	server := queuetest.Redis(t)
	const all = 5000
	for i := range all {
		if err := server.Client.LPush(t.Context(), "orders", fmt.Sprint(i)).Err(); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", "{ redq consume orders --pattern pipeline --concurrency 1 --json --log; echo $? > status; } | head -n 3")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "REDIS_URL="+server.URL, "XDG_CONFIG_HOME="+dir)
	cmd.WaitDelay = time.Minute
	out, err := cmd.Output()
	if err != nil || strings.Count(string(out), "\n") != 3 {
		t.Fatalf("%v, and printed:\n%s", err, out)
	}
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil || string(status) != "0\n" {
		t.Errorf("exit status %q, %v", status, err)
	}
	ready, err := server.Client.LLen(t.Context(), "orders").Result()
	if err != nil {
		t.Fatal(err)
	}
	delayed, err := server.Client.ZCard(t.Context(), "orders:delayed").Result()
	if err != nil || ready+delayed == 0 || ready+delayed >= all {
		t.Errorf("%d left in ready, %d delayed, %v", ready, delayed, err)
	}
	for _, empty := range []string{"orders:backup*", "orders:dead"} {
		if keys, err := server.Client.Keys(t.Context(), empty).Result(); err != nil || len(keys) > 0 {
			t.Errorf("left: %q, %v", keys, err)
		}
	}
}
