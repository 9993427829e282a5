package queue_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redq/queue"
	"redq/queue/queuetest"
)

// shift is some consumers of one queue at work: what was sent to them and what they handled.
type shift struct {
	book
	t       *testing.T
	s       *queuetest.Server
	c       *queue.Client
	q       queue.Queue
	pattern queue.Pattern
	staff   []*running
	feeder  *redis.Client // never sends anything twice

	mu   sync.Mutex
	sent map[string]int // copies that the server has confirmed, by payload
	next int
}

func newShift(t *testing.T, s *queuetest.Server, c *queue.Client, q queue.Queue, pattern queue.Pattern) *shift {
	t.Helper()
	w := &shift{t: t, s: s, c: c, q: q, pattern: pattern, sent: map[string]int{}}
	w.feeder = redis.NewClient(&redis.Options{Addr: s.Addr, Protocol: 2, DisableIdentity: true, MaxRetries: -1})
	t.Cleanup(func() { _ = w.feeder.Close() })
	return w
}

// hire starts one more consumer.
func (w *shift) hire(change ...func(*queue.Consumer)) *running {
	w.t.Helper()
	con := &queue.Consumer{
		Client: w.c, Queue: w.q, Pattern: w.pattern, Concurrency: 4, Heartbeat: 250 * time.Millisecond,
		Handler: func(_ context.Context, m queue.Message) error { w.note(m); return nil },
	}
	switch w.pattern {
	case queue.ListPoll, queue.ZsetRace, queue.Dispatch:
		con.Idle = queue.Idle{Sleep: 5 * time.Millisecond, Spin: 1}
	case queue.LockRetry:
		con.Lock = &queue.Lock{Key: func(m queue.Message) string { return "lock:" + string(m.Payload) }, TTL: 200 * time.Millisecond, Wait: 50 * time.Millisecond}
	}
	for _, f := range change {
		f(con)
	}
	r := launch(w.t, con)
	w.staff = append(w.staff, r)
	return r
}

// takesDelayed reports whether the pattern takes from the sorted set.
func takesDelayed(p queue.Pattern) bool {
	return p == queue.ZsetRace || p == queue.ZsetScript || p == queue.Dispatch
}

// feed sends n new messages in one command, due at once. What the server does not confirm
// may or may not be there: it is not counted on.
func (w *shift) feed(n int) { w.send(w.fresh(n)...) }

// fresh returns payloads that were not sent before.
func (w *shift) fresh(n int) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	payloads := make([]string, n)
	for i := range payloads {
		payloads[i] = fmt.Sprintf("%s-%06d", w.q.Name, w.next)
		w.next++
	}
	return payloads
}

func (w *shift) send(payloads ...string) {
	var err error
	if takesDelayed(w.pattern) || w.pattern == queue.Pipeline && len(payloads)%2 == 0 {
		due := float64(time.Now().UnixMilli())
		var members []redis.Z
		for _, p := range payloads {
			members = append(members, z(due, p))
		}
		err = w.feeder.ZAdd(context.Background(), w.q.Delayed, members...).Err()
	} else {
		err = w.feeder.LPush(context.Background(), w.q.Ready, payloads).Err()
	}
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range payloads {
		w.sent[p]++
	}
}

// feedUntil sends messages until ctx ends.
func (w *shift) feedUntil(ctx context.Context) {
	for i := 0; ctx.Err() == nil; i++ {
		w.feed(4 + i%5)
		time.Sleep(3 * time.Millisecond)
	}
}

// flow feeds shifts while something happens.
func flow(happens func(), shifts ...*shift) {
	ctx, end := context.WithCancel(context.Background())
	var feeding sync.WaitGroup
	for _, w := range shifts {
		feeding.Go(func() { w.feedUntil(ctx) })
	}
	happens()
	end()
	feeding.Wait()
}

// goesOn sends some more messages, and waits until all of them are handled.
func (w *shift) goesOn() {
	w.t.Helper()
	more := w.fresh(21)
	w.send(more...)
	w.awaitHandled(more)
}

// awaitHandled waits until each of the payloads was handled.
func (w *shift) awaitHandled(payloads []string) {
	w.t.Helper()
	missing := func() []string {
		w.book.mu.Lock()
		defer w.book.mu.Unlock()
		return slices.DeleteFunc(slices.Clone(payloads), func(p string) bool { return w.times[p] > 0 })
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if len(missing()) == 0 {
			return
		}
	}
	for _, r := range w.staff {
		w.t.Logf("%+v", r.Stats())
	}
	at := missing()
	w.t.Fatalf("%s: %d of %d messages were not handled, as %q; keys: %v", w.pattern, len(at), len(payloads), at[0], w.lengths())
}

// awaitAll waits until everything that was sent is handled.
func (w *shift) awaitAll() {
	w.t.Helper()
	w.awaitHandled(w.confirmed())
}

// confirmed are the payloads that the server has confirmed.
func (w *shift) confirmed() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.sent))
}

// goHome stops all consumers.
func (w *shift) goHome() {
	w.t.Helper()
	for _, r := range w.staff {
		r.cancel()
	}
	for _, r := range w.staff {
		if err := r.end(); err != nil {
			w.t.Errorf("%s: %v", w.pattern, err)
		}
	}
}

// lengths tells how many messages lie in the server's keys.
func (w *shift) lengths() map[string]int {
	n := map[string]int{}
	for key, payloads := range everywhere(w.t, w.s) {
		if strings.HasPrefix(key, w.q.Name) {
			n[key] = len(payloads)
		}
	}
	return n
}

// tally of what became of the messages that were sent.
type outcome struct {
	sent    int
	lost    int // neither handled nor in any key
	doubled int // times that a message was handled beyond the number of its copies
	left    int // in a key
	both    int // handled, all copies, and in a key all the same
}

// account counts what became of the messages.
func (w *shift) account() outcome {
	lies := map[string]int{}
	for key, payloads := range everywhere(w.t, w.s) {
		if strings.HasPrefix(key, w.q.Name) {
			for _, p := range payloads {
				lies[p]++
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.book.mu.Lock()
	defer w.book.mu.Unlock()
	var o outcome
	for p, copies := range w.sent {
		o.sent += copies
		o.lost += max(0, copies-w.times[p]-lies[p])
		o.doubled += max(0, w.times[p]-copies)
		o.left += lies[p]
		o.both += max(0, min(lies[p], w.times[p]+lies[p]-copies))
	}
	return o
}

// unknown counts the requests whose answer was lost.
func (w *shift) unknown() int {
	n := 0
	for _, r := range w.staff {
		for _, ev := range r.seen.of(queue.EventError) {
			if errors.Is(ev.Err, queue.ErrUnknownOutcome) {
				n++
			}
		}
	}
	return n
}

// wantKept checks what the pattern promises after a day on which answers were lost.
func (w *shift) wantKept() {
	w.t.Helper()
	o, unknown := w.account(), w.unknown()
	w.t.Logf("%s: %+v, %d answers lost", w.pattern, o, unknown)
	switch {
	case w.pattern == queue.BackupList: // what a lost answer had taken is kept in the shared list
		if o.lost > 0 || o.doubled > 0 || o.both > 0 || o.left > unknown {
			w.t.Errorf("%s: %+v with %d answers lost", w.pattern, o, unknown)
		}
	case w.pattern.AtLeastOnce():
		if o.lost > 0 || o.doubled > 0 || o.left > 0 {
			w.t.Errorf("%s: %+v", w.pattern, o)
		}
	default:
		batch := 1
		if w.pattern == queue.ZsetScript {
			batch = 100
		}
		if o.lost > batch*unknown || o.doubled > 0 || o.both > 0 {
			w.t.Errorf("%s: %+v, which is more than %d lost answers explain", w.pattern, o, unknown)
		}
	}
}

// meets waits until the consumer tells of an error with this in its sentence.
func (r *running) meets(text string) {
	r.t.Helper()
	said := func() []string {
		var all []string
		for _, ev := range r.seen.of(queue.EventError) {
			all = append(all, queue.Explain(ev.Err))
		}
		return all
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if slices.ContainsFunc(said(), func(s string) bool { return strings.Contains(s, text) }) {
			return
		}
	}
	r.t.Fatalf("the consumer never told of %q: %q", text, said())
}

// holdUp makes a consumer whose handlers of payloads with a prefix wait until they are let go.
func (w *shift) holdUp(prefix string) (in chan string, letGo func(), handler queue.Handler) {
	in, out := make(chan string, 100), make(chan struct{})
	letGo = sync.OnceFunc(func() { close(out) })
	w.t.Cleanup(letGo)
	return in, letGo, func(_ context.Context, m queue.Message) error {
		if strings.HasPrefix(string(m.Payload), prefix) {
			in <- string(m.Payload)
			<-out
		}
		w.note(m)
		return nil
	}
}

// commands counts what the server has carried out, in scripts too.
func commands(t testing.TB, s *queuetest.Server) (n float64) {
	t.Helper()
	for line := range strings.Lines(s.Client.Info(context.Background(), "stats").Val()) {
		if _, err := fmt.Sscanf(line, "total_commands_processed:%f", &n); err == nil {
			return n
		}
	}
	t.Fatal("INFO stats does not tell")
	return 0
}

// requests counts what clients have asked the server for: scripts, blocking pops and plain ones.
func requests(t testing.TB, s *queuetest.Server) (n float64) {
	t.Helper()
	for line := range strings.Lines(s.Client.Info(context.Background(), "commandstats").Val()) {
		name, stats, _ := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":")
		var calls, rejected float64
		switch name {
		case "evalsha", "eval", "blmove", "brpop", "rpop", "hgetall":
			if _, err := fmt.Sscanf(stats, "calls=%f,", &calls); err != nil {
				t.Fatal(err)
			}
			if _, after, ok := strings.Cut(stats, "rejected_calls="); ok {
				_, _ = fmt.Sscanf(after, "%f", &rejected)
			}
		}
		n += calls + rejected
	}
	return n
}
