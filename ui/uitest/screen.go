//go:build unix

package uitest

import (
	"regexp"
	"strings"
	"time"
)

// limit bounds every wait. It is generous: a wait that ends by it is a failure,
// and the machine may be busy.
const limit = 20 * time.Second

// Screen returns the text on the screen, a line for each row, without blanks at
// the ends of lines.
func (t *Term) Screen() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.screen()
}

func (t *Term) screen() string {
	var b strings.Builder
	for y := range t.emu.Height() {
		if y > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(t.row(y))
	}
	return b.String()
}

func (t *Term) row(y int) string {
	var b strings.Builder
	for x := 0; x < t.emu.Width(); {
		cell := t.emu.CellAt(x, y)
		if cell == nil || cell.Content == "" {
			b.WriteByte(' ')
			x++
			continue
		}
		b.WriteString(cell.Content)
		x += max(1, cell.Width)
	}
	return strings.TrimRight(b.String(), " ")
}

// Styled returns the screen with its colours, as escape sequences.
func (t *Term) Styled() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.emu.Render()
}

// Title returns the title of the window.
func (t *Term) Title() string {
	var title string
	for _, s := range Sequences(t.Raw()) {
		for _, prefix := range []string{"\x1b]2;", "\x1b]0;"} {
			if rest, ok := strings.CutPrefix(s, prefix); ok {
				title = strings.TrimRight(strings.TrimSuffix(rest, "\x1b\\"), "\a")
			}
		}
	}
	return title
}

// WaitFor waits until text is on the screen, on one line.
func (t *Term) WaitFor(text string) {
	t.t.Helper()
	t.WaitUntil("for "+quote(text), func(screen string) bool { return strings.Contains(screen, text) })
}

// WaitMatch waits until a regular expression matches the screen; ^ and $ match
// at the ends of lines.
func (t *Term) WaitMatch(expr string) {
	t.t.Helper()
	re := regexp.MustCompile("(?m)" + expr)
	t.WaitUntil("for a match of "+quote(expr), re.MatchString)
}

// WaitGone waits until text is not on the screen any more.
func (t *Term) WaitGone(text string) {
	t.t.Helper()
	t.WaitUntil("until there is no "+quote(text), func(screen string) bool { return !strings.Contains(screen, text) })
}

// WaitUntil waits until ok says yes to the screen; what completes "waited …".
func (t *Term) WaitUntil(what string, ok func(screen string) bool) {
	t.t.Helper()
	deadline := time.After(limit)
	for {
		ended := t.ended() // asked before looking: nothing comes after it
		t.mu.Lock()
		screen, changed := t.screen(), t.changed
		t.mu.Unlock()
		if ok(screen) {
			return
		}
		if ended {
			t.t.Fatalf("waited %s\n%s", what, t.report())
		}
		select {
		case <-changed:
		case <-time.After(10 * time.Millisecond): // modes of the line change without a word
		case <-t.done:
		case <-deadline:
			t.t.Fatalf("waited %s\n%s", what, t.report())
		}
	}
}

// Settle waits until the program has written nothing for a moment, but not long:
// a dashboard is never quite still.
func (t *Term) Settle() {
	const quiet, most = 80 * time.Millisecond, 400 * time.Millisecond
	deadline := time.After(most)
	for {
		t.mu.Lock()
		changed := t.changed
		t.mu.Unlock()
		select {
		case <-changed:
		case <-time.After(quiet):
			return
		case <-deadline:
			return
		case <-t.done:
			return
		}
	}
}

func quote(s string) string { return "“" + s + "”" }

// framed draws a frame around a screen, so that blank lines are seen.
func framed(screen string) string {
	rule := "+" + strings.Repeat("-", 40) + "\n"
	var b strings.Builder
	b.WriteString(rule)
	for line := range strings.Lines(screen) {
		b.WriteString("|" + strings.TrimSuffix(line, "\n") + "\n")
	}
	b.WriteString(rule)
	return b.String()
}
