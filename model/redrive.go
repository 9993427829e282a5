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
	Front    bool            // runs next; else back
	Focus    Focus           // FocusFront, FocusNo, FocusYes
}

func newRedriveDialog(h DialogHead, q queue.Queue, ms []queue.Message, marked bool) RedriveDialog {
	h.Title = titled("Re-drive", len(ms), marked)
	h.Keys = append(keysOf(ms), q.Ready)
	return RedriveDialog{DialogHead: h, Messages: ms, To: q.Ready}
}

func (d RedriveDialog) withHead(h DialogHead) Dialog {
	d.DialogHead = h
	return d
}

func (d RedriveDialog) typing() bool { return false }

func (d RedriveDialog) key(k tea.KeyMsg, _ time.Time) (Dialog, Intent) {
	if s := k.String(); s == "f" || s == " " && d.Focus == FocusFront {
		d.Front = !d.Front
		return d, nil
	}
	var v verdict
	switch d.Focus, v = answer(k, d.Focus, FocusFront, FocusNo, FocusYes); v {
	case verdictYes:
		return d, doRedrive{d.Messages, queue.RedriveOptions{Front: d.Front}}
	case verdictNo:
		return d, closeIt{}
	case verdictOther:
		return noted(d, noteOther+", f is front or back"), nil
	}
	return d, nil
}
