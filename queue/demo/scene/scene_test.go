package scene

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"redq/queue"
	"redq/queue/layout"
	"redq/queue/payload"
	"redq/queue/queuetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// theatre is a stage on a server, and all that was told on it.
type theatre struct {
	*Stage
	server *queuetest.Server
	client *queue.Client

	mu    sync.Mutex
	lines []Line
}

// speed is how much faster scenes are played here.
const speed = 10

func newTheatre(t *testing.T, s *queuetest.Server) *theatre {
	t.Helper()
	c, err := queue.Open(t.Context(), queue.Options{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	th := &theatre{server: s, client: c}
	th.Stage = NewStage(Options{Client: c, Redis: s.Client, Speed: speed, Told: func(l Line) {
		th.mu.Lock()
		th.lines = append(th.lines, l)
		th.mu.Unlock()
	}})
	ctx, stop := context.WithCancel(context.Background())
	var clock sync.WaitGroup
	if s.Mini != nil { // its keys do not expire by themselves
		clock.Go(func() {
			for last := time.Now(); ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
				now := time.Now()
				s.Mini.FastForward(now.Sub(last))
				last = now
			}
		})
	}
	t.Cleanup(func() {
		th.Close()
		stop()
		clock.Wait()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return th
}

// watch plays a scene to its end and returns its last line.
func (th *theatre) watch(t *testing.T, name string) string {
	t.Helper()
	if err := th.Play(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(2 * time.Minute); !th.Line().Done; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s has no end: %q", name, th.Line().Text)
		}
	}
	last := th.Line()
	if last.Scene != name || strings.Contains(last.Text, "broke off") {
		t.Fatalf("%s ends with %+v", name, last)
	}
	th.mu.Lock()
	defer th.mu.Unlock()
	for _, l := range th.lines {
		if payload.LineString(l.Text, 400) != l.Text || strings.Contains(l.Text, "%!") {
			t.Errorf("%s tells %q", name, l.Text)
		}
	}
	return last.Text
}

// told returns the numbers of the last line that matches.
func (th *theatre) told(t *testing.T, pattern string) []int64 {
	t.Helper()
	th.mu.Lock()
	defer th.mu.Unlock()
	re := regexp.MustCompile(pattern)
	for i := len(th.lines) - 1; i >= 0; i-- {
		m := re.FindStringSubmatch(th.lines[i].Text)
		if m == nil {
			continue
		}
		var n []int64
		for _, digits := range m[1:] {
			v, err := strconv.ParseInt(digits, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			n = append(n, v)
		}
		return n
	}
	for _, l := range th.lines {
		t.Log(l.Text)
	}
	t.Fatalf("nothing was told like %s", pattern)
	return nil
}

// length is how many messages a key holds.
func (th *theatre) length(t *testing.T, key string) int64 {
	t.Helper()
	rdb := th.server.Client
	switch typ := rdb.Type(t.Context(), key).Val(); typ {
	case "none":
		return 0
	case "list":
		return rdb.LLen(t.Context(), key).Val()
	case "zset":
		return rdb.ZCard(t.Context(), key).Val()
	default:
		t.Fatalf("%s is a %s", key, typ)
		return 0
	}
}

// empty checks that all messages of a queue were handled, but n in dead.
func (th *theatre) empty(t *testing.T, q queue.Queue, dead int64) {
	t.Helper()
	for _, p := range queue.Places() {
		want := int64(0)
		if p == queue.Dead {
			want = dead
		}
		for _, key := range q.Keys(p) {
			if n := th.length(t, key); n != want {
				t.Errorf("%s holds %d, want %d", key, n, want)
			}
		}
	}
	if own := th.server.Client.Keys(t.Context(), q.BackupKey("*")).Val(); len(own) > 0 {
		t.Errorf("left in backup: %q", own)
	}
}

func equal(t *testing.T, what string, got []int64, want ...int64) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: told %v, want %v", what, got, want)
	}
}

func TestCrash(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		th := newTheatre(t, s)
		th.watch(t, "crash")
		plain, kept := crashQueues()
		left := th.length(t, plain.Ready)
		lost := crashMessages - crashDone - left
		if lost != crashWorkers {
			t.Errorf("%d lost, want what %d workers held", lost, crashWorkers)
		}
		equal(t, "after the crash", th.told(t, `has lost (\d+): (\d+) handled, (\d+) still ready.* has its (\d+) in`),
			lost, crashDone, left, crashWorkers)
		equal(t, "in the end", th.told(t, `plain pop lost (\d+) of (\d+) .* (\d+) were recovered, and (\d+) handled`),
			lost, crashMessages, crashWorkers, crashMessages)
		th.empty(t, kept, 0)
		if n := s.Client.HLen(t.Context(), kept.ConsumersKey()).Val(); n > 0 {
			t.Errorf("%d consumers are listed still", n)
		}
	})
}

func TestPoison(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		th := newTheatre(t, s)
		th.watch(t, "poison")
		q := poisonQueue()
		th.empty(t, q, 2)
		n := th.told(t, `failed (\d+) times.* killed its worker (\d+) times.* (\d+) are in dead.* none of (\d+) others`)
		equal(t, "in the end", n[:3], poisonAttempts, poisonAttempts, 2)
		equal(t, "on the way", th.told(t, `always fails: attempt (\d+) of (\d+) failed`), poisonAttempts-1, poisonAttempts)
		th.told(t, `kills its worker: attempt (\d+) of \d+, its worker is dead`)
		page, err := th.client.Peek(t.Context(), q, queue.Dead, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		failed, err := th.client.Failures(t.Context(), q, page.Messages)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range failed {
			if m.Attempts != poisonAttempts || m.Reason == "" {
				t.Errorf("%s: %d attempts, %q", m.Payload, m.Attempts, m.Reason)
			}
		}
		th.mu.Lock()
		defer th.mu.Unlock()
		waits := regexp.MustCompile(`after waits of (\S+), (\S+), (\S+);`).FindStringSubmatch(th.lines[len(th.lines)-1].Text)
		if len(waits) != 4 {
			t.Fatalf("told of waits: %q", th.lines[len(th.lines)-1].Text)
		}
		var d [3]time.Duration
		for i := range d {
			var err error
			// A busy machine tells of a wait late, so that it looks shorter.
			if d[i], err = time.ParseDuration(waits[i+1]); err != nil || d[i] > time.Second<<i/speed {
				t.Errorf("wait %d is %s", i+1, waits[i+1])
			}
		}
		if d[2] <= d[0] {
			t.Errorf("waits %v do not grow", d)
		}
	})
}

func TestLock(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		th := newTheatre(t, s)
		th.watch(t, "lock")
		th.empty(t, lockQueue(queue.LockFail), lockMessages)
		th.empty(t, lockQueue(queue.LockSleep), 0)
		th.empty(t, lockQueue(queue.LockDefer), 0)
		n := th.told(t, `fail: (\d+) dead after (\d+) attempts.* sleep: (\d+) handled.* defer: (\d+) handled, put off (\d+) times`)
		equal(t, "in the end", n[:4], lockMessages, lockAttempts, lockMessages, lockMessages)
		if n[4] < 2*lockMessages {
			t.Errorf("put off %d times", n[4])
		}
		if s.Client.Exists(t.Context(), lockKey).Val() != 0 {
			t.Error("the lock is held still")
		}
	})
}

func TestRace(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		th := newTheatre(t, s)
		th.watch(t, "race")
		look, script := raceQueues()
		th.empty(t, look, 0)
		th.empty(t, script, 0)
		n := th.told(t, `wasted (\d+) takes on (\d+) messages.* wasted (\d+) on (\d+)`)
		equal(t, "in the end", n[1:], raceWaves*raceInWave, 0, raceWaves*raceInWave)
		if n[0] == 0 {
			t.Error("nothing was wasted by racing")
		}
	})
}

func TestBurst(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		th := newTheatre(t, s)
		th.watch(t, "burst")
		poll, pipeline := burstQueues()
		th.empty(t, poll, 0)
		th.empty(t, pipeline, 0)
		equal(t, "in the end", th.told(t, `^Lateness of (\d+),`), bursts*inBurst)
		equal(t, "before that", th.told(t, `P3 polls: (\d+) handled.* P8: (\d+) handled`), bursts*inBurst, bursts*inBurst)
	})
}

// What a scene plays on is found by its keys, with the place each has.
func TestQueuesAreFound(t *testing.T) {
	s := queuetest.Embedded(t)
	th := newTheatre(t, s)
	for _, name := range []string{"poison", "lock"} {
		th.watch(t, name)
	}
	scan := layout.NewScan(th.client, layout.Options{})
	p, err := scan.Step(t.Context())
	if err != nil || !p.Done {
		t.Fatalf("%+v, %v", p, err)
	}
	for _, q := range p.Queues {
		if q.Name != lockQueue(queue.LockFail).Name || q.Dead != lockQueue(queue.LockFail).Dead {
			t.Errorf("found %s: %+v", q.Name, q)
		}
	}
	if len(p.Queues) != 1 {
		t.Errorf("%d queues: what the last scene has left is not cleared, or not found", len(p.Queues))
	}
}

func TestASceneMakesRoomForTheNext(t *testing.T) {
	s := queuetest.Embedded(t)
	th := newTheatre(t, s)
	if err := th.Play(t.Context(), "crash"); err != nil {
		t.Fatal(err)
	}
	if got := th.Line(); got.Scene != "crash" || got.Text == "" || got.Done {
		t.Errorf("told %+v", got)
	}
	s.Client.Set(t.Context(), "scenery", "not a scene's", 0)
	if err := th.Play(t.Context(), "race"); err != nil {
		t.Fatal(err)
	}
	plain, kept := crashQueues()
	for _, q := range []queue.Queue{plain, kept} {
		for _, key := range s.Client.Keys(t.Context(), q.Name+"*").Val() {
			t.Errorf("%s is left", key)
		}
	}
	if s.Client.Exists(t.Context(), "scenery").Val() != 1 {
		t.Error("a key that is no scene's was deleted")
	}
	th.Close()
	if got := th.Line(); got.Scene != "race" || !got.Done {
		t.Errorf("after the end: %+v", got)
	}
	th.Close()
	if err := th.Play(t.Context(), "hamlet"); err == nil {
		t.Error("there is no such scene")
	}
}

func TestNoSceneOnADeadServer(t *testing.T) {
	s := queuetest.Embedded(t)
	th := newTheatre(t, s)
	if err := th.Play(t.Context(), "burst"); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	th.Close()
	if err := th.Play(t.Context(), "race"); err == nil {
		t.Error("it plays without a server")
	}
}

func TestScenesAreTitled(t *testing.T) {
	for _, c := range NewStage(Options{}).Scenes() {
		if c.Name == "" || strings.ContainsAny(c.Name, " :") || c.Title == "" || !strings.HasSuffix(c.Explain, ".") {
			t.Errorf("%+v", c)
		}
	}
}
