package model

import (
	"fmt"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
	"redq/queue/demo/scene"
)

// Every rectangle lies on the screen, and no two that are drawn side by side overlap.
func TestLayoutFitsAllSizes(t *testing.T) {
	for _, s := range allScreens {
		for _, place := range []queue.Place{queue.Ready, queue.Delayed} {
			for w := range 260 {
				for h := range 75 {
					m := Model{Width: w, Height: h, Screen: s}
					m.Queue.Place = place
					if s == ConsumerScreen { // none, or several
						m.Consumer.Consumers = make([]OwnConsumer, h%3*3)
					}
					if h%2 == 0 {
						m.Banner.Scene = "crash"
					}
					checkLayout(t, m)
				}
			}
		}
	}
}

func checkLayout(t *testing.T, m Model) {
	t.Helper()
	l := m.Layout()
	if small := m.Width < MinWidth || m.Height < MinHeight; l.TooSmall != small {
		t.Fatalf("%dx%d: too small is %v", m.Width, m.Height, l.TooSmall)
	}
	rects := []Rect{l.Header, l.Bar, l.Footer, l.TableHead, l.Table, l.DistPanel, l.ChartPanel, l.ListHead, l.List, l.Preview, l.Facts, l.Doc,
		l.Banner, l.ConsumersHead, l.Consumers, l.CountersPanel, l.RatePanel, l.HandPanel, l.LogHead, l.Log}
	area := 0
	for i, r := range rects {
		if r.Empty() {
			continue
		}
		area += r.W * r.H
		if r.X < 0 || r.Y < 0 || r.X+r.W > m.Width || r.Y+r.H > m.Height {
			t.Fatalf("%dx%d screen %d: rectangle %d leaves the screen: %+v", m.Width, m.Height, m.Screen, i, r)
		}
		for j, o := range rects[:i] {
			if !o.Empty() && r.X < o.X+o.W && o.X < r.X+r.W && r.Y < o.Y+o.H && o.Y < r.Y+r.H {
				t.Fatalf("%dx%d screen %d: %d %+v overlaps %d %+v", m.Width, m.Height, m.Screen, i, r, j, o)
			}
		}
	}
	area += 2 * docMargin * l.Doc.H
	if !l.TooSmall && area != m.Width*m.Height {
		t.Fatalf("%dx%d screen %d: %d of %d cells are covered", m.Width, m.Height, m.Screen, area, m.Width*m.Height)
	}
	if !l.TooSmall && m.Screen == ConsumerScreen && l.Log.H < 3 {
		t.Fatalf("%dx%d: a log of %d lines", m.Width, m.Height, l.Log.H)
	}
	if !l.TooSmall && m.Screen == QueueScreen && l.List.H < 4 {
		t.Fatalf("%dx%d: a list of %d lines", m.Width, m.Height, l.List.H)
	}
}

func TestColumnsFit(t *testing.T) {
	for w := MinWidth; w < 260; w++ {
		end := 0
		for _, c := range Columns(w) {
			if c.X < end || c.W < 1 || c.X+c.W > w {
				t.Fatalf("width %d: column %s at %d+%d after %d", w, c.Title, c.X, c.W, end)
			}
			if c.Column == ColumnName && c.W < 12 {
				t.Fatalf("width %d leaves %d for the name", w, c.W)
			}
			end = c.X + c.W
		}
	}
}

func TestDialogsLieOnTheScreen(t *testing.T) {
	for _, d := range []Dialog{RepairDialog{Op: queue.OpRedrive}, RepairDialog{Op: queue.OpDelete}, RepairDialog{Op: queue.OpReschedule},
		ReviewDialog{}, JobsDialog{}, ExportDialog{}, PurgeDialog{}, EnqueueDialog{}, UndoDialog{},
		ConsumerDialog{}, AbandonDialog{}, LeaveDialog{}, SceneDialog{Scenes: make([]scene.Scene, 5)}} {
		for _, size := range [][2]int{{80, 24}, {120, 36}, {250, 70}} {
			m := Model{Width: size[0], Height: size[1], Dialog: d, HelpOpen: true}
			l := m.Layout()
			for _, r := range []Rect{l.Dialog, l.Help} {
				if r.X < 0 || r.Y < headerHeight || r.W < 40 || r.X+r.W > size[0] || r.Y+r.H >= size[1] {
					t.Errorf("%T at %v: %+v", d, size, r)
				}
			}
		}
	}
}

func TestCounts(t *testing.T) {
	for _, c := range []struct {
		count queue.Count
		want  string
	}{
		{queue.Count{N: 1234567, State: queue.Known}, "1,234,567"},
		{queue.Count{N: 0, State: queue.Known}, "0"},
		{queue.Count{N: 3, State: queue.AtLeast}, "≥3"},
		{queue.Count{N: 3, State: queue.Unreadable}, "?"},
		{queue.Count{}, "–"},
	} {
		if got := CountText(c.count); got != c.want {
			t.Errorf("%+v is %q, want %q", c.count, got, c.want)
		}
	}
	if got := Thousands(-1234); got != "-1,234" {
		t.Errorf("-1234 is %q", got)
	}
}

func click(x, y int) tea.MouseMsg {
	return tea.MouseMsg{X: x, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress}
}

func TestMouse(t *testing.T) {
	d, _ := onBackup(t, numbered("m", 50))
	l := d.m.Layout()
	d.send(click(l.List.X+5, l.List.Y+3))
	if d.selected() != "m3" {
		t.Fatalf("a click selects %q, want m3", d.selected())
	}
	d.send(tea.MouseMsg{Button: tea.MouseButtonWheelDown})
	if d.selected() != fmt.Sprint("m", 3+wheelRows) {
		t.Fatalf("the wheel goes to %q", d.selected())
	}
	d.send(tea.MouseMsg{Button: tea.MouseButtonWheelUp})
	for _, c := range d.m.TabCells() {
		d.send(click(c.Rect.X, c.Rect.Y))
		if d.m.Queue.Place != c.Place {
			t.Fatalf("a click on %q goes to %s", c.Label, d.m.Queue.Place)
		}
	}
	d.press("q")
	head := d.m.Layout().TableHead
	for _, c := range Columns(head.W) {
		d.send(click(c.X+c.W-1, head.Y))
		if c.Column < columnCount && d.m.Overview.Sort != c.Column {
			t.Fatalf("a click on %s sorts by %s", c.Title, d.m.Overview.Sort)
		}
	}
	table := d.m.Layout().Table
	d.send(click(4, table.Y+2))
	if d.m.Overview.Cursor != 2 {
		t.Fatalf("a click selects %d", d.m.Overview.Cursor)
	}
	d.send(click(4, table.Y+3)) // below the last queue
	if d.m.Overview.Cursor != 2 {
		t.Fatal("a click on nothing moves the cursor")
	}
}

func TestMouseCanBeOff(t *testing.T) {
	d := start(t, seeded(), func(c *Config) { c.Mouse = false })
	d.send(click(4, d.m.Layout().Table.Y+1))
	if d.m.Overview.Cursor != 0 {
		t.Fatal("the mouse is not off")
	}
}

func TestMouseDoesNotReachThroughADialog(t *testing.T) {
	d, _ := onBackup(t, numbered("m", 50))
	d.press("D")
	for y := range 36 {
		d.send(click(40, y))
	}
	if d.m.Dialog == nil || d.selected() != "m0" {
		t.Fatal("a click reached the page")
	}
}
