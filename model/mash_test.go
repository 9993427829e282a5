package model

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
)

// Any keys, clicks and sizes on any screen, over a server that changes, fails
// and comes back: no panic, and whatever is drawn from is in bounds.
func TestMashingTheKeys(t *testing.T) {
	keys := strings.Fields("j k down up g G ctrl+f ctrl+b pgup pgdown home end enter enter enter esc tab shift+tab 1 2 3 4 5 / : ? space * " +
		"s S z p R + - r n t D X u y y y o h l left right a 5 m backspace ctrl+u ctrl+w ctrl+j ! ( e w c c x y y 5 ctrl+c d")
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 7))
		f := seeded()
		f.lists["queueA:backup"] = numbered("m", 300)
		d := start(t, f, func(c *Config) { c.Edit = scribble(rng) })
		for step := range 600 {
			d.quit = false
			switch rng.IntN(20) {
			case 0:
				d.send(windowSize(rng.IntN(260)-5, rng.IntN(80)-5))
			case 1:
				d.send(tea.MouseMsg{X: rng.IntN(200), Y: rng.IntN(60), Button: tea.MouseButton(rng.IntN(6)), Action: tea.MouseAction(rng.IntN(3))})
			case 2:
				d.send(windowSize(120, 36))
				d.advance(time.Duration(rng.IntN(3000)) * time.Millisecond)
			case 3:
				shake(f, rng)
			case 4:
				d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("pasted\r\n\x1btext"), Paste: true})
			default:
				d.advance(time.Duration(rng.IntN(150)) * time.Millisecond)
				d.send(keyMsg(keys[rng.IntN(len(keys))]))
			}
			checkState(t, d.m, fmt.Sprintf("seed %d step %d", seed, step))
		}
	}
}

// shake changes what is on the server, or whether it answers.
func shake(f *fake, rng *rand.Rand) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch rng.IntN(8) {
	case 6:
		for _, r := range f.engine.runs {
			r.holds(f.now, numbered("h", rng.IntN(4))...)
			r.tells(f.now, queue.EventFailed, "m", errDown)
		}
	case 7:
		for _, r := range f.engine.runs {
			if rng.IntN(3) == 0 {
				r.end([]error{nil, errDown, queue.ErrAbandoned}[rng.IntN(3)])
			}
		}
		f.consumers = queue.Consumers{Known: make([]queue.ConsumerInfo, rng.IntN(4)), Blocked: make([]queue.BlockedClient, rng.IntN(3))}
	case 0:
		f.err = errDown
	case 1, 2:
		f.err = nil
		f.lists["queueA:backup"] = numbered("m", rng.IntN(400))
	case 3:
		f.outcome = []queue.Outcome{"", queue.Unknown, queue.Refused, queue.Gone}[rng.IntN(4)]
	case 4:
		f.queues = append(f.queues, queue.Named(fmt.Sprint("extra", len(f.queues))))
	case 5:
		f.lists["queueA"] = nil
	}
}

// checkState checks what drawing relies on.
func checkState(t *testing.T, m Model, at string) {
	t.Helper()
	o := m.Overview
	if o.Cursor < -1 || o.Cursor >= len(o.Shown) || o.Top < 0 || o.Top > max(0, len(o.Shown)-1) || (o.Cursor < 0) != (len(o.Shown) == 0) {
		t.Fatalf("%s: overview cursor %d, top %d of %d", at, o.Cursor, o.Top, len(o.Shown))
	}
	l := m.Queue.List()
	if l.Cursor < -1 || l.Total > 0 && l.Cursor >= l.Total || l.Top < 0 {
		t.Fatalf("%s: list cursor %d, top %d of %d", at, l.Cursor, l.Top, l.Total)
	}
	rows, from := l.Visible(m.listHeight())
	if len(rows) > m.listHeight() || from < 0 {
		t.Fatalf("%s: %d rows visible from %d", at, len(rows), from)
	}
	if d, ok := m.Dialog.(UndoDialog); ok && d.Cursor >= len(d.Entries) {
		t.Fatalf("%s: undo cursor %d of %d", at, d.Cursor, len(d.Entries))
	}
	p := m.Consumer
	if p.Cursor < -1 || p.Cursor >= max(1, len(p.Consumers)) {
		t.Fatalf("%s: cursor %d of %d consumers", at, p.Cursor, len(p.Consumers))
	}
	if c, ok := p.Selected(); ok {
		c.Log.Visible(m.logHeight())
		c.Counters()
	}
	if rows := m.ConsumerRows(); m.onConsumersTab() && m.Queue.ConsumerCursor >= max(1, len(rows)) {
		t.Fatalf("%s: cursor %d of %d lines", at, m.Queue.ConsumerCursor, len(rows))
	}
	lay := m.Layout()
	if d, ok := m.Dialog.(EditDialog); ok && d.Stage == EditReview && len(d.Diff.Visible()) > max(1, lay.Diff.H) {
		t.Fatalf("%s: %d rows of a difference in %+v", at, len(d.Diff.Visible()), lay.Diff)
	}
	m.Message.Doc.Lines(lay.Doc.H)
	m.Message.Doc.Percent(lay.Doc.H)
	m.TabCells()
	m.Hints()
	m.HelpGroups()
	m.Overview.Totals()
	m.Stale()
	if strings.ContainsAny(m.Status.Text, "\x1b\n\r") {
		t.Fatalf("%s: status %q", at, m.Status.Text)
	}
}
