// Package when reads durations and times the way people write them. It knows
// nothing of queues and never asks the clock.
package when

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const (
	day  = 24 * time.Hour
	week = 7 * day
)

var (
	errDuration = errors.New("expected a duration like 5m, 1h30m or 2d")
	errTime     = errors.New(`expected a time like 15:04, "2006-01-02 15:04" or 2006-01-02T15:04:05Z`)
)

// ParseDuration reads a duration of 0 or more: what time.ParseDuration reads,
// and in front of it weeks and days, as in 2d, 1d12h or 1w. A number needs a unit.
func ParseDuration(s string) (time.Duration, error) {
	rest := strings.TrimSpace(s)
	var sum time.Duration
	for _, unit := range []struct {
		suffix string
		length time.Duration
	}{{"w", week}, {"d", day}} {
		number, after, found := strings.Cut(rest, unit.suffix)
		if !found {
			continue
		}
		d, ok := times(number, unit.length)
		if !ok {
			return 0, errDuration
		}
		sum, rest = sum+d, after
		if rest == "" {
			return sum, nil
		}
	}
	d, err := time.ParseDuration(rest)
	// time.ParseDuration takes a bare 0; a sign is neither asked for nor harmless.
	if err != nil || strings.ContainsAny(rest, "+-") || d > math.MaxInt64-sum {
		return 0, errDuration
	}
	return sum + d, nil
}

// times returns number * length; false when number is none, negative, or the product too large.
func times(number string, length time.Duration) (time.Duration, bool) {
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || strings.ContainsAny(number, "+-xXpPeE_nN") {
		return 0, false
	}
	product := v * float64(length)
	if product > math.MaxInt64/4 {
		return 0, false
	}
	return time.Duration(math.Round(product)), true
}

// ParseTime reads RFC 3339, or in now's time zone "2006-01-02 15:04" (with
// seconds too), or 15:04, which is the next such time after now.
func ParseTime(s string, now time.Time) (time.Time, error) {
	s = strings.TrimSpace(s)
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	for _, layout := range []string{
		"2006-01-02 15:04:05Z07:00",
		"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05",
	} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return t, nil
		}
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		if clock, err := time.Parse(layout, s); err == nil {
			return next(clock, now), nil
		}
	}
	return time.Time{}, errTime
}

// next returns the first instant after now whose clock shows that of clock.
func next(clock, now time.Time) time.Time {
	y, m, d := now.Date()
	at := func(d int) time.Time {
		return time.Date(y, m, d, clock.Hour(), clock.Minute(), clock.Second(), 0, now.Location())
	}
	if t := at(d); t.After(now) {
		return t
	}
	return at(d + 1)
}

// Relative says how far t lies from now in words: "in 5m3s", "2h1m ago", "now".
func Relative(t, now time.Time) string {
	// Not t.Sub: a Duration ends at 292 years, and due times do not.
	switch seconds := t.Unix() - now.Unix(); {
	case seconds > 0:
		return "in " + short(seconds)
	case seconds < 0:
		return short(-seconds) + " ago"
	}
	return "now"
}

// short prints seconds with their two largest units: 3y40d, 2d3h, 5m3s, 12s.
func short(seconds int64) string {
	units := []struct {
		suffix string
		length int64
	}{{"y", 365 * 86400}, {"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}}
	for i, u := range units {
		n := seconds / u.length
		if n == 0 {
			continue
		}
		text := fmt.Sprintf("%d%s", n, u.suffix)
		if i+1 < len(units) {
			if rest := seconds % u.length / units[i+1].length; rest > 0 {
				text += fmt.Sprintf("%d%s", rest, units[i+1].suffix)
			}
		}
		return text
	}
	return "0s"
}
