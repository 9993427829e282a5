package ui

import (
	"strings"

	"redq/model"
	"redq/queue"
)

// dialog draws the open dialog as a block of exactly the size of its rectangle.
func (p painter) dialog() []string {
	w, h := p.l.Dialog.W, p.l.Dialog.H
	inner, room := w-boxFrame, h-2*borderWidth
	head := p.m.Dialog.Head()
	ink := p.Accent
	var body []string
	var buttons string
	switch d := p.m.Dialog.(type) {
	case model.RepairDialog:
		if d.Op == queue.OpDelete {
			ink = p.Bad
		}
		body, buttons = p.repairDialog(d, inner), p.repairAnswers(d)
	case model.ReviewDialog:
		ink = p.Warn
		body, buttons = p.reviewDialog(d, inner), p.reviewAnswers(d)
	case model.JobsDialog:
		body, buttons = p.jobsDialog(d, inner, room-2), p.keys("p", "pause, go on", "x", "cancel", "D", "take off", "esc", "close")
	case model.ExportDialog:
		body, buttons = p.exportDialog(d, inner), p.answers(d.Focus, "write")
	case model.PurgeDialog:
		ink = p.Bad
		body, buttons = p.purgeDialog(d, inner), p.answers(d.Focus, "purge")
	case model.EditDialog:
		body, buttons = p.editDialog(d, inner), p.editAnswers(d)
	case model.EnqueueDialog:
		body, buttons = p.enqueueDialog(d, inner), p.answers(d.Focus, "enqueue")
		if d.Already != nil {
			buttons = p.keys("r", "reschedule that one", "w", "wrap with an id", "n", "neither")
		}
	case model.UndoDialog:
		body, buttons = p.undoDialog(d, inner, room-2), p.answers(d.Focus, "undo")
	case model.ConsumerDialog:
		body, buttons = p.consumerDialog(d, inner), p.consumerAnswers(d)
	case model.AbandonDialog:
		ink = p.Bad
		body, buttons = p.abandonDialog(d, inner, room-2), p.answers(d.Focus, "abandon")
	case model.LeaveDialog:
		ink = p.Warn
		body, buttons = p.leaveDialog(d, inner, room-2), p.leaveAnswers(d)
	case model.SceneDialog:
		body, buttons = p.sceneDialog(d, inner, room-2), p.keys("enter", "play", "esc", "no")
	}
	if head.Busy {
		buttons = p.Accent.Paint("asking the server" + p.Glyphs.Ellipsis)
	}
	if len(body) < room-2 {
		body = append([]string{""}, body...)
	}
	foot := spread(p.Warn.Paint(cut(name(head.Note), inner, p.Glyphs.Ellipsis)), "", inner, p.Glyphs.Ellipsis)
	content := append(block(body, inner, room-2), foot, padLeft(buttons, inner))
	b := boxed{title: ink.Paint(name(head.Title)), note: p.Muted.Paint(name(head.Server)), ink: ink}
	return p.box(b, content, w, h)
}

// answers are No and the deed. The one with the focus is a button, the other
// says which key gives it; in a text field letters are text, so neither does.
func (p painter) answers(f model.Focus, deed string) string {
	no, yes := p.keys("n", "no"), p.keys("y", deed)
	switch f {
	case model.FocusNo:
		no = p.Button.Paint("[ No ]")
	case model.FocusYes:
		yes = p.Button.Paint("[ " + deed + " ]")
	case model.FocusPayload, model.FocusWhen, model.FocusName, model.FocusDetail, model.FocusWorkers, model.FocusAttempts,
		model.FocusRate, model.FocusDied, model.FocusSpread, model.FocusJitter:
		return p.keys("enter", "next", "tab", "moves", "esc", "cancels")
	}
	return no + partGap + yes
}

// keys draws pairs of a key and what it does.
func (p painter) keys(pairs ...string) string {
	var all []string
	for i := 0; i+1 < len(pairs); i += 2 {
		all = append(all, p.Key.Paint(pairs[i])+" "+p.Muted.Paint(pairs[i+1]))
	}
	return strings.Join(all, "  ")
}

// labelWidth is the width of the labels at the left of a form.
const labelWidth = 9

// labelled is one line of a form.
func (p painter) labelled(label, value string, focused bool) string {
	ink := p.Muted
	if focused {
		ink = p.Accent
	}
	return ink.Paint(pad(label, labelWidth)) + value
}

// sources are the lines that say from where, one key a line.
func (p painter) sources(label string, ms []queue.Message, w int) []string {
	var keys []string
	seen := map[string]bool{}
	for _, m := range ms {
		if !seen[m.Key] {
			seen[m.Key] = true
			keys = append(keys, cut(name(m.Key), w-labelWidth, p.Glyphs.Ellipsis))
		}
	}
	if len(keys) == 0 {
		return nil
	}
	line := p.labelled(label, keys[0], false)
	if more := len(keys) - 1; more > 0 {
		line += p.Muted.Paint(" and " + plural(int64(more), "other key", "other keys"))
	}
	return []string{cut(line, w, p.Glyphs.Ellipsis)}
}

// samples shows the messages an action is for: the first few and how many more.
func (p painter) samples(ms []queue.Message, w, most int) []string {
	shown := len(ms)
	if shown > most {
		shown = most - 1
	}
	lines := make([]string, 0, most)
	for _, m := range ms[:shown] {
		lines = append(lines, p.Faint.Paint(p.Glyphs.Border.Vertical)+" "+p.payloadCell(m, w-2))
	}
	if rest := len(ms) - shown; rest > 0 {
		lines = append(lines, p.Faint.Paint(p.Glyphs.Border.Vertical)+p.Muted.Paint(" and "+number(int64(rest))+" more"))
	}
	return lines
}

// mostSamples is how many lines of messages a dialog shows.
const mostSamples = 4

// option is a line of a form that space changes.
func (p painter) option(label, value string, focused bool) string {
	line := p.labelled(label, value, focused)
	if focused {
		line += partGap + p.keys("space", "changes")
	}
	return line
}

func (p painter) choice(on bool, text string) string {
	if on {
		return p.Accent.Paint(p.Glyphs.Radio) + " " + text
	}
	return p.Muted.Paint(p.Glyphs.RadioOff + " " + text)
}

func (p painter) check(on bool, text string) string {
	if on {
		return p.Accent.Paint(p.Glyphs.Check) + " " + text
	}
	return p.Muted.Paint(p.Glyphs.CheckOff + " " + text)
}

func (p painter) purgeDialog(d model.PurgeDialog, w int) []string {
	var lines []string
	if len(d.Keys) > 0 {
		lines = append(lines, p.labelled("empties", cut(name(strings.Join(d.Keys, ", ")), w-labelWidth, p.Glyphs.Ellipsis), false))
	}
	lines = append(lines,
		p.labelled("takes", p.Bad.Paint(p.count(d.Count, countWidth)+" messages")+p.Muted.Paint(": what is there now, not what comes later"), false),
		p.labelled("undo", p.Muted.Paint("kept in the journal: u brings them back"), false),
		"",
		p.Muted.Paint("Type the name of the queue to go on: ")+name(d.Queue))
	focused := d.Focus == model.FocusName
	return append(lines, p.labelled("name", p.input(d.Name, w-labelWidth, focused), focused))
}

// input is a field on its own ground.
func (p painter) input(f model.Field, w int, focused bool) string {
	return p.Selection.Over(p.field(f, w, focused))
}

// meaning is two lines on what a typed time means.
func (p painter) meaning(f model.Field, v model.Preview, empty string, w int) []string {
	inset := blanks(labelWidth)
	switch {
	case v.Err != "":
		return block(p.indent(p.sentence(p.Warn, v.Err, w-labelWidth)), w, 2)
	case v.Due.IsZero():
		if empty == "" {
			empty = "5m, 1h30m, 15:04 or 2026-01-31 15:04"
		}
		return []string{inset + p.Muted.Paint(empty), ""}
	}
	relative := "in " + span(v.In)
	if v.In <= 0 {
		relative = "due at once"
	}
	return []string{
		inset + p.Later.Paint(relative) + partGap + instant(v.Due),
		inset + p.Muted.Paint("score ") + name(string(v.Score)),
	}
}

func (p painter) indent(lines []string) []string {
	for i := range lines {
		lines[i] = blanks(labelWidth) + lines[i]
	}
	return lines
}

// payloadLines is the height of the field for a payload.
const payloadLines = 4

func (p painter) enqueueDialog(d model.EnqueueDialog, w int) []string {
	focused := d.Focus == model.FocusPayload
	var lines []string
	for i, s := range p.textArea(d.Payload, w-labelWidth, payloadLines, focused) {
		label := ""
		if i == 0 {
			label = "payload"
		}
		lines = append(lines, p.labelled(label, p.Selection.Over(s), focused))
	}
	focused = d.Focus == model.FocusWhen
	lines = append(lines, "", p.labelled("when", p.input(d.When, w-labelWidth, focused), focused))
	lines = append(lines, p.meaning(d.When, d.Preview, p.whenEmpty(d), w)...)
	key, delayed := enqueueTo(d)
	lines = append(lines, "", p.labelled("to", name(key), false))
	if !delayed {
		end := p.choice(!d.Front, "back") + partGap + p.choice(d.Front, "front: runs next")
		lines = append(lines, p.option("end", end, d.Focus == model.FocusFront))
	}
	wrap := p.check(d.Wrap, `{"id":`+p.Glyphs.Ellipsis+`,"msg":`+p.Glyphs.Ellipsis+`}`)
	lines = append(lines, p.option("wrap", wrap, d.Focus == model.FocusWrap))
	if d.Already != nil {
		lines = append(lines, p.sentence(p.Warn, p.Glyphs.Warn+" "+p.alreadyText(*d.Already), w)...)
	}
	return lines
}

// enqueueTo returns the key the message would go to, and whether it waits there
// for its time.
func enqueueTo(d model.EnqueueDialog) (key string, delayed bool) {
	delayed = !d.CanNow || !d.Preview.Due.IsZero() || d.Preview.Err != ""
	switch {
	case len(d.Keys) == 0:
		return "", delayed
	case delayed:
		return d.Keys[len(d.Keys)-1], true
	}
	return d.Keys[0], false
}

func (p painter) whenEmpty(d model.EnqueueDialog) string {
	switch {
	case !d.CanNow:
		return "this queue only delays: 5m, 15:04, now " + p.Glyphs.Ellipsis
	case !d.CanWait:
		return "now: this queue has no delayed set"
	}
	return "empty is now, to ready; else 5m, 15:04 " + p.Glyphs.Ellipsis
}

func (p painter) alreadyText(e queue.AlreadyDelayedError) string {
	if e.Due.IsZero() {
		return "Equal bytes are delayed already, with score " + name(string(e.Score)) + "."
	}
	return "Equal bytes are delayed already, due " + fromNow(e.Due, p.m.ServerNow()) + "."
}

func (p painter) undoDialog(d model.UndoDialog, w, room int) []string {
	switch {
	case d.Err != "":
		return p.sentence(p.Bad, name(d.Err), w)
	case d.Loading:
		return []string{p.Muted.Paint("reading the journal" + p.Glyphs.Ellipsis)}
	case len(d.Entries) == 0:
		return []string{p.Muted.Paint("Nothing to undo.")}
	}
	top := max(0, min(d.Cursor-room/2, len(d.Entries)-room))
	lines := make([]string, 0, room)
	for i := top; i < len(d.Entries) && len(lines) < room; i++ {
		line := p.undoLine(d.Entries[i], i == d.Cursor, w)
		if i == d.Cursor {
			line = p.Selection.Over(line)
		}
		lines = append(lines, line)
	}
	return lines
}

func (p painter) undoLine(e model.UndoEntry, selected bool, w int) string {
	cursor, ink, note := " ", p.Text, ""
	if selected {
		cursor = p.Accent.Paint(p.Glyphs.Cursor)
	}
	switch {
	case e.Undone:
		ink, note = p.Muted, "undone"
	case e.Foreign:
		ink, note = p.Muted, "on "+name(e.Entry.Server)
	}
	left := cursor + " " + ink.Paint(name(e.What))
	right := p.Muted.Paint(note + "  " + padLeft(fromNow(e.Entry.Time, p.m.Now), agoWidth))
	return spread(left, right, w, p.Glyphs.Ellipsis)
}

// agoWidth is the width of how long ago something was done.
const agoWidth = 11
