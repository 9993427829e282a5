package queuetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

func TestServers(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		Seed(t, s)
		if n := s.Client.LLen(ctx, "notify-queue").Val(); n != 3 {
			t.Errorf("notify-queue holds %d, want 3", n)
		}
		if n := s.Client.ZCard(ctx, "reminders:delayed").Val(); n != 400 {
			t.Errorf("reminders:delayed holds %d, want 400", n)
		}
		want := `{"to":"a3@example.com","tpl":"receipt"}`
		if got := s.Client.LIndex(ctx, "mail-batch", 0).Val(); got != want {
			t.Errorf("mail-batch[0] = %s, want %s", got, want)
		}

		s.Stop()
		if err := s.Client.Ping(ctx).Err(); err == nil {
			t.Error("a stopped server answers")
		}
		s.Start()
		if err := s.Client.Ping(ctx).Err(); err != nil {
			t.Errorf("after Start: %v", err)
		}
	})
}

func TestKinds(t *testing.T) {
	t.Run("unix socket", func(t *testing.T) {
		s := Redis(t)
		rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: s.Sock})
		defer rdb.Close()
		if err := rdb.Ping(ctx).Err(); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("tls", func(t *testing.T) {
		s := TLS(t)
		if err := s.Client.Ping(ctx).Err(); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("password and users", func(t *testing.T) {
		s := WithPassword(t, "s3cret")
		url := s.User("eve", "pw", "~orders* +@read +@connection")
		o, err := redis.ParseURL(url)
		if err != nil {
			t.Fatal(err)
		}
		rdb := redis.NewClient(o)
		defer rdb.Close()
		if err := rdb.LLen(ctx, "orders").Err(); err != nil {
			t.Errorf("allowed: %v", err)
		}
		if err := rdb.LLen(ctx, "other").Err(); !redis.HasErrorPrefix(err, "NOPERM") {
			t.Errorf("denied: %v, want NOPERM", err)
		}
	})
	t.Run("stall", func(t *testing.T) {
		s := Redis(t)
		s.Stall()
		short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		rdb := redis.NewClient(&redis.Options{Addr: s.Addr, ContextTimeoutEnabled: true})
		defer rdb.Close()
		if err := rdb.Ping(short).Err(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("stalled: %v, want a timeout", err)
		}
		s.Resume()
		if err := rdb.Ping(ctx).Err(); err != nil {
			t.Errorf("after Resume: %v", err)
		}
	})
}

func TestProxy(t *testing.T) {
	s := Redis(t)
	p := NewProxy(t, s.Addr)
	rdb := redis.NewClient(&redis.Options{
		Addr: p.Addr, MaxRetries: -1, DialerRetries: 1,
		ReadTimeout: 200 * time.Millisecond, PoolSize: 1000, // one that stops dialling after so many failures
	})
	defer rdb.Close()
	ok := func(t *testing.T) {
		t.Helper()
		if err := rdb.Ping(ctx).Err(); err != nil {
			t.Errorf("through a proxy that behaves: %v", err)
		}
	}
	bad := func(t *testing.T) {
		t.Helper()
		if err := rdb.Ping(ctx).Err(); err == nil {
			t.Error("an answer came through")
		}
	}
	ok(t)

	t.Run("CutAfterRequest", func(t *testing.T) {
		p.CutAfterRequest("only-once")
		if err := rdb.RPush(ctx, "k", "only-once").Err(); err == nil {
			t.Error("the reply was returned")
		}
		if n := s.Client.LLen(ctx, "k").Val(); n != 1 {
			t.Errorf("the server holds %d, want 1: the request was not forwarded", n)
		}
		ok(t)
	})
	t.Run("CutReplies", func(t *testing.T) {
		p.CutReplies(true)
		bad(t)
		p.CutReplies(false)
		ok(t)
	})
	t.Run("BlackHole", func(t *testing.T) {
		p.BlackHole(true)
		bad(t)
		p.BlackHole(false)
		p.Cut()
		ok(t)
	})
	t.Run("Refuse", func(t *testing.T) {
		p.Refuse(true)
		p.Cut()
		bad(t)
		p.Refuse(false)
		ok(t)
	})
	t.Run("Delay", func(t *testing.T) {
		p.Delay(time.Second) // longer than the client waits
		bad(t)
		p.Delay(0)
		ok(t)
	})
	if p.ToClient() == 0 || p.ToServer() == 0 {
		t.Error("no bytes were counted")
	}
}

func TestSplitLine(t *testing.T) {
	tests := []struct {
		line string
		want []string
	}{
		{``, nil},
		{`  `, nil},
		{`SET a b`, []string{"SET", "a", "b"}},
		{`SET "a b" 'c d'`, []string{"SET", "a b", "c d"}},
		{`"\"x\"" "\x00\xff" "\n\r\t" "\\"`, []string{`"x"`, "\x00\xff", "\n\r\t", `\`}},
		{`'it\'s' '\n'`, []string{"it's", `\n`}},
		{`""`, []string{""}},
	}
	for _, tt := range tests {
		if got := splitLine(tt.line); !slices.Equal(got, tt.want) {
			t.Errorf("splitLine(%s) = %q, want %q", tt.line, got, tt.want)
		}
	}
}
