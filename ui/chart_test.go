package ui

import (
	"bytes"
	"math"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"redq/styles"
)

// testTheme is the theme of a terminal with the colours of p.
func testTheme(p termenv.Profile, dark bool) styles.Theme {
	r := lipgloss.NewRenderer(&bytes.Buffer{})
	r.SetColorProfile(p)
	r.SetHasDarkBackground(dark)
	return styles.New(r, styles.UnicodeGlyphs())
}

func TestSparkline(t *testing.T) {
	g := styles.UnicodeGlyphs()
	for _, tt := range []struct {
		values []float64
		want   string
	}{
		{nil, ""},
		{[]float64{0, 0, 0}, "▁▁▁"},
		{[]float64{5, 5, 5}, "▄▄▄"},
		{[]float64{0, 1, 1000}, "▁▁▇"},
		{[]float64{0, 500, 1000}, "▁▄▇"},
		{[]float64{gap, 3, gap, 6}, " ▄ ▇"},
		{[]float64{gap, gap}, "  "},
	} {
		if got := sparkline(g, tt.values); got != tt.want {
			t.Errorf("sparkline(%v) = %q, want %q", tt.values, got, tt.want)
		}
	}
}

func TestBar(t *testing.T) {
	g := styles.UnicodeGlyphs()
	for _, tt := range []struct {
		v, top int64
		w      int
		want   string
	}{
		{0, 100, 4, ""},
		{100, 100, 4, "████"},
		{50, 100, 4, "██"},
		{1, 1_000_000, 4, "▏"}, // never nothing for something
		{100, 800, 1, "▏"},
		{700, 800, 1, "▉"},
		{10, 100, 0, ""},
		{math.MaxInt64, math.MaxInt64, 3, "███"},
	} {
		if got := bar(g, tt.v, tt.top, tt.w); got != tt.want {
			t.Errorf("bar(%d, %d, %d) = %q, want %q", tt.v, tt.top, tt.w, got, tt.want)
		}
	}
}

func TestArea(t *testing.T) {
	th := testTheme(termenv.Ascii, true)
	got := area(th, []float64{0, 1, 5, 8, 10, gap, 16}, 16, 2)
	want := []string{
		"   " + " " + "▂" + " " + "█",
		"▁▁▅██ █",
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d: %q, want %q", i, got[i], want[i])
		}
		if w := ansi.StringWidth(got[i]); w != 7 {
			t.Errorf("line %d is %d cells wide", i, w)
		}
	}
}

func TestNiceTop(t *testing.T) {
	for v, want := range map[float64]float64{0: 4, 3: 4, 5: 5, 11: 12, 101: 120, 999: 1000, 1430: 1600, 8001: 10000, 1e9 + 1: 1.2e9} {
		if got := niceTop(v); got != want {
			t.Errorf("niceTop(%v) = %v, want %v", v, got, want)
		}
	}
}
