package ui

import (
	"strings"

	"redq/model"
	"redq/queue"
)

// Widths of the fields of the form.
const (
	rateField = 9
	spanField = 8
	diedField = 7
)

// repairDialog draws the form for a re-drive, a move, a deletion or a new due time.
func (p painter) repairDialog(d model.RepairDialog, w int) []string {
	lines := p.takingLines(d, w)
	switch d.Op {
	case queue.OpRedrive:
		lines = append(lines, p.targetLines(d, w)...)
	case queue.OpDelete:
		lines = append(lines, p.labelled("undo", p.Muted.Paint("kept in the journal: u brings it back"), false))
	}
	if d.Timed() {
		lines = append(lines, p.timeLines(d, w)...)
	}
	if d.Op == queue.OpRedrive {
		reset := p.choice(!d.Reset, "kept") + partGap + p.choice(d.Reset, "reset to none")
		lines = append(lines, p.keyed("tries", model.KeyAttempts, reset, d.Focus == model.FocusReset))
	}
	if d.Ended() {
		end := p.choice(d.Front, "front: runs next") + partGap + p.choice(!d.Front, "back")
		lines = append(lines, p.keyed("end", model.KeyFront, end, d.Focus == model.FocusFront))
	}
	if ms := d.Messages(); ms != nil {
		return append(append(lines, ""), p.samples(ms, w, mostSamples)...)
	}
	return append(append(lines, ""), p.sentence(p.Muted, "First they are looked at and counted: nothing is changed before you have seen how many, and said yes.", w)...)
}

// takingLines say which messages are taken, and how fast.
func (p painter) takingLines(d model.RepairDialog, w int) []string {
	from := p.labelled("from", cut(name(d.Keys[0]), w-labelWidth, p.Glyphs.Ellipsis), false)
	if ms := d.Messages(); ms != nil {
		from = strings.Join(p.sources("from", ms, w), "")
	} else if more := len(p.sourceKeys(d)) - 1; more > 0 {
		from += p.Muted.Paint(" and " + plural(int64(more), "other key", "other keys"))
	}
	lines := []string{from}
	if len(d.Offers) > 1 {
		var sets []string
		for i, o := range d.Offers {
			sets = append(sets, p.choice(i == d.Chosen, o.String()))
		}
		lines = append(lines, p.keyed("take", model.KeyTake, cut(strings.Join(sets, "  "), w-labelWidth-2, p.Glyphs.Ellipsis), d.Focus == model.FocusTake))
	}
	if !d.Many() {
		return lines
	}
	var limits []string
	for _, n := range []int64{0, 1, 10, 100} {
		text := number(n)
		if n == 0 {
			text = "all of them"
		}
		limits = append(limits, p.choice(n == d.Limit, text))
	}
	lines = append(lines, p.keyed("oldest", model.KeyOldest, strings.Join(limits, "  "), d.Focus == model.FocusLimit))
	rate, died := d.Focus == model.FocusRate, d.Focus == model.FocusDied
	line := p.keyed("rate", model.KeyRate, p.input(d.Rate, rateField, rate), rate)
	if d.Rate.Text() == "" {
		line += p.Muted.Paint(" empty: full speed")
	} else {
		line += p.Muted.Paint(" messages a second")
	}
	if d.Watches() {
		ink := p.Muted
		if died {
			ink = p.Accent
		}
		line += "  " + p.Key.Paint(model.KeyDied) + ink.Paint(" pause when ") + p.input(d.Died, diedField, died) + p.Muted.Paint(" more are dead")
	}
	return append(lines, line)
}

// sourceKeys are the keys that messages are taken from.
func (p painter) sourceKeys(d model.RepairDialog) []string {
	if d.Op == queue.OpRedrive && len(d.Keys) > 1 {
		return d.Keys[:len(d.Keys)-1]
	}
	return d.Keys
}

// keyed is a line of a form that a key changes from anywhere.
func (p painter) keyed(label, key, value string, focused bool) string {
	ink := p.Muted
	if focused {
		ink = p.Accent
	}
	return ink.Paint(pad(label, labelWidth-2)) + p.Key.Paint(key) + " " + value
}

// targetLines say where messages are re-driven to.
func (p painter) targetLines(d model.RepairDialog, w int) []string {
	if len(d.Targets) == 1 && d.Target().Kind != model.ToList {
		return []string{p.labelled("to", cut(name(d.Target().Key), w-labelWidth, p.Glyphs.Ellipsis), false)}
	}
	var all []string
	for i, t := range d.Targets {
		text := "another list"
		switch t.Kind {
		case model.ToReady:
			text = cut(name(t.Key), w/3, p.Glyphs.Ellipsis)
		case model.ToDelayed:
			text = "delayed"
		}
		all = append(all, p.choice(i == d.To, text))
	}
	focused := d.Focus == model.FocusTo
	lines := []string{p.keyed("to", model.KeyTo, cut(strings.Join(all, "  "), w-labelWidth, p.Glyphs.Ellipsis), focused)}
	if d.Target().Kind != model.ToList {
		return lines
	}
	typing := d.Focus == model.FocusName
	field := p.labelled("", p.input(d.List, w/3, typing), typing)
	switch key := d.ListKey(); {
	case key == "":
		field += p.Muted.Paint(" a queue's name, or the key of a list")
	case key != d.List.Text():
		field += p.Muted.Paint(" its ready list ") + cut(name(key), w/3, p.Glyphs.Ellipsis)
	}
	return append(lines, field)
}

// timeLines say when messages are due.
func (p painter) timeLines(d model.RepairDialog, w int) []string {
	focused := d.Focus == model.FocusWhen
	lines := []string{p.keyed("when", model.KeyWhen, p.input(d.When, w-labelWidth, focused), focused)}
	inset := blanks(labelWidth)
	switch empty := ""; {
	case d.Shift != 0:
		lines = append(lines, inset+p.Later.Paint("each "+span(d.Shift.Abs())+map[bool]string{true: " later", false: " earlier"}[d.Shift > 0])+p.Muted.Paint(" than it is due now"), "")
	default:
		if d.Op == queue.OpRedrive {
			empty = "empty is now; else 5m, 1h30m, 15:04 " + p.Glyphs.Ellipsis
		} else {
			empty = "5m, 1h30m, 15:04, 2026-01-31 15:04; by 10m or by -1h moves each"
		}
		lines = append(lines, p.meaning(d.When, d.Preview, empty, w)...)
	}
	if !d.Many() {
		return lines
	}
	spread, jitter := d.Focus == model.FocusSpread, d.Focus == model.FocusJitter
	ink := p.Muted
	if jitter {
		ink = p.Accent
	}
	return append(lines, p.labelled("over", p.input(d.Spread, spanField, spread), spread)+p.Muted.Paint(" one after the other")+
		partGap+ink.Paint("jitter ")+p.input(d.Jitter, spanField, jitter)+p.Muted.Paint(" later at random"))
}

// repairAnswers are the answers, and which keys change the form while no text is typed.
func (p painter) repairAnswers(d model.RepairDialog) string {
	deed := map[queue.Op]string{queue.OpRedrive: "re-drive", queue.OpDelete: "delete", queue.OpReschedule: "reschedule"}[d.Op]
	if d.Op == queue.OpRedrive && d.Place == queue.Ready {
		deed = "move"
	}
	if d.Messages() == nil {
		deed = "look first"
	}
	answers := p.answers(d.Focus, deed)
	if d.Focus == model.FocusTo || d.Focus == model.FocusTake || d.Focus == model.FocusLimit || d.Focus == model.FocusReset || d.Focus == model.FocusFront {
		return p.keys("space", "changes", "tab", "moves") + partGap + answers
	}
	return answers
}
