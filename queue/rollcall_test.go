package queue

import (
	"fmt"
	"testing"
	"time"

	"redq/queue/queuetest"
)

// hire lays down a consumer's entry, and its heartbeat when it is alive.
func hire(t *testing.T, s *queuetest.Server, q Queue, id string, alive bool) {
	t.Helper()
	ctx := t.Context()
	if err := s.Client.HSet(ctx, q.ConsumersKey(), id, `{"host":"h","pid":1,"started":1764547200000}`).Err(); err != nil {
		t.Fatal(err)
	}
	if !alive {
		return
	}
	now := s.Client.Time(ctx).Val()
	if err := s.Client.HSet(ctx, q.ConsumerKey(id), "beat", now.UnixMilli(), "interval", 10000).Err(); err != nil {
		t.Fatal(err)
	}
}

func atLeast(n int64) Count { return Count{N: n, State: AtLeast} }

func TestTheCrewOfAQueueIsCounted(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		q, other := Named("orders"), Named("other")
		sm := newSampling(t, s.URL)
		want := func(what string, alive, gone Count) {
			t.Helper()
			p := sm.poll(q, other)
			if got := p.Samples[0]; got.Consumers != alive || got.Gone != gone || got.Err != nil {
				t.Errorf("%s: %+v alive, %+v gone, want %+v and %+v (%v)", what, got.Consumers, got.Gone, alive, gone, got.Err)
			}
			if got := p.Samples[1]; got.Consumers != (Count{}) || got.Gone != (Count{}) {
				t.Errorf("%s: a queue without consumers has %+v", what, got.Consumers)
			}
		}
		want("none ever", Count{}, Count{})
		// A list that some other program keeps there is none.
		s.Client.HSet(t.Context(), q.ConsumersKey(), "count", "5")
		want("a foreign hash", Count{}, Count{})
		hire(t, s, q, "a", true)
		hire(t, s, q, "b", true)
		hire(t, s, q, "c", false)
		want("just seen", atLeast(0), atLeast(0))
		want("asked for", known(2), known(1))
		hire(t, s, q, "d", true)
		want("one more", atLeast(2), atLeast(1))
		want("asked for too", known(3), known(1))
		s.Client.HSet(t.Context(), q.ConsumerKey("d"), "beat", time.Now().Add(-31*time.Second).UnixMilli())
		want("one is late", known(2), known(2))
		s.Client.HDel(t.Context(), q.ConsumersKey(), "c", "d") // recovered
		want("two were recovered", known(2), known(0))
		s.Client.Del(t.Context(), q.ConsumersKey())
		want("all have stopped", known(0), known(0))
	})
}

func TestMessagesOfAGoneConsumerAreStuck(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		q := Named("orders")
		q.Backups = append(q.Backups, q.BackupKey("web-3-4242-k7q2xw"), q.BackupKey("alive"), q.BackupKey("foreign"))
		for i, key := range q.Backups {
			for n := range i + 1 {
				lpush(t, s, key, fmt.Sprint(n))
			}
		}
		hire(t, s, q, "web-3-4242-k7q2xw", false)
		hire(t, s, q, "alive", true)
		sm := newSampling(t, s.URL)
		sm.poll(q)
		got := sm.poll(q).Samples[0]
		if got.Backup != known(10) || got.Stuck != atLeast(2) {
			t.Errorf("%+v of %+v stuck, want the 2 of the one that is gone", got.Stuck, got.Backup)
		}
		// Seen long enough, all are.
		sm.forward = 30 * time.Second
		sm.poll(q)
		sm.forward = 61 * time.Second
		if got := sm.poll(q).Samples[0]; got.Stuck != known(10) {
			t.Errorf("after a minute: %+v stuck", got.Stuck)
		}
		sm = newSampling(t, s.URL)
		hire(t, s, q, "web-3-4242-k7q2xw", true)
		sm.poll(q)
		if got := sm.poll(q).Samples[0]; got.Stuck != atLeast(0) {
			t.Errorf("all are alive: %+v stuck", got.Stuck)
		}
	})
}

func TestCrewsThatCannotBeRead(t *testing.T) {
	s := queuetest.Redis(t)
	q := Named("orders")
	hire(t, s, q, "a", true)
	wrong := Named("wrong")
	s.Client.Set(t.Context(), wrong.ConsumersKey(), "x", 0)
	s.User("looker", "pw", "~orders ~orders:backup ~orders:delayed ~orders:dead ~wrong* +@all")
	sm := newSampling(t, "redis://looker:pw@"+s.Addr)
	first := sm.poll(q, wrong)
	second := sm.poll(q, wrong)
	for _, p := range []Poll{first, second} {
		for _, got := range p.Samples {
			if got.Err != nil || got.Consumers != (Count{}) || got.Ready != known(0) {
				t.Errorf("%+v", got)
			}
		}
	}
	if second.Commands >= first.Commands {
		t.Errorf("%d commands, then %d: asked again", first.Commands, second.Commands)
	}
	// What was no list becomes one.
	s.Client.Del(t.Context(), wrong.ConsumersKey())
	hire(t, s, wrong, "a", true)
	sm.poll(q, wrong)
	if got := sm.poll(q, wrong).Samples[1]; got.Consumers != known(1) {
		t.Errorf("%+v", got.Consumers)
	}
}

func TestManyCrewsTakeTurns(t *testing.T) {
	s := queuetest.Redis(t)
	var qs []Queue
	for i := range 3 * calledQueues {
		q := Queue{Name: fmt.Sprint(i), Ready: fmt.Sprintf("q%d", i)}
		if i%3 == 0 {
			for n := range 5 {
				hire(t, s, q, fmt.Sprint(n), n > 0)
			}
		}
		qs = append(qs, q)
	}
	sm := newSampling(t, s.URL)
	base := 1 + len(qs) + 1 // TIME, the lengths and the script
	for range 20 {
		if p := sm.poll(qs...); p.Commands > base+calledQueues+calledConsumers+1 {
			t.Fatalf("%d commands", p.Commands)
		}
	}
	for i, got := range sm.poll(qs...).Samples {
		alive, gone := Count{}, Count{}
		if i%3 == 0 {
			alive, gone = known(4), known(1)
		}
		if got.Consumers != alive || got.Gone != gone {
			t.Fatalf("queue %d: %+v alive, %+v gone", i, got.Consumers, got.Gone)
		}
	}
}

func TestALargeCrewIsCountedAtLeast(t *testing.T) {
	s := queuetest.Redis(t)
	q, small := Named("orders"), Named("small")
	for i := range 4 * crewSize {
		hire(t, s, q, fmt.Sprintf("consumer-%d", i), true)
	}
	hire(t, s, small, "a", true)
	sm := newSampling(t, s.URL)
	sm.poll(q, small)
	p := sm.poll(q, small)
	if got := p.Samples[0]; got.Consumers.State != AtLeast || got.Consumers.N == 0 || got.Consumers.N > crewSize {
		t.Errorf("%+v alive of %d", got.Consumers, 4*crewSize)
	}
	if got := p.Samples[1]; got.Consumers != known(1) {
		t.Errorf("beside a large crew: %+v", got.Consumers)
	}
}

// Two queues by one name, or one key in two queues, are asked for alike.
func TestQueuesThatShareACrew(t *testing.T) {
	s := queuetest.Redis(t)
	q := Named("orders")
	hire(t, s, q, "a", true)
	hire(t, s, q, "b", false)
	sm := newSampling(t, s.URL)
	for range 3 {
		sm.poll(q, Queue{Name: "part", Ready: "orders"})
	}
	for _, got := range sm.poll(q, Queue{Name: "part", Ready: "orders"}).Samples {
		if got.Consumers != known(1) || got.Gone != known(1) {
			t.Errorf("%s: %+v alive, %+v gone", got.Queue, got.Consumers, got.Gone)
		}
	}
}

func TestCrewsAreForgotten(t *testing.T) {
	s := queuetest.Redis(t)
	sm := newSampling(t, s.URL)
	sm.poll(Named("a"), Named("b"))
	sm.forward = unpolledMemory + time.Minute
	sm.poll(Named("b"))
	if n := len(sm.sampler.crews); n != 1 {
		t.Errorf("%d crews remembered", n)
	}
}

func TestCrewsOnACluster(t *testing.T) {
	t.Parallel()
	nodes := queuetest.Cluster(t, 2)
	c, err := Open(t.Context(), Options{URL: nodes[0].Addr, Cluster: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	q := Named("orders") // its keys lie anywhere
	for i := range 8 {
		id := fmt.Sprint(i)
		c.write.HSet(t.Context(), q.ConsumersKey(), id, `{"started":1764547200000}`)
		c.write.HSet(t.Context(), q.ConsumerKey(id), "beat", time.Now().UnixMilli(), "interval", 10000)
	}
	sampler := c.NewSampler()
	if _, err := sampler.Sample(t.Context(), []Queue{q}); err != nil {
		t.Fatal(err)
	}
	p, err := sampler.Sample(t.Context(), []Queue{q})
	if err != nil || p.Samples[0].Consumers != known(8) {
		t.Errorf("%+v, %v", p.Samples[0].Consumers, err)
	}
}
