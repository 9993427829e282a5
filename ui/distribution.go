package ui

import (
	"slices"
	"strings"
	"time"

	"redq/queue"
	"redq/styles"
)

// distribution is what is known of the due times of one queue.
type distribution struct {
	of      string
	loaded  bool
	problem string // why it could not be read
	guessed queue.Guess
	d       queue.Distribution
}

// distPanel draws the due times of a queue in a box: how many messages lie in
// which span before and after now.
func (p painter) distPanel(d distribution, w, h int) []string {
	title := p.Title.Paint(name(d.of)) + p.Muted.Paint(" due times")
	b := boxed{title: title, ink: p.Faint}
	inner, room := w-boxFrame, h-2*borderWidth
	switch {
	case d.problem != "":
		return p.box(b, p.sentence(p.Bad, name(d.problem), inner), w, h)
	case !d.loaded:
		return p.box(b, p.sentence(p.Muted, "counting"+p.Glyphs.Ellipsis, inner), w, h)
	case d.d.Total == 0:
		return p.box(b, p.sentence(p.Muted, "Nothing is delayed.", inner), w, h)
	}
	b.note = p.distNote(d)
	return p.box(b, p.distLines(d.d, inner, room), w, h)
}

// sentence wraps text into lines of one ink.
func (p painter) sentence(ink styles.Ink, text string, w int) []string {
	lines := wrap(text, w)
	for i := range lines {
		lines[i] = ink.Paint(lines[i])
	}
	return lines
}

// distNote says what the bars do not: the next due time, the worst overdue, the unit.
func (p painter) distNote(d distribution) string {
	var parts []part
	if d.d.Overdue > 0 {
		parts = append(parts, part{p.Warn.Paint("worst " + span(d.d.Overdue) + " late"), 0})
	}
	if !d.d.NextDue.IsZero() {
		next := max(d.d.NextDue.Sub(p.m.ServerNow()), 0)
		parts = append(parts, part{p.Muted.Paint("next in ") + p.Later.Paint(span(next)), 0})
	}
	unit := d.d.Unit.String()
	if d.guessed&queue.GuessedUnit != 0 {
		unit += "?"
	}
	parts = append(parts, part{p.Muted.Paint("scores in " + unit), 0})
	return p.parts(parts, " "+p.Glyphs.Dot+" ", manyCells)
}

// manyCells is more than any line has: nothing is cut yet.
const manyCells = 1 << 20

// distLines draws one line a bin, the overdue above the line of now, and below
// all a warning about scores that are no times.
func (p painter) distLines(d queue.Distribution, w, room int) []string {
	misfits := p.misfits(d.Misfits, w)
	room -= len(misfits)
	bins := mergeBins(d.Bins, room-1)
	rows := make([]distRow, 0, len(bins)+1)
	for i, b := range bins {
		if b.From == 0 && i > 0 {
			rows = append(rows, distRow{now: true})
		}
		rows = append(rows, distRow{bin: b, label: binLabel(b)})
	}
	return append(p.distRows(rows, w), misfits...)
}

type distRow struct {
	bin   queue.Bin
	label string
	now   bool // the line between overdue and not yet due
}

func (p painter) distRows(rows []distRow, w int) []string {
	labels, counts, top := 0, 0, int64(0)
	for _, r := range rows {
		labels = max(labels, width(r.label))
		counts = max(counts, width(shortNumber(r.bin.N, countWidth)))
		top = max(top, r.bin.N)
	}
	room := w - labels - counts - 2
	lines := make([]string, len(rows))
	for i, r := range rows {
		if r.now {
			lines[i] = p.rule(p.Muted.Paint("now"), w)
			continue
		}
		ink := p.binInk(r.bin)
		label := p.Muted.Paint(pad(r.label, labels))
		n := padLeft(shortNumber(r.bin.N, countWidth), counts)
		if r.bin.N == 0 {
			n = p.Faint.Paint(n)
		}
		lines[i] = label + " " + n + " " + ink.Paint(bar(p.Glyphs, r.bin.N, top, room))
	}
	return lines
}

// countWidth is the most cells a count takes beside a bar.
const countWidth = 9

// misfits says how many scores are no times, e.g. "3 scores look like s, 1 score negative".
func (p painter) misfits(all []queue.Misfit, w int) []string {
	var kinds []string
	for _, m := range all {
		switch {
		case m.N == 1:
			kinds = append(kinds, "1 score "+name(m.Reason))
		case m.N > 1:
			kinds = append(kinds, number(m.N)+" scores "+name(strings.Replace(m.Reason, "looks", "look", 1)))
		}
	}
	if len(kinds) == 0 {
		return nil
	}
	text := p.Glyphs.Warn + " " + strings.Join(kinds, ", ")
	return []string{p.Warn.Paint(cut(text, w, p.Glyphs.Ellipsis))}
}

// binInk is red for what is long overdue, then amber; what is to come is cool.
func (p painter) binInk(b queue.Bin) styles.Ink {
	switch {
	case b.Until <= -longOverdue:
		return p.Bad
	case b.Until <= 0:
		return p.Warn
	case b.Until <= soon:
		return p.Accent
	}
	return p.Later
}

// Bounds between the colours of the distribution.
const (
	longOverdue = 10 * time.Minute
	soon        = time.Minute
)

// mergeBins joins bins until there are at most room. The side of now that has
// more of them gives: first its two nearest, whose spans are short, then its two
// farthest, and so on.
func mergeBins(bins []queue.Bin, room int) []queue.Bin {
	bins = slices.Clone(bins)
	past := 0
	for past < len(bins) && bins[past].Until <= 0 {
		past++
	}
	var pastTurn, comingTurn int
	for len(bins) > max(room, 2) {
		if coming := len(bins) - past; past > coming {
			bins = join(bins, nearOrFar(pastTurn, past-2, 0))
			past--
			pastTurn++
		} else {
			bins = join(bins, nearOrFar(comingTurn, past, len(bins)-2))
			comingTurn++
		}
	}
	return bins
}

func nearOrFar(turn, near, far int) int {
	if turn%2 == 0 {
		return near
	}
	return far
}

// join makes one of the bins i and i+1.
func join(bins []queue.Bin, i int) []queue.Bin {
	bins[i] = queue.Bin{From: bins[i].From, Until: bins[i+1].Until, N: bins[i].N + bins[i+1].N}
	return slices.Delete(bins, i+1, i+2)
}

// binLabel names the span of a bin.
func binLabel(b queue.Bin) string {
	switch {
	case b.From == queue.MinSpan && b.Until == 0:
		return "overdue"
	case b.From == queue.MinSpan:
		return "over " + span(-b.Until) + " late"
	case b.Until == 0:
		return "up to " + span(-b.From) + " late"
	case b.Until < 0:
		return span(-b.Until) + " to " + span(-b.From) + " late"
	case b.From == 0 && b.Until == queue.MaxSpan:
		return "to come"
	case b.Until == queue.MaxSpan:
		return "after " + span(b.From)
	case b.From == 0:
		return "next " + span(b.Until)
	}
	return span(b.From) + " to " + span(b.Until)
}
