package model

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// drawn is a difference as text, for comparison.
func drawn(was, is string, width int) string {
	d := newDiff([]byte(was), []byte(is)).wrapped(width).windowed(1000)
	var b strings.Builder
	for _, r := range d.Visible() {
		sign := [...]string{" ", "-", "+", "~"}[r.Kind]
		if r.Cont {
			sign = "."
		}
		fmt.Fprintf(&b, "%s%s\n", sign, r.Text)
	}
	return b.String()
}

func TestDiff(t *testing.T) {
	ten := "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	for name, c := range map[string]struct{ was, is, want string }{
		"one line":        {"a\n", "b\n", "-a\n+b\n"},
		"from nothing":    {"", "a\nb\n", "+a\n+b\n"},
		"to nothing":      {"a\n", "", "-a\n"},
		"in the middle":   {ten, strings.Replace(ten, "5\n", "five\n", 1), "~2 lines the same\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n"},
		"at both ends":    {ten, "zero\n" + ten[2:18] + "nine\n", "-0\n+zero\n 1\n 2\n 3\n~2 lines the same\n 6\n 7\n 8\n-9\n+nine\n"},
		"at the end":      {ten, ten + "10\n", "~7 lines the same\n 7\n 8\n 9\n+10\n"},
		"at the start":    {ten, ten[2:], "-0\n 1\n 2\n 3\n~6 lines the same\n"},
		"a line break":    {"a\nb", "a\nb\n", " a\n-b (no line break at the end)\n+b\n"},
		"both without":    {"a", "b", "-a\n+b\n"},
		"a return":        {"a\n", "a\r\n", "-a\n+a\\r\n"},
		"control signs":   {"a\n", "\x1b[2J\x07\n", "-a\n+\\x1b[2J\\x07\n"},
		"no UTF-8":        {"a\n", "\xff\n", "-a\n+\\xff\n"},
		"one line alike":  {"a\nb\nc\nd\ne\n", "A\nb\nc\nd\nE\n", "-a\n+A\n b\n c\n d\n-e\n+E\n"},
		"equal to itself": {"a\n", "a\n", "~1 line the same\n"},
	} {
		if got := drawn(c.was, c.is, 60); got != c.want {
			t.Errorf("%s:\n%swant\n%s", name, got, c.want)
		}
	}
}

func TestDiffWraps(t *testing.T) {
	got := drawn("short\n", strings.Repeat("a", 25)+"\nmore\n", 12)
	if want := "-short\n+aaaaaaaaaa\n.aaaaaaaaaa\n.aaaaa\n+more\n"; got != want {
		t.Errorf("%swant\n%s", got, want)
	}
}

// A change in a line of a megabyte is seen without scrolling.
func TestDiffOfALongLine(t *testing.T) {
	long := strings.Repeat("注文,", 200_000)
	was := long + "old" + long
	is := long + "newer" + long
	got := drawn(was, is, 200)
	if lines := strings.Count(got, "\n"); lines > 6 || !strings.Contains(got, "old") || !strings.Contains(got, "newer") ||
		!strings.HasPrefix(got, "-…") || strings.Contains(got, "\\x") {
		t.Errorf("%d lines:\n%.2000s", lines, got)
	}
	if got := drawn(long+"\nx\n", long+"\ny\n", 200); strings.Count(got, "\n") > 8 || !strings.Contains(got, "-x\n+y\n") {
		t.Errorf("a long line that did not change is shown in full:\n%.2000s", got)
	}
}

func TestExcerpt(t *testing.T) {
	pad := strings.Repeat("é", 100)
	around := strings.Repeat("é", diffAround)
	for _, c := range []struct{ line, other, want string }{
		{"abc\n", "abd\n", "abc\n"},
		{pad + "x" + pad, pad + "y" + pad, "…" + around + "x" + around + "…"},
		{pad + pad, pad + "y" + pad, "…" + around + around + "…"},
		{pad + "è" + pad, pad + "é" + pad, "…" + around + "è" + around + "…"},
		{pad, pad, pad},
		{"", pad, ""},
		{"aa", "aaa", "aa"},
	} {
		got := excerpt(c.line, c.other)
		if got != c.want || !utf8.ValidString(got) {
			t.Errorf("of %q beside %q: %q, want %q", c.line, c.other, got, c.want)
		}
	}
}

// However much changes, the work is bounded and what is left out is said.
func TestDiffIsBounded(t *testing.T) {
	was, is := strings.Join(numbered("a", 60_000), "\n"), strings.Join(numbered("b", 60_000), "\n")
	d := newDiff([]byte(was), []byte(is)).wrapped(80).windowed(20)
	if below, more := d.Below(); !more || below != diffRows-20 || d.Removed != 60_000 || d.Added != 60_000 {
		t.Errorf("%d rows below, more %v, -%d +%d", below, more, d.Removed, d.Added)
	}
}

func FuzzDiff(f *testing.F) {
	f.Add("a\nb\nc", "a\nB\nc\n", 20)
	f.Add(strings.Repeat("x\n", 30), strings.Repeat("x\n", 12)+"y"+strings.Repeat("x\n", 15), 3)
	f.Add("\xff\x1b\u202e", "注文\r\n", 1)
	f.Fuzz(func(t *testing.T, was, is string, width int) {
		d := newDiff([]byte(was), []byte(is)).wrapped(width % 200).windowed(5)
		for _, k := range []string{"G", "k", "pgup", "g", "j", "pgdown"} {
			d, _ = d.act(k)
			for _, r := range d.Visible() {
				if !utf8.ValidString(r.Text) || strings.ContainsAny(r.Text, "\x1b\n\r") {
					t.Fatalf("row %q", r.Text)
				}
			}
		}
		removed, added := 0, 0
		for _, l := range d.lines {
			switch l.kind {
			case DiffRemoved:
				removed++
			case DiffAdded:
				added++
			}
		}
		if removed != d.Removed || added != d.Added || (removed+added == 0) != (was == is) {
			t.Fatalf("-%d +%d, told -%d +%d, of %q and %q", removed, added, d.Removed, d.Added, was, is)
		}
	})
}
