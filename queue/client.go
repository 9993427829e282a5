package queue

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// DefaultURL is where a server is looked for when nothing else is said.
const DefaultURL = "redis://localhost:6379"

// defaultTimeout bounds dialling and each reply unless Options say otherwise.
const defaultTimeout = 5 * time.Second

// Options say how to reach a server. The zero value is redis://localhost:6379/0.
type Options struct {
	// URL is redis://, rediss:// (TLS) or unix:// with user, password and
	// database number as go-redis reads them; "" means redis://localhost:6379.
	// Several comma-separated URLs or host:port pairs name the nodes of a cluster or the sentinels.
	URL string
	// Username and Password override those of the URL when not empty.
	Username, Password string
	// SentinelMaster is the name of the master that the sentinels at URL watch; "" means no Sentinel.
	SentinelMaster string
	// Cluster treats URL as nodes of a Redis Cluster.
	Cluster bool
	// TLSCA, TLSCert and TLSKey are PEM files; any of them turns TLS on.
	TLSCA, TLSCert, TLSKey string

	// ReadOnly makes every write return ErrReadOnly before the server is asked.
	ReadOnly bool
	// NoDelete makes deletes, purges and edits return ErrNoJournal where there is no Journal.
	NoDelete bool
	// Journal is told of every message before it is changed; nil keeps no journal.
	Journal Journal

	// Name is what CLIENT LIST shows; "" means redq.
	Name string
	// Timeout bounds dialling and each reply; 0 means 5 s.
	Timeout time.Duration
	// Logf receives what go-redis would print on standard error; nil drops it. The last client opened wins.
	Logf func(format string, args ...any)
}

// Client reads and repairs queues on one server, Sentinel master or cluster.
// It is safe for concurrent use.
type Client struct {
	read    redis.UniversalClient // may retry
	write   redis.UniversalClient // sends once
	address string                // host:port/db, no password
	opts    Options
	lacks   lacks
}

// lacks is what the server was found not to have, so that it is asked for once only.
type lacks struct {
	scripts atomic.Bool // EVAL is denied
	lpos    atomic.Bool // before 6.0.6, or denied
}

// Open connects and checks that the server answers. Its error is one plain
// sentence that says what was wrong (nobody listens, wrong password, not a
// Redis server, TLS to a plain port, unknown host, a bad URL) and holds no
// password. A server that is still loading its data is connected to.
func Open(ctx context.Context, o Options) (*Client, error) {
	target, err := parseTarget(o)
	if err != nil {
		return nil, err
	}
	redis.SetLogger(logger{o.Logf})
	c := &Client{
		read:    target.client(readRetries),
		write:   target.client(never),
		address: target.address(),
		opts:    o,
	}
	ctx, cancel := context.WithTimeout(ctx, target.base.DialTimeout+target.base.ReadTimeout)
	defer cancel()
	first := c.read
	if target.base.TLSConfig != nil {
		first = c.write // tries once: a plain port lets a handshake wait for its whole time
	}
	if err := first.Ping(ctx).Err(); err != nil && !answersLater(err) {
		_ = c.Close()
		return nil, &openError{sentence: target.explain(err), err: err}
	}
	return c, nil
}

// Close closes all connections.
func (c *Client) Close() error { return errors.Join(c.read.Close(), c.write.Close()) }

// Address returns host:port/db, or the socket's path, without user or password.
func (c *Client) Address() string { return c.address }

// mayDelete refuses to remove messages that nothing could bring back, where that is wanted.
func (c *Client) mayDelete() error {
	if c.opts.NoDelete && c.opts.Journal == nil {
		return ErrNoJournal
	}
	return nil
}

// ReadOnly reports whether the client refuses all writes.
func (c *Client) ReadOnly() bool { return c.opts.ReadOnly }

// Reader returns the connection that reads go over, for packages under queue: reads only.
func (c *Client) Reader() redis.UniversalClient { return c.read }

// isCluster reports whether keys lie on several nodes.
func (c *Client) isCluster() bool { return c.opts.Cluster }

// BadOptionsError is returned by Open when the options themselves are wrong (a usage error).
type BadOptionsError struct{ Reason string }

func (e *BadOptionsError) Error() string { return e.Reason }

func badOptions(format string, args ...any) error {
	return &BadOptionsError{Reason: redact(fmt.Sprintf(format, args...))}
}

// openError is what Open returns: the sentence for people, the cause for errors.Is.
type openError struct {
	sentence string
	err      error
}

func (e *openError) Error() string { return e.sentence }
func (e *openError) Unwrap() error { return e.err }

// answersLater reports whether the reply comes from a Redis that will serve this
// user sooner or later, or serves all but PING.
func answersLater(err error) bool {
	for _, code := range []string{"LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "NOPERM"} {
		if redis.HasErrorPrefix(err, code) {
			return true
		}
	}
	return false
}

// logger hands go-redis's own log, which would go to standard error and so over
// the screen, to Options.Logf.
type logger struct {
	logf func(format string, args ...any)
}

func (l logger) Printf(_ context.Context, format string, args ...any) {
	if l.logf != nil {
		l.logf("%s", redact(fmt.Sprintf(format, args...)))
	}
}
