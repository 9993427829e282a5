package main_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"redq/queue/queuetest"
	"redq/ui/uitest"
)

// The messages that are edited: digits, duplicate keys and escapes that any decoder
// would change.
const (
	editedA = `{"id":12345678901234567890.10,"m":1e400,"a":1,"a":2,"s":"\u00e9\/"}`
	editedB = "plain text"
)

// withEditor opens the dead messages of jobs with an editor that is a shell script; $1
// is the file. Its files lie in the folder that is returned.
func withEditor(t *testing.T, script string, o uitest.Options) (*queuetest.Server, *uitest.Term, string) {
	t.Helper()
	s := queuetest.Redis(t)
	ctx := context.Background()
	s.Client.RPush(ctx, "jobs", "first", "second")
	s.Client.RPush(ctx, "jobs:dead", "before", editedA, editedB)
	bin, tmp := t.TempDir(), t.TempDir()
	path := filepath.Join(bin, "edit")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	o.Env = append(o.Env, "EDITOR="+path+" --wait", "VISUAL=", "TMPDIR="+tmp)
	term := open(t, s, o)
	term.WaitMatch(`jobs +2\b`)
	term.Press("enter", "4")
	term.WaitFor("before")
	term.Press("j")
	term.WaitMatch(`#1 of jobs:dead`)
	return s, term, tmp
}

// empty checks that an edit has left no file behind.
func empty(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind in the folder of temporary files: %v, %v", left, err)
	}
}

// replaceWith is an editor that writes the file anew, as editors do.
const replaceWith = `[ "$1" = --wait ] || exit 9
shift
sed 's/1e400/2e400/' "$1" > "$1.new" && mv "$1.new" "$1" && echo >> "$1"`

func TestEditInPlaceAndUndo(t *testing.T) {
	t.Parallel()
	s, term, tmp := withEditor(t, replaceWith, uitest.Options{})
	changed := strings.Replace(editedA, "1e400", "2e400", 1)

	term.Press("e")
	term.WaitFor(`+   "m": 2e400`)
	for _, line := range []string{`-   "m": 1e400`, `"id": 12345678901234567890.10`, `"a": 1,`, `"a": 2,`, s.Addr, "jobs:dead", "[ No ]"} {
		term.WaitFor(line)
	}
	becomes(t, s, "jobs:dead", "before", editedA, editedB) // it only asks
	term.Read("[ No ]")
	term.Press("enter") // No
	term.WaitGone("[ No ]")
	becomes(t, s, "jobs:dead", "before", editedA, editedB)

	term.Press("e")
	term.Confirm("[ No ]")
	term.WaitFor("edited 1 in jobs:dead (u undoes)")
	becomes(t, s, "jobs:dead", "before", changed, editedB)
	becomes(t, s, "jobs", "first", "second")

	term.Press("u")
	term.WaitFor("edited 1 of jobs:dead")
	if n := strings.Count(term.Screen(), "edited 1 of"); n != 1 {
		t.Errorf("%d entries to undo", n)
	}
	term.Confirm("undo")
	term.WaitFor("brought back 1")
	becomes(t, s, "jobs:dead", "before", editedA, editedB)
	checkFrame(t, "after an edit", term)
	if m := term.Modes(); !m.AltScreen || !m.CursorHidden || !m.Mouse || !m.BracketedPaste || !m.Raw {
		t.Errorf("after an edit: %+v", m)
	}
	term.Press("ctrl+c")
	leaves(t, term, 0)
	empty(t, tmp)
}

func TestEditAndRedrive(t *testing.T) {
	t.Parallel()
	s, term, tmp := withEditor(t, `shift; printf '{"id":1}' > "$1"`, uitest.Options{W: 120, H: 36})
	term.Press("enter") // from the open message too
	term.WaitFor(`"m": 1e400`)
	term.Press("e")
	term.Read("[ No ]")
	term.Press(" ")
	term.WaitFor("jobs, in two steps")
	term.Confirm("replace and re-drive")
	term.WaitFor("edited and re-driven 1 to jobs (u twice undoes both)")
	becomes(t, s, "jobs:dead", "before", editedB)
	if ready := list(t, s, "jobs"); len(ready) != 3 || !slices.Contains(ready, `{"id":1}`) {
		t.Errorf("ready holds %q", ready)
	}
	for range 2 {
		term.Press("u")
		term.WaitMatch(`(re-driven|edited) 1 of jobs:dead`)
		term.Confirm("y undo")
		term.WaitFor("brought back 1")
	}
	becomes(t, s, "jobs:dead", "before", editedA, editedB)
	becomes(t, s, "jobs", "first", "second")
	term.Press("ctrl+c")
	leaves(t, term, 0)
	empty(t, tmp)
}

// While the editor has the terminal nothing of redq reaches it, ctrl+c is the editor's,
// and the screen is whole again afterwards, at the size it has then.
func TestTheTerminalIsTheEditors(t *testing.T) {
	t.Parallel()
	go1 := filepath.Join(t.TempDir(), "go")
	s, term, tmp := withEditor(t, `exec 2>/dev/null
trap 'echo interrupted' INT
trap 'echo quits' QUIT
shift
echo open for editing
while [ ! -e "`+go1+`" ]; do sleep 0.02; done
echo more >> "$1"`, uitest.Options{W: 100, H: 30})
	term.Press("j")
	term.WaitMatch(`#2 of jobs:dead`)
	term.Press("e")
	term.WaitFor("open for editing")
	if m := term.Modes(); m != (uitest.Modes{}) {
		t.Errorf("in the editor: %+v", m)
	}
	before := len(term.Raw())
	s.Client.RPush(context.Background(), "jobs", "third") // redq would show it
	time.Sleep(1500 * time.Millisecond)                   // more than a poll
	if written := term.Raw()[before:]; len(written) > 0 {
		t.Errorf("redq wrote %q while the editor had the terminal", written)
	}
	term.Press("ctrl+c")
	term.WaitFor("interrupted")
	term.Send("\x1c") // ctrl+\
	term.WaitFor("quits")
	term.Resize(80, 24)
	if err := os.WriteFile(go1, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	term.WaitFor("+ plain textmore")
	term.WaitMatch(`1 ready 3\b`)
	term.Settle()
	checkFrame(t, "after the editor", term)
	term.Read("[ No ]")
	term.Press("n")
	term.WaitGone("[ No ]")
	becomes(t, s, "jobs:dead", "before", editedA, editedB)
	term.Press("ctrl+c") // is redq's again
	leaves(t, term, 0)
	empty(t, tmp)
}

// Whoever ends redq ends its editor, and no file is left.
func TestSignalsWhileTheEditorIsOpen(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(fmt.Sprint(sig), func(t *testing.T) {
			t.Parallel()
			s, term, tmp := withEditor(t, `echo open for editing; echo x > "$2"; exec sleep 1000`, uitest.Options{})
			term.Press("e")
			term.WaitFor("open for editing")
			term.Signal(sig)
			leaves(t, term, 0)
			becomes(t, s, "jobs:dead", "before", editedA, editedB)
			empty(t, tmp)
		})
	}
	t.Run("a lost connection", func(t *testing.T) {
		t.Parallel()
		_, term, tmp := withEditor(t, `echo open for editing; exec sleep 1000`, uitest.Options{})
		term.Press("e")
		term.WaitFor("open for editing")
		term.Hangup()
		term.Wait()
		empty(t, tmp)
	})
}

func TestEditorsThatFail(t *testing.T) {
	t.Parallel()
	s, term, tmp := withEditor(t, `shift; printf 'half' > "$1"; exit 3`, uitest.Options{})
	term.Press("e")
	term.Read("the editor edit ended with exit status 3; the text is kept")
	term.Press("n")
	term.WaitGone("is kept")
	becomes(t, s, "jobs:dead", "before", editedA, editedB)
	term.Press("ctrl+c")
	leaves(t, term, 0)
	empty(t, tmp)

	term = open(t, s, uitest.Options{Env: []string{"EDITOR=no-such-editor", "TMPDIR=" + tmp}, Args: []string{"--read-only"}})
	term.WaitMatch(`jobs +2\b`)
	term.Press("enter", "4")
	term.WaitFor("before")
	term.Press("e")
	term.WaitFor("edit in $EDITOR is off: read-only")
	term.Press("ctrl+c")
	leaves(t, term, 0)

	term = open(t, s, uitest.Options{Env: []string{"EDITOR=no-such-editor", "TMPDIR=" + tmp}, W: 120, H: 36})
	term.WaitMatch(`jobs +2\b`)
	term.Press("enter", "4")
	term.WaitFor("before")
	term.Press("e")
	term.WaitFor("the editor no-such-editor of $EDITOR cannot be run")
	term.Press("ctrl+c")
	leaves(t, term, 0)
	empty(t, tmp)
}
