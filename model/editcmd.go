package model

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
)

// Intents of an edit.
type (
	openEditor struct{} // on the text as it was left last
	reviewEdit struct{} // of the text as it is, JSON or not
	doEdit     struct{ edit EditDialog }
)

func (openEditor) intent() {}
func (reviewEdit) intent() {}
func (doEdit) intent()     {}

// editIntent does what the edit in front asks for.
func (m Model) editIntent(in Intent) (Model, tea.Cmd) {
	d, ok := m.Dialog.(EditDialog)
	if !ok {
		return m, nil
	}
	switch in.(type) {
	case openEditor:
		return m.openEditor(d)
	case reviewEdit:
		return m.review(d, d.form.AsLeft(d.text))
	}
	return m.submit(in)
}

// editCmd asks the server for what was decided about an edited message.
func (m Model) editCmd(gen int, in doEdit, q queue.Queue) tea.Cmd {
	b, d := m.cfg.Backend, in.edit
	done := actionDoneMsg{gen: gen, asked: in}
	return m.request(2*m.cfg.Timeout, func(ctx context.Context) tea.Msg {
		if d.Way == EditEnqueue {
			e, err := b.Enqueue(ctx, q, d.Edited, d.enqueueOptions())
			return enqueued(done, e, err)
		}
		r := b.Edit(ctx, q, d.Message, d.Edited).Totals()
		done = done.edited(r, d)
		if d.Way == EditReplace || r.Done == 0 {
			return done
		}
		now := d.Message
		now.Payload, now.Size = d.Edited, int64(len(d.Edited))
		return done.editedAndRedriven(b.Redrive(ctx, q, []queue.Message{now}, queue.RedriveOptions{}).Totals(), d)
	})
}

// edited says what became of the first step, which is the only one when the message
// stays where it is.
func (a actionDoneMsg) edited(r queue.BulkReport, d EditDialog) actionDoneMsg {
	a.status = reportStatus(r, "edited", "in "+shown(d.Message.Key), true)
	switch {
	case r.Done > 0:
		a.replaced = &replacement{was: d.seen, is: as(d.Message, d.Edited)}
	case r.Unknown > 0 && d.Way == EditRedrive:
		a.status.Text += "; it was not re-driven"
	case r.Gone > 0:
		a.failed, a.gone = true, true
		a.status.Text = "already gone, nothing was changed"
	case r.Refused > 0:
		a.failed = true
		a.status.Text = reasonText(r) + ": nothing was changed"
	}
	return a
}

// editedAndRedriven says what became of both steps. The second may fail after the
// first was done: then the message lies edited where it was.
func (a actionDoneMsg) editedAndRedriven(r queue.BulkReport, d EditDialog) actionDoneMsg {
	first := "edited 1 in " + shown(d.Message.Key)
	switch {
	case r.Done > 0:
		a.replaced, a.moved = nil, []queue.Message{d.seen}
		a.status = Status{Text: "edited and re-driven 1 to " + shown(d.To), Kind: StatusDone}
		if r.Entry != "" {
			a.status.Text += " (u twice undoes both)"
		}
	case r.Gone > 0:
		a.replaced, a.moved = nil, []queue.Message{d.seen}
		a.status = Status{Text: first + ", but it was gone before it could be re-driven: someone took the edited one", Kind: StatusWarn}
	case r.Unknown > 0:
		a.status = Status{Text: first + "; whether it was re-driven is unknown: " + strings.TrimPrefix(reasonText(r), "outcome unknown: "), Kind: StatusError}
	default:
		a.status = Status{Text: first + ", where it still is: the re-drive was refused: " + reasonText(r), Kind: StatusError}
	}
	return a
}
