package ui

import (
	"redq/model"
	"redq/styles"

	"github.com/charmbracelet/bubbles/key"
)

// footer draws the last line: what the last key led to and which keys do something
// here. While something is typed the prompt lies over it.
func (p painter) footer() {
	r := p.l.Footer
	status := p.status()
	hints := p.hints(p.m.Hints(), r.W-2*len(edge)-min(width(status), r.W*2/3)-2)
	p.put(r, p.line(status, hints, r.W))
}

func (p painter) status() string {
	s := p.m.Status
	if s.Text == "" {
		return ""
	}
	g := p.Glyphs
	ink, sign := styles.Ink{}, ""
	switch s.Kind {
	case model.StatusDone:
		ink, sign = p.Good, g.Good+" "
	case model.StatusWarn:
		ink, sign = p.Warn, g.Warn+" "
	case model.StatusError:
		ink, sign = p.Bad, g.Bad+" "
	}
	return ink.Paint(sign + name(s.Text))
}

// hints draws as many keys as fit, the first ones first; the key of the help is
// the last one given and always stays.
func (p painter) hints(all []key.Binding, w int) string {
	if len(all) == 0 {
		return ""
	}
	last := p.hint(all[len(all)-1])
	line := ""
	for _, b := range all[:len(all)-1] {
		next := line + p.hint(b) + hintGap
		if width(next)+width(last) > w {
			break
		}
		line = next
	}
	return line + last
}

const hintGap = "  "

func (p painter) hint(b key.Binding) string {
	h := b.Help()
	return p.Key.Paint(h.Key) + " " + p.Muted.Paint(h.Desc)
}
