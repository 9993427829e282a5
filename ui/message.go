package ui

import (
	"fmt"
	"time"

	"redq/model"
	"redq/queue"
)

// message draws the page of one message: where it is, its facts, its payload.
func (p painter) message() {
	p.put(p.l.Bar, p.whereabouts(p.l.Bar.W))
	p.put(p.l.Facts, p.facts(p.l.Facts.W)...)
	p.put(p.l.Doc, p.document()...)
}

// whereabouts is where the message lies, and how it is shown.
func (p painter) whereabouts(w int) string {
	m := p.m.Message.Message
	left := p.Strong.Paint(fmt.Sprintf("#%d", m.Index)) + p.Muted.Paint(" of "+number(m.Len)+" in ") + name(m.Key)
	views := ""
	for _, v := range []model.ViewKind{model.ViewPretty, model.ViewRaw, model.ViewHex} {
		if v == p.m.Message.View {
			views += p.Button.Paint(" " + v.String() + " ")
		} else {
			views += p.Muted.Paint(" " + v.String() + " ")
		}
	}
	return p.line(left, views, w)
}

func (p painter) facts(w int) []string {
	inner := w - 2*len(edge)
	return []string{
		edge + p.parts(p.sizeFacts(), partGap, inner),
		edge + p.parts(p.timeFacts(), partGap, inner),
		p.documentRule(w),
	}
}

func (p painter) sizeFacts() []part {
	page := p.m.Message
	m := page.Message
	facts := []part{{p.sizeInFull(m.Size), 0}}
	if page.Encoding != "" {
		facts = append(facts, part{p.Muted.Paint("encoding ") + name(page.Encoding), 1})
	}
	if text := p.copies(); text != "" {
		facts = append(facts, part{text, 2})
	}
	if m.Place != queue.Delayed && m.Len > 0 {
		facts = append(facts, part{p.Muted.Paint(fmt.Sprintf("%s from the head, %s from the tail", number(m.Index), number(m.Len-1-m.Index))), 3})
	}
	return facts
}

func (p painter) sizeInFull(n int64) string {
	s := plural(n, "byte", "bytes")
	if n >= 1024 {
		s = size(n) + p.Muted.Paint(" ("+s+")")
	}
	return s
}

func (p painter) copies() string {
	page := p.m.Message
	switch {
	case page.Copies == 0:
		return ""
	case page.Copies == 1 && !page.CopiesMore:
		return p.Muted.Paint("no identical copy")
	}
	text := plural(page.Copies, "identical copy", "identical copies")
	if page.CopiesMore {
		text = "at least " + text
	}
	if page.Copies > 1 {
		return p.Warn.Paint(text)
	}
	return p.Muted.Paint(text)
}

func (p painter) timeFacts() []part {
	page := p.m.Message
	m := page.Message
	var facts []part
	switch {
	case page.Gone:
		facts = append(facts, part{p.Warn.Paint(fmt.Sprintf("%s left this place %s; what is shown is what was seen",
			p.Glyphs.Warn, fromNow(page.GoneAt, p.m.Now))), 0})
	case page.Err != "":
		facts = append(facts, part{p.Bad.Paint(p.Glyphs.Bad + " " + name(page.Err)), 0})
	}
	if page.Next {
		facts = append(facts, part{p.Good.Paint(p.Glyphs.Next + " runs next"), 3})
	}
	switch {
	case m.Place == queue.Delayed:
		facts = append(facts, p.dueFacts()...)
	case page.Age > 0:
		facts = append(facts, part{p.Muted.Paint("seen here for at least ") + span(page.Age.Truncate(time.Second)), 1})
	}
	return append(facts, p.failureFacts()...)
}

// failureFacts say how often handling the message has failed, and why the last time.
func (p painter) failureFacts() []part {
	f := p.m.Message.Failed
	if f.Attempts == 0 {
		return nil
	}
	text := p.Warn.Paint(p.Glyphs.Warn + " " + plural(int64(f.Attempts), "attempt", "attempts") + " failed")
	if f.Reason != "" {
		text += p.Muted.Paint(": ") + name(f.Reason)
	}
	facts := []part{{text, 0}}
	if !f.First.IsZero() {
		facts = append(facts, part{p.Muted.Paint("first " + fromNow(f.First, p.m.ServerNow())), 2})
	}
	return facts
}

func (p painter) dueFacts() []part {
	page := p.m.Message
	score := part{p.Muted.Paint("score ") + name(string(page.Message.Score)), 1}
	if page.Due.IsZero() {
		return []part{score, {p.Warn.Paint(name(page.Misfit)), 0}}
	}
	ink, when := p.Later, fromNow(page.Due, p.m.ServerNow())
	if !page.Due.After(p.m.ServerNow()) {
		ink, when = p.Warn, span(p.m.ServerNow().Sub(page.Due))+" late"
	}
	return []part{
		{p.Muted.Paint("due ") + ink.Paint(when), 0},
		{instant(page.Due), 2},
		score,
	}
}

// documentRule divides facts and payload, and says what the view cannot show and
// how far down it is.
func (p painter) documentRule(w int) string {
	page := p.m.Message
	percent := ""
	if page.Loaded {
		if n := page.Doc.Percent(p.l.Doc.H); n < 100 || !page.Doc.AtTop() {
			percent = fmt.Sprintf(" %d%% ", n)
		}
	}
	title := ""
	switch {
	case page.Problem != "" && page.View == model.ViewPretty:
		title = p.Warn.Paint(name(page.Problem))
	case !page.Loaded && page.Err == "":
		title = p.Muted.Paint("reading" + p.Glyphs.Ellipsis)
	}
	return p.rule(title, w-width(percent)-2) + p.Muted.Paint(percent) + p.rule("", 2)
}

func (p painter) document() []string {
	page := p.m.Message
	lines := page.Doc.Lines(p.l.Doc.H)
	if page.Loaded && page.Message.Size == 0 {
		return []string{p.Muted.Paint(edge + "(empty)")}
	}
	if page.View == model.ViewPretty {
		lines = p.highlight(lines)
	}
	return lines
}
