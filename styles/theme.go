package styles

import (
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"
)

// Theme is which ink means what, for one terminal.
type Theme struct {
	Glyphs Glyphs

	Text   Ink // what is read: numbers, names, payloads; the terminal's own colour
	Strong Ink // what is looked for first
	Muted  Ink // labels, units, hints: legible, but second
	Faint  Ink // rules, borders, absent values
	Accent Ink // what is active: the open tab, focus, keys
	Good   Ink
	Warn   Ink
	Bad    Ink
	Later  Ink // what lies in the future: delayed messages
	Trend  Ink // sparklines, which must not outshine the numbers

	Heading Ink // column headings
	Title   Ink // titles of boxes and pages
	Key     Ink // a key in a hint
	Stale   Ink // old data and the page under a dialog
	Base    Ink // lies under every line; none but when all is stale

	Selection Ink // ground of the row under the cursor
	Caret     Ink // the cell of a text cursor
	Button    Ink // the button that has the focus

	AppBadge  Ink // the program's name
	NoteBadge Ink // a mode that is on: frozen
	WarnBadge Ink // a mode that forbids: read-only
	DemoBadge Ink // not a real server
	Alarm     Ink // a whole line: the connection is lost

	// Ramp paints a chart from its foot to its top.
	Ramp []Ink
}

// New returns the theme for the terminal that r describes: its colour profile
// and whether its ground is dark. Tests set both on a renderer of their own.
func New(r *lipgloss.Renderer, g Glyphs) Theme {
	p := lightPalette()
	if r.HasDarkBackground() {
		p = darkPalette()
	}
	bold := ansi.Style{}.Bold()
	reverse := ansi.Style{}.Reverse(true)
	ink := func(l look) Ink { return inkOf(r, l) }
	plain := func(c lipgloss.TerminalColor) Ink { return ink(look{fg: c}) }
	badge := func(c lipgloss.TerminalColor) Ink {
		if r.ColorProfile() == termenv.ANSI {
			// Of 16 colours many terminals have only the dark 8 as grounds.
			return ink(look{fg: c, reverse: true})
		}
		return ink(look{fg: p.onBadge, bg: c, bold: true, mono: reverse})
	}

	return Theme{
		Glyphs: g,

		Strong: ink(look{bold: true, mono: bold}),
		Muted:  plain(p.muted),
		Faint:  plain(p.faint),
		Accent: plain(p.accent),
		Good:   plain(p.good),
		Warn:   plain(p.warn),
		Bad:    plain(p.bad),
		Later:  plain(p.later),
		Trend:  plain(p.trend),

		Heading: plain(p.muted),
		Title:   ink(look{fg: p.accent, bold: true, mono: bold}),
		Key:     ink(look{fg: p.accent, bold: true, mono: bold}),
		Stale:   plain(p.stale),

		Selection: ink(look{bg: p.selection, mono: bold}),
		Caret:     badge(p.accent),
		Button:    badge(p.accent),

		AppBadge:  badge(p.accent),
		NoteBadge: badge(p.later),
		WarnBadge: badge(p.warn),
		DemoBadge: badge(p.good),
		Alarm:     badge(p.bad),

		Ramp: ramp(r, p),
	}
}

// ramp goes from the faint colour to the accent, in as many steps as the
// terminal can tell apart.
func ramp(r *lipgloss.Renderer, p palette) []Ink {
	if r.ColorProfile() == termenv.TrueColor {
		return blend(r, p.later, p.accent, rampSteps)
	}
	return []Ink{inkOf(r, look{fg: p.accent})}
}

// Dimmed is the theme for old data and for the page under a dialog: everything
// in one quiet ink, only rules and the cursor's row keep their own.
func (t Theme) Dimmed() Theme {
	d := Theme{Glyphs: t.Glyphs, Base: t.Stale, Stale: t.Stale, Faint: t.Faint, Selection: t.Selection, Ramp: []Ink{t.Faint}}
	for _, ink := range []*Ink{
		&d.Text, &d.Strong, &d.Muted, &d.Accent, &d.Good, &d.Warn, &d.Bad, &d.Later, &d.Trend,
		&d.Heading, &d.Title, &d.Key, &d.Caret, &d.Button,
		&d.AppBadge, &d.NoteBadge, &d.WarnBadge, &d.DemoBadge, &d.Alarm,
	} {
		*ink = t.Stale
	}
	return d
}
