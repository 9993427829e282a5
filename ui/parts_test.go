package ui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"redq/model"
)

func TestTooSmallSaysHowLargeItMustBe(t *testing.T) {
	for w := 1; w < model.MinWidth; w++ {
		for h := 1; h < model.MinHeight; h++ {
			s := frame(tooSmall(w, h), w, h)
			checkFrame(t, s, w, h)
			if w >= len("80x24") && !strings.Contains(s, "80x24") {
				t.Fatalf("%dx%d does not say what is needed:\n%s", w, h, s)
			}
		}
	}
	if s := frame(tooSmall(79, 23), 79, 23); !strings.Contains(s, "redq needs a terminal of 80x24; this one is 79x23.") {
		t.Errorf("no sentence where there is room for it:\n%s", s)
	}
}

// What stands at the cursor is always in sight, however long the text.
func TestTypedShowsTheCursor(t *testing.T) {
	p := painter{Theme: testTheme(termenv.Ascii, true)}
	text := "0123456789界abc\x1bdef👩‍👩‍👧xyz"
	for w := 3; w < 40; w++ {
		for i := range len(text) + 1 {
			if i < len(text) && (text[i]&0xc0 == 0x80) {
				continue // within a rune
			}
			got := p.typed(text[:i], text[i:], w, true)
			if ansi.StringWidth(got) != w {
				t.Fatalf("cursor %d, %d cells: %q is %d cells wide", i, w, got, ansi.StringWidth(got))
			}
			if !strings.Contains(got, "\x1b[7m") {
				t.Fatalf("cursor %d, %d cells: no cursor in %q", i, w, got)
			}
			checkControl(t, got)
		}
	}
}

func TestHighlight(t *testing.T) {
	p := painter{Theme: testTheme(termenv.TrueColor, true)}
	for _, tt := range []struct{ line, want string }{
		{`  "a": 12.50,`, "  " + p.Accent.Paint(`"a"`) + p.Faint.Paint(":") + " " + p.Later.Paint("12.50") + ","},
		{`  "k\"ey": "v",`, "  " + p.Accent.Paint(`"k\"ey"`) + p.Faint.Paint(":") + " " + p.Good.Paint(`"v"`) + ","},
		{`  "a": {`, "  " + p.Accent.Paint(`"a"`) + p.Faint.Paint(":") + " {"},
		{`  null`, "  " + p.Warn.Paint("null")},
		{`plain text`, "plain text"},
		{`"unclosed`, `"unclosed`},
		{``, ``},
	} {
		if got := p.highlightLine(tt.line); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.line, got, tt.want)
		}
	}
}

func TestBoxIsExact(t *testing.T) {
	p := painter{Theme: testTheme(termenv.TrueColor, true)}
	for w := range 40 {
		for h := range 8 {
			b := boxed{title: "a long title of a box", note: "and a note", ink: p.Accent}
			lines := p.box(b, []string{"one", strings.Repeat("two ", 30), "three", "four"}, w, h)
			if len(lines) != h {
				t.Fatalf("%dx%d: %d lines", w, h, len(lines))
			}
			for _, line := range lines {
				if ansi.StringWidth(line) != w {
					t.Fatalf("%dx%d: %q is %d cells wide", w, h, line, ansi.StringWidth(line))
				}
			}
		}
	}
}

// The least important parts of a line go first, whole.
func TestParts(t *testing.T) {
	p := painter{Theme: testTheme(termenv.Ascii, true)}
	all := []part{{"first", 0}, {"second", 2}, {"", 1}, {"third", 1}}
	for w, want := range map[int]string{
		22: "first, second, third", 19: "first, third", 12: "first, third", 11: "first", 5: "first", 3: "fi…", 0: "",
	} {
		if got := p.parts(all, ", ", w); got != want {
			t.Errorf("%d cells: %q, want %q", w, got, want)
		}
	}
}

// The key of the help stays on the footer, whatever else goes.
func TestHintsKeepTheHelp(t *testing.T) {
	p := painter{Theme: testTheme(termenv.Ascii, true)}
	var all []key.Binding
	for i := range 6 {
		all = append(all, key.NewBinding(key.WithHelp(fmt.Sprint(i), "does this")))
	}
	all = append(all, key.NewBinding(key.WithHelp("?", "help")))
	for w := 6; w < 90; w++ {
		got := ansi.Strip(p.hints(all, w))
		if !strings.HasSuffix(got, "? help") || width(got) > w {
			t.Fatalf("%d cells: %q", w, got)
		}
	}
}

func TestHelpColumnsAreBalanced(t *testing.T) {
	blocks := [][]string{make([]string, 9), make([]string, 8), make([]string, 3), make([]string, 5)}
	columns := balanced(blocks, 3)
	if len(columns) != 3 || len(columns[0]) != 9 || len(columns[1]) != 8 || len(columns[2]) != 9 {
		t.Errorf("%d columns: %d", len(columns), func() (n []int) {
			for _, c := range columns {
				n = append(n, len(c))
			}
			return n
		}())
	}
	if columns := balanced(blocks, 1); len(columns) != 1 || len(columns[0]) != 28 {
		t.Errorf("one column: %d", len(columns))
	}
}

// A blank name can be seen.
func TestNameShowsBlanks(t *testing.T) {
	for s, want := range map[string]string{"": "", "  ": `"  "`, "a b": "a b", "\x1b[2J": `\x1b[2J`} {
		if got := name(s); got != want {
			t.Errorf("name(%q) = %q, want %q", s, got, want)
		}
	}
}
