package queue

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Unit is what a score of a delayed queue counts since the Unix epoch.
type Unit uint8

// The units in use. Seconds and FloatSeconds differ only in what is written:
// whole seconds, rounded up so that nothing is early, or a fraction of six digits.
const (
	Milliseconds Unit = iota
	Seconds
	FloatSeconds
	Microseconds
)

// String returns the unit's short code: ms, s or us. Both kinds of seconds are "s".
func (u Unit) String() string {
	switch u {
	case Seconds, FloatSeconds:
		return "s"
	case Microseconds:
		return "us"
	}
	return "ms"
}

// ParseUnit reads s, float (or fs), ms or us.
func ParseUnit(s string) (Unit, error) {
	switch strings.ToLower(s) {
	case "s", "sec", "seconds":
		return Seconds, nil
	case "fs", "float", "float-s", "floats":
		return FloatSeconds, nil
	case "ms", "milliseconds":
		return Milliseconds, nil
	case "us", "µs", "microseconds":
		return Microseconds, nil
	}
	return 0, fmt.Errorf("%q is not a unit: expected s, float, ms or us", s)
}

// PerSecond returns how many of the unit make one second.
func (u Unit) PerSecond() float64 {
	switch u {
	case Seconds, FloatSeconds:
		return 1
	case Microseconds:
		return 1e6
	}
	return 1e3
}

// The dates between which a score is taken for a time: 2001-09-09 (ten digits
// of seconds) up to the year 3018, in microseconds up to 2255, where a double
// begins to lose digits. Ranges of different units do not overlap, so a score
// fits one unit at most.
const (
	fitsFrom  = 1e9
	fitsUntil = 33.1e9
	exactly   = 1 << 53
)

// Range returns the scores, from (inclusive) and until (exclusive), that fit the unit.
func (u Unit) Range() (from, until float64) {
	return fitsFrom * u.PerSecond(), min(fitsUntil*u.PerSecond(), exactly)
}

// Fits reports whether score, read in the unit, is a plausible time.
func (u Unit) Fits(score float64) bool {
	from, until := u.Range()
	return score >= from && score < until
}

// Score returns the score that stands for t, never earlier than t.
func (u Unit) Score(t time.Time) Score {
	us := t.UnixMicro()
	if t.Nanosecond()%1000 != 0 {
		us++
	}
	switch u {
	case Seconds:
		return scoreOfInt(ceilDiv(us, 1e6))
	case FloatSeconds:
		return Score(fmt.Sprintf("%d.%06d", us/1e6, us%1e6))
	case Microseconds:
		return scoreOfInt(us)
	}
	return scoreOfInt(ceilDiv(us, 1e3))
}

// Time returns the instant a score stands for. It is false, and no date is
// invented, when the score does not fit the unit.
func (u Unit) Time(s Score) (time.Time, bool) {
	v, ok := s.Float()
	if !ok || !u.Fits(v) {
		return time.Time{}, false
	}
	if n, err := strconv.ParseInt(string(s), 10, 64); err == nil {
		switch u {
		case Seconds, FloatSeconds:
			return time.Unix(n, 0), true
		case Microseconds:
			return time.UnixMicro(n), true
		default:
			return time.UnixMilli(n), true
		}
	}
	sec, frac := math.Modf(v / u.PerSecond())
	return time.Unix(int64(sec), int64(math.Round(frac*1e6))*1000), true
}

// GuessUnit returns the unit that score fits as a time, and whether there is one.
// Seconds with a fraction are FloatSeconds.
func GuessUnit(s Score) (Unit, bool) {
	v, ok := s.Float()
	if !ok {
		return 0, false
	}
	for _, u := range []Unit{Seconds, Milliseconds, Microseconds} {
		if u.Fits(v) {
			if u == Seconds && v != math.Trunc(v) {
				u = FloatSeconds
			}
			return u, true
		}
	}
	return 0, false
}

// Score is the score of a sorted set's member, as the server prints it. It is
// kept as text: a double has more digits than any one way of printing it.
type Score string

// Float returns the score's value; false when the text is not a number.
func (s Score) Float() (float64, bool) {
	v, err := strconv.ParseFloat(string(s), 64)
	if err != nil || math.IsNaN(v) {
		return 0, false
	}
	return v, true
}

// ScoreOf prints a double so that it reads back as the same double.
func ScoreOf(v float64) Score {
	switch {
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	case v == math.Trunc(v) && math.Abs(v) < 1<<63:
		return scoreOfInt(int64(v))
	}
	return Score(strconv.FormatFloat(v, 'g', 17, 64))
}

func scoreOfInt(n int64) Score { return Score(strconv.FormatInt(n, 10)) }

func ceilDiv(a, b int64) int64 {
	q := a / b
	if a%b > 0 {
		q++
	}
	return q
}
