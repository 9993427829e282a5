package ui

import (
	"math"
	"strconv"
	"strings"
	"time"

	"redq/model"
	"redq/styles"
)

// Widths of a counter: its name, its count, its rate. Blanks between them are the
// rest of counterWidth.
const (
	counterName  = 9
	counterCount = 8
	counterRate  = 5
	counterWidth = counterName + counterCount + 1 + counterRate
	counterGap   = 2
)

// countersPanel draws what a consumer has counted in a box, and how late and how
// wasteful it takes.
func (p painter) countersPanel(c model.OwnConsumer) []string {
	w, h := p.l.CountersPanel.W, p.l.CountersPanel.H
	inner, room := w-boxFrame, h-2*borderWidth
	note := "a second, over 5s"
	if c.State.Ended() {
		note = "a second, on average"
	}
	b := boxed{
		title: p.Title.Paint(name(c.Settings.Queue.Name)) + p.Muted.Paint(" "+string(c.Settings.Pattern)),
		note:  p.Muted.Paint(note), ink: p.Faint,
	}
	main, others := c.Counters()
	columns := max(1, (inner+counterGap)/(counterWidth+counterGap))
	lines := p.counterGrid(main, columns)
	measures := p.measures(c, inner)
	spark := 1
	if !p.l.RatePanel.Empty() {
		spark = 0
	}
	if left := room - len(lines) - len(measures) - spark; len(others) > left*columns {
		lines = append(lines, p.counterLine(others, inner))
	} else {
		lines = append(lines, p.counterGrid(others, columns)...)
	}
	lines = append(lines, measures...)
	if left := room - len(lines); spark > 0 && left > 0 {
		lines = append(lines, p.throughputLines(c, inner, left)...)
	}
	return p.box(b, lines, w, h)
}

// counterGrid puts counters into columns, filled row by row.
func (p painter) counterGrid(all []model.CounterValue, columns int) []string {
	var lines []string
	for i := 0; i < len(all); i += columns {
		line := ""
		for j := i; j < min(i+columns, len(all)); j++ {
			if j > i {
				line += blanks(counterGap)
			}
			line += p.counter(all[j])
		}
		lines = append(lines, line)
	}
	return lines
}

func (p painter) counter(v model.CounterValue) string {
	n := p.Muted.Paint(padLeft("0", counterCount))
	if v.N > 0 {
		n = p.counterInk(v.Counter).Paint(padLeft(shortNumber(v.N, counterCount), counterCount))
	}
	return p.Muted.Paint(pad(v.Counter.String(), counterName)) + n + " " + padLeft(cut(p.rate(v.Rate), counterRate, ""), counterRate)
}

// counterLine names counters on one line, as many as fit.
func (p painter) counterLine(all []model.CounterValue, w int) string {
	var parts []part
	for i, v := range all {
		text := p.Muted.Paint(v.Counter.String()+" ") + p.counterInk(v.Counter).Paint(number(v.N))
		parts = append(parts, part{text, i})
	}
	return p.parts(parts, "  ", w)
}

func (p painter) counterInk(c model.Counter) styles.Ink {
	switch c {
	case model.CountDone:
		return p.Good
	case model.CountFailed, model.CountRetried, model.CountKept, model.CountDropped, model.CountNotOurs, model.CountRecovered:
		return p.Warn
	case model.CountDead, model.CountCrashed, model.CountErrors:
		return p.Bad
	case model.CountDeferred, model.CountPromoted:
		return p.Later
	}
	return p.Text
}

// measures say how late delayed messages were taken, and how many takes were in vain.
func (p painter) measures(c model.OwnConsumer, w int) []string {
	var parts []part
	if s := c.Stats; s.Lates > 0 {
		parts = append(parts, part{p.Muted.Paint("late p50 ") + millis(s.LateP50) +
			p.Muted.Paint(" p99 ") + millis(s.LateP99), 0})
	}
	if waste, ok := c.Waste(); ok {
		ink, text := p.Warn, strconv.FormatFloat(waste, 'f', 2, 64)
		if waste == 0 {
			ink, text = p.Good, "no"
		}
		parts = append(parts, part{ink.Paint(text) + p.Muted.Paint(" wasted takes/msg"), 1})
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{p.parts(parts, partGap, w)}
}

// throughputLines are the messages done a second over the last two minutes, as a
// sparkline or, where there is room, a curve.
func (p painter) throughputLines(c model.OwnConsumer, w, room int) []string {
	if room >= roomForCurve {
		return p.curve(func(n int) []float64 { return throughput(c, n) }, w, room)
	}
	values := throughput(c, w-counterName)
	if room == 1 {
		return []string{p.Muted.Paint(pad("done/s", counterName)) + p.Trend.Paint(sparkline(p.Glyphs, values))}
	}
	top := math.Max(highest(values), 0)
	lines := area(p.Theme, values, niceTop(top), room)
	for i, label := range []string{"done/s", "top " + strings.TrimPrefix(perSecond(top), "+")} {
		lines[i] = p.Muted.Paint(pad(label, counterName)) + lines[i]
	}
	for i := 2; i < len(lines); i++ {
		lines[i] = blanks(counterName) + lines[i]
	}
	return lines
}

// roomForCurve is the height from which a curve says more than a sparkline.
const roomForCurve = 4

// ratePanel draws the throughput in a box of its own.
func (p painter) ratePanel(c model.OwnConsumer) []string {
	w, h := p.l.RatePanel.W, p.l.RatePanel.H
	if w <= 0 || h <= 0 {
		return nil
	}
	title := p.Title.Paint("done") + p.Muted.Paint(" a second, last 2 minutes")
	lines := p.curve(func(n int) []float64 { return throughput(c, n) }, w-boxFrame, h-2*borderWidth)
	return p.box(boxed{title: title, ink: p.Faint}, lines, w, h)
}

// throughput returns the messages done a second in n columns, the newest last.
func throughput(c model.OwnConsumer, n int) []float64 {
	points := c.Meter.Throughput()
	return columnsOf(n, len(points),
		func(i int) time.Time { return points[i].At },
		func(i int) float64 { return math.Max(points[i].PerSecond, 0) })
}

// handPanel draws the messages in hand in a box, the longest first.
func (p painter) handPanel(c model.OwnConsumer) []string {
	w, h := p.l.HandPanel.W, p.l.HandPanel.H
	title := p.Title.Paint("in hand ") + number(int64(c.Stats.InHand))
	waiting := 0
	for _, hand := range c.InHand {
		if hand.Started.IsZero() {
			waiting++
		}
	}
	b := boxed{title: title, ink: p.Faint}
	if waiting > 0 {
		b.note = p.Muted.Paint(number(int64(waiting)) + " waiting")
	}
	if c.State == model.RunStopping {
		b.ink = p.Warn
	}
	return p.box(b, p.handLines(c.InHand, c.Stats.InHand, w-boxFrame, h-2*borderWidth), w, h)
}

// handLines are the messages in hand, each with its age and whether a worker has begun it.
func (p painter) handLines(hands []model.HandRow, total, w, room int) []string {
	if total == 0 && len(hands) == 0 {
		return []string{p.Muted.Paint("nothing")}
	}
	shown := min(len(hands), room)
	if total > shown && shown == room {
		shown = max(0, room-1)
	}
	lines := make([]string, 0, room)
	for _, hand := range hands[:shown] {
		glyph := p.Accent.Paint(p.Glyphs.Busy)
		if hand.Started.IsZero() {
			glyph = p.Muted.Paint(p.Glyphs.Idle)
		}
		age := padLeft(shortSpan(max(p.m.Now.Sub(hand.Since), 0), handAge), handAge)
		lines = append(lines, glyph+" "+p.Muted.Paint(age)+" "+p.Text.Paint(cut(hand.Text, w-handAge-3, p.Glyphs.Ellipsis)))
	}
	if more := total - shown; more > 0 {
		lines = append(lines, p.Muted.Paint("and "+number(int64(more))+" more"))
	}
	return lines
}

// handAge is the width of the age of a message in hand.
const handAge = 6
