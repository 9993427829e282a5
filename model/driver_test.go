package model

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// driver runs a model as Bubble Tea would, but at once and with its own clock:
// commands are run when they come, timers when the clock passes them.
type driver struct {
	t      *testing.T
	m      Model
	f      *fake
	clock  time.Time
	timers []timer
	held   []tea.Cmd // commands not run yet
	hold   bool      // keep commands instead of running them
	quit   bool
	copied string
}

type timer struct {
	at  time.Time
	due tea.Msg
}

type timerMsg timer

// start runs a model over the fake at 120x36, until all first answers are there.
func start(t *testing.T, f *fake, change ...func(*Config)) *driver {
	t.Helper()
	d := &driver{t: t, f: f, clock: epoch}
	cfg := Config{
		Backend: f, Address: "fake:1/0", Mouse: true,
		Now: func() time.Time { return d.clock },
		After: func(wait time.Duration, due tea.Msg) tea.Cmd {
			at := d.clock.Add(wait)
			return func() tea.Msg { return timerMsg{at, due} }
		},
		Copy: func(s string) error { d.copied = s; return nil },
	}
	for _, c := range change {
		c(&cfg)
	}
	m, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	d.m = m
	d.run(m.Init())
	d.send(tea.WindowSizeMsg{Width: 120, Height: 36})
	d.advance(0)
	return d
}

func (d *driver) send(msg tea.Msg) {
	var cmd tea.Cmd
	d.m, cmd = d.m.Update(msg)
	d.run(cmd)
}

// run runs a command and all that follows from it.
func (d *driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	if d.hold {
		d.held = append(d.held, cmd)
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			d.run(c)
		}
	case timerMsg:
		d.timers = append(d.timers, timer(msg))
	case tea.QuitMsg:
		d.quit = true
	case nil:
	default:
		d.send(msg)
	}
}

// release runs what was held back.
func (d *driver) release() {
	held := d.held
	d.held, d.hold = nil, false
	for _, c := range held {
		d.run(c)
	}
}

// advance moves the clock on and runs the timers that it passes.
func (d *driver) advance(by time.Duration) {
	until := d.clock.Add(by)
	for range 10_000 {
		slices.SortStableFunc(d.timers, func(a, b timer) int { return a.at.Compare(b.at) })
		if len(d.timers) == 0 || d.timers[0].at.After(until) {
			d.set(until)
			return
		}
		next := d.timers[0]
		d.timers = d.timers[1:]
		d.set(next.at)
		d.send(next.due)
	}
	d.t.Fatal("timers never come to rest")
}

func (d *driver) set(t time.Time) {
	if t.After(d.clock) {
		d.f.mu.Lock()
		d.f.now = d.f.now.Add(t.Sub(d.clock))
		d.f.mu.Unlock()
		d.clock = t
	}
}

// press presses keys by their names, a blank between them, a second apart from
// what was before: time enough for a dialog to be read.
func (d *driver) press(keys string) {
	for _, k := range strings.Fields(keys) {
		d.advance(200 * time.Millisecond)
		d.send(keyMsg(k))
	}
}

// typed types text a key at a time.
func (d *driver) typed(text string) {
	for _, r := range text {
		d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
	}
}

func keyMsg(k string) tea.KeyMsg {
	types := map[string]tea.KeyType{
		"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "shift+tab": tea.KeyShiftTab,
		"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
		"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
		"ctrl+f": tea.KeyCtrlF, "ctrl+b": tea.KeyCtrlB, "ctrl+c": tea.KeyCtrlC, "ctrl+z": tea.KeyCtrlZ,
		"ctrl+j": tea.KeyCtrlJ, "ctrl+u": tea.KeyCtrlU, "ctrl+w": tea.KeyCtrlW, "ctrl+k": tea.KeyCtrlK,
		"backspace": tea.KeyBackspace, "delete": tea.KeyDelete,
	}
	if k == "space" {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	}
	if t, ok := types[k]; ok {
		return tea.KeyMsg{Type: t}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}
}

// wantStatus fails unless the status line holds text.
func (d *driver) wantStatus(text string) {
	d.t.Helper()
	if !strings.Contains(d.m.Status.Text, text) {
		d.t.Fatalf("status is %q, want it to say %q", d.m.Status.Text, text)
	}
}

// rows returns the payloads of the list in front.
func (d *driver) rows() []string {
	var s []string
	for _, r := range d.m.Queue.List().Rows {
		s = append(s, string(r.Message.Payload))
	}
	return s
}

// selected returns the payload under the cursor.
func (d *driver) selected() string {
	r, _ := d.m.Queue.List().Selected()
	return string(r.Message.Payload)
}

func windowSize(w, h int) tea.WindowSizeMsg { return tea.WindowSizeMsg{Width: w, Height: h} }
