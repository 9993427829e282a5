package queue

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	never       = -1 // go-redis's word for no retry
	readRetries = 1

	redisPort    = "6379"
	sentinelPort = "26379"
)

// target is where and how to connect, read from Options.
type target struct {
	base     redis.Options // what all connections share
	addrs    []string      // host:port, or one socket path
	sentinel string        // name of the master
	cluster  bool
	pool     int // connections of a client at most; 0 means 32
}

// parseTarget reads the options. Its errors are *BadOptionsError and quote
// nothing of the URL that could be part of a password.
func parseTarget(o Options) (*target, error) {
	t := &target{sentinel: o.SentinelMaster, cluster: o.Cluster}
	if t.cluster && t.sentinel != "" {
		return nil, badOptions("--cluster and --sentinel-master exclude each other")
	}
	if err := t.readURL(o.URL); err != nil {
		return nil, err
	}
	if o.Username != "" {
		t.base.Username = o.Username
	}
	if o.Password != "" {
		t.base.Password = o.Password
	}
	if t.base.Username != "" && t.base.Password == "" {
		return nil, badOptions("user %q has no password: without one the server would not be told the user", t.base.Username)
	}
	if err := t.readTLS(o); err != nil {
		return nil, err
	}
	t.readTimeouts(o)
	t.base.ClientName = ""
	name := o.Name
	if name == "" {
		name = "redq"
	}
	// Not by Options.ClientName: where an ACL denies CLIENT that would cost the connection.
	t.base.OnConnect = func(ctx context.Context, cn *redis.Conn) error {
		err := cn.ClientSetName(ctx, name).Err()
		var denied redis.Error
		if errors.As(err, &denied) {
			return nil
		}
		return err
	}
	return t, nil
}

// readURL reads one URL, or the comma-separated nodes of a cluster or sentinels.
func (t *target) readURL(raw string) error {
	if raw == "" {
		raw = DefaultURL
		if t.sentinel != "" {
			raw = "redis://localhost:" + sentinelPort
		}
	}
	several := t.cluster || t.sentinel != ""
	pieces := []string{raw}
	if several {
		pieces = strings.Split(raw, ",")
	}
	for i, piece := range pieces {
		piece = strings.TrimSpace(piece)
		if several && !strings.Contains(piece, "://") {
			piece = "redis://" + piece
		}
		one, err := t.readOne(piece)
		if err != nil {
			return err
		}
		t.addrs = append(t.addrs, one.Addr)
		if i == 0 {
			t.base = *one
		}
		if one.DB != 0 { // redis://a:1,b:2/3 has it behind the last
			t.base.DB = one.DB
		}
	}
	if several && t.base.Network == "unix" {
		return badOptions("a cluster or sentinels cannot be reached by a unix socket")
	}
	if t.cluster && t.base.DB != 0 {
		return badOptions("a cluster has no database but 0")
	}
	return nil
}

func (t *target) readOne(raw string) (*redis.Options, error) {
	u, err := url.Parse(raw)
	if err != nil {
		// Not err: it quotes pieces of the URL, a password's among them.
		return nil, badOptions("this is not a URL that redq understands: expected redis://[user:password@]host[:port][/db], rediss://… or unix:///path (special characters of a password as %%XX)")
	}
	switch u.Scheme {
	case "redis", "rediss":
		if strings.Contains(u.Host, ",") {
			return nil, badOptions("several addresses need --cluster or --sentinel-master NAME")
		}
		if u.Port() == "" && u.Host != "" && t.sentinel != "" {
			u.Host = net.JoinHostPort(u.Hostname(), sentinelPort)
		}
		if db := strings.Trim(u.Path, "/"); db != "" {
			if n, err := strconv.Atoi(db); err != nil || n < 0 {
				return nil, badOptions("the URL's path must be a database number, as in redis://host:6379/2")
			}
		}
	case "unix":
		if u.Host != "" || u.Path == "" {
			return nil, badOptions("a unix socket's URL needs an absolute path: unix:///run/redis.sock")
		}
	default:
		return nil, badOptions("the URL must begin with redis://, rediss:// or unix://")
	}
	one, err := redis.ParseURL(u.String())
	if err != nil {
		return nil, badOptions("the URL is not valid: %s", strings.TrimPrefix(err.Error(), "redis: "))
	}
	if one.DB < 0 {
		return nil, badOptions("a database number is not negative")
	}
	return one, nil
}

// readTLS turns TLS on when a PEM file is given.
func (t *target) readTLS(o Options) error {
	if o.TLSCA == "" && o.TLSCert == "" && o.TLSKey == "" {
		return nil
	}
	if t.base.Network == "unix" {
		return badOptions("TLS over a unix socket is not supported")
	}
	if t.base.TLSConfig == nil {
		host, _, _ := net.SplitHostPort(t.addrs[0])
		t.base.TLSConfig = &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	}
	if o.TLSCA != "" {
		pem, err := os.ReadFile(o.TLSCA)
		if err != nil {
			return badOptions("--tls-ca: %v", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return badOptions("--tls-ca: %s holds no certificate in PEM form", o.TLSCA)
		}
		t.base.TLSConfig.RootCAs = pool
	}
	if (o.TLSCert == "") != (o.TLSKey == "") {
		return badOptions("--tls-cert and --tls-key belong together")
	}
	if o.TLSCert != "" {
		pair, err := tls.LoadX509KeyPair(o.TLSCert, o.TLSKey)
		if err != nil {
			return badOptions("--tls-cert, --tls-key: %v", err)
		}
		t.base.TLSConfig.Certificates = []tls.Certificate{pair}
	}
	return nil
}

// readTimeouts applies Options.Timeout to what the URL leaves open.
func (t *target) readTimeouts(o Options) {
	timeout := o.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	for _, d := range []*time.Duration{&t.base.DialTimeout, &t.base.ReadTimeout, &t.base.WriteTimeout} {
		if o.Timeout > 0 || *d <= 0 {
			*d = timeout
		}
	}
}

// client makes a client that sends a command again at most retries times, or never.
func (t *target) client(retries int) redis.UniversalClient {
	o := t.base
	o.Dialer = t.dial
	o.MaxRetries = retries
	o.MinRetryBackoff, o.MaxRetryBackoff = 5*time.Millisecond, 50*time.Millisecond
	o.DialerRetries = 1
	o.ContextTimeoutEnabled = true
	if o.Protocol == 0 {
		o.Protocol = 2 // scores come as the text the server prints, not as doubles
	}
	o.PoolSize = cmp.Or(t.pool, 32) // a ceiling: connections are made when needed
	o.PipelinePoolSize = -1         // no second pool of connections for pipelines
	o.DisableIdentity = true        // no CLIENT SETINFO: a round trip, unknown before 7.2
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	switch {
	case t.cluster:
		return redis.NewClusterClient(t.clusterOptions(o))
	case t.sentinel != "":
		return redis.NewFailoverClient(t.failoverOptions(o))
	}
	o.Addr = t.addrs[0]
	return redis.NewClient(&o)
}

func (t *target) clusterOptions(o redis.Options) *redis.ClusterOptions {
	redirects := 3
	if o.MaxRetries == never {
		// Each redirect is one more send, after errors that leave the outcome open too.
		redirects = never
	}
	return &redis.ClusterOptions{
		Addrs: t.addrs, MaxRedirects: redirects, MaxRetries: never,
		Username: o.Username, Password: o.Password, Protocol: o.Protocol, Dialer: o.Dialer, OnConnect: o.OnConnect,
		MinRetryBackoff: o.MinRetryBackoff, MaxRetryBackoff: o.MaxRetryBackoff, DialerRetries: o.DialerRetries,
		DialTimeout: o.DialTimeout, ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout,
		ContextTimeoutEnabled: o.ContextTimeoutEnabled, PoolSize: o.PoolSize, PipelinePoolSize: o.PipelinePoolSize,
		DisableIdentity: o.DisableIdentity, MaintNotificationsConfig: o.MaintNotificationsConfig,
		DisableRoutingPolicies: true, // no COMMAND on the way to the first frame
	}
}

func (t *target) failoverOptions(o redis.Options) *redis.FailoverOptions {
	return &redis.FailoverOptions{
		MasterName: t.sentinel, SentinelAddrs: t.addrs, MaxRetries: o.MaxRetries, DB: o.DB,
		Username: o.Username, Password: o.Password, Protocol: o.Protocol, Dialer: o.Dialer, OnConnect: o.OnConnect,
		MinRetryBackoff: o.MinRetryBackoff, MaxRetryBackoff: o.MaxRetryBackoff, DialerRetries: o.DialerRetries,
		DialTimeout: o.DialTimeout, ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout,
		ContextTimeoutEnabled: o.ContextTimeoutEnabled, PoolSize: o.PoolSize, PipelinePoolSize: o.PipelinePoolSize,
		DisableIdentity: o.DisableIdentity,
	}
}

// dial connects, and tells a failed TLS handshake from a failed connection.
func (t *target) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: t.base.DialTimeout, KeepAlive: 30 * time.Second}
	conn, err := dialer.DialContext(ctx, network, addr)
	if err != nil || t.base.TLSConfig == nil {
		return conn, err
	}
	// A plain Redis waits for the rest of what it takes for a command: a deadline of
	// its own, well inside the dial's, makes that a failed handshake.
	ctx, cancel := context.WithTimeout(ctx, min(t.base.DialTimeout*3/4, 2*time.Second))
	defer cancel()
	secure := tls.Client(conn, t.base.TLSConfig)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		failed := &handshakeError{addr: addr, err: err}
		return nil, &net.OpError{Op: "dial", Net: network, Addr: conn.RemoteAddr(), Err: failed}
	}
	return secure, nil
}

// handshakeError is a TCP connection on which TLS could not be agreed.
type handshakeError struct {
	addr string
	err  error
}

func (e *handshakeError) Error() string { return "TLS handshake with " + e.addr + ": " + e.err.Error() }
func (e *handshakeError) Unwrap() error { return e.err }

// address names the target without its secrets.
func (t *target) address() string {
	where := strings.Join(t.addrs, ",")
	switch {
	case t.base.Network == "unix":
		if t.base.DB != 0 {
			where += "?db=" + strconv.Itoa(t.base.DB)
		}
		return where
	case t.sentinel != "":
		where = t.sentinel + "@" + where
	}
	return where + "/" + strconv.Itoa(t.base.DB)
}
