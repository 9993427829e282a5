package queue_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redq/queue"
	"redq/queue/journal"
	"redq/queue/queuetest"
)

// tally counts messages by their bytes.
type tally struct {
	mu sync.Mutex
	n  map[string]int
}

func newTally() *tally { return &tally{n: map[string]int{}} }

func (c *tally) add(payloads ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range payloads {
		c.n[p]++
	}
}

func (c *tally) wantEachOnce(t *testing.T, total int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	missing, doubled := 0, 0
	for i := range total {
		switch n := c.n[fmt.Sprintf("m%d", i)]; {
		case n == 0:
			missing++
		case n > 1:
			doubled++
		}
	}
	if missing > 0 || doubled > 0 {
		t.Errorf("of %d messages %d are missing and %d are there more than once", total, missing, doubled)
	}
}

func TestTwoOperatorsRedriveTheSameMessagesWhileAConsumerPops(t *testing.T) {
	const total = 1000
	s := queuetest.Redis(t)
	q := orders()
	for i := range total {
		s.Client.LPush(t.Context(), "orders:backup", fmt.Sprintf("m%d", i))
	}
	arrived := newTally()
	ctx, stop := context.WithCancel(t.Context())
	var consumer sync.WaitGroup
	consumer.Go(func() {
		for ctx.Err() == nil {
			if p, err := s.Client.RPop(ctx, "orders").Result(); err == nil {
				arrived.add(p)
			}
		}
	})
	var operators sync.WaitGroup
	var done, gone atomic.Int64
	var clients [2]*queue.Client
	var seen [2][]queue.Message
	for i := range clients { // both look before either acts
		clients[i], _ = open(t, s)
		seen[i] = peek(t, clients[i], q, queue.Backup)
	}
	for i, c := range clients {
		operators.Go(func() {
			r := c.Redrive(t.Context(), q, seen[i], queue.RedriveOptions{Front: i == 1})
			done.Add(int64(r.Count(queue.Done)))
			gone.Add(int64(r.Count(queue.Gone)))
		})
	}
	operators.Wait()
	stop()
	consumer.Wait()
	arrived.add(list(t, s, "orders")...)
	arrived.wantEachOnce(t, total)
	if done.Load() != total || gone.Load() != total {
		t.Errorf("done %d, gone %d, want %d each", done.Load(), gone.Load(), total)
	}
}

// Producers, consumers that now and then crash, and operators who re-drive,
// delete, undo and reschedule, all at once: in the end each message was handled
// once, or lies somewhere once. REDQ_SOAK=1m makes it last.
func TestNothingIsLostOrDoubledUnderTraffic(t *testing.T) {
	t.Parallel()
	lasts := 2 * time.Second
	if d, err := time.ParseDuration(os.Getenv("REDQ_SOAK")); err == nil {
		lasts = d
	}
	s := queuetest.Redis(t)
	q := orders()
	all := newTally()
	var produced atomic.Int64
	ctx, stop := context.WithTimeout(t.Context(), lasts)
	defer stop()
	var running sync.WaitGroup
	for range 2 {
		running.Go(func() {
			for ctx.Err() == nil {
				m := fmt.Sprintf("m%d", produced.Add(1)-1)
				if rand.IntN(4) == 0 {
					s.Client.ZAdd(context.Background(), "orders:delayed", z(float64(time.Now().UnixMilli()), m))
				} else {
					s.Client.LPush(context.Background(), "orders", m)
				}
			}
		})
	}
	for range 3 {
		running.Go(func() { consume(ctx, s.Client, all) })
	}
	var operators sync.WaitGroup
	var acted atomic.Int64
	for range 2 {
		c, j := open(t, s)
		operators.Go(func() {
			for ctx.Err() == nil {
				acted.Add(operate(t, c, j, q))
			}
		})
	}
	running.Wait()
	operators.Wait()
	for _, key := range []string{"orders", "orders:backup"} {
		all.add(list(t, s, key)...)
	}
	all.add(s.Client.ZRange(context.Background(), "orders:delayed", 0, -1).Val()...)
	all.wantEachOnce(t, int(produced.Load()))
	if acted.Load() == 0 {
		t.Error("the operators did nothing")
	}
	t.Logf("%d messages produced, %d operator actions done", produced.Load(), acted.Load())
}

// consume takes messages as P7 does; a third of them is never acknowledged, as
// if the consumer had crashed. A message counts as handled only if its
// acknowledgement removed it: else an operator has re-driven it meanwhile.
func consume(ctx context.Context, rdb *redis.Client, handled *tally) {
	for ctx.Err() == nil {
		m, err := rdb.LMove(context.Background(), "orders", "orders:backup", "RIGHT", "LEFT").Result()
		if err != nil || rand.IntN(3) == 0 {
			continue
		}
		if rdb.LRem(context.Background(), "orders:backup", 1, m).Val() == 1 {
			handled.add(m)
		}
	}
}

// operate does one random thing to a page of messages and returns how many it changed.
func operate(t *testing.T, c *queue.Client, j *journal.Journal, q queue.Queue) int64 {
	ctx := context.Background()
	place := []queue.Place{queue.Ready, queue.Backup, queue.Delayed}[rand.IntN(3)]
	page, err := c.Peek(ctx, q, place, int64(rand.IntN(20)), 1+rand.IntN(50))
	if err != nil || len(page.Messages) == 0 {
		return 0
	}
	ms := page.Messages
	var r queue.Report
	switch {
	case place == queue.Delayed && rand.IntN(2) == 0:
		r = c.Reschedule(ctx, q, ms, time.Now().Add(time.Second))
	case place != queue.Ready && rand.IntN(2) == 0:
		r = c.Redrive(ctx, q, ms, queue.RedriveOptions{Front: rand.IntN(2) == 0})
	default:
		r = c.Delete(ctx, q, ms)
		e, err := j.Load(r.Entry)
		if err != nil {
			t.Errorf("loading the entry of a delete: %v", err)
			return 0
		}
		if back := c.Undo(ctx, e); back.Count(queue.Done) != r.Count(queue.Done) {
			t.Errorf("deleted %d, brought back %d: %v", r.Count(queue.Done), back.Count(queue.Done), back.Err())
		}
	}
	if r.Count(queue.Unknown) > 0 {
		t.Errorf("unknown outcome on a healthy server: %v", r.Err())
	}
	return int64(r.Count(queue.Done))
}

// The operator of the kill test: re-drives, deletes and undoes until it is killed.
func TestOperatorUntilKilled(t *testing.T) {
	url, file := os.Getenv("REDQ_TEST_URL"), os.Getenv("REDQ_TEST_JOURNAL")
	if url == "" {
		t.Skip("only as the child of TestKillAtAnyMoment")
	}
	j, err := journal.Open(file, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := queue.Open(t.Context(), queue.Options{URL: url, Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("started")
	q := orders()
	for {
		page, err := c.Peek(t.Context(), q, queue.Backup, 0, 60)
		if err != nil {
			t.Fatal(err)
		}
		half := len(page.Messages) / 2
		c.Redrive(t.Context(), q, page.Messages[:half], queue.RedriveOptions{})
		r := c.Delete(t.Context(), q, page.Messages[half:])
		if e, err := j.Load(r.Entry); err == nil {
			c.Undo(t.Context(), e)
		}
		page, _ = c.Peek(t.Context(), q, queue.Ready, 0, 60)
		c.Redrive(t.Context(), q, page.Messages, queue.RedriveOptions{ToKey: "orders:backup"})
	}
}

func TestKillAtAnyMoment(t *testing.T) {
	t.Parallel()
	const total, rounds = 120, 15
	s := queuetest.Redis(t)
	file := filepath.Join(t.TempDir(), "journal.jsonl")
	for i := range total {
		s.Client.LPush(t.Context(), "orders:backup", fmt.Sprintf("m%d", i))
	}
	offered := 0
	for range rounds {
		killOperator(t, s.URL, file)
		offered += undoWhatIsUnsure(t, s.URL, file)
	}
	all := newTally()
	for _, key := range []string{"orders", "orders:backup"} {
		all.add(list(t, s, key)...)
	}
	all.wantEachOnce(t, total)
	t.Logf("%d entries offered for undo after %d kills", offered, rounds)
}

// killOperator starts an operator's process and kills it at a random moment of its work.
func killOperator(t *testing.T, url, file string) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestOperatorUntilKilled$")
	child.Env = append(os.Environ(), "REDQ_TEST_URL="+url, "REDQ_TEST_JOURNAL="+file)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Duration(rand.IntN(60_000)) * time.Microsecond)
	_ = child.Process.Kill()
	_ = child.Wait()
}

// undoWhatIsUnsure does what an operator does after a crash: bring back every
// delete that the journal still offers. It returns how many it offered.
func undoWhatIsUnsure(t *testing.T, url, file string) (offered int) {
	t.Helper()
	j, err := journal.Open(file, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	c, err := queue.Open(t.Context(), queue.Options{URL: url, Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	sums, err := j.Entries(1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, sum := range sums { // newest first
		if sum.Undoable == 0 || sum.Op != queue.OpDelete {
			continue
		}
		offered++
		r := c.Undo(t.Context(), entry(t, j, sum.ID))
		if n := r.Count(queue.Unknown) + r.Count(queue.Refused); n > 0 {
			t.Errorf("undo after the kill: %v", r.Err())
		}
		if again := entry(t, j, sum.ID).Undoable(); again > 0 {
			t.Errorf("the journal still offers %d of it", again)
		}
	}
	return offered
}
