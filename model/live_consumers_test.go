package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/handler"
	"redq/queue/layout"
	"redq/queue/queuetest"
)

// liveEngine is a Live on a server with messages, and how to ask the server.
func liveEngine(t *testing.T, messages int) (*Live, *queuetest.Server, queue.Queue) {
	t.Helper()
	s := queuetest.Redis(t)
	c, err := queue.Open(t.Context(), queue.Options{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	q := queue.Named("work")
	for i := range messages {
		s.Client.LPush(t.Context(), "work", fmt.Sprint("m", i))
	}
	l := NewLive(c, nil, layout.Options{})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		l.EndConsumers(ctx)
	})
	return l, s, q
}

// watchUntil looks at consumers again and again until it has seen enough, and
// returns all events it met.
func watchUntil(t *testing.T, l *Live, enough func([]ConsumerNews) bool) []queue.Event {
	t.Helper()
	var events []queue.Event
	deadline := time.Now().Add(20 * time.Second)
	for {
		news := l.WatchConsumers()
		for _, n := range news {
			events = append(events, n.Events...)
		}
		if enough(news) {
			return events
		}
		if time.Now().After(deadline) {
			t.Fatalf("not seen in time: %+v", news)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func logging(q queue.Queue, p queue.Pattern) ConsumerSettings {
	return ConsumerSettings{Queue: q, Pattern: p, Handler: handler.Spec{Kind: handler.KindLog}, Concurrency: 2}
}

func TestLiveConsumesStopsAndForgets(t *testing.T) {
	l, s, q := liveEngine(t, 20)
	id, err := l.StartConsumer(logging(q, queue.Pipeline))
	if err != nil || id != 1 {
		t.Fatalf("%d, %v", id, err)
	}
	events := watchUntil(t, l, func(n []ConsumerNews) bool { return n[0].Stats.Done == 20 && n[0].Stats.InHand == 0 })
	l.ForgetConsumer(id) // it runs: nothing is forgotten
	l.StopConsumer(id)
	events = append(events, watchUntil(t, l, func(n []ConsumerNews) bool { return n[0].Ended })...)
	if n := l.WatchConsumers()[0]; n.Err != nil || len(n.Events) != 0 || n.Stats.State != queue.ConsumerStopped {
		t.Errorf("after the end %+v", n)
	}
	done := 0
	for _, e := range events {
		if e.Kind == queue.EventDone {
			done++
		}
	}
	if done != 20 || !slices.ContainsFunc(events, func(e queue.Event) bool { return e.Kind == queue.EventStopped }) {
		t.Errorf("%d of 20 events of done; all: %+v", done, events)
	}
	if n := s.Client.LLen(t.Context(), "work").Val(); n != 0 {
		t.Errorf("%d messages are left", n)
	}
	l.ForgetConsumer(id)
	if n := l.WatchConsumers(); len(n) != 0 {
		t.Errorf("%d are not forgotten", len(n))
	}
	for _, tell := range []func(int){l.StopConsumer, l.AbandonConsumer, l.ForgetConsumer} {
		tell(99) // nobody: nothing happens
	}
}

func TestLiveRefusesWhatCannotRun(t *testing.T) {
	l, s, q := liveEngine(t, 0)
	plain := queue.Queue{Name: "plain", Ready: "plain"}
	for name, settings := range map[string]ConsumerSettings{
		"no sorted set": logging(plain, queue.ZsetScript),
		"no command":    {Queue: q, Pattern: queue.Pipeline, Handler: handler.Spec{Kind: handler.KindExec}},
		"no handler":    {Queue: q, Pattern: queue.Pipeline},
	} {
		if _, err := l.StartConsumer(settings); err == nil {
			t.Errorf("%s: started", name)
		}
		if err := l.CheckConsumer(settings); err == nil {
			t.Errorf("%s: checked", name)
		}
	}
	if err := l.CheckConsumer(logging(q, queue.Pipeline)); err != nil {
		t.Error(err)
	}
	reader, err := queue.Open(t.Context(), queue.Options{URL: s.URL, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	if _, err := NewLive(reader, nil, layout.Options{}).StartConsumer(logging(q, queue.Pipeline)); !errors.Is(err, queue.ErrReadOnly) {
		t.Errorf("a read-only client: %v", err)
	}
}

// What hangs is abandoned, and stays in its backup list.
func TestLiveAbandons(t *testing.T) {
	l, s, q := liveEngine(t, 5)
	settings := logging(q, queue.Pipeline)
	settings.Handler = handler.Spec{Kind: handler.KindSimulate, Simulation: handler.Simulation{Latency: time.Hour}}
	if _, err := l.StartConsumer(settings); err != nil {
		t.Fatal(err)
	}
	var id string
	watchUntil(t, l, func(n []ConsumerNews) bool {
		id = n[0].Stats.ID
		return len(n[0].InHand) >= 2 && !n[0].InHand[0].Started.IsZero()
	})
	l.StopConsumer(1)
	watchUntil(t, l, func(n []ConsumerNews) bool { return n[0].Stats.State == queue.ConsumerStopping })
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no patience at all
	l.EndConsumers(ctx)
	n := l.WatchConsumers()[0]
	if !n.Ended || !errors.Is(n.Err, queue.ErrAbandoned) {
		t.Fatalf("ended %v, %v", n.Ended, n.Err)
	}
	left := s.Client.LRange(t.Context(), q.BackupKey(id), 0, -1).Val()
	ready := s.Client.LLen(t.Context(), "work").Val()
	if len(left) < 2 || int(ready)+len(left) != 5 {
		t.Errorf("%d in backup, %d ready of 5", len(left), ready)
	}
}

// The buffer keeps the newest events and never more than it may.
func TestEventsAreBounded(t *testing.T) {
	c := &liveConsumer{Consumer: &queue.Consumer{}, ended: make(chan struct{})}
	big := queue.Message{Payload: make([]byte, 1<<20), Tail: make([]byte, 1<<20)}
	c.note(queue.Event{Kind: queue.EventFailed, Message: big})
	for range 3 * keptEvents {
		c.note(queue.Event{Kind: queue.EventDone, Message: queue.Message{Payload: []byte("x")}})
	}
	n := c.news(1)
	if len(n.Events) != keptEvents+1 || n.LeftOut != 2*keptEvents {
		t.Errorf("%d events, %d left out", len(n.Events), n.LeftOut)
	}
	if m := n.Events[0].Message; len(m.Payload) != keptBytes || cap(m.Payload) > 2*keptBytes || m.Tail != nil {
		t.Errorf("%d bytes of a payload are kept", cap(m.Payload))
	}
	if n := c.news(1); len(n.Events) != 0 || n.LeftOut != 0 {
		t.Errorf("fetched twice: %d, %d", len(n.Events), n.LeftOut)
	}
}

// A fault in a consumer is its end, not that of the program.
func TestAPanicIsTheConsumersEnd(t *testing.T) {
	c := &liveConsumer{Consumer: nil, ended: make(chan struct{})}
	_, c.stop = context.WithCancel(t.Context())
	c.run(t.Context())
	if c.err == nil || !strings.Contains(c.err.Error(), "fault of redq") {
		t.Errorf("error %v", c.err)
	}
}

// The whole way by keys: start, watch, stop, and quit with one running.
func TestConsumeOnAServer(t *testing.T) {
	s := queuetest.Redis(t)
	queuetest.Seed(t, s)
	d := live(t, s)
	// Timers run on the driver's own clock, the consumer on the real one.
	until := func(what string, seen func() bool) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); !seen(); {
			if time.Now().After(deadline) {
				t.Fatalf("not seen in time: %s; status %q, %+v", what, d.m.Status.Text, d.consumer())
			}
			time.Sleep(5 * time.Millisecond)
			d.advance(100 * time.Millisecond)
		}
	}
	d.commanded("consume queueA")
	if g := d.m.Dialog.(ConsumerDialog); g.Patterns[2].Refusal == "" || g.Patterns[6].Refusal != "" {
		t.Fatalf("refusals %+v", g.Patterns)
	}
	d.press("7 y")
	until("all of queueA done", func() bool { return d.consumer().Stats.Done == 4 })
	d.advance(2 * time.Second)
	if row, _ := d.m.Row("queueA"); row.Sample.Ready.N != 0 || row.Sample.Backup.N != 3 {
		t.Errorf("ready %d, backup %d", row.Sample.Ready.N, row.Sample.Backup.N)
	}
	d.press("x")
	until("stopped", func() bool { return d.consumer().State == RunStopped })
	d.press("D")
	d.commanded("consume orders")
	d.press("8 y")
	until("running", func() bool { return d.consumer().State == RunRunning })
	d.press("enter 5")
	until("the heartbeat", func() bool {
		rows := d.m.ConsumerRows()
		return len(rows) > 0 && rows[0].Own.ID == 2 && rows[0].Info.Alive
	})
	d.press("ctrl+c y")
	until("quit", func() bool { return d.quit })
	if d.m.Fatal != nil {
		t.Errorf("it says %v", d.m.Fatal)
	}
}
