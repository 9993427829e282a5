package ui

import (
	"strings"

	"redq/model"
)

// leaveDialog asks whether to quit with consumers running, or shows what is still
// in hand while they end.
func (p painter) leaveDialog(d model.LeaveDialog, w, room int) []string {
	inHand := ", nothing in hand"
	if d.InHand > 0 {
		inHand = ", " + plural(int64(d.InHand), "message", "messages") + " in hand"
	}
	var running, waiting []string
	if d.Consumers > 0 {
		running = append(running, plural(int64(d.Consumers), "consumer is running", "consumers are running")+inHand)
		waiting = append(waiting, plural(int64(d.Consumers), "consumer", "consumers")+inHand)
	}
	if d.Jobs > 0 {
		running = append(running, plural(int64(d.Jobs), "job is at work", "jobs are at work"))
		waiting = append(waiting, "the last step of "+plural(int64(d.Jobs), "job", "jobs"))
	}
	var lines []string
	switch {
	case d.Abandoned:
		lines = p.sentence(p.Warn, "abandoned: what is in hand stays in backup, or is put back where there is none", w)
	case d.Draining:
		lines = append(lines, p.Text.Paint("waiting for "+strings.Join(waiting, " and ")), p.Muted.Paint("redq ends when that is finished; nothing more is taken"))
	default:
		lines = append(lines, p.Text.Paint(strings.Join(running, ", ")+": stop and quit?"))
		lines = append(lines, p.sentence(p.Muted, p.leaveConsequence(d), w)...)
	}
	lines = append(lines, "")
	return append(lines, p.stillRunning(w, room-len(lines)-1)...)
}

// leaveConsequence says what quitting does to what runs.
func (p painter) leaveConsequence(d model.LeaveDialog) string {
	switch {
	case d.Jobs == 0:
		return "what is in hand is finished first"
	case d.Consumers == 0:
		return "a job ends before its next step: what is done stays done, the rest is not touched"
	}
	return "what is in hand is finished first; a job ends before its next step"
}

// stillRunning names the jobs and the consumers that have not ended, and what these hold.
func (p painter) stillRunning(w, room int) []string {
	var lines []string
	for _, j := range p.m.ActiveJobs() {
		lines = append(lines, p.jobLine(j, w))
	}
	for _, c := range p.m.Consumer.Consumers {
		if c.State.Ended() {
			continue
		}
		left := p.stateGlyph(c.State) + " " + name(c.Settings.Queue.Name) + "  " + p.Muted.Paint(string(c.Settings.Pattern))
		right := number(int64(c.Stats.InHand)) + p.Muted.Paint(" in hand")
		lines = append(lines, spread(left, right, w, p.Glyphs.Ellipsis))
		if n := c.Stats.InHand; n > 0 {
			lines = append(lines, p.indented(p.handLines(c.InHand, n, w-2, min(n, mostSamples)))...)
		}
	}
	if len(lines) > room && room > 0 {
		lines = append(lines[:room-1], p.Muted.Paint(p.Glyphs.Ellipsis))
	}
	return lines
}

func (p painter) indented(lines []string) []string {
	for i := range lines {
		lines[i] = "  " + lines[i]
	}
	return lines
}

func (p painter) leaveAnswers(d model.LeaveDialog) string {
	switch {
	case d.Abandoned:
		return p.keys("ctrl+c", "leaves at once")
	case d.Draining:
		return p.keys("ctrl+c", "leaves without waiting")
	}
	return p.answers(d.Focus, "stop and quit")
}

// abandonDialog asks whether what a consumer has in hand is not to be waited for.
func (p painter) abandonDialog(d model.AbandonDialog, w, room int) []string {
	lines := []string{
		p.labelled("queue", name(d.Queue), false),
		p.labelled("then", p.Warn.Paint("handlers are cancelled, "+d.Leaves), false),
		"",
	}
	return append(lines, p.handLines(d.InHand, d.Count, w, room-len(lines)-1)...)
}
