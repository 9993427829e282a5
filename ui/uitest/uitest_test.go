//go:build unix

package uitest_test

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"redq/ui/uitest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shell is a program that is everywhere, for tests of the terminal alone.
var shell = uitest.Program{Path: "/bin/sh"}

func run(t *testing.T, script string, o uitest.Options) *uitest.Term {
	t.Helper()
	o.Args = []string{"-c", script}
	return shell.Start(t, o)
}

func TestScreenSizeAndExit(t *testing.T) {
	term := run(t, `stty size; printf 'caf\303\251 \346\263\250\346\226\207 \033[31mred\033[0m'; echo oops >&2; exit 3`, uitest.Options{W: 40, H: 5})
	term.WaitFor("注文 red")
	if code := term.Wait(); code != 3 {
		t.Errorf("exit status %d, want 3", code)
	}
	if got, want := term.Screen(), "5 40\ncafé 注文 red\n\n\n"; got != want {
		t.Errorf("the screen is %q, want %q", got, want)
	}
	if got := term.Stderr(); got != "oops\n" {
		t.Errorf("standard error is %q", got)
	}
	if !strings.Contains(term.Styled(), "\x1b[31m") {
		t.Errorf("no colour in %q", term.Styled())
	}
	if got := uitest.Sequences(term.Raw()); !slices.Equal(got, []string{"\r", "\n", "\x1b[31m", "\x1b[0m"}) {
		t.Errorf("sequences %q", got)
	}
}

func TestEachKeyArrivesAlone(t *testing.T) {
	// dd counts its reads; od shows what they brought.
	term := run(t, `stty raw -echo; echo ready; dd bs=100 count=5 2>/dev/null | od -An -c`, uitest.Options{})
	term.WaitFor("ready")
	term.Type("ab")
	term.Press("enter", "esc", "down")
	term.WaitMatch(`a +b +\\r +033 +033 +\[ +B`)
}

func TestModesAreSeenAndPutBack(t *testing.T) {
	const on, off = `\033[?1049h\033[?25l\033[?1002h\033[?1006h\033[?2004h`, `\033[?2004l\033[?1006l\033[?1002l\033[?25h\033[?1049l`
	term := run(t, `s=$(stty -g); stty raw; printf '`+on+`in'; dd bs=1 count=1 2>/dev/null; stty "$s"; printf '`+off+`out'`, uitest.Options{})
	term.WaitFor("in")
	if got, want := term.Modes(), (uitest.Modes{AltScreen: true, CursorHidden: true, Mouse: true, BracketedPaste: true, Raw: true}); got != want {
		t.Errorf("inside: %+v", got)
	}
	term.Type("x")
	term.Wait()
	if got := term.Modes(); got != (uitest.Modes{}) {
		t.Errorf("after: %+v", got)
	}

	term = run(t, `stty -echo; printf '`+on+`'`, uitest.Options{})
	term.Wait()
	if got := term.Modes(); got == (uitest.Modes{}) || !got.Raw {
		t.Errorf("a program that put nothing back: %+v", got)
	}
}

func TestTheMouseAndPastesAreTheProgramsChoice(t *testing.T) {
	const script = `stty raw -echo; printf '%b' "$MODES"; echo ready; dd bs=100 count=2 2>/dev/null | od -An -c -w200`
	plain := run(t, script, uitest.Options{W: 200, H: 20})
	plain.WaitFor("ready")
	plain.Click(1, 2)
	plain.Paste("p")
	plain.Type("q")
	plain.WaitMatch(`^ +p +q$`)

	asked := run(t, script, uitest.Options{W: 200, H: 20, Env: []string{`MODES=\033[?1002h\033[?1006h\033[?2004h`}})
	asked.WaitFor("ready")
	asked.Wheel(1, 2, true)
	asked.Paste("p")
	asked.WaitMatch(`033 +\[ +< +6 +5 +; +2 +; +3 +M +033 +\[ +2 +0 +0 +~ +p +033 +\[ +2 +0 +1 +~$`)
}

func TestQueriesAreAnswered(t *testing.T) {
	const script = `stty raw -echo; printf '\033]11;?\033\\\033[6n'; dd bs=1 count=30 2>/dev/null | od -An -c -w200`
	dark := run(t, script, uitest.Options{W: 200, H: 10})
	dark.WaitMatch(`r +g +b +: +0 +0 +0 +0 +/`)
	light := run(t, script, uitest.Options{W: 200, H: 10, Light: true})
	light.WaitMatch(`r +g +b +: +f +f +f +f +/`)
	mute := run(t, script+` & sleep 0.2; echo nothing; kill $!`, uitest.Options{Mute: true})
	mute.WaitFor("nothing")
}

func TestSignalsHangupAndResize(t *testing.T) {
	const script = `trap 'echo resized; stty size' WINCH; trap 'exit 7' TERM; trap 'exit 8' HUP; echo ready; while :; do sleep 0.02; done`
	term := run(t, script, uitest.Options{})
	term.WaitFor("ready")
	term.Resize(100, 30)
	term.WaitFor("30 100")
	term.Signal(syscall.SIGTERM)
	if code := term.Wait(); code != 7 {
		t.Errorf("exit status %d, want 7", code)
	}

	term = run(t, script, uitest.Options{})
	term.WaitFor("ready")
	term.Hangup()
	if code := term.Wait(); code != 8 {
		t.Errorf("after a lost connection: exit status %d, want 8", code)
	}

	term = run(t, `kill -9 $$`, uitest.Options{})
	if code := term.Wait(); code != 128+9 {
		t.Errorf("killed: exit status %d, want 137", code)
	}
}

func TestShellFindsTheProgram(t *testing.T) {
	dir := t.TempDir()
	p := uitest.Program{Path: dir + "/greet"}
	if err := os.WriteFile(p.Path, []byte("#!/bin/sh\necho hello $1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	term := p.Start(t, uitest.Options{Shell: true})
	term.WaitFor("$")
	term.Type("greet you")
	term.Press("enter")
	term.WaitFor("hello you")
}

func TestBuildSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module x\n", "main.go": "package main\nfunc main() { nonsense }\n"} {
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := uitest.Build(context.Background(), dir, dir, "x"); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("got %v", err)
	}
}

func TestSequences(t *testing.T) {
	raw := "plain \x1b[2J\x1b]52;c;eA==\a\u009bé\x9b2J\t\x7fend"
	got := uitest.Sequences([]byte(raw))
	for _, want := range []string{"\x1b[2J", "\x1b]52;c;eA==\a", "\t", "\x7f"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if slices.ContainsFunc(got, func(s string) bool { return bytes.ContainsAny([]byte(s), "é") }) {
		t.Errorf("a letter is in %q", got)
	}
}
