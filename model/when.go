package model

import (
	"errors"
	"strings"
	"time"

	"redq/queue"
)

var errWhen = errors.New("expected a duration (5m, 1h30m), now, a time (15:04) or a date (2026-01-31 15:04, RFC 3339)")

// parseWhen reads a due time as it is typed: a duration from now with or without
// "in", which may be negative, "now", a time of day (the next one to come) or a
// date with a time, both in now's zone unless they name one. relative tells that
// it counts from now.
func parseWhen(text string, now time.Time) (due time.Time, relative bool, err error) {
	s := strings.TrimSpace(text)
	if strings.EqualFold(s, "now") {
		return now, true, nil
	}
	if d, err := time.ParseDuration(strings.ReplaceAll(strings.TrimPrefix(s, "in "), " ", "")); err == nil {
		return now.Add(d), true, nil
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return nextAt(t, now), false, nil
		}
	}
	for _, layout := range []string{
		time.RFC3339Nano,
		"2006-01-02 15:04:05Z07:00",
		"2006-01-02T15:04:05", "2006-01-02 15:04:05",
		"2006-01-02T15:04", "2006-01-02 15:04",
		"2006-01-02",
	} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return t, false, nil
		}
	}
	return time.Time{}, false, errWhen
}

// nextAt returns the next instant after now with the clock of t.
func nextAt(t, now time.Time) time.Time {
	y, month, day := now.Date()
	at := func(day int) time.Time {
		return time.Date(y, month, day, t.Hour(), t.Minute(), t.Second(), 0, now.Location())
	}
	if today := at(day); today.After(now) {
		return today
	}
	return at(day + 1)
}

// Preview is what a typed time means.
type Preview struct {
	Due   time.Time     // server's clock; zero when nothing (good) was typed
	In    time.Duration // from the server's now; negative is overdue
	Score queue.Score   // what would be written
	Err   string        // what is wrong and what was expected; "" when Due is good
	// Relative is set when a duration was typed, so that Due moves on with the clock.
	Relative bool
}

// preview tells what text means for scores of a unit.
func preview(text string, now time.Time, unit queue.Unit) Preview {
	if strings.TrimSpace(text) == "" {
		return Preview{}
	}
	due, relative, err := parseWhen(text, now)
	if err != nil {
		return Preview{Err: err.Error()}
	}
	score := unit.Score(due)
	if v, ok := score.Float(); !ok || !unit.Fits(v) {
		return Preview{Err: "that time is out of range: expected a year from 2001 to 3018"}
	}
	return Preview{Due: due, In: due.Sub(now), Score: score, Relative: relative}
}
