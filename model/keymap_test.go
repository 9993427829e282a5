package model

import (
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

// allScreens are all pages.
var allScreens = []Screen{OverviewScreen, QueueScreen, MessageScreen, ConsumerScreen}

func TestNoKeyIsBoundTwiceOnAScreen(t *testing.T) {
	type place struct {
		key    string
		screen Screen
	}
	seen := map[place]Action{}
	for _, b := range keyMap() {
		for _, k := range b.Binding.Keys() {
			for _, s := range b.Screens {
				if other, dup := seen[place{k, s}]; dup {
					t.Errorf("%s is both %s and %s on screen %d", k, other, b.Action, s)
				}
				seen[place{k, s}] = b.Action
			}
		}
		if h := b.Binding.Help(); h.Key == "" || h.Desc == "" {
			t.Errorf("%s has no help", b.Action)
		}
	}
}

// The contract of product.md, but for w, which comes later.
func TestKeysOfTheContract(t *testing.T) {
	bound := map[string]bool{}
	for _, b := range keyMap() {
		for _, k := range b.Binding.Keys() {
			bound[k] = true
		}
	}
	for _, k := range strings.Fields("j k down up g G ctrl+f ctrl+b enter esc tab shift+tab 1 2 3 4 5 / : ? * s S z p R + - r n e t D X u y o c w J q ctrl+c") {
		if !bound[k] {
			t.Errorf("%s is not bound", k)
		}
	}
}

func onScreen(t *testing.T, s Screen) *driver {
	t.Helper()
	d, _ := onBackup(t, numbered("m", 5))
	switch s {
	case OverviewScreen:
		d.press("esc")
	case MessageScreen:
		d.press("enter")
	case ConsumerScreen:
		d.press("c y")
	}
	if d.m.Screen != s {
		t.Fatalf("on screen %d, want %d", d.m.Screen, s)
	}
	return d
}

func TestEachKeyOnEachScreenDoesSomethingOrSaysWhyNot(t *testing.T) {
	for _, s := range allScreens {
		for _, b := range keyMap() {
			d := onScreen(t, s)
			if b.Here != nil {
				continue // only in the demo
			}
			works := slices.ContainsFunc(keyMap(), func(o KeyBinding) bool {
				return slices.Contains(o.Screens, s) && slices.Contains(o.Binding.Keys(), b.Binding.Keys()[0])
			})
			d.send(keyMsg(strings.ReplaceAll(b.Binding.Keys()[0], " ", "space")))
			if !works && (d.m.Status.Text == "" || d.m.Screen != s || d.m.Dialog != nil) {
				t.Errorf("screen %d: %s does not work here, status %q", s, b.Action, d.m.Status.Text)
			}
		}
	}
}

func TestReasons(t *testing.T) {
	for _, c := range []struct {
		screen Screen
		keys   string
		want   string
	}{
		{OverviewScreen, "r", "open a queue first"},
		{OverviewScreen, "o", "open a message first"},
		{OverviewScreen, "esc", "q quits"},
		{QueueScreen, "z", "on the overview"},
		{QueueScreen, "t", "only delayed messages"},
		{QueueScreen, "4 r", "no message in dead"},
		{QueueScreen, "4 X", "no message in dead"},
		{QueueScreen, "4 enter", "no message in dead"},
		{QueueScreen, "4 space", "no message in dead"},
		{QueueScreen, "4 y", "no message in dead"},
		{MessageScreen, "space", "on the queue's page"},
		{MessageScreen, "h", "no more messages that way"},
		{MessageScreen, "x", "on the consumers' page"},
		{QueueScreen, "5 r", "not messages"},
		{QueueScreen, "5 D", "not messages"},
		{QueueScreen, "5 X", "not messages"},
		{QueueScreen, "5 y", "not messages"},
		{QueueScreen, "5 space", "not messages"},
		{QueueScreen, "5 t", "only delayed messages"},
		{QueueScreen, "5 /", "not filtered"},
		{QueueScreen, "5 enter", "nobody to open"},
		{ConsumerScreen, "D", "still runs"},
		{ConsumerScreen, "r", "still runs"},
		{ConsumerScreen, "z", "on the overview"},
		{ConsumerScreen, "X", "on a queue's page"},
		{ConsumerScreen, "ctrl+z", "stop them first"},
	} {
		d := onScreen(t, c.screen)
		d.press(c.keys)
		if !strings.Contains(d.m.Status.Text, c.want) {
			t.Errorf("screen %d, %s: status %q, want %q", c.screen, c.keys, d.m.Status.Text, c.want)
		}
	}
}

func TestMissingTabsSaySo(t *testing.T) {
	d := start(t, seeded())
	d.press(":")
	d.typed("notify")
	d.press("enter 2")
	d.wantStatus("no backup")
	d.press("tab")
	if d.m.Queue.Place != ConsumersTab {
		t.Fatalf("tab of a queue with one place goes to %s", d.m.Queue.Place)
	}
}

func TestTabsGoRound(t *testing.T) {
	d := onScreen(t, QueueScreen)
	var seen []string
	for range 5 {
		seen = append(seen, string(d.m.Queue.Place))
		d.press("tab")
	}
	if want := []string{"backup", "delayed", "dead", "consumers", "ready"}; !slices.Equal(seen, want) || d.m.Queue.Place != "backup" {
		t.Fatalf("tab goes through %q", seen)
	}
	d.press("shift+tab")
	if d.m.Queue.Place != "ready" {
		t.Fatalf("shift+tab goes to %s", d.m.Queue.Place)
	}
}

func TestReadOnlyTakesWritingKeysAway(t *testing.T) {
	f := seeded()
	d := start(t, f, func(c *Config) { c.ReadOnly = true })
	d.press(":")
	d.typed("queueA")
	d.press("enter 2")
	for _, k := range []string{"r", "D", "t", "n", "X", "u", "c"} {
		d.press(k)
		if d.m.Dialog != nil || !strings.Contains(d.m.Status.Text, "read-only") {
			t.Errorf("%s: dialog %T, status %q", k, d.m.Dialog, d.m.Status.Text)
		}
	}
	for _, g := range d.m.HelpGroups() {
		for _, b := range g.Bindings {
			if slices.Contains([]string{"r", "D", "t", "n", "X", "u", "c"}, b.Help().Key) {
				t.Errorf("the help of a read-only redq has %s", b.Help().Key)
			}
		}
	}
}

func TestHelpHasTheKeysOfTheScreen(t *testing.T) {
	for s, want := range map[Screen][]string{
		OverviewScreen: {"s", "z", "enter", "n", "q"},
		QueueScreen:    {"r", "D", "t", "X", "*", "tab"},
		MessageScreen:  {"o", "y", "l →", "c"},
		ConsumerScreen: {"x", "c", "r", "D", "p", "tab", "n"},
	} {
		d := onScreen(t, s)
		var got []string
		for _, g := range d.m.HelpGroups() {
			for _, b := range g.Bindings {
				got = append(got, b.Help().Key)
			}
		}
		for _, k := range want {
			if !slices.Contains(got, k) {
				t.Errorf("the help of screen %d lacks %s", s, k)
			}
		}
		if hints := d.m.Hints(); len(hints) == 0 || hints[len(hints)-1].Help().Key != "?" {
			t.Errorf("the last hint of screen %d is not the help", s)
		}
	}
}

func TestHelpOpensScrollsAndCloses(t *testing.T) {
	d := onScreen(t, QueueScreen)
	for _, closing := range []string{"?", "esc", "q", "enter"} {
		d.press("? j j k G r D")
		if !d.m.HelpOpen || d.m.Dialog != nil || d.quit {
			t.Fatal("keys in the help are actions")
		}
		d.press(closing)
		if d.m.HelpOpen || d.m.Screen != QueueScreen {
			t.Fatalf("%s does not close the help alone", closing)
		}
	}
}

func TestSeveralKeysAtOnceAreNoAction(t *testing.T) {
	d := onScreen(t, QueueScreen)
	for _, k := range []tea.KeyMsg{
		{Type: tea.KeyRunes, Runes: []rune("Dy")},
		{Type: tea.KeyRunes, Runes: []rune("D"), Paste: true},
		{Type: tea.KeyRunes, Runes: []rune("qq")},
		{Type: tea.KeyRunes, Runes: []rune("r"), Alt: true},
	} {
		d.send(k)
		if d.m.Dialog != nil || d.quit || d.m.Screen != QueueScreen {
			t.Fatalf("%q is taken for an action", k.String())
		}
	}
}

// A quick typist, or a slow line: the filter opens and takes the rest as text.
func TestAFilterTypedAtOnceIsText(t *testing.T) {
	d := onScreen(t, OverviewScreen)
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("/queueA")})
	if d.m.Mode() != PromptMode || d.m.Prompt.Field.Text() != "queueA" {
		t.Fatalf("mode %v, the prompt holds %q", d.m.Mode(), d.m.Prompt.Field.Text())
	}
	d.press("enter")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(":orders")})
	if d.m.Prompt.Kind != CommandPrompt || d.m.Prompt.Field.Text() != "orders" {
		t.Fatalf("the prompt is %+v", d.m.Prompt)
	}
	d.press("esc")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("/pasted"), Paste: true})
	if d.m.Mode() != NormalMode {
		t.Error("a paste opened the filter")
	}
}

func TestLettersInAPromptAreNoActions(t *testing.T) {
	for _, p := range []string{"/", ":"} {
		d := onScreen(t, QueueScreen)
		d.press(p)
		d.typed("rDyXuq?/:p ")
		d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("pasted\r\nlines"), Paste: true})
		if d.m.Dialog != nil || d.quit || d.m.Frozen || d.m.HelpOpen {
			t.Fatalf("letters after %s are actions", p)
		}
		if got := d.m.Prompt.Field.Text(); got != "rDyXuq?/:p pasted lines" {
			t.Fatalf("the prompt holds %q", got)
		}
		d.press("esc")
		if d.m.Prompt.Kind != NoPrompt || d.m.Screen != QueueScreen {
			t.Fatal("esc does more than close the prompt")
		}
	}
}

func TestBackAndQuit(t *testing.T) {
	d := onScreen(t, MessageScreen)
	d.press("q")
	if d.m.Screen != QueueScreen {
		t.Fatal("q on a message does not go back")
	}
	d.press("enter esc esc esc esc")
	if d.m.Screen != OverviewScreen || d.quit {
		t.Fatal("esc must go back and never quit")
	}
	d.press("q")
	if !d.quit {
		t.Fatal("q on the overview does not quit")
	}
}

func TestSuspend(t *testing.T) {
	d := onScreen(t, QueueScreen)
	_, cmd := d.m.Update(keyMsg("ctrl+z"))
	if cmd == nil {
		t.Fatal("ctrl+z does nothing")
	}
	if _, ok := cmd().(tea.SuspendMsg); !ok {
		t.Fatal("ctrl+z does not suspend")
	}
	before := d.f.calls["Sample"]
	for _, msg := range []tea.Msg{tea.SuspendMsg{}, tea.ResumeMsg{}, tea.BlurMsg{}, tea.FocusMsg{}, nil} {
		d.send(msg)
	}
	if d.f.calls["Sample"] != before+1 {
		t.Fatal("coming back does not refresh")
	}
}
