package queue_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/queuetest"
)

const secret = "hunter2/@x"

// secretURL is a URL with a password that must never be shown.
func secretURL(addr string) string { return "redis://:hunter2%2F%40x@" + addr }

func wantNoSecret(t testing.TB, text string) {
	t.Helper()
	if strings.Contains(text, "hunter2") {
		t.Errorf("shows the password: %s", text)
	}
}

func TestOpenSaysWhatIsWrongInOneSentence(t *testing.T) {
	t.Parallel()
	plain := queuetest.Redis(t)
	locked := queuetest.WithPassword(t, "right")
	secure := queuetest.TLS(t)
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	closed := deadPort(t)
	mute := queuetest.NewProxy(t, plain.Addr)
	mute.BlackHole(true)
	silly := talker(t, "220 mail.example.com ESMTP\r\n")

	tests := []struct {
		name string
		o    queue.Options
		want string
	}{
		{"nobody listens", queue.Options{URL: secretURL(closed)}, "nobody listens at " + closed},
		{"no socket", queue.Options{URL: "unix:///nowhere/redis.sock"}, "there is no socket /nowhere/redis.sock"},
		{"unknown host", queue.Options{URL: secretURL("no-such-host.invalid:6379")}, "no-such-host.invalid"},
		{"wrong password", queue.Options{URL: secretURL(locked.Addr)}, locked.Addr + "/0: wrong user name or password"},
		{"wrong user", queue.Options{URL: locked.URL, Username: "eve", Password: secret}, "wrong user name or password"},
		{"no password", queue.Options{URL: locked.URL}, "the server wants a password"},
		{"http", queue.Options{URL: strings.Replace(web.URL, "http", "redis", 1)}, "HTTP server"},
		{"other protocol", queue.Options{URL: "redis://" + silly}, "does not speak Redis's protocol"},
		{"tls to a plain port", queue.Options{URL: "rediss://" + plain.Addr, Timeout: time.Second}, "does not speak TLS"},
		{"plain to a tls port", queue.Options{URL: "redis://" + secure.Addr}, "TLS (rediss://)?"},
		{"unknown authority", queue.Options{URL: secure.URL}, "unknown authority: name it with --tls-ca"},
		{"no answer", queue.Options{URL: mute.URL, Timeout: 200 * time.Millisecond}, "does not answer in time"},
		{"database number", queue.Options{URL: plain.URL + "/99"}, "no database of that number"},
		{"not a cluster", queue.Options{URL: plain.URL, Cluster: true}, "not part of a cluster"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := queue.Open(t.Context(), tt.o)
			if err == nil {
				c.Close()
				t.Fatal("opened")
			}
			text := err.Error()
			if !strings.Contains(text, tt.want) {
				t.Errorf("got %q, want it to contain %q", text, tt.want)
			}
			if strings.ContainsAny(text, "\r\n") || strings.HasPrefix(text, "redis:") {
				t.Errorf("not a plain sentence: %q", text)
			}
			if again := queue.Explain(fmt.Errorf("wrapped: %w", err)); again != text {
				t.Errorf("Explain says %q of %q", again, text)
			}
			wantNoSecret(t, text)
			if errors.As(err, new(*queue.BadOptionsError)) {
				t.Error("is a usage error")
			}
		})
	}
}

func TestBadOptions(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		o    queue.Options
		want string
	}{
		{queue.Options{URL: "localhost"}, "must begin with redis://"},
		{queue.Options{URL: "http://:hunter2@host"}, "must begin with redis://"},
		{queue.Options{URL: "redis://:hunter2/x@host:1"}, "expected redis://"},
		{queue.Options{URL: "redis://user/hunter2@host:1"}, "database number"},
		{queue.Options{URL: "redis://host/hunter2"}, "database number"},
		{queue.Options{URL: "redis://host/-1"}, "database number"},
		{queue.Options{URL: "redis://host?db=-1"}, "not negative"},
		{queue.Options{URL: "redis://:hunter2@host?colour=red"}, "unexpected option: colour"},
		{queue.Options{URL: "redis://:hunter2@%zz"}, "expected redis://"},
		{queue.Options{URL: "unix://run/redis.sock"}, "absolute path"},
		{queue.Options{URL: "unix://"}, "absolute path"},
		{queue.Options{URL: "redis://a:1,b:2"}, "--cluster or --sentinel-master"},
		{queue.Options{URL: "redis://a:1/2", Cluster: true}, "no database but 0"},
		{queue.Options{URL: "unix:///x", Cluster: true}, "unix socket"},
		{queue.Options{Cluster: true, SentinelMaster: "m"}, "exclude each other"},
		{queue.Options{URL: "redis://eve@host"}, "has no password"},
		{queue.Options{TLSCA: "/nowhere.pem"}, "--tls-ca"},
		{queue.Options{TLSCA: empty}, "holds no certificate"},
		{queue.Options{TLSCert: empty}, "belong together"},
		{queue.Options{TLSCert: empty, TLSKey: empty}, "--tls-cert, --tls-key"},
		{queue.Options{URL: "unix:///x", TLSCA: empty}, "TLS over a unix socket"},
	}
	for _, tt := range tests {
		_, err := queue.Open(t.Context(), tt.o)
		var bad *queue.BadOptionsError
		if !errors.As(err, &bad) {
			t.Errorf("%+v: %v, want a usage error", tt.o, err)
			continue
		}
		if !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %q, want it to contain %q", tt.o, err, tt.want)
		}
		wantNoSecret(t, err.Error())
	}
}

func TestOpenReaches(t *testing.T) {
	plain := queuetest.Redis(t)
	locked := queuetest.WithPassword(t, secret)
	secure := queuetest.TLS(t)
	eve := locked.User("eve", "pw", "~* +llen +lrange") // not even PING or CLIENT
	tests := []struct {
		name    string
		o       queue.Options
		address string
	}{
		{"tcp", queue.Options{URL: plain.URL}, plain.Addr + "/0"},
		{"database", queue.Options{URL: plain.URL + "/3"}, plain.Addr + "/3"},
		{"unix", queue.Options{URL: "unix://" + plain.Sock}, plain.Sock},
		{"unix database", queue.Options{URL: "unix://" + plain.Sock + "?db=2"}, plain.Sock + "?db=2"},
		{"password in the URL", queue.Options{URL: secretURL(locked.Addr)}, locked.Addr + "/0"},
		{"password beside it", queue.Options{URL: locked.URL, Password: secret}, locked.Addr + "/0"},
		{"restricted user", queue.Options{URL: eve}, locked.Addr + "/0"},
		{"tls", queue.Options{URL: secure.URL, TLSCA: secure.CA}, secure.Addr + "/0"},
		{"tls by files", queue.Options{URL: "redis://" + secure.Addr, TLSCA: secure.CA}, secure.Addr + "/0"},
		{"resp3", queue.Options{URL: plain.URL + "?protocol=3"}, plain.Addr + "/0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := queue.Open(t.Context(), tt.o)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if c.Address() != tt.address {
				t.Errorf("address %q, want %q", c.Address(), tt.address)
			}
			if _, err := c.Peek(t.Context(), queue.Named("orders"), queue.Ready, 0, 10); err != nil {
				t.Errorf("peek: %v", err)
			}
		})
	}
}

func TestTheClientNamesItself(t *testing.T) {
	s := queuetest.Redis(t)
	reader(t, s.URL)
	clients := s.Client.ClientList(t.Context()).Val()
	if !strings.Contains(clients, "name=redq") {
		t.Errorf("no client is named redq:\n%s", clients)
	}
}

func TestNothingIsWrittenOnStandardError(t *testing.T) {
	s := queuetest.Redis(t)
	var mu sync.Mutex
	var lines []string
	c, err := queue.Open(t.Context(), queue.Options{URL: s.URL, Logf: func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, fmt.Sprintf(format, args...))
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s.Stop()
	if _, err := c.Server(t.Context()); err == nil {
		t.Error("a stopped server answers")
	}
	mu.Lock()
	defer mu.Unlock()
	if len(lines) == 0 {
		t.Error("go-redis's log did not arrive")
	}
}

func TestServer(t *testing.T) {
	t.Run("real", func(t *testing.T) {
		s := queuetest.Redis(t, "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
		rpush(t, s, "orders", "a")
		c := reader(t, s.URL)
		got, err := c.Server(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got.Address != s.Addr+"/0" || got.Mode != "standalone" || got.Role != "master" || got.Version == "" ||
			got.Max != 100<<20 || got.Used <= 0 || !got.EvictsQueues() || got.Keys != 1 || got.Clients < 1 ||
			got.Ping <= 0 || got.Now.IsZero() || got.Loading || got.Denied != nil {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("embedded", func(t *testing.T) {
		s := queuetest.Embedded(t)
		rpush(t, s, "orders", "a")
		c := reader(t, s.URL)
		got, err := c.Server(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got.Keys != 1 || got.Ping <= 0 || got.Now.IsZero() || got.Version != "" || got.EvictsQueues() {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("denied", func(t *testing.T) {
		s := queuetest.Redis(t)
		c, err := queue.Open(t.Context(), queue.Options{URL: s.User("eve", "pw", "~* +ping")})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		got, err := c.Server(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if strings.Join(got.Denied, " ") != "TIME DBSIZE INFO" || got.Keys != -1 || got.Ping <= 0 || got.Now.IsZero() {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("replica", func(t *testing.T) {
		s := queuetest.Redis(t, "--replicaof", "127.0.0.1", "1")
		c := reader(t, s.URL)
		if got, err := c.Server(t.Context()); err != nil || got.Role != "replica" {
			t.Errorf("role %q, %v", got.Role, err)
		}
	})
}

func TestExplain(t *testing.T) {
	tests := []struct {
		err  error
		want string
	}{
		{nil, ""},
		{queue.ErrGone, "already gone"},
		{fmt.Errorf("%w: %w", queue.ErrUnknownOutcome, context.DeadlineExceeded), "outcome unknown: the server does not answer in time"},
		{&queue.RefusedError{Code: "OOM", Text: "out of memory"}, "out of memory"},
		{&queue.BadOptionsError{Reason: "no"}, "no"},
		{context.Canceled, "cancelled"},
		{errors.New("dial redis://:hunter2@host:1 failed"), "dial redis://***@host:1 failed"},
	}
	for _, tt := range tests {
		if got := queue.Explain(tt.err); got != tt.want {
			t.Errorf("Explain(%v) = %q, want %q", tt.err, got, tt.want)
		}
	}
}

// deadPort returns a loopback address on which nobody listens.
func deadPort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// talker listens and greets everyone with text.
func talker(t testing.TB, text string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte(text))
			t.Cleanup(func() { conn.Close() })
		}
	}()
	return l.Addr().String()
}

func TestFailuresWhileRunningAreExplained(t *testing.T) {
	t.Parallel()
	s := queuetest.Redis(t)
	p := queuetest.NewProxy(t, s.Addr)
	c, err := queue.Open(t.Context(), queue.Options{URL: p.URL, Timeout: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	sampler := c.NewSampler()
	qs := []queue.Queue{queue.Named("orders")}
	poll := func() string {
		_, err := sampler.Sample(t.Context(), qs)
		return queue.Explain(err)
	}
	expect := func(want string) {
		t.Helper()
		if got := poll(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	expect("")
	p.CutReplies(true)
	expect("the server closed the connection")
	p.CutReplies(false)
	expect("")
	p.BlackHole(true)
	expect("the server does not answer in time")
	p.BlackHole(false)
	p.Cut()
	expect("")
	p.Refuse(true)
	p.Cut()
	for range 40 { // longer than go-redis dials for every command
		expect("nobody listens at " + p.Addr)
	}
	p.Refuse(false)
	eventually(t, func() bool { return poll() == "" })
}

// A server without what came after 3.2.
func TestAnOldServer(t *testing.T) {
	args := []string{"--requirepass", "pw"}
	for _, command := range []string{"HELLO", "LPOS", "LMOVE", "BLMOVE", "MEMORY", "UNLINK", "ACL"} {
		args = append(args, "--rename-command", command, "")
	}
	s := queuetest.WithPassword(t, "pw", args...)
	rpush(t, s, "orders", "a", "b", "a")
	c, err := queue.Open(t.Context(), queue.Options{URL: s.URL, Password: "pw"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	page, err := c.Peek(t.Context(), queue.Named("orders"), queue.Ready, 0, 10)
	if err != nil || page.Total != 3 {
		t.Fatalf("%v, %v", page, err)
	}
	for range 2 {
		if n, more, err := c.Copies(t.Context(), page.Messages[0], 10); n != 2 || more || err != nil {
			t.Errorf("%d copies, more %v, %v", n, more, err)
		}
	}
	if m, err := c.Load(t.Context(), page.Messages[1]); err != nil || m.Index != 1 {
		t.Errorf("load: %+v, %v", m, err)
	}
	if p, err := c.NewSampler().Sample(t.Context(), []queue.Queue{queue.Named("orders")}); err != nil || p.Samples[0].Ready.N != 3 {
		t.Errorf("sample: %+v, %v", p, err)
	}
	_, err = queue.Open(t.Context(), queue.Options{URL: s.URL, Password: "wrong"})
	if err == nil || !strings.Contains(err.Error(), "wrong user name or password") {
		t.Errorf("wrong password: %v", err)
	}
}
