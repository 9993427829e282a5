package main_test

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"redq/queue/payload/hostile"
	"redq/queue/queuetest"
	"redq/ui/uitest"
)

// Every way out restores the terminal.
func TestEveryWayOut(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	for _, tt := range []struct {
		name  string
		leave func(*uitest.Term)
	}{
		{"q", func(term *uitest.Term) { term.Press("q") }},
		{"ctrl+c", func(term *uitest.Term) { term.Press("ctrl+c") }},
		{"ctrl+c in a filter", func(term *uitest.Term) { term.Type("/abc"); term.Press("ctrl+c") }},
		{"the command line", func(term *uitest.Term) { term.Type(":q"); term.Press("enter") }},
		{"SIGTERM", func(term *uitest.Term) { term.Signal(syscall.SIGTERM) }},
		{"SIGINT", func(term *uitest.Term) { term.Signal(syscall.SIGINT) }},
		{"SIGHUP", func(term *uitest.Term) { term.Signal(syscall.SIGHUP) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			term := open(t, s, uitest.Options{})
			term.WaitMatch(queueASeeded)
			if got, want := term.Modes(), (uitest.Modes{AltScreen: true, CursorHidden: true, Mouse: true, BracketedPaste: true, Raw: true}); got != want {
				t.Errorf("while it runs: %+v, want %+v", got, want)
			}
			tt.leave(term)
			leaves(t, term, 0)
			if screen := strings.TrimSpace(term.Screen()); screen != "" {
				t.Errorf("left on the screen: %q", screen)
			}
		})
	}
	t.Run("esc never quits", func(t *testing.T) {
		t.Parallel()
		term := open(t, s, uitest.Options{})
		term.WaitMatch(queueASeeded)
		term.Press("esc", "esc", "?")
		term.WaitFor("Keys")
		term.Press("ctrl+c")
		leaves(t, term, 0)
	})
	t.Run("a lost connection", func(t *testing.T) {
		t.Parallel()
		term := open(t, s, uitest.Options{})
		term.WaitMatch(queueASeeded)
		term.Hangup()
		term.Wait() // with whatever status: nobody is there to see it
	})
}

func TestSuspendAndResume(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	term := redq.Start(t, uitest.Options{Shell: true, W: 100, H: 30})
	term.WaitFor("$")
	term.Type("redq --url " + s.URL)
	term.Press("enter")
	term.WaitMatch(queueASeeded)
	stopped := regexp.MustCompile(`(?i)stopped|suspended`)
	for i := range 2 {
		term.Press("ctrl+z")
		term.WaitUntil("for the shell to say that it stopped", func(screen string) bool {
			return len(stopped.FindAllString(screen, -1)) > i
		})
		if m := term.Modes(); m.AltScreen || m.CursorHidden || m.Mouse || m.BracketedPaste {
			t.Errorf("in the shell: %+v", m)
		}
		term.Type("fg")
		term.Press("enter")
		term.WaitMatch(queueASeeded)
		if m := term.Modes(); !m.AltScreen || !m.CursorHidden || !m.Mouse || !m.BracketedPaste || !m.Raw {
			t.Errorf("back again: %+v", m)
		}
	}
	term.Type("/queueA") // keys arrive
	term.WaitGone("notify-queue")
	term.Press("ctrl+c")
	term.WaitMatch(`\$$`)
	term.Type("exit")
	term.Press("enter")
	term.Wait()
}

func TestResize(t *testing.T) {
	t.Parallel()
	_, term := opened(t, uitest.Options{})
	for _, page := range []struct {
		name  string
		open  func()
		shows string
	}{
		{"overview", func() {}, "queueA"},
		{"help", func() { term.Press("?") }, "Keys"},
		{"filter", func() { term.Press("esc"); term.Type("/orders") }, "/orders"},
		{"queue", func() { term.Press("enter", "enter") }, "1 ready"},
		{"delayed", func() { term.Press("3") }, `"order":60`},
		{"message", func() { term.Press("enter") }, `"order": 60`},
		{"dialog", func() { term.Press("r") }, "Re-drive"},
	} {
		page.open()
		term.WaitFor(page.shows)
		for _, size := range [][2]int{{20, 5}, {250, 70}, {1, 1}, {250, 5}, {20, 70}, {81, 25}} {
			term.Resize(size[0], size[1])
			if size == [2]int{20, 5} {
				term.WaitFor("80x24") // what it needs
			}
			term.Settle()
		}
		term.Resize(80, 24)
		term.WaitFor(page.shows)
		term.Settle()
		checkFrame(t, page.name, term)
	}
	term.Press("ctrl+c")
	leaves(t, term, 0)
}

// checkFrame looks for what a bad redraw leaves: more than one header or footer.
func checkFrame(t *testing.T, page string, term *uitest.Term) {
	t.Helper()
	screen := term.Screen()
	if n := strings.Count(screen, "127.0.0.1:"); n < 1 || n > 2 { // a dialog names the server too
		t.Errorf("%s: the server is named %d times:\n%s", page, n, screen)
	}
	if !strings.HasPrefix(strings.TrimSpace(screen), "redq") {
		t.Errorf("%s: the header is not on top:\n%s", page, screen)
	}
	if n := strings.Count(screen, "every 1s"); n != 1 {
		t.Errorf("%s: %d second lines of a header:\n%s", page, n, screen)
	}
}

// sgrColour matches escape sequences that choose a colour.
var sgrColour = regexp.MustCompile(`\x1b\[(?:[0-9;:]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:[;:][0-9;:]*)?m`)

func TestKindsOfTerminals(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	for _, tt := range []struct {
		name    string
		options uitest.Options
		colour  string // how colours are chosen; "" for none
		absent  string // must not be in the output
	}{
		{"true colour", uitest.Options{}, "8;2;", ""},
		{"256 colours", uitest.Options{Env: []string{"COLORTERM="}}, "8;5;", "8;2;"},
		{"16 colours", uitest.Options{Env: []string{"TERM=xterm", "COLORTERM="}}, "\x1b[", "8;5;"},
		{"tmux", uitest.Options{Env: []string{"TERM=tmux-256color", "COLORTERM="}}, "8;5;", "8;2;"},
		{"screen", uitest.Options{Env: []string{"TERM=screen", "COLORTERM="}}, "", "8;2;"},
		{"NO_COLOR", uitest.Options{Env: []string{"NO_COLOR=1"}}, "", "\x1b[38"},
		{"dumb", uitest.Options{Env: []string{"TERM=dumb", "COLORTERM="}}, "", "\x1b[38"},
		{"no UTF-8", uitest.Options{Env: []string{"LANG=C"}}, "8;2;", "─"},
		{"light", uitest.Options{Light: true}, "8;2;", ""},
		{"--no-mouse", uitest.Options{Args: []string{"--no-mouse"}}, "8;2;", "\x1b[?1002h"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			term := open(t, s, tt.options)
			term.WaitMatch(queueASeeded)
			term.Type(":queueA")
			term.Press("enter")
			term.WaitMatch(`1 ready`)
			term.Press("esc")
			term.WaitMatch(queueASeeded)
			term.Press("q")
			leaves(t, term, 0)
			raw := term.Raw()
			if tt.colour != "" && !bytes.Contains(raw, []byte(tt.colour)) {
				t.Errorf("no colours of the kind %q", tt.colour)
			}
			if tt.colour == "" && tt.name != "screen" {
				if m := sgrColour.Find(raw); m != nil {
					t.Errorf("a colour was chosen: %q", m)
				}
			}
			if tt.absent != "" && bytes.Contains(raw, []byte(tt.absent)) {
				t.Errorf("%q was written", tt.absent)
			}
		})
	}
}

func TestLightAndDarkDiffer(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	var styled []string
	for _, light := range []bool{false, true} {
		term := open(t, s, uitest.Options{Light: light})
		term.WaitMatch(queueASeeded)
		styled = append(styled, strings.Join(sgrColour.FindAllString(string(term.Raw()), -1), ""))
		term.Press("q")
		leaves(t, term, 0)
	}
	if styled[0] == styled[1] {
		t.Error("the same colours on a light and on a dark background")
	}
}

func TestMouse(t *testing.T) {
	t.Parallel()
	s, term := opened(t, uitest.Options{W: 100, H: 30})
	click := func(term *uitest.Term, text string) {
		t.Helper()
		for y, line := range strings.Split(term.Screen(), "\n") {
			if x := strings.Index(line, text); x >= 0 {
				term.Click(utf8.RuneCountInString(line[:x]), y)
				return
			}
		}
		t.Fatalf("nothing to click at: %q is not on\n%s", text, term.Screen())
	}
	for _, name := range []string{"reminders", "mail-batch"} {
		click(term, name)
		term.WaitMatch("▌.*" + name)
	}
	term.Type(":reminders")
	term.Press("enter")
	term.WaitMatch(`reminder:1$|reminder:1 `)
	for range 10 { // three rows each
		term.Wheel(20, 20, true)
	}
	term.WaitFor("reminder:31")
	term.WaitGone("reminder:1 ")
	term.Press("ctrl+c")
	leaves(t, term, 0)

	quiet := open(t, s, uitest.Options{W: 100, H: 30, Args: []string{"--no-mouse"}})
	quiet.WaitMatch(queueASeeded)
	if quiet.Modes().Mouse {
		t.Error("--no-mouse asks for the mouse")
	}
	quiet.Press("ctrl+c")
	leaves(t, quiet, 0)
}

// Whatever is in Redis, only the program itself speaks to the terminal.
func TestHostileData(t *testing.T) {
	t.Parallel()
	s := queuetest.Redis(t)
	ctx := context.Background()
	for _, p := range hostile.Payloads() {
		if len(p.Bytes) < 1<<20 {
			s.Client.RPush(ctx, "evil", p.Bytes)
			s.Client.RPush(ctx, "evil:backup", p.Bytes)
		}
	}
	for _, key := range hostile.Keys() {
		s.Client.RPush(ctx, key, "x")
	}
	s.Client.Do(ctx, "CLIENT", "SETNAME", "plain")
	term := open(t, s, uitest.Options{W: 120, H: 40})
	term.WaitMatch(`evil +\d+ +\d+`)
	for range len(hostile.Keys()) { // all rows, and the panels of each
		term.Press("j")
		term.Settle()
	}
	term.Type("/evil")
	term.WaitMatch(`1 of \d+`)
	term.Press("enter", "enter")
	term.WaitFor("(empty)")
	term.Press("enter") // into the first message, and through all of them in each view
	term.WaitFor("#0 of")
	for range len(hostile.Payloads()) {
		for _, key := range []string{"o", "o", "o", "l"} {
			term.Press(key)
			time.Sleep(20 * time.Millisecond) // more than a frame
		}
	}
	term.Press("esc", "2")
	term.WaitFor("(empty)")
	term.Settle()
	term.Press("*", "r")
	term.WaitFor("Re-drive")
	term.Settle()
	term.Press("esc", "q", "esc", "q")
	leaves(t, term, 0)
	checkOutput(t, term.Raw())
}

// allowed are the sequences that Bubble Tea and redq write: colours, cursor,
// erasing, their own modes and title, and the questions for background and cursor.
var allowed = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`\r`, `\n`, `\x1b\[[0-9;:]*m`, `\x1b\[[0-9;]*[ABCDHGJKXd]`, `\x1b\[\?(?:25|1049|1002|1003|1006|2004)[hl]`,
	`\x1b\]2;redq [^\x1b\x07]*\x07`, `\x1b\]11;\?(?:\x07|\x1b\\)`, `\x1b\[6n`, `\x1b\[=?[0-9]*[lh]`,
}, `|`) + `)$`)

func checkOutput(t *testing.T, raw []byte) {
	t.Helper()
	seqs := uitest.Sequences(raw)
	for _, s := range slices.Compact(slices.Sorted(slices.Values(seqs))) {
		if !allowed.MatchString(s) {
			t.Errorf("written to the terminal: %q", s)
		}
	}
	count := func(seq string) (n int) {
		for _, s := range seqs {
			if s == seq {
				n++
			}
		}
		return n
	}
	// Bubble Tea clears the screen as it enters and resizes, and never else.
	if n := count("\x1b[2J"); n > 2 {
		t.Errorf("the screen was cleared %d times", n)
	}
	if in, out := count("\x1b[?1049h"), count("\x1b[?1049l"); in != 1 || out != 1 {
		t.Errorf("the alternate screen was entered %d times and left %d times", in, out)
	}
	for i, r := range string(raw) {
		if r >= 0x80 && r < 0xa0 || r == utf8.RuneError && !bytes.HasPrefix(raw[i:], []byte("\uFFFD")) {
			t.Fatalf("a byte that is no character, or a control character: %q", raw[max(0, i-20):min(len(raw), i+20)])
		}
		if r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			t.Fatalf("text that turns the line round: %q", raw[max(0, i-20):min(len(raw), i+20)])
		}
	}
}
