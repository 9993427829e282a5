package model

import (
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
)

// PurgeDialog asks before a place is emptied: the queue's name must be typed.
type PurgeDialog struct {
	DialogHead
	Count queue.Count // messages in the place as last polled
	Name  Field       // must become the queue's name
	Focus Focus       // FocusName, FocusNo, FocusYes
}

func newPurgeDialog(h DialogHead, q queue.Queue, n queue.Count) PurgeDialog {
	h.Title = fmt.Sprintf("Purge %s", h.Place)
	h.Keys = q.Keys(h.Place)
	return PurgeDialog{DialogHead: h, Count: n, Focus: FocusName}
}

func (d PurgeDialog) withHead(h DialogHead) Dialog {
	d.DialogHead = h
	return d
}

func (d PurgeDialog) typing() bool { return d.Focus == FocusName }

// named reports whether the queue's name was typed; one that cannot be typed is
// taken as it is shown.
func (d PurgeDialog) named() bool {
	return d.Name.Text() == d.Queue || d.Name.Text() == shown(d.Queue)
}

func (d PurgeDialog) key(k tea.KeyMsg, _ time.Time) (Dialog, Intent) {
	if d.Focus == FocusName {
		return d.nameKey(k)
	}
	var v verdict
	switch d.Focus, v = answer(k, d.Focus, FocusName, FocusNo, FocusYes); v {
	case verdictYes:
		if !d.named() {
			d.Focus = FocusName
			return noted(d, "type the queue's name first: "+shown(d.Queue)), nil
		}
		return d, startJob{PurgeWork{d.queue, d.Place}}
	case verdictNo:
		return d, closeIt{}
	case verdictOther:
		return noted(d, noteOther), nil
	}
	return d, nil
}

func (d PurgeDialog) nameKey(k tea.KeyMsg) (Dialog, Intent) {
	switch {
	case k.Type == tea.KeyEsc:
		return d, closeIt{}
	case k.Type == tea.KeyEnter && !d.named():
		return noted(d, "that is not the queue's name: "+shown(d.Queue)), nil
	case k.Type == tea.KeyEnter:
		d.Focus = FocusYes
	case k.Type == tea.KeyTab:
		d.Focus = FocusNo
	case k.Type == tea.KeyShiftTab:
		d.Focus = FocusYes
	default:
		d.Name, _ = d.Name.update(k)
	}
	return d, nil
}
