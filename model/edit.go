package model

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
	"redq/queue/payload"
)

// EditText opens a text in the operator's editor, which gets the terminal until it
// ends. ext is how the file's name ends: "json" or "txt". done makes the answer of what
// was left in the file, which may be something beside an error too, and nil where
// nothing could be read.
type EditText func(text []byte, ext string, done func(left []byte, err error) tea.Msg) tea.Cmd

// maxEdit is the largest payload that is opened in an editor.
const maxEdit = 8 << 20

type (
	// messageToEditMsg is a whole message as an editor is given it.
	messageToEditMsg struct {
		gen     int
		message queue.Message
		form    payload.Form
		err     error
	}
	// editorClosedMsg is what the editor left.
	editorClosedMsg struct {
		gen  int
		left []byte
		err  error
	}
)

// inFront returns the message that an action on one alone is for: the open one, or
// the one under the cursor. why tells what is wrong when there is none.
func (m Model) inFront() (_ queue.Message, why string) {
	if m.Screen == MessageScreen {
		return m.Message.Message, ""
	}
	row, ok := m.Queue.List().Selected()
	if !ok {
		return queue.Message{}, "the messages are still being read"
	}
	return row.Message, ""
}

func (m Model) canEdit() (bool, string) {
	if m.Screen == QueueScreen { // whatever is marked: an editor takes one message
		l := m.Queue.List()
		l.Marks = Marks{}
		m.Queue = m.Queue.with(l)
	}
	if ok, why := m.canAct(); !ok {
		return false, why
	}
	msg, why := m.inFront()
	switch {
	case why != "":
		return false, why
	case m.cfg.Edit == nil:
		return false, "there is no terminal to give to an editor"
	case msg.Size > maxEdit:
		return false, fmt.Sprintf("%s bytes are too many for an editor: at most %s", Thousands(msg.Size), Thousands(maxEdit))
	}
	return true, ""
}

// edit reads the message in front as a whole; its editor opens with the answer.
func (m Model) edit() (Model, tea.Cmd) {
	q := m.Queue.Queue
	msg, _ := m.inFront()
	m.Dialog = newEditDialog(DialogHead{
		Server: m.Conn.Address, Queue: q.Name, Place: m.Queue.Place, OpenedAt: m.Now, Busy: true, queue: q,
	}, msg)
	m.writing++
	gen, b := m.writing, m.cfg.Backend
	return m, m.request(m.cfg.Timeout, func(ctx context.Context) tea.Msg {
		answer := messageToEditMsg{gen: gen}
		if answer.message, answer.err = b.Load(ctx, msg); answer.err != nil {
			return answer
		}
		answer.form, answer.err = payload.FormOf(answer.message.Payload)
		return answer
	})
}

// editing returns the edit that an answer is for.
func (m Model) editing(gen int) (EditDialog, bool) {
	d, ok := m.Dialog.(EditDialog)
	return d, ok && gen == m.writing
}

func (m Model) messageToEdit(msg messageToEditMsg) (Model, tea.Cmd) {
	d, ok := m.editing(msg.gen)
	switch {
	case !ok:
		return m, nil
	case d.Leaving:
		return m.editLeft()
	case isGone(msg.err):
		m.Dialog = nil
		return m.say(StatusWarn, "already gone: the message left "+string(d.Place)+", nothing was done")
	case msg.err != nil:
		m.Dialog = nil
		return m.say(StatusError, "cannot be edited: "+explain(msg.err))
	}
	d.Message, d.form, d.text = msg.message, msg.form, msg.form.Text
	return m.openEditor(d)
}

// openEditor gives the terminal to the editor, with the text as it was left last.
func (m Model) openEditor(d EditDialog) (Model, tea.Cmd) {
	d.Busy, d.Note = true, ""
	m.Dialog = d
	m.writing++
	gen, ext := m.writing, "txt"
	if d.form.JSON {
		ext = "json"
	}
	return m, m.cfg.Edit(d.text, ext, func(left []byte, err error) tea.Msg {
		return editorClosedMsg{gen: gen, left: left, err: err}
	})
}

// editorClosed looks at what the editor left.
func (m Model) editorClosed(msg editorClosedMsg) (Model, tea.Cmd) {
	d, ok := m.editing(msg.gen)
	switch {
	case !ok:
		return m, nil
	case d.Leaving:
		return m.editLeft()
	}
	d.Busy, d.OpenedAt = false, m.Now // nothing could be answered before
	before := d.text
	if msg.left != nil {
		d.text = msg.left
	}
	edited, invalid := d.form.Payload(d.text)
	switch {
	case msg.err != nil && bytes.Equal(d.text, d.form.Text):
		return m.editEnds(StatusError, explain(msg.err)+": nothing was changed")
	case msg.err != nil && bytes.Equal(d.text, before): // it was opened again, and did nothing to what was kept
		return m.withEdit(d.troubled(explain(msg.err), false))
	case msg.err != nil:
		return m.withEdit(d.troubled(explain(msg.err)+"; the text is kept", false))
	case invalid == nil && bytes.Equal(edited, d.Message.Payload):
		return m.editEnds(StatusInfo, "unchanged: nothing was done")
	case len(bytes.TrimSpace(d.text)) == 0:
		return m.withEdit(d.troubled("the text is empty: a message is deleted by D", false))
	case invalid != nil:
		return m.withEdit(d.troubled(d.whatIsWrong(invalid), true))
	}
	return m.review(d, edited)
}

// review shows the difference and asks what to do with the edited message.
func (m Model) review(d EditDialog, edited []byte) (Model, tea.Cmd) {
	if bytes.Equal(edited, d.Message.Payload) {
		return m.editEnds(StatusInfo, "unchanged: nothing was done")
	}
	return m.withEdit(d.reviewed(edited))
}

// withEdit puts the edit back on screen.
func (m Model) withEdit(d EditDialog) (Model, tea.Cmd) {
	m.Dialog = d
	return m.editSized(), nil
}

// editEnds closes the edit with a sentence; what is on screen may be old.
func (m Model) editEnds(kind StatusKind, text string) (Model, tea.Cmd) {
	m.Dialog = nil
	m, _ = m.say(kind, text)
	return m.pollNow(false)
}

// editLeft ends a program that was told to end while a message was being edited.
func (m Model) editLeft() (Model, tea.Cmd) {
	m.Dialog = nil
	return m.quit()
}

// editSized fits the difference into the screen: its rows follow from its width, the
// dialog's height from them.
func (m Model) editSized() Model {
	d, ok := m.Dialog.(EditDialog)
	if !ok || d.Stage != EditReview {
		return m
	}
	d.Diff = d.Diff.wrapped(m.Layout().Diff.W)
	m.Dialog = d
	d.Diff = d.Diff.windowed(m.Layout().Diff.H)
	m.Dialog = d
	return m
}

// replacement is a message that has other bytes now, in the same place.
type replacement struct{ was, is queue.Message }

// withReplaced puts the edited message where the old one was, so that cursor, marks
// and an open page stay with it.
func (m Model) withReplaced(place queue.Place, r replacement) (Model, tea.Cmd) {
	l := m.Queue.lists[placeIndex(place)].replaced(r, m.listHeight())
	m.Queue = m.Queue.with(l)
	if row, ok := l.Selected(); ok && m.Screen == MessageScreen && row.id == identify(r.is) {
		return m.openMessage()
	}
	return m, nil
}

// replaced returns the list with other bytes for one of its messages.
func (l List) replaced(r replacement, height int) List {
	was, is := identify(r.was), identify(r.is)
	at := slices.IndexFunc(l.Rows, func(row MessageRow) bool { return row.id == was })
	if row, ok := l.Selected(); ok && row.id == was { // of identical copies the one that was meant
		at = int(l.Cursor - l.From)
	}
	if at < 0 {
		return l
	}
	l.Rows = slices.Clone(l.Rows)
	l.Rows[at].Message, l.Rows[at].id = r.is, is
	marks := slices.Clone(l.Marks.items)
	for i, k := range marks {
		if k.sighting == (sighting{was, l.From + int64(at)}) {
			marks[i] = mark{sighting: sighting{is, k.pos}, message: r.is, gone: k.gone}
		}
	}
	l.Marks.items = marks
	return l.settled(height).marked()
}

// as returns the message with other bytes, as a page would show it.
func as(m queue.Message, payload []byte) queue.Message {
	m.Payload, m.Tail, m.Size = payload, nil, int64(len(payload))
	if m.Size > queue.HeadBytes {
		m.Payload, m.Tail = payload[:queue.HeadBytes], payload[m.Size-queue.TailBytes:]
	}
	return m
}
