package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"redq/model"
	"redq/queue"
	"redq/styles"
)

// queue draws the page of one queue: tabs, a chart, the list of the tab in front
// and a preview of the selected message.
func (p painter) queue() {
	list := p.m.Queue.List()
	p.put(p.l.Bar, p.tabs(list))
	row, _ := p.m.Row(p.m.Queue.Name)
	p.put(p.l.ChartPanel, p.queueChart(row)...)
	p.put(p.l.DistPanel, p.queueDist()...)
	if p.m.Queue.Place == model.ConsumersTab {
		p.attendance()
		return
	}
	cols := p.listColumns(list)
	p.put(p.l.ListHead, p.listHead(list, cols))
	p.put(p.l.List, p.listRows(list, cols)...)
	p.put(p.l.Preview, p.previewPanel(list, p.l.Preview.W, p.l.Preview.H)...)
}

func (p painter) queueChart(row model.Row) []string {
	r := p.l.ChartPanel
	if r.Empty() {
		return nil
	}
	note := p.reason(row)
	if place := p.m.Queue.Place; row.Unattended != "" && (place == queue.Ready || place == model.ConsumersTab) {
		note = p.Warn.Paint(p.Glyphs.Warn) + " " + p.Text.Paint(name(shortReason(row.Unattended)))
	}
	if note == "" {
		note = p.queueFacts(p.m.Queue.Queue, r.W/2)
	}
	return p.historyPanel(row, seriesOf(p.m.Queue.Place), note, r.W, r.H)
}

// shortReason is a reason without its details.
func shortReason(s string) string {
	short, _, _ := strings.Cut(s, ":")
	return short
}

func (p painter) queueDist() []string {
	r, q := p.l.DistPanel, p.m.Queue
	if r.Empty() {
		return nil
	}
	d := distribution{of: q.Name, loaded: q.DistOK, problem: q.DistErr, guessed: q.Queue.Guessed, d: q.Dist}
	return p.distPanel(d, r.W, r.H)
}

// tabs is the line of tabs, and behind them what the filter lets through.
func (p painter) tabs(list model.List) string {
	var b strings.Builder
	bar := p.l.Bar
	x := bar.X
	row, _ := p.m.Row(p.m.Queue.Name)
	unattended := row.Unattended != ""
	for _, t := range p.m.TabCells() {
		text := t.Label
		switch {
		case t.Place == p.m.Queue.Place:
			text = p.Button.Paint(" " + text + " ")
		case t.Place == model.ConsumersTab && unattended:
			text = p.tabText(text, p.Warn)
		default:
			text = p.tabText(text, p.Muted)
		}
		b.WriteString(blanks(t.Rect.X - 1 - x))
		b.WriteString(text)
		x = t.Rect.X - 1 + width(text)
	}
	right := p.parts(p.listNotes(list), partGap, bar.W-x-2*len(edge))
	return spread(b.String(), right+edge, bar.W, p.Glyphs.Ellipsis)
}

// tabText paints a tab that is not in front: the digit that opens it as a key.
func (p painter) tabText(label string, ink styles.Ink) string {
	digit, rest, _ := strings.Cut(label, " ")
	return " " + p.Key.Paint(digit) + ink.Paint(" "+rest+" ")
}

// listNotes say what else is to be known of a tab: how many are marked.
func (p painter) listNotes(list model.List) []part {
	if list.Place == model.ConsumersTab {
		return p.attendanceNotes()
	}
	n := list.Marks.Len()
	if n == 0 {
		return nil
	}
	text := plural(int64(n), "marked", "marked")
	if gone := list.Marks.Gone(); gone > 0 {
		text += fmt.Sprintf(", %d gone", gone)
	}
	return []part{{p.Accent.Paint(text), 1}}
}

// listColumns are the widths of the columns of a list; 0 where one is not shown.
type listColumns struct {
	position, when, at, score, bytes, payload int
}

// Widths of the columns of a list of messages.
const (
	flagsWidth   = 4 // cursor, mark, what is special, a blank
	whenWidth    = 11
	dateWidth    = 19
	scoreWidth   = 17
	bytesWidth   = 9
	columnGap    = 2
	leastPayload = 40 // cells of payload that absolute times and scores must leave
)

func (p painter) listColumns(list model.List) listColumns {
	last := list.Top + int64(p.l.List.H)
	if list.Search.Text != "" { // what matches may lie anywhere
		last = list.Search.Of
	}
	c := listColumns{position: max(len(number(last)), 3), when: whenWidth, bytes: bytesWidth}
	room := p.l.List.W - flagsWidth - c.position - c.when - c.bytes - 3*columnGap - len(edge)
	if list.Place == queue.Delayed {
		if room-dateWidth-columnGap >= leastPayload {
			c.at = dateWidth
			room -= dateWidth + columnGap
		}
		if room-scoreWidth-columnGap >= leastPayload {
			c.score = scoreWidth
			room -= scoreWidth + columnGap
		}
	}
	c.payload = max(room, 0)
	return c
}

func (p painter) listHead(list model.List, c listColumns) string {
	if list.Err != "" {
		return p.Bad.Paint(cut(edge+p.Glyphs.Bad+" "+name(list.Err), p.l.ListHead.W, p.Glyphs.Ellipsis))
	}
	when := "AGE"
	if list.Place == queue.Delayed {
		when = "DUE"
	}
	gap := blanks(columnGap)
	head := blanks(flagsWidth) + padLeft("#", c.position) + gap + padLeft(when, c.when) + gap
	if c.at > 0 {
		head += pad("AT", c.at) + gap
	}
	if c.score > 0 {
		head += padLeft("SCORE", c.score) + gap
	}
	head += padLeft("SIZE", c.bytes) + gap
	title := p.searchTitle(list, p.l.ListHead.W-width(head)-len(edge))
	if title == "" {
		return p.Heading.Paint(head + "PAYLOAD")
	}
	if payload := head + "PAYLOAD"; width(payload)+1+width(title)+len(edge) <= p.l.ListHead.W {
		head = payload
	}
	return spread(p.Heading.Paint(head), title+edge, p.l.ListHead.W, "")
}

func (p painter) listRows(list model.List, c listColumns) []string {
	if list.Total == 0 || len(list.Rows) == 0 {
		return p.emptyList(list)
	}
	lines := make([]string, 0, p.l.List.H)
	for pos := list.Top; pos < list.Total && len(lines) < p.l.List.H; pos++ {
		row, ok := list.RowAt(pos)
		selected := pos == list.Cursor
		line := p.unreadRow(pos, c, selected)
		if ok {
			line = p.messageRow(row, c, selected)
		}
		if selected {
			line = p.Selection.Over(fit(line, p.l.List.W, ""))
		}
		lines = append(lines, line)
	}
	return lines
}

func (p painter) emptyList(list model.List) []string {
	text := "Nothing here."
	switch {
	case list.Err != "" && !list.Loaded:
		text = "Not readable."
	case list.Search.Text != "":
		return p.nothingFound(list.Search)
	case !list.Loaded:
		text = "Reading" + p.Glyphs.Ellipsis
	}
	return []string{"", blanks(flagsWidth) + p.Muted.Paint(text)}
}

// unreadRow stands for a position whose message has not come yet.
func (p painter) unreadRow(pos int64, c listColumns, selected bool) string {
	return p.flags(selected, false, " ") + p.Muted.Paint(padLeft(number(pos), c.position)) +
		blanks(columnGap) + p.Faint.Paint(p.Glyphs.Ellipsis)
}

func (p painter) flags(selected, marked bool, special string) string {
	cursor, mark := " ", " "
	if selected {
		cursor = p.Accent.Paint(p.Glyphs.Cursor)
	}
	if marked {
		mark = p.Accent.Paint(p.Glyphs.Mark)
	}
	return cursor + mark + special + " "
}

// messageRow draws one message of a list.
func (p painter) messageRow(row model.MessageRow, c listColumns, selected bool) string {
	m := row.Message
	special := " "
	switch {
	case row.Stuck:
		special = p.Bad.Paint(p.Glyphs.Warn)
	case row.Misfit != "":
		special = p.Warn.Paint(p.Glyphs.Unknown)
	case row.Next:
		special = p.Good.Paint(p.Glyphs.Next)
	}
	gap := blanks(columnGap)
	line := p.flags(selected, row.Marked, special) +
		p.Muted.Paint(padLeft(number(m.Index), c.position)) + gap +
		padLeft(cut(p.when(row), c.when, p.Glyphs.Ellipsis), c.when) + gap
	if c.at > 0 {
		line += pad(p.dueAt(row, c.at), c.at) + gap
	}
	if c.score > 0 {
		line += padLeft(cut(name(string(m.Score)), c.score, p.Glyphs.Ellipsis), c.score) + gap
	}
	return line + p.Muted.Paint(padLeft(size(m.Size), c.bytes)) + gap + p.payloadCell(m, c.payload)
}

// when is the age of a message in a list, or when a delayed one is due.
func (p painter) when(row model.MessageRow) string {
	if row.Message.Place != queue.Delayed {
		switch {
		case row.Age <= 0:
			return p.absent()
		case row.Stuck:
			return p.Bad.Paint(p.age(row.Age))
		}
		return p.age(row.Age)
	}
	if row.Due.IsZero() {
		return p.Warn.Paint(p.Glyphs.Unknown)
	}
	if d := row.Due.Sub(p.m.ServerNow()); d > 0 {
		return p.Later.Paint("in " + span(d))
	}
	return p.Warn.Paint(span(p.m.ServerNow().Sub(row.Due)) + " late")
}

// age is how long a message has been seen at least.
func (p painter) age(d time.Duration) string {
	if d > time.Second {
		d = d.Truncate(time.Second)
	}
	return p.Glyphs.AtLeast + " " + span(d)
}

// dueAt is the due time on the clock, or why the score is none.
func (p painter) dueAt(row model.MessageRow, w int) string {
	if row.Due.IsZero() {
		return p.Warn.Paint(cut(name(row.Misfit), w, p.Glyphs.Ellipsis))
	}
	return p.Muted.Paint(row.Due.Local().Format("2006-01-02 15:04:05"))
}

func (p painter) payloadCell(m queue.Message, w int) string {
	if m.Size == 0 {
		return p.Muted.Paint(cut("(empty)", w, p.Glyphs.Ellipsis))
	}
	return p.Text.Paint(cut(p.preview.line(m.Payload), w, p.Glyphs.Ellipsis))
}

// previewPanel draws the selected message in a box.
func (p painter) previewPanel(list model.List, w, h int) []string {
	if w <= 0 || h <= 0 {
		return nil
	}
	b := boxed{ink: p.Faint}
	row, ok := list.Selected()
	if !ok {
		return p.box(b, nil, w, h)
	}
	m := row.Message
	b.title = p.Title.Paint("#"+strconv.FormatInt(m.Index, 10)) + p.Muted.Paint(" of ") + name(m.Key)
	b.note = p.Muted.Paint(size(m.Size) + " " + p.Glyphs.Dot + " " + p.preview.encoding(m))
	if list.Gone {
		b.note = p.Warn.Paint("the one selected before has gone")
	}
	inner, room := w-boxFrame, h-2*borderWidth
	facts := p.previewFacts(row, inner, room)
	text := p.preview.text(m, inner, room-len(facts))
	return p.box(b, append(facts, p.highlight(text)...), w, h)
}

// previewFacts say about the selected message what its row has no room for.
func (p painter) previewFacts(row model.MessageRow, w, room int) []string {
	if room < roomForFacts {
		return nil
	}
	var facts []part
	switch {
	case row.Misfit != "":
		facts = append(facts, part{p.Warn.Paint("score " + name(string(row.Message.Score)) + " " + name(row.Misfit)), 0})
	case !row.Due.IsZero():
		facts = append(facts,
			part{p.Muted.Paint("due ") + instant(row.Due), 0},
			part{p.Muted.Paint("score ") + name(string(row.Message.Score)), 1})
	case row.Stuck:
		facts = append(facts, part{p.Bad.Paint(p.Glyphs.Warn + " seen here for at least " + span(row.Age.Truncate(time.Second))), 0})
	case row.Age > 0:
		facts = append(facts, part{p.Muted.Paint("seen here for at least ") + span(row.Age), 0})
	}
	if row.Next {
		facts = append(facts, part{p.Good.Paint(p.Glyphs.Next + " runs next"), 2})
	}
	if len(facts) == 0 {
		return nil
	}
	return []string{p.parts(facts, partGap, w), ""}
}

// roomForFacts is the height of a preview from which it begins with facts.
const roomForFacts = 8
