package queue_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/queuetest"
)

// running is a consumer whose Run goes on in a goroutine.
type running struct {
	*queue.Consumer
	t      *testing.T
	cancel context.CancelFunc
	ended  chan error
	seen   *diary
}

// launch starts a consumer; what it tells is in seen. At the end of the test it is abandoned
// if it still runs.
func launch(t *testing.T, con *queue.Consumer) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	r := &running{Consumer: con, t: t, cancel: cancel, ended: make(chan error, 1), seen: &diary{}}
	if con.Events == nil {
		con.Events = r.seen.add
	}
	go func() { r.ended <- con.Run(ctx) }()
	t.Cleanup(func() {
		con.Abandon()
		r.end()
	})
	return r
}

// stop asks for a graceful stop and waits for it.
func (r *running) stop() error {
	r.t.Helper()
	r.cancel()
	return r.end()
}

// end waits until Run has returned, and tells what.
func (r *running) end() error {
	r.t.Helper()
	r.t.Cleanup(r.cancel)
	select {
	case err := <-r.ended:
		r.ended <- err
		return err
	case <-time.After(time.Minute):
		r.t.Fatalf("the consumer did not end: %+v", r.Stats())
		return nil
	}
}

// diary keeps events.
type diary struct {
	mu     sync.Mutex
	events []queue.Event
}

func (d *diary) add(ev queue.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = append(d.events, ev)
}

// of returns the events of a kind.
func (d *diary) of(kind queue.EventKind) []queue.Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []queue.Event
	for _, ev := range d.events {
		if ev.Kind == kind {
			all = append(all, ev)
		}
	}
	return all
}

// one waits for the first event of a kind.
func (d *diary) one(t *testing.T, kind queue.EventKind) queue.Event {
	t.Helper()
	eventually(t, func() bool { return len(d.of(kind)) > 0 })
	return d.of(kind)[0]
}

// feedFor puts messages where a pattern takes them, due at once.
func feedFor(t testing.TB, c *queue.Client, q queue.Queue, pattern queue.Pattern, payloads ...string) {
	t.Helper()
	o := queue.EnqueueOptions{}
	switch pattern {
	case queue.ZsetRace, queue.ZsetScript, queue.Dispatch:
		o.At = time.Now().Add(-time.Second)
	}
	for _, p := range payloads {
		if _, err := c.Enqueue(context.Background(), q, []byte(p), o); err != nil {
			t.Fatal(err)
		}
	}
}

// everywhere returns the messages of all lists and sorted sets, by key.
func everywhere(t testing.TB, s *queuetest.Server) map[string][]string {
	t.Helper()
	ctx := context.Background()
	keys, err := s.Client.Keys(ctx, "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, k := range keys {
		switch s.Client.Type(ctx, k).Val() {
		case "list":
			all[k] = s.Client.LRange(ctx, k, 0, -1).Val()
		case "zset":
			all[k] = s.Client.ZRange(ctx, k, 0, -1).Val()
		}
	}
	return all
}

// wantEverywhere compares all messages on the server, key=payload,payload.
func wantEverywhere(t testing.TB, s *queuetest.Server, want ...string) {
	t.Helper()
	var got []string
	for key, payloads := range everywhere(t, s) {
		slices.Sort(payloads)
		got = append(got, key+"="+strings.Join(payloads, ","))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("on the server: %v, want %v", got, want)
	}
}

// quick makes polling patterns poll often.
var quick = queue.Idle{Sleep: 5 * time.Millisecond}

// consumerOf is a consumer of the pattern that gives each message a lock of its own.
func consumerOf(c *queue.Client, q queue.Queue, pattern queue.Pattern, h queue.Handler) *queue.Consumer {
	con := &queue.Consumer{Client: c, Queue: q, Pattern: pattern, Handler: h, ID: "w1", Idle: quick}
	if pattern == queue.LockRetry {
		con.Lock = &queue.Lock{
			Key: func(m queue.Message) string { return "lock:" + string(m.Payload) },
			TTL: 300 * time.Millisecond, Conflict: queue.LockSleep, Wait: 20 * time.Millisecond, Tries: 1000,
		}
	}
	return con
}

// wantStats compares what became of messages, leaving out all other counters.
func wantStats(t testing.TB, got, want queue.ConsumerStats) {
	t.Helper()
	ends := func(s queue.ConsumerStats) string {
		return fmt.Sprintf("done %d, failed %d, retried %d, deferred %d, dead %d, kept %d, dropped %d, returned %d, crashed %d, not ours %d, in hand %d",
			s.Done, s.Failed, s.Retried, s.Deferred, s.Dead, s.Kept, s.Dropped, s.Returned, s.Crashed, s.NotOurs, s.InHand)
	}
	if ends(got) != ends(want) {
		t.Errorf("counted: %s\nwant:    %s", ends(got), ends(want))
	}
}
