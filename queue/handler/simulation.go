package handler

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The textual form of a Simulation: names and values, with blanks or commas between,
//
//	latency=50ms±20ms fail=5% defer=2% crash=1% panic=0.1% wait=10s seed=7

// named is a field of a Simulation by the name that its textual form has.
type named[T any] struct {
	name  string
	value *T
}

func (s *Simulation) durations() []named[time.Duration] {
	return []named[time.Duration]{{"latency", &s.Latency}, {"spread", &s.Spread}, {"wait", &s.Wait}}
}

func (s *Simulation) rates() []named[float64] {
	return []named[float64]{{"fail", &s.Fail}, {"defer", &s.Defer}, {"crash", &s.Crash}, {"panic", &s.Panic}}
}

// ParseSimulation reads the textual form of a Simulation: name=value pairs with blanks or
// commas between, in any order, each at most once:
//
//	latency=50ms±20ms   the latency and its spread; +- does for ±
//	fail=5%             fail, defer, crash and panic: a percentage, or a share such as 0.05
//	wait=10s            how far defer puts a message off
//	seed=7
//
// What is not named has its default. The result is valid.
func ParseSimulation(text string) (Simulation, error) {
	var s Simulation
	seen := map[string]bool{}
	pairs := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' })
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		switch {
		case !ok:
			return Simulation{}, fmt.Errorf("%q: expected name=value", pair)
		case seen[name]:
			return Simulation{}, fmt.Errorf("%q: %s was given before", pair, name)
		}
		seen[name] = true
		if err := s.set(name, value); err != nil {
			return Simulation{}, fmt.Errorf("%q: %w", pair, err)
		}
	}
	if err := s.Validate(); err != nil {
		return Simulation{}, err
	}
	return s, nil
}

func (s *Simulation) set(name, value string) error {
	var err error
	switch name {
	case "latency":
		return s.setLatency(value)
	case "wait":
		s.Wait, err = parseDuration(value)
		return err
	case "seed":
		if s.Seed, err = strconv.ParseUint(value, 10, 64); err != nil {
			return errors.New("expected a whole number of at most 64 bits")
		}
		return nil
	}
	for _, r := range s.rates() {
		if r.name == name {
			*r.value, err = parseRate(value)
			return err
		}
	}
	return errors.New("unknown: expected latency, fail, defer, crash, panic, wait or seed")
}

func (s *Simulation) setLatency(value string) (err error) {
	latency, spread, spreads := strings.Cut(strings.Replace(value, "+-", "±", 1), "±")
	if s.Latency, err = parseDuration(latency); err != nil || !spreads {
		return err
	}
	s.Spread, err = parseDuration(spread)
	return err
}

func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, errors.New("expected a time such as 50ms or 1.5s")
	}
	return d, nil
}

// parseRate reads a percentage or a share. The decimal exponent divides by 100 without
// the rounding that a division would add, so that what String writes reads the same.
func parseRate(text string) (float64, error) {
	digits, percent := strings.CutSuffix(text, "%")
	if percent {
		digits += "e-2"
	}
	rate, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return 0, errors.New("expected a percentage such as 5% or a share such as 0.05")
	}
	return rate, nil
}

// String returns the textual form, without what has its default: "" for the zero value.
// ParseSimulation reads it back to an equal Simulation, if s is valid.
func (s Simulation) String() string {
	var pairs []string
	add := func(name, value string) { pairs = append(pairs, name+"="+value) }
	if s.Spread != 0 {
		add("latency", s.Latency.String()+"±"+s.Spread.String())
	} else if s.Latency != 0 {
		add("latency", s.Latency.String())
	}
	for _, r := range s.rates() {
		if *r.value != 0 {
			add(r.name, percentage(*r.value))
		}
	}
	if s.Wait != 0 {
		add("wait", s.Wait.String())
	}
	if s.Seed != 0 {
		add("seed", strconv.FormatUint(s.Seed, 10))
	}
	return strings.Join(pairs, " ")
}

// percentage moves the decimal point of a share by two digits; see parseRate.
func percentage(share float64) string {
	whole, part, _ := strings.Cut(strconv.FormatFloat(share, 'f', -1, 64), ".")
	part += strings.Repeat("0", max(0, 2-len(part)))
	text := strings.TrimLeft(whole+part[:2], "0")
	if text == "" {
		text = "0"
	}
	if len(part) > 2 {
		text += "." + part[2:]
	}
	return text + "%"
}
