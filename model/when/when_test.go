package when

import (
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"5m":     5 * time.Minute,
		"1h30m":  90 * time.Minute,
		"2d":     48 * time.Hour,
		"1d12h":  36 * time.Hour,
		"1w2d3h": (9*24 + 3) * time.Hour,
		"1.5d":   36 * time.Hour,
		"250ms":  250 * time.Millisecond,
		"0s":     0,
		"0":      0,
		" 5m ":   5 * time.Minute,
	} {
		got, err := ParseDuration(in)
		if err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{
		"", "5", "m", "-5m", "+5m", "-2d", "d", "2dd", "1d2w", "soon", "5 minutes", "1d-3h",
		"NaNd", "Infd", "1e300d", "0x10d", "300y", "106752d", "9999999999h", "5m\x1b[2J",
	} {
		if got, err := ParseDuration(in); err == nil {
			t.Errorf("ParseDuration(%q) = %v, want an error", in, got)
		}
	}
}

func TestParseTime(t *testing.T) {
	zone := time.FixedZone("test", 2*60*60)
	now := time.Date(2026, 12, 31, 15, 4, 30, 0, zone)
	for in, want := range map[string]string{
		"2027-01-02T03:04:05Z":      "2027-01-02T03:04:05Z",
		"2027-01-02T03:04:05+01:00": "2027-01-02T02:04:05Z",
		"2027-01-02T03:04:05.25Z":   "2027-01-02T03:04:05.25Z",
		"2027-01-02 03:04":          "2027-01-02T01:04:00Z",
		"2027-01-02 03:04:05":       "2027-01-02T01:04:05Z",
		"15:05":                     "2026-12-31T13:05:00Z",
		"15:04":                     "2027-01-01T13:04:00Z", // 30 seconds ago: tomorrow
		"15:04:31":                  "2026-12-31T13:04:31Z",
		"00:00":                     "2026-12-31T22:00:00Z",
	} {
		got, err := ParseTime(in, now)
		if err != nil || got.UTC().Format(time.RFC3339Nano) != want {
			t.Errorf("ParseTime(%q) = %v, %v; want %v", in, got.UTC(), err, want)
		}
	}
	for _, in := range []string{"", "tomorrow", "25:00", "2027-13-01 00:00", "5m", "2027-01-02"} {
		if got, err := ParseTime(in, now); err == nil {
			t.Errorf("ParseTime(%q) = %v, want an error", in, got)
		}
	}
}

func TestParseTimeAcrossADaylightSavingChange(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	now := time.Date(2026, 10, 24, 12, 0, 0, 0, zone) // the clocks go back in the night that follows
	got, err := ParseTime("11:59", now)
	if err != nil || got.Sub(now) != 24*time.Hour+59*time.Minute {
		t.Errorf("got %v (%v later), %v", got, got.Sub(now), err)
	}
}

func TestRelative(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for due, want := range map[time.Time]string{
		now:                                    "now",
		now.Add(900 * time.Millisecond):        "now",
		now.Add(5*time.Minute + 3*time.Second): "in 5m3s",
		now.Add(-3 * time.Hour):                "3h ago",
		now.Add(49 * time.Hour):                "in 2d1h",
		now.Add(-61 * time.Second):             "1m1s ago",
		now.AddDate(1, 0, 3):                   "in 1y3d",
		now.AddDate(974, 0, 0):                 "in 974y236d", // leap days
	} {
		if got := Relative(due, now); got != want {
			t.Errorf("Relative(%v) = %q, want %q", due, got, want)
		}
	}
}

func FuzzParseDuration(f *testing.F) {
	f.Add("1w2d3h4m5s")
	f.Add("-1d")
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := ParseDuration(s); err == nil && d < 0 {
			t.Errorf("ParseDuration(%q) = %v: negative", s, d)
		}
	})
}
