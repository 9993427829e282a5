package ui

import (
	"strconv"
	"strings"

	"redq/model"
	"redq/queue"
	"redq/styles"
)

// Widths of the columns of the log of events.
const (
	logTime   = 12 // 15:04:05.000
	logKind   = 11 // a sign, a blank, the kind
	logDetail = 13
	logGap    = 2
	logInset  = logTime + logKind + logDetail + 3*logGap + len(edge)
)

// logHead names the columns of the log, and says at the other end what of it is seen.
func (p painter) logHead(c model.OwnConsumer, w int) string {
	gap := blanks(logGap)
	head := edge + pad("TIME", logTime) + gap + pad("EVENT", logKind) + gap + pad("", logDetail) + gap + "MESSAGE"
	notes := p.parts(p.logNotes(c.Log), partGap, w*2/3)
	return spread(p.Heading.Paint(head), notes+edge, w, p.Glyphs.Ellipsis)
}

func (p painter) logNotes(l model.EventLog) []part {
	var notes []part
	if l.LeftOut > 0 {
		notes = append(notes, part{p.Muted.Paint(shortNumber(l.LeftOut, 7) + " older or left out"), 2})
	}
	if text := p.m.Consumer.FilterText; text != "" {
		shown := number(int64(len(l.Shown))) + " of " + number(int64(l.Kept))
		notes = append(notes, part{p.Accent.Paint("/"+name(text)) + "  " + p.Muted.Paint(shown), 1})
	}
	if l.Paused {
		text := p.NoteBadge.Paint(" PAUSED ")
		if l.Newer > 0 {
			text += p.Muted.Paint(" " + shortNumber(l.Newer, 7) + " newer")
		}
		notes = append(notes, part{text, 0})
	}
	return notes
}

func (p painter) logLines(c model.OwnConsumer, w int) []string {
	visible := c.Log.Visible(p.l.Log.H)
	if len(visible) == 0 {
		text := "Nothing has happened yet."
		if p.m.Consumer.FilterText != "" {
			text = "No event matches. esc clears the filter."
		}
		return []string{"", blanks(nothingInset) + p.Muted.Paint(text)}
	}
	lines := make([]string, len(visible))
	for i, l := range visible {
		lines[i] = p.logLine(l, w)
	}
	return lines
}

func (p painter) logLine(l model.LogLine, w int) string {
	gap := blanks(logGap)
	glyph, ink := p.eventLook(l.Kind)
	return edge + p.Muted.Paint(pad(l.At.Local().Format("15:04:05.000"), logTime)) + gap +
		pad(ink.Paint(glyph+" "+cut(name(string(l.Kind)), logKind-2, p.Glyphs.Ellipsis)), logKind) + gap +
		pad(p.Muted.Paint(cut(p.eventDetail(l), logDetail, p.Glyphs.Ellipsis)), logDetail) + gap +
		p.eventText(l, w-logInset-len(edge))
}

// eventText is the message and, behind it, the reason: each gets what the other
// leaves, the reason the larger part of what is too little.
func (p painter) eventText(l model.LogLine, w int) string {
	if l.Text == "" || l.Why == "" {
		return p.Text.Paint(cut(l.Text, w, p.Glyphs.Ellipsis)) + p.Muted.Paint(cut(l.Why, w, p.Glyphs.Ellipsis))
	}
	why := min(width(l.Why), w*3/5-logGap)
	text := cut(l.Text, w-why-logGap, p.Glyphs.Ellipsis)
	return p.Text.Paint(text) + blanks(logGap) + p.Muted.Paint(cut(l.Why, w-width(text)-logGap, p.Glyphs.Ellipsis))
}

// eventDetail is what a kind of event has to say beside its message.
func (p painter) eventDetail(l model.LogLine) string {
	var parts []string
	if l.Attempt > 1 {
		parts = append(parts, "#"+strconv.Itoa(l.Attempt))
	}
	switch l.Kind {
	case queue.EventTaken:
		if l.Late > 0 {
			parts = append(parts, millis(l.Late)+" late")
		}
	case queue.EventRetried, queue.EventDeferred:
		if in := l.Due.Sub(l.At); !l.Due.IsZero() && in > 0 {
			parts = append(parts, "in "+span(in))
		}
	case queue.EventPromoted, queue.EventRecovered, queue.EventOverflow, queue.EventError:
		if l.Count > 0 {
			parts = append(parts, shortNumber(int64(l.Count), logDetail-1)+"×")
		}
	default:
		if l.Took > 0 {
			parts = append(parts, millis(l.Took))
		}
	}
	return strings.Join(parts, " ")
}

// eventLook is the sign and the colour of a kind of event.
func (p painter) eventLook(k queue.EventKind) (glyph string, ink styles.Ink) {
	g := p.Glyphs
	switch k {
	case queue.EventTaken:
		return g.Next, p.Accent
	case queue.EventDone:
		return g.Good, p.Good
	case queue.EventFailed, queue.EventDead, queue.EventCrashed, queue.EventError:
		return g.Bad, p.Bad
	case queue.EventRetried, queue.EventKept, queue.EventDropped, queue.EventNotOurs, queue.EventRecovered, queue.EventOverflow:
		return g.Warn, p.Warn
	case queue.EventDeferred, queue.EventPromoted:
		return g.Busy, p.Later
	}
	return g.Idle, p.Muted // started, stopping, stopped, idle, returned
}
