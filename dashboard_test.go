package main_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"redq/queue/queuetest"
	"redq/ui/uitest"
)

// The way of an operator at night: find the queue, look at what is stuck, put
// one back, delete one by mistake, and bring it back.
func TestRepair(t *testing.T) {
	t.Parallel()
	s, term := opened(t, uitest.Options{W: 100, H: 30})
	openBackup(t, term)

	t.Log("r, y: the selected one goes back to ready")
	term.Press("r")
	term.Confirm("Re-drive")
	term.WaitMatch(`re-driven 1\b`)
	becomes(t, s, "queueA:backup", "Hello-1", "Hello-0")
	if got := list(t, s, "queueA"); len(got) != 5 || !slices.Contains(got, "Hello-2") {
		t.Errorf("queueA holds %q", got)
	}
	term.WaitMatch(`1 ready 5\b.*2 backup 2\b`)

	t.Log("D, y: the next one is deleted")
	term.Press("D")
	term.Confirm("Delete")
	term.WaitMatch(`deleted 1\b`)
	becomes(t, s, "queueA:backup", "Hello-0")
	term.WaitMatch(`2 backup 1\b`)

	t.Log("u, y: and comes back")
	term.Press("u")
	term.WaitFor("deleted 1")
	term.Confirm("undo")
	term.WaitFor("brought back 1")
	becomes(t, s, "queueA:backup", "Hello-1", "Hello-0")
	term.WaitMatch(`2 backup 2\b`)

	term.Press("q")
	term.WaitMatch(`queueA +5 +2\b`)
	term.Press("esc") // takes the filter away
	term.WaitFor("notify-queue")
	term.Press("q")
	leaves(t, term, 0)
}

// A message comes back to where it was taken from, also when the list had moved
// since it was read.
func TestUndoFindsThePlaceAgain(t *testing.T) {
	t.Parallel()
	s, term := opened(t, uitest.Options{W: 100, H: 30})
	openBackup(t, term)
	term.Press("p", "j") // the view stays as it is, on Hello-1
	term.WaitFor("FROZEN")
	s.Client.LPush(context.Background(), "queueA:backup", "new-0", "new-1")
	term.Press("D")
	term.Confirm("Delete")
	term.WaitFor("deleted 1")
	becomes(t, s, "queueA:backup", "new-1", "new-0", "Hello-2", "Hello-0")
	term.Press("u")
	term.Read("deleted 1 of")
	term.Confirm("undo")
	term.WaitFor("brought back 1")
	becomes(t, s, "queueA:backup", "new-1", "new-0", "Hello-2", "Hello-1", "Hello-0")
	term.Press("ctrl+c")
	leaves(t, term, 0)
}

// openBackup goes from the overview to the backup of queueA.
func openBackup(t *testing.T, term *uitest.Term) {
	t.Helper()
	term.Type("/queueA")
	term.WaitGone("notify-queue")
	term.Press("enter", "enter")
	term.WaitFor("Hello-3")
	term.Press("2")
	for _, m := range []string{"Hello-0", "Hello-1", "Hello-2"} {
		term.WaitFor(m)
	}
	term.WaitGone("Hello-3")
}

// A letter that is typed into a dialog before it can be read is no answer, and a
// burst of keys or a paste is no command.
func TestBurstsAndPastesDoNothing(t *testing.T) {
	t.Parallel()
	s, term := opened(t, uitest.Options{W: 100, H: 30})
	openBackup(t, term)
	before := list(t, s, "queueA:backup")
	for name, act := range map[string]func(){
		"one burst":         func() { term.Send("ry") },
		"a pasted word":     func() { term.Paste("Dy") },
		"a pasted letter":   func() { term.Paste("D") },
		"a pasted line end": func() { term.Paste("r\ry\r") },
	} {
		act()
		term.Press("?") // a key that is taken in order shows that what was before it has been
		term.WaitFor("Keys")
		term.Press("esc")
		term.WaitGone("closes")
		for _, dialog := range []string{"Re-drive", "Delete"} {
			if strings.Contains(term.Screen(), dialog) {
				t.Errorf("%s opened a dialog:\n%s", name, term.Screen())
			}
		}
	}
	term.Press("r", "y") // quick, but two keys: the second comes too soon
	term.Read("Re-drive")
	if !slices.Equal(list(t, s, "queueA:backup"), before) || len(list(t, s, "queueA")) != 4 {
		t.Errorf("something moved: backup %q, ready %q", list(t, s, "queueA:backup"), list(t, s, "queueA"))
	}
	term.Press("n")
	term.WaitGone("Re-drive 1")
	term.Press("ctrl+c")
	leaves(t, term, 0)
}

func TestTheServerGoesAndComesBack(t *testing.T) {
	t.Parallel()
	s, term := opened(t, uitest.Options{W: 110, H: 30})
	s.Stop()
	term.WaitMatch(`down \d+s, next try in \d+s`)
	term.WaitMatch(queueASeeded) // old data is kept
	term.Press("r")              // an action in between says why not, and nothing else
	term.Press("esc")

	s.Start()
	queuetest.Seed(t, s)
	s.Client.LPush(context.Background(), "queueA", "Hello-7")
	term.WaitGone("next try")
	term.WaitMatch(`queueA +5 +3\b`)
	term.Press("q")
	leaves(t, term, 0)
}

// Two operators re-drive the same messages at the same moment: each arrives once.
func TestTwoDashboards(t *testing.T) {
	t.Parallel()
	s := queuetest.Redis(t)
	var want []string
	for i := range 20 {
		want = append(want, fmt.Sprintf("order-%02d", i))
		s.Client.RPush(context.Background(), "orders:backup", want[i])
	}
	s.Client.RPush(context.Background(), "orders", "order-xx")
	home := t.TempDir() // they share the undo journal too
	var terms [2]*uitest.Term
	for i := range terms {
		terms[i] = open(t, s, uitest.Options{W: 100, H: 30, Home: home})
		terms[i].WaitMatch(`orders +1 +20\b`)
		terms[i].Press("enter", "2")
		terms[i].WaitFor("order-00")
		terms[i].Press("*")
		terms[i].WaitFor("20 marked")
		terms[i].Press("r")
		terms[i].WaitFor("Re-drive 20")
		terms[i].Settle()
	}
	for _, term := range terms {
		term.Confirm("Re-drive")
	}
	for _, term := range terms {
		term.WaitMatch(`re-driven|gone`)
		term.WaitMatch(`1 ready 21\b`)
	}
	got := list(t, s, "orders")
	slices.Sort(got)
	if want = append(want, "order-xx"); !slices.Equal(got, want) {
		t.Errorf("ready holds %q", got)
	}
	becomes(t, s, "orders:backup")
	for _, term := range terms {
		term.Press("ctrl+c")
		leaves(t, term, 0)
	}
}

func TestEnqueueAndReschedule(t *testing.T) {
	t.Parallel()
	s, term := opened(t, uitest.Options{W: 100, H: 30})
	term.Type("/orders")
	term.WaitGone("notify-queue")
	term.Press("enter", "enter")
	term.WaitFor(`{"order":52}`)

	t.Log("a message now")
	term.Press("n")
	term.Read("Enqueue")
	term.Type("café 注文")
	term.Press("enter", "enter")
	term.Confirm("[ enqueue ]")
	term.WaitFor("enqueued")
	becomes(t, s, "orders", "café 注文", `{"order":52}`, `{"order":51}`, `{"order":50}`)

	t.Log("a message later")
	term.Press("n")
	term.Read("Enqueue")
	term.Type("later")
	term.Press("tab")
	term.Type("90m")
	term.WaitFor("in 1h30m")
	term.Press("enter")
	term.Confirm("[ enqueue ]")
	term.WaitFor("enqueued")
	term.WaitMatch(`3 delayed 2\b`)
	score, err := s.Client.ZScore(context.Background(), "orders:delayed", "later").Result()
	now := s.Client.Time(context.Background()).Val().UnixMilli()
	if ahead := int64(score) - now; err != nil || ahead < 80*60e3 || ahead > 90*60e3 {
		t.Errorf("due %d ms ahead, %v", ahead, err)
	}

	t.Log("equal bytes are there already")
	term.Press("n")
	term.Read("Enqueue")
	term.Type("later")
	term.Press("tab")
	term.Type("5m")
	term.Press("enter")
	term.Confirm("[ enqueue ]")
	term.Read("delayed already")
	term.Press("n") // neither: back to the form
	term.WaitGone("delayed already")
	term.Press("esc")
	term.WaitGone("Enqueue")
	if again := s.Client.ZScore(context.Background(), "orders:delayed", "later").Val(); again != score {
		t.Errorf("the score became %v", again)
	}

	t.Log("and is put off")
	term.Press("3", "g")
	term.WaitFor("later")
	term.Press("t")
	term.Read("Reschedule")
	term.Press("ctrl+u")
	term.Type("3h")
	term.Press("enter")
	term.Confirm("[ reschedule ]")
	term.WaitMatch(`rescheduled 1\b`)
	if again := s.Client.ZScore(context.Background(), "orders:delayed", "later").Val(); int64(again)-now < 179*60e3 {
		t.Errorf("due %v ms ahead", int64(again)-now)
	}
	term.Press("ctrl+c")
	leaves(t, term, 0)
}

// A purge takes the queue's name, and only then.
func TestPurgeWantsTheName(t *testing.T) {
	t.Parallel()
	s, term := opened(t, uitest.Options{W: 100, H: 30})
	openBackup(t, term)
	term.Press("X")
	term.Read("Type the name")
	term.Type("queueB")
	term.Press("enter", "y", "enter")
	term.Settle()
	if n := len(list(t, s, "queueA:backup")); n != 3 {
		t.Fatalf("a wrong name purged: %d left", n)
	}
	term.Press("ctrl+u")
	term.Type("queueA")
	term.Press("enter")
	term.Confirm("[ purge ]")
	becomes(t, s, "queueA:backup")
	if n := len(list(t, s, "queueA")); n != 4 {
		t.Errorf("ready holds %d", n)
	}
	term.WaitMatch(`2 backup 0\b`)
	term.Press("u")
	term.WaitFor("purged")
	term.Confirm("undo")
	term.WaitFor("brought back 3")
	becomes(t, s, "queueA:backup", "Hello-2", "Hello-1", "Hello-0")
	term.Press("ctrl+c")
	leaves(t, term, 0)
}

// What a consumer took between the look and the action is gone, and its
// neighbours stay.
func TestAlreadyGone(t *testing.T) {
	t.Parallel()
	s, term := opened(t, uitest.Options{W: 100, H: 30})
	openBackup(t, term)
	term.Press("D")
	term.WaitFor("Delete")
	s.Client.LRem(context.Background(), "queueA:backup", 1, "Hello-2")
	term.Confirm("Delete")
	term.WaitFor("gone")
	becomes(t, s, "queueA:backup", "Hello-1", "Hello-0")
	term.Press("ctrl+c")
	leaves(t, term, 0)
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	term := open(t, s, uitest.Options{W: 100, H: 30, Args: []string{"--read-only"}})
	term.WaitFor("READ-ONLY")
	term.WaitMatch(queueASeeded)
	openBackup(t, term)
	for key, does := range map[string]string{
		"r": "re-drive", "D": "delete", "X": "purge the place", "n": "enqueue", "u": "undo",
	} {
		term.Press(key)
		term.WaitFor(does + " is off: read-only")
		if strings.Contains(term.Screen(), "[ No ]") {
			t.Errorf("%s opened a dialog:\n%s", key, term.Screen())
		}
	}
	term.Press("?")
	term.WaitFor("Keys")
	term.WaitGone("is off")
	if screen := term.Screen(); strings.Contains(screen, "purge") || strings.Contains(screen, "enqueue") {
		t.Errorf("the help offers what is refused:\n%s", screen)
	}
	if ready, backup := list(t, s, "queueA"), list(t, s, "queueA:backup"); len(ready) != 4 || len(backup) != 3 {
		t.Errorf("something moved: ready %q, backup %q", ready, backup)
	}
	term.Press("ctrl+c")
	leaves(t, term, 0)
}

// A key of the wrong type under a queue's name spoils its own row only.
func TestWrongType(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	s.Client.Set(context.Background(), "notify-queue", "a string", redis.KeepTTL)
	term := open(t, s, uitest.Options{W: 120, H: 30, Args: []string{"--queue", "notify-queue,ready=notify-queue"}})
	term.WaitMatch(queueASeeded)
	term.WaitFor("notify-queue")
	if row := lineWith(t, term, "notify-queue"); strings.Contains(row, " 0 ") {
		t.Errorf("an unreadable length is shown as 0: %s", row)
	}
	term.Type("/notify")
	term.WaitGone("queueA")
	term.WaitMatch(`(?i)wrong type|another type|not a list|is a string`)
	term.Press("ctrl+c")
	leaves(t, term, 0)
}
