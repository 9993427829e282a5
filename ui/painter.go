package ui

import (
	"strings"

	"redq/model"
	"redq/styles"
)

// painter draws one state. It is made anew for each frame.
type painter struct {
	styles.Theme
	m       model.Model
	l       model.Layout
	preview *previews
	canvas  *canvas
}

// draw returns the frame of the state: exactly m.Height lines of m.Width cells.
func draw(th styles.Theme, m model.Model, cache *previews) string {
	l := m.Layout()
	w, h := l.Screen.W, l.Screen.H
	if l.TooSmall {
		return frame(tooSmall(w, h), w, h)
	}
	p := painter{Theme: th, m: m, l: l, preview: cache, canvas: newCanvas(w, h)}
	page := p
	if !l.Dialog.Empty() || !l.Help.Empty() {
		page.Theme = th.Dimmed()
	}
	page.header()
	page.banner()
	page.page()
	page.jobLines()
	p.footer()
	lines := p.canvas.lines()
	if m.Prompt.Kind != model.NoPrompt {
		prompt := p.prompt(l.Footer.W)
		overlay(lines, prompt, l.Footer.X, l.Footer.Y+l.Footer.H-len(prompt))
	}
	if !l.Dialog.Empty() {
		overlay(lines, p.dialog(), l.Dialog.X, l.Dialog.Y)
	}
	if !l.Help.Empty() {
		overlay(lines, p.help(), l.Help.X, l.Help.Y)
	}
	if th.Glyphs.ASCII {
		for i := range lines {
			lines[i] = asciiOnly(lines[i])
		}
	}
	return frame(lines, w, h)
}

// page draws the bar and the body. While the server does not answer, what they
// show is old.
func (p painter) page() {
	if p.m.Conn.Down != nil {
		p.Theme = p.Dimmed()
	}
	switch p.m.Screen {
	case model.OverviewScreen:
		p.overview()
	case model.QueueScreen:
		p.queue()
	case model.MessageScreen:
		p.message()
	case model.ConsumerScreen:
		p.consumer()
	}
}

// part is a piece of a line that may have to go.
type part struct {
	text string // painted
	rank int    // the highest goes first; 0 stays
}

// parts joins as many parts as fit into w cells. The least important go first;
// the last one left is cut.
func (p painter) parts(all []part, gap string, w int) string {
	kept := make([]part, 0, len(all))
	total := 0
	for _, one := range all {
		if one.text == "" {
			continue
		}
		kept = append(kept, one)
		total += width(one.text) + width(gap)
	}
	for total-width(gap) > w {
		worst := 0
		for i, one := range kept {
			if one.rank >= kept[worst].rank {
				worst = i
			}
		}
		if len(kept) == 0 || kept[worst].rank == 0 {
			break
		}
		total -= width(kept[worst].text) + width(gap)
		kept = append(kept[:worst], kept[worst+1:]...)
	}
	texts := make([]string, len(kept))
	for i, one := range kept {
		texts[i] = one.text
	}
	return cut(strings.Join(texts, gap), w, p.Glyphs.Ellipsis)
}

// edge is the blank at both ends of a line of the screen.
const edge = " "

// line puts left and right at the two ends of a line of the screen.
func (p painter) line(left, right string, w int) string {
	return edge + spread(left, right, w-2*len(edge), p.Glyphs.Ellipsis) + edge
}
