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
	sign := map[model.StatusKind]string{model.StatusDone: g.Good + " ", model.StatusWarn: g.Warn + " ", model.StatusError: g.Bad + " "}[s.Kind]
	return p.statusInk(s.Kind).Paint(sign + name(s.Text))
}

func (p painter) statusInk(k model.StatusKind) styles.Ink {
	switch k {
	case model.StatusDone:
		return p.Good
	case model.StatusWarn:
		return p.Warn
	case model.StatusError:
		return p.Bad
	}
	return styles.Ink{}
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
