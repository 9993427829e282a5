package cli

import (
	"strings"
	"testing"
)

// The line is there while somebody waits at a terminal, and taken away.
func TestGauge(t *testing.T) {
	var out strings.Builder
	g := &gauge{to: &out}
	g.clear()
	if out.Len() > 0 {
		t.Errorf("before there is a line: %q", out.String())
	}
	g.show("looked at %d of %d messages", 284_796, 1_000_000)
	g.show("too soon after it")
	g.clear()
	g.clear()
	if want := "looked at 284796 of 1000000 messages" + clearLine; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	g = &gauge{}
	g.show("nobody watches")
	g.clear()
}
