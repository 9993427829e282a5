package model

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
)

// RescheduleDialog asks for a new due time.
type RescheduleDialog struct {
	DialogHead
	Messages []queue.Message // fixed when it opened
	Unit     queue.Unit
	When     Field
	Preview  Preview
	Focus    Focus // FocusWhen, FocusNo, FocusYes
}

func newRescheduleDialog(h DialogHead, q queue.Queue, ms []queue.Message, marked bool) RescheduleDialog {
	h.Title = titled("Reschedule", len(ms), marked)
	h.Keys = keysOf(ms)
	return RescheduleDialog{DialogHead: h, Messages: ms, Unit: q.Unit, Focus: FocusWhen}
}

func (d RescheduleDialog) withHead(h DialogHead) Dialog {
	d.DialogHead = h
	return d
}

func (d RescheduleDialog) typing() bool { return d.Focus == FocusWhen }

func (d RescheduleDialog) key(k tea.KeyMsg, now time.Time) (Dialog, Intent) {
	d.Preview = preview(d.When.Text(), now, d.Unit)
	if d.Focus == FocusWhen {
		return d.whenKey(k, now)
	}
	var v verdict
	switch d.Focus, v = answer(k, d.Focus, FocusWhen, FocusNo, FocusYes); v {
	case verdictYes:
		if d.Preview.Due.IsZero() {
			d.Focus = FocusWhen
			return noted(d, whenMissing), nil
		}
		return d, doReschedule{d.Messages, d.Preview.Due}
	case verdictNo:
		return d, closeIt{}
	case verdictOther:
		return noted(d, noteOther), nil
	}
	return d, nil
}

const whenMissing = "say when first: 5m, now, 15:04 …"

func (d RescheduleDialog) whenKey(k tea.KeyMsg, now time.Time) (Dialog, Intent) {
	switch {
	case k.Type == tea.KeyEsc:
		return d, closeIt{}
	case k.Type == tea.KeyEnter && d.Preview.Due.IsZero():
		return noted(d, whenMissing), nil
	case k.Type == tea.KeyEnter, k.Type == tea.KeyShiftTab:
		d.Focus = FocusYes
	case k.Type == tea.KeyTab:
		d.Focus = FocusNo
	default:
		d.When, _ = d.When.update(k)
		d.Preview = preview(d.When.Text(), now, d.Unit)
	}
	return d, nil
}
