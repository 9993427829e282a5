package payload

import "unicode"

const (
	joiner     = '\u200d' // glues pictographs into one emoji
	emojiStyle = '\ufe0f' // asks for the coloured form of the pictograph before it
	keycap     = '\u20e3' // encloses the digit before it
)

// isCommonCJK reports ideographs and Hangul syllables, which fill whole payloads,
// without searching the tables of Unicode.
func isCommonCJK(r rune) bool { return r >= 0x4e00 && r <= 0x9fff || r >= 0xac00 && r <= 0xd7a3 }

// isHidden reports characters that take no room or that select a variant: they
// could hide text, make two keys look alike, or shift a column.
func isHidden(r rune) bool {
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Cf)
}

// isMark reports runes that are drawn onto the one before: combining marks and
// the vowels and finals of a decomposed Hangul syllable.
func isMark(r rune) bool {
	return unicode.Is(unicode.M, r) || r >= 0x1160 && r <= 0x11ff || r >= 0xd7b0 && r <= 0xd7ff
}

// isShown reports letters, numbers, punctuation and symbols of the Unicode
// version Go knows, and the two wide-spread spaces that cannot be mistaken for
// an end of line. Controls, private use, unassigned and noncharacters are not.
func isShown(r rune) bool { return unicode.IsPrint(r) || r == '\u00a0' || r == '\u3000' }

func isFlagHalf(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

func isSkinTone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

func isKeycapBase(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }

// isPictograph reports what an emoji can be built from: the blocks that hold
// Unicode's Extended_Pictographic characters.
func isPictograph(r rune) bool {
	switch {
	case r < 0xa9:
		return false
	case r >= 0x1f000:
		return r <= 0x1faff && !isFlagHalf(r) && !isSkinTone(r)
	case r >= 0x2600 && r <= 0x27bf, r >= 0x2190 && r <= 0x21ff, r >= 0x2300 && r <= 0x23ff:
		return true
	case r >= 0x25aa && r <= 0x25fe, r >= 0x2b05 && r <= 0x2b55, r == 0x2934, r == 0x2935:
		return true
	}
	switch r {
	case 0xa9, 0xae, 0x203c, 0x2049, 0x2122, 0x2139, 0x24c2, 0x3030, 0x303d, 0x3297, 0x3299:
		return true
	}
	return false
}
