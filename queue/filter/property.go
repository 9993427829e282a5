package filter

import (
	"cmp"
	"context"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// operator compares what a message has with what the filter says.
type operator string

// holds reports whether the operator holds for two values that compare as order says.
func (o operator) holds(order int) bool {
	switch o {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	case ">=":
		return order >= 0
	case "!=":
		return order != 0
	}
	return order == 0
}

// fits reports whether the operator exists and makes sense for a property: no due time
// or age is equal to another to the nanosecond.
func (o operator) fits(property string) bool {
	switch o {
	case "<", "<=", ">", ">=":
		return true
	case "=", "==", "!=":
		return property == "size"
	}
	return false
}

// startsProperty returns the name and the operator, perhaps one that does not exist, of
// the property term that s begins with; "" when it begins with none.
func startsProperty(s string) (name string, op operator) {
	n := 0
	for n < len(s) && 'a' <= lower(s[n]) && lower(s[n]) <= 'z' {
		n++
	}
	name = strings.ToLower(s[:n])
	if name != "due" && name != "age" && name != "size" {
		return "", ""
	}
	rest := strings.TrimLeftFunc(s[n:], unicode.IsSpace)
	signs := rest[:len(rest)-len(strings.TrimLeft(rest, "<>=!"))]
	if signs == "" || signs[0] == '!' && !strings.HasPrefix(signs, "!=") {
		return "", "" // the text due, perhaps before a negated term
	}
	return name, operator(signs)
}

// property takes a name, an operator and a value.
func (p *parser) property(name string, op operator) (condition, error) {
	p.pos += len(name)
	p.skipBlanks()
	if !op.fits(name) {
		expected := "expected <, <=, > or >= (text in quotes is looked for)"
		if name == "size" {
			expected = "expected <, <=, >, >=, = or != (text in quotes is looked for)"
		}
		return nil, p.wrong(p.pos, len(op), expected)
	}
	p.pos += len(op)
	p.skipBlanks()
	at := p.pos
	value := p.word()
	c, expected := newProperty(name, op, value)
	if c == nil {
		return nil, p.wrong(at, len(value), expected)
	}
	return c, nil
}

// newProperty returns nil and what was expected when it cannot read the value.
func newProperty(name string, op operator, value string) (c condition, expected string) {
	duration, isDuration := parseDuration(value)
	switch name {
	case "size":
		if n, ok := parseSize(value); ok {
			return size{op, n}, ""
		}
		return nil, "expected a size like 500, 10k or 1.5m"
	case "age":
		if isDuration && duration >= 0 {
			return age{op, duration}, ""
		}
		return nil, "expected an age like 5m, 1h30m or 2d"
	}
	if isDuration {
		return dueIn{op, duration}, ""
	}
	if t, ok := parseTime(value); ok {
		return dueAt{op, t}, ""
	}
	return nil, "expected a duration like 10m or -5m, or a time like 2006-01-02T15:04"
}

// size asks for the size of the whole payload.
type size struct {
	op    operator
	bytes int64
}

func (c size) needs() Needs { return Needs{} }
func (c size) cost() int    { return 0 }

func (c size) ask(_ context.Context, s Subject) (answer, error) {
	return answerOf(c.op.holds(cmp.Compare(s.Size, c.bytes))), nil
}

// age asks how long a message has been seen at least.
type age struct {
	op operator
	d  time.Duration
}

func (c age) needs() Needs { return Needs{Age: true} }
func (c age) cost() int    { return 0 }

func (c age) ask(_ context.Context, s Subject) (answer, error) {
	if s.Age <= 0 {
		return unknown, nil
	}
	return answerOf(c.op.holds(cmp.Compare(s.Age, c.d))), nil
}

// dueIn asks for the time until a message is due, which is below zero when it is overdue.
type dueIn struct {
	op operator
	d  time.Duration
}

func (c dueIn) needs() Needs { return Needs{Due: true} }
func (c dueIn) cost() int    { return 0 }

func (c dueIn) ask(_ context.Context, s Subject) (answer, error) {
	if s.Due.IsZero() || s.Now.IsZero() {
		return unknown, nil
	}
	return answerOf(c.op.holds(s.Due.Compare(s.Now.Add(c.d)))), nil
}

// dueAt asks whether a message is due before or after a time.
type dueAt struct {
	op operator
	t  time.Time
}

func (c dueAt) needs() Needs { return Needs{Due: true} }
func (c dueAt) cost() int    { return 0 }

func (c dueAt) ask(_ context.Context, s Subject) (answer, error) {
	if s.Due.IsZero() {
		return unknown, nil
	}
	return answerOf(c.op.holds(s.Due.Compare(c.t))), nil
}

// parseDuration reads what the screen takes for a duration, weeks and days in front as
// in 1w2d or 1d12h, and a sign.
func parseDuration(s string) (time.Duration, bool) {
	rest, negative := strings.CutPrefix(s, "-")
	if rest == "" {
		return 0, false
	}
	var sum time.Duration
	for _, unit := range []struct {
		suffix string
		length time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		number, after, found := strings.Cut(rest, unit.suffix)
		if !found {
			continue
		}
		v, ok := decimal(number)
		if v *= float64(unit.length); !ok || v > math.MaxInt64/4 {
			return 0, false
		}
		sum, rest = sum+time.Duration(math.Round(v)), after
	}
	if rest != "" {
		d, err := time.ParseDuration(rest)
		if err != nil || strings.ContainsAny(rest, "+-") || d > math.MaxInt64-sum {
			return 0, false
		}
		sum += d
	}
	if negative {
		sum = -sum
	}
	return sum, true
}

// parseTime reads RFC 3339, or a date with or without a time in the local zone.
func parseTime(s string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// parseSize reads bytes, or units of 1024 as the screen shows them: 10k, 10kb and 10KiB
// are the same.
func parseSize(s string) (int64, bool) {
	s = strings.ToLower(s)
	number := strings.TrimRight(s, "bikmgt")
	unit := 1.0
	switch s[len(number):] {
	case "", "b":
	case "k", "kb", "kib":
		unit = 1 << 10
	case "m", "mb", "mib":
		unit = 1 << 20
	case "g", "gb", "gib":
		unit = 1 << 30
	case "t", "tb", "tib":
		unit = 1 << 40
	default:
		return 0, false
	}
	v, ok := decimal(number)
	if v *= unit; !ok || v >= math.MaxInt64 {
		return 0, false
	}
	return int64(math.Round(v)), true
}

// decimal reads digits with at most one point, and no sign or exponent.
func decimal(s string) (float64, bool) {
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil
}
