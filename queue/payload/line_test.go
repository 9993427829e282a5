package payload

import (
	"math"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"redq/queue/payload/hostile"
)

func TestLine(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain", `{"order":41}`, `{"order":41}`},
		{"line ends", "a\nb\r\nc\td", `a\nb\r\nc\td`},
		{"escape", "\x1b[2J", `\x1b[2J`},
		{"operating system command", "\x1b]52;c;eA==\x07", `\x1b]52;c;eA==\x07`},
		{"other controls", "\x00\x08\x0b\x7f", `\x00\x08\x0b\x7f`},
		{"C1 as a rune", "\u009b2J\u0085", `\u009b2J\u0085`},
		{"C1 as a byte", "\x9b2J", `\x9b2J`},
		{"not UTF-8", "caf\xe9 \xc0\xaf \xed\xa0\x80 \xe2\x82", `caf\xe9 \xc0\xaf \xed\xa0\x80 \xe2\x82`},
		{"a real U+FFFD", "\ufffd", "\ufffd"},
		{"backslash", `C:\new \x1b`, `C:\new \x1b`},
		{"separators", "a\u2028b\u2029c", `a\u2028b\u2029c`},
		{"bidi", "\u202e\u2066\u2069\u200e\u200f\u061c", `\u202e\u2066\u2069\u200e\u200f\u061c`},
		{"invisible", "\u200b\ufeff\u00ad\u2060\u034f\u115f\u3164\u180e", `\u200b\ufeff\u00ad\u2060\u034f\u115f\u3164\u180e`},
		{"tags", "\U000e0041", `\U000e0041`},
		{"private", "\ue000\U0010fffd", `\ue000\U0010fffd`},
		{"noncharacter", "\ufdd0\uffff", `\ufdd0\uffff`},
		{"unassigned", "\u0378", `\u0378`},
		{"odd spaces", "a\u2003b\u1680c", `a\u2003b\u1680c`},
		{"common spaces", "a\u00a0b\u3000c", "a\u00a0b\u3000c"},
		{"CJK", "注文を確認 订单 주문", "注文を確認 订单 주문"},
		{"decomposed Hangul", "\u1112\u1161\u11ab", "\u1112\u1161\u11ab"},
		{"right to left", "سلام עולם", "سلام עולם"},
		{"one mark", "e\u0301", "e\u0301"},
		{"flood of marks", "e" + strings.Repeat("\u0301", 6), "e" + strings.Repeat("\u0301", 4) + `\u0301\u0301`},
		{"mark without a base", "\u0301a", `\u0301a`},
		{"mark on an escape", "\n\u0301", `\n\u0301`},
		{"family", "👨‍👩‍👧‍👦", "👨‍👩‍👧‍👦"},
		{"endless family", strings.Repeat("👩\u200d", 5) + "👩", strings.Repeat("👩\u200d", 3) + `👩\u200d👩` + "\u200d👩"},
		{"joiner between letters", "a\u200db", `a\u200db`},
		{"joiner at the end", "👩\u200d", `👩\u200d`},
		{"two joiners", "👩\u200d\u200d👩", `👩\u200d\u200d👩`},
		{"joiner before nothing known", "👩\u200d\U0001f1cf", `👩\u200d\U0001f1cf`},
		{"rainbow flag", "🏳️‍🌈", "🏳️‍🌈"},
		{"country flags", "🇩🇪🇯🇵", "🇩🇪🇯🇵"},
		{"skin tone", "👍🏽", "👍🏽"},
		{"skin tones", "👍🏽🏽", `👍🏽\U0001f3fd`},
		{"skin tone on a letter", "a🏽", `a\U0001f3fd`},
		{"keycap", "1️⃣", "1️⃣"},
		{"selector on a letter", "a\ufe0f1\ufe0f", `a\ufe0f1\ufe0f`},
		{"heart", "❤️", "❤️"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Line([]byte(tt.in), math.MaxInt); got != tt.want {
				t.Errorf("Line(%+q)\n got %+q\nwant %+q", tt.in, got, tt.want)
			}
			if got := LineString(tt.in, math.MaxInt); got != tt.want {
				t.Errorf("LineString differs: %+q", got)
			}
		})
	}
}

func TestLineIsCutBetweenCharacters(t *testing.T) {
	tests := []struct {
		in   string
		max  int
		want string
	}{
		{"abcdef", 6, "abcdef"},
		{"abcdefg", 6, "abc…"},
		{"abcdef", 3, "…"},
		{"abcdef", 2, ""},
		{"abcdef", 0, ""},
		{"abcdef", -1, ""},
		{"ab", 2, "ab"},
		{"注文注文", 9, "注文…"},
		{"注文注文", 8, "注…"},
		{"ab\x1b\x1b\x1b", 11, `ab\x1b…`},
		{"ab\x1b\x1b\x1b", 8, `ab…`},
		{"xe\u0301\u0301yz", 7, "x…"},
		{"x👨‍👩‍👧yzyz", 20, "x…"},
		{"x👨‍👩‍👧yzyz", 22, "x👨‍👩‍👧…"},
		{"🇩🇪🇯🇵", 15, "🇩🇪…"},
		{"👍🏽👍🏽", 10, "…"},
	}
	for _, tt := range tests {
		if got := Line([]byte(tt.in), tt.max); got != tt.want {
			t.Errorf("Line(%q, %d) = %q, want %q", tt.in, tt.max, got, tt.want)
		}
		if got := LineString(tt.in, tt.max); got != tt.want {
			t.Errorf("LineString(%q, %d) = %q, want %q", tt.in, tt.max, got, tt.want)
		}
	}
}

func TestText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"lines", "a\n\nb\n", "a\n\nb\n"},
		{"carriage return", "a\r\nb", "a\\r\nb"},
		{"tabs", "\ta\tbcd\te\n\tf", "    a   bcd e\n    f"},
		{"tab after CJK and escape", "注\tx\x1b\ty", "注   x\\x1b   y"},
		{"other line ends", "a\vb\fc\u0085d\u2028e", `a\x0bb\x0cc\u0085d\u2028e`},
		{"mark at the start of a line", "a\n\u0301b", "a\n\\u0301b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Text([]byte(tt.in), math.MaxInt); got != tt.want {
				t.Errorf("\n got %q\nwant %q", got, tt.want)
			}
		})
	}
	if got := Text([]byte("one\ntwo\nthree"), 10); got != "one\ntwo…" {
		t.Errorf("cut: %q", got)
	}
}

// wantSafe says what may reach a terminal, in words of its own.
func wantSafe(t *testing.T, s string, maxBytes int, multiline bool) {
	t.Helper()
	if len(s) > max(maxBytes, 0) {
		t.Errorf("%d bytes, at most %d were asked for: %q", len(s), maxBytes, s)
	}
	if !utf8.ValidString(s) {
		t.Errorf("not UTF-8: %q", s)
	}
	marks := 0
	for i, r := range s {
		switch {
		case r == '\n' && multiline, r == '\u200d', r == '\ufe0f':
		case unicode.In(r, unicode.C, unicode.Zl, unicode.Zp, unicode.Variation_Selector):
			t.Errorf("%U at %d of %q", r, i, s)
		}
		if !unicode.Is(unicode.M, r) || r == '\ufe0f' {
			marks = 0
			continue
		}
		if marks++; i == 0 || marks > maxMarks {
			t.Errorf("mark %U at %d of %q", r, i, s)
		}
	}
}

func TestNothingHostileGetsThrough(t *testing.T) {
	for _, p := range hostile.Payloads() {
		t.Run(p.Name, func(t *testing.T) {
			for _, n := range []int{-1, 0, 1, 3, 4, 5, 17, 60, 200, 1000} {
				wantSafe(t, Line(p.Bytes, n), n, false)
				wantSafe(t, Text(p.Bytes, n), n, true)
				wantSafe(t, Preview(p.Bytes, n), n, false)
			}
			d := Decode(p.Bytes, 1<<16)
			wantSafe(t, d.Text(), math.MaxInt, true)
			wantSafe(t, d.Note, 400, false)
			for _, line := range Hex(p.Bytes, 0, 3) {
				wantSafe(t, line, 80, false)
			}
		})
	}
	for _, key := range hostile.Keys() {
		wantSafe(t, LineString(key, 60), 60, false)
	}
}

func FuzzLine(f *testing.F) {
	for _, p := range hostile.Payloads() {
		if len(p.Bytes) < 2000 {
			f.Add(p.Bytes, 40)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		n %= 1000
		line := Line(b, n)
		wantSafe(t, line, n, false)
		wantSafe(t, Text(b, n), n, true)
		if LineString(string(b), n) != line {
			t.Errorf("LineString(%q, %d) differs from Line", b, n)
		}
		// No more of b is looked at than is shown.
		if n >= 0 && len(b) > n+utf8.UTFMax && Line(b[:n+utf8.UTFMax], n) != line {
			t.Errorf("Line(%q, %d) depends on what lies further on", b, n)
		}
		whole := Line(b, math.MaxInt)
		if again := LineString(whole, math.MaxInt); again != whole {
			t.Errorf("cleaning %q twice gives %q", whole, again)
		}
		if len(whole) <= n && whole != line {
			t.Errorf("Line(%q, %d) = %q was cut without need", b, n, line)
		}
	})
}

func BenchmarkLine(b *testing.B) {
	large := hostile.Payloads()[0].Bytes
	for _, p := range hostile.Payloads() {
		if p.Name == "20-MB-binary" {
			large = p.Bytes
		}
	}
	for _, bb := range []struct {
		name string
		in   []byte
	}{
		{"ascii", []byte(strings.Repeat(`{"order":1841,"sku":"S-22"}`, 8))},
		{"cjk", []byte(strings.Repeat("注文を確認しました。", 8))},
		{"20MB", large},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Line(bb.in, 240)
			}
		})
	}
}
