package ui

import (
	"strings"

	"redq/model"
	"redq/queue"
	"redq/queue/handler"
)

// Widths within the form for a consumer.
const (
	patternName = 12
	numberField = 6
)

// consumerDialog draws the form for a consumer.
func (p painter) consumerDialog(d model.ConsumerDialog, w int) []string {
	lines := make([]string, 0, len(d.Patterns)+8)
	for i := range d.Patterns {
		label := ""
		if i == 0 {
			label = "pattern"
		}
		lines = append(lines, p.labelled(label, p.patternLine(d, i, w-labelWidth), d.Focus == model.FocusPattern))
	}
	var kinds []string
	for _, k := range handler.Kinds() {
		kinds = append(kinds, p.choice(k == d.Kind, string(k)))
	}
	lines = append(lines,
		p.option("handler", strings.Join(kinds, "  "), d.Focus == model.FocusKind),
		p.handlerLine(d, w),
		p.numbersLine(d),
		p.lockLine(d),
		p.labelled("promise", name(d.Promise()), false))
	warning := p.sentence(p.Warn, p.Glyphs.Warn+" It takes messages away from "+name(d.Queue)+" on "+name(d.Server)+". "+d.Consequence(), w)
	return append(lines, warning...)
}

// consumerAnswers are the answers, and how to choose while that is not plain.
func (p painter) consumerAnswers(d model.ConsumerDialog) string {
	answers := p.answers(d.Focus, "start")
	switch d.Focus {
	case model.FocusPattern:
		return p.keys("j k", "choose", "tab", "moves") + partGap + answers
	case model.FocusKind, model.FocusConflict:
		return p.keys("tab", "moves") + partGap + answers
	}
	return answers
}

// patternLine is one pattern to choose; one that does not suit the queue says why.
func (p painter) patternLine(d model.ConsumerDialog, i, w int) string {
	c := d.Patterns[i]
	text := c.Number + " " + pad(string(c.Pattern), patternName)
	switch {
	case c.Refusal != "":
		sign := p.Faint.Paint(p.Glyphs.RadioOff)
		if i == d.Chosen {
			sign = p.Warn.Paint(p.Glyphs.Radio)
		}
		return sign + " " + p.Faint.Paint(text) + " " + p.Muted.Paint(cut(name(shortRefusal(c)), w-width(text)-5, p.Glyphs.Ellipsis))
	case i == d.Chosen && d.Guessed:
		return p.choice(true, text+" ") + p.Muted.Paint(c.About+" (a guess)")
	case i == d.Chosen:
		return p.choice(true, text+" ") + p.Muted.Paint(c.About)
	}
	return p.choice(false, text+" "+c.About)
}

// shortRefusal is a refusal without what the line says already.
func shortRefusal(c model.PatternChoice) string {
	return strings.TrimPrefix(c.Refusal, "pattern "+string(c.Pattern)+" ")
}

// handlerLine is what the chosen handler needs to know.
func (p painter) handlerLine(d model.ConsumerDialog, w int) string {
	focused := d.Focus == model.FocusDetail
	label := ""
	switch d.Kind {
	case handler.KindLog:
		return ""
	case handler.KindExec:
		label = "command"
	case handler.KindPost:
		label = "url"
	case handler.KindSimulate:
		label = "rates"
	}
	return p.labelled(label, p.input(d.Detail(), w-labelWidth, focused), focused)
}

// numbersLine has how many messages are handled at once, and how often each.
func (p painter) numbersLine(d model.ConsumerDialog) string {
	workers, attempts := d.Focus == model.FocusWorkers, d.Focus == model.FocusAttempts
	line := p.labelled("workers", p.input(d.Workers, numberField, workers), workers) + partGap
	if !d.Retries() {
		return line + p.Muted.Paint("attempts 1: what fails stays in backup")
	}
	line += p.labelled("attempts", p.input(d.Attempts, numberField, attempts), attempts)
	if d.Attempts.Text() == "" {
		line += " " + p.Muted.Paint("empty is "+number(int64(d.DefaultAttempts())))
	}
	return line
}

// lockLine says what is done when somebody else holds the lock.
func (p painter) lockLine(d model.ConsumerDialog) string {
	if !d.Locks() {
		return ""
	}
	fail := p.choice(d.Conflict == queue.LockFail, "fail")
	sleep := p.choice(d.Conflict == queue.LockSleep, "sleep, try again")
	put := p.choice(d.Conflict == queue.LockDefer, "defer")
	return p.option("locked", fail+"  "+sleep+"  "+put, d.Focus == model.FocusConflict)
}
