package main_test

import (
	"os"
	"strconv"
	"testing"

	"redq/ui/uitest"
	"redq/ui/uitest/tape"
)

// The demo's tape is played on the program, in a shell as vhs has one: each key
// in order, each promise kept.
func TestDemoTape(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("demo.tape")
	if err != nil {
		t.Fatal(err)
	}
	demo, err := tape.Parse(string(text))
	if err != nil {
		t.Fatalf("demo.tape: %v", err)
	}
	checkPromises(t, demo.Steps)
	w, h := size(t, demo)
	term := redq.Start(t, uitest.Options{Shell: true, W: w, H: h, Env: demo.Env})
	term.WaitFor("$") // vhs waits for its prompt too
	term.Play(demo.Steps)
	if m := term.Modes(); m.AltScreen || m.CursorHidden || m.Mouse || m.BracketedPaste {
		t.Errorf("at the end of the tape: %+v", m)
	}
}

// checkPromises checks that nothing is shown without a word of what it is: before
// each pause stands a promise that came after the act.
func checkPromises(t *testing.T, steps []tape.Step) {
	t.Helper()
	unproven, line := false, 0
	for _, s := range steps {
		switch s.Kind {
		case tape.Type, tape.Press:
			unproven, line = true, s.Line
		case tape.Expect, tape.Gone:
			unproven = false
		case tape.Sleep, tape.Screenshot:
			if unproven {
				t.Errorf("demo.tape, line %d: is shown at line %d and promises nothing", line, s.Line)
			}
		}
	}
}

// size is about as many cells as vhs has in a picture of the tape's size: its
// font is three fifths as wide as it is high, its lines have no gaps.
func size(t *testing.T, demo tape.Tape) (w, h int) {
	t.Helper()
	n := func(name string) float64 {
		v, err := strconv.ParseFloat(demo.Settings[name], 64)
		if err != nil {
			t.Fatalf("demo.tape: Set %s: %v", name, err)
		}
		return v
	}
	font, padding := n("FontSize"), n("Padding")
	return int((n("Width") - 2*padding) / (font * 0.6)), int((n("Height") - 2*padding) / (font * 1.25))
}
