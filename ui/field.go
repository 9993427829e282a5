package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"redq/model"
	"redq/queue/payload"
)

// mostTyped bounds the bytes of typed text that are made safe to show.
const mostTyped = 1 << 16

// field draws a text field of one line into w cells. When it has the focus its
// cursor is shown, and what stands at the cursor is always in sight.
func (p painter) field(f model.Field, w int, focused bool) string {
	before, after := f.Cursor()
	return p.typed(before, after, w, focused)
}

// typed draws text with the cursor between before and after.
func (p painter) typed(before, after string, w int, focused bool) string {
	if w <= 0 {
		return ""
	}
	before, after = payload.LineString(before, mostTyped), payload.LineString(after, mostTyped)
	if !focused {
		return fit(before+after, w, p.Glyphs.Ellipsis)
	}
	under, rest := firstCluster(after)
	if under == "" {
		under = " "
	}
	if room := w - width(under); width(before) > room {
		before = ansi.TruncateLeft(before, width(before)-room+1, p.Glyphs.Ellipsis)
	}
	left := cut(before, w-width(under), "")
	return left + p.Caret.Paint(under) + fit(rest, w-width(left)-width(under), p.Glyphs.Ellipsis)
}

// firstCluster splits off the first character as it is seen.
func firstCluster(s string) (cluster, rest string) {
	if s == "" {
		return "", ""
	}
	cluster, _ = ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return cluster, s[len(cluster):]
}

// textArea draws a field of many lines into exactly h lines of w cells, around
// the line of the cursor.
func (p painter) textArea(f model.Field, w, h int, focused bool) []string {
	before, after := f.Cursor()
	above := strings.Split(before, "\n")
	below := strings.Split(after, "\n")
	current := len(above) - 1
	lines := make([]string, 0, len(above)+len(below))
	for _, s := range above[:current] {
		lines = append(lines, p.typed(s, "", w, false))
	}
	lines = append(lines, p.typed(above[current], below[0], w, focused))
	for _, s := range below[1:] {
		lines = append(lines, p.typed(s, "", w, false))
	}
	top := max(0, min(current-h/2, len(lines)-h))
	return block(lines[top:], w, h)
}
