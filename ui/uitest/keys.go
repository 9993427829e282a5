//go:build unix

package uitest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"
)

// named are the bytes that a terminal sends for keys that are not letters.
func named(key string) (string, bool) {
	switch key {
	case "enter":
		return "\r", true
	case "esc":
		return "\x1b", true
	case "tab":
		return "\t", true
	case "shift+tab":
		return "\x1b[Z", true
	case "space":
		return " ", true
	case "backspace":
		return "\x7f", true
	case "delete":
		return "\x1b[3~", true
	case "insert":
		return "\x1b[2~", true
	case "up":
		return "\x1b[A", true
	case "down":
		return "\x1b[B", true
	case "right":
		return "\x1b[C", true
	case "left":
		return "\x1b[D", true
	case "home":
		return "\x1b[H", true
	case "end":
		return "\x1b[F", true
	case "pgup":
		return "\x1b[5~", true
	case "pgdown":
		return "\x1b[6~", true
	case "alt+enter":
		return "\x1b\r", true
	}
	if letter, ok := strings.CutPrefix(key, "ctrl+"); ok && len(letter) == 1 {
		return string(letter[0] & 0x1f), true
	}
	return key, len([]rune(key)) == 1
}

// Press presses keys, one after the other: single characters, enter, esc, tab,
// shift+tab, space, backspace, delete, insert, up, down, left, right, home, end,
// pgup, pgdown, alt+enter, and ctrl+ with a letter.
func (t *Term) Press(keys ...string) {
	t.t.Helper()
	for _, k := range keys {
		b, ok := named(k)
		if !ok {
			t.t.Fatalf("there is no key %q", k)
		}
		t.Send(b)
	}
}

// Type presses a key for each character of text.
func (t *Term) Type(text string) {
	t.t.Helper()
	for _, r := range text {
		t.Send(string(r))
	}
}

// Send writes bytes at once, as a burst of keys arrives over a slow line, and
// waits until the program has read them: what is sent next arrives on its own.
func (t *Term) Send(bytes string) {
	t.t.Helper()
	if _, err := t.ptmx.WriteString(bytes); err != nil {
		t.t.Fatalf("typing %q: %v\n%s", bytes, err, t.report())
	}
	for deadline := time.Now().Add(limit); t.unread() && !t.ended() && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
}

// unread reports whether the program has yet to read what was typed. Asking the
// program's end by poll makes the kernel first hand on what is still on its way.
func (t *Term) unread() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	fds := []unix.PollFd{{Fd: int32(t.tty.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return errors.Is(err, unix.EINTR) || n > 0 && fds[0].Revents&unix.POLLIN != 0
}

// Paste pastes text, bracketed when the program asked for that.
func (t *Term) Paste(text string) {
	t.t.Helper()
	t.mu.Lock()
	bracketed := t.modes[ansi.ModeBracketedPaste]
	t.mu.Unlock()
	if bracketed {
		text = ansi.BracketedPasteStart + text + ansi.BracketedPasteEnd
	}
	t.Send(text)
}

// Read waits for text and then as long as it takes to read it: a dialog takes no
// answer that was typed before it opened.
func (t *Term) Read(text string) {
	t.t.Helper()
	t.WaitFor(text)
	time.Sleep(readTime)
}

// Confirm reads a dialog with text in it and answers yes.
func (t *Term) Confirm(text string) {
	t.t.Helper()
	t.Read(text)
	t.Press("y")
}

// readTime is longer than a dialog ignores keys.
const readTime = 150 * time.Millisecond

// Click presses the left button at a cell, counted from 0. The terminal says
// nothing of it to a program that did not ask for the mouse.
func (t *Term) Click(x, y int) {
	t.t.Helper()
	t.mouse(fmt.Sprintf("\x1b[<0;%d;%dM", x+1, y+1))
	t.mouse(fmt.Sprintf("\x1b[<0;%d;%dm", x+1, y+1))
}

// Wheel turns the wheel by one step at a cell.
func (t *Term) Wheel(x, y int, down bool) {
	t.t.Helper()
	button := 64
	if down {
		button = 65
	}
	t.mouse(fmt.Sprintf("\x1b[<%d;%d;%dM", button, x+1, y+1))
}

func (t *Term) mouse(event string) {
	t.t.Helper()
	t.mu.Lock()
	on := t.mouseOn() && t.modes[ansi.ModeMouseExtSgr]
	t.mu.Unlock()
	if on {
		t.Send(event)
	}
}
