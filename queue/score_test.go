package queue_test

import (
	"math"
	"testing"
	"time"

	"redq/queue"
)

var units = []queue.Unit{queue.Milliseconds, queue.Seconds, queue.FloatSeconds, queue.Microseconds}

func TestNoDateIsInvented(t *testing.T) {
	for _, s := range []queue.Score{
		"inf", "-inf", "-1", "0", "95", "310", "9007199254740993", "nan", "", "abc", "1e400",
	} {
		for _, u := range units {
			if at, ok := u.Time(s); ok {
				t.Errorf("%s in %v became %v", s, u, at)
			}
		}
		if u, ok := queue.GuessUnit(s); ok {
			t.Errorf("%s looks like %v", s, u)
		}
	}
}

func TestUnitsAreToldApart(t *testing.T) {
	for s, want := range map[queue.Score]queue.Unit{
		"1764547200":        queue.Seconds,
		"1764547200.25":     queue.FloatSeconds,
		"1764547200123":     queue.Milliseconds,
		"1764547200123456":  queue.Microseconds,
		"32503680000000":    queue.Milliseconds, // the year 3000
		"1.764547200123e12": queue.Milliseconds,
	} {
		got, ok := queue.GuessUnit(s)
		if !ok || got != want {
			t.Errorf("%s looks like %v (%v), want %v", s, got, ok, want)
		}
		for _, u := range units {
			if _, ok := u.Time(s); ok != (u.String() == want.String()) {
				t.Errorf("%s read in %v: %v", s, u, ok)
			}
		}
	}
}

func TestParseUnit(t *testing.T) {
	for text, want := range map[string]queue.Unit{"s": queue.Seconds, "float": queue.FloatSeconds, "ms": queue.Milliseconds, "US": queue.Microseconds} {
		if got, err := queue.ParseUnit(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	if _, err := queue.ParseUnit("min"); err == nil {
		t.Error("min is no unit")
	}
}

// A score stands for its instant, never an earlier one, and by less than one unit a later one.
func FuzzScoreOfTime(f *testing.F) {
	f.Add(int64(1764547200), int64(123456789))
	f.Add(int64(1764547200), int64(0))
	f.Add(int64(33_000_000_000), int64(999_999_999))
	f.Fuzz(func(t *testing.T, sec, nsec int64) {
		if sec < 1_000_000_001 || sec > 33_000_000_000 || nsec < 0 || nsec > 999_999_999 {
			t.Skip()
		}
		at := time.Unix(sec, nsec)
		for _, u := range units {
			if _, until := u.Range(); float64(sec)*u.PerSecond() >= until-u.PerSecond() {
				continue // beyond what the unit can hold
			}
			got, ok := u.Time(u.Score(at))
			unit := time.Duration(float64(time.Second) / u.PerSecond())
			if u == queue.FloatSeconds {
				unit = 10 * time.Microsecond // what a double keeps of a fraction
			}
			if !ok || got.Before(at.Truncate(time.Microsecond)) && u != queue.FloatSeconds || got.Sub(at) > unit || at.Sub(got) > unit {
				t.Errorf("%v: %v became %s, which is %v", u, at, u.Score(at), got)
			}
		}
	})
}

// Whatever a sorted set may hold: no panic, at most one unit, and printing a
// score loses nothing.
func FuzzScore(f *testing.F) {
	for _, s := range []string{"1764547200", "1764547200.123456", "inf", "-inf", "1e300", "0x1p-2", "9007199254740993", "-0", "1_0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := queue.Score(text)
		v, ok := s.Float()
		if !ok {
			return
		}
		if back, ok := queue.ScoreOf(v).Float(); !ok || back != v && !(math.IsNaN(back)) {
			t.Errorf("%q is %v, printed as %s", text, v, queue.ScoreOf(v))
		}
		fits := 0
		for _, u := range []queue.Unit{queue.Seconds, queue.Milliseconds, queue.Microseconds} {
			if at, ok := u.Time(s); ok {
				fits++
				if at.Year() < 2001 || at.Year() > 3019 {
					t.Errorf("%q in %v is %v", text, u, at)
				}
			}
		}
		if _, ok := queue.GuessUnit(s); fits > 1 || ok != (fits == 1) {
			t.Errorf("%q fits %d units, guessed %v", text, fits, ok)
		}
	})
}
