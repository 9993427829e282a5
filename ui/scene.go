package ui

import (
	"strings"

	"redq/model"
)

// banner draws the lines that explain the scene that plays.
func (p painter) banner() {
	r, b := p.l.Banner, p.m.Banner
	if r.Empty() {
		return
	}
	sign, end := p.DemoBadge.Paint(" "+name(b.Title)+" "), p.keys("esc", "closes")
	if b.Done {
		end = p.Good.Paint(p.Glyphs.Good+" over") + "  " + end
	}
	inner := r.W - 2*len(edge)
	text := name(b.Text)
	first := wrap(text, inner-width(sign)-width(end)-4)[0]
	lines := []string{p.line(sign+"  "+p.Text.Paint(first), end, r.W)}
	rest := strings.TrimSpace(strings.TrimPrefix(text, first))
	for _, s := range wrap(rest, inner) {
		lines = append(lines, edge+p.Text.Paint(s))
	}
	if len(lines) > r.H { // the last that has room says that there is more
		last := strings.TrimSpace(strings.Join(wrap(rest, inner)[r.H-2:], " "))
		lines = append(lines[:r.H-1], edge+p.Text.Paint(cut(last, inner, p.Glyphs.Ellipsis)))
	}
	p.put(r, lines...)
}

// sceneDialog lists the scenes that can be played, and says what the selected one shows.
func (p painter) sceneDialog(d model.SceneDialog, w, room int) []string {
	const explained = 3 // lines
	most := max(1, room-explained-1)
	top := max(0, min(d.Cursor-most/2, len(d.Scenes)-most))
	var lines []string
	for i := top; i < min(top+most, len(d.Scenes)); i++ {
		s := d.Scenes[i]
		cursor := " "
		if i == d.Cursor {
			cursor = p.Accent.Paint(p.Glyphs.Cursor)
		}
		line := cursor + " " + p.Key.Paint(pad(name(s.Name), sceneName)) + " " + p.Text.Paint(name(s.Title))
		if i == d.Cursor {
			line = p.Selection.Over(fit(line, w, p.Glyphs.Ellipsis))
		}
		lines = append(lines, line)
	}
	lines = append(lines, "")
	return append(lines, p.sentence(p.Muted, name(d.Scenes[d.Cursor].Explain), w)...)
}

// sceneName is the width of a scene's name.
const sceneName = 10
