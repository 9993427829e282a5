package model

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
)

// RedriveDialog asks before messages go back to ready.
type RedriveDialog struct {
	DialogHead
	Messages []queue.Message // fixed when it opened
	To       string          // key
	DueNow   bool            // To is a sorted set: there they become due now
	Front    bool            // runs next; else back
	Focus    Focus           // FocusFront, FocusNo, FocusYes
}

func newRedriveDialog(h DialogHead, q queue.Queue, ms []queue.Message, marked bool) RedriveDialog {
	h.Title = titled("Re-drive", len(ms), marked)
	place, to := q.RedriveTarget()
	h.Keys = append(keysOf(ms), to)
	return RedriveDialog{DialogHead: h, Messages: ms, To: to, DueNow: place == queue.Delayed}
}

func (d RedriveDialog) withHead(h DialogHead) Dialog {
	d.DialogHead = h
	return d
}

func (d RedriveDialog) typing() bool { return false }

func (d RedriveDialog) key(k tea.KeyMsg, _ time.Time) (Dialog, Intent) {
	parts := []Focus{FocusFront, FocusNo, FocusYes}
	if d.DueNow { // a sorted set has no front
		parts = parts[1:]
	}
	if s := k.String(); !d.DueNow && (s == "f" || s == " " && d.Focus == FocusFront) {
		d.Front = !d.Front
		return d, nil
	}
	var v verdict
	switch d.Focus, v = answer(k, d.Focus, parts...); v {
	case verdictYes:
		return d, doRedrive{d.Messages, queue.RedriveOptions{Front: d.Front}}
	case verdictNo:
		return d, closeIt{}
	case verdictOther:
		return noted(d, noteOther+", f is front or back"), nil
	}
	return d, nil
}
