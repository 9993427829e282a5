package queue_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/queuetest"
)

// numberedPayloads are n different messages: prefix0, prefix1 …
func numberedPayloads(prefix string, n int) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		all[i] = fmt.Appendf(nil, "%s%d", prefix, i)
	}
	return all
}

// popped returns what consumers of ready would get, in that order.
func popped(t testing.TB, s *queuetest.Server, q queue.Queue) []string {
	t.Helper()
	all := list(t, s, q.Ready)
	if q.PushEnd() == queue.Left {
		slices.Reverse(all)
	}
	return all
}

func texts(payloads ...[][]byte) []string {
	var all []string
	for _, ps := range payloads {
		for _, p := range ps {
			all = append(all, string(p))
		}
	}
	return all
}

func TestEnqueueAllKeepsTheOrderAtBothEnds(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		for _, end := range []queue.End{queue.Left, queue.Right} {
			s.Client.FlushDB(t.Context())
			c, _ := open(t, s)
			q := orders()
			q.Push = end
			waiting, back, front := numberedPayloads("w", 2), numberedPayloads("b", 2300), numberedPayloads("f", 1100)
			for _, step := range []struct {
				payloads [][]byte
				front    bool
			}{{waiting, false}, {back, false}, {front, true}} {
				all, err := c.EnqueueAll(t.Context(), q, step.payloads, queue.EnqueueOptions{Front: step.front})
				if err != nil || all.Done != len(step.payloads) || all.Unknown != 0 || all.Already != nil || all.IDs != nil ||
					all.Place != queue.Ready || all.Key != "orders" || all.Len != s.Client.LLen(t.Context(), "orders").Val() {
					t.Fatalf("%+v, %v", all, err)
				}
			}
			if got, want := popped(t, s, q), texts(front, waiting, back); !slices.Equal(got, want) {
				t.Errorf("pushed %s: popped in the order %.80q …, want %.80q …", end, got, want)
			}
			if !slices.Equal(texts(front), texts(numberedPayloads("f", 1100))) {
				t.Error("the caller's payloads were turned round")
			}
		}
	})
}

func TestEnqueueAllOfNothing(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, _ := open(t, s)
		for _, o := range []queue.EnqueueOptions{{}, {Delay: true}} {
			if all, err := c.EnqueueAll(t.Context(), orders(), nil, o); err != nil || all.Done != 0 {
				t.Errorf("%+v, %v", all, err)
			}
		}
		if n := s.Client.DBSize(t.Context()).Val(); n != 0 {
			t.Errorf("%d keys", n)
		}
	})
}

func TestEnqueueAllKeepsBytesAndEqualMessagesInReady(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, _ := open(t, s)
		payloads := [][]byte{{}, {0xff, 0}, []byte("same"), []byte("same"), []byte("\r\n$3"), nil}
		if all, err := c.EnqueueAll(t.Context(), orders(), payloads, queue.EnqueueOptions{}); err != nil || all.Done != 6 {
			t.Fatalf("%+v, %v", all, err)
		}
		if got := popped(t, s, orders()); !slices.Equal(got, texts(payloads)) {
			t.Errorf("got %q", got)
		}
	})
}

func TestEnqueueAllDelayedIsNeverEarlyAndAddsEqualBytesOnce(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		for _, unit := range []queue.Unit{queue.Milliseconds, queue.Seconds, queue.FloatSeconds, queue.Microseconds} {
			s.Client.FlushDB(t.Context())
			c, _ := open(t, s)
			q := orders()
			q.Unit = unit
			present := queue.EnqueueOptions{At: time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)}
			if _, err := c.Enqueue(t.Context(), q, []byte("p1500"), present); err != nil {
				t.Fatal(err)
			}
			payloads := numberedPayloads("p", 1600)
			payloads[3], payloads[1200], payloads[1201] = []byte("p2"), []byte("p0"), []byte("p1199")
			before := s.Client.Time(t.Context()).Val()
			all, err := c.EnqueueAll(t.Context(), q, payloads, queue.EnqueueOptions{In: 90 * time.Second})
			after := s.Client.Time(t.Context()).Val()
			if err != nil || all.Done != 1596 || !slices.Equal(all.Already, []int{3, 1200, 1201, 1500}) || all.Len != 1597 {
				t.Fatalf("%v: %+v, %v", unit, all, err)
			}
			ms := peek(t, c, q, queue.Delayed)
			if len(ms) != 1597 {
				t.Errorf("%v: %d messages", unit, len(ms))
			}
			for _, m := range ms {
				due, ok := unit.Time(m.Score)
				switch {
				case string(m.Payload) == "p1500":
					if !due.Equal(present.At) {
						t.Errorf("%v: the one there before is due %v now", unit, due)
					}
				case !ok, due.Before(before.Add(90 * time.Second)), due.After(after.Add(91 * time.Second)):
					t.Fatalf("%v: %s is due %v, added between %v and %v", unit, m.Payload, due, before, after)
				}
			}
		}
	})
}

func TestEnqueueAllAtOneTime(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, _ := open(t, s)
		at := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
		all, err := c.EnqueueAll(t.Context(), orders(), numberedPayloads("p", 3), queue.EnqueueOptions{At: at})
		if err != nil || all.Done != 3 || all.Place != queue.Delayed || all.Key != "orders:delayed" {
			t.Fatalf("%+v, %v", all, err)
		}
		for _, m := range peek(t, c, orders(), queue.Delayed) {
			if m.Score != queue.Milliseconds.Score(at) {
				t.Errorf("%s has score %s", m.Payload, m.Score)
			}
		}
	})
}

func TestScheduleAll(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, _ := open(t, s)
		at := time.Date(2031, 5, 6, 7, 8, 9, 1500, time.UTC)
		var ms []queue.Scheduled
		for i, p := range numberedPayloads("p", 1001) {
			ms = append(ms, queue.Scheduled{Payload: p, At: at.Add(-time.Duration(i) * time.Second)})
		}
		ms = append(ms, ms[4])
		all, err := c.ScheduleAll(t.Context(), orders(), ms)
		if err != nil || all.Done != 1001 || !slices.Equal(all.Already, []int{1001}) {
			t.Fatalf("%+v, %v", all, err)
		}
		for i, m := range peek(t, c, orders(), queue.Delayed) { // the last is due first
			want := ms[1000-i]
			due, _ := queue.Milliseconds.Time(m.Score)
			if string(m.Payload) != string(want.Payload) || due.Before(want.At) || due.Sub(want.At) > time.Millisecond {
				t.Fatalf("%s is due %v, want %s due %v", m.Payload, due, want.Payload, want.At)
			}
		}
	})
}

func TestADueTimeThatIsNoneIsRefused(t *testing.T) {
	s := queuetest.Redis(t)
	c, _ := open(t, s)
	good := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	for _, bad := range []time.Time{{}, time.Unix(0, 0), time.Unix(-5, 0), time.Date(4000, 1, 1, 0, 0, 0, 0, time.UTC)} {
		all, err := c.ScheduleAll(t.Context(), orders(), []queue.Scheduled{{Payload: []byte("a"), At: good}, {Payload: []byte("b"), At: bad}})
		if err == nil || !strings.Contains(err.Error(), "message 1") || all.Done != 0 {
			t.Errorf("%v: %+v, %v", bad, all, err)
		}
		if bad.IsZero() {
			continue // at once, for the others
		}
		o := queue.EnqueueOptions{At: bad}
		_, err1 := c.Enqueue(t.Context(), orders(), []byte("b"), o)
		_, err2 := c.EnqueueAll(t.Context(), orders(), [][]byte{[]byte("b")}, o)
		if err1 == nil || err2 == nil {
			t.Errorf("%v: %v, %v", bad, err1, err2)
		}
	}
	if n := s.Client.DBSize(t.Context()).Val(); n != 0 {
		t.Errorf("%d keys", n)
	}
}

func TestEnqueueAllWraps(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, _ := open(t, s)
		same := [][]byte{[]byte("x"), []byte("x"), []byte("x")}
		for _, o := range []queue.EnqueueOptions{{Wrap: true, Delay: true}, {Wrap: true, Front: true}} {
			all, err := c.EnqueueAll(t.Context(), orders(), same, o)
			if err != nil || all.Done != 3 || len(all.IDs) != 3 {
				t.Fatalf("%+v, %v", all, err)
			}
			ms := peek(t, c, orders(), all.Place)
			for i, id := range all.IDs {
				want := fmt.Sprintf(`{"id":"%s","msg":"x"}`, id)
				if !slices.ContainsFunc(ms, func(m queue.Message) bool { return string(m.Payload) == want }) {
					t.Errorf("%d: no %s in %+v", i, want, ms)
				}
			}
		}
		all, err := c.EnqueueAll(t.Context(), orders(), [][]byte{[]byte("x"), {0xff}}, queue.EnqueueOptions{Wrap: true})
		if err == nil || !strings.Contains(err.Error(), "payload 1") || all.Done != 0 {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

func TestEnqueueAllBoundsItsBatches(t *testing.T) {
	s := queuetest.Redis(t)
	c, _ := open(t, s)
	large := make([][]byte, 5)
	for i := range large {
		large[i] = []byte(strings.Repeat("x", 400<<10))
	}
	large = append(large, []byte(strings.Repeat("y", 3<<20)), []byte("z")) // of 2, 2, 1, 1 and 1
	for _, tc := range []struct {
		payloads [][]byte
		batches  string
	}{{large, "calls=5,"}, {numberedPayloads("p", 2001), "calls=3,"}} {
		s.Client.ConfigResetStat(t.Context())
		if all, err := c.EnqueueAll(t.Context(), orders(), tc.payloads, queue.EnqueueOptions{}); err != nil || all.Done != len(tc.payloads) {
			t.Fatalf("%+v, %v", all, err)
		}
		stats := s.Client.Info(t.Context(), "commandstats").Val()
		if !strings.Contains(stats, "cmdstat_lpush:"+tc.batches) || strings.Contains(stats, "eval") {
			t.Errorf("want LPUSH %s no script:\n%s", tc.batches, stats)
		}
	}
}

func TestEnqueueAllSaysWhatALostAnswerLeaves(t *testing.T) {
	s := queuetest.Redis(t)
	for _, o := range []queue.EnqueueOptions{{}, {Front: true}, {Delay: true}} {
		s.Client.FlushDB(t.Context())
		c, _, p := through(t, s)
		if _, err := c.EnqueueAll(t.Context(), queue.Named("warm"), [][]byte{[]byte("x")}, o); err != nil {
			t.Fatal(err) // the server knows the script now
		}
		payloads := numberedPayloads("p", 3500)
		at := 1500
		if o.Front {
			at = 2000 // in the second batch from the end
		}
		payloads[at] = []byte("the-marker")
		p.CutAfterRequest("the-marker")
		all, err := c.EnqueueAll(t.Context(), orders(), payloads, o)
		if !errors.Is(err, queue.ErrUnknownOutcome) || all.Done != 1000 || all.Unknown != 1000 {
			t.Errorf("%+v: %d done, %d unknown, %v", o, all.Done, all.Unknown, err)
		}
		if !strings.Contains(err.Error(), "1000 of 3500") {
			t.Errorf("%v does not say how far it came", err)
		}
		page, err := c.Peek(t.Context(), orders(), all.Place, 0, 1)
		if err != nil || page.Total != 2000 {
			t.Errorf("%+v: %d messages on the server, %v: the unknown batch had arrived once", o, page.Total, err)
		}
	}
}

func TestEnqueueAllSendsNothingToNobody(t *testing.T) {
	s := queuetest.Redis(t)
	c, _, p := through(t, s)
	p.Refuse(true)
	p.Cut()
	// The first may find a connection that it cannot know to be closed.
	_, _ = c.EnqueueAll(t.Context(), orders(), numberedPayloads("p", 10), queue.EnqueueOptions{})
	all, err := c.EnqueueAll(t.Context(), orders(), numberedPayloads("p", 10), queue.EnqueueOptions{})
	if !errors.Is(err, queue.ErrNotSent) || all.Done != 0 || all.Unknown != 0 {
		t.Errorf("%+v, %v", all, err)
	}
	if n := s.Client.LLen(t.Context(), "orders").Val(); n != 0 {
		t.Errorf("%d messages", n)
	}
}

func TestEnqueueAllStopsBetweenBatches(t *testing.T) {
	s := queuetest.Redis(t)
	c, _ := open(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	all, err := c.EnqueueAll(ctx, orders(), numberedPayloads("p", 10), queue.EnqueueOptions{})
	if !errors.Is(err, context.Canceled) || all.Done != 0 || all.Unknown != 0 {
		t.Errorf("%+v, %v", all, err)
	}
	if n := s.Client.LLen(t.Context(), "orders").Val(); n != 0 {
		t.Errorf("%d messages", n)
	}
}

func TestEnqueueAllIsRefusedAsAWhole(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, _ := open(t, s)
		for _, key := range []string{"orders", "orders:delayed"} {
			s.Client.Set(t.Context(), key, "a string", 0)
		}
		counted := orders()
		counted.Stats = counted.StatsKey()
		for _, q := range []queue.Queue{orders(), counted} {
			for _, o := range []queue.EnqueueOptions{{}, {Front: true}, {Delay: true}, {In: time.Minute}} {
				all, err := c.EnqueueAll(t.Context(), q, numberedPayloads("p", 3), o)
				if !errors.Is(err, queue.ErrWrongType) || all.Done != 0 || all.Unknown != 0 {
					t.Errorf("%+v: %+v, %v", o, all, err)
				}
			}
		}
		if n := s.Client.HGet(t.Context(), counted.Stats, "enqueued").Val(); n != "" && n != "0" {
			t.Errorf("%s messages counted, and none added", n)
		}
		_, err := c.EnqueueAll(t.Context(), queue.Queue{Name: "d", Delayed: "d"}, numberedPayloads("p", 3), queue.EnqueueOptions{})
		if !errors.Is(err, queue.ErrNoSuchPlace) {
			t.Errorf("got %v", err)
		}
		if _, err := c.EnqueueAll(t.Context(), orders(), nil, queue.EnqueueOptions{Front: true, Delay: true}); err == nil {
			t.Error("front of delayed was taken")
		}
	})
}

func TestEnqueueAllOnAFullServer(t *testing.T) {
	s := queuetest.Redis(t)
	c, _ := open(t, s)
	used := usedMemory(t, s)
	s.Client.ConfigSet(t.Context(), "maxmemory", fmt.Sprint(used+6<<20))
	payloads := numberedPayloads(strings.Repeat("x", 100<<10), 200)
	all, err := c.EnqueueAll(t.Context(), orders(), payloads, queue.EnqueueOptions{})
	var refused *queue.RefusedError
	if !errors.As(err, &refused) || refused.Code != "OOM" || all.Unknown != 0 {
		t.Fatalf("%+v, %v", all, err)
	}
	got := popped(t, s, orders())
	if all.Done == 0 || all.Done == 200 || !slices.Equal(got, texts(payloads[:all.Done])) {
		t.Errorf("%d messages said to be added, %d are there", all.Done, len(got))
	}
}

func TestEnqueueAllReadOnly(t *testing.T) {
	s := queuetest.Redis(t)
	c, _ := open(t, s, func(o *queue.Options) { o.ReadOnly = true })
	_, err1 := c.EnqueueAll(t.Context(), orders(), numberedPayloads("p", 3), queue.EnqueueOptions{})
	_, err2 := c.ScheduleAll(t.Context(), orders(), []queue.Scheduled{{At: time.Now()}})
	if !errors.Is(err1, queue.ErrReadOnly) || !errors.Is(err2, queue.ErrReadOnly) {
		t.Errorf("%v, %v", err1, err2)
	}
}

func TestEnqueueAllWithoutScripts(t *testing.T) {
	s := queuetest.Redis(t)
	url := s.User("producer", "pw", "~orders* +lpush +rpush +ping +client")
	c, _ := open(t, s, func(o *queue.Options) { o.URL = url })
	if all, err := c.EnqueueAll(t.Context(), orders(), numberedPayloads("p", 3), queue.EnqueueOptions{}); err != nil || all.Done != 3 {
		t.Errorf("%+v, %v", all, err)
	}
	_, err := c.EnqueueAll(t.Context(), orders(), numberedPayloads("p", 3), queue.EnqueueOptions{Delay: true})
	if !errors.Is(err, queue.ErrNoScripts) {
		t.Errorf("got %v", err)
	}
}

func TestProducersCountWhereTheQueueHasStats(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, _ := open(t, s)
		produce := func(q queue.Queue) {
			t.Helper()
			at := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
			for _, o := range []queue.EnqueueOptions{{}, {Front: true}, {At: at}} {
				if _, err := c.Enqueue(t.Context(), q, fmt.Appendf(nil, "one %v", o), o); err != nil {
					t.Fatal(err)
				}
				if all, err := c.EnqueueAll(t.Context(), q, numberedPayloads(fmt.Sprint(o), 1100), o); err != nil || all.Done != 1100 {
					t.Fatalf("%+v, %v", all, err)
				}
			}
			if _, err := c.Enqueue(t.Context(), q, []byte("again"), queue.EnqueueOptions{At: at}); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Enqueue(t.Context(), q, []byte("again"), queue.EnqueueOptions{At: at}); err == nil {
				t.Fatal("added twice")
			}
			again := []queue.Scheduled{{[]byte("again"), at}, {[]byte("new"), at}, {[]byte("new"), at}}
			if _, err := c.ScheduleAll(t.Context(), q, again); err != nil {
				t.Fatal(err)
			}
		}
		produce(orders())
		if n := s.Client.DBSize(t.Context()).Val(); n != 2 {
			t.Fatalf("%d keys: a queue without Stats got some beside its places", n)
		}
		s.Client.FlushDB(t.Context())
		q := orders()
		q.Stats = q.StatsKey()
		produce(q)
		if got := s.Client.HGetAll(t.Context(), "orders:stats").Val(); len(got) != 1 || got["enqueued"] != "3305" {
			t.Errorf("counters %v, want 3305 enqueued", got)
		}
		// What cannot be counted is enqueued all the same.
		s.Client.FlushDB(t.Context())
		s.Client.Set(t.Context(), "orders:stats", "a string", 0)
		produce(q)
	})
}

func TestEnqueueAllOnACluster(t *testing.T) {
	t.Parallel()
	c, rdb, _ := onCluster(t)
	for i := range 6 { // several tags, so that every master gets some
		q := queue.Named(fmt.Sprintf("{orders%d}", i))
		q.Stats = q.StatsKey()
		for _, o := range []queue.EnqueueOptions{{}, {Delay: true}} {
			if all, err := c.EnqueueAll(t.Context(), q, numberedPayloads("p", 1200), o); err != nil || all.Done != 1200 {
				t.Errorf("%s: %+v, %v", q.Name, all, err)
			}
		}
		if n := rdb.HGet(t.Context(), q.Stats, "enqueued").Val(); n != "2400" {
			t.Errorf("%s: %s counted", q.Name, n)
		}
		q.Stats = ""
		if all, err := c.EnqueueAll(t.Context(), q, numberedPayloads("p", 3), queue.EnqueueOptions{}); err != nil || all.Len != 1203 {
			t.Errorf("%s: %+v, %v", q.Name, all, err)
		}
	}
	apart := queue.Named("orders")
	apart.Stats = apart.StatsKey()
	if _, err := c.EnqueueAll(t.Context(), apart, numberedPayloads("p", 3), queue.EnqueueOptions{}); !errors.Is(err, queue.ErrCrossSlot) {
		t.Errorf("counters in another slot: %v", err)
	}
	if n := rdb.Exists(t.Context(), "orders").Val(); n != 0 {
		t.Error("something was added")
	}
}

// A client that has the slots of yesterday is told where they are, and nothing has run.
func TestEnqueueAllFollowsTheSlots(t *testing.T) {
	t.Parallel()
	nodes := queuetest.Cluster(t, 2)
	c, _ := open(t, nodes[0], func(o *queue.Options) { o.URL, o.Cluster = nodes[0].Addr, true })
	ctx := t.Context()
	q := queue.Named("{orders}")
	if _, err := c.EnqueueAll(ctx, q, numberedPayloads("p", 3), queue.EnqueueOptions{}); err != nil {
		t.Fatal(err)
	}
	slot := nodes[0].Client.ClusterKeySlot(ctx, q.Ready).Val()
	from, to := nodes[0], nodes[1]
	if slot >= 8192 {
		from, to = to, from
	}
	if err := from.Client.Del(ctx, q.Ready).Err(); err != nil {
		t.Fatal(err)
	}
	id := to.Client.Do(ctx, "CLUSTER", "MYID").Val()
	for _, n := range []*queuetest.Server{to, from} {
		if err := n.Client.Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", id).Err(); err != nil {
			t.Fatal(err)
		}
	}
	all, err := c.EnqueueAll(ctx, q, numberedPayloads("p", 3), queue.EnqueueOptions{})
	if err != nil || all.Done != 3 || all.Len != 3 {
		t.Errorf("%+v, %v", all, err)
	}
}

// usedMemory returns the bytes that a real server uses.
func usedMemory(t testing.TB, s *queuetest.Server) (n int64) {
	t.Helper()
	for line := range strings.Lines(s.Client.Info(t.Context(), "memory").Val()) {
		if _, err := fmt.Sscanf(line, "used_memory:%d", &n); err == nil {
			return n
		}
	}
	t.Fatal("INFO memory does not tell")
	return 0
}
