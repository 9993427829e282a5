package payload

import "fmt"

// HexWidth is the number of bytes in one line of Hex.
const HexWidth = 16

// HexLines returns how many lines the dump of a payload of size bytes has.
func HexLines(size int) int { return (size + HexWidth - 1) / HexWidth }

// Hex returns lines of b's hex dump from line number from (0 is the first): the
// offset, HexWidth bytes, and the same as ASCII with a dot for all that is not
// printable. Only the lines asked for are made.
func Hex(b []byte, from, lines int) []string {
	from = max(from, 0)
	until := min(from+max(lines, 0), HexLines(len(b)))
	if from >= until {
		return nil
	}
	dump := make([]string, 0, until-from)
	for i := from; i < until; i++ {
		start := i * HexWidth
		dump = append(dump, hexLine(start, b[start:min(start+HexWidth, len(b))]))
	}
	return dump
}

func hexLine(offset int, b []byte) string {
	line := fmt.Appendf(nil, "%08x ", offset)
	for i := range HexWidth {
		if i%8 == 0 {
			line = append(line, ' ')
		}
		if i < len(b) {
			line = append(line, hexDigit(rune(b[i]), 4), hexDigit(rune(b[i]), 0), ' ')
		} else {
			line = append(line, "   "...)
		}
	}
	line = append(line, " |"...)
	for _, c := range b {
		if c < ' ' || c > '~' {
			c = '.'
		}
		line = append(line, c)
	}
	return string(append(line, '|'))
}
