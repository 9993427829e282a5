package ui

import (
	"strings"

	"redq/model"
	"redq/queue/payload"
)

// prompt draws the lines in which a filter or a command is typed: the text with its
// cursor, and below it what is wrong with it, or what a filter is made of.
func (p painter) prompt(w int) []string {
	pr := p.m.Prompt
	inner := w - 2*len(edge)
	note := p.promptNote(pr, inner/2)
	room := inner - signWidth
	if note != "" {
		room -= width(note) + 2
	}
	typed := p.Title.Paint(promptSign(pr)) + p.field(pr.Field, room, true)
	lines := []string{edge + typed + blanks(inner-signWidth-room-width(note)) + note + edge}
	switch {
	case pr.Err != "":
		lines = append(lines, p.promptError(pr, room, inner)...)
	case pr.Kind == model.FilterPrompt:
		lines = append(lines, p.filterTerms(inner))
	}
	for i := range lines[1:] {
		lines[i+1] = edge + fit(lines[i+1], inner, p.Glyphs.Ellipsis) + edge
	}
	return lines
}

// signWidth is the width of what stands before the text.
const signWidth = 1

func promptSign(pr model.Prompt) string {
	if pr.Kind == model.CommandPrompt {
		return ":"
	}
	return "/"
}

func (p painter) promptNote(pr model.Prompt, w int) string {
	if len(pr.Completions) == 0 || pr.Err != "" {
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

// promptError is what is wrong, with carets under its place in a field of room cells:
// behind or before them where that fits into w cells, else below them.
func (p painter) promptError(pr model.Prompt, room, w int) []string {
	reason := name(pr.Err)
	if pr.ErrAt < 0 {
		return p.warned(reason, w)
	}
	at, to := errorCells(pr, room)
	carets := p.Bad.Paint(strings.Repeat("^", to-at))
	before := signWidth + at
	switch behind := w - signWidth - to - 1; {
	case width(reason) <= behind:
		return []string{blanks(before) + carets + " " + p.Warn.Paint(reason)}
	case width(reason) < before:
		return []string{p.Warn.Paint(padLeft(reason, before-1)) + " " + carets}
	}
	return append([]string{blanks(before) + carets}, p.warned(reason, w)...)
}

// warned is what is wrong in as many lines as it takes.
func (p painter) warned(text string, w int) []string {
	lines := wrap(text, w)
	for i := range lines {
		lines[i] = p.Warn.Paint(lines[i])
	}
	return lines
}

// errorCells returns the cells of a field of room cells in which the wrong part of its
// text stands, at least one.
func errorCells(pr model.Prompt, room int) (at, to int) {
	text := pr.Field.Text()
	cells := func(s string) int { return width(payload.LineString(s, mostTyped)) }
	before, _ := pr.Field.Cursor()
	// What is typed moves to the left when the cursor would be out of sight.
	moved := max(0, cells(before)+1-room)
	at = min(max(0, cells(text[:pr.ErrAt])-moved), room-1)
	to = min(max(at+1, cells(text[:pr.ErrTo])-moved), room)
	return at, to
}

// filterTerms are examples of what a filter is made of, as many as fit into a line.
func (p painter) filterTerms(w int) string {
	line := ""
	for _, b := range p.m.FilterTerms().Bindings {
		if term := b.Help().Key; width(line)+width(term) <= w {
			line += p.Key.Paint(term) + hintGap
		}
	}
	return line
}
