package ui

import "redq/styles"

// Sizes of what boxes are made of, in cells.
const (
	borderWidth = 1
	boxInset    = 1 // blank between a border and what it holds
	boxFrame    = 2 * (borderWidth + boxInset)
)

// boxed is a box with a title in its upper border and, at the other end, a note.
type boxed struct {
	title, note string // painted
	ink         styles.Ink
	tight       bool // no blanks beside the content
}

// box draws content into a box of exactly w by h cells. A box too small for its
// borders is left blank.
func (p painter) box(b boxed, content []string, w, h int) []string {
	if w < 2*borderWidth+2 || h < 2*borderWidth {
		return block(nil, w, h)
	}
	line := p.Glyphs.Border
	inset := blanks(boxInset)
	if b.tight {
		inset = ""
	}
	inner := w - 2*borderWidth - 2*len(inset)
	out := make([]string, 0, h)
	out = append(out, p.boxTop(b, w))
	side := b.ink.Paint(line.Vertical)
	for _, s := range block(content, inner, h-2*borderWidth) {
		out = append(out, side+inset+s+inset+side)
	}
	return append(out, b.ink.Paint(line.BottomLeft+repeat(line.Horizontal, w-2)+line.BottomRight))
}

func (p painter) boxTop(b boxed, w int) string {
	line := p.Glyphs.Border
	room := w - 2*borderWidth
	title, note := "", ""
	if b.title != "" {
		title = " " + cut(b.title, room-3, p.Glyphs.Ellipsis) + " "
	}
	if b.note != "" {
		note = " " + b.note + " "
		if width(title)+width(note)+2 > room {
			note = ""
		}
	}
	rule := room - width(title) - width(note)
	lead := min(1, rule)
	tail := 0
	if note != "" {
		tail = min(1, rule-lead)
	}
	return b.ink.Paint(line.TopLeft+repeat(line.Horizontal, lead)) + title +
		b.ink.Paint(repeat(line.Horizontal, rule-lead-tail)) + note +
		b.ink.Paint(repeat(line.Horizontal, tail)+line.TopRight)
}

// rule draws a line across w cells with a painted title in it.
func (p painter) rule(title string, w int) string {
	h := p.Glyphs.Border.Horizontal
	if title == "" {
		return p.Faint.Paint(repeat(h, w))
	}
	title = " " + cut(title, w-4, p.Glyphs.Ellipsis) + " "
	return p.Faint.Paint(repeat(h, 2)) + title + p.Faint.Paint(repeat(h, w-2-width(title)))
}
