package model

import (
	"errors"
	"strings"
	"time"

	"redq/model/when"
	"redq/queue"
)

var errWhen = errors.New("expected a duration (5m, 1h30m, 2d), now, a time (15:04) or a date (2026-01-31 15:04, RFC 3339)")

// parseWhen reads a due time as it is typed: a duration from now with or without
// "in", which may be negative, "now", a time of day (the next one to come) or a
// date with a time, both in now's zone unless they name one. relative tells that
// it counts from now.
func parseWhen(text string, now time.Time) (due time.Time, relative bool, err error) {
	s := strings.TrimSpace(text)
	if strings.EqualFold(s, "now") {
		return now, true, nil
	}
	span, past := strings.CutPrefix(strings.ReplaceAll(strings.TrimPrefix(s, "in "), " ", ""), "-")
	if d, err := when.ParseDuration(span); err == nil {
		if past {
			d = -d
		}
		return now.Add(d), true, nil
	}
	if due, err := when.ParseTime(s, now); err == nil {
		return due, false, nil
	}
	return time.Time{}, false, errWhen
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
