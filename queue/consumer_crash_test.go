package queue_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/queuetest"
)

// worker says what a consumer in a process of its own does.
type worker struct {
	ID          string
	Pattern     queue.Pattern
	Concurrency int
	Batch       int
	Heartbeat   time.Duration
	Limit       int           // of attempts
	Slow        time.Duration // handlers take up to so long
	Poison      string        // kills the process
}

// The consumer of the kill tests: says on standard output which messages it begins and
// which it has done, until it is killed or its standard input ends.
func TestConsumerUntilKilled(t *testing.T) {
	url := os.Getenv("REDQ_TEST_CONSUMER")
	if url == "" {
		t.Skip("only as a child of the tests that kill consumers")
	}
	var w worker
	if err := json.Unmarshal([]byte(os.Getenv("REDQ_TEST_WORKER")), &w); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		cancel()
	}()
	con := &queue.Consumer{
		Client: reader(t, url), Queue: orders(), Pattern: w.Pattern, ID: w.ID, Concurrency: w.Concurrency, Batch: w.Batch,
		Heartbeat: w.Heartbeat, Retry: queue.Retry{Limit: w.Limit}, Idle: queue.Idle{Sleep: time.Millisecond},
		Handler: func(_ context.Context, m queue.Message) error {
			fmt.Printf("begun %s\n", m.Payload)
			if string(m.Payload) == w.Poison {
				self, _ := os.FindProcess(os.Getpid())
				_ = self.Kill()
				select {}
			}
			if w.Slow > 0 {
				time.Sleep(rand.N(w.Slow))
			}
			fmt.Printf("done %s\n", m.Payload)
			return nil
		},
	}
	if err := con.Run(ctx); err != nil {
		t.Fatal(err)
	}
}

// process is a consumer in a process of its own. What it says is noted as it arrives,
// also what it said last before it was killed.
type process struct {
	cmd   *exec.Cmd
	hush  func() // lets it stop
	heard chan struct{}
}

// ledger is what all processes have said.
type ledger struct {
	mu          sync.Mutex
	begun, done map[string]int
	ends        int // messages done in all
}

func newLedger() *ledger { return &ledger{begun: map[string]int{}, done: map[string]int{}} }

func (l *ledger) note(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch what, payload, _ := strings.Cut(line, " "); what {
	case "begun":
		l.begun[payload]++
	case "done":
		l.done[payload]++
		l.ends++
	}
}

// all is how many messages were done in all, doubles included.
func (l *ledger) all() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ends
}

// distinct is how many different messages were done.
func (l *ledger) distinct() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.done)
}

// hire starts a consumer's process.
func hire(t *testing.T, s *queuetest.Server, l *ledger, w worker) *process {
	t.Helper()
	text, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestConsumerUntilKilled$")
	cmd.Env = append(os.Environ(), "REDQ_TEST_CONSUMER="+s.URL, "REDQ_TEST_WORKER="+string(text))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd, hush: func() { _ = in.Close() }, heard: make(chan struct{})}
	go func() {
		defer close(p.heard)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			l.note(lines.Text())
		}
	}()
	t.Cleanup(p.kill)
	return p
}

// kill ends the process as kill -9 does, and returns when all it has said is noted.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	p.wait()
}

// wait returns when the process has ended and all it has said is noted.
func (p *process) wait() {
	<-p.heard
	_ = p.cmd.Wait()
}

// heldBy waits until the server knows that a killed process is gone, and returns what
// its backup list holds then.
func heldBy(t *testing.T, s *queuetest.Server, q queue.Queue, id string) []string {
	t.Helper()
	eventually(t, func() bool {
		return !strings.Contains(s.Client.ClientList(context.Background()).Val(), "name=redq-consumer:"+id+" ")
	})
	return list(t, s, q.BackupKey(id))
}

// pushMany pushes numbered messages in one round trip.
func pushMany(t *testing.T, s *queuetest.Server, key string, from, until int) {
	t.Helper()
	var all []any
	for _, p := range numbered(from, until) {
		all = append(all, p)
	}
	if err := s.Client.LPush(t.Context(), key, all...).Err(); err != nil {
		t.Fatal(err)
	}
}

// One of four consumers is killed in full flow, again and again: no message is lost, and
// doubled are only such as the killed ones held.
func TestKillOneOfFourConsumers(t *testing.T) {
	t.Parallel()
	const kills, between = 20, 250
	s := queuetest.Redis(t)
	q, l := orders(), newLedger()
	ids := 0
	start := func() (string, *process) {
		ids++
		id := fmt.Sprintf("w%d", ids)
		return id, hire(t, s, l, worker{
			ID: id, Pattern: queue.Pipeline, Concurrency: 4, Batch: 20, Limit: 1000,
			Heartbeat: 300 * time.Millisecond, Slow: 2 * time.Millisecond,
		})
	}
	staff := map[string]*process{}
	for range 4 {
		id, p := start()
		staff[id] = p
	}
	produced := 0
	produce := func(n int) {
		pushMany(t, s, q.Ready, produced, produced+n)
		produced += n
	}
	held := map[string]bool{}
	most := 0 // how many doubles there may be
	for range kills {
		produce(2 * between)
		goal := l.all() + between
		eventually(t, func() bool { return l.all() >= goal })
		var victim string
		for id := range staff {
			if victim == "" || rand.IntN(len(staff)) == 0 {
				victim = id
			}
		}
		staff[victim].kill()
		delete(staff, victim)
		inHand := heldBy(t, s, q, victim)
		most += len(inHand)
		for _, p := range inHand {
			held[p] = true
		}
		id, p := start()
		staff[id] = p
	}
	eventually(t, func() bool { return l.distinct() == produced && len(everywhere(t, s)) == 0 })
	for _, p := range staff {
		p.hush()
		p.wait()
	}
	wantEverywhere(t, s)
	doubled := 0
	for _, p := range numbered(0, produced) {
		switch n := l.done[p]; {
		case n == 0:
			t.Errorf("%s was lost", p)
		case n > 1 && !held[p]:
			t.Errorf("%s was handled %d times, and no killed consumer held it", p, n)
		case n > 1:
			doubled += n - 1
		}
	}
	if doubled > most || most == 0 {
		t.Errorf("%d doubles; the killed ones held %d", doubled, most)
	}
	if n := s.Client.HLen(context.Background(), q.ConsumersKey()).Val(); n != 0 {
		t.Errorf("%d consumers are still listed", n)
	}
	t.Logf("%d messages, %d kills: the killed held %d, %d were handled twice", produced, kills, most, doubled)
}

// What a kill costs in each pattern without an own backup list: P7 keeps what was in hand in
// the shared list, the others lose it.
func TestKillLosesAtMostWhatIsInHand(t *testing.T) {
	t.Parallel()
	const total, rounds = 200, 3
	tests := []struct {
		pattern     queue.Pattern
		concurrency int
		batch       int
		inHand      int // at most: what workers hold, and what waits for them
		keeps       bool
	}{
		{queue.ListPoll, 4, 1, 4, false},
		{queue.ListBlock, 4, 1, 4, false},
		{queue.ListBlock, 1, 1, 1, false},
		{queue.ZsetRace, 4, 1, 4, false},
		{queue.ZsetScript, 4, 20, 4 + 4*20, false},
		{queue.Dispatch, 4, 1, 4, false},
		{queue.BackupList, 4, 1, 4, true},
		{queue.BackupList, 4, 20, 4 + 4*20, true},
	}
	s := queuetest.Redis(t)
	c := reader(t, s.URL)
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s %d %d", tt.pattern, tt.concurrency, tt.batch), func(t *testing.T) {
			lost, kept := 0, 0
			for range rounds {
				s.Client.FlushDB(t.Context())
				q, l := orders(), newLedger()
				feedFor(t, c, q, tt.pattern, numbered(0, total)...)
				p := hire(t, s, l, worker{
					ID: "w1", Pattern: tt.pattern, Concurrency: tt.concurrency, Batch: tt.batch,
					Heartbeat: time.Minute, Slow: 5 * time.Millisecond,
				})
				goal := 10 + rand.IntN(total/2)
				eventually(t, func() bool { return l.all() >= goal })
				p.kill()
				heldBy(t, s, q, "w1")

				left := everywhere(t, s)
				inBackup := left[q.Backups[0]]
				var there []string
				for _, payloads := range left {
					there = append(there, payloads...)
				}
				gone := 0
				for _, m := range numbered(0, total) {
					switch n := l.done[m]; {
					case n > 1:
						t.Errorf("%s was handled %d times", m, n)
					case n == 0 && !slices.Contains(there, m):
						gone++
					case n == 1 && slices.Contains(there, m) && !slices.Contains(inBackup, m):
						t.Errorf("%s was handled and waits for being handled", m)
					}
				}
				if gone > tt.inHand || tt.keeps && gone > 0 {
					t.Errorf("%d messages are lost, want at most the %d in hand, and none where they are kept", gone, tt.inHand)
				}
				if len(inBackup) > tt.inHand {
					t.Errorf("%d messages lie in backup, want at most the %d in hand", len(inBackup), tt.inHand)
				}
				lost, kept = lost+gone, kept+len(inBackup)
			}
			t.Logf("%d kills in flow: %d messages lost, %d kept in backup", rounds, lost, kept)
			if tt.keeps == (kept == 0) {
				t.Error("nothing was in hand in any kill, or something was kept that cannot be")
			}
		})
	}
}

// A message that kills its worker's process has used an attempt each time, and ends in
// dead; those that wait in hand behind it have used none.
func TestAMessageThatKillsItsWorkerEndsInDead(t *testing.T) {
	t.Parallel()
	const limit = 3
	s := queuetest.Redis(t)
	for _, renamed := range []bool{false, true} { // restarted under its name, or recovered by the next one
		t.Run(fmt.Sprintf("renamed %t", renamed), func(t *testing.T) {
			s.Client.FlushDB(t.Context())
			q, l := orders(), newLedger()
			innocents := numbered(0, 30)
			push(t, s, q.Ready, innocents[5:]...)
			push(t, s, q.Ready, "poison")
			push(t, s, q.Ready, innocents[:5]...)
			w := worker{ID: "w1", Pattern: queue.Pipeline, Concurrency: 1, Batch: 50, Limit: limit, Heartbeat: 200 * time.Millisecond, Poison: "poison"}
			lives := 0
			for len(list(t, s, q.Dead)) == 0 {
				if lives++; lives > limit+5 {
					t.Fatalf("the poison was begun %d times and is not dead", l.begun["poison"])
				}
				if renamed {
					w.ID = fmt.Sprintf("w%d", lives)
				}
				p := hire(t, s, l, w)
				buried := func() bool { return len(list(t, s, q.Dead)) > 0 }
				killed := func() bool {
					select {
					case <-p.heard:
						return true
					default:
						return false
					}
				}
				eventually(t, func() bool { return buried() || killed() })
				if !killed() {
					eventually(t, func() bool { return l.distinct() == len(innocents) })
					p.hush()
				}
				p.wait()
			}
			wantEverywhere(t, s, "orders:dead=poison")
			// Done messages whose acknowledgement was under way may be blamed in its stead.
			if n := l.begun["poison"]; n < limit || n != lives-1 {
				t.Errorf("the poison was begun %d times in %d lives", n, lives)
			}
			c := reader(t, s.URL)
			known, err := c.Failures(t.Context(), q, peek(t, c, q, queue.Dead))
			if err != nil || len(known) != 1 || known[0].Attempts != limit || !strings.Contains(known[0].Reason, "died") {
				t.Errorf("known of the poison: %+v, %v", known, err)
			}
		})
	}
}
