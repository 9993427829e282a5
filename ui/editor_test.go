package ui

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// script writes a shell script and returns its path.
func script(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// session runs an editor, with its files in a folder of the test.
func session(t *testing.T, env map[string]string, text string) *editSession {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	s := &editSession{
		editor: editor{
			getenv: func(name string) string { return env[name] },
			ctx:    t.Context(), ends: time.Hour, hurry: context.Background(),
			lend: func() func() { return func() {} },
		},
		text: []byte(text), name: "message.json",
	}
	s.SetStdin(nil)
	s.SetStdout(io.Discard)
	s.SetStderr(io.Discard)
	t.Cleanup(func() { nothingLeft(t) })
	return s
}

// nothingLeft checks that no file of an edit is there any more.
func nothingLeft(t *testing.T) {
	t.Helper()
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestEditor(t *testing.T) {
	// Writes what it was called with behind what was in the file.
	tell := `for last; do :; done; printf '[%s]' "$@" | sed "s|$last|FILE|" >> "$last"`
	for name, c := range map[string]struct{ visual, editor, want string }{
		"by itself":      {"", "%", "text[FILE]"},
		"with arguments": {"", "% --wait -n", "text[--wait][-n][FILE]"},
		"VISUAL first":   {"% visual", "% editor", "text[visual][FILE]"},
		"blank VISUAL":   {"  ", "%", "text[FILE]"},
		"quoted":         {"", `% --title 'two words' ""`, "text[--title][two words][][FILE]"},
		"quoted itself":  {"", `"%" -x`, "text[-x][FILE]"},
		"variables":      {"", `WORD=hello % -`, "text[-][FILE]"},
	} {
		t.Run(name, func(t *testing.T) {
			path := script(t, "edit", tell)
			s := session(t, map[string]string{
				"VISUAL": strings.ReplaceAll(c.visual, "%", path), "EDITOR": strings.ReplaceAll(c.editor, "%", path),
			}, "text")
			if err := s.Run(); err != nil || string(s.left) != c.want {
				t.Errorf("it left %q, %v, want %q", s.left, err, c.want)
			}
		})
	}
}

// The name of the file is no text to the shell, wherever its folder lies.
func TestEditorAndAStrangeFolder(t *testing.T) {
	for _, line := range []string{"%", `"%"`} {
		path := script(t, "edit", `printf more >> "$1"; [ $# = 1 ]`)
		s := session(t, map[string]string{"EDITOR": strings.ReplaceAll(line, "%", path)}, "text ")
		strange := filepath.Join(os.Getenv("TMPDIR"), "a b'; $(touch hacked) \"`x`")
		if err := os.Mkdir(strange, 0o700); err != nil {
			t.Fatal(err)
		}
		outer := os.Getenv("TMPDIR")
		t.Setenv("TMPDIR", strange)
		if err := s.Run(); err != nil || string(s.left) != "text more" {
			t.Errorf("%s left %q, %v", line, s.left, err)
		}
		nothingLeft(t)
		if err := os.Remove(strange); err != nil {
			t.Error(err)
		}
		t.Setenv("TMPDIR", outer)
	}
}

// Nobody else can read what is edited.
func TestEditedFileIsPrivate(t *testing.T) {
	path := script(t, "edit", `ls -ld "$1" "$(dirname "$1")" | cut -c1-10 > "$1.modes"; cat "$1.modes" > "$1"; cp "$1" "$1~"`)
	s := session(t, map[string]string{"EDITOR": path}, "secret")
	if err := s.Run(); err != nil || string(s.left) != "drwx------\n-rw-------\n" {
		t.Errorf("modes %q, %v", s.left, err)
	}
}

func TestEditorFails(t *testing.T) {
	for name, c := range map[string]struct {
		script string // "" is none
		line   string
		want   string
		left   string
	}{
		"exit status":        {`printf x >> "$1"; exit 3`, "%", "ended with exit status 3", "textx"},
		"killed":             {`printf x >> "$1"; kill -9 $$`, "%", "ended with signal: killed", "textx"},
		"no file left":       {`rm "$1"`, "%", "the editor left no file", ""},
		"a folder left":      {`rm "$1"; mkdir "$1"`, "%", "could not be read", ""},
		"not found":          {"", "/no/such/editor", "the editor /no/such/editor of $EDITOR cannot be run: stat /no/such/editor: no such file or directory", "text"},
		"not on PATH":        {"", "no-such-editor -w", "the editor no-such-editor of $EDITOR cannot be run: executable file not found in $PATH", "text"},
		"not found by shell": {"", `no-such-editor "x"`, "ended with exit status 127", "text"},
	} {
		t.Run(name, func(t *testing.T) {
			path := script(t, "edit", c.script)
			s := session(t, map[string]string{"EDITOR": strings.ReplaceAll(c.line, "%", path)}, "text")
			if err := s.Run(); err == nil || !strings.Contains(err.Error(), c.want) || string(s.left) != c.left {
				t.Errorf("left %q, %v, want %q", s.left, err, c.want)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		s := session(t, nil, "text")
		t.Setenv("PATH", t.TempDir())
		if err := s.Run(); err == nil || !strings.Contains(err.Error(), "set $EDITOR") {
			t.Error(err)
		}
	})
	t.Run("nano where there is no vi", func(t *testing.T) {
		s := session(t, nil, "text")
		nano := script(t, "nano", `printf nano > "$1"`)
		t.Setenv("PATH", filepath.Dir(nano))
		if err := s.Run(); err != nil || string(s.left) != "nano" {
			t.Errorf("left %q, %v", s.left, err)
		}
	})
	t.Run("no room for the file", func(t *testing.T) {
		s := session(t, map[string]string{"EDITOR": "true"}, "text")
		outer := os.Getenv("TMPDIR")
		t.Setenv("TMPDIR", filepath.Join(outer, "missing"))
		if err := s.Run(); err == nil || !strings.Contains(err.Error(), "no place for the file") {
			t.Error(err)
		}
		t.Setenv("TMPDIR", outer)
	})
}

// redq is told to end: so is the editor, which may save first. One that does not end is
// killed after a while, or at once when there is a hurry. Its file goes in every case.
func TestEditorIsToldToEnd(t *testing.T) {
	for name, c := range map[string]struct {
		term  string // what it does then
		ends  time.Duration
		hurry bool
		left  string
	}{
		"and does":     {`echo told > "$1"; exit 1`, time.Hour, false, "told\n"},
		"and does not": {"", time.Millisecond, false, "text"},
		"in a hurry":   {"", time.Hour, true, "text"},
	} {
		t.Run(name, func(t *testing.T) {
			opened := filepath.Join(t.TempDir(), "opened")
			s := session(t, map[string]string{"EDITOR": script(t, "edit", "trap '"+c.term+"' TERM\n: > '"+opened+"'\nwhile :; do sleep 0.01; done")}, "text")
			asked, ask := context.WithCancel(context.Background())
			hurry, now := context.WithCancel(context.Background())
			defer ask()
			defer now()
			s.ctx, s.ends, s.hurry = asked, c.ends, hurry
			done := make(chan error)
			go func() { done <- s.Run() }()
			for _, err := os.Stat(opened); err != nil; _, err = os.Stat(opened) {
				time.Sleep(time.Millisecond)
			}
			ask()
			if c.hurry {
				now()
			}
			if err := <-done; err == nil || !strings.Contains(err.Error(), "was told to end") || string(s.left) != c.left {
				t.Errorf("left %q, %v", s.left, err)
			}
		})
	}
}

// ctrl+c is the editor's while it runs, and redq's some time after.
func TestEditorIsLentTheKeyboard(t *testing.T) {
	s := session(t, map[string]string{"EDITOR": "true"}, "text")
	back := make(chan struct{})
	lent := false
	s.lend = func() func() {
		lent = true
		return func() { close(back) }
	}
	if err := s.Run(); err != nil || !lent {
		t.Fatalf("lent %v, %v", lent, err)
	}
	<-back
}

// What comes back to the program: the mouse, and what the editor left.
func TestEditorAnswers(t *testing.T) {
	failed := errors.New("failed")
	s := &editSession{left: []byte("left")}
	answered := false
	for _, cmd := range s.answer(func(left []byte, err error) tea.Msg {
		answered = string(left) == "left" && err == failed
		return nil
	}, failed) {
		if _, again := cmd().(mouseAgainMsg); again && answered {
			t.Error("the mouse comes after the answer")
		}
	}
	if !answered {
		t.Error("what was left was not told")
	}
	app := &App{}
	for _, mouse := range []bool{true, false} {
		app.model.Mouse = mouse
		if asked := app.mouseBack(mouseAgainMsg{}) != nil; asked != mouse {
			t.Errorf("mouse %v, asked for %v", mouse, asked)
		}
	}
}
