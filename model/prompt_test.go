package model

import (
	"slices"
	"strings"
	"testing"
	"time"

	"redq/queue"
)

// commanded types a command on the overview.
func (d *driver) commanded(line string) {
	d.press(":")
	d.typed(line)
	d.press("enter")
}

func TestCommands(t *testing.T) {
	for line, ok := range map[string]func(*driver) bool{
		"q":            func(d *driver) bool { return d.quit },
		"quit":         func(d *driver) bool { return d.quit },
		"help":         func(d *driver) bool { return d.m.HelpOpen },
		"sort dead":    func(d *driver) bool { return d.m.Overview.Sort == ColumnDead },
		"filter queue": func(d *driver) bool { return len(d.m.Overview.Shown) == 2 },
		"refresh 2s":   func(d *driver) bool { return d.m.Refresh == 2*time.Second },
		"trouble":      func(d *driver) bool { return d.m.Overview.TroubleOnly },
		"freeze":       func(d *driver) bool { return d.m.Frozen },
		"undo":         func(d *driver) bool { _, open := d.m.Dialog.(UndoDialog); return open },
		"readonly":     func(d *driver) bool { return strings.Contains(d.m.Status.Text, "read-only") },
		"queueA":       func(d *driver) bool { return d.m.Queue.Name == "queueA" && d.m.Screen == QueueScreen },
		"QUEUEA":       func(d *driver) bool { return d.m.Queue.Name == "queueA" },
		"notify":       func(d *driver) bool { return d.m.Queue.Name == "notify-queue" },
		"tify":         func(d *driver) bool { return d.m.Queue.Name == "notify-queue" },
		"unit s":       func(d *driver) bool { r, _ := d.m.Row("orders"); return r.Queue.Unit == queue.Seconds },
		"unit queueA us": func(d *driver) bool {
			r, _ := d.m.Row("queueA")
			return r.Queue.Unit == queue.Microseconds
		},
		"push right": func(d *driver) bool { r, _ := d.m.Row("orders"); return r.Queue.Push == queue.Right },
		"stuck 30s":  func(d *driver) bool { r, _ := d.m.Row("orders"); return r.Queue.Stuck() == 30*time.Second },
		"":           func(d *driver) bool { return d.m.Screen == OverviewScreen },
	} {
		d := start(t, seeded())
		d.commanded(line)
		if !ok(d) || d.m.Prompt.Kind != NoPrompt {
			t.Errorf(":%s: status %q, prompt %+v", line, d.m.Status.Text, d.m.Prompt)
		}
	}
}

func TestGoToAPosition(t *testing.T) {
	d, _ := onBackup(t, numbered("m", 5000))
	d.commanded("goto 2,500")
	if d.selected() != "m2500" || d.m.Status.Text != "at 2,500 of 5,000" {
		t.Errorf("on %q, status %q", d.selected(), d.m.Status.Text)
	}
	d.commanded("goto 9999999")
	if d.selected() != "m4999" {
		t.Errorf("past the end: on %q", d.selected())
	}
	l := d.m.Queue.List()
	l.Total = 10_000_000
	d.m.Queue = d.m.Queue.with(l)
	m, _ := d.m.goTo(5_000_000)
	if want := "at 5,000,000 of 10,000,000: each page here makes the server pass 4,999,999 messages, about 0.83 ms"; m.Status.Text != want {
		t.Errorf("status %q, want %q", m.Status.Text, want)
	}
}

func TestBadCommandsSayWhatWasExpected(t *testing.T) {
	for line, want := range map[string]string{
		"nonsense":          "expected a queue's name or one of q, quit",
		"sort":              "expected one of health",
		"goto 5":            "expected a position from 0 on a queue's page",
		"sort up":           "expected one of health",
		"refresh":           "expected a duration",
		"refresh 1ms":       "at least 250ms",
		"unit":              "expected s, float, ms or us",
		"unit queueA weeks": "expected s, float, ms or us",
		"unit nobody ms":    "neither a queue",
		"push up":           "expected left or right",
		"stuck -1s":         "expected a duration",
		"filter /(/":        "missing closing )",
		"u":                 "queues have u in their name",
	} {
		d := start(t, seeded())
		d.commanded(line)
		if p := d.m.Prompt; p.Kind != CommandPrompt || !strings.Contains(p.Err, want) {
			t.Errorf(":%s: %q, want %q", line, p.Err, want)
		}
	}
}

func TestCorrectionsOutliveDiscovery(t *testing.T) {
	f := seeded()
	f.queues[1].Guessed = queue.GuessedUnit | queue.GuessedPush
	d := start(t, f)
	d.commanded("orders")
	d.commanded("unit s")
	d.commanded("stuck 5s")
	d.advance(30 * time.Second)
	if f.calls["Rediscover"] == 0 {
		t.Fatal("the test is void: nothing was discovered again")
	}
	for _, q := range []queue.Queue{d.m.Queue.Queue, d.m.Overview.Rows[1].Queue} {
		if q.Unit != queue.Seconds || q.StuckAfter != 5*time.Second || q.Guessed != queue.GuessedPush {
			t.Fatalf("after a new scan the queue is %+v", q)
		}
	}
}

func TestCompletion(t *testing.T) {
	d := start(t, seeded())
	d.press(":")
	d.typed("q")
	if want := []string{"q", "quit", "queueA"}; !slices.Equal(d.m.Prompt.Completions, want) {
		t.Fatalf("completions of q are %q", d.m.Prompt.Completions)
	}
	d.press("tab tab")
	if got := d.m.Prompt.Field.Text(); got != "quit" {
		t.Fatalf("two tabs make %q", got)
	}
	d.press("tab shift+tab shift+tab shift+tab")
	if got := d.m.Prompt.Field.Text(); got != "queueA" {
		t.Fatalf("round backwards makes %q", got)
	}
	d.press("enter")
	if d.m.Queue.Name != "queueA" {
		t.Fatal("a completed name does not open its queue")
	}
	d.press(":")
	d.typed("sort de")
	if want := []string{"sort delayed", "sort dead"}; !slices.Equal(d.m.Prompt.Completions, want) {
		t.Fatalf("completions of an argument are %q", d.m.Prompt.Completions)
	}
}

func TestBackspaceOnAnEmptyPromptClosesIt(t *testing.T) {
	d := start(t, seeded())
	d.press(":")
	d.typed("a")
	d.press("backspace")
	if d.m.Prompt.Kind != CommandPrompt {
		t.Fatal("closed too soon")
	}
	d.press("backspace")
	if d.m.Prompt.Kind != NoPrompt {
		t.Fatal("still open")
	}
}

func TestSearchStreamsMatches(t *testing.T) {
	payloads := numbered("m", 95)
	payloads[3], payloads[50], payloads[94] = "Needle-a", "needle-b", "NEEDLE-c"
	d, _ := onBackup(t, payloads)
	d.press("/")
	d.typed("needle")
	d.hold = true
	d.send(keyMsg("enter"))
	if s := d.m.Queue.List().Search; !s.Running || s.Of != 95 {
		t.Fatalf("search %+v", s)
	}
	step := func() { // runs one step of the search
		held := d.held
		d.held = nil
		for _, c := range held {
			d.send(c())
		}
	}
	step()
	if l := d.m.Queue.List(); l.Total != 1 || l.Search.Searched != 10 || !l.Search.Running {
		t.Fatalf("after a step: %d matches, %d searched", l.Total, l.Search.Searched)
	}
	for range 9 {
		step()
	}
	d.hold = false
	l := d.m.Queue.List()
	if want := []string{"Needle-a", "needle-b", "NEEDLE-c"}; !slices.Equal(d.rows(), want) || l.Search.Running || l.Search.Searched != 95 {
		t.Fatalf("found %q, search %+v", d.rows(), l.Search)
	}
	d.press("*")
	d.wantStatus("marked all 3 that match")
	d.press("esc")
	if l := d.m.Queue.List(); l.Search.Text != "" || l.Total != 95 || d.m.Screen != QueueScreen {
		t.Fatalf("esc leaves filter %q, %d rows", l.Search.Text, l.Total)
	}
}

func TestSearchIsCancelled(t *testing.T) {
	d, f := onBackup(t, numbered("m", 95))
	d.press("/")
	d.typed("m9")
	d.hold = true
	d.send(keyMsg("enter"))
	d.send(keyMsg("esc"))
	d.release()
	if l := d.m.Queue.List(); l.Search.Text != "" || l.Total != 95 {
		t.Fatalf("a cancelled search shows %d rows of filter %q", l.Total, l.Search.Text)
	}
	if n := f.calls["Search"]; n > 1 {
		t.Fatalf("a cancelled search goes on for %d steps", n)
	}
}

func TestSearchIsRepeatedWhenThePlaceChanges(t *testing.T) {
	d, f := onBackup(t, numbered("m", 30))
	d.press("/")
	d.typed("m2")
	d.press("enter j")
	if n := d.m.Queue.List().Total; n != 11 {
		t.Fatalf("%d matches", n)
	}
	selected := d.selected()
	before := f.calls["Search"]
	d.advance(3 * time.Second)
	if f.calls["Search"] != before {
		t.Fatal("searched again though nothing changed")
	}
	f.lists["queueA:backup"] = append([]string{"m2-new"}, f.lists["queueA:backup"]...)
	d.advance(time.Second)
	if n := d.m.Queue.List().Total; n != 12 || d.selected() != selected {
		t.Fatalf("%d matches, cursor on %s, want %s", n, d.selected(), selected)
	}
}

func TestActionsOnMatches(t *testing.T) {
	d, f := onBackup(t, []string{"a1", "b1", "a2", "b2"})
	d.press("/")
	d.typed("a")
	d.press("enter * r y")
	d.wantStatus("re-driven 2 to queueA")
	if got := f.lists["queueA:backup"]; !slices.Equal(got, []string{"b1", "b2"}) {
		t.Fatalf("left %q", got)
	}
	if n := d.m.Queue.List().Total; n != 0 {
		t.Fatalf("%d matches are still shown", n)
	}
	d.press("X")
	d.wantStatus("clear the filter first")
}

func TestSearchErrorIsShown(t *testing.T) {
	d, f := onBackup(t, numbered("m", 30))
	d.press("/")
	d.typed("m")
	f.err = errDown
	d.press("enter")
	if s := d.m.Queue.List().Search; s.Running || s.Err == "" {
		t.Fatalf("search %+v", s)
	}
}

func TestFilterSurvivesLeavingTheQueue(t *testing.T) {
	d, _ := onBackup(t, numbered("m", 30))
	d.press("/")
	d.typed("m2")
	d.press("enter q")
	d.commanded("orders")
	d.press("q")
	d.commanded("queueA")
	if l := d.m.Queue.List(); l.Search.Text != "m2" || l.Total != 11 || d.m.Queue.Place != queue.Backup {
		t.Fatalf("back on %s with filter %q and %d rows", d.m.Queue.Place, l.Search.Text, l.Total)
	}
}

func TestFilterTakesMarksAwayAndSaysSo(t *testing.T) {
	d, _ := onBackup(t, numbered("m", 30))
	d.press("space space /")
	d.typed("m2")
	d.press("enter")
	d.wantStatus("2 marks taken away")
	if n := d.m.Queue.List().Marks.Len(); n != 0 {
		t.Fatalf("%d marks", n)
	}
}

func TestSearchGoesOnAfterAnOutage(t *testing.T) {
	d, f := onBackup(t, numbered("m", 30))
	d.press("/")
	d.typed("m2")
	f.err = errDown
	d.press("enter")
	f.err = nil
	d.advance(15 * time.Second)
	if l := d.m.Queue.List(); l.Search.Err != "" || l.Total != 11 {
		t.Fatalf("search %+v with %d matches", l.Search, l.Total)
	}
}
