package ui

import (
	"strings"

	"redq/model"
)

// prompt draws the line in which a filter or a command is typed: the text with
// its cursor, and at the other end what is wrong with it or how it may go on.
func (p painter) prompt(w int) string {
	pr := p.m.Prompt
	sign := "/"
	if pr.Kind == model.CommandPrompt {
		sign = ":"
	}
	inner := w - 2*len(edge)
	note := p.promptNote(pr, inner/2)
	room := inner - len(sign)
	if note != "" {
		room -= width(note) + 2
	}
	return edge + p.Title.Paint(sign) + p.field(pr.Field, room, true) + blanks(inner-len(sign)-room-width(note)) + note + edge
}

func (p painter) promptNote(pr model.Prompt, w int) string {
	if pr.Err != "" {
		return p.Warn.Paint(cut(name(pr.Err), w, p.Glyphs.Ellipsis))
	}
	if len(pr.Completions) == 0 {
		return p.keys("enter", "go", "esc", "cancel")
	}
	names := make([]string, 0, len(pr.Completions))
	for i, c := range pr.Completions {
		ink := p.Muted
		if i == pr.Completed {
			ink = p.Accent
		}
		names = append(names, ink.Paint(name(c)))
		if width(strings.Join(names, hintGap)) > w {
			break
		}
	}
	return cut(p.Key.Paint("tab")+" "+strings.Join(names, hintGap), w, p.Glyphs.Ellipsis)
}
