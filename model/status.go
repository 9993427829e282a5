package model

import (
	"errors"
	"fmt"
	"strings"

	"redq/queue"
	"redq/queue/journal"
	"redq/queue/payload"
)

// StatusKind colours the status line.
type StatusKind uint8

// The kinds of status.
const (
	StatusInfo StatusKind = iota
	StatusDone
	StatusWarn // not what was asked, but no harm: already gone, a key that is off
	StatusError
)

// Status is the action lane: what the last key led to. It lives until the next key.
type Status struct {
	Text string // "" nothing to say; safe to print
	Kind StatusKind
}

// nameBytes bounds what is shown of a key or queue in the status.
const nameBytes = 60

func shown(name string) string { return payload.LineString(name, nameBytes) }

// explain is an error as one safe line.
func explain(err error) string { return payload.LineString(queue.Explain(err), 300) }

// reportStatus says what became of an operation: "re-driven 37 to orders, 2
// already gone, 1 refused: …". done is the verb with its object's place.
func reportStatus(r queue.BulkReport, verb, where string, undoable bool) Status {
	s := Status{Kind: StatusDone}
	var parts []string
	if r.Done > 0 {
		part := fmt.Sprintf("%s %s", verb, Thousands(r.Done))
		if where != "" {
			part += " " + where
		}
		if undoable && r.Entry != "" {
			part += " (u undoes)"
		}
		parts = append(parts, part)
	}
	if r.Gone > 0 {
		s.Kind = max(s.Kind, StatusWarn)
		parts = append(parts, goneText(r))
	}
	if r.Refused > 0 {
		s.Kind = StatusError
		parts = append(parts, fmt.Sprintf("%s refused: %s", Thousands(r.Refused), reasonText(r)))
	}
	if r.Unknown > 0 {
		s.Kind = StatusError
		parts = append(parts, fmt.Sprintf("%s outcome unknown: %s", Thousands(r.Unknown), strings.TrimPrefix(reasonText(r), "outcome unknown: ")))
	}
	if len(parts) == 0 {
		return Status{Text: "nothing was asked of the server", Kind: StatusWarn}
	}
	s.Text = strings.Join(parts, ", ")
	return s
}

// goneText says that messages were gone: for one alone, with the reason.
func goneText(r queue.BulkReport) string {
	switch {
	case r.Total > 1:
		return fmt.Sprintf("%s already gone", Thousands(r.Gone))
	case r.Why != nil && !errors.Is(r.Why, queue.ErrGone):
		return explain(r.Why) + ": nothing was changed"
	}
	return "already gone: someone was faster, nothing was changed"
}

func reasonText(r queue.BulkReport) string {
	if r.Why == nil {
		return "no reason was given"
	}
	return explain(r.Why)
}

// undoneStatus says what became of an undo.
func undoneStatus(r queue.BulkReport, e journal.Summary) Status {
	where := "of " + shown(e.Queue)
	if len(e.Keys) > 0 {
		where = "to " + shown(e.Keys[0])
	}
	return reportStatus(r, "brought back", where, false)
}
