package payload

import (
	"unicode/utf8"
)

const (
	ellipsis = "…"
	tabStop  = 4

	// Real writing stacks up to four marks on a letter; more is a flood that
	// paints over the neighbouring rows.
	maxMarks = 4
	// The longest emoji in use (families, couples) join four pictographs.
	maxJoins = 3
)

// Line returns b as one line that is safe to print anywhere on a terminal: valid
// UTF-8 of at most maxBytes bytes, without control, escape, bidirectional or
// invisible characters. What cannot be shown becomes a visible escape (\n, \x1b,
// \xff for a byte that is not UTF-8, \u202e); a backslash that is text stays as
// it is. A line that was cut ends with "…".
//
// It looks at no more of b than it shows.
func Line(b []byte, maxBytes int) string { return clean(b, maxBytes, false) }

// LineString is Line for a string.
func LineString(s string, maxBytes int) string {
	// Nothing becomes shorter by being cleaned, so what lies further on is cut anyway.
	if keep := maxBytes + utf8.UTFMax; maxBytes >= 0 && keep > maxBytes && len(s) > keep {
		s = s[:keep]
	}
	return Line([]byte(s), maxBytes)
}

// Text is Line for text of many lines: newlines are kept and tabs expanded to
// columns of four. A carriage return is shown as \r.
func Text(b []byte, maxBytes int) string { return clean(b, maxBytes, true) }

func clean(b []byte, maxBytes int, multiline bool) string {
	if len(b) <= maxBytes && plain(b) {
		return string(b)
	}
	c := cleaner{out: make([]byte, 0, min(len(b), max(maxBytes, 0))+16)}
	cut := 0 // where the text can end in an ellipsis, between two characters
	for len(b) > 0 {
		before := len(c.out)
		n, starts := c.step(b, multiline)
		if starts && before+len(ellipsis) <= maxBytes {
			cut = before
		}
		if len(c.out) > maxBytes {
			return shortened(c.out[:cut], maxBytes)
		}
		b = b[n:]
	}
	return string(c.out)
}

func shortened(b []byte, maxBytes int) string {
	if maxBytes < len(ellipsis) {
		return ""
	}
	return string(b) + ellipsis
}

// plain reports whether b is printable ASCII throughout, as most payloads are.
func plain(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// cleaner writes what may be shown. It remembers the character it is in, since
// marks, joiners and selectors are harmless only behind the right base.
type cleaner struct {
	out    []byte
	last   rune // the last rune kept as it is; 0 at the start and after an escape
	emoji  bool // last belongs to a pictograph
	flag   bool // last is the first half of a flag
	marks  int  // marks on the present base
	joins  int  // joiners in the present emoji
	column int  // of the present line, in runes
}

// step takes one rune off b and returns how many bytes it was, and whether what
// it wrote starts a new character.
func (c *cleaner) step(b []byte, multiline bool) (n int, starts bool) {
	before := len(c.out)
	switch {
	case multiline && b[0] == '\n':
		*c = cleaner{out: append(c.out, '\n')}
		return 1, true
	case multiline && b[0] == '\t':
		c.tab()
		n, starts = 1, true
	case b[0] >= ' ' && b[0] <= '~':
		c.keep(rune(b[0]), b[:1])
		n, starts = 1, true
	default:
		n, starts = c.wide(b)
	}
	c.column += utf8.RuneCount(c.out[before:])
	return n, starts
}

// wide is step for everything but printable ASCII.
func (c *cleaner) wide(b []byte) (n int, starts bool) {
	r, n := utf8.DecodeRune(b)
	raw, rest := b[:n], b[n:]
	switch {
	case r == utf8.RuneError && n == 1:
		c.escapeByte(b[0])
		return n, true
	case isCommonCJK(r):
		return n, c.keep(r, raw)
	case r == joiner && c.joinable(rest):
		c.extend(r, raw)
		c.joins++
		return n, false
	case r == emojiStyle && c.takesEmojiStyle(rest), isSkinTone(r) && isPictograph(c.last):
		c.extend(r, raw)
		return n, false
	case isHidden(r) || isSkinTone(r):
		c.escape(r)
		return n, true
	case isMark(r):
		if c.last == 0 || c.marks >= maxMarks {
			c.escape(r)
			return n, true
		}
		c.marks++
		c.emoji = false
		c.extend(r, raw)
		return n, false
	case isShown(r):
		return n, c.keep(r, raw)
	}
	c.escape(r)
	return n, true
}

// keep writes a rune that stands by itself, or the next part of an emoji or flag.
func (c *cleaner) keep(r rune, raw []byte) (starts bool) {
	starts = c.last != joiner && !(c.flag && isFlagHalf(r))
	if starts {
		c.joins = 0
	}
	c.flag = starts && isFlagHalf(r)
	c.marks = 0
	c.emoji = isPictograph(r)
	c.extend(r, raw)
	return starts
}

func (c *cleaner) extend(r rune, raw []byte) {
	c.out = append(c.out, raw...)
	c.last = r
}

func (c *cleaner) tab() {
	for n := tabStop - c.column%tabStop; n > 0; n-- {
		c.keep(' ', []byte{' '})
	}
}

func (c *cleaner) joinable(rest []byte) bool {
	next, _ := utf8.DecodeRune(rest)
	return c.emoji && c.last != joiner && c.joins < maxJoins && isPictograph(next) && isShown(next)
}

func (c *cleaner) takesEmojiStyle(rest []byte) bool {
	if isPictograph(c.last) {
		return true
	}
	next, _ := utf8.DecodeRune(rest)
	return isKeycapBase(c.last) && next == keycap
}

// escape writes r so that it can be read; what follows cannot attach to it.
func (c *cleaner) escape(r rune) {
	switch {
	case r == '\n':
		c.write(`\n`)
	case r == '\r':
		c.write(`\r`)
	case r == '\t':
		c.write(`\t`)
	case r < utf8.RuneSelf:
		c.escapeByte(byte(r))
	case r <= 0xffff:
		c.write(`\u`, hexDigit(r, 12), hexDigit(r, 8), hexDigit(r, 4), hexDigit(r, 0))
	default:
		c.write(`\U`, hexDigit(r, 28), hexDigit(r, 24), hexDigit(r, 20), hexDigit(r, 16),
			hexDigit(r, 12), hexDigit(r, 8), hexDigit(r, 4), hexDigit(r, 0))
	}
}

func (c *cleaner) escapeByte(b byte) { c.write(`\x`, hexDigit(rune(b), 4), hexDigit(rune(b), 0)) }

func (c *cleaner) write(prefix string, digits ...byte) {
	c.out = append(append(c.out, prefix...), digits...)
	c.last, c.emoji, c.flag, c.marks, c.joins = 0, false, false, 0, 0
}

func hexDigit(r rune, shift int) byte { return "0123456789abcdef"[r>>shift&0xf] }
