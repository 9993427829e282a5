package model

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
)

// DeleteDialog asks before messages are deleted.
type DeleteDialog struct {
	DialogHead
	Messages []queue.Message // fixed when it opened
	Focus    Focus           // FocusNo, FocusYes
}

func newDeleteDialog(h DialogHead, ms []queue.Message, marked bool) DeleteDialog {
	h.Title = titled("Delete", len(ms), marked)
	h.Keys = keysOf(ms)
	return DeleteDialog{DialogHead: h, Messages: ms}
}

func (d DeleteDialog) withHead(h DialogHead) Dialog {
	d.DialogHead = h
	return d
}

func (d DeleteDialog) typing() bool { return false }

func (d DeleteDialog) key(k tea.KeyMsg, _ time.Time) (Dialog, Intent) {
	var v verdict
	switch d.Focus, v = answer(k, d.Focus, FocusNo, FocusYes); v {
	case verdictYes:
		return d, doDelete{d.Messages}
	case verdictNo:
		return d, closeIt{}
	case verdictOther:
		return noted(d, noteOther), nil
	}
	return d, nil
}
