package queue_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/journal"
	"redq/queue/queuetest"
)

// bulkDeed is a bulk operation of the kill test.
type bulkDeed struct {
	name  string
	place queue.Place
	some  bool
	bulk  queue.Bulk
}

func bulkDeeds() []bulkDeed {
	later := queue.Due{At: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), Spread: time.Hour}
	return []bulkDeed{
		{"redrive", queue.Dead, false, queue.Bulk{Op: queue.OpRedrive}},
		{"redrive-some", queue.Dead, true, queue.Bulk{Op: queue.OpRedrive, Front: true}},
		{"delete", queue.Dead, false, queue.Bulk{Op: queue.OpDelete}},
		{"delete-some", queue.Dead, true, queue.Bulk{Op: queue.OpDelete}},
		{"delay", queue.Dead, false, queue.Bulk{Op: queue.OpRedrive, ToPlace: queue.Delayed, Due: later}},
		{"run-now", queue.Delayed, false, queue.Bulk{Op: queue.OpRedrive}},
		{"delete-delayed", queue.Delayed, true, queue.Bulk{Op: queue.OpDelete}},
		{"reschedule", queue.Delayed, false, queue.Bulk{Op: queue.OpReschedule, Due: later}},
		{"shift", queue.Delayed, true, queue.Bulk{Op: queue.OpReschedule, Due: queue.Due{Shift: time.Hour}}},
	}
}

// do selects the messages, says that it has, and carries the operation out.
func (d bulkDeed) do(t *testing.T, c *queue.Client, selected func()) (queue.BulkReport, error) {
	o := queue.SelectOptions{Newest: d.bulk.Front}
	if d.some {
		o.Match = func(m queue.Message) (bool, error) { return m.Payload[len(m.Payload)-1]%2 == 0, nil }
	}
	set, err := c.Select(t.Context(), orders(), d.place, o)
	if err != nil {
		t.Fatal(err)
	}
	selected()
	return c.RunBulk(t.Context(), set, d.bulk)
}

// TestBulkUntilKilled is the operator's process.
func TestBulkUntilKilled(t *testing.T) {
	name, url, file := os.Getenv("REDQ_TEST_BULK"), os.Getenv("REDQ_TEST_URL"), os.Getenv("REDQ_TEST_JOURNAL")
	if name == "" {
		t.Skip("only as the child of TestKillInBulk")
	}
	c, _ := withJournal(t, url, file)
	for _, d := range bulkDeeds() {
		if d.name == name {
			if _, err := d.do(t, c, func() { fmt.Println("selected") }); err != nil {
				t.Fatal(err)
			}
		}
	}
	time.Sleep(time.Minute) // until it is killed
}

func withJournal(t *testing.T, url, file string) (*queue.Client, *journal.Journal) {
	t.Helper()
	j, err := journal.Open(file, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := queue.Open(t.Context(), queue.Options{URL: url, Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		_ = j.Close()
	})
	return c, j
}

// An operator's process is killed in the middle of a bulk operation: nothing is lost or
// doubled, the journal brings back all that was done, and a second run does all of it.
func TestKillInBulk(t *testing.T) {
	t.Parallel()
	const n = 20_000
	rounds := 50
	if testing.Short() {
		rounds = 10
	}
	s := queuetest.Redis(t)
	q := orders()
	half := 0
	for round := range rounds {
		d := bulkDeeds()[round%len(bulkDeeds())]
		s.Client.FlushAll(t.Context())
		file := filepath.Join(t.TempDir(), "journal.jsonl")
		c, j := withJournal(t, s.URL, file)
		all := numbered(0, n)
		if d.place == queue.Delayed {
			layDelayed(t, s, q.Delayed, all)
		} else {
			lay(t, s, q.Dead, all...)
		}
		before := [][]string{listOf(t, s, q.Dead), zsetOf(t, s, q.Delayed)}
		killBulk(t, d.name, s.URL, file)

		sums, err := j.Entries(10)
		if err != nil {
			t.Fatal(err)
		}
		if len(sums) > 0 {
			e, err := j.Load(sums[0].ID)
			if err != nil {
				t.Fatal(err)
			}
			undone, err := c.UndoBulk(t.Context(), e, nil)
			if err != nil || undone.Gone+undone.Refused+undone.Unknown > 0 {
				t.Fatalf("%s: undo %+v, %v", d.name, undone, err)
			}
			if undone.Done > 0 && undone.Done < n/2 {
				half++
			}
			if e, err = j.Load(sums[0].ID); err != nil || e.Undoable() > 0 {
				t.Errorf("%s: the journal still offers %d, %v", d.name, e.Undoable(), err)
			}
		}
		after := [][]string{listOf(t, s, q.Dead), zsetOf(t, s, q.Delayed)}
		if d.some {
			slices.Sort(before[0])
			slices.Sort(after[0])
		}
		if !slices.Equal(before[0], after[0]) || !slices.Equal(before[1], after[1]) {
			t.Fatalf("%s: %d in dead and %d in delayed after the undo", d.name, len(after[0]), len(after[1])/2)
		}

		killBulk(t, d.name, s.URL, file)
		if _, err := d.do(t, c, func() {}); err != nil {
			t.Fatalf("%s: second run: %v", d.name, err)
		}
		want := n
		if d.bulk.Op == queue.OpDelete {
			if want = 0; d.some {
				want = n / 2
			}
		}
		got := tallyOf(listOf(t, s, q.Dead), listOf(t, s, q.Ready), membersOf(zsetOf(t, s, q.Delayed)))
		if len(got) != want {
			t.Errorf("%s: %d messages after a second run, want %d", d.name, len(got), want)
		}
		for m, k := range got {
			if k != 1 {
				t.Fatalf("%s: %s is there %d times", d.name, m, k)
			}
		}
	}
	if half == 0 {
		t.Error("no kill came in the middle")
	}
	t.Logf("%d of %d kills came in the first half", half, rounds)
}

// layDelayed adds messages to a sorted set, each with a score of its own.
func layDelayed(t *testing.T, s *queuetest.Server, key string, all []string) {
	t.Helper()
	pipe := s.Client.Pipeline()
	for i, m := range all {
		pipe.ZAdd(t.Context(), key, zmember(float64(1_700_000_000_000+i)+0.5, m))
	}
	if _, err := pipe.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// membersOf leaves the scores out.
func membersOf(zset []string) []string {
	var ms []string
	for i := 0; i < len(zset); i += 2 {
		ms = append(ms, zset[i])
	}
	return ms
}

// killBulk starts an operator's process and kills it at a random moment of its work.
func killBulk(t *testing.T, name, url, file string) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestBulkUntilKilled$")
	child.Env = append(os.Environ(), "REDQ_TEST_BULK="+name, "REDQ_TEST_URL="+url, "REDQ_TEST_JOURNAL="+file)
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
	var exit *exec.ExitError
	if err := child.Wait(); !errors.As(err, &exit) {
		t.Fatal(err)
	}
}
