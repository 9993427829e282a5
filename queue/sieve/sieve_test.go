package sieve

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"redq/queue"
	"redq/queue/filter"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// sieve asks a filter at noon.
func sieve(t *testing.T, text string) *Sieve {
	t.Helper()
	m, err := filter.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return &Sieve{Filter: m, Now: now}
}

func inList(payload string) queue.Message {
	return queue.Message{Place: queue.Dead, Payload: []byte(payload), Size: int64(len(payload))}
}

func delayed(payload string, score queue.Score) queue.Message {
	m := inList(payload)
	m.Place, m.Score = queue.Delayed, score
	return m
}

func TestMatch(t *testing.T) {
	soon := queue.Milliseconds.Score(now.Add(5 * time.Minute))
	for _, tt := range []struct {
		filter    string
		message   queue.Message
		hit       bool
		undecided int64
	}{
		{"bc size<10 !x", inList("abcd"), true, 0},
		{"bc size>10", inList("abcd"), false, 0},
		{".a == 1", inList(`{"a":1}`), true, 0},
		{".a == 1", inList(`{"a":2}`), false, 0},
		{".a == 1", inList("text"), false, 1},
		{"!.a", inList("text"), false, 1},
		{".a > error", inList(`{"a":1}`), false, 1},
		{"due<10m", delayed("a", soon), true, 0},
		{"due<1m", delayed("a", soon), false, 0},
		{"due<10m", delayed("a", "12"), false, 0}, // no time at all
		{"due<10m", inList("a"), false, 0},
	} {
		s := sieve(t, tt.filter)
		hit, err := s.Match(t.Context(), tt.message)
		if err != nil || hit != tt.hit || s.Undecided != tt.undecided || s.Ageless != 0 {
			t.Errorf("%s on %q: %v, %v, %+v", tt.filter, tt.message.Payload, hit, err, s.Tally)
		}
		if (s.Undecided > 0) != (s.Reason() != "") {
			t.Errorf("%s: %d undecided because of %q", tt.filter, s.Undecided, s.Reason())
		}
	}
}

func TestSecondsAreReadAsSuch(t *testing.T) {
	s := sieve(t, "due<10m")
	s.Unit = queue.Seconds
	if hit, err := s.Match(t.Context(), delayed("a", queue.Seconds.Score(now.Add(time.Minute)))); err != nil || !hit {
		t.Errorf("%v, %v", hit, err)
	}
}

// An age that nobody knows decides nothing, and is asked for only when it matters.
func TestAges(t *testing.T) {
	ages := map[string]time.Duration{"old": time.Hour, "new": time.Second}
	asked := 0
	s := sieve(t, "age>5m")
	s.Age = func(m queue.Message) time.Duration { asked++; return ages[string(m.Payload)] }
	for payload, want := range map[string]bool{"old": true, "new": false, "unseen": false} {
		if hit, err := s.Match(t.Context(), inList(payload)); err != nil || hit != want {
			t.Errorf("%s: %v, %v", payload, hit, err)
		}
	}
	if s.Undecided != 1 || s.Ageless != 1 || !strings.Contains(s.Reason(), "not known") {
		t.Errorf("%+v: %s", s.Tally, s.Reason())
	}
	s.Filter, _ = filter.Parse("old")
	asked = 0
	if hit, err := s.Match(t.Context(), inList("old")); !hit || err != nil || asked > 0 {
		t.Errorf("a filter without an age: %v, %v, asked for %d ages", hit, err, asked)
	}
	blind := sieve(t, "!age>5m")
	if hit, err := blind.Match(t.Context(), inList("old")); hit || err != nil || blind.Ageless != 1 {
		t.Errorf("without ages: %v, %v, %+v", hit, err, blind.Tally)
	}
}

// The whole of a payload is asked for where its head does not decide.
func TestCutPayloads(t *testing.T) {
	head := inList(`{"a":"head`)
	head.Size = 1000
	for text, want := range map[string]struct {
		hit bool
		err error
	}{
		"head":           {true, nil},
		"!head":          {false, nil},
		"size>500":       {true, nil},
		"size>5000 tail": {false, nil},
		"tail":           {false, queue.ErrCut},
		".a":             {false, queue.ErrCut},
	} {
		s := sieve(t, text)
		if hit, err := s.Match(t.Context(), head); hit != want.hit || err != want.err || s.Undecided != 0 {
			t.Errorf("%s: %v, %v, %+v", text, hit, err, s.Tally)
		}
	}
	s := sieve(t, "tail")
	s.Unread(0)
	if s.Undecided != 0 || s.Why != nil {
		t.Errorf("nothing was unread: %+v", s.Tally)
	}
	if s.Unread(3); s.Undecided != 3 || s.Why == nil {
		t.Errorf("three were not to be read: %+v", s.Tally)
	}
}

// A program that takes too long everywhere is given up, also when the scan is made in
// pieces.
func TestGivesUp(t *testing.T) {
	s := sieve(t, "jq: if .slow then last(range(1e12)) else true end")
	s.Tally = Tally{Undecided: MaxStopped, Stopped: MaxStopped - 2} // by the piece before
	for i := range 2 {
		if hit, err := s.Match(t.Context(), inList(`{"slow":false}`)); !hit || err != nil {
			t.Fatalf("before %d: %v, %v", i, hit, err)
		}
		if hit, err := s.Match(t.Context(), inList(`{"slow":true}`)); hit || err != nil {
			t.Fatalf("message %d: %v, %v", i, hit, err)
		}
	}
	_, err := s.Match(t.Context(), inList(`{"slow":false}`))
	if !errors.Is(err, ErrGaveUp) || !errors.Is(err, filter.ErrStopped) || s.Undecided != MaxStopped+2 || s.Stopped != MaxStopped {
		t.Errorf("%v, %+v", err, s.Tally)
	}
}

// What is cancelled is not undecided.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := sieve(t, ".a == 1")
	if _, err := s.Match(ctx, inList(`{"a":1}`)); !errors.Is(err, context.Canceled) || s.Undecided != 0 {
		t.Errorf("%v, %+v", err, s.Tally)
	}
}
