package ui

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// alphabet mixes what is measured the quick way with what must not be.
var alphabet = []string{
	"a", "Z", "~", " ", "é", "ß", "Ł", "–", "…", "•", "›", "≥", "−", "·", "→", "─", "│", "╭", "█", "▏", "▁", "●", "▲", "✗",
	"界", "한", "👩‍👩‍👧", "🇩🇪", "é", "\u0301", "\u200d", "\ufe0f", "\u00ad", "⚠", "⚠️", "ا", "שלום", "ก็", "\u202e", "◾", "⏰", "☕",
	"\x1b[0m", "\x1b[31m", "\x1b[1;38;2;1;2;3m",
}

func randomText(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

func TestWidthAgreesWithTheThoroughWay(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		s := randomText(r, r.IntN(12))
		if got, want := width(s), ansi.StringWidth(s); got != want {
			t.Fatalf("width(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		s    string
		w    int
		want string
	}{
		{"plain", 5, "plain"},
		{"plain", 4, "pla…"},
		{"plain", 1, "…"},
		{"plain", 0, ""},
		{"plain", -3, ""},
		{"界界界", 6, "界界界"},
		{"界界界", 5, "界界…"},
		{"界界界", 4, "界…"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"\x1b[31mred\x1b[0m", 3, "\x1b[31mred\x1b[0m"},
		{"\x1b[31mreddish\x1b[0m", 4, "\x1b[31mred…\x1b[0m"},
		{"\x1b[31mreddish", 4, "\x1b[31mred…\x1b[0m"},
	} {
		if got := cut(tt.s, tt.w, "…"); got != tt.want {
			t.Errorf("cut(%q, %d) = %q, want %q", tt.s, tt.w, got, tt.want)
		}
	}
}

func TestCutKeepsItsPromises(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		s, w := randomText(r, r.IntN(30)), r.IntN(20)
		got := cut(s, w, "…")
		if width(got) > w {
			t.Fatalf("cut(%q, %d) = %q, %d cells wide", s, w, got, width(got))
		}
		if !utf8.ValidString(got) {
			t.Fatalf("cut(%q, %d) = %q cuts inside a rune", s, w, got)
		}
		if w > 0 && width(s) > w && strings.Contains(s, "\x1b") && !strings.HasSuffix(got, reset) {
			t.Fatalf("cut(%q, %d) = %q leaves a colour on", s, w, got)
		}
	}
}

func TestCutLooksAtNoMoreThanItNeeds(t *testing.T) {
	zalgo := "e" + strings.Repeat("\u0301", 1<<20)
	if got := cut(strings.Repeat(zalgo, 2), 3, "…"); len(got) > 4096 {
		t.Errorf("%d bytes for 3 cells", len(got))
	}
}

func TestFrameIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2_000 {
		lines := make([]string, r.IntN(8))
		for i := range lines {
			lines[i] = randomText(r, r.IntN(30))
		}
		w, h := r.IntN(25), 1+r.IntN(10)
		checkFrame(t, frame(lines, w, h), w, h)
	}
}

func TestOverlay(t *testing.T) {
	lines := []string{"abcdefgh", "\x1b[31mabcdefgh\x1b[0m", "界界界界"}
	overlay(lines, []string{"XX", "YY", "ZZ", "beyond"}, 3, 0)
	for i, want := range []string{"abcXXfgh", "abcYYfgh", "界 ZZ"} {
		if got := ansi.Strip(lines[i]); !strings.HasPrefix(got, want) {
			t.Errorf("line %d: %q, want %q", i, got, want)
		}
	}
}

func TestDrop(t *testing.T) {
	for _, tt := range []struct {
		s    string
		n    int
		want string
	}{
		{"abcdef", 2, "cdef"},
		{"abc", 3, ""},
		{"abc", 9, ""},
		{"abc", 0, "abc"},
		{"界界界", 3, " 界"},
		{"e\u0301bc", 1, "bc"},
		{"\x1b[31mabc\x1b[0mdef", 2, "\x1b[31mc\x1b[0mdef"},
		{"\x1b[31mabc\x1b[0mdef", 4, "ef"},
		{"\x1b[31m\x1b[1mabc\x1b[0m", 1, "\x1b[31m\x1b[1mbc\x1b[0m"},
	} {
		if got := drop(tt.s, tt.n); got != tt.want {
			t.Errorf("drop(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.want)
		}
	}
}

func TestSpread(t *testing.T) {
	for _, tt := range []struct {
		left, right string
		w           int
		want        string
	}{
		{"left", "right", 12, "left   right"},
		{"left", "right", 9, "le… right"},
		{"left", "right", 5, "right"},
		{"left", "right", 3, "ri…"},
		{"left", "", 6, "left  "},
		{"", "right", 7, "  right"},
	} {
		if got := spread(tt.left, tt.right, tt.w, "…"); got != tt.want {
			t.Errorf("spread(%q, %q, %d) = %q, want %q", tt.left, tt.right, tt.w, got, tt.want)
		}
	}
}

// checkFrame fails unless s is exactly h lines of w cells with no control byte
// but those of colours.
func checkFrame(t testing.TB, s string, w, h int) {
	t.Helper()
	lines := strings.Split(s, "\n")
	if len(lines) != h {
		t.Fatalf("%d lines, want %d", len(lines), h)
	}
	for i, line := range lines {
		if got := ansi.StringWidth(line); got != w {
			t.Fatalf("line %d of a %dx%d frame is %d cells wide: %q", i, w, h, got, line)
		}
		checkControl(t, line)
	}
}

// checkControl fails when line holds anything a terminal would obey but colours.
func checkControl(t testing.TB, line string) {
	t.Helper()
	for i := 0; i < len(line); {
		if n := sgrEnd(line[i:]); line[i] == escape && n > 0 {
			i += n
			continue
		}
		r, size := utf8.DecodeRuneInString(line[i:])
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError && size == 1 {
			t.Fatalf("control byte %q in line %q", line[i:i+size], line)
		}
		i += size
	}
}
