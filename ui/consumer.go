package ui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"redq/model"
	"redq/queue"
	"redq/styles"
)

// consumer draws the page of the consumers that redq runs: a row each where there
// are several, and of the one in front the counters, what it has in hand, its events.
func (p painter) consumer() {
	c, ok := p.m.Consumer.Selected()
	if !ok {
		p.put(p.l.Bar, p.line(p.Muted.Paint("no consumers"), "", p.l.Bar.W))
		p.put(p.l.Log, p.noConsumers(p.l.Log.W)...)
		return
	}
	p.put(p.l.Bar, p.consumerBar(c, p.l.Bar.W))
	columns := consumerColumns(p.l.Consumers.W)
	p.put(p.l.ConsumersHead, p.consumersHead(columns))
	p.put(p.l.Consumers, p.consumerRows(columns)...)
	p.put(p.l.CountersPanel, p.countersPanel(c)...)
	p.put(p.l.RatePanel, p.ratePanel(c)...)
	p.put(p.l.HandPanel, p.handPanel(c)...)
	p.put(p.l.LogHead, p.logHead(c, p.l.LogHead.W))
	p.put(p.l.Log, p.logLines(c, p.l.Log.W)...)
}

// noConsumers says what the page is for.
func (p painter) noConsumers(w int) []string {
	text := "No consumer runs in this redq."
	next := "Select a queue and press c: what it takes, handles and gives up is then shown here."
	switch q := p.m.Consumer.Queue(); {
	case p.m.ReadOnly:
		next = "A consumer takes messages away, and redq was started with --read-only."
	case q.Name != "":
		next = "c starts one on " + name(q.Name) + "."
	}
	return p.nothing(text, next, w)
}

// stateGlyph is the sign of a consumer's state in its colour.
func (p painter) stateGlyph(s model.RunState) string {
	switch s {
	case model.RunRunning:
		return p.Good.Paint(p.Glyphs.Good)
	case model.RunStopping, model.RunAbandoning:
		return p.Warn.Paint(p.Glyphs.Busy)
	case model.RunAbandoned:
		return p.Warn.Paint(p.Glyphs.Warn)
	case model.RunFailed:
		return p.Bad.Paint(p.Glyphs.Bad)
	}
	return p.Muted.Paint(p.Glyphs.Idle)
}

// consumerBar is how the consumer in front is, and what it was told to do.
func (p painter) consumerBar(c model.OwnConsumer, w int) string {
	until := p.m.Now
	if c.State.Ended() {
		until = c.EndedAt
	}
	state := p.stateGlyph(c.State) + " " + p.Strong.Paint(c.State.String())
	ran := " " + span(until.Sub(c.Started))
	if c.State.Ended() {
		ran = p.Muted.Paint(", ran") + ran
	}
	state += ran
	switch {
	case c.State == model.RunStopping:
		state += p.Warn.Paint(", " + number(int64(c.Stats.InHand)) + " in hand to finish")
	case c.State == model.RunRunning && c.Stats.Idle:
		state += p.Muted.Paint(", idle")
	case c.State == model.RunFailed:
		state = p.Bad.Paint(p.Glyphs.Bad+" failed: ") + name(c.Err)
	}
	s := c.Settings
	parts := []part{
		{state, 0},
		{p.Muted.Paint("pattern ") + string(s.Pattern), 1},
		{p.Muted.Paint("handler ") + cut(name(s.Handler.String()), handlerWidth, p.Glyphs.Ellipsis), 3},
		{number(int64(s.Concurrency)) + p.Muted.Paint(" "+noun(int64(s.Concurrency), "worker", "workers")), 2},
	}
	if s.Attempts > 0 {
		parts = append(parts, part{p.Muted.Paint("up to ") + number(int64(s.Attempts)) + p.Muted.Paint(" attempts"), 4})
	}
	right := ""
	if n := len(p.m.Consumer.Consumers); n > 1 {
		right = p.keys("tab", fmt.Sprintf("%d of %d", p.m.Consumer.Cursor+1, n))
	}
	return p.line(p.parts(parts, partGap, w-2*len(edge)-width(right)-2), right, w)
}

// handlerWidth is the most cells of a handler's description.
const handlerWidth = 40

// consumerColumn is a column of the table of consumers.
type consumerColumn struct {
	title string
	w     int
	left  bool // text; numbers stand at the right
	cell  func(p painter, c model.OwnConsumer, w int) string
}

// roomyConsumers is the width from which the table has all its columns.
const roomyConsumers = 104

// consumerColumns are the columns for a table of w cells. The queue's name takes
// what is left.
func consumerColumns(w int) []consumerColumn {
	counted := func(ink func(painter) styles.Ink, n func(queue.ConsumerStats) int64) func(painter, model.OwnConsumer, int) string {
		return func(p painter, c model.OwnConsumer, w int) string {
			v := n(c.Stats)
			if v == 0 {
				return p.Muted.Paint("0")
			}
			return ink(p).Paint(shortNumber(v, w))
		}
	}
	text := func(p painter) styles.Ink { return p.Text }
	bad := func(p painter) styles.Ink { return p.Bad }
	warn := func(p painter) styles.Ink { return p.Warn }
	columns := []consumerColumn{
		{title: "QUEUE", left: true, cell: func(p painter, c model.OwnConsumer, _ int) string {
			return p.Text.Paint(name(c.Settings.Queue.Name))
		}},
		{title: "PATTERN", w: 11, left: true, cell: func(p painter, c model.OwnConsumer, _ int) string {
			return string(c.Settings.Pattern)
		}},
		{title: "TAKEN", w: 8, cell: counted(text, func(s queue.ConsumerStats) int64 { return s.Taken })},
		{title: "DONE/S", w: 7, cell: func(p painter, c model.OwnConsumer, _ int) string { return p.rate(c.Rate(model.CountDone)) }},
		{title: "FAILED", w: 7, cell: counted(warn, func(s queue.ConsumerStats) int64 { return s.Failed })},
	}
	if w >= roomyConsumers {
		columns = append(columns,
			consumerColumn{title: "DEAD", w: 6, cell: counted(bad, func(s queue.ConsumerStats) int64 { return s.Dead })},
			consumerColumn{title: "LATE P50", w: 8, cell: func(p painter, c model.OwnConsumer, _ int) string {
				return p.lateness(c.Stats, c.Stats.LateP50)
			}})
	}
	columns = append(columns,
		consumerColumn{title: "LATE P99", w: 8, cell: func(p painter, c model.OwnConsumer, _ int) string {
			return p.lateness(c.Stats, c.Stats.LateP99)
		}},
		consumerColumn{title: "WASTED/MSG", w: 10, cell: painter.wastedCell},
		consumerColumn{title: "HAND", w: 5, cell: counted(text, func(s queue.ConsumerStats) int64 { return int64(s.InHand) })})
	used := healthWidth + len(edge)
	for _, c := range columns {
		used += c.w + 1
	}
	queueName := max(1, w-used)
	if spare := queueName - maxQueue; spare > leastHandler {
		handler := consumerColumn{title: "HANDLER", w: spare - 1, left: true, cell: func(p painter, c model.OwnConsumer, _ int) string {
			return p.Muted.Paint(name(c.Settings.Handler.String()))
		}}
		columns = slices.Insert(columns, 2, handler)
		queueName = maxQueue
	}
	columns[0].w = queueName
	return columns
}

// From how much spare room on the table names the handler, and how wide the queue's
// name is then.
const (
	maxQueue     = 36
	leastHandler = 12
)

// healthWidth is the width of the cursor and the sign of a state.
const healthWidth = 3

func (p painter) consumersHead(columns []consumerColumn) string {
	var b strings.Builder
	b.WriteString(blanks(healthWidth))
	for _, c := range columns {
		title := padLeft(c.title, c.w)
		if c.left {
			title = pad(c.title, c.w)
		}
		b.WriteString(cut(title, c.w, "") + " ")
	}
	return p.Heading.Paint(b.String())
}

func (p painter) consumerRows(columns []consumerColumn) []string {
	page := p.m.Consumer
	var lines []string
	for i := page.Top(p.l.Consumers.H); i < len(page.Consumers) && len(lines) < p.l.Consumers.H; i++ {
		c := page.Consumers[i]
		cursor := " "
		if i == page.Cursor {
			cursor = p.Accent.Paint(p.Glyphs.Cursor)
		}
		line := cursor + p.stateGlyph(c.State) + " "
		for _, col := range columns {
			text := cut(col.cell(p, c, col.w), col.w, p.Glyphs.Ellipsis)
			if col.left {
				line += pad(text, col.w) + " "
			} else {
				line += padLeft(text, col.w) + " "
			}
		}
		if i == page.Cursor {
			line = p.Selection.Over(fit(line, p.l.Consumers.W, ""))
		}
		lines = append(lines, line)
	}
	return lines
}

// rate is a number a second.
func (p painter) rate(r model.Rate) string {
	switch {
	case !r.OK:
		return p.Faint.Paint(p.Glyphs.Absent)
	case r.PerSecond < 0.05:
		return p.Muted.Paint("0")
	}
	return p.Text.Paint(strings.TrimPrefix(perSecond(r.PerSecond), "+"))
}

// lateness is how late messages were taken; none where none was delayed.
func (p painter) lateness(s queue.ConsumerStats, d time.Duration) string {
	if s.Lates == 0 {
		return p.absent()
	}
	return millis(d)
}

// millis writes a time in milliseconds, or seconds from 10 s on.
func millis(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms < 10:
		return strconv.FormatFloat(ms, 'f', 1, 64) + "ms"
	case ms < 10_000:
		return strconv.FormatFloat(ms, 'f', 0, 64) + "ms"
	}
	return strconv.FormatFloat(ms/1000, 'f', 0, 64) + "s"
}

// wastedCell is how many takes were wasted a message.
func (p painter) wastedCell(c model.OwnConsumer, _ int) string {
	waste, ok := c.Waste()
	switch {
	case !ok:
		return p.absent()
	case waste == 0:
		return p.Good.Paint("0")
	}
	return p.Warn.Paint(strconv.FormatFloat(waste, 'f', 2, 64))
}
