package ui

import (
	"strings"

	"redq/model"
)

// exportDialog draws the form for a file of messages.
func (p painter) exportDialog(d model.ExportDialog, w int) []string {
	typing := d.Focus == model.FocusName
	lines := []string{p.labelled("file", p.input(d.Path, w-labelWidth, typing), typing)}
	if len(d.Offers) > 1 {
		var sets []string
		for i, o := range d.Offers {
			sets = append(sets, p.choice(i == d.Chosen, o.String()))
		}
		lines = append(lines, p.keyed("what", model.KeyTake, cut(strings.Join(sets, "  "), w-labelWidth, p.Glyphs.Ellipsis), d.Focus == model.FocusTake))
	}
	there := p.choice(!d.Replace, "refuse") + partGap + p.choice(d.Replace, "replace it")
	lines = append(lines, p.keyed("exists", model.KeyReplace, there, d.Focus == model.FocusReplace), "")
	return append(lines, p.sentence(p.Muted, "JSON lines with exact bytes, scores and order, for your eyes only; redq import brings them back. The file is there as a whole or not at all.", w)...)
}
