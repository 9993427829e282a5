package model

import (
	"fmt"
	"time"

	"redq/model/when"
	"redq/queue/journal"
)

// DroppedText says what the undo journal has dropped to make room.
func DroppedText(d journal.Dropped, now time.Time) string {
	what := plural(d.Messages, "message", "messages")
	if d.Entries > 0 {
		what = plural(d.Entries, "operation", "operations") + " on " + what
	} else {
		what += " of older operations"
	}
	age := when.Relative(d.Oldest, now)
	if newest := when.Relative(d.Newest, now); newest != age {
		age += " to " + newest
	}
	return fmt.Sprintf("the undo journal is full: its oldest entries were dropped, %s (%s) can no longer be undone", what, age)
}

// notedDropped puts what the undo journal has dropped into the status line, behind what
// stands there.
func (m Model) notedDropped(d journal.Dropped) Model {
	if d.Messages == 0 {
		return m
	}
	text := DroppedText(d, m.Now)
	if m.Status.Text != "" {
		text = m.Status.Text + "; " + text
	}
	m.Status = Status{Text: text, Kind: max(m.Status.Kind, StatusWarn)}
	return m
}
