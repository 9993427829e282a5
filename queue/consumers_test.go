package queue_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redq/queue"
	"redq/queue/queuetest"
)

// register lays down what a consumer writes when it starts.
func register(t *testing.T, rdb redis.Cmdable, q queue.Queue, id string, started time.Time) {
	t.Helper()
	entry := fmt.Sprintf(`{"host":"web-3","pid":4242,"pattern":"pipeline","concurrency":10,"started":%d,"backup":%q}`,
		started.UnixMilli(), q.BackupKey(id))
	if err := rdb.HSet(t.Context(), q.ConsumersKey(), id, entry).Err(); err != nil {
		t.Fatal(err)
	}
}

// heartbeat lays down what it writes while it lives.
func heartbeat(t *testing.T, rdb redis.Cmdable, q queue.Queue, id string, beat time.Time) {
	t.Helper()
	err := rdb.HSet(t.Context(), q.ConsumerKey(id), "beat", beat.UnixMilli(), "interval", 10000,
		"taken", 9, "done", 5, "failed", 3, "retried", 2, "deferred", 1, "dead", 1, "in_hand", 4).Err()
	if err != nil {
		t.Fatal(err)
	}
}

func TestConsumers(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, _ := open(t, s)
		q := orders()
		now := s.Client.Time(t.Context()).Val()
		ids := []string{"web-3-4242-k7q2xw", "young", "gone", "late"}
		for i, id := range ids {
			register(t, s.Client, q, id, now.Add(time.Duration(i-10)*time.Minute))
		}
		heartbeat(t, s.Client, q, ids[0], now.Add(-2*time.Second))
		heartbeat(t, s.Client, q, "young", now.Add(-29*time.Second))
		heartbeat(t, s.Client, q, "late", now.Add(-31*time.Second)) // of a server that lets no key expire
		push(t, s, q.BackupKey("gone"), "a", "b")
		// What others may have laid down there.
		for field, value := range map[string]string{"count": "5", "list": "[1]", "null": "null", "": "{}", "bin": "\xff", "esc\x1b[2J": `{"pid":"x"}`} {
			s.Client.HSet(t.Context(), q.ConsumersKey(), field, value)
		}
		got, err := c.Consumers(t.Context(), q)
		if err != nil || got.Err != nil {
			t.Fatalf("%v, %v", err, got.Err)
		}
		if got.Now.Sub(now).Abs() > time.Minute {
			t.Errorf("the server's clock: %v", got.Now)
		}
		var order []string
		for _, k := range got.Known {
			order = append(order, k.ID)
		}
		if want := []string{ids[0], "young", "gone", "late"}; !slices.Equal(order, want) {
			t.Fatalf("got %q, want %q", order, want)
		}
		k := got.Known[0]
		if !k.Alive || k.Host != "web-3" || k.PID != 4242 || k.Pattern != queue.Pipeline || k.Concurrency != 10 ||
			k.Started.UnixMilli() != now.Add(-10*time.Minute).UnixMilli() || k.Beat.UnixMilli() != now.Add(-2*time.Second).UnixMilli() ||
			k.Interval != 10*time.Second || k.Backup != "orders:backup:web-3-4242-k7q2xw" || k.Held != 0 ||
			k.Taken != 9 || k.Done != 5 || k.Failed != 3 || k.Retried != 2 || k.Deferred != 1 || k.Dead != 1 || k.InHand != 4 {
			t.Errorf("got %+v", k)
		}
		if k := got.Known[1]; !k.Alive {
			t.Errorf("29 s after a heartbeat every 10 s: %+v", k)
		}
		if k := got.Known[2]; k.Alive || !k.Beat.IsZero() || k.Held != 2 || k.Host != "web-3" {
			t.Errorf("without a heartbeat: %+v", k)
		}
		if k := got.Known[3]; k.Alive || k.Beat.IsZero() {
			t.Errorf("31 s after a heartbeat every 10 s: %+v", k)
		}
	})
}

// A heartbeat tells of a consumer whatever its entry says, and a foreign key hurts nobody.
func TestConsumersBesideGarbage(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, _ := open(t, s)
		q := orders()
		now := s.Client.Time(t.Context()).Val()
		s.Client.HSet(t.Context(), q.ConsumersKey(), "odd", "not JSON")
		heartbeat(t, s.Client, q, "odd", now)
		s.Client.HSet(t.Context(), q.ConsumersKey(), "keys", `{"started":1764547200000,"backup":"a-string"}`)
		s.Client.Set(t.Context(), "a-string", "x", 0)
		s.Client.Set(t.Context(), q.ConsumerKey("keys"), "x", 0)
		got, err := c.Consumers(t.Context(), q)
		if err != nil || got.Err != nil || len(got.Known) != 2 || got.Known[0].ID != "odd" || !got.Known[0].Alive ||
			got.Known[1].Alive || got.Known[1].Held != 0 {
			t.Errorf("%+v, %v", got, err)
		}
		s.Client.Del(t.Context(), q.ConsumersKey())
		if got, err := c.Consumers(t.Context(), q); err != nil || got.Err != nil || got.Known != nil {
			t.Errorf("no list: %+v, %v", got, err)
		}
		s.Client.Set(t.Context(), q.ConsumersKey(), "x", 0)
		got, err = c.Consumers(t.Context(), q)
		if err != nil || !errors.Is(got.Err, queue.ErrWrongType) || got.Known != nil || got.Unattended() {
			t.Errorf("a string: %+v, %v", got, err)
		}
	})
}

// blocked makes a client of another program wait in a command until the test ends.
func blocked(t *testing.T, s *queuetest.Server, o redis.Options, args ...any) {
	t.Helper()
	o.Addr, o.Protocol, o.DisableIdentity = s.Addr, 2, true
	rdb := redis.NewClient(&o)
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(ended)
		_ = rdb.Do(ctx, args...).Err()
	}()
	t.Cleanup(func() {
		cancel()
		_ = rdb.Close()
		<-ended
	})
}

func TestClientsThatWaitForMessages(t *testing.T) {
	s := queuetest.Redis(t)
	c, _ := open(t, s)
	q := orders()
	if got, err := c.Consumers(t.Context(), q); err != nil || got.Denied || got.Blocked != nil || !got.Unattended() {
		t.Errorf("nobody: %+v, %v", got, err)
	}
	blocked(t, s, redis.Options{ClientName: "worker"}, "brpop", "orders", 100)
	blocked(t, s, redis.Options{ClientName: "redq-consumer:web-3-4242-k7q2xw"}, "blmove", "orders", "orders:backup:x", "right", "left", 100)
	blocked(t, s, redis.Options{}, "bzpopmin", "orders:delayed", 100)
	blocked(t, s, redis.Options{}, "xread", "block", 100000, "streams", "s", "$") // waits for no queue
	blocked(t, s, redis.Options{DB: 3}, "blpop", "orders", 100)                   // of another database
	var got queue.Consumers
	eventually(t, func() bool {
		var err error
		if got, err = c.Consumers(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		return len(got.Blocked) == 3 && strings.Contains(s.Client.Info(t.Context(), "clients").Val(), "blocked_clients:5")
	})
	slices.SortFunc(got.Blocked, func(a, b queue.BlockedClient) int { return strings.Compare(a.Command, b.Command) })
	move, pop, zpop := got.Blocked[0], got.Blocked[1], got.Blocked[2]
	if move.Command != "blmove" || move.Consumer != "web-3-4242-k7q2xw" || pop.Command != "brpop" || pop.Name != "worker" ||
		pop.Consumer != "" || zpop.Command != "bzpopmin" || zpop.Name != "" {
		t.Errorf("got %+v", got.Blocked)
	}
	for _, b := range got.Blocked {
		if b.ID == 0 || b.DB != 0 || !strings.HasPrefix(b.Addr, "127.0.0.1:") || b.Idle < 0 || b.Idle > time.Hour {
			t.Errorf("got %+v", b)
		}
	}
	if got.Denied || got.Unattended() {
		t.Errorf("somebody waits: %+v", got)
	}

	there, _ := open(t, s, func(o *queue.Options) { o.URL = s.URL + "/3" })
	if got, err := there.Consumers(t.Context(), q); err != nil || len(got.Blocked) != 1 || got.Blocked[0].DB != 3 {
		t.Errorf("in database 3: %+v, %v", got, err)
	}
}

// What a consumer of ours writes is what is read.
func TestARunningConsumerIsSeen(t *testing.T) {
	s := queuetest.Redis(t)
	c, _ := open(t, s)
	q := orders()
	working := make(chan struct{})
	consumer := &queue.Consumer{Client: c, Queue: q, Concurrency: 3, Handler: func(context.Context, queue.Message) error {
		<-working
		return nil
	}}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- consumer.Run(ctx) }()
	var got queue.Consumers
	eventually(t, func() bool {
		var err error
		if got, err = c.Consumers(t.Context(), q); err != nil || got.Err != nil {
			t.Fatalf("%v, %v", err, got.Err)
		}
		return len(got.Known) == 1 && len(got.Blocked) == 1
	})
	k, id := got.Known[0], consumer.Stats().ID
	if !k.Alive || k.ID != id || k.PID != int64(os.Getpid()) || k.Host == "" || k.Pattern != queue.Pipeline || k.Concurrency != 3 ||
		k.Backup != q.BackupKey(id) || k.Interval != 10*time.Second || got.Now.Sub(k.Started).Abs() > time.Minute || got.Now.Sub(k.Beat).Abs() > time.Minute {
		t.Errorf("got %+v of %s", k, id)
	}
	if b := got.Blocked[0]; b.Consumer != id || got.Unattended() {
		t.Errorf("it waits as %+v", b)
	}
	sampler := c.NewSampler()
	count := func() queue.Count {
		t.Helper()
		p, err := sampler.Sample(t.Context(), []queue.Queue{q})
		if err != nil {
			t.Fatal(err)
		}
		return p.Samples[0].Consumers
	}
	eventually(t, func() bool { return count() == queue.Count{N: 1, State: queue.Known} })

	push(t, s, q.Ready, "a", "b")
	eventually(t, func() bool {
		got, err := c.Consumers(t.Context(), q)
		return err == nil && len(got.Known) == 1 && got.Known[0].Held == 2
	})
	close(working)
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got, err := c.Consumers(t.Context(), q); err != nil || got.Known != nil || !got.Unattended() {
		t.Errorf("after it stopped: %+v, %v", got, err)
	}
	if got := count(); got != (queue.Count{State: queue.Known}) {
		t.Errorf("after it stopped: %+v", got)
	}
}

func TestUnattended(t *testing.T) {
	alive, gone := queue.ConsumerInfo{Alive: true}, queue.ConsumerInfo{}
	for _, tc := range []struct {
		name string
		c    queue.Consumers
		want bool
	}{
		{"nobody", queue.Consumers{}, true},
		{"one alive", queue.Consumers{Known: []queue.ConsumerInfo{alive, gone}}, false},
		{"all gone", queue.Consumers{Known: []queue.ConsumerInfo{gone}}, true},
		{"another program waits", queue.Consumers{Known: []queue.ConsumerInfo{gone}, Blocked: []queue.BlockedClient{{}}}, false},
		{"a consumer of another queue waits", queue.Consumers{Blocked: []queue.BlockedClient{{Consumer: "x"}}}, true},
		{"clients not told", queue.Consumers{Denied: true}, false},
		{"list not told", queue.Consumers{Err: queue.ErrWrongType}, false},
	} {
		if got := tc.c.Unattended(); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}

func TestConsumersWhereTheServerDoesNotTell(t *testing.T) {
	t.Run("no CLIENT LIST", func(t *testing.T) {
		s := queuetest.Embedded(t)
		c, _ := open(t, s)
		register(t, s.Client, orders(), "one", time.Now())
		if got, err := c.Consumers(t.Context(), orders()); err != nil || !got.Denied || len(got.Known) != 1 {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("denied", func(t *testing.T) {
		s := queuetest.Redis(t)
		url := s.User("looker", "pw", "~orders +@all -client -info -time")
		c, _ := open(t, s, func(o *queue.Options) { o.URL = url })
		register(t, s.Client, orders(), "one", time.Now())
		got, err := c.Consumers(t.Context(), orders())
		var refused *queue.RefusedError
		if err != nil || !got.Denied || !errors.As(got.Err, &refused) || refused.Code != "NOPERM" || got.Unattended() {
			t.Errorf("%+v, %v", got, err)
		}
		if d := time.Since(got.Now).Abs(); d > time.Minute {
			t.Errorf("clock %v", got.Now)
		}
	})
	t.Run("no answer", func(t *testing.T) {
		s := queuetest.Redis(t)
		c, _ := open(t, s, func(o *queue.Options) { o.Timeout = 300 * time.Millisecond })
		s.Stop()
		if got, err := c.Consumers(t.Context(), orders()); err == nil {
			t.Errorf("%+v", got)
		}
	})
}

func TestConsumersOnACluster(t *testing.T) {
	t.Parallel()
	nodes := queuetest.Cluster(t, 3)
	c, _ := open(t, nodes[0], func(o *queue.Options) { o.URL, o.Cluster = nodes[0].Addr, true })
	rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{nodes[0].Addr}})
	t.Cleanup(func() { _ = rdb.Close() })
	for _, q := range []queue.Queue{queue.Named("{orders}"), queue.Named("orders")} { // of one slot, and of several
		register(t, rdb, q, "one", time.Now())
		heartbeat(t, rdb, q, "one", time.Now())
		rdb.LPush(t.Context(), q.BackupKey("one"), "a")
		got, err := c.Consumers(t.Context(), q)
		if err != nil || got.Err != nil || len(got.Known) != 1 || !got.Known[0].Alive || got.Known[0].Held != 1 {
			t.Errorf("%s: %+v, %v", q.Name, got, err)
		}
	}
	// A client waits on each node.
	for i, node := range nodes {
		for tag := range 100 {
			key := fmt.Sprintf("{%d}", tag)
			if slot := node.Client.ClusterKeySlot(t.Context(), key).Val(); int(slot) >= i*16384/3 && int(slot) < (i+1)*16384/3 {
				blocked(t, node, redis.Options{}, "blpop", key, 100)
				break
			}
		}
	}
	eventually(t, func() bool {
		got, err := c.Consumers(t.Context(), queue.Named("{orders}"))
		if err != nil || got.Denied {
			t.Fatalf("%+v, %v", got, err)
		}
		return len(got.Blocked) == 3
	})
}
