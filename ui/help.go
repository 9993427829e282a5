package ui

import (
	"fmt"

	"github.com/charmbracelet/bubbles/key"

	"redq/model"
)

// help draws all keys that do something here, and what a filter is made of, in as many
// columns as fit.
func (p painter) help() []string {
	w, h := p.l.Help.W, p.l.Help.H
	inner, room := w-boxFrame, h-2*borderWidth
	groups := p.m.HelpGroups()
	if terms := p.m.FilterTerms(); len(terms.Bindings) > 0 {
		groups = append(groups, terms)
	}
	lines := p.helpLines(groups, inner)
	top := max(0, min(p.m.HelpTop, len(lines)-room))
	note := p.keys("esc", "closes")
	if len(lines) > room {
		note = p.Muted.Paint(fmt.Sprintf("%d to %d of %d lines", top+1, min(top+room, len(lines)), len(lines))) + "  " + p.keys("j k", "scroll") + "  " + note
	}
	return p.box(boxed{title: p.Title.Paint("Keys"), note: note, ink: p.Accent}, lines[top:], w, h)
}

// Sizes of the help, in cells.
const (
	helpKeyWidth = 12
	helpColumn   = 36 // width of a column
	helpGap      = 3
)

// helpLines lays the groups out in as many columns as fit beside each other.
func (p painter) helpLines(groups []model.HelpGroup, w int) []string {
	most := max(1, (w+helpGap)/(helpColumn+helpGap))
	column := (w+helpGap)/most - helpGap
	blocks := make([][]string, len(groups))
	for i, g := range groups {
		blocks[i] = p.helpGroup(g, column)
	}
	columns := balanced(blocks, most)
	lines := block(columns[0], column, len(columns[0]))
	for _, c := range columns[1:] {
		lines = beside(lines, blanks(helpGap), block(c, column, len(c)))
	}
	return lines
}

// balanced spreads blocks over at most n columns, in order, so that the tallest is
// as low as can be.
func balanced(blocks [][]string, n int) [][]string {
	tallest, total := 0, 0
	for _, b := range blocks {
		tallest, total = max(tallest, len(b)), total+len(b)+1
	}
	for limit := tallest; ; limit++ {
		columns := stacked(blocks, limit)
		if len(columns) <= n || limit > total {
			return columns
		}
	}
}

// stacked fills columns one after the other up to a height.
func stacked(blocks [][]string, limit int) [][]string {
	var columns [][]string
	var current []string
	for _, b := range blocks {
		if len(current) > 0 && len(current)+1+len(b) > limit {
			columns, current = append(columns, current), nil
		}
		if len(current) > 0 {
			current = append(current, "")
		}
		current = append(current, b...)
	}
	return append(columns, current)
}

func (p painter) helpGroup(g model.HelpGroup, w int) []string {
	lines := []string{p.Title.Paint(cut(g.Title, w, p.Glyphs.Ellipsis))}
	for _, b := range g.Bindings {
		lines = append(lines, p.helpLine(b, w))
	}
	return lines
}

func (p painter) helpLine(b key.Binding, w int) string {
	h := b.Help()
	return p.Key.Paint(fit(h.Key, helpKeyWidth, p.Glyphs.Ellipsis)) + " " +
		cut(h.Desc, w-helpKeyWidth-1, p.Glyphs.Ellipsis)
}
