package handler_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/handler"
	"redq/queue/payload/hostile"
)

func serve(t *testing.T, f http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return s
}

func poster(t *testing.T, address string, o handler.PostOptions) queue.Handler {
	t.Helper()
	return must(handler.Post(address, o))(t)
}

func TestPostSendsTheExactBytes(t *testing.T) {
	var got []byte
	var length int64
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body)
		length = r.ContentLength
		if r.Method != http.MethodPost || r.URL.Path != "/orders" || r.URL.RawQuery != "a=1" {
			t.Errorf("%s %s", r.Method, r.URL)
		}
	})
	h := poster(t, s.URL+"/orders?a=1", handler.PostOptions{})
	for _, p := range hostile.Payloads() {
		t.Run(p.Name, func(t *testing.T) {
			if err := h(t.Context(), queue.Message{Payload: p.Bytes}); err != nil {
				t.Fatal(err)
			}
			if string(got) != string(p.Bytes) || length != int64(len(p.Bytes)) {
				t.Errorf("%d bytes came, announced as %d; %d were sent", len(got), length, len(p.Bytes))
			}
		})
	}
}

func TestPostHeaders(t *testing.T) {
	var got http.Header
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header })
	m := message(`{"order":1}`)
	m.Key, m.Place, m.Attempts = "orders 100%\r\nX-Evil: 1", queue.Delayed, 2
	if err := poster(t, s.URL, handler.PostOptions{Queue: "注文", Header: http.Header{"x-own": {"a", "b"}}})(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(m.Payload)
	for name, want := range map[string]string{
		"Content-Type":   "application/json",
		"Content-Digest": "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":",
		"Redq-Attempt":   "3",
		"Redq-Place":     "delayed",
		"Redq-Key":       url.PathEscape(m.Key),
		"Redq-Queue":     "%E6%B3%A8%E6%96%87",
		"User-Agent":     "redq",
		"X-Own":          "a b",
		"X-Evil":         "",
	} {
		if text := strings.Join(got[name], " "); text != want {
			t.Errorf("%s: %q, want %q", name, text, want)
		}
	}

	m.Key = strings.Repeat("k", 1<<20)
	own := http.Header{"Content-Type": {"application/cloudevents+json"}}
	if err := poster(t, s.URL, handler.PostOptions{Header: own})(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if got["Redq-Key"] != nil || got["Redq-Queue"] != nil || got.Get("Content-Type") != "application/cloudevents+json" {
		t.Errorf("%q", got)
	}
}

func TestPostContentType(t *testing.T) {
	var got string
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Content-Type") })
	h := poster(t, s.URL, handler.PostOptions{})
	for text, want := range map[string]string{
		`{"a":1}`:  "application/json",
		"42":       "application/json",
		`{"a":1`:   "text/plain; charset=utf-8",
		"注文":       "text/plain; charset=utf-8",
		"":         "text/plain; charset=utf-8",
		"caf\xe9":  "application/octet-stream",
		"\x1f\x8b": "application/octet-stream",
	} {
		if err := h(t.Context(), message(text)); err != nil || got != want {
			t.Errorf("%q: %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestPostStatus(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"ok", 200, "thanks", ""},
		{"accepted", 202, "", ""},
		{"no content", 204, "", ""},
		{"not found", 404, "", "HTTP 404 Not Found"},
		{"conflict", 409, "\n  sold out \r\nsecond line", "HTTP 409 Conflict: sold out"},
		{"error", 500, "<html>\n<body>", "HTTP 500 Internal Server Error: <html>"},
		{"gateway", 502, "", "HTTP 502 Bad Gateway"},
		{"unknown status", 599, "?", "HTTP 599: ?"},
		{"hostile", 400, "\x1b[2J\xff\u202e", `HTTP 400 Bad Request: \x1b[2J\xff\u202e`},
		{"a redirect to nowhere", 302, "gone", "HTTP 302 Found: gone"},
		{"not modified", 304, "", "HTTP 304 Not Modified"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			})
			err := poster(t, s.URL, handler.PostOptions{})(t.Context(), message("hello"))
			if tt.want == "" && err == nil {
				return
			}
			wantText(t, err, tt.want)
			wantPlain(t, err)
		})
	}
}

func TestPostRetryAfter(t *testing.T) {
	const now = "Sun, 06 Nov 1994 08:49:37 GMT" // the server's clock is far off ours
	tests := []struct {
		name, after string
		want        time.Duration
	}{
		{"nothing", "", 7 * time.Second},
		{"nonsense", "soon", 7 * time.Second},
		{"negative", "-5", 7 * time.Second},
		{"seconds", "120", 2 * time.Minute},
		{"at once", "0", 100 * time.Millisecond},
		{"the longest", "1800", 30 * time.Minute},
		{"too long", "86400", 30 * time.Minute},
		{"absurd", strings.Repeat("9", 50), 30 * time.Minute},
		{"date", "Sun, 06 Nov 1994 08:50:07 GMT", 30 * time.Second},
		{"old form of a date", "Sunday, 06-Nov-94 08:50:07 GMT", 30 * time.Second},
		{"past", "Sun, 06 Nov 1994 08:49:07 GMT", 100 * time.Millisecond},
		{"far ahead", "Sun, 06 Nov 2094 08:49:37 GMT", 30 * time.Minute},
	}
	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Date", now)
					if tt.after != "" {
						w.Header().Set("Retry-After", tt.after)
					}
					http.Error(w, "busy", status)
				})
				o := handler.PostOptions{Wait: 7 * time.Second, MaxWait: 30 * time.Minute}
				err := poster(t, s.URL, o)(t.Context(), message("hello"))
				wantDeferred(t, err, tt.want)
				if !strings.HasSuffix(err.Error(), ": busy") {
					t.Error(err)
				}
			})
		}
	}
}

func TestPostWaitsByDefault(t *testing.T) {
	after := ""
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", after)
		w.WriteHeader(503)
	})
	h := poster(t, s.URL, handler.PostOptions{})
	wantDeferred(t, h(t.Context(), message("")), 5*time.Second)
	after = "1000000"
	wantDeferred(t, h(t.Context(), message("")), time.Hour)
	// Without the server's clock a date is measured by ours.
	after = time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat)
	wantDeferred(t, h(t.Context(), message("")), 100*time.Millisecond)
}

// A message goes to nobody but who was named, and never becomes a GET.
func TestPostFollowsNoRedirect(t *testing.T) {
	var elsewhere atomic.Int32
	other := serve(t, func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) })
	to := strings.Replace(other.URL, "http://", "http://user:secret@", 1) + "/there?token=secret"
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, status) })
		client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return nil }}
		for _, o := range []handler.PostOptions{{}, {Client: client}} {
			err := poster(t, s.URL, o)(t.Context(), message("hello"))
			if err == nil || !strings.HasSuffix(err.Error(), "redirects are not followed, this one leads to "+other.URL+"/there") {
				t.Errorf("%d: %v", status, err)
			}
			wantPlain(t, err)
		}
		client.CloseIdleConnections()
	}
	http.DefaultClient.CloseIdleConnections()
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}

func TestPostThatCannotBeSent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refused := l.Addr().String()
	l.Close()

	cuts := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			conn.Close()
		}
	})
	noHTTP := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_, _ = io.WriteString(conn, "\x1b[2J\r\n\r\n")
			conn.Close()
		}
	})
	tests := []struct{ name, host, want string }{
		{"refused", refused, "connection refused"},
		{"cut", cuts.Listener.Addr().String(), "the server closed the connection without an answer"},
		{"no HTTP", noHTTP.Listener.Addr().String(), `net/http: HTTP/1.x transport connection broken: malformed HTTP response "\x1b[2J"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := poster(t, "http://user:secret@"+tt.host+"/orders?token=secret", handler.PostOptions{})
			err := h(t.Context(), message("hello"))
			wantText(t, err, "POST http://"+tt.host+"/orders: "+tt.want)
			wantPlain(t, err)
		})
	}
}

func TestPostEndsWithItsContext(t *testing.T) {
	arrived := make(chan struct{})
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the server notices only then that the client has gone
		arrived <- struct{}{}
		<-r.Context().Done()
	})
	h := poster(t, strings.Replace(s.URL, "http://", "http://user:secret@", 1), handler.PostOptions{})
	for _, cause := range causes() {
		ctx, cancel := context.WithCancelCause(t.Context())
		result := make(chan error, 1)
		go func() { result <- h(ctx, message("hello")) }()
		<-arrived
		cancel(cause)
		err := <-result
		if !errors.Is(err, cause) {
			t.Errorf("%v, want %v", err, cause)
		}
		wantText(t, err, "POST "+s.URL+": "+cause.Error())
		if err := h(ended(cause), message("hello")); !errors.Is(err, cause) {
			t.Errorf("%v, want %v", err, cause)
		}
	}
}

func TestPostReusesItsConnection(t *testing.T) {
	var opened atomic.Int32
	answer := 0
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer++
		if answer%2 == 0 {
			w.WriteHeader(500)
		}
		_, _ = io.WriteString(w, strings.Repeat("reply ", 5000))
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	h := poster(t, s.URL, handler.PostOptions{})
	for range 20 {
		_ = h(t.Context(), message("hello")) // every second one fails
	}
	if n := opened.Load(); n != 1 || answer != 20 {
		t.Errorf("%d connections for %d requests", n, answer)
	}
}

// A worker of many does not lose its connection to the others.
func TestPostKeepsAConnectionForEachWorker(t *testing.T) {
	const workers = 10
	var opened atomic.Int32
	var together sync.WaitGroup
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		together.Done()
		together.Wait()
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	h := poster(t, s.URL, handler.PostOptions{})
	for range 5 {
		together.Add(workers)
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				if err := h(context.Background(), message("hello")); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	if n := opened.Load(); n > 2*workers {
		t.Errorf("%d connections", n)
	}
}

// The answer is in the status: a reply that does not end holds nobody.
func TestPostDoesNotWaitForTheEndOfTheReply(t *testing.T) {
	tests := map[string]func(w http.ResponseWriter, r *http.Request){
		"trickles": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "first line\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
		"floods": func(w http.ResponseWriter, r *http.Request) {
			line := []byte("first line\n" + strings.Repeat("x", 10_000))
			for {
				if _, err := w.Write(line); err != nil {
					return
				}
			}
		},
	}
	for name, reply := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := 200
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.WriteHeader(status)
				reply(w, r)
			})
			h := poster(t, s.URL, handler.PostOptions{})
			if err := h(t.Context(), message("hello")); err != nil {
				t.Error(err)
			}
			status = 500
			wantText(t, h(t.Context(), message("hello")), "HTTP 500 Internal Server Error: first line")
		})
	}
}

func TestPostBoundsTheReason(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(500)
		_, _ = io.WriteString(w, strings.Repeat("注", 10_000))
	})
	err := poster(t, s.URL, handler.PostOptions{})(t.Context(), message("hello"))
	if err == nil || len(err.Error()) > 400 || !strings.HasSuffix(err.Error(), "注…") {
		t.Errorf("%v", err)
	}
}

type roundTrips func(*http.Request) (*http.Response, error)

func (f roundTrips) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// What the client says holds the URL with its user and query.
func TestPostTellsNoSecret(t *testing.T) {
	for want, failure := range map[string]error{
		"no such host":      &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "example.com", IsNotFound: true}},
		"network is down":   &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ENETDOWN)},
		`odd \x1b[2J`:       errors.New("odd \x1b[2J"),
		"deadline exceeded": errors.New("deadline exceeded"),
	} {
		client := &http.Client{Transport: roundTrips(func(*http.Request) (*http.Response, error) { return nil, failure })}
		h := poster(t, "https://shop:secret@example.com/in?token=secret", handler.PostOptions{Client: client})
		wantText(t, h(t.Context(), message("hello")), "POST https://example.com/in: "+want)
	}
}

func TestPostUsesTheClientItIsGiven(t *testing.T) {
	var user, password string
	client := &http.Client{Transport: roundTrips(func(r *http.Request) (*http.Response, error) {
		user, password, _ = r.BasicAuth()
		return &http.Response{StatusCode: 200, Body: http.NoBody, Request: r}, nil
	})}
	h := poster(t, "https://shop:s%40cret@example.com/", handler.PostOptions{Client: client})
	if err := h(t.Context(), message("hello")); err != nil || user != "shop" || password != "s@cret" {
		t.Errorf("%q %q, %v", user, password, err)
	}
	if client.CheckRedirect != nil {
		t.Error("the caller's client was changed")
	}
}

func TestPostIsChecked(t *testing.T) {
	const scheme = "post: expected a URL that begins with http:// or https:// and a host"
	const hidden = "post: not a URL: expected http://user:password@host:port/path with special characters percent-encoded"
	tests := []struct{ address, want string }{
		{"", scheme},
		{"localhost:8080/orders", scheme},
		{"/orders", scheme},
		{"ftp://example.com", scheme},
		{"http://", scheme},
		{"http://:80/", scheme},
		{"http:example.com", scheme},
		{"http://exa mple.com", `post: not a URL: invalid character " " in host name`},
		{"http://example.com:http/", `post: not a URL: invalid port ":http" after host`},
		{"http://user:sec%ret@example.com", hidden},
		{"http://user:sec/ret@example.com", hidden},
	}
	for _, tt := range tests {
		_, err := handler.Post(tt.address, handler.PostOptions{})
		wantText(t, err, tt.want)
	}
	for _, o := range []handler.PostOptions{{Wait: -1}, {MaxWait: -1}} {
		_, err := handler.Post("http://example.com", o)
		wantText(t, err, "post: times cannot be negative")
	}
	for _, address := range []string{"http://localhost", "https://[::1]:8443/a?b=c", "HTTP://example.com"} {
		if _, err := handler.Post(address, handler.PostOptions{}); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	if !slices.Contains(handler.Kinds(), handler.KindPost) {
		t.Error("no kind for it")
	}
}
