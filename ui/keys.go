package ui

import (
	"redq/model"
	"redq/queue"
	"redq/styles"
)

// keysPanel draws what a queue is made of in a box: each key with its place,
// length and lifetime, and what was guessed about it.
func (p painter) keysPanel(row model.Row, w, h int) []string {
	title := p.Title.Paint(name(row.Queue.Name)) + p.Muted.Paint(" keys")
	return p.box(boxed{title: title, ink: p.Faint}, p.keyLines(row, w-boxFrame, h-2*borderWidth), w, h)
}

func (p painter) keyLines(row model.Row, w, room int) []string {
	var lines []string
	facts := p.queueFacts(row.Queue, w)
	for _, k := range row.Sample.Keys {
		if len(lines) == room-1 && facts != "" {
			break
		}
		lines = append(lines, p.keyLine(k, w))
	}
	return append(lines, facts)
}

// Widths of the columns of the panel of keys.
const (
	placeWidth  = 8
	lengthWidth = 11
)

func (p painter) keyLine(k queue.KeySample, w int) string {
	right := number(k.Len)
	ink := p.Text
	if k.Len == 0 {
		ink = p.Muted
	}
	switch {
	case k.Err != nil:
		right, ink = name(queue.Explain(k.Err)), p.Bad
	case k.TTL > 0:
		right, ink = right+" "+p.Glyphs.Warn+" ttl "+span(k.TTL), p.Warn
	}
	right = cut(right, w*2/3, p.Glyphs.Ellipsis)
	left := p.Muted.Paint(pad(string(k.Place), placeWidth)) + name(k.Key)
	return spread(left, ink.Paint(padLeft(right, lengthWidth)), w, p.Glyphs.Ellipsis)
}

// queueFacts says in at most w cells what is known of how a queue is used; what
// is a guess has a question mark.
func (p painter) queueFacts(q queue.Queue, w int) string {
	var facts []part
	add := func(label, value string, guess queue.Guess) {
		if q.Guessed&guess != 0 {
			value += "?"
		}
		facts = append(facts, part{p.Muted.Paint(label+" ") + p.guessInk(q, guess).Paint(value), len(facts)})
	}
	if q.Pattern != "" {
		add("pattern", string(q.Pattern), queue.GuessedPattern)
	}
	if q.Has(queue.Ready) {
		add("pushed", string(q.PushEnd()), queue.GuessedPush)
	}
	if q.Has(queue.Delayed) {
		add("scores in", q.Unit.String(), queue.GuessedUnit)
	}
	if q.Has(queue.Backup) {
		add("stuck after", span(q.Stuck()), 0)
	}
	return p.parts(facts, " "+p.Faint.Paint(p.Glyphs.Dot)+" ", w)
}

func (p painter) guessInk(q queue.Queue, g queue.Guess) styles.Ink {
	if q.Guessed&g != 0 {
		return p.Muted
	}
	return p.Text
}
