package handler

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"redq/queue"
	"redq/queue/payload"
)

const (
	// maxReply and replyTime bound what is read of a reply's body. The rest costs its
	// connection: a server that trickles must not hold a worker.
	maxReply  = 64 << 10
	replyTime = time.Second
	// maxReplyLine is how much of its first line is kept as the reason.
	maxReplyLine = 300
	// minRetryAfter keeps "Retry-After: 0" from making the consumer spin.
	minRetryAfter = 100 * time.Millisecond
)

// PostOptions say how Post sends. The zero value suits most.
type PostOptions struct {
	// Client sends the requests; its CheckRedirect is not used. nil means one of its own
	// that keeps up to 100 idle connections for 90 s and follows the proxy variables of the environment.
	Client *http.Client
	// Header is added to each request and wins over what Post sets by itself.
	Header http.Header
	// Queue is the name of the queue, told to the server; "" tells it none.
	Queue string

	// Wait is how far 429 and 503 without Retry-After put a message off; 0 means 5 s.
	Wait time.Duration
	// MaxWait is the longest Retry-After that is obeyed, a longer one counts as this; 0 means 1 hour.
	MaxWait time.Duration
}

// Post returns a handler that sends each payload, its exact bytes, as the body of a POST
// request to address, an http or https URL. The content type is application/json when
// the payload is JSON, text/plain; charset=utf-8 when it is other UTF-8, and
// application/octet-stream otherwise. Further headers are
//
//	Redq-Queue      the queue's name, if PostOptions has it
//	Redq-Place      where the message was taken from: ready, delayed …
//	Redq-Key        the Redis key it was taken from
//	Redq-Attempt    which attempt this is, from 1
//	Content-Digest  the payload's SHA-256 (RFC 9530)
//
// where name and key are percent-encoded, and left out when longer than 4 KiB. A message can
// come twice: a server can know it again by its digest, if no two messages have equal
// bytes (see the envelope in queue.EnqueueOptions).
//
// A status of 2xx means done. 429 and 503 put the message off by what Retry-After says,
// seconds or a date, between 100 ms and PostOptions.MaxWait. Everything else fails it with the status and
// the first line of the body, as does a request that could not be sent. Redirects are not
// followed, they fail: a message goes to nobody but who was named.
//
// Only the context limits how long a request may take, unless the Client has a Timeout. No
// error tells the user, password or query of the URL.
//
// The error is about address, or a negative time in o.
func Post(address string, o PostOptions) (queue.Handler, error) {
	u, err := parseAddress(address)
	if err != nil {
		return nil, err
	}
	if o.Wait < 0 || o.MaxWait < 0 {
		return nil, errors.New("post: times cannot be negative")
	}
	if o.Wait == 0 {
		o.Wait = defaultWait
	}
	if o.MaxWait == 0 {
		o.MaxWait = time.Hour
	}
	p := &poster{url: u, options: o, client: http.Client{Transport: newTransport()}}
	if o.Client != nil {
		p.client = *o.Client
	}
	p.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return p.post, nil
}

// parseAddress reads a URL. The reason is not told where it could hold part of a password.
func parseAddress(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	var bad *url.Error
	switch {
	case errors.As(err, &bad) && !strings.Contains(address, "@"):
		return nil, fmt.Errorf("post: not a URL: %w", bad.Err)
	case err != nil:
		return nil, errors.New("post: not a URL: expected http://user:password@host:port/path with special characters percent-encoded")
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return nil, errors.New("post: expected a URL that begins with http:// or https:// and a host")
	}
	return u, nil
}

// newTransport differs from http.DefaultTransport in keeping a connection for each
// worker, where that keeps two.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           100,
		MaxIdleConnsPerHost:    100,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
	}
}

type poster struct {
	url     *url.URL
	options PostOptions
	client  http.Client
}

func (p *poster) post(ctx context.Context, m queue.Message) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// Only the reply's body is ever cut short by this; see readLine.
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	request, err := p.request(reading, m)
	if err != nil {
		return p.notSent(ctx, err)
	}
	reply, err := p.client.Do(request)
	if err != nil {
		return p.notSent(ctx, err)
	}
	defer reply.Body.Close()
	timer := time.AfterFunc(replyTime, cancel)
	defer timer.Stop()
	return p.verdict(reply, readLine(reply.Body))
}

func (p *poster) request(ctx context.Context, m queue.Message) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url.String(), bytes.NewReader(m.Payload))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", contentType(m.Payload))
	r.Header.Set("Content-Digest", contentDigest(m.Payload))
	r.Header.Set("User-Agent", "redq")
	for _, f := range facts(p.options.Queue, m) {
		r.Header.Set("Redq-"+f.name, url.PathEscape(f.value))
	}
	for name, values := range p.options.Header {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	return r, nil
}

func contentType(b []byte) string {
	switch {
	case json.Valid(b):
		return "application/json"
	case utf8.Valid(b):
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}

func contentDigest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
}

// notSent makes a plain sentence of what the client returned, which names the whole URL.
func (p *poster) notSent(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("POST %s: %w", shown(p.url), context.Cause(ctx))
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	text := err.Error()
	var number syscall.Errno
	var name *net.DNSError
	switch {
	case errors.As(err, &number):
		text = number.Error()
	case errors.As(err, &name):
		text = name.Err
	case errors.Is(err, io.EOF):
		text = "the server closed the connection without an answer"
	}
	return fmt.Errorf("POST %s: %s", shown(p.url), payload.LineString(text, maxReplyLine))
}

// shown is what of a URL may be told: secrets lie in its user part and in its query.
func shown(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}

// readLine returns the first line of a body and reads on to its end, within bounds, so that
// the connection can be used again.
func readLine(body io.Reader) string {
	b, _ := io.ReadAll(io.LimitReader(body, maxReply)) // an error costs only what was not read
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	return payload.LineString(strings.TrimSpace(line), maxReplyLine)
}

func (p *poster) verdict(reply *http.Response, line string) error {
	if reply.StatusCode/100 == 2 {
		return nil
	}
	status := strings.TrimSpace(fmt.Sprintf("HTTP %d %s", reply.StatusCode, http.StatusText(reply.StatusCode)))
	if to, err := reply.Location(); err == nil && reply.StatusCode/100 == 3 {
		return fmt.Errorf("%s: redirects are not followed, this one leads to %s", status, payload.LineString(shown(to), maxReplyLine))
	}
	err := errors.New(withDetail(status, line))
	switch reply.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return queue.Defer(p.retryAfter(reply.Header, time.Now()), err)
	}
	return err
}

// retryAfter is how long the server asks to wait. A date is measured by the clock that
// wrote it, if the reply tells what that says.
func (p *poster) retryAfter(header http.Header, now time.Time) time.Duration {
	longest := p.options.MaxWait
	text := strings.TrimSpace(header.Get("Retry-After"))
	wait := p.options.Wait
	if seconds, err := strconv.ParseUint(text, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		wait = longest
		if seconds < uint64(longest/time.Second) {
			wait = time.Duration(seconds) * time.Second
		}
	} else if at, err := http.ParseTime(text); err == nil {
		if date, err := http.ParseTime(header.Get("Date")); err == nil {
			now = date
		}
		wait = at.Sub(now)
	} else {
		return wait
	}
	return min(max(wait, minRetryAfter), longest)
}
