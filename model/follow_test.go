package model

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
)

// onBackup opens queueA's backup with n messages m0 … at a small screen.
func onBackup(t *testing.T, payloads []string) (*driver, *fake) {
	t.Helper()
	f := seeded()
	f.lists["queueA:backup"] = payloads
	d := start(t, f)
	d.press(":")
	d.typed("queueA")
	d.press("enter 2")
	if d.m.Screen != QueueScreen || d.m.Queue.Place != queue.Backup {
		t.Fatal("not on the backup tab")
	}
	return d, f
}

func TestCursorFollowsItsMessage(t *testing.T) {
	d, f := onBackup(t, numbered("m", 100))
	d.press("j j j")
	row := d.m.Queue.List().Cursor - d.m.Queue.List().Top
	for i := range 30 {
		f.lists["queueA:backup"] = append([]string{fmt.Sprint("new", i)}, f.lists["queueA:backup"]...)
		d.advance(time.Second)
		if d.selected() != "m3" {
			t.Fatalf("after %d pushes the cursor is on %s, want m3", i+1, d.selected())
		}
		if got := d.m.Queue.List().Cursor - d.m.Queue.List().Top; got != row {
			t.Fatalf("the cursor moved to line %d of the screen", got)
		}
	}
	if l := d.m.Queue.List(); l.Gone || l.Cursor != 33 {
		t.Fatalf("cursor at %d, gone %v", l.Cursor, l.Gone)
	}
}

func TestCursorFollowsThroughManyPushesAtOnce(t *testing.T) {
	d, f := onBackup(t, numbered("m", 100))
	d.press("j j j")
	f.lists["queueA:backup"] = append(numbered("new", 5000), f.lists["queueA:backup"]...)
	d.advance(time.Second)
	if d.selected() != "m3" || d.m.Queue.List().Gone {
		t.Fatalf("the cursor is on %q (gone %v), want m3", d.selected(), d.m.Queue.List().Gone)
	}
}

func TestGoneMessageIsSaidOnce(t *testing.T) {
	for _, k := range []string{"r", "D"} {
		d, f := onBackup(t, numbered("m", 10))
		d.press("j j j")
		f.lists["queueA:backup"] = slices.Delete(f.lists["queueA:backup"], 3, 4)
		d.advance(time.Second)
		if l := d.m.Queue.List(); !l.Gone || d.selected() != "m4" {
			t.Fatalf("gone %v, cursor on %s, want gone and m4", l.Gone, d.selected())
		}
		d.press(k)
		d.wantStatus("already gone")
		if d.m.Dialog != nil {
			t.Fatal("a dialog opened for a message that has gone")
		}
		d.press(k)
		if d.m.Dialog == nil {
			t.Fatal("the second press is for the neighbour")
		}
	}
}

func TestMovingOnForgetsTheGoneMessage(t *testing.T) {
	d, f := onBackup(t, numbered("m", 10))
	f.lists["queueA:backup"] = f.lists["queueA:backup"][1:]
	d.advance(time.Second)
	d.press("j r")
	if d.m.Dialog == nil {
		t.Fatalf("no dialog: %s", d.m.Status.Text)
	}
}

func TestLastMessageGone(t *testing.T) {
	d, f := onBackup(t, numbered("m", 3))
	d.press("G")
	f.lists["queueA:backup"] = []string{"m0", "m1"}
	d.advance(time.Second)
	if l := d.m.Queue.List(); !l.Gone || d.selected() != "m1" {
		t.Fatalf("gone %v on %q", l.Gone, d.selected())
	}
	f.lists["queueA:backup"] = nil
	d.advance(time.Second)
	if l := d.m.Queue.List(); l.Cursor != -1 || l.Total != 0 {
		t.Fatalf("cursor %d in an empty list", l.Cursor)
	}
	d.press("j k g G r D enter space * y ctrl+f")
	f.lists["queueA:backup"] = []string{"back"}
	d.advance(time.Second)
	if d.selected() != "back" {
		t.Fatalf("cursor on %q after a message came", d.selected())
	}
}

func TestMarksFollowTheirMessages(t *testing.T) {
	d, f := onBackup(t, numbered("m", 10))
	d.press("j space j space") // m1 and m3
	f.lists["queueA:backup"] = append([]string{"a", "b"}, f.lists["queueA:backup"]...)
	d.advance(time.Second)
	var marked []string
	for _, r := range d.m.Queue.List().Rows {
		if r.Marked {
			marked = append(marked, string(r.Message.Payload))
		}
	}
	if want := []string{"m1", "m3"}; !slices.Equal(marked, want) {
		t.Fatalf("marked %q, want %q", marked, want)
	}
	f.lists["queueA:backup"] = slices.DeleteFunc(f.lists["queueA:backup"], func(s string) bool { return s == "m1" })
	d.advance(time.Second)
	if mk := d.m.Queue.List().Marks; mk.Len() != 2 || mk.Gone() != 1 {
		t.Fatalf("%d marks, %d gone, want 2 and 1", mk.Len(), mk.Gone())
	}
	d.press("D y")
	d.wantStatus("deleted 1 of queueA:backup (u undoes), 1 already gone")
	if d.m.Queue.List().Marks.Len() != 0 {
		t.Fatal("marks are left after the action")
	}
	if slices.Contains(f.lists["queueA:backup"], "m3") {
		t.Fatal("m3 is still there")
	}
}

func TestIdenticalCopiesAreMarkedOneByOne(t *testing.T) {
	d, f := onBackup(t, []string{"dup", "x", "dup", "y", "dup"})
	d.press("j j space") // the second dup
	f.lists["queueA:backup"] = append([]string{"new"}, f.lists["queueA:backup"]...)
	d.advance(time.Second)
	for i, r := range d.m.Queue.List().Rows {
		if r.Marked != (i == 3) {
			t.Fatalf("row %d marked %v", i, r.Marked)
		}
	}
	d.press("g j *")
	if n := d.m.Queue.List().Marks.Len(); n != 6 {
		t.Fatalf("%d marks, want 6", n)
	}
	d.press("*")
	if n := d.m.Queue.List().Marks.Len(); n != 0 {
		t.Fatalf("%d marks after * on all, want none", n)
	}
}

func TestScrollingReadsOnlyPages(t *testing.T) {
	d, _ := onBackup(t, numbered("m", 5000))
	d.press("G")
	if d.selected() != "m4999" {
		t.Fatalf("G is on %q", d.selected())
	}
	if n := len(d.m.Queue.List().Rows); n > maxPage {
		t.Fatalf("%d rows are kept", n)
	}
	d.press("g")
	if d.selected() != "m0" {
		t.Fatalf("g is on %q", d.selected())
	}
	for range 100 {
		d.press("ctrl+f")
	}
	h := d.m.Layout().List.H
	if want := fmt.Sprint("m", 100*h); d.selected() != want {
		t.Fatalf("100 pages down is %q, want %q", d.selected(), want)
	}
	d.press("ctrl+b k")
	if want := fmt.Sprint("m", 99*h-1); d.selected() != want {
		t.Fatalf("back is %q, want %q", d.selected(), want)
	}
}

func TestResizingKeepsTheCursorOnScreen(t *testing.T) {
	d, _ := onBackup(t, numbered("m", 500))
	d.press("G k k")
	for _, size := range [][2]int{{80, 24}, {20, 5}, {0, 0}, {1, 1}, {250, 70}, {80, 24}, {120, 36}} {
		d.m.Width, d.m.Height = 0, 0
		d.send(windowSize(size[0], size[1]))
		l := d.m.Queue.List()
		if d.selected() != "m497" {
			t.Fatalf("at %v the cursor is on %q", size, d.selected())
		}
		if h := int64(d.m.listHeight()); l.Cursor < l.Top || l.Cursor >= l.Top+h {
			t.Fatalf("at %v the cursor %d is not in %d+%d", size, l.Cursor, l.Top, h)
		}
	}
}

// Whatever producers and consumers do between two polls: the cursor is on its
// message as long as that is there, or says that it has gone.
func TestCursorHoldsOnUnderRandomTraffic(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		d, f := onBackup(t, numbered("m", 60))
		for range rng.IntN(20) {
			d.press("j")
		}
		next := 0
		for step := range 60 {
			before := d.selected()
			for range rng.IntN(6) {
				list := f.lists["queueA:backup"]
				switch rng.IntN(4) {
				case 0, 1:
					f.lists["queueA:backup"] = append([]string{fmt.Sprint("new", next)}, list...)
					next++
				case 2:
					if len(list) > 0 {
						f.lists["queueA:backup"] = list[:len(list)-1]
					}
				case 3:
					if len(list) > 0 {
						i := rng.IntN(len(list))
						f.lists["queueA:backup"] = slices.Delete(slices.Clone(list), i, i+1)
					}
				}
			}
			d.advance(time.Second)
			there := slices.Contains(f.lists["queueA:backup"], before)
			gone := d.m.Queue.List().Gone
			switch {
			case there && d.selected() != before:
				t.Fatalf("seed %d step %d: %s is there, the cursor is on %s (gone %v)", seed, step, before, d.selected(), gone)
			case !there && !gone && before != "":
				t.Fatalf("seed %d step %d: %s has gone and nothing says so", seed, step, before)
			}
			d.m = d.m.settleGone()
		}
	}
}

func TestPlaceThatShrinksBehindTheWindow(t *testing.T) {
	d, f := onBackup(t, numbered("m", 5000))
	d.press("G")
	f.lists["queueA:backup"] = numbered("m", 3)
	d.advance(2 * time.Second)
	if l := d.m.Queue.List(); l.Total != 3 || d.selected() == "" {
		t.Fatalf("total %d, cursor on %q", l.Total, d.selected())
	}
}

func TestUnreadablePlaceDoesNotSpin(t *testing.T) {
	d, f := onBackup(t, numbered("m", 10))
	before := f.calls["Peek"]
	f.err = errDown
	d.send(keyMsg("j"))
	d.run(func() tea.Msg { return pollDueMsg{d.m.poll.timer} })
	d.advance(500 * time.Millisecond)
	if n := f.calls["Peek"] - before; n > 3 {
		t.Fatalf("%d reads of a place that cannot be read", n)
	}
	if d.m.Queue.List().Total != 10 {
		t.Fatal("an error clears the rows")
	}
}
