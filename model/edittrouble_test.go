package model

import (
	"errors"
	"strings"
	"testing"

	"redq/queue"
)

func TestEditThatChangesNothing(t *testing.T) {
	for name, write := range map[string]func(string) string{
		"left alone":    nil,
		"a line break":  func(s string) string { return s + "\n" },
		"laid out anew": func(string) string { return strings.ReplaceAll(order, ",", " ,\n\t") },
	} {
		d, f, p := withPen(t, queue.Dead, order)
		p.write = write
		d.press("e")
		if d.m.Dialog != nil || f.calls["edit"] > 0 {
			t.Errorf("%s: dialog %T", name, d.m.Dialog)
		}
		d.wantStatus("unchanged: nothing was done")
	}
}

func TestEditThatBreaksTheJSON(t *testing.T) {
	d, f, p := withPen(t, queue.Dead, order)
	p.replaces("1e400,", "1e400")
	d.press("e")
	e := d.editDialog()
	if e.Stage != EditTrouble || !e.Usable || !strings.Contains(e.Trouble, "not valid JSON any more: line 4, column 3: expected a comma or }") {
		t.Fatalf("dialog %+v", e)
	}
	for _, k := range []string{"y", "enter", "space", "x"} { // an edit is not lost or used by chance
		d.press(k)
		if e := d.editDialog(); e.Stage != EditTrouble || !strings.Contains(e.Note, "a uses it as it is") {
			t.Fatalf("%s: stage %v, note %q", k, e.Stage, e.Note)
		}
	}
	p.write = func(s string) string { return strings.Replace(s, "1e400", "3e400,", 1) }
	d.press("e") // the editor gets what it left
	if len(p.opened) != 2 || !strings.Contains(p.opened[1], "1e400\n") || d.editDialog().Stage != EditReview {
		t.Fatalf("the editor got %q", p.opened)
	}
	d.press("y")
	if want := strings.Replace(order, "1e400", "3e400", 1); f.lists["orders:dead"][0] != want {
		t.Fatalf("dead holds %q", f.lists["orders:dead"])
	}

	d, f, p = withPen(t, queue.Dead, order)
	p.write = func(string) string { return "no JSON\nat all\n" }
	d.press("e a")
	if e := d.editDialog(); e.Stage != EditReview || e.Focus != FocusNo {
		t.Fatalf("stage %v", e.Stage)
	}
	d.press("y")
	if got := f.lists["orders:dead"][0]; got != "no JSON\nat all" {
		t.Fatalf("dead holds %q", got)
	}

	d, f, p = withPen(t, queue.Dead, order)
	p.write = func(string) string { return "{" }
	d.press("e n")
	if d.m.Dialog != nil || f.lists["orders:dead"][0] != order {
		t.Fatal("n does not drop the edit")
	}
}

func TestEditThatLeavesNoText(t *testing.T) {
	d, f, p := withPen(t, queue.Dead, order)
	p.write = func(string) string { return " \n" }
	d.press("e")
	if e := d.editDialog(); e.Stage != EditTrouble || e.Usable || !strings.Contains(e.Trouble, "empty") {
		t.Fatalf("dialog %+v", e)
	}
	d.press("a")
	if e := d.editDialog(); e.Stage != EditTrouble {
		t.Fatal("an empty text is used")
	}
	d.press("esc")
	if d.m.Dialog != nil || f.lists["orders:dead"][0] != order {
		t.Fatal("something was changed")
	}

	d, _, p = withPen(t, queue.Dead, "café")
	p.write = func(string) string { return "caf\xe9" }
	d.press("e")
	if e := d.editDialog(); !e.Usable || !strings.Contains(e.Trouble, "no text any more: line 1, column 4: not UTF-8") {
		t.Fatalf("dialog %+v", e)
	}
}

func TestEditorThatFails(t *testing.T) {
	failed := errors.New("the editor ed ended with exit status 2")
	for name, c := range map[string]struct {
		pen    pen
		status string // "" leaves a dialog
	}{
		"nothing written":  {pen{err: failed}, "the editor ed ended with exit status 2: nothing was changed"},
		"no file left":     {pen{err: failed, noFile: true}, "exit status 2: nothing was changed"},
		"something kept":   {pen{err: failed, write: func(s string) string { return s + "x" }}, ""},
		"could not be run": {pen{err: errors.New("the editor ed of $EDITOR cannot be run"), noFile: true}, "cannot be run: nothing was changed"},
	} {
		t.Run(name, func(t *testing.T) {
			d, f, p := withPen(t, queue.Dead, order)
			*p = c.pen
			d.press("e")
			if f.calls["edit"] > 0 || f.lists["orders:dead"][0] != order {
				t.Fatal("something was changed")
			}
			if c.status != "" {
				d.wantStatus(c.status)
				if d.m.Dialog != nil {
					t.Fatalf("dialog %T", d.m.Dialog)
				}
				return
			}
			e := d.editDialog()
			if e.Stage != EditTrouble || e.Usable || !strings.Contains(e.Trouble, "the text is kept") {
				t.Fatalf("dialog %+v", e)
			}
			p.noFile = true // and again: what was kept is not lost
			d.press("e")
			if e := d.editDialog(); e.Stage != EditTrouble {
				t.Fatalf("stage %v", e.Stage)
			}
			p.err, p.noFile = nil, false
			p.write = func(s string) string { return strings.Replace(strings.TrimSuffix(s, "x"), "1e400", "2e400", 1) }
			d.press("e")
			if !strings.HasSuffix(p.opened[1], "x") || !strings.HasSuffix(p.opened[2], "x") || d.editDialog().Stage != EditReview {
				t.Fatalf("the editor got %q", p.opened)
			}
		})
	}
}
