package ui

import (
	"math"
	"testing"
	"time"

	"redq/queue"

	"github.com/muesli/termenv"
)

func TestShortNumber(t *testing.T) {
	for _, tt := range []struct {
		n    int64
		w    int
		want string
	}{
		{0, 1, "0"},
		{999, 3, "999"},
		{1204, 9, "1,204"},
		{1204, 4, "1204"},
		{1299, 4, "1299"},
		{12_999, 5, "12999"},
		{12_999, 4, "12k"},
		{129_999, 5, "129k"},
		{1_999_999, 5, "1.9M"}, // never more than there is
		{math.MaxInt64, 5, "9.2E"},
		{-1204, 6, "-1,204"},
	} {
		if got := shortNumber(tt.n, tt.w); got != tt.want {
			t.Errorf("shortNumber(%d, %d) = %q, want %q", tt.n, tt.w, got, tt.want)
		}
	}
}

func TestShortNumberFits(t *testing.T) {
	for n := int64(1); n > 0 && n < math.MaxInt64/7; n *= 7 {
		for w := 4; w < 12; w++ {
			if got := shortNumber(n, w); width(got) > w {
				t.Errorf("shortNumber(%d, %d) = %q", n, w, got)
			}
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                          "0s",
		time.Microsecond:           "<1ms",
		350 * time.Millisecond:     "350ms",
		8400 * time.Millisecond:    "8.4s",
		59 * time.Second:           "59s",
		time.Minute:                "1m",
		250 * time.Second:          "4m10s",
		time.Hour:                  "1h",
		51 * time.Hour:             "2d3h",
		400 * 24 * time.Hour:       "1y35d",
		-90 * time.Second:          "−1m30s",
		time.Duration(1<<63 - 1):   "292y171d",
		time.Duration(-1 << 63):    "−∞",
		9999 * time.Millisecond:    "9.9s",
		59*time.Minute + 59*1e9:    "59m59s",
		24*time.Hour - time.Second: "23h59m",
	} {
		if got := span(d); got != want {
			t.Errorf("span(%d) = %q, want %q", int64(d), got, want)
		}
	}
}

func TestShortSpan(t *testing.T) {
	for _, tt := range []struct {
		d    time.Duration
		w    int
		want string
	}{
		{250 * time.Second, 5, "4m10s"},
		{250 * time.Second, 4, "4m"},
		{51*time.Hour + 30*time.Minute, 3, "2d"},
		{-90 * time.Second, 3, "−1m"},
	} {
		if got := shortSpan(tt.d, tt.w); got != tt.want {
			t.Errorf("shortSpan(%v, %d) = %q, want %q", tt.d, tt.w, got, tt.want)
		}
	}
}

func TestFromNow(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for d, want := range map[time.Duration]string{
		0: "now", 5100 * time.Millisecond: "in 5.1s", -4 * time.Minute: "4m ago",
	} {
		if got := fromNow(now.Add(d), now); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestPerSecond(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.04: "0", -0.04: "0", 12: "+12.0", -3.24: "−3.2", 150.6: "+151", -12_345: "−12345", 99.96: "+100", 1234.5: "+1,235", 1_234_567: "+1.2M",
	} {
		if got := perSecond(v); got != want {
			t.Errorf("perSecond(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestSizeOf(t *testing.T) {
	for _, tt := range []struct {
		n, of int64
		want  string
	}{
		{1288490188, 4 << 30, "1.2/4.0 GiB"},
		{700 << 20, 4 << 30, "700 MiB/4.0 GiB"},
	} {
		if got := sizeOf(tt.n, tt.of); got != tt.want {
			t.Errorf("sizeOf(%d, %d) = %q, want %q", tt.n, tt.of, got, tt.want)
		}
	}
}

// A number that is not known is never shown as 0.
func TestCountTellsWhatIsKnown(t *testing.T) {
	p := painter{Theme: testTheme(termenv.Ascii, true)}
	for _, tt := range []struct {
		c    queue.Count
		want string
	}{
		{queue.Count{}, "–"},
		{queue.Count{State: queue.Known}, "0"},
		{queue.Count{State: queue.Unreadable}, "?"},
		{queue.Count{State: queue.AtLeast, N: 12}, "≥12"},
		{queue.Count{State: queue.AtLeast}, "0"},
		{queue.Count{State: queue.Known, N: 12_480}, "12,480"},
	} {
		if got := p.count(tt.c, 9); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.c, got, tt.want)
		}
	}
}
