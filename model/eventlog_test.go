package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/filter"
)

func logLines(k queue.EventKind, from, until int) []LogLine {
	var lines []LogLine
	for i := from; i < until; i++ {
		lines = append(lines, LogLine{Kind: k, Text: fmt.Sprint("m", i)})
	}
	return lines
}

func texts(lines []LogLine) []string {
	var s []string
	for _, l := range lines {
		s = append(s, l.Text)
	}
	return s
}

func TestLogFollowsPausesAndGoesOn(t *testing.T) {
	var l EventLog
	l = l.added(logLines(queue.EventFailed, 0, 100), 0)
	want := func(lines ...string) {
		t.Helper()
		if got := texts(l.Visible(3)); !slices.Equal(got, lines) {
			t.Fatalf("visible %v, want %v", got, lines)
		}
	}
	want("m97", "m98", "m99")
	l = l.added(logLines(queue.EventFailed, 100, 101), 0)
	want("m98", "m99", "m100")

	l = l.act(ActUp, 3) // to look back pauses
	want("m97", "m98", "m99")
	l = l.added(logLines(queue.EventFailed, 101, 5000), 3)
	want("m97", "m98", "m99")
	if !l.Paused || l.Newer != 4902 {
		t.Fatalf("paused %v, %d newer", l.Paused, l.Newer)
	}
	l = l.act(ActPageUp, 3)
	want("m95", "m96", "m97")
	l = l.act(ActTop, 3)
	want("m0", "m1", "m2")
	l = l.act(ActPageDown, 3)
	want("m2", "m3", "m4")
	for range 200 {
		l = l.act(ActDown, 3)
	}
	want("m98", "m99", "m100")

	l = l.act(ActBottom, 3)
	want("m4997", "m4998", "m4999")
	if l.Paused || l.LeftOut != 5003-keptEvents {
		t.Fatalf("paused %v, %d left out", l.Paused, l.LeftOut)
	}
	l = l.act(ActFreeze, 3)
	l = l.added(logLines(queue.EventFailed, 5000, 5001), 0)
	want("m4997", "m4998", "m4999")
	l = l.act(ActFreeze, 3)
	want("m4998", "m4999", "m5000")
}

func TestLogFilters(t *testing.T) {
	var l EventLog
	l = l.added(logLines(queue.EventTaken, 0, 10), 0)
	l = l.added([]LogLine{{Kind: queue.EventFailed, Text: "m3", Why: "connection refused"}}, 0)
	for text, want := range map[string]int{"": 11, "m3": 2, "failed": 1, "REFUSED": 1, "!taken": 1, "/m[12]/": 2, "nothing": 0} {
		m, err := filter.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.filtered(m, 5); len(got.Shown) != want || got.Kept != 11 {
			t.Errorf("%q lets %d of %d through, want %d", text, len(got.Shown), got.Kept, want)
		}
	}
	m, _ := filter.Parse("failed")
	l = l.filtered(m, 5).paused(5)
	l = l.added([]LogLine{{Kind: queue.EventFailed, Text: "m4"}}, 0)
	if got := texts(l.Visible(5)); !slices.Equal(got, []string{"m3"}) {
		t.Errorf("a paused log shows %v", got)
	}
	if got := texts(l.following().Visible(5)); !slices.Equal(got, []string{"m3", "m4"}) {
		t.Errorf("a log that goes on shows %v", got)
	}
}

func TestLogSaysSeldomThatNothingHappens(t *testing.T) {
	var l EventLog
	for i := range 300 { // half a minute
		at := epoch.Add(time.Duration(i) * 100 * time.Millisecond)
		l = l.added([]LogLine{{Kind: queue.EventPromoted, At: at}, {Kind: queue.EventIdle, At: at}}, 0)
	}
	idle := 0
	for _, line := range l.Shown {
		if line.Kind == queue.EventIdle {
			idle++
		}
	}
	if idle != 3 || len(l.Shown) != 303 || l.LeftOut != 0 {
		t.Errorf("%d idle of %d lines, %d left out", idle, len(l.Shown), l.LeftOut)
	}
}

// Failures stay in sight, however much goes well.
func TestRoutineDoesNotPushFailuresOut(t *testing.T) {
	var l EventLog
	l = l.added([]LogLine{{Kind: queue.EventFailed, Text: "the one"}}, 0)
	l = l.added(logLines(queue.EventDone, 0, 20*keptEvents), 0)
	if l.Shown[0].Text != "the one" || l.Kept != keptEvents+1 {
		t.Errorf("%d kept, the first is %+v", l.Kept, l.Shown[0])
	}
}

func TestLogLineIsSafe(t *testing.T) {
	e := queue.Event{
		Time: epoch, Kind: queue.EventFailed, Attempt: 2, Took: time.Second,
		Message: queue.Message{Payload: []byte("a\x1b[2J\r\n" + strings.Repeat("x", 100_000))},
		Err:     errors.New("bad\x1b]0;t\x07"), Note: "n\n",
	}
	l := newLogLine(e)
	for _, s := range []string{l.Text, l.Why} {
		if strings.ContainsAny(s, "\x1b\r\n\x07") || len(s) > 1000 {
			t.Errorf("%q", s)
		}
	}
	if !strings.Contains(l.Why, "bad") || !strings.Contains(l.Why, "n") {
		t.Errorf("the reason is %q", l.Why)
	}
}

func TestVisibleIsInBounds(t *testing.T) {
	var l EventLog
	for _, n := range []int{0, 1, 5} {
		l = l.added(logLines(queue.EventFailed, 0, n), 0)
		for _, h := range []int{-1, 0, 1, 3, 100} {
			for _, a := range []Action{ActTop, ActUp, ActPageDown, ActDown} {
				if got := l.act(a, h).Visible(h); len(got) > max(0, h) {
					t.Errorf("%d lines visible of %d", len(got), h)
				}
			}
		}
	}
}
