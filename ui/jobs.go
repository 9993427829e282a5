package ui

import (
	"fmt"
	"math"
	"strings"
	"time"

	"redq/model"
)

// jobLines draws how far the jobs are, a line each; what there is no room for is counted on
// the last one.
func (p painter) jobLines() {
	r := p.l.Jobs
	if r.Empty() {
		return
	}
	active := p.m.ActiveJobs()
	first := max(0, len(active)-r.H)
	lines := make([]string, 0, r.H)
	for _, j := range active[first:] {
		more := ""
		if first > 0 && len(lines) == 0 {
			more = fmt.Sprintf("+%d more  ", first)
		}
		right := p.Muted.Paint(more) + p.keys("J", "jobs")
		lines = append(lines, p.line(p.jobLine(j, r.W-2*len(edge)-width(right)-2), right, r.W))
	}
	p.put(r, lines...)
}

// jobBar is the width of a job's bar.
const jobBar = 12

// wideJobLine is the width from which a job says where its messages go.
const wideJobLine = 110

// jobLine is how far one job is, in at most w cells.
func (p painter) jobLine(j model.Job, w int) string {
	words, pace := j.Work.Words(), 2
	if r := j.Rate(); !r.OK { // it does not go on: the reason matters more than a bar
		pace = 1
	}
	text := words.Does
	if w < wideJobLine {
		text = words.Brief
	}
	return p.parts([]part{
		{p.jobGlyph(j) + " " + p.Text.Paint(name(text)), 0},
		{p.progressBar(j, jobBar), 3},
		{p.jobCount(j), 0},
		{p.jobPace(j), pace},
	}, "  ", w)
}

func (p painter) jobGlyph(j model.Job) string {
	g := p.Glyphs
	switch {
	case !j.Active() && j.Outcome().Kind == model.StatusError, j.Trouble() != "":
		return p.Bad.Paint(g.Bad)
	case !j.Active() && j.Outcome().Kind == model.StatusWarn:
		return p.Warn.Paint(g.Warn)
	case !j.Active():
		return p.Good.Paint(g.Good)
	case j.News.Paused != "", j.News.Phase == model.JobFixed:
		return p.Warn.Paint(g.Idle)
	}
	return p.Accent.Paint(g.Busy)
}

// progressBar is a bar of w cells, filled as far as the job is.
func (p painter) progressBar(j model.Job, w int) string {
	const thousand = 1000
	filled := bar(p.Glyphs, int64(j.Fraction()*thousand), thousand, w)
	ink := p.Accent
	if j.News.Paused != "" {
		ink = p.Warn
	}
	return ink.Paint(filled) + p.Faint.Paint(strings.Repeat(p.Glyphs.Border.Horizontal, max(0, w-width(filled))))
}

// jobCount is how many messages something is known of.
func (p painter) jobCount(j model.Job) string {
	n := j.News
	switch n.Phase {
	case model.JobFixing:
		return p.Muted.Paint("looked at ") + number(n.Set.Looked) + p.Muted.Paint(" of ") + number(n.Set.Of) + p.Muted.Paint(", found ") + number(n.Set.Count)
	case model.JobFixed:
		return p.Warn.Paint("asks about " + number(n.Set.Count))
	}
	if n.Report.Total == 0 && j.Active() {
		return p.Muted.Paint("starting")
	}
	text := number(j.Settled()) + p.Muted.Paint(" of ") + number(n.Report.Total)
	for _, other := range []struct {
		n    int64
		word string
	}{{n.Report.Gone, "gone"}, {n.Report.Refused, "refused"}, {n.Report.Unknown, "unknown"}} {
		if other.n > 0 {
			text += p.Warn.Paint(", " + number(other.n) + " " + other.word)
		}
	}
	return text
}

// jobPace is how fast a job goes and how long it will take; or why it does not go.
func (p painter) jobPace(j model.Job) string {
	switch {
	case !j.Active():
		return ""
	case j.Cancelling:
		return p.Warn.Paint("cancelling")
	case j.News.Paused != "":
		return p.Warn.Paint("paused: " + name(j.News.Paused))
	case j.Trouble() != "":
		return p.Bad.Paint("waiting: " + name(j.Trouble()))
	}
	r := j.Rate()
	if !r.OK {
		return ""
	}
	text := number(int64(math.Round(r.PerSecond))) + p.Muted.Paint("/s")
	if left, ok := j.Remaining(); ok && left >= time.Second {
		text += p.Muted.Paint(", ") + span(left) + p.Muted.Paint(" left")
	}
	return text
}

// reviewDialog shows the set of a job before it begins.
func (p painter) reviewDialog(d model.ReviewDialog, w int) []string {
	j, n := d.Job, d.Job.News
	if !j.Active() {
		s := j.Outcome()
		ink := p.Warn
		if s.Kind == model.StatusError {
			ink = p.Bad
		}
		return append(p.undecided(n.Set, w), p.sentence(ink, name(s.Text), w)...)
	}
	if !d.Fixed() {
		return []string{
			p.progressBar(j, w), "",
			p.jobCount(j), "",
			p.Muted.Paint("nothing is changed before you have seen how many they are, and said yes"),
		}
	}
	from := ""
	if len(d.Keys) > 0 {
		from = cut(name(d.Keys[0]), w-labelWidth, p.Glyphs.Ellipsis)
	}
	lines := []string{
		p.labelled("takes", p.Strong.Paint(plural(n.Set.Count, "message", "messages"))+p.Muted.Paint(": those that are there now, not what comes later"), false),
		p.labelled("from", from, false),
		p.labelled("time", p.estimate(j), false),
	}
	lines = append(lines, p.undecided(n.Set, w)...)
	return append(append(lines, ""), p.setSamples(n.Set, w)...)
}

// undecided tells of messages that the filter could not decide about.
func (p painter) undecided(s model.FixedSet, w int) []string {
	if s.Undecided == 0 {
		return nil
	}
	text := plural(s.Undecided, "message is", "messages are") + " left out, since the filter could not decide: " + name(s.Reason)
	return p.sentence(p.Warn, text, w)
}

// estimate is how long a job will take.
func (p painter) estimate(j model.Job) string {
	d, atMost := j.Estimate()
	if atMost {
		return "likely below " + span(roundUp(d)) + p.Muted.Paint(" at full speed")
	}
	return span(roundUp(d)) + p.Muted.Paint(" at that rate")
}

// setSamples shows the first messages of a set and how many more there are.
func (p painter) setSamples(s model.FixedSet, w int) []string {
	bar := p.Faint.Paint(p.Glyphs.Border.Vertical)
	var lines []string
	for _, m := range s.Samples {
		lines = append(lines, bar+" "+p.payloadCell(m, w-2))
	}
	if rest := s.Count - int64(len(s.Samples)); rest > 0 {
		lines = append(lines, bar+p.Muted.Paint(" and "+number(rest)+" more"))
	}
	return lines
}

func (p painter) reviewAnswers(d model.ReviewDialog) string {
	switch {
	case !d.Job.Active():
		return p.keys("esc", "closes this")
	case !d.Fixed():
		return p.keys("esc", "does not")
	}
	return p.answers(d.Focus, "do it")
}

// jobsDialog lists the jobs of this redq.
func (p painter) jobsDialog(d model.JobsDialog, w, room int) []string {
	if len(d.Jobs) == 0 {
		return []string{p.Muted.Paint("No job is left.")}
	}
	const each = 2 // lines
	fit := max(1, room/each)
	top := max(0, min(d.Cursor-fit/2, len(d.Jobs)-fit))
	var lines []string
	for i := top; i < min(len(d.Jobs), top+fit); i++ {
		j := d.Jobs[i]
		cursor := " "
		if i == d.Cursor {
			cursor = p.Accent.Paint(p.Glyphs.Cursor)
		}
		head := spread(cursor+" "+p.jobGlyph(j)+" "+name(j.Work.Words().Does), p.Muted.Paint(fmt.Sprintf("job %d  %s", j.ID, padLeft(fromNow(j.Started, p.m.Now), agoWidth))), w, p.Glyphs.Ellipsis)
		if i == d.Cursor {
			head = p.Selection.Over(head)
		}
		body := blanks(4)
		if j.Active() {
			body += p.parts([]part{{p.progressBar(j, jobBar), 1}, {p.jobCount(j), 0}, {p.jobPace(j), 2}}, "  ", w-4)
		} else {
			body += p.statusInk(j.Outcome().Kind).Paint(cut(name(j.Outcome().Text), w-4, p.Glyphs.Ellipsis))
		}
		lines = append(lines, head, body)
	}
	return lines
}
