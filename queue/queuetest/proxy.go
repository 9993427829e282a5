package queuetest

import (
	"bytes"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy is a TCP proxy in front of a server that misbehaves on request. It is
// safe for concurrent use.
type Proxy struct {
	Addr string // 127.0.0.1:port
	URL  string // redis://127.0.0.1:port

	t      testing.TB
	target string
	done   chan struct{}
	wg     sync.WaitGroup

	mu       sync.Mutex
	listener net.Listener // nil while refusing
	links    map[*link]struct{}
	marker   []byte // the request to cut after; nil for none

	delay      atomic.Int64 // of each reply, in nanoseconds
	blackHole  atomic.Bool
	cutReplies atomic.Bool
	toClient   atomic.Int64
	toServer   atomic.Int64
}

// NewProxy starts a proxy in front of target (host:port), for as long as the test runs.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	p := &Proxy{t: t, target: target, done: make(chan struct{}), links: map[*link]struct{}{}}
	p.listen("127.0.0.1:0")
	p.Addr = p.listener.Addr().String()
	p.URL = "redis://" + p.Addr
	t.Cleanup(func() {
		close(p.done)
		p.Refuse(true)
		p.Cut()
		p.wg.Wait()
	})
	return p
}

// Cut closes all present connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.close()
	}
}

// Delay holds every reply back for d.
func (p *Proxy) Delay(d time.Duration) { p.delay.Store(int64(d)) }

// BlackHole makes the proxy swallow what either side sends; connections stay open.
func (p *Proxy) BlackHole(on bool) { p.blackHole.Store(on) }

// CutReplies makes the proxy close a connection in place of passing a reply on:
// the server has done what it was asked, and the client never hears of it.
func (p *Proxy) CutReplies(on bool) { p.cutReplies.Store(on) }

// CutAfterRequest does what CutReplies does, once, for the next request that
// contains marker.
func (p *Proxy) CutAfterRequest(marker string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.marker = []byte(marker)
}

// Refuse closes the port, so that new connections are refused, or opens it again.
func (p *Proxy) Refuse(on bool) {
	p.mu.Lock()
	l := p.listener
	p.mu.Unlock()
	switch {
	case on && l != nil:
		p.mu.Lock()
		p.listener = nil
		p.mu.Unlock()
		_ = l.Close()
	case !on && l == nil:
		p.listen(p.Addr)
	}
}

// ToClient returns how many bytes the clients received so far.
func (p *Proxy) ToClient() int64 { return p.toClient.Load() }

// ToServer returns how many bytes the server received so far.
func (p *Proxy) ToServer() int64 { return p.toServer.Load() }

func (p *Proxy) listen(addr string) {
	p.t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		p.t.Fatalf("proxy: %v", err)
	}
	p.mu.Lock()
	p.listener = l
	p.mu.Unlock()
	p.wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			p.wg.Go(func() { p.serve(client) })
		}
	})
}

// link is one client's connection through the proxy.
type link struct {
	client, server net.Conn
	doomed         atomic.Bool // the next reply is not passed on
}

func (l *link) close() {
	_ = l.client.Close()
	_ = l.server.Close()
}

func (p *Proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		_ = client.Close()
		return
	}
	l := &link{client: client, server: server}
	p.mu.Lock()
	p.links[l] = struct{}{}
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { p.requests(l) })
	both.Go(func() { p.replies(l) })
	both.Wait()
	p.mu.Lock()
	delete(p.links, l)
	p.mu.Unlock()
}

// requests passes on what the client sends.
func (p *Proxy) requests(l *link) {
	defer l.close()
	buf := make([]byte, 64<<10)
	var tail []byte // of what was read before: a marker may lie across two reads
	for {
		n, err := l.client.Read(buf)
		if err != nil {
			return
		}
		if p.blackHole.Load() {
			continue
		}
		seen := append(tail, buf[:n]...)
		if p.takeMarker(seen) {
			l.doomed.Store(true)
		}
		tail = bytes.Clone(seen[max(0, len(seen)-256):])
		p.toServer.Add(int64(n))
		if _, err := l.server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// replies passes on what the server answers.
func (p *Proxy) replies(l *link) {
	defer l.close()
	buf := make([]byte, 64<<10)
	for {
		n, err := l.server.Read(buf)
		if err != nil {
			return
		}
		if d := time.Duration(p.delay.Load()); d > 0 {
			select {
			case <-time.After(d):
			case <-p.done:
				return
			}
		}
		if l.doomed.Load() || p.cutReplies.Load() {
			return
		}
		if p.blackHole.Load() {
			continue
		}
		p.toClient.Add(int64(n))
		if _, err := l.client.Write(buf[:n]); err != nil {
			return
		}
	}
}

// takeMarker reports whether data holds the marker, and forgets it then.
func (p *Proxy) takeMarker(data []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.marker == nil || !bytes.Contains(data, p.marker) {
		return false
	}
	p.marker = nil
	return true
}
