package model

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// AbandonDialog asks before a consumer that is stopping is not waited for any more:
// the handlers of what it has in hand are cancelled.
type AbandonDialog struct {
	DialogHead
	ID     int
	InHand []HandRow // when it opened, longest first
	Count  int       // messages in hand, of which InHand has the first
	Leaves string    // what becomes of them
	Focus  Focus     // FocusNo, FocusYes
}

func newAbandonDialog(h DialogHead, c OwnConsumer) AbandonDialog {
	h.Title = "Abandon " + plural(c.Stats.InHand, "message", "messages") + " in hand"
	return AbandonDialog{DialogHead: h, ID: c.ID, InHand: c.InHand, Count: c.Stats.InHand, Leaves: c.leavesInHand()}
}

func (d AbandonDialog) withHead(h DialogHead) Dialog {
	d.DialogHead = h
	return d
}

func (d AbandonDialog) typing() bool { return false }

func (d AbandonDialog) key(k tea.KeyMsg, _ time.Time) (Dialog, Intent) {
	var v verdict
	switch d.Focus, v = answer(k, d.Focus, FocusNo, FocusYes); v {
	case verdictYes:
		return d, abandonConsumer{d.ID}
	case verdictNo:
		return d, closeIt{}
	case verdictOther:
		return noted(d, noteOther), nil
	}
	return d, nil
}
