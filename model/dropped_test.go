package model

import (
	"strings"
	"testing"
	"time"

	"redq/queue/journal"
)

func TestDroppedText(t *testing.T) {
	now := time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)
	days := func(n int) time.Time { return now.AddDate(0, 0, -n) }
	for want, d := range map[string]journal.Dropped{
		"1 operation on 2,000 messages (":  {Entries: 1, Messages: 2000, Oldest: days(5), Newest: days(5)},
		"3 operations on 1 message (":      {Entries: 3, Messages: 1, Oldest: days(5), Newest: days(3)},
		"7 messages of older operations (": {Messages: 7, Oldest: days(5), Newest: days(5)},
	} {
		got := DroppedText(d, now)
		if !strings.Contains(got, want) || strings.Contains(got, " to ") != (d.Oldest != d.Newest) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
}

// What the journal has dropped is said once, behind what the status line says already.
func TestDroppedIsSaid(t *testing.T) {
	f := seeded()
	d := start(t, f)
	d.m.Status = Status{Text: "deleted 1", Kind: StatusDone}
	f.mu.Lock()
	f.dropped = journal.Dropped{Entries: 3, Messages: 40, Oldest: epoch.AddDate(0, 0, -2), Newest: epoch.AddDate(0, 0, -1)}
	f.mu.Unlock()
	d.advance(time.Second)
	d.wantStatus("deleted 1; the undo journal is full")
	d.wantStatus("3 operations on 40 messages")
	if d.m.Status.Kind != StatusWarn {
		t.Errorf("it is of kind %d", d.m.Status.Kind)
	}
	said := d.m.Status
	d.advance(3 * time.Second)
	if d.m.Status != said {
		t.Errorf("later: %+v", d.m.Status)
	}
}

func TestLostIsInTheUndoList(t *testing.T) {
	got := undoText(journal.Summary{Op: "delete", Total: 3, Undoable: 3, Lost: 2000, Keys: []string{"q"}})
	if got != "deleted 3 of q, the first 2,000 are lost" {
		t.Error(got)
	}
}
