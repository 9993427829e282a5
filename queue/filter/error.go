package filter

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"redq/queue/payload"
)

// Error tells what is wrong with a filter and where.
type Error struct {
	Text   string // the whole filter
	At     int    // byte offset into Text of what is wrong
	Len    int    // its length in bytes; 0 when something is missing at At
	Reason string // what is wrong and what was expected
}

func (e *Error) Error() string {
	if e.Len > 0 {
		return fmt.Sprintf("%s at %q", e.Reason, e.Text[e.At:e.At+e.Len])
	}
	return e.Reason
}

// maxPointed is how much of a filter is shown before and at what is wrong.
const maxPointed = 500

// Pointed returns the filter and below it carets under what is wrong: two lines
// that are safe to print.
func (e *Error) Pointed() string {
	before := payload.LineString(e.Text[:e.At], maxPointed)
	wrong := payload.LineString(e.Text[e.At:e.At+e.Len], maxPointed)
	after := payload.LineString(e.Text[e.At+e.Len:], maxPointed)
	return before + wrong + after + "\n" +
		strings.Repeat(" ", utf8.RuneCountInString(before)) +
		strings.Repeat("^", max(1, utf8.RuneCountInString(wrong)))
}
