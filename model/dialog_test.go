package model

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
	"redq/queue/journal"
)

// onOrders opens a place of orders.
func onOrders(t *testing.T, tab string) (*driver, *fake) {
	t.Helper()
	f := seeded()
	d := start(t, f)
	d.press(":")
	d.typed("orders")
	d.press("enter " + tab)
	return d, f
}

func TestDialogSaysWhereWhatAndHowMany(t *testing.T) {
	d, _ := onBackup(t, numbered("m", 5))
	d.press("space space r")
	g, ok := d.m.Dialog.(RepairDialog)
	if !ok {
		t.Fatalf("dialog %T", d.m.Dialog)
	}
	if g.Title != "Re-drive 2 marked messages" || g.Server != "fake:1/0" || g.Focus != FocusNo ||
		!slices.Equal(g.Keys, []string{"queueA:backup", "queueA"}) || len(g.Messages()) != 2 {
		t.Fatalf("dialog %+v", g)
	}
}

func TestDialogStartsOnNo(t *testing.T) {
	for _, k := range []string{"r", "D"} {
		d, f := onBackup(t, numbered("m", 5))
		d.press(k + " enter")
		if d.m.Dialog != nil || f.calls["redrive"]+f.calls["delete"] != 0 {
			t.Errorf("enter after %s does something", k)
		}
		for _, no := range []string{"n", "esc", "q"} {
			d.press(k + " " + no)
			if d.m.Dialog != nil || f.calls["redrive"]+f.calls["delete"] != 0 {
				t.Errorf("%s %s does something", k, no)
			}
		}
		d.press(k + " tab enter")
		if f.calls["redrive"]+f.calls["delete"] != 1 {
			t.Errorf("%s tab enter does nothing", k)
		}
	}
}

func TestDialogIgnoresWhatWasTypedBefore(t *testing.T) {
	d, f := onBackup(t, numbered("m", 5))
	for _, early := range []string{"y", "enter"} {
		d.send(keyMsg("D"))
		d.send(keyMsg(early))
		if d.m.Dialog == nil || f.calls["delete"] != 0 {
			t.Fatalf("an early %s was taken", early)
		}
		if !strings.Contains(d.m.Dialog.Head().Note, "before") {
			t.Fatalf("note %q", d.m.Dialog.Head().Note)
		}
		d.press("esc")
	}
	d.press("D")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("yy")})
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("y"), Paste: true})
	d.advance(time.Second)
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("y"), Paste: true})
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("yy")})
	if f.calls["delete"] != 0 {
		t.Fatal("a paste was taken for an answer")
	}
	d.press("y")
	if f.calls["delete"] != 1 {
		t.Fatal("y does nothing")
	}
}

func TestNothingIsAskedTwice(t *testing.T) {
	d, f := onBackup(t, numbered("m", 5))
	d.press("D")
	d.advance(time.Second)
	d.hold = true
	d.send(keyMsg("y"))
	for _, k := range []string{"y", "enter", "n", "esc", "r", "D"} {
		d.send(keyMsg(k))
	}
	if !d.m.Dialog.Head().Busy || d.m.Dialog.Head().Note == "" {
		t.Fatal("the dialog does not wait")
	}
	d.release()
	if f.calls["delete"] != 1 || d.m.Dialog != nil {
		t.Fatalf("%d deletes, dialog %T", f.calls["delete"], d.m.Dialog)
	}
}

// Leaving in the middle of a write would leave its outcome unknown.
func TestInterruptWaitsForTheAnswer(t *testing.T) {
	for outcome, says := range map[queue.Outcome]string{"": "", queue.Unknown: "outcome unknown"} {
		d, f := onBackup(t, numbered("m", 5))
		f.outcome = outcome
		d.press("D")
		d.advance(time.Second)
		d.hold = true
		d.send(keyMsg("y"))
		d.send(keyMsg("ctrl+c"))
		if d.m.Dialog == nil || !d.m.Dialog.Head().Leaving || f.calls["delete"] != 0 {
			t.Fatal("the program does not wait for the answer")
		}
		d.release()
		if !d.quit || f.calls["delete"] != 1 {
			t.Fatalf("quit %v after %d deletes", d.quit, f.calls["delete"])
		}
		if got := fmt.Sprint(d.m.Fatal); says == "" && d.m.Fatal != nil || !strings.Contains(got, says) {
			t.Errorf("%q: says %q, want %q", outcome, got, says)
		}
	}
	d, _ := onBackup(t, numbered("m", 5))
	d.press("D")
	d.advance(time.Second)
	d.hold = true
	d.send(keyMsg("y"))
	d.send(keyMsg("ctrl+c"))
	d.held = nil // the answer never comes
	d.hold = false
	d.send(keyMsg("ctrl+c"))
	if !d.quit {
		t.Error("a second ctrl+c does not leave")
	}
}

func TestDialogSetIsFixedWhenItOpens(t *testing.T) {
	d, f := onBackup(t, numbered("m", 5))
	d.press("* D")
	f.lists["queueA:backup"] = append([]string{"newer"}, f.lists["queueA:backup"]...)
	d.advance(5 * time.Second)
	d.press("y")
	if got := f.lists["queueA:backup"]; !slices.Equal(got, []string{"newer"}) {
		t.Fatalf("left %q, want the newer one only", got)
	}
}

func TestRedriveToTheFront(t *testing.T) {
	d, f := onBackup(t, []string{"first"})
	d.press("r f y")
	d.wantStatus("re-driven 1 to queueA, front (u undoes)")
	if got := f.lists["queueA"]; got[len(got)-1] != "first" {
		t.Fatalf("ready is %q, want first where it is popped next", got)
	}
	d, f = onBackup(t, []string{"first"})
	d.press("r shift+tab space tab tab enter")
	if got := f.lists["queueA"]; got[len(got)-1] != "first" {
		t.Fatalf("ready is %q", got)
	}
}

// A queue that is consumed from its sorted set has no ready list, and no front.
func TestRedriveWithoutReadySaysDueNow(t *testing.T) {
	f := seeded()
	f.queues = append(f.queues, queue.Queue{Name: "jobs", Delayed: "jobs", Dead: "jobs:dead"})
	f.lists["jobs:dead"] = []string{"given up"}
	d := start(t, f)
	d.commanded("jobs")
	d.press("4 r")
	dialog, ok := d.m.Dialog.(RepairDialog)
	if !ok || dialog.Target() != (Target{ToDelayed, "jobs"}) {
		t.Fatalf("status %q, dialog %+v", d.m.Status.Text, d.m.Dialog)
	}
	d.press("f")
	if d.m.Dialog.(RepairDialog).Front {
		t.Error("a sorted set has no front")
	}
}

func TestMessageTakenWhileTheDialogIsOpen(t *testing.T) {
	d, f := onBackup(t, numbered("m", 5))
	d.press("D")
	f.lists["queueA:backup"] = f.lists["queueA:backup"][1:]
	d.press("y")
	d.wantStatus("already gone")
	if len(f.lists["queueA:backup"]) != 4 {
		t.Fatal("another message was taken")
	}
}

func TestUnknownAndRefusedOutcomes(t *testing.T) {
	d, f := onBackup(t, numbered("m", 5))
	f.outcome, f.note = queue.Unknown, "the message is still in queueA:backup"
	d.press("r y")
	d.wantStatus("outcome unknown: the message is still in queueA:backup")
	if d.m.Status.Kind != StatusError || len(d.rows()) != 5 {
		t.Fatalf("kind %d, %d rows", d.m.Status.Kind, len(d.rows()))
	}
	f.outcome, f.note = queue.Refused, "out of memory"
	d.press("D y")
	d.wantStatus("1 refused: ")
	d.wantStatus("out of memory")
}

func TestStatusLivesUntilTheNextKey(t *testing.T) {
	d, _ := onBackup(t, numbered("m", 5))
	d.press("r y")
	d.advance(10 * time.Second)
	d.wantStatus("re-driven")
	d.press("j")
	if d.m.Status.Text != "" {
		t.Fatalf("status %q outlives the next key", d.m.Status.Text)
	}
}

func TestEnqueueNow(t *testing.T) {
	d, f := onBackup(t, nil)
	d.press("n")
	d.typed("{\"a\":1}")
	d.press("enter enter y")
	d.wantStatus("enqueued 1 to queueA")
	if got := f.lists["queueA"][0]; got != `{"a":1}` {
		t.Fatalf("enqueued %q", got)
	}
}

func TestEnqueueKeepsTheExactText(t *testing.T) {
	d, f := onBackup(t, nil)
	d.press("n")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("a\tb\r\n  \"y\"\r张三"), Paste: true})
	d.press("ctrl+j")
	d.typed("end")
	d.press("enter enter enter")
	if got, want := f.lists["queueA"][0], "a\tb\n  \"y\"\n张三\nend"; got != want {
		t.Fatalf("enqueued %q, want %q", got, want)
	}
}

func TestEnqueueDelayed(t *testing.T) {
	for when, want := range map[string]queue.EnqueueOptions{
		"5m":                   {Delay: true, In: 5 * time.Minute},
		"in 1h30m":             {Delay: true, In: 90 * time.Minute},
		"2026-03-01T13:00:00Z": {Delay: true, At: epoch.Add(time.Hour)},
		"now":                  {},
	} {
		d, f := onOrders(t, "3")
		d.press("n")
		d.typed("x")
		d.press("enter")
		d.typed(when)
		g := d.m.Dialog.(EnqueueDialog)
		if when != "now" && (g.Preview.Due.IsZero() || g.Preview.Score == "") {
			t.Errorf("%q: no preview: %+v", when, g.Preview)
		}
		d.press("enter enter")
		if len(f.enqueued) != 1 || !f.enqueued[0].At.Equal(want.At) || f.enqueued[0].In != want.In || f.enqueued[0].Delay != want.Delay {
			t.Errorf("%q: options %+v, want %+v (%s)", when, f.enqueued, want, d.m.Status.Text)
		}
	}
}

func TestEnqueueChoices(t *testing.T) {
	d, f := onBackup(t, nil)
	d.press("n")
	d.typed("x")
	d.press("tab tab space tab space tab tab enter")
	if len(f.enqueued) != 1 || !f.enqueued[0].Front || !f.enqueued[0].Wrap {
		t.Fatalf("options %+v", f.enqueued)
	}
}

func TestEnqueueRefusesHalfForms(t *testing.T) {
	d, f := onBackup(t, nil)
	d.press("n tab tab tab tab tab enter")
	if f.calls["Enqueue"] != 0 || !strings.Contains(d.m.Dialog.Head().Note, "payload") {
		t.Fatalf("%d enqueues, note %q", f.calls["Enqueue"], d.m.Dialog.Head().Note)
	}
	d.typed("x")
	d.press("enter")
	d.typed("soon")
	if g := d.m.Dialog.(EnqueueDialog); !strings.Contains(g.Preview.Err, "expected") {
		t.Fatalf("preview %+v", g.Preview)
	}
	d.press("enter shift+tab shift+tab y")
	if f.calls["Enqueue"] != 0 {
		t.Fatal("enqueued with a bad time")
	}
	d.press("esc esc")
	if d.m.Dialog != nil {
		t.Fatal("esc does not close the form")
	}
}

func TestEqualBytesDelayedAlready(t *testing.T) {
	open := func(choice string) (*driver, *fake) {
		d, f := onOrders(t, "3")
		d.press("n")
		d.typed("later")
		d.press("enter")
		d.typed("5m")
		d.press("enter enter")
		g, ok := d.m.Dialog.(EnqueueDialog)
		if !ok || g.Already == nil || g.Busy {
			t.Fatalf("dialog %+v", d.m.Dialog)
		}
		d.send(keyMsg("r"))
		if f.calls["reschedule"] != 0 {
			t.Fatal("a key typed before the question was taken")
		}
		d.press(choice)
		return d, f
	}
	d, f := open("r")
	d.wantStatus("rescheduled 1")
	if n := len(f.zsets["orders:delayed"]); n != 3 || d.m.Dialog != nil {
		t.Fatalf("%d delayed", n)
	}
	d, f = open("w")
	d.wantStatus("enqueued 1 to orders:delayed")
	if n := len(f.zsets["orders:delayed"]); n != 4 {
		t.Fatalf("%d delayed", n)
	}
	d, f = open("n")
	if d.m.Dialog == nil || len(f.zsets["orders:delayed"]) != 3 {
		t.Fatal("n must go back to the form and change nothing")
	}
}

func TestFailedEnqueueKeepsTheForm(t *testing.T) {
	d, f := onBackup(t, nil)
	d.press("n")
	d.typed("precious")
	f.err = &queue.RefusedError{Code: "OOM", Text: "out of memory"}
	d.press("enter enter y")
	g, ok := d.m.Dialog.(EnqueueDialog)
	if !ok || g.Busy || g.Payload.Text() != "precious" || g.Note == "" {
		t.Fatalf("dialog %+v", d.m.Dialog)
	}
	f.err = queue.ErrUnknownOutcome
	d.press("y")
	if d.m.Dialog != nil {
		t.Fatal("a form whose outcome is unknown invites to send it twice")
	}
	d.wantStatus("outcome unknown")
}

func TestReschedule(t *testing.T) {
	d, f := onOrders(t, "3")
	d.press("j t")
	d.typed("bad")
	d.press("enter")
	if d.m.Dialog.Head().Note == "" {
		t.Fatal("a bad time is taken")
	}
	d.press("ctrl+u")
	d.typed("10m")
	g := d.m.Dialog.(RepairDialog)
	if want := queue.Milliseconds.Score(d.m.ServerNow().Add(10 * time.Minute)); g.Preview.Score != want {
		t.Fatalf("preview %q, want %q", g.Preview.Score, want)
	}
	d.press("enter y")
	d.wantStatus("rescheduled 1 to 2026-03-01 12:1")
	i := slices.IndexFunc(f.zsets["orders:delayed"], func(z member) bool { return z.payload == "late" })
	if at, _ := queue.Milliseconds.Time(f.zsets["orders:delayed"][i].score); at.Before(epoch.Add(10 * time.Minute)) {
		t.Fatalf("late is due %s", at)
	}
}

func TestPurgeWantsTheName(t *testing.T) {
	d, f := onBackup(t, numbered("m", 5))
	d.press("X")
	g := d.m.Dialog.(PurgeDialog)
	if g.Count.N != 5 || !slices.Equal(g.Keys, []string{"queueA:backup"}) {
		t.Fatalf("dialog %+v", g)
	}
	d.press("enter y enter")
	if f.calls["StartJob"] != 0 || d.m.Dialog == nil {
		t.Fatal("purged without the name")
	}
	d.press("ctrl+u")
	d.typed("queueA")
	d.press("tab tab y")
	d.wantStatus("purged 5 of backup (u undoes)")
	if len(f.lists["queueA:backup"]) != 0 || len(f.lists["queueA"]) == 0 {
		t.Fatal("the wrong place was purged")
	}
	d.press("X")
	d.wantStatus("no message in backup")
}

func TestUndo(t *testing.T) {
	f := seeded()
	f.undo = []journal.Summary{
		{ID: "5", Op: queue.OpDelete, Server: "fake:1/0", Queue: "queueA", Keys: []string{"queueA"}, Total: 1, Undoable: 0},
		{ID: "4", Op: queue.OpDelete, Server: "other:1/0", Queue: "queueA", Keys: []string{"queueA"}, Total: 1, Undoable: 1},
		{ID: "3", Op: queue.OpRedrive, Server: "fake:1/0", Queue: "queueA", Keys: []string{"queueA:backup"}, Total: 2, Undoable: 2},
		{ID: "2", Op: queue.OpPurge, Server: "fake:1/0", Queue: "queueA", Total: 7, Undoable: 3},
	}
	d := start(t, f)
	d.press("u")
	g := d.m.Dialog.(UndoDialog)
	if g.Cursor != 2 || g.Loading || len(g.Entries) != 4 || g.Entries[2].What != "re-driven 2 of queueA:backup" {
		t.Fatalf("dialog %+v", g)
	}
	d.press("k y")
	if f.calls["Undo"] != 0 || !strings.Contains(d.m.Dialog.Head().Note, "other:1/0") {
		t.Fatalf("an entry of another server: note %q", d.m.Dialog.Head().Note)
	}
	d.press("k y")
	if f.calls["Undo"] != 0 || d.m.Dialog.Head().Note == "" {
		t.Fatal("an undone entry is undone again")
	}
	d.press("j j y")
	d.wantStatus("brought back 1 to queueA:backup")
	f.outcome = queue.Gone
	d.press("u y")
	d.wantStatus("already back")
	f.err = errDown
	d.press("u")
	if g := d.m.Dialog.(UndoDialog); g.Err == "" || g.Loading {
		t.Fatalf("dialog %+v", g)
	}
	d.press("y")
	if f.calls["Undo"] != 2 {
		t.Fatalf("%d undos", f.calls["Undo"])
	}
}

func TestUndoWithAnEmptyJournal(t *testing.T) {
	d := start(t, seeded())
	d.press("u y")
	if d.m.Dialog != nil {
		t.Fatal("the empty list stays open")
	}
}

func TestDialogKeysThatMeanNothing(t *testing.T) {
	for _, open := range []string{"r", "D", "u"} {
		d, _ := onBackup(t, numbered("m", 5))
		d.press(open + " x")
		if note := d.m.Dialog.Head().Note; !strings.Contains(note, "y ") {
			t.Errorf("%s x: note %q", open, note)
		}
	}
}

func TestCtrlCQuitsFromEverywhere(t *testing.T) {
	for _, keys := range []string{"", "r", "/", ":", "?", "n"} {
		d, _ := onBackup(t, numbered("m", 5))
		d.press(keys + " ctrl+c")
		if !d.quit {
			t.Errorf("ctrl+c after %q does not quit", keys)
		}
	}
}

// A page that was read before a write must not bring back what the write took.
func TestPageReadBeforeAWriteIsDropped(t *testing.T) {
	d, _ := onBackup(t, numbered("m", 5))
	old := readyRows(d.m.Queue.Queue, queue.Page{Place: queue.Backup, Total: 5, Messages: d.f.messages(d.m.Queue.Queue, queue.Backup)}, d.f.Age)
	gen := d.m.paging.gen
	d.m.paging.running = true
	d.press("D")
	d.advance(time.Second)
	d.send(keyMsg("y"))
	d.send(pagePeekedMsg{gen: gen, queue: "queueA", place: queue.Backup, page: old})
	if got := d.rows(); len(got) != 4 || got[0] != "m1" {
		t.Fatalf("rows %q", got)
	}
}

func TestFormTypedFasterThanTheGuard(t *testing.T) {
	d, f := onBackup(t, nil)
	d.send(keyMsg("n"))
	d.typed("quick")
	d.send(keyMsg("enter"))
	d.send(keyMsg("enter"))
	d.send(keyMsg("enter"))
	if g := d.m.Dialog.(EnqueueDialog); f.calls["Enqueue"] != 0 || g.Focus != FocusYes {
		t.Fatalf("%d enqueues, focus %d: enter goes on, but is no answer yet", f.calls["Enqueue"], g.Focus)
	}
	d.press("enter")
	if f.calls["Enqueue"] != 1 {
		t.Fatal("enter on the button does nothing")
	}
}
