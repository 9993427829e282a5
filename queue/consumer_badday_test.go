package queue_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/queuetest"
)

func TestConnectionsAreKilledAllTheTime(t *testing.T) {
	t.Parallel()
	for _, pattern := range queue.Patterns() {
		t.Run(string(pattern), func(t *testing.T) {
			t.Parallel()
			s := queuetest.Redis(t)
			c, _ := open(t, s)
			w := newShift(t, s, c, queue.Named("kill"), pattern)
			w.hire()
			w.hire()
			flow(func() {
				for range 8 {
					time.Sleep(100 * time.Millisecond)
					for _, kind := range []string{"normal", "pubsub"} {
						if err := s.Client.ClientKillByFilter(context.Background(), "TYPE", kind, "SKIPME", "yes").Err(); err != nil {
							t.Error(err)
						}
					}
				}
			}, w)
			w.goesOn()
			if pattern.AtLeastOnce() && pattern != queue.BackupList {
				w.awaitAll()
			}
			w.goHome()
			w.wantKept()
		})
	}
}

// A server that goes and comes back, orderly and not: consumers that were away for longer
// than a heartbeat lasts come back, and none takes another one for dead.
func TestTheServerIsStoppedAndStarted(t *testing.T) {
	t.Parallel()
	s := queuetest.Redis(t, "--appendonly", "yes", "--appendfsync", "always")
	var shifts []*shift
	held, holding := make(chan struct{}), make(chan string, 2)
	for _, pattern := range []queue.Pattern{queue.Pipeline, queue.BackupList, queue.ZsetScript} {
		c, _ := open(t, s, func(o *queue.Options) { o.Timeout = time.Second })
		w := newShift(t, s, c, queue.Named("restart-"+string(pattern)), pattern)
		for range 2 {
			w.hire(func(con *queue.Consumer) {
				con.Handler = func(_ context.Context, m queue.Message) error {
					if strings.HasPrefix(string(m.Payload), "held") {
						holding <- string(m.Payload)
						<-held
					}
					w.note(m)
					return nil
				}
			})
		}
		shifts = append(shifts, w)
	}
	// In hand of a consumer all the time.
	shifts[0].send("held-1")
	shifts[0].send("held-2")
	<-holding
	<-holding
	flow(func() {
		time.Sleep(100 * time.Millisecond)
		for _, end := range []func(){s.Stop, s.Kill} {
			end()
			time.Sleep(time.Second) // four heartbeats
			s.Start()
			for _, w := range shifts {
				w.goesOn()
			}
		}
	}, shifts...)
	time.Sleep(4 * time.Second) // in which they would take each other for dead
	close(held)
	shifts[0].awaitAll()
	for _, w := range shifts {
		w.goesOn()
		w.goHome()
		w.wantKept()
		for _, r := range w.staff {
			if st := r.Stats(); st.Recovered+st.NotOurs > 0 {
				t.Errorf("%s: it recovered %d messages of the living, and lost %d to others", w.pattern, st.Recovered, st.NotOurs)
			}
		}
	}
}

func TestScriptsAreFlushedAllTheTime(t *testing.T) {
	t.Parallel()
	for _, pattern := range []queue.Pattern{queue.Pipeline, queue.BackupList, queue.ZsetScript, queue.LockRetry} {
		t.Run(string(pattern), func(t *testing.T) {
			t.Parallel()
			s := queuetest.Redis(t)
			c, _ := open(t, s)
			w := newShift(t, s, c, queue.Named("flush"), pattern)
			r := w.hire()
			flow(func() {
				for range 200 {
					time.Sleep(3 * time.Millisecond)
					s.Client.ScriptFlush(context.Background())
				}
			}, w)
			w.awaitAll()
			w.goHome()
			w.wantKept()
			if ev := r.seen.of(queue.EventError); len(ev) > 0 {
				t.Errorf("%d errors, as %v", len(ev), ev[0].Err)
			}
			if o := w.account(); o.left > 0 {
				t.Errorf("%+v", o)
			}
		})
	}
}

// The server becomes a replica and a master again.
func TestTheServerIsReadOnlyForAWhile(t *testing.T) {
	t.Parallel()
	for _, pattern := range []queue.Pattern{queue.Pipeline, queue.BackupList, queue.ListBlock, queue.ZsetScript} {
		t.Run(string(pattern), func(t *testing.T) {
			t.Parallel()
			s := queuetest.Redis(t)
			c, _ := open(t, s)
			w := newShift(t, s, c, queue.Named("replica"), pattern)
			r := w.hire()
			flow(func() {
				for range 2 {
					time.Sleep(150 * time.Millisecond)
					s.Client.Do(context.Background(), "REPLICAOF", "127.0.0.1", "1")
					r.meets("read-only replica")
					time.Sleep(150 * time.Millisecond)
					s.Client.Do(context.Background(), "REPLICAOF", "NO", "ONE")
					w.goesOn()
				}
			}, w)
			w.awaitAll() // no answer is lost, so no message is either
			w.goHome()
			w.wantKept()
		})
	}
}

func TestTheServerIsOutOfMemory(t *testing.T) {
	t.Parallel()
	for _, pattern := range []queue.Pattern{queue.Pipeline, queue.BackupList} {
		t.Run(string(pattern), func(t *testing.T) {
			s := queuetest.Redis(t)
			c, _ := open(t, s)
			w := newShift(t, s, c, queue.Named("full"), pattern)
			in, letGo, handler := w.holdUp("held")
			r := w.hire(func(con *queue.Consumer) { con.Handler = handler })
			w.send("held-1", "held-2", "held-3")
			for range 3 {
				<-in
			}
			s.Client.ConfigSet(t.Context(), "maxmemory", "1")
			letGo()
			eventually(t, func() bool { return r.Stats().Done == 3 }) // acknowledging takes no memory
			if n := w.lengths(); len(n) > 0 {
				t.Errorf("after the acknowledgement: %v", n)
			}
			// A plain push finds no memory either: what waits must have come before.
			s.Client.ConfigSet(t.Context(), "maxmemory", "0")
			w.goesOn()
			flow(func() {
				for range 3 {
					time.Sleep(50 * time.Millisecond)
					s.Client.ConfigSet(context.Background(), "maxmemory", "1")
					r.meets("out of memory")
					time.Sleep(100 * time.Millisecond)
					s.Client.ConfigSet(context.Background(), "maxmemory", "0")
				}
			}, w)
			w.goesOn()
			w.awaitAll()
			w.goHome()
			w.wantKept()
		})
	}
}

func TestTheServerCannotSave(t *testing.T) {
	t.Parallel()
	s := queuetest.Redis(t, "--save", "3600", "1")
	c, _ := open(t, s)
	w := newShift(t, s, c, queue.Named("unsaved"), queue.Pipeline)
	in, letGo, handler := w.holdUp("held")
	r := w.hire(func(con *queue.Consumer) { con.Handler = handler })
	w.send("held-1")
	<-in
	w.feed(1)
	dir := s.Client.ConfigGet(t.Context(), "dir").Val()["dir"]
	flow(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		s.Client.BgSave(context.Background())
		r.meets("cannot save")
		letGo() // its acknowledgement is refused, and sent again
		time.Sleep(200 * time.Millisecond)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		s.Client.ConfigSet(context.Background(), "stop-writes-on-bgsave-error", "no")
		w.goesOn()
	}, w)
	w.awaitAll()
	w.goHome()
	w.wantKept()
}

func TestTheServerIsBusyWithAScript(t *testing.T) {
	t.Parallel()
	s := queuetest.Redis(t, "--busy-reply-threshold", "20")
	c, _ := open(t, s)
	w := newShift(t, s, c, queue.Named("busy"), queue.Pipeline)
	r := w.hire()
	flow(func() {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			w.feeder.Eval(context.Background(), "while true do end", nil)
		}()
		r.meets("busy with a script")
		s.Client.ScriptKill(context.Background())
		<-ended
	}, w)
	w.goesOn()
	w.awaitAll()
	w.goHome()
	w.wantKept()
}

func TestTheServerIsLoadingForAWhile(t *testing.T) {
	t.Parallel()
	s := queuetest.Redis(t, "--enable-debug-command", "yes", "--key-load-delay", "200", "--loading-process-events-interval-bytes", "1024")
	c, _ := open(t, s)
	w := newShift(t, s, c, queue.Named("loading"), queue.Pipeline)
	r := w.hire()
	if err := s.Client.Do(t.Context(), "DEBUG", "POPULATE", 1000).Err(); err != nil {
		t.Fatal(err)
	}
	flow(func() {
		time.Sleep(100 * time.Millisecond)
		w.feeder.Do(context.Background(), "DEBUG", "RELOAD")
	}, w)
	r.meets("still loading")
	w.goesOn()
	w.awaitAll()
	w.goHome()
	w.wantKept()
}

func TestAConsumerOfALoadingServerWaits(t *testing.T) {
	t.Parallel()
	c, err := queue.Open(t.Context(), queue.Options{URL: loadingServer(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := launch(t, &queue.Consumer{Client: c, Queue: orders(), Handler: func(context.Context, queue.Message) error { return nil }})
	r.meets("still loading")
	if err := r.stop(); err != nil {
		t.Errorf("it had nothing in hand: %v", err)
	}
}

func TestWhatTheUserMayNotDo(t *testing.T) {
	t.Parallel()
	t.Run("scripts", func(t *testing.T) {
		s := queuetest.Redis(t)
		url := s.User("noeval", "pw", "~* &* +@all -@scripting")
		c, _ := open(t, s, func(o *queue.Options) { o.URL = url })
		w := newShift(t, s, c, queue.Named("noeval"), queue.Pipeline)
		w.feed(101)
		r := w.hire()
		r.meets("this user may not run scripts")
		if o := w.account(); o.left != 101 {
			t.Errorf("%+v", o)
		}
		if err := s.Client.Do(t.Context(), "ACL", "SETUSER", "noeval", "+@scripting").Err(); err != nil {
			t.Fatal(err)
		}
		w.awaitAll()
		w.goHome()
		w.wantKept()
	})
	// Neither wake-ups nor names and numbers of connections: it works without.
	t.Run("channels and CLIENT", func(t *testing.T) {
		s := queuetest.Redis(t)
		url := s.User("plain", "pw", "~* +@all -client resetchannels")
		var shifts []*shift
		for _, pattern := range queue.Patterns() {
			c, _ := open(t, s, func(o *queue.Options) { o.URL = url })
			w := newShift(t, s, c, queue.Named("plain-"+string(pattern)), pattern)
			w.hire()
			w.feed(100)
			w.feed(101)
			shifts = append(shifts, w)
		}
		for _, w := range shifts {
			w.awaitAll()
			w.staff[0].cancel()
		}
		for _, w := range shifts {
			w.goHome()
			w.wantKept()
		}
	})
}

// oddKey is a key of a queue that holds something else than it should.
type oddKey struct {
	*shift
	name  string
	key   string
	fails bool // its messages go to dead
	works bool // messages are handled all the same
	r     *running
	since time.Time
	asked float64
}

func TestAKeyOfTheWrongType(t *testing.T) {
	t.Parallel()
	const id = "c1"
	q := queue.Named("odd")
	hash, text, array, set := []any{"HSET", "f", "v"}, []any{"SET", "v"}, []any{"RPUSH", "v"}, []any{"ZADD", "1", "v"}
	var all []*oddKey
	for _, tc := range []struct {
		name    string
		pattern queue.Pattern
		key     string
		lay     []any // the command that lays it down, the key after its first word
	}{
		{"ready", queue.Pipeline, q.Ready, hash},
		{"ready, polled", queue.ListPoll, q.Ready, hash},
		{"ready, blocked", queue.ListBlock, q.Ready, hash},
		{"own backup", queue.Pipeline, q.BackupKey(id), text},
		{"shared backup", queue.BackupList, q.Backups[0], text},
		{"delayed", queue.Pipeline, q.Delayed, array},
		{"delayed, claimed", queue.ZsetScript, q.Delayed, array},
		{"dead", queue.Pipeline, q.Dead, set},
		{"consumers", queue.Pipeline, q.ConsumersKey(), text},
		{"heartbeat", queue.Pipeline, q.ConsumerKey(id), text},
	} {
		s := queuetest.Redis(t)
		c, _ := open(t, s)
		o := &oddKey{name: tc.name, key: tc.key, fails: tc.key == q.Dead, works: tc.name == "delayed", shift: newShift(t, s, c, q, tc.pattern)}
		if err := s.Client.Do(t.Context(), append([]any{tc.lay[0], tc.key}, tc.lay[1:]...)...).Err(); err != nil {
			t.Fatal(err)
		}
		// Into whichever of the two keys is as it should be.
		o.feed(51)
		o.feed(50)
		o.r = o.hire(func(con *queue.Consumer) {
			con.ID, con.Heartbeat, con.Retry = id, time.Second, queue.Retry{Limit: 1}
			if note := con.Handler; o.fails {
				con.Handler = func(ctx context.Context, m queue.Message) error { return errors.Join(note(ctx, m), errors.New("no")) }
			}
		})
		all = append(all, o)
	}
	for _, o := range all {
		o.r.meets("wrong type")
		if o.works {
			o.awaitAll()
		}
	}
	time.Sleep(500 * time.Millisecond)
	for _, o := range all {
		o.asked, o.since = requests(t, o.s), time.Now()
	}
	time.Sleep(time.Second)
	for _, o := range all {
		if rate := (requests(t, o.s) - o.asked) / time.Since(o.since).Seconds(); rate > 50 {
			t.Errorf("%s: %.0f requests a second while it cannot work", o.name, rate)
		}
		if was := o.account(); was.lost > 0 {
			t.Errorf("%s: %+v before it was mended", o.name, was)
		}
		if err := o.s.Client.Del(t.Context(), o.key).Err(); err != nil {
			t.Fatal(err)
		}
		o.feed(50)
		o.feed(51)
	}
	for _, o := range all {
		o.awaitAll()
		if o.fails {
			eventually(t, func() bool { st := o.r.Stats(); return st.Dead == st.Taken && st.InHand == 0 })
		}
		o.goHome()
		if is := o.account(); is.lost > 0 || is.doubled > 0 || is.left > 0 && !o.fails {
			t.Errorf("%s: %+v", o.name, is)
		}
	}
}

// Where attempts cannot be kept the consumer says so: it cannot know when to give up.
func TestAttemptsThatCannotBeCounted(t *testing.T) {
	t.Parallel()
	s := queuetest.Redis(t)
	c, _ := open(t, s)
	w := newShift(t, s, c, queue.Named("uncounted"), queue.Pipeline)
	push(t, s, w.q.MetaKey(), "not a hash")
	w.send("a", "b", "poison")
	r := w.hire(func(con *queue.Consumer) {
		con.Retry = queue.Retry{Limit: 2, Base: time.Millisecond}
		con.Handler = func(_ context.Context, m queue.Message) error {
			w.note(m)
			if string(m.Payload) == "poison" {
				return errors.New("no")
			}
			return nil
		}
	})
	r.meets("could not be counted: wrong type")
	w.awaitAll()
	if err := s.Client.Del(t.Context(), w.q.MetaKey()).Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return r.Stats().Dead == 1 })
	w.goHome()
	if o := w.account(); o.lost > 0 || o.left != 1 {
		t.Errorf("%+v", o)
	}
}
