package ui

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"redq/queue"
)

// number writes n with thousands separators.
func number(n int64) string {
	if n > -1000 && n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	return humanize.Comma(n)
}

// shortNumber writes n in at most w cells: in full where it fits, else in
// thousands, millions and so on, rounded down so that it never promises more
// than there is.
func shortNumber(n int64, w int) string {
	if s := number(n); len(s) <= w {
		return s
	}
	if s := strconv.FormatInt(n, 10); len(s) <= w {
		return s
	}
	v := float64(n)
	suffix := ""
	for _, s := range []string{"k", "M", "G", "T", "P", "E"} {
		v, suffix = v/1000, s
		if math.Abs(v) < 1000 {
			break
		}
	}
	if tenths := math.Trunc(v*10) / 10; math.Abs(v) < 100 {
		if s := strconv.FormatFloat(tenths, 'f', 1, 64) + suffix; len(s) <= w {
			return s
		}
	}
	return strconv.FormatInt(int64(v), 10) + suffix
}

// span writes a length of time in its two largest units: 350ms, 8.4s, 9s, 4m10s, 2d3h.
func span(d time.Duration) string {
	switch {
	case d == math.MinInt64:
		return "−∞"
	case d < 0:
		return "−" + span(-d)
	case d == 0:
		return "0s"
	case d < time.Millisecond:
		return "<1ms"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	case d < 10*time.Second && d%time.Second >= 100*time.Millisecond:
		return units(d, time.Second, ".") + units(d%time.Second, 100*time.Millisecond, "s")
	case d < time.Minute:
		return units(d, time.Second, "s")
	}
	const day, year = 24 * time.Hour, 365 * 24 * time.Hour
	switch {
	case d < time.Hour:
		return twoUnits(d, time.Minute, "m", time.Second, "s")
	case d < day:
		return twoUnits(d, time.Hour, "h", time.Minute, "m")
	case d < year:
		return twoUnits(d, day, "d", time.Hour, "h")
	}
	return twoUnits(d, year, "y", day, "d")
}

func twoUnits(d, big time.Duration, bigName string, small time.Duration, smallName string) string {
	s := units(d, big, bigName)
	if rest := d % big; rest >= small {
		s += units(rest, small, smallName)
	}
	return s
}

// shortSpan writes a length of time in at most w cells: in its largest unit alone
// where two have no room.
func shortSpan(d time.Duration, w int) string {
	s := span(d)
	if width(s) <= w {
		return s
	}
	for i, r := range s {
		if i > 0 && (r < '0' || r > '9') && r != '.' {
			return s[:i+1]
		}
	}
	return s
}

// units writes how many times unit is in d.
func units(d, unit time.Duration, name string) string {
	return strconv.FormatInt(int64(d/unit), 10) + name
}

// latency writes how long a request took.
func latency(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// interval writes the refresh interval.
func interval(d time.Duration) string {
	if d%time.Second == 0 && d < time.Minute {
		return units(d, time.Second, "s")
	}
	return span(d)
}

// fromNow writes when t is, seen from now.
func fromNow(t, now time.Time) string {
	d := t.Sub(now)
	switch {
	case d > -50*time.Millisecond && d < 50*time.Millisecond:
		return "now"
	case d > 0:
		return "in " + span(d)
	}
	return span(-d) + " ago"
}

// instant writes an instant in full, with its zone.
func instant(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05.000 -07:00") }

// size writes a number of bytes.
func size(n int64) string {
	if n < 0 {
		return "?"
	}
	return humanize.IBytes(uint64(n))
}

// sizeOf writes a number of bytes out of another, the unit once where it is the same.
func sizeOf(n, of int64) string {
	a, b := size(n), size(of)
	if digits, unit, ok := strings.Cut(a, " "); ok && strings.HasSuffix(b, " "+unit) {
		return digits + "/" + b
	}
	return a + "/" + b
}

// perSecond writes a rate with its sign.
func perSecond(v float64) string {
	switch size := math.Abs(v); {
	case size < 0.05:
		return "0"
	case size < 99.95:
		return sign(v) + strconv.FormatFloat(size, 'f', 1, 64)
	default:
		return sign(v) + shortNumber(int64(math.Round(size)), rateWidth)
	}
}

// rateWidth is the most cells of a rate without its sign.
const rateWidth = 5

func sign(v float64) string {
	if v < 0 {
		return "−"
	}
	return "+"
}

// plural writes a count and its noun.
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}

// count writes a count as it is known, in at most w cells: ? when the server
// would not say, the sign for absent where there is nothing to count.
func (p painter) count(c queue.Count, w int) string {
	switch c.State {
	case queue.Known:
		return shortNumber(c.N, w)
	case queue.AtLeast:
		if c.N == 0 {
			return "0"
		}
		return p.Glyphs.AtLeast + shortNumber(c.N, w-1)
	case queue.Unreadable:
		return p.Glyphs.Unknown
	}
	return p.Glyphs.Absent
}

// roundUp makes a countdown end at 1s, not at 0s.
func roundUp(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

// noun is the word alone, for a count painted apart from it.
func noun(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
