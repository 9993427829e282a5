package model

import (
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
	"redq/queue/journal"
)

// maxUndo is how many entries of the journal are offered.
const maxUndo = 200

// UndoDialog lists what can be undone, newest first.
type UndoDialog struct {
	DialogHead
	Loading bool
	Err     string // why the journal could not be read
	Entries []UndoEntry
	Cursor  int   // index into Entries; -1 when there are none
	Focus   Focus // FocusNo, FocusYes; the list is always moved by j and k
}

// UndoEntry is one line of the undo list.
type UndoEntry struct {
	Entry   journal.Summary
	Foreign bool   // done on another server: shown, but refused here
	Undone  bool   // nothing of it is left to undo
	What    string // e.g. "deleted 1 of queueA:backup", safe to print
}

func newUndoDialog(h DialogHead) UndoDialog {
	h.Title = "Undo"
	return UndoDialog{DialogHead: h, Loading: true, Cursor: -1}
}

func (d UndoDialog) withHead(h DialogHead) Dialog {
	d.DialogHead = h
	return d
}

func (d UndoDialog) typing() bool { return false }

// listed takes what the journal holds; the cursor is on the last that can be undone here.
func (d UndoDialog) listed(entries []journal.Summary) UndoDialog {
	d.Loading, d.Entries, d.Cursor = false, nil, -1
	for _, e := range entries {
		u := UndoEntry{Entry: e, Foreign: e.Server != d.Server, Undone: e.Undoable == 0, What: undoText(e)}
		if d.Cursor < 0 && !u.Foreign && !u.Undone {
			d.Cursor = len(d.Entries)
		}
		d.Entries = append(d.Entries, u)
	}
	if d.Cursor < 0 && len(d.Entries) > 0 {
		d.Cursor = 0
	}
	return d
}

func (d UndoDialog) key(k tea.KeyMsg, _ time.Time) (Dialog, Intent) {
	switch k.String() {
	case "down", "j":
		return d.moved(1), nil
	case "up", "k":
		return d.moved(-1), nil
	}
	var v verdict
	switch d.Focus, v = answer(k, d.Focus, FocusNo, FocusYes); v {
	case verdictYes:
		return d.chosen()
	case verdictNo:
		return d, closeIt{}
	case verdictOther:
		return noted(d, "y undoes the selected, n does not, j and k select"), nil
	}
	return d, nil
}

func (d UndoDialog) moved(by int) UndoDialog {
	if len(d.Entries) > 0 {
		d.Cursor = max(0, min(d.Cursor+by, len(d.Entries)-1))
	}
	return d
}

func (d UndoDialog) chosen() (Dialog, Intent) {
	switch {
	case d.Loading:
		return noted(d, "the journal is still being read"), nil
	case d.Cursor < 0:
		return d, closeIt{}
	}
	e := d.Entries[d.Cursor]
	switch {
	case e.Foreign:
		return noted(d, "that was done on "+shown(e.Entry.Server)+": connect there to undo it"), nil
	case e.Undone:
		return noted(d, "nothing of it is left to undo"), nil
	}
	if e.Entry.Total > oneByOne || e.Entry.Op == queue.OpPurge {
		return d, startJob{UndoWork{e.Entry}}
	}
	return d, doUndo{e.Entry}
}

// pastTense is what an operation did.
func pastTense(op queue.Op) string {
	switch op {
	case queue.OpRedrive:
		return "re-driven"
	case queue.OpDelete:
		return "deleted"
	case queue.OpReschedule:
		return "rescheduled"
	case queue.OpEdit:
		return "edited"
	case queue.OpPurge:
		return "purged"
	}
	return string(op)
}

func undoText(e journal.Summary) string {
	text := fmt.Sprintf("%s %s", pastTense(e.Op), Thousands(int64(e.Total)))
	if len(e.Keys) > 0 {
		text += " of " + shown(e.Keys[0])
	}
	if e.Lost > 0 {
		text += fmt.Sprintf(", the first %s are lost", Thousands(int64(e.Lost)))
	}
	if e.Undoable > 0 && e.Undoable < e.Total {
		text += fmt.Sprintf(", %s left to undo", Thousands(int64(e.Undoable)))
	}
	return text
}
