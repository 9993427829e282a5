package queue_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redq/queue"
	"redq/queue/queuetest"
)

// proxied is a shift whose consumers reach the server through a proxy; the producer does not.
func proxied(t *testing.T, name string, pattern queue.Pattern) (*shift, *queuetest.Proxy) {
	t.Helper()
	s := queuetest.Redis(t)
	p := queuetest.NewProxy(t, s.Addr)
	c, _ := open(t, s, func(o *queue.Options) {
		o.URL, o.Timeout = p.URL, 300*time.Millisecond
	})
	return newShift(t, s, c, queue.Named(name), pattern), p
}

func TestTheNetworkMisbehaves(t *testing.T) {
	t.Parallel()
	days := []struct {
		name string
		bad  func(p *queuetest.Proxy)
	}{
		{"slow", func(p *queuetest.Proxy) {
			p.Delay(50 * time.Millisecond)
			time.Sleep(500 * time.Millisecond)
			p.Delay(0)
		}},
		{"cuts replies", func(p *queuetest.Proxy) {
			for range 10 {
				p.CutReplies(true)
				time.Sleep(20 * time.Millisecond)
				p.CutReplies(false)
				time.Sleep(30 * time.Millisecond)
			}
		}},
		{"cuts after a script", func(p *queuetest.Proxy) {
			for range 30 {
				p.CutAfterRequest("evalsha")
				time.Sleep(20 * time.Millisecond)
			}
		}},
		{"cuts", func(p *queuetest.Proxy) {
			for range 30 {
				p.Cut()
				time.Sleep(20 * time.Millisecond)
			}
		}},
		{"swallows all", func(p *queuetest.Proxy) {
			p.BlackHole(true)
			time.Sleep(700 * time.Millisecond)
			p.BlackHole(false)
		}},
		{"refuses", func(p *queuetest.Proxy) {
			p.Refuse(true)
			p.Cut()
			time.Sleep(300 * time.Millisecond)
			p.Refuse(false)
		}},
	}
	for _, pattern := range []queue.Pattern{queue.Pipeline, queue.BackupList} {
		t.Run(string(pattern), func(t *testing.T) {
			t.Parallel()
			w, p := proxied(t, "net", pattern)
			w.hire()
			w.hire()
			for _, day := range days {
				flow(func() { day.bad(p) }, w)
				w.goesOn()
				if pattern == queue.Pipeline {
					w.awaitAll()
				}
				t.Logf("%s: %+v", day.name, w.account())
			}
			w.goHome()
			w.wantKept()
		})
	}
}

// Of equal messages nobody can tell which one a lost answer was about: all of them are handled.
func TestEqualMessagesWhoseAnswersAreLost(t *testing.T) {
	t.Parallel()
	for _, pattern := range []queue.Pattern{queue.Pipeline, queue.BackupList} {
		for _, concurrency := range []int{1, 4} {
			t.Run(fmt.Sprintf("%s-%d", pattern, concurrency), func(t *testing.T) {
				t.Parallel()
				w, p := proxied(t, "equal", pattern)
				w.hire(func(con *queue.Consumer) { con.Concurrency, con.Heartbeat = concurrency, 10*time.Second })
				for i := range 10 { // the step that acknowledges one and takes the next gets no answer
					p.CutAfterRequest("evalsha")
					w.feedEqual(5)
					eventually(t, func() bool {
						return w.unknown() > i && w.s.Client.LLen(context.Background(), w.q.Ready).Val() == 0 && w.staff[0].Stats().InHand == 0
					})
				}
				w.goHome()
				o := w.account()
				t.Logf("%s: %+v, %d answers lost", pattern, o, w.unknown())
				if o.lost > 0 || o.doubled > w.unknown() || pattern == queue.Pipeline && o.left > 0 {
					t.Errorf("%+v", o)
				}
			})
		}
	}
}

// feedEqual sends n messages of equal bytes to ready.
func (w *shift) feedEqual(n int) {
	w.t.Helper()
	payloads := slices.Repeat([]string{"equal"}, n)
	if err := w.feeder.LPush(context.Background(), w.q.Ready, payloads).Err(); err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent["equal"] += n
}

// A request that was given up arrives after all: what it takes is handled all the same.
func TestARequestThatArrivesLate(t *testing.T) {
	t.Parallel()
	w, p := proxied(t, "late", queue.Pipeline)
	r := w.hire(func(con *queue.Consumer) { con.ID = "c1" })
	w.goesOn()
	p.Cut()
	eventually(t, func() bool { return w.unknown() > 0 && r.Stats().Idle })
	// What a script does that comes now, out of the buffers of a network that was away.
	late := redis.NewScript(`redis.call('LPUSH', KEYS[1], 'late') return redis.call('RPOPLPUSH', KEYS[1], KEYS[2])`)
	if err := late.Run(t.Context(), w.s.Client, []string{w.q.Ready, w.q.BackupKey("c1")}).Err(); err != nil {
		t.Fatal(err)
	}
	w.awaitHandled([]string{"late"})
	w.goHome()
	w.wantKept()
}

// A consumer that is asked to stop while the server is away ends in a while, and says what
// it could not tell; the messages stay where they are.
func TestAStopWhileTheServerIsAway(t *testing.T) {
	t.Parallel()
	refuses := func(p *queuetest.Proxy) {
		p.Refuse(true)
		p.Cut()
		time.Sleep(50 * time.Millisecond)
		p.Cut() // a connection that was just being made
	}
	swallows := func(p *queuetest.Proxy) { p.BlackHole(true) }
	untilEmpty := func(c *queue.Consumer) { c.StopWhenEmpty = true }
	fails := func(c *queue.Consumer) {
		handle := c.Handler
		c.Handler = func(ctx context.Context, m queue.Message) error {
			return errors.Join(handle(ctx, m), errors.New("no"))
		}
	}
	type ending struct {
		*shift
		name string
		p    *queuetest.Proxy
		held int
	}
	var all []ending
	for _, tc := range []struct {
		name    string
		away    func(*queuetest.Proxy)
		pattern queue.Pattern
		held    int
		change  func(*queue.Consumer)
	}{
		{"pipeline, refused", refuses, queue.Pipeline, 3, nil},
		{"pipeline, swallowed", swallows, queue.Pipeline, 3, nil},
		{"backup list, refused", refuses, queue.BackupList, 3, nil},
		{"backup list, swallowed", swallows, queue.BackupList, 3, nil},
		{"pipeline until empty, refused", refuses, queue.Pipeline, 3, untilEmpty},
		{"pipeline until empty, swallowed", swallows, queue.Pipeline, 3, untilEmpty},
		{"backup list until empty, refused", refuses, queue.BackupList, 3, untilEmpty},
		{"failing pipeline, refused", refuses, queue.Pipeline, 3, fails},
		{"failing pipeline, swallowed", swallows, queue.Pipeline, 3, fails},
		{"idle pipeline, refused", refuses, queue.Pipeline, 0, nil},
		{"idle pipeline, swallowed", swallows, queue.Pipeline, 0, nil},
		{"idle list, refused", refuses, queue.ListBlock, 0, nil},
		{"idle list, swallowed", swallows, queue.ListBlock, 0, nil},
	} {
		w, p := proxied(t, "away", tc.pattern)
		in, letGo, handler := w.holdUp("held")
		for i := range tc.held {
			w.send(fmt.Sprintf("held-%d", i))
		}
		r := w.hire(func(con *queue.Consumer) {
			con.Handler = handler
			if tc.change != nil {
				tc.change(con)
			}
		})
		for range tc.held {
			<-in
		}
		if tc.held == 0 {
			r.seen.one(t, queue.EventIdle)
			time.Sleep(100 * time.Millisecond) // into its blocking pop
		}
		tc.away(p)
		letGo()
		r.cancel()
		all = append(all, ending{w, tc.name, p, tc.held})
	}
	deadline := time.After(8 * time.Second) // their patience is 2 s
	for _, e := range all {
		r := e.staff[0]
		var err error
		select {
		case err = <-r.ended:
			r.ended <- err
		case <-deadline:
			t.Errorf("%s: it does not end", e.name)
			e.p.BlackHole(false)
			continue
		}
		if told := err != nil && strings.Contains(err.Error(), "3 messages whose end could not be told"); told != (e.held > 0) {
			t.Errorf("%s: it ended with %v", e.name, err)
		}
		if o := e.account(); o.lost > 0 || o.left != e.held {
			t.Errorf("%s: %+v", e.name, o)
		}
	}
}

func TestAStartWhileTheServerIsAway(t *testing.T) {
	t.Parallel()
	for _, pattern := range queue.Patterns() {
		t.Run(string(pattern), func(t *testing.T) {
			t.Parallel()
			w, p := proxied(t, "late", pattern)
			p.Refuse(true)
			p.Cut()
			r := w.hire()
			w.feed(20)
			w.feed(21)
			r.meets("nobody listens")
			p.Refuse(false)
			w.awaitAll()
			w.goHome()
			w.wantKept()
		})
	}
}

func TestConsumersOnAClusterThatMoves(t *testing.T) {
	t.Parallel()
	nodes := queuetest.Cluster(t, 2)
	c, _ := open(t, nodes[0], func(o *queue.Options) { o.URL, o.Cluster = nodes[0].Addr, true })
	for _, q := range []queue.Queue{queue.Named("orders"), {Name: "two", Ready: "{a}", Backups: []string{"{b}"}, Pattern: queue.BackupList}} {
		con := &queue.Consumer{Client: c, Queue: q, Handler: func(context.Context, queue.Message) error { return nil }}
		if err := con.Validate(); !errors.Is(err, queue.ErrCrossSlot) {
			t.Errorf("%s: Validate says %v", q.Name, err)
		}
		if err := con.Run(t.Context()); !errors.Is(err, queue.ErrCrossSlot) {
			t.Errorf("%s: Run says %v", q.Name, err)
		}
	}
	for _, pattern := range []queue.Pattern{queue.Pipeline, queue.BackupList, queue.ZsetScript} {
		t.Run(string(pattern), func(t *testing.T) {
			q := queue.Named("{" + string(pattern) + "}")
			slot := int(nodes[0].Client.ClusterKeySlot(t.Context(), q.Ready).Val())
			from, to := nodes[0], nodes[1]
			if slot >= 8192 {
				from, to = to, from
			}
			w := newShift(t, from, c, q, pattern)
			w.hire()
			w.hire()
			flow(func() { time.Sleep(200 * time.Millisecond) }, w)
			w.goesOn()
			_ = w.feeder.Close()
			w.feeder = redis.NewClient(&redis.Options{Addr: to.Addr, Protocol: 2, DisableIdentity: true, MaxRetries: -1})
			t.Cleanup(func() { _ = w.feeder.Close() })
			flow(func() { moveSlot(t, slot, from, to) }, w) // nothing is taken before the slot is there
			w.goesOn()
			w.s = to
			w.awaitAll()
			w.goHome()
			w.wantKept()
		})
	}
}

// moveSlot moves a slot with its keys, one after the other, as a resharding does.
func moveSlot(t *testing.T, slot int, from, to *queuetest.Server) {
	t.Helper()
	ctx := context.Background()
	ask := func(s *queuetest.Server, args ...any) any {
		t.Helper()
		v, err := s.Client.Do(ctx, args...).Result()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return v
	}
	fromID, toID := ask(from, "CLUSTER", "MYID"), ask(to, "CLUSTER", "MYID")
	ask(to, "CLUSTER", "SETSLOT", slot, "IMPORTING", fromID)
	ask(from, "CLUSTER", "SETSLOT", slot, "MIGRATING", toID)
	host, port, _ := strings.Cut(to.Addr, ":")
	for {
		keys := from.Client.ClusterGetKeysInSlot(ctx, slot, 100).Val()
		if len(keys) == 0 {
			break
		}
		for _, key := range keys {
			ask(from, "MIGRATE", host, port, key, 0, 5000)
			time.Sleep(20 * time.Millisecond)
		}
	}
	ask(to, "CLUSTER", "SETSLOT", slot, "NODE", toID)
	ask(from, "CLUSTER", "SETSLOT", slot, "NODE", toID)
}

// Another program works on the same two lists, with the plain commands.
func TestABackupListSharedWithAnotherProgram(t *testing.T) {
	t.Parallel()
	s := queuetest.Redis(t)
	c, _ := open(t, s)
	w := newShift(t, s, c, queue.Named("shared"), queue.BackupList)
	w.hire()
	var theirs book
	ctx, stop := context.WithCancel(t.Context())
	var program sync.WaitGroup
	for range 3 {
		program.Go(func() {
			for ctx.Err() == nil {
				payload, err := s.Client.Do(context.Background(), "BRPOPLPUSH", w.q.Ready, w.q.Backups[0], 1).Text()
				if errors.Is(err, redis.Nil) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				theirs.note(queue.Message{Payload: []byte(payload)})
				if n := s.Client.LRem(context.Background(), w.q.Backups[0], 1, payload).Val(); n != 1 {
					t.Errorf("%s was not in backup any more", payload)
				}
			}
		})
	}
	push(t, s, w.q.Backups[0], "stuck") // since before both
	flow(func() { time.Sleep(time.Second) }, w)
	eventually(t, func() bool { return s.Client.LLen(ctx, w.q.Ready).Val() == 0 })
	stop()
	program.Wait()
	w.goHome()
	ours := len(w.times)
	for p, n := range theirs.times {
		w.times[p] += n
	}
	o := w.account()
	t.Logf("%d ours, %d theirs: %+v", ours, len(theirs.times), o)
	if o.lost > 0 || o.doubled > 0 || o.left > 0 || ours == 0 || len(theirs.times) == 0 {
		t.Errorf("%d ours, %d theirs: %+v", ours, len(theirs.times), o)
	}
	wantList(t, s, w.q.Backups[0], "stuck")
}

// The sentinels make the replica the master while a consumer works. What it acknowledges to
// the old master after that is done once more, and nothing is lost.
func TestAFailover(t *testing.T) {
	t.Parallel()
	master := queuetest.Redis(t)
	host, port, _ := strings.Cut(master.Addr, ":")
	replica := queuetest.Redis(t, "--replicaof", host, port)
	info := func(s *queuetest.Server, has string) func() bool {
		return func() bool {
			return strings.Contains(s.Client.Info(context.Background(), "replication").Val(), has)
		}
	}
	eventually(t, info(replica, "master_link_status:up"))
	eventually(t, info(master, "state=online"))
	sentinel := queuetest.Sentinel(t, master, "prod")
	c, _ := open(t, master, func(o *queue.Options) {
		o.URL, o.SentinelMaster, o.Timeout = "redis://"+sentinel, "prod", time.Second
	})
	w := newShift(t, master, c, queue.Named("failover"), queue.Pipeline)
	for range 60 { // nothing is added later, which the old master might lose
		w.feed(25)
		w.feed(26)
	}
	eventually(t, func() bool { // an online replica may not have been sent anything yet
		ctx := context.Background()
		return replica.Client.LLen(ctx, w.q.Ready).Val()+replica.Client.ZCard(ctx, w.q.Delayed).Val() == int64(len(w.sent))
	})
	w.hire(func(con *queue.Consumer) {
		note := con.Handler
		con.Handler = func(ctx context.Context, m queue.Message) error {
			time.Sleep(2 * time.Millisecond)
			return note(ctx, m)
		}
	})
	asked := redis.NewSentinelClient(&redis.Options{Addr: sentinel})
	defer asked.Close()
	eventually(t, func() bool {
		replicas, err := asked.Replicas(context.Background(), "prod").Result()
		return err == nil && len(replicas) == 1
	})
	eventually(t, func() bool { return asked.Failover(context.Background(), "prod").Err() == nil })
	eventually(t, info(replica, "role:master"))
	w.awaitAll()
	w.s = replica
	eventually(t, func() bool { return len(w.lengths()) == 0 })
	w.goHome()
	o := w.account()
	t.Logf("%+v, %d answers lost", o, w.unknown())
	if o.lost > 0 || o.left > 0 {
		t.Errorf("%+v", o)
	}
}

// Of two equal messages in hand one fails, and the answer to putting it off is lost: asked
// again, the server must not take the other one's copy for it.
func TestALostAnswerSettlesOneOfTwoEqualMessages(t *testing.T) {
	t.Parallel()
	for _, how := range []struct {
		name    string
		verdict func(error) error
		delayed int64
	}{
		{"retried", func(err error) error { return err }, 1},
		{"deferred", func(err error) error { return queue.Defer(time.Hour, err) }, 1},
		{"dropped", queue.Drop, 0},
	} {
		t.Run(how.name, func(t *testing.T) {
			t.Parallel()
			w, p := proxied(t, "equal", queue.Pipeline)
			failed, second := make(chan struct{}), make(chan struct{})
			var calls atomic.Int64
			con := w.hire(func(con *queue.Consumer) {
				con.Concurrency, con.Heartbeat = 2, time.Minute // no comparison but the lost answer's
				con.Retry = queue.Retry{Base: time.Hour, Max: time.Hour}
				con.Handler = func(_ context.Context, m queue.Message) error {
					if string(m.Payload) == "warm" {
						return how.verdict(errors.New("makes the script known"))
					}
					if calls.Add(1) == 1 {
						<-second
						return how.verdict(errors.New("no-luck"))
					}
					close(second)
					<-failed
					return nil
				}
			})
			enqueue := func(payloads ...string) {
				for _, payload := range payloads {
					if err := w.s.Client.LPush(t.Context(), w.q.Ready, payload).Err(); err != nil {
						t.Fatal(err)
					}
				}
			}
			settled := func(st queue.ConsumerStats) int64 { return st.Retried + st.Deferred + st.Dropped }
			enqueue("warm")
			eventually(t, func() bool { return settled(con.Stats()) == 1 })
			// No request of a retry but this one has the reason in it; of the others the payload must do.
			marker := "no-luck"
			if how.name != "retried" {
				marker = "same\r\n$40" // followed by its digest
			}
			p.CutAfterRequest(marker)
			enqueue("same", "same")
			eventually(t, func() bool { return settled(con.Stats()) == 2 })
			close(failed)
			eventually(t, func() bool { return con.Stats().InHand == 0 })

			st := con.Stats()
			if st.Errors == 0 {
				t.Error("no answer was lost: the test shows nothing")
			}
			if st.Done != 1 || st.NotOurs != 0 {
				t.Errorf("done %d, taken by others %d", st.Done, st.NotOurs)
			}
			for key, want := range map[string]int64{w.q.Ready: 0, w.q.BackupKey(st.ID): 0} {
				if n := w.s.Client.LLen(t.Context(), key).Val(); n != want {
					t.Errorf("%s holds %d, want %d", key, n, want)
				}
			}
			if n := w.s.Client.ZCard(t.Context(), w.q.Delayed).Val(); n != 2*how.delayed {
				t.Errorf("%d delayed, want %d", n, 2*how.delayed)
			}
		})
	}
}
