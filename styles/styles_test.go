package styles_test

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/lucasb-eyer/go-colorful"
	"github.com/muesli/termenv"

	"redq/styles"
)

func theme(p termenv.Profile, dark bool) styles.Theme {
	r := lipgloss.NewRenderer(&bytes.Buffer{})
	r.SetColorProfile(p)
	r.SetHasDarkBackground(dark)
	return styles.New(r, styles.UnicodeGlyphs())
}

// inks returns every ink of a theme by the name of its field.
func inks(th styles.Theme) map[string]styles.Ink {
	out := map[string]styles.Ink{}
	v := reflect.ValueOf(th)
	for i := range v.NumField() {
		switch f := v.Field(i).Interface().(type) {
		case styles.Ink:
			out[v.Type().Field(i).Name] = f
		case []styles.Ink:
			for j, k := range f {
				out[fmt.Sprintf("%s[%d]", v.Type().Field(i).Name, j)] = k
			}
		}
	}
	return out
}

func TestWithoutColoursOnlyAttributesAreLeft(t *testing.T) {
	for name, ink := range inks(theme(termenv.Ascii, true)) {
		for _, allowed := range []string{"", "\x1b[1m", "\x1b[7m"} {
			if allowed == "" && ink.Paint("x") == "x" || allowed != "" && strings.HasPrefix(ink.Paint("x"), allowed+"x") {
				name = ""
			}
		}
		if name != "" {
			t.Errorf("%s paints %q under NO_COLOR", name, ink.Paint("x"))
		}
	}
}

func TestEachProfileUsesItsOwnKindOfColour(t *testing.T) {
	for profile, want := range map[termenv.Profile]string{
		termenv.TrueColor: "38;2;", termenv.ANSI256: "38;5;", termenv.ANSI: "\x1b[9",
	} {
		if got := theme(profile, true).Warn.Paint("x"); !strings.Contains(got, want) {
			t.Errorf("profile %v: %q does not contain %q", profile, got, want)
		}
	}
}

func TestPaintEndsWhatItBegins(t *testing.T) {
	for _, p := range []termenv.Profile{termenv.TrueColor, termenv.ANSI256, termenv.ANSI, termenv.Ascii} {
		for name, ink := range inks(theme(p, true)) {
			got := ink.Paint("text")
			if ansi.Strip(got) != "text" {
				t.Errorf("%s changed the text: %q", name, got)
			}
			if got != "text" && !strings.HasSuffix(got, "\x1b[0m") {
				t.Errorf("%s leaves its colour on: %q", name, got)
			}
			if ink.Paint("") != "" {
				t.Errorf("%s paints nothing as %q", name, ink.Paint(""))
			}
		}
	}
}

func TestOverKeepsColoursAndCoversAllOfTheLine(t *testing.T) {
	th := theme(termenv.TrueColor, true)
	got := th.Selection.Over("a " + th.Bad.Paint("b") + " c")
	ground := strings.TrimSuffix(th.Selection.Paint("|"), "|\x1b[0m")
	bad := strings.TrimSuffix(th.Bad.Paint("|"), "|\x1b[0m")
	want := ground + "a " + bad + "b\x1b[0m" + ground + " c\x1b[0m"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestDimmedIsOneInk(t *testing.T) {
	th := theme(termenv.TrueColor, true)
	dim := th.Dimmed()
	kept := map[string]bool{"Base": true, "Faint": true, "Selection": true, "Ramp[0]": true}
	for name, ink := range inks(dim) {
		if !kept[name] && ink != th.Stale {
			t.Errorf("%s is not dimmed: %q", name, ink.Paint("x"))
		}
	}
	if got := dim.Base.Over("plain"); got != th.Stale.Paint("plain") {
		t.Errorf("text without an ink is not dimmed: %q", got)
	}
}

// The contrast of WCAG, between 1 and 21: 4.5 for what is read, 3 for old data,
// 2.2 for rules and borders.
func TestColoursAreLegibleOnTheirGround(t *testing.T) {
	for _, tt := range []struct {
		dark             bool
		ground, selected string
	}{
		{true, "#000000", "#253349"}, {true, "#1e1e2e", "#253349"},
		{false, "#ffffff", "#dce8f8"}, {false, "#fafafa", "#dce8f8"},
	} {
		th := theme(termenv.TrueColor, tt.dark)
		for name, ink := range map[string]styles.Ink{
			"Muted": th.Muted, "Accent": th.Accent, "Good": th.Good, "Warn": th.Warn, "Bad": th.Bad, "Later": th.Later,
			"Faint": th.Faint, "Stale": th.Stale,
		} {
			least := 4.5
			switch name {
			case "Faint":
				least = 2.2
			case "Stale":
				least = 3
			}
			for _, ground := range []string{tt.ground, tt.selected} {
				if ground == tt.selected {
					least = min(least, 4)
				}
				if got := contrast(t, foreground(t, ink), ground); got < least {
					t.Errorf("dark=%v: %s on %s has contrast %.1f, want %.1f", tt.dark, name, ground, got, least)
				}
			}
		}
	}
}

func foreground(t *testing.T, ink styles.Ink) string {
	t.Helper()
	var r, g, b int
	s := ink.Paint("x")
	if _, err := fmt.Sscanf(s[strings.Index(s, "38;2;"):], "38;2;%d;%d;%dm", &r, &g, &b); err != nil {
		t.Fatalf("no colour in %q: %v", s, err)
	}
	return fmt.Sprintf("#%02x%02x%02x", r, g, b)
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	la, lb := luminance(t, a), luminance(t, b)
	return (math.Max(la, lb) + .05) / (math.Min(la, lb) + .05)
}

func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	c, err := colorful.Hex(hex)
	if err != nil {
		t.Fatal(err)
	}
	r, g, b := c.LinearRgb()
	return .2126*r + .7152*g + .0722*b
}

func TestGlyphsAreOneCellWide(t *testing.T) {
	for name, g := range map[string]styles.Glyphs{"unicode": styles.UnicodeGlyphs(), "ascii": styles.ASCIIGlyphs()} {
		eachString(reflect.ValueOf(g), "", func(field, s string) {
			want := 1
			switch field {
			case "Radio", "RadioOff", "Check", "CheckOff":
				want = 3
			}
			if got := ansi.StringWidth(s); got != want {
				t.Errorf("%s: %s %q is %d cells wide", name, field, s, got)
			}
			if name == "ascii" && strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("%s %q is not ASCII", field, s)
			}
		})
	}
}

func TestHealthIsToldApartWithoutColour(t *testing.T) {
	for _, g := range []styles.Glyphs{styles.UnicodeGlyphs(), styles.ASCIIGlyphs()} {
		seen := map[string]bool{}
		for _, s := range []string{g.Good, g.Busy, g.Warn, g.Bad, g.Idle, g.Unknown} {
			if seen[s] {
				t.Errorf("%q stands for two states", s)
			}
			seen[s] = true
		}
	}
}

func eachString(v reflect.Value, name string, f func(name, s string)) {
	switch v.Kind() {
	case reflect.String:
		f(name, v.String())
	case reflect.Struct:
		for i := range v.NumField() {
			eachString(v.Field(i), v.Type().Field(i).Name, f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachString(v.Index(i), name, f)
		}
	}
}

func TestDetectGlyphs(t *testing.T) {
	for _, tt := range []struct {
		env   map[string]string
		ascii bool
	}{
		{map[string]string{"TERM": "xterm-256color", "LANG": "en_US.UTF-8"}, false},
		{map[string]string{"TERM": "xterm-256color", "LANG": "de_DE.utf8"}, false},
		{map[string]string{"TERM": "xterm-256color"}, false},
		{map[string]string{"TERM": "linux", "LANG": "en_US.UTF-8"}, true},
		{map[string]string{"TERM": "dumb"}, true},
		{map[string]string{"TERM": "xterm", "LANG": "C"}, true},
		{map[string]string{"TERM": "xterm", "LANG": "de_DE.ISO-8859-1"}, true},
		{map[string]string{"TERM": "xterm", "LC_ALL": "C", "LANG": "en_US.UTF-8"}, true},
		{map[string]string{"TERM": "xterm", "LC_ALL": "C.UTF-8", "LANG": "C"}, false},
	} {
		want := styles.UnicodeGlyphs()
		if tt.ascii {
			want = styles.ASCIIGlyphs()
		}
		if got := styles.DetectGlyphs(func(k string) string { return tt.env[k] }); !reflect.DeepEqual(got, want) {
			t.Errorf("%v: got cursor %q, want %q", tt.env, got.Cursor, want.Cursor)
		}
	}
}
