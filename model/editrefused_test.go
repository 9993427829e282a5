package model

import (
	"errors"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
)

func TestWhatIsNotEdited(t *testing.T) {
	for payload, want := range map[string]string{
		"a\x00b":     "cannot be edited: byte 1 is the control character 0x00",
		"\xff\xfe":   "cannot be edited: it is no text: byte 0 is 0xff",
		"a\x1b[2Jb":  "control character 0x1b",
		"one\rother": "control character 0x0d",
	} {
		d, _, p := withPen(t, queue.Dead, payload)
		d.press("e")
		if len(p.opened) > 0 || d.m.Dialog != nil {
			t.Errorf("%q was opened", payload)
		}
		d.wantStatus(want)
	}
	d, f, p := withPen(t, queue.Dead, order)
	d.press("1 2 4") // and where there is no message
	f.lists["orders:dead"] = nil
	d.press("R e")
	if len(p.opened) > 0 {
		t.Error("a message that is not there was opened")
	}
	d.wantStatus("gone")
	d.press("e")
	d.wantStatus("no message in dead")
	d.press("5 e")
	d.wantStatus("not messages")

	d, _, _ = withPen(t, queue.Dead, order)
	d.m.cfg.Edit = nil
	d.press("e")
	d.wantStatus("no terminal")

	d, _, p = withPen(t, queue.Dead, order)
	l := d.m.Queue.List()
	l.Rows[0].Message.Size = maxEdit + 1
	d.press("e")
	d.wantStatus("8,388,609 bytes are too many for an editor: at most 8,388,608")
	if len(p.opened) > 0 {
		t.Error("a huge message was opened")
	}
}

func TestReadOnlyDoesNotEdit(t *testing.T) {
	p := &pen{}
	d := start(t, seeded(), func(c *Config) { c.ReadOnly, c.Edit = true, p.edit })
	d.press(":")
	d.typed("queueA")
	d.press("enter 2 e")
	d.wantStatus("read-only")
	if len(p.opened) > 0 {
		t.Error("a read-only redq opened an editor")
	}
	for _, g := range d.m.HelpGroups() {
		for _, b := range g.Bindings {
			if b.Help().Key == "e" {
				t.Error("the help of a read-only redq has e")
			}
		}
	}
}

// An answer that comes late is for an edit that is not there any more, and one that
// was waited for by a program that ends, ends it.
func TestEditAnswersThatComeLate(t *testing.T) {
	d, _, p := withPen(t, queue.Dead, order)
	d.hold = true
	d.press("e")
	if !d.editDialog().Busy {
		t.Fatal("the dialog takes keys before the message was read")
	}
	d.press("ctrl+c")
	d.release()
	if !d.quit || len(p.opened) > 0 {
		t.Fatalf("quit %v, the editor got %q", d.quit, p.opened)
	}

	d, f, p := withPen(t, queue.Dead, order)
	p.replaces("1e400", "2e400")
	d.press("e")
	gen := d.m.writing
	d.press("n D")
	d.send(editorClosedMsg{gen: gen, left: []byte("other")})
	d.send(messageToEditMsg{gen: gen})
	if g, ok := d.m.Dialog.(RepairDialog); !ok || g.Op != queue.OpDelete || f.calls["edit"] > 0 {
		t.Fatalf("dialog %T", d.m.Dialog)
	}
}

// The signal that ends redq ends the editor too; whichever is told first, redq ends.
func TestLeavingWhileTheEditorIsOpen(t *testing.T) {
	for _, order := range [][]tea.Msg{
		{LeaveMsg{}, editorClosedMsg{}},
		{editorClosedMsg{}, LeaveMsg{}},
	} {
		d, _, _ := withPen(t, queue.Dead, "one")
		d.m.cfg.Edit = func([]byte, string, func([]byte, error) tea.Msg) tea.Cmd { return nil } // it stays open
		d.press("e")
		for _, msg := range order {
			if _, closed := msg.(editorClosedMsg); closed {
				msg = editorClosedMsg{gen: d.m.writing, left: []byte("two"), err: errors.New("the editor was told to end")}
			}
			d.send(msg)
		}
		if !d.quit {
			t.Errorf("%v does not end redq", order)
		}
	}
}

func TestEditKeysScroll(t *testing.T) {
	many := strings.Repeat("line\n", 3) + strings.Join(numbered("x", 300), "\n")
	d, f, p := withPen(t, queue.Dead, many)
	p.write = func(s string) string { return strings.ReplaceAll(s, "x", "y") }
	d.press("e")
	visible := func() []DiffRow { return d.editDialog().Diff.Visible() }
	if first := visible()[0]; first.Kind != DiffSame || first.Text != "line" {
		t.Fatalf("first row %+v", first)
	}
	d.press("G")
	rows := visible()
	if last := rows[len(rows)-1]; last.Kind != DiffAdded || last.Text != "y299" || len(rows) != d.m.Layout().Diff.H {
		t.Fatalf("last row %+v of %d, room for %d", last, len(rows), d.m.Layout().Diff.H)
	}
	bottom := d.editDialog().Diff.Above()
	d.press("k pgup")
	if at := d.editDialog().Diff.Above(); at != bottom-1-(len(rows)-1) {
		t.Fatalf("at %d, bottom %d", at, bottom)
	}
	d.send(windowSize(80, 24))
	rows = visible()
	if l := d.m.Layout(); len(rows) != l.Diff.H || l.Diff.H < 8 || l.Diff.Y+l.Diff.H > l.Dialog.Y+l.Dialog.H-reviewBelow {
		t.Fatalf("%d rows in %+v of %+v", len(rows), l.Diff, l.Dialog)
	}
	d.press("g")
	if visible()[0].Text != "line" || f.calls["edit"] > 0 {
		t.Fatal("g does not go to the first row")
	}
	d.send(windowSize(10, 3)) // too small to draw: nothing breaks
	d.press("j G")
	d.send(windowSize(120, 36))
	d.press("y")
	d.wantStatus("edited 1")
}
