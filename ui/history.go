package ui

import (
	"math"
	"time"

	"redq/model"
	"redq/queue"
)

// historySpan is how much time a chart and a sparkline show.
const historySpan = 2 * time.Minute

// series returns the lengths of a queue over the last two minutes in n columns,
// the newest last. A column without a poll keeps the value of the one before; one
// that could not be read, or lies before the first poll, is a gap.
func (p painter) series(row model.Row, s model.Series, n int) []float64 {
	points := row.History.Points()
	return columnsOf(n, len(points),
		func(i int) time.Time { return points[i].At },
		func(i int) float64 {
			if !points[i].OK[s] {
				return gap
			}
			return float64(points[i].N[s])
		})
}

// columnsOf spreads points, oldest first, over n columns of two minutes that end with
// the newest. A column without a point keeps the value of the one before; one before
// the first point is a gap.
func columnsOf(n, points int, at func(int) time.Time, value func(int) float64) []float64 {
	values := make([]float64, max(n, 0))
	for i := range values {
		values[i] = gap
	}
	if points == 0 || n <= 0 {
		return values
	}
	end := at(points - 1)
	column := historySpan / time.Duration(n)
	next, last := 0, gap
	for i := range values {
		// How long before the newest point the column ends.
		ago := time.Duration(n-1-i) * column
		for ; next < points && end.Sub(at(next)) >= ago; next++ {
			last = value(next)
		}
		values[i] = last
	}
	return values
}

// historyPanel draws the length history of a queue in a box. note is painted.
func (p painter) historyPanel(row model.Row, s model.Series, note string, w, h int) []string {
	title := p.panelTitle(row.Queue.Name, " "+seriesName(s), ", last 2 minutes", w-boxFrame-width(note)-4)
	content := p.curve(func(n int) []float64 { return p.series(row, s, n) }, w-boxFrame, h-2*borderWidth)
	return p.box(boxed{title: title, note: note, ink: p.Faint}, content, w, h)
}

// panelTitle is a queue's name and as much of what the panel shows as w cells hold: a
// note beside it matters more.
func (p painter) panelTitle(queueName, what, detail string, w int) string {
	title := name(queueName)
	for _, more := range []string{what + detail, what} {
		if width(title)+width(more) <= w {
			return p.Title.Paint(title) + p.Muted.Paint(more)
		}
	}
	return p.Title.Paint(title)
}

func seriesName(s model.Series) string {
	switch s {
	case model.SeriesReady:
		return string(queue.Ready)
	case model.SeriesBackup:
		return string(queue.Backup)
	case model.SeriesDelayed:
		return string(queue.Delayed)
	case model.SeriesDead:
		return string(queue.Dead)
	}
	return "all messages"
}

// seriesOf returns the series of a place.
func seriesOf(p queue.Place) model.Series {
	switch p {
	case queue.Ready:
		return model.SeriesReady
	case queue.Backup:
		return model.SeriesBackup
	case queue.Delayed:
		return model.SeriesDelayed
	case queue.Dead:
		return model.SeriesDead
	}
	return model.SeriesTotal
}

// curve draws values over the last two minutes with their axes into w by h cells;
// values returns them for a number of columns.
func (p painter) curve(values func(n int) []float64, w, h int) []string {
	plot := h - 1 // the last line is the axis of time
	if plot < 1 {
		return nil
	}
	top := niceTop(math.Max(highest(values(w)), 0))
	labels := p.axisLabels(top, plot)
	columns := w - widest(labels) - 1
	if columns < 1 {
		return nil
	}
	lines := area(p.Theme, values(columns), top, plot)
	for i, line := range lines {
		tick := p.Glyphs.Border.Vertical
		if labels[i] != "" {
			tick = p.Glyphs.Border.Tick
		}
		lines[i] = p.Muted.Paint(padLeft(labels[i], widest(labels))) + p.Faint.Paint(tick) + line
	}
	return append(lines, blanks(widest(labels))+p.timeAxis(columns+1))
}

// axisLabels are the numbers at the left of a curve of h lines: the top, the
// middle where there is room, and 0.
func (p painter) axisLabels(top float64, h int) []string {
	labels := make([]string, h)
	labels[0] = shortNumber(int64(top), axisWidth)
	if h > 1 {
		labels[h-1] = "0"
	}
	if h >= roomForMiddle && h%2 == 1 {
		labels[h/2] = shortNumber(int64(top/2), axisWidth)
	}
	return labels
}

const (
	axisWidth     = 7
	roomForMiddle = 5
)

// timeAxis is the foot of a chart: w cells from two minutes ago until now.
func (p painter) timeAxis(w int) string {
	b := p.Glyphs.Border
	const from, middle, until = "2m ago", "1m", "now"
	rule := func(n int) string { return p.Faint.Paint(repeat(b.Horizontal, n)) }
	foot := p.Faint.Paint(b.Foot)
	left := w - width(foot) - len(from) - len(until)
	switch {
	case left < 2:
		return foot + rule(w-1)
	case left < 4*len(middle):
		return foot + p.Muted.Paint(from) + rule(left) + p.Muted.Paint(until)
	}
	half := w/2 - 1 - len(from) - len(middle)/2
	return foot + p.Muted.Paint(from) + rule(half) + p.Muted.Paint(middle) +
		rule(left-half-len(middle)) + p.Muted.Paint(until)
}
