package ui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

const (
	escape = '\x1b'
	reset  = "\x1b[0m"
)

// width returns how many cells s takes. It agrees with ansi.StringWidth, which
// it calls for everything but the characters that make up nearly all of a
// frame: measuring is most of what drawing costs.
func width(s string) int {
	n := 0
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c >= ' ' && c <= '~':
			n++
			i++
		case c == escape:
			end := sgrEnd(s[i:])
			if end == 0 {
				return ansi.StringWidth(s)
			}
			i += end
		case isDrawing(s[i:]):
			n++
			i += drawingSize
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			if !oneCell(r) {
				return ansi.StringWidth(s)
			}
			n++
			i += size
		}
	}
	return n
}

// drawingSize is the length of a line, block or triangle in UTF-8.
const drawingSize = 3

// isDrawing reports whether s begins with one of U+2500 to U+25BF, as a third of
// a frame does: oneCell without the cost of decoding.
func isDrawing(s string) bool {
	return len(s) >= drawingSize && s[0] == 0xe2 && s[1] >= 0x94 && s[1] <= 0x96
}

// sgrEnd returns the length of the colour sequence that s begins with, 0 when
// it begins with something else.
func sgrEnd(s string) int {
	if len(s) < 3 || s[1] != '[' {
		return 0
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case c != ';' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}

// oneCell reports whether r is known to take one cell and to join with no
// neighbour: letters of western Europe, dashes, arrows, and what frames and
// charts are drawn with. A combining mark behind one of them is in no range
// here, so such text is measured the thorough way.
func oneCell(r rune) bool {
	switch {
	case r >= 0xc0 && r <= 0x17f,
		r >= 0x2010 && r <= 0x2027,
		r >= 0x2190 && r <= 0x2193,
		r >= 0x2500 && r <= 0x25fc:
		return true
	}
	switch r {
	case '·', '−', '≥', '≤', '›', '✗':
		return true
	}
	return false
}

// mostBytesPerCell bounds how much text may stand for one cell: a payload may be
// megabytes, and one cluster may carry any number of marks.
const mostBytesPerCell = 64

// cut shortens s to at most w cells and says so with tail. It cuts between
// grapheme clusters, never inside an escape sequence, and leaves no colour on.
func cut(s string, w int, tail string) string {
	if w <= 0 {
		return ""
	}
	painted := strings.IndexByte(s, escape) >= 0
	if most := (w + 1) * mostBytesPerCell; !painted && len(s) > most {
		s = cutBytes(s, most)
	} else if width(s) <= w {
		return s
	}
	tailWidth := width(tail)
	if tailWidth > w {
		tail, tailWidth = "", 0
	}
	if painted {
		if end, ok := simpleCells(s, w-tailWidth); ok {
			return strings.TrimSuffix(s[:end]+tail, reset) + reset
		}
		return strings.TrimSuffix(truncate(s, w-tailWidth, tail), reset) + reset
	}
	if room := w - tailWidth; room < len(s) && isPrintableASCII(s[:room+1]) {
		return s[:room] + tail
	}
	return truncate(s, w-tailWidth, "") + tail
}

// simpleCells returns where the first n cells of s end. It knows only text whose
// characters take one cell each, and what comes behind them must begin another.
func simpleCells(s string, n int) (end int, ok bool) {
	i := 0
	for cells := 0; i < len(s); {
		if s[i] == escape {
			skip := sgrEnd(s[i:])
			if skip == 0 {
				return 0, false
			}
			i += skip
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if (r < ' ' || r > '~') && !oneCell(r) {
			return 0, false
		}
		if cells == n {
			return i, true
		}
		cells++
		i += size
	}
	return i, true
}

// truncate is ansi.Truncate, which counts a few joined characters otherwise
// than ansi.StringWidth does, until both agree.
func truncate(s string, w int, tail string) string {
	tailWidth := width(tail)
	for room := w; room > 0; room-- {
		if t := ansi.Truncate(s, room+tailWidth, tail); width(t) <= w+tailWidth {
			return t
		}
	}
	return ""
}

// cutBytes returns at most n bytes of s, whole runes only.
func cutBytes(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func isPrintableASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// pad fills s with blanks to w cells; wider text stays as it is.
func pad(s string, w int) string { return s + blanks(w-width(s)) }

// padLeft puts s at the right end of w cells; wider text stays as it is.
func padLeft(s string, w int) string { return blanks(w-width(s)) + s }

// fit makes s exactly w cells wide, cut or filled at the right.
func fit(s string, w int, tail string) string { return pad(cut(s, w, tail), max(w, 0)) }

// center puts s in the middle of w cells; wider text stays as it is.
func center(s string, w int) string {
	left := (w - width(s)) / 2
	return pad(blanks(left)+s, w)
}

const manyBlanks = "                                                                                                                                "

// blanks returns n spaces, none when n is negative.
func blanks(n int) string {
	switch {
	case n <= 0:
		return ""
	case n <= len(manyBlanks):
		return manyBlanks[:n]
	}
	return strings.Repeat(" ", n)
}

// spread puts left and right at the two ends of w cells. Where both do not fit,
// left is cut: what stands at the right is keys and counts.
func spread(left, right string, w int, tail string) string {
	rw := width(right)
	if rw >= w {
		return fit(right, w, tail)
	}
	if rw == 0 {
		return fit(left, w, tail)
	}
	return fit(left, w-rw-1, tail) + " " + right
}

// frame makes exactly h lines of exactly w cells of lines, joined by newlines.
// Whatever is drawn goes through it: a frame that is a line too tall loses its
// header, one that is a cell too wide wraps.
func frame(lines []string, w, h int) string {
	var b strings.Builder
	b.Grow(h * (w + w/2))
	for i := range h {
		if i > 0 {
			b.WriteByte('\n')
		}
		line := ""
		if i < len(lines) {
			line = cut(lines[i], w, "")
		}
		b.WriteString(line)
		b.WriteString(blanks(w - width(line)))
	}
	return b.String()
}

// block makes exactly h lines of exactly w cells of lines.
func block(lines []string, w, h int) []string {
	out := make([]string, max(h, 0))
	for i := range out {
		if i < len(lines) {
			out[i] = fit(lines[i], w, "")
		} else {
			out[i] = blanks(w)
		}
	}
	return out
}

// beside puts two blocks next to each other; each line of left is as wide as the others.
func beside(left []string, gap string, right []string) []string {
	out := make([]string, max(len(left), len(right)))
	w := 0
	if len(left) > 0 {
		w = width(left[0])
	}
	for i := range out {
		l, r := blanks(w), ""
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		out[i] = l + gap + r
	}
	return out
}

// overlay lays the block top over lines, its upper left corner at x, y. What
// lies under it keeps its colours to both sides.
func overlay(lines, top []string, x, y int) {
	for i, over := range top {
		row := y + i
		if row < 0 || row >= len(lines) {
			continue
		}
		under := lines[row]
		left := fit(under, x, "")
		lines[row] = left + over + drop(under, x+width(over))
	}
}

// drop returns s without its first n cells. What is left keeps its colours. A
// wide character that was cut in half is a blank.
func drop(s string, n int) string {
	colour, cells, i := "", 0, 0
	for i < len(s) && cells < n {
		if end := sgrEnd(s[i:]); s[i] == escape && end > 0 {
			colour = inForce(colour, s[i:i+end])
			i += end
			continue
		}
		if r, size := utf8.DecodeRuneInString(s[i:]); r >= ' ' && r <= '~' || oneCell(r) {
			cells++
			i += size
			continue
		}
		cluster, w := ansi.FirstGraphemeCluster(s[i:], ansi.GraphemeWidth)
		cells += w
		i += len(cluster)
	}
	rest := s[i:]
	if cells > 0 {
		rest = strings.TrimLeftFunc(rest, unicode.IsMark)
	}
	if rest == "" {
		return ""
	}
	return colour + blanks(cells-n) + rest
}

// inForce returns the colours that hold after another sequence.
func inForce(colour, sequence string) string {
	if sequence == reset {
		return ""
	}
	return colour + sequence
}

// wrap breaks plain text into lines of at most w cells, between words where it can.
func wrap(s string, w int) []string {
	if w < 1 {
		return nil
	}
	return strings.Split(ansi.Wrap(s, w, ""), "\n")
}

// repeat is strings.Repeat that takes less than nothing for nothing.
func repeat(s string, n int) string { return strings.Repeat(s, max(n, 0)) }
