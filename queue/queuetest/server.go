// Package queuetest starts servers for the tests of other packages: a real
// redis-server or the embedded one, and a proxy that cuts, delays and refuses.
// It knows processes and sockets, and nothing of queues.
package queuetest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// Server is a server that lives as long as its test.
type Server struct {
	Addr string // 127.0.0.1:port
	URL  string // redis://127.0.0.1:port, or rediss:// with TLS; no password
	Sock string // path of the unix socket; "" for the embedded server
	CA   string // PEM file of the authority that signed the certificate; "" without TLS
	// Client is logged in with every right, for laying down and checking data.
	Client *redis.Client
	// Mini is the embedded server, nil when the server is a real one.
	Mini *miniredis.Miniredis

	t      testing.TB
	args   []string
	cmd    *exec.Cmd     // the running process; nil while stopped or embedded
	exited chan struct{} // closed when cmd has ended
}

// attempts is how often a port is tried: another process may take a free port
// between finding it and listening on it.
const attempts = 5

// startWithin bounds the wait for a first answer, on a busy machine.
const startWithin = 20 * time.Second

// Redis starts a redis-server without persistence on a free loopback port, with
// args behind its own arguments, and stops it when the test ends. Without a
// redis-server on PATH the test is skipped, or fails when CI=true.
func Redis(t testing.TB, args ...string) *Server {
	t.Helper()
	return start(t, &redis.Options{}, args...)
}

// WithPassword starts a redis-server whose default user needs the password.
func WithPassword(t testing.TB, password string, args ...string) *Server {
	t.Helper()
	args = append([]string{"--requirepass", password}, args...)
	return start(t, &redis.Options{Password: password}, args...)
}

// Embedded starts the embedded server.
func Embedded(t testing.TB) *Server {
	t.Helper()
	mini := miniredis.NewMiniRedis()
	if err := mini.StartAddr("127.0.0.1:0"); err != nil {
		t.Fatalf("starting the embedded server: %v", err)
	}
	s := &Server{Addr: mini.Addr(), URL: "redis://" + mini.Addr(), Mini: mini, t: t}
	s.Client = redis.NewClient(&redis.Options{Addr: s.Addr, Protocol: 2, DisableIdentity: true})
	t.Cleanup(func() {
		_ = s.Client.Close()
		mini.Close()
	})
	return s
}

// Each runs a test against a real server and against the embedded one.
func Each(t *testing.T, run func(t *testing.T, s *Server)) {
	t.Helper()
	t.Run("redis", func(t *testing.T) { run(t, Redis(t)) })
	t.Run("embedded", func(t *testing.T) { run(t, Embedded(t)) })
}

// User adds an ACL user of a real server with the rules, e.g. "on >pw ~* +@read",
// and returns the URL that logs in as it.
func (s *Server) User(name, password, rules string) string {
	s.t.Helper()
	args := []any{"ACL", "SETUSER", name, "reset", "on", ">" + password}
	for _, rule := range splitLine(rules) {
		args = append(args, rule)
	}
	if err := s.Client.Do(context.Background(), args...).Err(); err != nil {
		s.t.Fatalf("adding user %s: %v", name, err)
	}
	return fmt.Sprintf("redis://%s:%s@%s", name, password, s.Addr)
}

// Pid returns the process id of a real server that runs, else 0.
func (s *Server) Pid() int {
	if s.cmd == nil {
		return 0
	}
	return s.cmd.Process.Pid
}

// Stop ends the server. A real one loses its data unless it was given a --save;
// the embedded one keeps it.
func (s *Server) Stop() {
	s.t.Helper()
	if s.Mini != nil {
		s.Mini.Close()
		return
	}
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGCONT)
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	s.reap()
}

// Kill ends a real server at once, as kill -9 does.
func (s *Server) Kill() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		s.reap()
	}
}

// Stall stops a real server's process from running until Resume: it accepts
// connections and answers nothing.
func (s *Server) Stall() { s.signal(syscall.SIGSTOP) }

// Resume ends a Stall.
func (s *Server) Resume() { s.signal(syscall.SIGCONT) }

// Start starts a stopped server again on the same port.
func (s *Server) Start() {
	s.t.Helper()
	if s.Mini != nil {
		if err := s.Mini.Restart(); err != nil {
			s.t.Fatalf("restarting the embedded server: %v", err)
		}
		return
	}
	if err := s.launch(); err != nil {
		s.t.Fatalf("restarting redis-server: %v", err)
	}
}

func start(t testing.TB, o *redis.Options, args ...string) *Server {
	t.Helper()
	return startWith(t, o, nil, args...)
}

// startWith starts a process with arguments before and behind those every server has.
func startWith(t testing.TB, o *redis.Options, before []string, args ...string) *Server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("redis-server is not on PATH, and CI=true")
		}
		t.Skip("redis-server is not on PATH")
	}
	// Not t.TempDir: its path may be longer than a unix socket's may be.
	dir, err := os.MkdirTemp("", "redq")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Sock: filepath.Join(dir, "s"), t: t}
	t.Cleanup(func() {
		s.Kill()
		_ = os.RemoveAll(dir)
	})
	for range attempts {
		port := freePort(t)
		s.Addr = net.JoinHostPort("127.0.0.1", port)
		s.URL = "redis://" + s.Addr
		portFlag := "--port"
		if o.TLSConfig != nil {
			s.URL, portFlag = "rediss://"+s.Addr, "--tls-port"
			args = append([]string{"--port", "0"}, args...)
		}
		s.args = slices.Concat(before, []string{portFlag, port, "--bind", "127.0.0.1", "--unixsocket", s.Sock,
			"--dir", dir, "--save", "", "--appendonly", "no", "--logfile", filepath.Join(dir, "log")}, args)
		o.Addr, o.Protocol, o.DisableIdentity = s.Addr, 2, true
		s.Client = redis.NewClient(o)
		if err = s.launch(); err == nil {
			t.Cleanup(func() { _ = s.Client.Close() })
			return s
		}
		_ = s.Client.Close()
	}
	log, _ := os.ReadFile(filepath.Join(dir, "log"))
	t.Fatalf("starting redis-server: %v\n%s", err, log)
	return nil
}

// launch starts the process and waits until it answers.
func (s *Server) launch() error {
	cmd := exec.Command("redis-server", s.args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	s.cmd, s.exited = cmd, exited
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	for deadline := time.Now().Add(startWithin); time.Now().Before(deadline); {
		err := s.Client.Ping(context.Background()).Err()
		var reply redis.Error
		if err == nil || errors.As(err, &reply) && !redis.IsLoadingError(err) {
			return nil
		}
		select {
		case <-exited:
			s.cmd = nil
			return fmt.Errorf("it ended at once: %s", cmd.ProcessState)
		case <-time.After(5 * time.Millisecond):
		}
	}
	s.Kill()
	return errors.New("no answer in time")
}

// reap waits for the process that was told to end.
func (s *Server) reap() {
	select {
	case <-s.exited:
	case <-time.After(startWithin):
		_ = s.cmd.Process.Kill()
		<-s.exited
	}
	s.cmd = nil
}

func (s *Server) signal(sig syscall.Signal) {
	s.t.Helper()
	if s.cmd == nil {
		s.t.Fatalf("no process to send %v to", sig)
	}
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}
