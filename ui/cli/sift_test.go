package cli

import (
	"strings"
	"testing"

	"redq/queue/filter"
	"redq/queue/sieve"
)

// The line of progress is there while somebody waits at a terminal, and taken away.
func TestSiftTellsHowFarItIs(t *testing.T) {
	m, err := filter.Parse("timeout")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	s := &sift{tell: &out, sieve: sieve.Sieve{Filter: m}}
	s.progress()
	if out.Len() > 0 {
		t.Errorf("before the first step: %q", out.String())
	}
	s.looked, s.total, s.matched = 284_796, 1_000_000, 226
	s.progress()
	s.unprogress()
	if want := "looked at 284796 of 1000000 messages, 226 match" + clearLine; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	out.Reset()
	s.tell = nil
	s.progress()
	s.unprogress()
	if out.Len() > 0 {
		t.Errorf("where nobody watches: %q", out.String())
	}
}
