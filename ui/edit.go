package ui

import (
	"fmt"

	"redq/model"
	"redq/styles"
)

// editDialog draws an edit: what is wrong with the text, or the difference and what
// to do. In a review it takes all of room, the difference as many lines as the
// layout gives it.
func (p painter) editDialog(d model.EditDialog, w int) []string {
	where := []string{p.labelled("in", name(d.Message.Key), false)}
	switch d.Stage {
	case model.EditOpen:
		return append(where, "", p.Muted.Paint("the editor opens"+p.Glyphs.Ellipsis))
	case model.EditTrouble:
		return append(append(where, ""), p.sentence(p.Warn, p.Glyphs.Warn+" "+name(d.Trouble), w)...)
	}
	where[0] = spread(where[0], p.Muted.Paint(d.Sizes()), w, p.Glyphs.Ellipsis)
	return append(append(where, p.editWays(d, w), p.editLeads(d), p.diffRule(d.Diff, w)), block(p.diff(d.Diff, w), w, p.l.Diff.H)...)
}

// editWays is the line on which one of the ways is chosen.
func (p painter) editWays(d model.EditDialog, w int) string {
	line := ""
	for i, way := range d.Ways {
		if i > 0 {
			line += "  "
		}
		line += p.choice(way == d.Way, editDeed(way))
	}
	if len(d.Ways) > 1 {
		line += partGap + p.keys("space", "changes")
	}
	return cut(p.labelled("then", line, d.Focus == model.FocusWay), w, p.Glyphs.Ellipsis)
}

func editDeed(w model.EditWay) string {
	switch w {
	case model.EditRedrive:
		return "re-drive"
	case model.EditEnqueue:
		return "enqueue"
	}
	return "replace"
}

// editLeads says what the chosen way does.
func (p painter) editLeads(d model.EditDialog) string {
	to := name(d.To)
	switch {
	case len(d.Ways) == 0:
		return p.labelled("to", p.Muted.Paint("this queue has no place for it"), false)
	case d.Way == model.EditRedrive:
		return p.labelled("to", to+p.Muted.Paint(", in two steps: the edit, then the re-drive"), false)
	case !d.Due().IsZero():
		return p.labelled("to", to+p.Muted.Paint(", due as the old one, which stays if it is there"), false)
	case d.Way == model.EditEnqueue:
		return p.labelled("to", to+p.Muted.Paint(", as a new message; the old one stays if it is there"), false)
	}
	return p.labelled("to", to+p.Muted.Paint(", in the place of the old one"), false)
}

// diffRule divides the questions from the difference.
func (p painter) diffRule(d model.Diff, w int) string {
	title := p.Bad.Paint(fmt.Sprintf("- %s", plural(int64(d.Removed), "line", "lines"))) + "  " +
		p.Good.Paint(fmt.Sprintf("+ %s", plural(int64(d.Added), "line", "lines")))
	below, more := d.Below()
	note := ""
	switch {
	case more:
		note = p.Muted.Paint(fmt.Sprintf(" %s over %s below, and more than is shown ", number(int64(d.Above())), number(int64(below))))
	case d.Above() > 0 || below > 0:
		note = p.Muted.Paint(fmt.Sprintf(" %s above, %s below ", number(int64(d.Above())), number(int64(below)))) + p.keys("j k", "scroll") + " "
	}
	return p.rule(title, w-width(note)-2) + note + p.rule("", 2)
}

// diff draws the rows of a difference, each with its sign: colour alone would be
// lost on some terminals.
func (p painter) diff(d model.Diff, w int) []string {
	rows := d.Visible()
	lines := make([]string, len(rows))
	for i, row := range rows {
		sign, ink := p.diffLook(row)
		if row.Cont {
			sign = " "
		}
		lines[i] = cut(ink.Paint(sign+" "+row.Text), w, p.Glyphs.Ellipsis)
	}
	return lines
}

func (p painter) diffLook(row model.DiffRow) (sign string, ink styles.Ink) {
	switch row.Kind {
	case model.DiffRemoved:
		return "-", p.Bad
	case model.DiffAdded:
		return "+", p.Good
	case model.DiffSkipped:
		return p.Glyphs.Ellipsis, p.Muted
	}
	return " ", p.Text
}

// editAnswers are the keys of an edit.
func (p painter) editAnswers(d model.EditDialog) string {
	switch {
	case d.Stage == model.EditTrouble && d.Usable:
		return p.keys("e", "edit again", "a", "use it as it is", "n", "drop the edit")
	case d.Stage == model.EditTrouble:
		return p.keys("e", "edit again", "n", "drop the edit")
	case len(d.Ways) == 0:
		return p.keys("e", "edit again", "n", "no")
	}
	return p.keys("e", "edit again") + partGap + p.answers(d.Focus, d.Way.String())
}
