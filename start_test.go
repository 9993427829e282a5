package main_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"redq/queue/queuetest"
	"redq/ui/uitest"
)

// What cannot work says so in one sentence before anything is drawn.
func TestNoServer(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	silent := closedPort(t)
	locked := queuetest.WithPassword(t, "s3cret")
	plain := queuetest.Redis(t)
	secret := func(s *queuetest.Server, user string) string {
		return strings.Replace(s.URL, "redis://", "redis://"+user+"@", 1)
	}
	tests := []struct {
		name string
		args []string
		env  []string
		code int
		says string
	}{
		{"nobody listens", []string{"--url", "redis://" + silent}, nil, 1, silent},
		{"nobody listens, by the environment", nil, []string{"REDIS_URL=redis://" + silent}, 1, silent},
		{"wrong password", []string{"--url", secret(locked, ":wr0ng")}, nil, 1, "wrong user name or password"},
		{"wrong password, by the environment", []string{"--url", locked.URL}, []string{"REDIS_PASSWORD=wr0ng"}, 1, "wrong user name or password"},
		{"no password", []string{"--url", locked.URL}, nil, 1, "password"},
		{"a web server", []string{"--url", "redis://" + web.Listener.Addr().String()}, nil, 1, "(?i)HTTP|not a redis"},
		{"TLS to a plain port", []string{"--url", strings.Replace(plain.URL, "redis", "rediss", 1)}, nil, 1, "TLS"},
		{"unknown host", []string{"--url", "redis://no-such..host"}, nil, 1, "no-such..host"},
		{"a bad URL", []string{"--url", "http://localhost"}, nil, 2, "must begin with redis://"},
		{"a bad flag", []string{"--colour"}, nil, 2, "--colour"},
		{"a bad interval", []string{"--url", plain.URL, "--refresh", "fast"}, nil, 2, "fast"},
		{"a bad word", []string{"dmeo"}, nil, 2, "dmeo"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			term := redq.Start(t, uitest.Options{Args: tt.args, Env: tt.env})
			if code := term.Wait(); code != tt.code {
				t.Errorf("exit status %d, want %d", code, tt.code)
			}
			said := term.Stderr()
			if strings.Count(said, "\n") != 1 || !strings.HasSuffix(said, "\n") {
				t.Errorf("not one line on standard error: %q", said)
			}
			if !regexp.MustCompile(tt.says).MatchString(said) {
				t.Errorf("%q does not say %q", said, tt.says)
			}
			if strings.Contains(said, "wr0ng") || strings.Contains(said, "s3cret") {
				t.Errorf("the password is in %q", said)
			}
			if screen := strings.TrimSpace(term.Screen()); screen != "" {
				t.Errorf("drawn: %q", screen)
			}
			if seqs := strings.Join(uitest.Sequences(term.Raw()), ""); strings.Contains(seqs, "1049") || strings.Contains(seqs, "?25l") {
				t.Errorf("the screen was taken: %q", seqs)
			}
			if m := term.Modes(); m != (uitest.Modes{}) {
				t.Errorf("the terminal was not restored: %+v", m)
			}
		})
	}
}

// closedPort returns an address where nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// A password that was not given is asked for, and not shown.
func TestPasswordPrompt(t *testing.T) {
	t.Parallel()
	s := queuetest.WithPassword(t, "s3cret")
	queuetest.Seed(t, s)
	term := redq.Start(t, uitest.Options{Shell: true, W: 100, H: 30})
	term.WaitFor("$")
	term.Type("redq --url " + s.URL)
	term.Press("enter")
	term.WaitFor("password for")
	term.WaitUntil("until the terminal does not echo", func(string) bool { return term.Modes().Raw })
	term.Type("s3cret")
	term.Press("enter")
	term.WaitMatch(queueASeeded)
	term.Press("q")
	term.WaitMatch(`\$$`)
	if strings.Contains(string(term.Raw()), "s3cret") {
		t.Error("the password was shown")
	}
}

// The password of the URL is shown nowhere.
func TestPasswordIsNotShown(t *testing.T) {
	t.Parallel()
	s := queuetest.WithPassword(t, "s3cret")
	queuetest.Seed(t, s)
	term := redq.Start(t, uitest.Options{W: 100, H: 30, Args: []string{"--url", strings.Replace(s.URL, "//", "//:s3cret@", 1)}})
	term.WaitMatch(queueASeeded)
	term.Press("D", "esc", "?", "esc")
	s.Stop()
	term.WaitMatch(`next try in`)
	if title := term.Title(); !strings.Contains(title, s.Addr) {
		t.Errorf("the title is %q", title)
	}
	term.Press("q")
	leaves(t, term, 0)
	if strings.Contains(string(term.Raw()), "s3cret") {
		t.Error("the password was shown")
	}
}

// The demo brings its own server, which others can join.
func TestDemo(t *testing.T) {
	t.Parallel()
	term := redq.Start(t, uitest.Options{W: 120, H: 36, Args: []string{"demo"}})
	term.WaitMatch(`redis-cli -p \d+`)
	for _, name := range []string{"orders", "notify", "mail", "reminders", "price-watch", "invoices", "stock", "jobs", "audit"} {
		term.WaitFor(name)
	}
	port := regexp.MustCompile(`redis-cli -p (\d+)`).FindStringSubmatch(term.Screen())[1]
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port, Protocol: 2, DisableIdentity: true})
	defer rdb.Close()
	ctx := context.Background()
	if n, err := rdb.LLen(ctx, "audit").Result(); err != nil || n == 0 {
		t.Errorf("joined from outside: audit holds %d, %v", n, err)
	}
	if err := rdb.LPush(ctx, "my-own", "a", "b", "c").Err(); err != nil {
		t.Error(err)
	}
	term.WaitMatch(`my-own +3\b`) // what is added is found
	term.Press("q")
	leaves(t, term, 0)
	if err := rdb.Ping(ctx).Err(); err == nil {
		t.Error("the demo's server still answers")
	}
}

// Without any server, the plain command says where it looked and offers the demo.
// It is not run where there is one: tests connect to their own servers only.
func TestPlainCommandOffersTheDemo(t *testing.T) {
	t.Parallel()
	if c, err := net.Dial("tcp", "localhost:6379"); err == nil {
		_ = c.Close()
		t.Skip("something listens on localhost:6379")
	}
	term := redq.Start(t, uitest.Options{})
	if code := term.Wait(); code != 1 {
		t.Errorf("exit status %d, want 1", code)
	}
	if said := term.Stderr(); !strings.Contains(said, "localhost:6379") || !strings.Contains(said, "redq demo") {
		t.Errorf("it says %q", said)
	}
}
