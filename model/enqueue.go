package model

import (
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
)

// EnqueueDialog is the form for a new message.
type EnqueueDialog struct {
	DialogHead
	Payload Field
	When    Field // "" is now: to ready
	Front   bool  // of ready: runs next
	Wrap    bool  // in {"id":…,"msg":…}
	Unit    queue.Unit
	CanNow  bool // the queue has a ready list
	CanWait bool // the queue has a delayed set
	Preview Preview
	Focus   Focus // FocusPayload, FocusWhen, FocusFront, FocusWrap, FocusNo, FocusYes
	// Already is set when equal bytes were delayed already: the dialog then
	// offers to reschedule those (r), to wrap (w) or neither (n).
	Already *queue.AlreadyDelayedError
}

func newEnqueueDialog(h DialogHead, q queue.Queue) EnqueueDialog {
	h.Title = "Enqueue to " + shown(q.Name)
	h.Keys = slices.Concat(q.Keys(queue.Ready), q.Keys(queue.Delayed))
	return EnqueueDialog{
		DialogHead: h, Unit: q.Unit, CanNow: q.Has(queue.Ready), CanWait: q.Has(queue.Delayed),
		Payload: Field{multiline: true}, Focus: FocusPayload,
	}
}

func (d EnqueueDialog) withHead(h DialogHead) Dialog {
	d.DialogHead = h
	return d
}

func (d EnqueueDialog) typing() bool {
	return d.Already == nil && (d.Focus == FocusPayload || d.Focus == FocusWhen)
}

// parts returns what can have the focus: a queue without a delayed set has no
// time to choose, a delayed message no end.
func (d EnqueueDialog) parts() []Focus {
	parts := []Focus{FocusPayload}
	if d.CanWait {
		parts = append(parts, FocusWhen)
	}
	if d.CanNow && !d.delayed() {
		parts = append(parts, FocusFront)
	}
	return append(parts, FocusWrap, FocusNo, FocusYes)
}

// delayed reports whether the message will go to delayed: "now" does only when
// there is no ready list.
func (d EnqueueDialog) delayed() bool {
	s := strings.TrimSpace(d.When.Text())
	return s != "" && !(d.CanNow && strings.EqualFold(s, "now"))
}

func (d EnqueueDialog) previewed(now time.Time) EnqueueDialog {
	d.Preview = Preview{}
	if d.delayed() {
		d.Preview = preview(d.When.Text(), now, d.Unit)
	}
	return d
}

func (d EnqueueDialog) key(k tea.KeyMsg, now time.Time) (Dialog, Intent) {
	d = d.previewed(now)
	switch {
	case d.Already != nil:
		return d.alreadyKey(k)
	case d.typing():
		return d.fieldKey(k, now)
	case k.String() == " " && d.Focus == FocusFront:
		d.Front = !d.Front
		return d, nil
	case k.String() == " " && d.Focus == FocusWrap:
		d.Wrap = !d.Wrap
		return d, nil
	}
	var v verdict
	switch d.Focus, v = answer(k, d.Focus, d.parts()...); v {
	case verdictYes:
		return d.submitted()
	case verdictNo:
		return d, closeIt{}
	case verdictOther:
		return noted(d, noteOther), nil
	}
	return d, nil
}

func (d EnqueueDialog) fieldKey(k tea.KeyMsg, now time.Time) (Dialog, Intent) {
	field := &d.Payload
	if d.Focus == FocusWhen {
		field = &d.When
	}
	switch {
	case k.Type == tea.KeyEsc:
		return d, closeIt{}
	case k.Type == tea.KeyTab:
		d.Focus = stepFocus(d.Focus, 1, d.parts())
		return d, nil
	case k.Type == tea.KeyShiftTab:
		d.Focus = stepFocus(d.Focus, -1, d.parts())
		return d, nil
	case k.Type == tea.KeyEnter && !k.Alt:
		return d.entered(), nil
	}
	var ok bool
	if *field, ok = field.update(k); !ok {
		switch k.Type {
		case tea.KeyUp:
			d.Focus = stepFocus(d.Focus, -1, d.parts())
		case tea.KeyDown:
			d.Focus = stepFocus(d.Focus, 1, d.parts())
		}
	}
	return d.previewed(now), nil
}

// entered goes on from a field that is filled in: payload, time, then the button.
func (d EnqueueDialog) entered() Dialog {
	switch {
	case d.Focus == FocusPayload && d.CanWait:
		d.Focus = FocusWhen
	case d.Preview.Err != "":
		return noted(d, whenMissing)
	default:
		d.Focus = FocusYes
	}
	return d
}

// submitted asks to enqueue, if the form is filled in.
func (d EnqueueDialog) submitted() (Dialog, Intent) {
	if len(d.Payload.text) == 0 {
		d.Focus = FocusPayload
		return noted(d, "type a payload first"), nil
	}
	if d.Preview.Err != "" || !d.CanNow && !d.delayed() {
		d.Focus = FocusWhen
		return noted(d, whenMissing), nil
	}
	return d, doEnqueue{[]byte(d.Payload.Text()), d.options()}
}

func (d EnqueueDialog) options() queue.EnqueueOptions {
	o := queue.EnqueueOptions{Wrap: d.Wrap}
	switch {
	case !d.delayed():
		o.Front = d.Front
	case d.Preview.Relative && d.Preview.In >= 0:
		// A duration counts from the server's clock at that moment, not from when it was typed.
		o.Delay, o.In = true, d.Preview.In
	default:
		o.Delay, o.At = true, d.Preview.Due
	}
	return o
}

// alreadyKey takes the choice when equal bytes are delayed already.
func (d EnqueueDialog) alreadyKey(k tea.KeyMsg) (Dialog, Intent) {
	already := d.Already
	d.Already = nil
	switch k.String() {
	case "r":
		payload := []byte(d.Payload.Text())
		m := queue.Message{
			Payload: payload, Size: int64(len(payload)),
			Place: queue.Delayed, Key: already.Key, Score: already.Score,
		}
		return d, doReschedule{[]queue.Message{m}, d.Preview.Due}
	case "w":
		d.Wrap = true
		return d.submitted()
	case "n", "q", "esc":
		d.Focus = FocusPayload
		return d, nil
	}
	d.Already = already
	return noted(d, "r reschedules that one, w wraps this one with an id, n does neither"), nil
}
