package ui

import (
	"strings"
	"time"

	"redq/model"
	"redq/queue"
	"redq/styles"
)

// overview draws the page of all queues.
func (p painter) overview() {
	o := p.m.Overview
	p.put(p.l.Bar, p.totals(p.l.Bar.W))
	columns := model.Columns(p.l.Table.W)
	p.put(p.l.TableHead, p.tableHead(columns))
	p.put(p.l.Table, p.tableRows(columns)...)
	row, ok := o.Selected()
	if !ok {
		return
	}
	p.put(p.l.DistPanel, p.overviewLeft(row, p.l.DistPanel.W, p.l.DistPanel.H)...)
	p.put(p.l.ChartPanel, p.historyPanel(row, model.SeriesTotal, p.reason(row), p.l.ChartPanel.W, p.l.ChartPanel.H)...)
}

// overviewLeft is the panel that says most about a queue: when its delayed
// messages are due, or, without any, which keys it is made of.
func (p painter) overviewLeft(row model.Row, w, h int) []string {
	o := p.m.Overview
	if !row.Queue.Has(queue.Delayed) {
		return p.keysPanel(row, w, h)
	}
	d := distribution{of: row.Queue.Name, loaded: o.DistOf == row.Queue.Name, problem: o.DistErr, d: o.Dist, guessed: row.Queue.Guessed}
	return p.distPanel(d, w, h)
}

// totals is the line of sums over all queues.
func (p painter) totals(w int) string {
	o, t := p.m.Overview, p.m.Overview.Totals()
	gap, digits := partGap, manyCells
	if w < roomyLine {
		gap, digits = hintGap, shortDigits
	}
	amount := func(n int64, what string, ink styles.Ink) string {
		if n == 0 {
			ink = p.Muted
		}
		return ink.Paint(shortNumber(n, digits)) + p.Muted.Paint(" "+what)
	}
	backup := amount(t.Backup, "backup", p.Text)
	if t.Stuck > 0 {
		backup += ", " + amount(t.Stuck, "stuck", p.Bad)
	}
	delayed := amount(t.Delayed, "delayed", p.Later)
	if t.Due > 0 {
		delayed += ", " + amount(t.Due, "due", p.Warn)
	}
	parts := []part{
		{p.Strong.Paint(number(int64(t.Queues))) + p.Muted.Paint(" "+noun(int64(t.Queues), "queue", "queues")), 0},
		{amount(t.Ready, "ready", p.Text), 1},
		{backup, 2},
		{delayed, 3},
		{amount(t.Dead, "dead", p.Bad), 4},
	}
	if t.Unreadable > 0 {
		parts = append(parts, part{p.Warn.Paint(p.Glyphs.Warn + " " + number(int64(t.Unreadable)) + " unreadable"), 5})
	}
	right := p.parts(p.overviewNotes(o), partGap, w/2)
	return p.line(p.parts(parts, gap, w-2*len(edge)-width(right)-len(hintGap)), right, w)
}

// A line shorter than roomyLine has numbers of at most shortDigits cells.
const (
	roomyLine   = 100
	shortDigits = 5
)

// overviewNotes say what is shown of all queues, and how far the scan has come.
func (p painter) overviewNotes(o model.Overview) []part {
	var notes []part
	switch d := p.m.Discovery; {
	case d.Err != "":
		notes = append(notes, part{p.Warn.Paint(p.Glyphs.Warn + " cannot look for queues: " + name(d.Err)), 3})
	case d.Truncated:
		notes = append(notes, part{p.Warn.Paint(p.Glyphs.Warn + " looked at " + shortNumber(d.Scanned, scanWidth) + " keys only"), 3})
	case p.m.Scanning:
		notes = append(notes, part{p.Accent.Paint(p.scanProgress()), 2})
	}
	if p.m.Match != "" {
		notes = append(notes, part{p.Muted.Paint("match ") + name(p.m.Match), 4})
	}
	if o.TroubleOnly {
		notes = append(notes, part{p.Warn.Paint("only trouble"), 1})
	}
	if o.FilterText != "" || o.TroubleOnly {
		shown := number(int64(len(o.Shown))) + " of " + number(int64(len(o.Rows)))
		text := p.Muted.Paint(shown)
		if o.FilterText != "" {
			text = p.Accent.Paint("/"+name(o.FilterText)) + "  " + text
		}
		notes = append(notes, part{text, 0})
	}
	return notes
}

// scanWidth is the most cells of a number of keys.
const scanWidth = 7

func (p painter) scanProgress() string {
	d := p.m.Discovery
	if d.Scanned == 0 {
		return "looking for queues" + p.Glyphs.Ellipsis
	}
	s := "scanning " + shortNumber(d.Scanned, scanWidth)
	if d.Total > 0 {
		s += " of " + shortNumber(d.Total, scanWidth) + " keys"
	}
	return s
}

func (p painter) tableHead(columns []model.Cell) string {
	var b strings.Builder
	o := p.m.Overview
	x := 0
	for _, c := range columns {
		title := c.Title
		ink := p.Heading
		if sorted := c.Column == o.Sort || c.Column == model.ColumnBackup && o.Sort == model.ColumnStuck; sorted {
			ink = p.Title
			title += p.sortGlyph(o)
		}
		w := c.W
		if c.Column == model.ColumnBackup {
			w -= stuckWidth(c.W) + 1
		}
		if c.Right {
			title = padLeft(title, w)
		}
		b.WriteString(blanks(c.X - x))
		b.WriteString(ink.Paint(cut(title, c.W, "")))
		x = c.X + min(width(title), c.W)
	}
	return b.String()
}

// sortGlyph points up where the smallest comes first: names do so by themselves.
func (p painter) sortGlyph(o model.Overview) string {
	if (o.Sort == model.ColumnName) != o.Reverse {
		return p.Glyphs.Up
	}
	return p.Glyphs.Down
}

func (p painter) tableRows(columns []model.Cell) []string {
	o := p.m.Overview
	if len(o.Shown) == 0 {
		return p.nothingShown(p.l.Table.W)
	}
	lines := make([]string, 0, p.l.Table.H)
	for i := o.Top; i < len(o.Shown) && len(lines) < p.l.Table.H; i++ {
		if i < 0 {
			continue
		}
		line := p.queueRow(o.Rows[o.Shown[i]], columns, i == o.Cursor)
		if i == o.Cursor {
			line = p.Selection.Over(fit(line, p.l.Table.W, ""))
		}
		lines = append(lines, line)
	}
	return lines
}

// nothingShown says why the table is empty, and what to press.
func (p painter) nothingShown(w int) []string {
	o := p.m.Overview
	var text, next string
	switch {
	case len(o.Rows) > 0 && o.FilterText != "":
		text, next = "No queue matches /"+name(o.FilterText)+".", "esc clears the filter."
	case len(o.Rows) > 0:
		text, next = "No queue is in trouble.", "z shows all of them."
	case !p.m.Conn.Known && p.m.Conn.Down == nil:
		text = "Connecting to " + name(p.m.Conn.Address) + p.Glyphs.Ellipsis
	case !p.m.Conn.Known:
		text = "Nothing was read yet."
	case p.m.Discovery.Err != "":
		text = "Queues cannot be looked for: " + name(p.m.Discovery.Err) + "."
		next = "--queue NAME names one by hand."
	case p.m.Scanning:
		text = "Looking for queues" + p.Glyphs.Ellipsis
	default:
		text = "No queues among " + plural(p.m.Discovery.Scanned, "key", "keys") + " of this database."
		next = "Queues are lists, and sorted sets whose scores look like times. R looks again; --queue names one by hand."
	}
	return p.nothing(text, next, w)
}

// nothing is what stands in place of an empty table: why, and what to do.
func (p painter) nothing(text, next string, w int) []string {
	out := []string{""}
	for _, s := range wrap(text, w-2*nothingInset) {
		out = append(out, blanks(nothingInset)+s)
	}
	for _, s := range wrap(next, w-2*nothingInset) {
		out = append(out, blanks(nothingInset)+p.Muted.Paint(s))
	}
	return out
}

// nothingInset is where the sentence of an empty table begins: below the names.
const nothingInset = 3

// queueRow draws one queue.
func (p painter) queueRow(row model.Row, columns []model.Cell, selected bool) string {
	var b strings.Builder
	b.Grow(3 * p.l.Table.W)
	x := 0
	for _, c := range columns {
		if sampleFailed(row) && c.Column == model.ColumnNet {
			b.WriteString(blanks(c.X - x))
			b.WriteString(p.Bad.Paint(cut(name(queue.Explain(row.Sample.Err)), p.l.Table.W-c.X-1, p.Glyphs.Ellipsis)))
			break
		}
		text := cut(p.queueCell(row, c, selected), c.W, p.Glyphs.Ellipsis)
		w := width(text)
		if c.Right && w < c.W {
			b.WriteString(blanks(c.X + c.W - w - x))
			x = c.X + c.W
		} else {
			b.WriteString(blanks(c.X - x))
			x = c.X + w
		}
		b.WriteString(text)
	}
	return b.String()
}

func sampleFailed(row model.Row) bool { return row.Sample.Err != nil }

func (p painter) queueCell(row model.Row, c model.Cell, selected bool) string {
	s := row.Sample
	switch c.Column {
	case model.ColumnHealth:
		cursor := " "
		if selected {
			cursor = p.Accent.Paint(p.Glyphs.Cursor)
		}
		return cursor + p.health(row.Health)
	case model.ColumnName:
		return p.queueName(row, c.W)
	case model.ColumnReady:
		return p.polled(row, s.Ready, c.W, p.Text)
	case model.ColumnBackup:
		return p.backup(row, c.W)
	case model.ColumnDelayed:
		return p.polled(row, s.Delayed, c.W, p.Later)
	case model.ColumnDue:
		return p.polled(row, s.Due, c.W, p.Warn)
	case model.ColumnDead:
		return p.polled(row, s.Dead, c.W, p.Bad)
	case model.ColumnNet:
		return p.net(row)
	case model.ColumnDrain:
		if row.Drain.OK {
			return shortSpan(row.Drain.Left, c.W)
		}
		return p.absent()
	case model.ColumnOldest:
		return p.oldest(row, c.W)
	case model.ColumnTrend:
		return p.Trend.Paint(sparkline(p.Glyphs, p.series(row, model.SeriesTotal, c.W)))
	}
	return ""
}

func (p painter) queueName(row model.Row, w int) string {
	text := cut(name(row.Queue.Name), w, p.Glyphs.Ellipsis)
	if row.Health == model.HealthTrouble || row.Health == model.HealthWarn {
		return p.Strong.Paint(text)
	}
	return p.Text.Paint(text)
}

func (p painter) absent() string { return p.Faint.Paint(p.Glyphs.Absent) }

// polled is a count in a cell; of a queue that was not polled yet all is unknown.
func (p painter) polled(row model.Row, n queue.Count, w int, ink styles.Ink) string {
	text := p.count(n, w)
	switch {
	case row.Sampled.IsZero() || n.State == queue.Unreadable:
		return p.Warn.Paint(p.Glyphs.Unknown)
	case n.State == queue.Absent:
		return p.Faint.Paint(text)
	case n.N == 0:
		return p.Muted.Paint(text)
	}
	return ink.Paint(text)
}

// Widths within the backup column: of the number of stuck messages behind the
// length, in words where there is room, else with the sign for a warning.
const (
	backupWide = 14 // width of the column from which there is room for words
	stuckWords = 8
	stuckSign  = 4
)

func stuckWidth(w int) int {
	if w >= backupWide {
		return stuckWords
	}
	return stuckSign
}

// backup is the length of the backup lists, and how many of it are stuck.
func (p painter) backup(row model.Row, w int) string {
	note := stuckWidth(w)
	text := padLeft(p.polled(row, row.Sample.Backup, w-note-1, p.Text), w-note-1)
	stuck := row.Sample.Stuck
	if row.Sampled.IsZero() || !stuck.OK() || stuck.N == 0 {
		return text + blanks(note+1)
	}
	if w >= backupWide {
		if words := shortNumber(stuck.N, 4) + " stuck"; width(words) <= note {
			return text + " " + pad(p.Bad.Paint(words), note)
		}
	}
	return text + " " + pad(p.Bad.Paint(p.Glyphs.Warn+shortNumber(stuck.N, note-1)), note)
}

func (p painter) net(row model.Row) string {
	if !row.Queue.Has(queue.Ready) {
		return p.absent()
	}
	if !row.Net.OK {
		return p.Faint.Paint(p.Glyphs.Unknown)
	}
	text := perSecond(row.Net.PerSecond)
	if text == "0" {
		return p.Muted.Paint(text)
	}
	return p.Text.Paint(text)
}

// oldest is the age of the oldest message that waits; of a queue that only delays,
// how late the longest overdue one is, or when the next one is due.
func (p painter) oldest(row model.Row, w int) string {
	s := row.Sample
	switch {
	case s.Oldest > 0:
		text := p.Glyphs.AtLeast + " " + shortSpan(s.Oldest.Truncate(time.Second), w-len("> "))
		if s.OldestPlace == queue.Backup && s.Oldest >= row.Queue.Stuck() {
			return p.Bad.Paint(text)
		}
		return p.Text.Paint(text)
	case s.Overdue >= time.Second:
		return p.Warn.Paint(shortSpan(s.Overdue.Truncate(time.Second), w-len(" late")) + " late")
	case !s.NextDue.IsZero():
		return p.Later.Paint("in " + shortSpan(max(s.NextDue.Sub(p.m.ServerNow()), 0), w-len("in ")))
	}
	return p.absent()
}

// reason says why a queue is in trouble.
func (p painter) reason(row model.Row) string {
	if row.Reason == "" {
		return ""
	}
	text := row.Reason
	if text == row.Unattended {
		text = shortReason(text)
	}
	return p.health(row.Health) + " " + p.Text.Paint(name(text))
}

func (p painter) health(h model.Health) string {
	switch h {
	case model.HealthIdle:
		return p.Muted.Paint(p.Glyphs.Idle)
	case model.HealthOK:
		return p.Good.Paint(p.Glyphs.Good)
	case model.HealthWarn:
		return p.Warn.Paint(p.Glyphs.Warn)
	case model.HealthTrouble:
		return p.Bad.Paint(p.Glyphs.Bad)
	}
	return p.Faint.Paint(p.Glyphs.Unknown)
}
