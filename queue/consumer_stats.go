package queue

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// counters are what a consumer counts.
type counters struct {
	taken, done, failed, retried, deferred, dead, kept, dropped, returned, crashed, notOurs atomic.Int64
	promoted, recovered, wasted, looks, errors, overflow                                    atomic.Int64
}

// of returns the counter of a kind of ending.
func (c *counters) of(k EventKind) *atomic.Int64 {
	switch k {
	case EventRetried:
		return &c.retried
	case EventDeferred:
		return &c.deferred
	case EventDead:
		return &c.dead
	case EventKept:
		return &c.kept
	case EventDropped:
		return &c.dropped
	case EventReturned:
		return &c.returned
	case EventCrashed:
		return &c.crashed
	}
	return nil
}

// stats copies the counters.
func (e *engine) stats() ConsumerStats {
	c := &e.count
	s := ConsumerStats{
		Pattern: e.pattern, ID: e.id, State: ConsumerRunning,
		Taken: c.taken.Load(), Done: c.done.Load(), Failed: c.failed.Load(), Retried: c.retried.Load(),
		Deferred: c.deferred.Load(), Dead: c.dead.Load(), Kept: c.kept.Load(), Dropped: c.dropped.Load(),
		Returned: c.returned.Load(), Crashed: c.crashed.Load(), NotOurs: c.notOurs.Load(),
		Promoted: c.promoted.Load(), Recovered: c.recovered.Load(), Wasted: c.wasted.Load(),
		Looks: c.looks.Load(), Errors: c.errors.Load(), Overflow: c.overflow.Load(),
	}
	e.mu.Lock()
	s.Started, s.InHand, s.Idle = e.started, e.hands.n, e.resting
	e.mu.Unlock()
	s.LateP50, s.LateP99, s.Lates = e.lates.read()
	select {
	case <-e.over:
		s.State = ConsumerStopped
	default:
		if e.stopping.Err() != nil {
			s.State = ConsumerStopping
		}
	}
	return s
}

// lateness keeps how late the last delayed messages were.
type lateness struct {
	mu    sync.Mutex
	last  [1024]time.Duration
	count int64
}

func (l *lateness) add(late time.Duration) {
	l.mu.Lock()
	l.last[l.count%int64(len(l.last))] = late
	l.count++
	l.mu.Unlock()
}

func (l *lateness) read() (p50, p99 time.Duration, count int64) {
	l.mu.Lock()
	have := slices.Clone(l.last[:min(l.count, int64(len(l.last)))])
	count = l.count
	l.mu.Unlock()
	if len(have) == 0 {
		return 0, 0, 0
	}
	slices.Sort(have)
	return have[len(have)/2], have[len(have)*99/100], count
}

// feed hands events to their receiver, in order, and leaves some out rather than wait.
type feed struct {
	receive  func(Event)
	overflow *atomic.Int64
	wake     chan struct{}
	ended    chan struct{}

	mu     sync.Mutex
	events []Event
	left   int // out since the last one that was kept
	shut   bool
}

// mostEvents is how many events wait for their receiver at most.
const mostEvents = 4096

func newFeed(receive func(Event), overflow *atomic.Int64) *feed {
	f := &feed{receive: receive, overflow: overflow, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	if !f.open() {
		close(f.ended)
		return f
	}
	go f.run()
	return f
}

// open reports whether anybody listens: to make an event costs something.
func (f *feed) open() bool { return f.receive != nil }

// tell queues an event.
func (f *feed) tell(ev Event) {
	if !f.open() {
		return
	}
	if ev.Time.IsZero() {
		ev.Time = time.Now()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.shut:
		return
	case len(f.events) >= mostEvents && ev.Kind != EventStopped: // there is always room for the last
		f.left++
		f.overflow.Add(1)
		return
	case f.left > 0:
		f.events = append(f.events, Event{Time: ev.Time, Kind: EventOverflow, Count: f.left})
		f.left = 0
	}
	f.events = append(f.events, ev)
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// run hands over until close.
func (f *feed) run() {
	defer close(f.ended)
	for range f.wake {
		for {
			f.mu.Lock()
			events, shut := f.events, f.shut
			f.events = nil
			f.mu.Unlock()
			for _, ev := range events {
				f.receive(ev)
			}
			if len(events) == 0 {
				if shut {
					return
				}
				break
			}
		}
	}
}

// close waits until everything was handed over.
func (f *feed) close() {
	f.mu.Lock()
	f.shut = true
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
	<-f.ended
}

// serverClock tells the server's time without asking: the last one it told and what
// has passed since then. It is never ahead, as an answer takes time to arrive.
type serverClock struct {
	mu     sync.Mutex
	server time.Time
	host   time.Time
}

func (c *serverClock) setTime(server time.Time) {
	c.mu.Lock()
	c.server, c.host = server, time.Now()
	c.mu.Unlock()
}

// set takes the microseconds that a script answers, and returns them as a time.
func (c *serverClock) set(us string) time.Time {
	t, ok := Microseconds.Time(Score(us))
	if ok {
		c.setTime(t)
	}
	return t
}

func (c *serverClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server.IsZero() {
		return time.Time{}
	}
	return c.server.Add(time.Since(c.host))
}

// pace decides how many messages may be in hand: few while they are handled slowly, so
// that other consumers get them, more when they are handled fast.
type pace struct {
	at      time.Time
	handled int64
	limit   int
}

// ahead is for how long messages may wait in hand for a worker.
const ahead = 50 * time.Millisecond

// allows returns how many messages may be in hand, from least up to most.
func (p *pace) allows(now time.Time, least, most int, handled int64) int {
	p.limit = max(p.limit, least)
	if since := now.Sub(p.at); since >= ahead/5 {
		if !p.at.IsZero() {
			rate := float64(handled-p.handled) / since.Seconds()
			p.limit = min(most, max(least, (p.limit+int(rate*ahead.Seconds()))/2))
		}
		p.at, p.handled = now, handled
	}
	return p.limit
}

// textAt returns an element of a script's answer that is a string, else "".
func textAt(reply []any, i int) string {
	if i < len(reply) {
		s, _ := reply[i].(string)
		return s
	}
	return ""
}

// arrayAt returns an element of a script's answer that is an array, else nil.
func arrayAt(reply []any, i int) []any {
	if i < len(reply) {
		a, _ := reply[i].([]any)
		return a
	}
	return nil
}

// numberAt returns an element of a script's answer that is a number, else 0.
func numberAt(reply []any, i int) int64 {
	if i < len(reply) {
		n, _ := reply[i].(int64)
		return n
	}
	return 0
}
