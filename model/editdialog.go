package model

import (
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
	"redq/queue/payload"
)

// EditStage is how far an edit has come.
type EditStage uint8

// The stages of an edit.
const (
	EditOpen    EditStage = iota // the message is being read, or the editor has the terminal
	EditTrouble                  // what the editor left cannot be used as it is
	EditReview                   // the difference is shown, and what to do is asked
)

// EditWay is what is done with an edited message.
type EditWay uint8

// The ways, as they are offered.
const (
	EditReplace EditWay = iota // it takes the place of the old one
	EditRedrive                // and then goes back to ready
	EditEnqueue                // it is a new message; the old one stays
)

// String names the deed.
func (w EditWay) String() string {
	return [...]string{"replace", "replace and re-drive", "enqueue"}[w]
}

// EditDialog leads an edit from the editor to the server.
type EditDialog struct {
	DialogHead
	Message queue.Message // whole, as it was before the edit, once it was read
	Stage   EditStage

	Trouble string // why the text cannot be used; safe to print
	Usable  bool   // it can nevertheless, if the operator says so

	Edited []byte    // the bytes it shall have
	Diff   Diff      // of the two as the editor shows them
	Ways   []EditWay // that this message has
	Way    EditWay
	To     string // key that Way leads to; of EditReplace that of the message
	Focus  Focus  // FocusWay, FocusNo, FocusYes

	seen queue.Message // as the list has it: a large one by its ends
	form payload.Form
	text []byte // as the editor left it last
}

func newEditDialog(h DialogHead, m queue.Message) EditDialog {
	h.Title = "Edit a message of " + shown(h.Queue)
	h.Keys = []string{m.Key}
	return EditDialog{DialogHead: h, seen: m, Message: m, To: m.Key}
}

func (d EditDialog) withHead(h DialogHead) Dialog {
	d.DialogHead = h
	return d
}

func (d EditDialog) typing() bool { return false }

// troubled says why the text cannot be used.
func (d EditDialog) troubled(why string, usable bool) EditDialog {
	d.Stage, d.Trouble, d.Usable = EditTrouble, why, usable
	return d
}

// whatIsWrong says what the text is not any more.
func (d EditDialog) whatIsWrong(err error) string {
	if d.form.JSON {
		return "this is not valid JSON any more: " + explain(err)
	}
	return "this is no text any more: " + explain(err)
}

// reviewed takes the bytes that the message shall have.
func (d EditDialog) reviewed(edited []byte) EditDialog {
	d.Stage, d.Edited, d.Focus = EditReview, edited, FocusNo
	d.Diff = newDiff(d.form.Text, d.form.Laid(edited))
	if d.Ways == nil {
		d.Ways = waysOf(d.queue, d.Message.Place)
	}
	return d
}

// waysOf returns what can be done with an edited message of a place.
func waysOf(q queue.Queue, p queue.Place) []EditWay {
	ways := []EditWay{EditReplace}
	if _, to := q.RedriveTarget(); p != queue.Ready && to != "" {
		ways = append(ways, EditRedrive)
	}
	if q.Has(queue.Ready) || q.Has(queue.Delayed) {
		ways = append(ways, EditEnqueue)
	}
	return ways
}

// going returns the dialog with another way.
func (d EditDialog) going(w EditWay) EditDialog {
	d.Way = w
	switch w {
	case EditReplace:
		d.To = d.Message.Key
	case EditRedrive:
		_, d.To = d.queue.RedriveTarget()
	case EditEnqueue:
		if d.To = d.queue.Ready; d.enqueueOptions().Delay {
			d.To = d.queue.Delayed
		}
	}
	return d
}

// enqueueOptions say where the edited message goes as a new one: a copy of a delayed
// one is due when that is, all others go to the back of ready.
func (d EditDialog) enqueueOptions() queue.EnqueueOptions {
	due, timed := d.queue.Unit.Time(d.Message.Score)
	switch {
	case d.Message.Place == queue.Delayed && timed && d.queue.Has(queue.Delayed):
		return queue.EnqueueOptions{Delay: true, At: due}
	case d.queue.Has(queue.Ready):
		return queue.EnqueueOptions{}
	}
	return queue.EnqueueOptions{Delay: true}
}

// Due returns when the edited message is due as a new one; zero when it does not wait.
func (d EditDialog) Due() time.Time {
	if d.Way != EditEnqueue {
		return time.Time{}
	}
	return d.enqueueOptions().At
}

// refused takes the answer that nothing was changed. A message that has gone can
// still be enqueued as it was edited.
func (d EditDialog) refused(gone bool) EditDialog {
	if gone {
		d.Ways = slices.DeleteFunc(slices.Clone(d.Ways), func(w EditWay) bool { return w != EditEnqueue })
		if len(d.Ways) > 0 {
			d = d.going(EditEnqueue)
			d.Note += ": it can be enqueued as a new one"
		}
	}
	d.Focus = FocusNo
	return d
}

func (d EditDialog) key(k tea.KeyMsg, _ time.Time) (Dialog, Intent) {
	if d.Stage == EditTrouble {
		return d.troubleKey(k)
	}
	var moved bool
	if d.Diff, moved = d.Diff.act(k.String()); moved {
		return d, nil
	}
	switch k.String() {
	case "e":
		return d, openEditor{}
	case " ":
		if i := slices.Index(d.Ways, d.Way); len(d.Ways) > 0 {
			d = d.going(d.Ways[(i+1)%len(d.Ways)])
		}
		return d, nil
	}
	var v verdict
	switch d.Focus, v = answer(k, d.Focus, FocusWay, FocusNo, FocusYes); v {
	case verdictYes:
		if len(d.Ways) == 0 {
			return noted(d, "there is nowhere to put it: n closes"), nil
		}
		return d, doEdit{d}
	case verdictNo:
		return d, closeIt{}
	case verdictOther:
		return noted(d, noteOther+", space changes what, e edits again"), nil
	}
	return d, nil
}

// troubleKey takes the answer to a text that cannot be used. Enter is none: an edit
// shall not be lost by it.
func (d EditDialog) troubleKey(k tea.KeyMsg) (Dialog, Intent) {
	switch s := k.String(); {
	case s == "e":
		return d, openEditor{}
	case s == "a" && d.Usable:
		return d, reviewEdit{}
	case s == "n" || s == "q" || s == "esc":
		return d, closeIt{}
	case d.Usable:
		return noted(d, "e edits again, a uses it as it is, n drops the edit"), nil
	}
	return noted(d, "e edits again, n drops the edit"), nil
}

// Sizes says how large the message was and will be.
func (d EditDialog) Sizes() string {
	was, is := d.Message.Size, int64(len(d.Edited))
	return fmt.Sprintf("%s to %s bytes", Thousands(was), Thousands(is))
}

// Sizes of the review of an edit, in cells.
const (
	maxReviewWidth = 118
	reviewBeside   = 2 // frame at either side of the difference
	reviewAbove    = 5 // frame, where it is, what is done with it, where that leads, a rule
	reviewBelow    = 3 // note, answers, frame
)

// size is how large the dialog wants to be.
func (d EditDialog) size() (w, h int) {
	if d.Stage != EditReview {
		return maxDialogWidth, 13
	}
	return maxReviewWidth, reviewAbove + max(3, len(d.Diff.rows)) + reviewBelow
}

// diff lays out the difference in the dialog of an edit.
func (l *Layout) diff(d Dialog) {
	if e, ok := d.(EditDialog); !ok || e.Stage != EditReview {
		return
	}
	r := l.Dialog
	l.Diff = Rect{r.X + reviewBeside, r.Y + reviewAbove, r.W - 2*reviewBeside, max(0, r.H-reviewAbove-reviewBelow)}
}
