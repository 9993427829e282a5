package queue

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redq/queue/queuetest"
)

// sampling is a sampler whose clock the test moves.
type sampling struct {
	t       *testing.T
	sampler *Sampler
	forward time.Duration
}

func newSampling(t *testing.T, url string) *sampling {
	t.Helper()
	c, err := Open(t.Context(), Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	s := &sampling{t: t, sampler: c.NewSampler()}
	s.sampler.clock = func() time.Time { return time.Now().Add(s.forward) }
	return s
}

func (s *sampling) poll(qs ...Queue) Poll {
	s.t.Helper()
	p, err := s.sampler.Sample(s.t.Context(), qs)
	if err != nil {
		s.t.Fatal(err)
	}
	if len(p.Samples) != len(qs) {
		s.t.Fatalf("%d samples of %d queues", len(p.Samples), len(qs))
	}
	return p
}

func known(n int64) Count { return Count{N: n, State: Known} }

func zadd(t *testing.T, s *queuetest.Server, key string, scores ...float64) {
	t.Helper()
	for i, score := range scores {
		if err := s.Client.ZAdd(t.Context(), key, redis.Z{Score: score, Member: fmt.Sprintf("%d:%g", i, score)}).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func lpush(t *testing.T, s *queuetest.Server, key string, payloads ...any) {
	t.Helper()
	if err := s.Client.LPush(t.Context(), key, payloads...).Err(); err != nil {
		t.Fatal(err)
	}
}

func TestSampleOfTheFixture(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		queuetest.Seed(t, s)
		qs := []Queue{
			{Name: "notify-queue", Ready: "notify-queue"},
			{Name: "queueA", Ready: "queueA", Backups: []string{"queueA:backup"}},
			{Name: "q-demo", Delayed: "q-demo"},
			{Name: "delay-queue", Delayed: "delay-queue", Unit: FloatSeconds},
			{Name: "redis-queue", Delayed: "redis-queue"},
			{Name: "reminders", Delayed: "reminders:delayed", Unit: Seconds},
			Named("orders"),
			Named("nothing"),
		}
		p := newSampling(t, s.URL).poll(qs...)
		want := []Sample{
			{Ready: known(3)},
			{Ready: known(4), Backup: known(3), Stuck: Count{State: AtLeast}},
			{Delayed: known(10), Due: known(3)},
			{Delayed: known(6), Due: known(2)},
			{Delayed: known(5), Due: known(1)},
			{Delayed: known(400), Due: known(0)},
			{Ready: known(3), Backup: known(1), Stuck: Count{State: AtLeast}, Delayed: known(1), Due: known(0), Dead: known(2)},
			{Ready: known(0), Backup: known(0), Stuck: known(0), Delayed: known(0), Due: known(0), Dead: known(0)},
		}
		for i, got := range p.Samples {
			w := want[i]
			if got.Queue != qs[i].Name || got.Ready != w.Ready || got.Backup != w.Backup || got.Stuck != w.Stuck ||
				got.Delayed != w.Delayed || got.Due != w.Due || got.Dead != w.Dead || got.Err != nil {
				t.Errorf("%s: got %+v, want %+v", qs[i].Name, got, w)
			}
		}
		demo := p.Samples[2]
		if d := demo.NextDue.Sub(p.Now); d <= 0 || d > time.Hour+6*time.Second {
			t.Errorf("q-demo: next due in %v, want about an hour", d)
		}
		if demo.Overdue < time.Hour || demo.Overdue > time.Hour+time.Minute {
			t.Errorf("q-demo: overdue by %v, want 1 h", demo.Overdue)
		}
		if reminders := p.Samples[5]; reminders.Overdue != 0 {
			t.Errorf("reminders: overdue %v", reminders.Overdue)
		}
		if d := time.Since(p.Now).Abs(); d > time.Minute || p.Took <= 0 || p.Commands == 0 {
			t.Errorf("poll: now %v, took %v, %d commands", p.Now, p.Took, p.Commands)
		}
	})
}

func TestMisfitsAreNotDue(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		now := float64(time.Now().UnixMilli())
		zadd(t, s, "k", -1, 0, 7, now/1000, now-5000, now-1000, now+3.6e6, now*1000)
		s.Client.ZAdd(t.Context(), "k", redis.Z{Score: negInf(), Member: "-inf"})
		p := newSampling(t, s.URL).poll(Queue{Name: "q", Delayed: "k"})
		got := p.Samples[0]
		if got.Due != known(2) || got.Delayed != known(9) {
			t.Errorf("due %+v of %+v, want 2 of 9", got.Due, got.Delayed)
		}
		if got.Overdue < 5*time.Second || got.Overdue > time.Minute {
			t.Errorf("overdue by %v: by a score that is no time?", got.Overdue)
		}
	})
}

func negInf() float64 {
	v, _ := Score("-inf").Float()
	return v
}

func TestOneFailingKeyFailsAlone(t *testing.T) {
	qs := []Queue{
		{Name: "good", Ready: "good", Backups: []string{"good:b1", "good:b2"}},
		{Name: "bad", Ready: "bad", Delayed: "bad:delayed", Dead: "bad:dead"},
		{Name: "half", Backups: []string{"good:b1", "bad"}},
	}
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		lpush(t, s, "good", "a")
		lpush(t, s, "good:b1", "a", "b")
		lpush(t, s, "good:b2", "c")
		s.Client.Set(t.Context(), "bad", "x", 0)
		lpush(t, s, "bad:delayed", "x")
		sm := newSampling(t, s.URL)
		for range 3 {
			p := sm.poll(qs...)
			if got := p.Samples[0]; got.Ready != known(1) || got.Backup != known(3) || got.Err != nil {
				t.Errorf("good: %+v", got)
			}
			bad := p.Samples[1]
			if bad.Ready.State != Unreadable || bad.Delayed.State != Unreadable || bad.Due.State != Unreadable || bad.Dead != known(0) {
				t.Errorf("bad: %+v", bad)
			}
			if !errors.Is(bad.Err, ErrWrongType) || !errors.Is(bad.Keys[0].Err, ErrWrongType) || bad.Keys[2].Err != nil {
				t.Errorf("bad: %v, keys %+v", bad.Err, bad.Keys)
			}
			if half := p.Samples[2]; half.Backup != (Count{N: 2, State: AtLeast}) || half.Err == nil {
				t.Errorf("half: %+v", half)
			}
		}
	})
	t.Run("denied", func(t *testing.T) {
		s := queuetest.Redis(t)
		lpush(t, s, "good", "a")
		lpush(t, s, "good:b1", "a", "b")
		sm := newSampling(t, s.User("eve", "pw", "~good* +@all"))
		sm.poll(qs...) // here it is learnt which keys are denied
		sm.poll(qs...)
		sm.forward = 2 * time.Minute
		p := sm.poll(qs...)
		if got := p.Samples[0]; got.Ready != known(1) || got.Backup != known(2) || got.Stuck.N != 2 || got.Err != nil {
			t.Errorf("good: %+v", got)
		}
		var refused *RefusedError
		if got := p.Samples[1]; !errors.As(got.Err, &refused) || refused.Code != "NOPERM" || got.Dead.State != Unreadable {
			t.Errorf("bad: %+v", got)
		}
	})
}

func TestStuckIsWhatWasSeenForLong(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		q := Queue{Name: "q", Ready: "q", Backups: []string{"q:b"}}
		sm := newSampling(t, s.URL)
		lpush(t, s, "q:b", "old1", "old2")
		step := func(after time.Duration, want Count, oldest time.Duration) {
			t.Helper()
			sm.forward += after
			got := sm.poll(q).Samples[0]
			if got.Stuck != want {
				t.Errorf("after %v: stuck %+v, want %+v", sm.forward, got.Stuck, want)
			}
			if got.Oldest < oldest || got.Oldest > oldest+5*time.Second || oldest > 0 && got.OldestPlace != Backup {
				t.Errorf("after %v: oldest %v in %s, want %v", sm.forward, got.Oldest, got.OldestPlace, oldest)
			}
		}
		step(0, Count{State: AtLeast}, 0)
		step(50*time.Second, Count{State: AtLeast}, 50*time.Second)
		lpush(t, s, "q:b", "new")
		step(15*time.Second, known(2), 65*time.Second)
		s.Client.LRem(t.Context(), "q:b", 1, "old2")
		step(time.Second, known(1), 66*time.Second)
		step(50*time.Second, known(1), 116*time.Second)
		step(15*time.Second, known(2), 131*time.Second)
		s.Client.Del(t.Context(), "q:b")
		step(time.Second, known(0), 0)
		lpush(t, s, "q:b", "old1") // equal bytes, another message
		step(time.Second, known(0), 0)
		// Nobody looked for so long that messages may have come and grown old.
		step(10*time.Minute, Count{N: 1, State: AtLeast}, 10*time.Minute)
	})
}

func TestStuckInALongBackupIsAtLeast(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		for i := range 3 * windowEntries {
			lpush(t, s, "q:b", fmt.Sprint(i))
		}
		q := Queue{Name: "q", Backups: []string{"q:b"}, StuckAfter: 10 * time.Second}
		sm := newSampling(t, s.URL)
		sm.poll(q)
		sm.forward = 9 * time.Second
		sm.poll(q)
		sm.forward = 18 * time.Second
		if got := sm.poll(q).Samples[0]; got.Stuck != (Count{N: windowEntries, State: AtLeast}) {
			t.Errorf("stuck %+v, want at least %d", got.Stuck, windowEntries)
		}
	})
}

func TestTheOldestOfReadyLiesWhereItIsPopped(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		for _, push := range []End{Left, Right} {
			s.Client.Del(t.Context(), "q")
			add := s.Client.LPush
			if push == Right {
				add = s.Client.RPush
			}
			q := Queue{Name: "q", Ready: "q", Push: push}
			sm := newSampling(t, s.URL)
			add(t.Context(), "q", "first")
			sm.poll(q)
			add(t.Context(), "q", "second")
			sm.forward = time.Minute
			if got := sm.poll(q).Samples[0]; got.Oldest < time.Minute || got.OldestPlace != Ready {
				t.Errorf("pushed %s: oldest %v in %q", push, got.Oldest, got.OldestPlace)
			}
		}
	})
}

func TestAgeOfMessagesOnAPage(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		long := strings.Repeat("z", 2*HeadBytes)
		lpush(t, s, "q:b", "a", long)
		lpush(t, s, "q:dead", "d")
		q := Queue{Name: "q", Backups: []string{"q:b"}, Dead: "q:dead"}
		sm := newSampling(t, s.URL)
		page := func(p Place) []Message {
			t.Helper()
			got, err := sm.sampler.c.Peek(t.Context(), q, p, 0, 10)
			if err != nil {
				t.Fatal(err)
			}
			sm.sampler.Observe(got)
			return got.Messages
		}
		if age := sm.sampler.Age(Message{Key: "q:b", Payload: []byte("a"), Size: 1}); age != 0 {
			t.Errorf("never seen: age %v", age)
		}
		sm.poll(q) // by the poll
		dead := page(Dead)
		sm.forward = 30 * time.Second
		lpush(t, s, "q:b", "later")
		for _, m := range append(page(Backup), dead...) {
			want := 30 * time.Second
			if string(m.Payload) == "later" {
				want = 0
			}
			if age := sm.sampler.Age(m); age < want || age > want+5*time.Second {
				t.Errorf("%.5s: age %v, want %v", m.Payload, age, want)
			}
		}
	})
}

func TestTTLIsShown(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		urls := map[string]string{"scripts": s.URL}
		if s.Mini == nil {
			urls["no scripts"] = s.User("eve", "pw", "~* +@all -@scripting")
		}
		lpush(t, s, "q", "a")
		lpush(t, s, "q:b", "b")
		s.Client.Expire(t.Context(), "q", time.Hour)
		q := Queue{Name: "q", Ready: "q", Backups: []string{"q:b"}}
		for name, url := range urls {
			sm := newSampling(t, url)
			sm.poll(q)
			got := sm.poll(q).Samples[0]
			if ttl := got.Keys[0].TTL; ttl < 50*time.Minute || ttl > time.Hour {
				t.Errorf("%s: time to live %v, want 1 h", name, ttl)
			}
			if ttl := got.Keys[1].TTL; ttl != 0 {
				t.Errorf("%s: time to live %v, want none", name, ttl)
			}
		}
	})
}

func TestScriptsDeniedLeaveAgesUnknown(t *testing.T) {
	s := queuetest.Redis(t)
	lpush(t, s, "q:b", "b")
	sm := newSampling(t, s.User("eve", "pw", "~* +llen +zcard +zcount +pttl"))
	q := Queue{Name: "q", Backups: []string{"q:b", "q:b2"}, Delayed: "q:d"}
	sm.poll(q)
	got := sm.poll(q).Samples[0]
	if got.Backup != known(1) || got.Stuck.State == Known || got.Due != known(0) || got.Oldest != 0 || got.Err != nil {
		t.Errorf("%+v", got)
	}
}

func TestTheScriptIsLoadedAgain(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		lpush(t, s, "q", "a")
		q := Queue{Name: "q", Ready: "q"}
		sm := newSampling(t, s.URL)
		sm.poll(q)
		if err := s.Client.ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		sm.forward = time.Minute
		if got := sm.poll(q).Samples[0]; got.Oldest < time.Minute {
			t.Errorf("after SCRIPT FLUSH: oldest %v", got.Oldest)
		}
	})
}

func TestManyKeysTakeTurns(t *testing.T) {
	s := queuetest.Redis(t)
	var qs []Queue
	for i := range 500 {
		q := Named(fmt.Sprintf("q%03d", i))
		lpush(t, s, q.Backups[0], "x")
		qs = append(qs, q)
	}
	sm := newSampling(t, s.URL)
	for range 20 {
		p := sm.poll(qs...)
		if want := 1 + 500*5 + 1 + calledQueues; p.Commands > want+1 {
			t.Fatalf("%d commands, want %d", p.Commands, want)
		}
	}
	sm.forward = 30 * time.Second
	for range 20 {
		sm.poll(qs...)
	}
	sm.forward = 70 * time.Second
	for range 20 {
		sm.poll(qs...)
	}
	for _, got := range sm.poll(qs...).Samples {
		if got.Stuck != known(1) || got.Oldest < 69*time.Second {
			t.Fatalf("%s: stuck %+v, oldest %v: not looked into", got.Queue, got.Stuck, got.Oldest)
		}
	}
}

func TestChooseLooks(t *testing.T) {
	now := time.Unix(1754000000, 0)
	q := Named("q")
	var keys []*keyRead
	for i := range 400 {
		place := Places()[i%4]
		keys = append(keys, &keyRead{key: fmt.Sprint(i), place: place, queue: &q, watch: &watch{}})
	}
	seen := map[string]int{}
	for turn := range 4 {
		looks := chooseLooks(keys)
		if len(looks) != observedKeys {
			t.Fatalf("%d looks", len(looks))
		}
		if !slices.ContainsFunc(looks, func(l *look) bool { return l.place == Backup && l.entries >= minEntries }) {
			t.Error("no backup was looked into")
		}
		for _, l := range looks {
			seen[l.key]++
			l.watch.at = now.Add(time.Duration(turn) * time.Second)
		}
	}
	if len(seen) != len(keys) {
		t.Errorf("%d of %d keys had a turn", len(seen), len(keys))
	}
	keys[1].watch.rest = 2 // a backup that is heavy to look into
	for turn, want := range []bool{false, false, true} {
		got := slices.ContainsFunc(chooseLooks(keys), func(l *look) bool { return l.key == keys[1].key })
		if got != want {
			t.Errorf("turn %d: looked into %v, want %v", turn, got, want)
		}
	}
}

func TestOutageAndRecovery(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		q := Queue{Name: "q", Ready: "q", Backups: []string{"q:b"}}
		sm := newSampling(t, s.URL)
		sm.poll(q)
		s.Stop()
		for range 3 {
			if _, err := sm.sampler.Sample(t.Context(), []Queue{q}); err == nil {
				t.Fatal("a stopped server was polled")
			} else if got := Explain(err); got != "nobody listens at "+s.Addr {
				t.Errorf("Explain: %q", got)
			}
		}
		s.Start()
		lpush(t, s, "q", "a")
		if got := sm.poll(q).Samples[0]; got.Ready != known(1) {
			t.Errorf("after the restart: %+v", got)
		}
	})
	t.Run("from the start", func(t *testing.T) {
		s := queuetest.Redis(t)
		sm := newSampling(t, s.URL)
		s.Stop()
		if _, err := sm.sampler.Sample(t.Context(), []Queue{Named("q")}); err == nil {
			t.Error("a stopped server was polled")
		}
	})
}

func TestALoadingServerIsAnErrorOfAll(t *testing.T) {
	c := &Client{}
	for _, tt := range []struct {
		reply string
		all   bool
	}{
		{"LOADING Redis is loading the dataset in memory", true},
		{"MASTERDOWN Link with MASTER is down", true},
		{"NOAUTH Authentication required.", true},
		{"WRONGTYPE Operation against a key", false},
		{"NOPERM this user has no permissions to access a key", false},
	} {
		if got := concernsAll(c.readError(reply(tt.reply))); got != tt.all {
			t.Errorf("%s: concerns all %v, want %v", tt.reply, got, tt.all)
		}
	}
}

// reply is an error reply of a server.
type reply string

func (r reply) Error() string { return string(r) }
func (reply) RedisError()     {}

func TestCountsAdd(t *testing.T) {
	absent, zero := Count{}, known(0)
	few, no := Count{N: 2, State: AtLeast}, Count{State: Unreadable}
	tests := []struct{ a, b, want Count }{
		{absent, zero, zero}, {known(1), known(2), known(3)}, {known(1), few, Count{3, AtLeast}},
		{no, no, no}, {known(1), no, Count{1, AtLeast}}, {absent, no, no}, {absent, absent, absent},
	}
	for _, tt := range tests {
		for _, got := range []Count{tt.a.add(tt.b), tt.b.add(tt.a)} {
			if got != tt.want {
				t.Errorf("%+v + %+v = %+v, want %+v", tt.a, tt.b, got, tt.want)
			}
		}
	}
}
