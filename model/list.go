package model

import (
	"fmt"
	"slices"
	"time"

	"redq/queue"
)

// List is what is known of one place: a buffer of rows around the visible
// window, the cursor, the marks and the filter. Positions count from 0, over all
// the place's keys; with a filter they count the matches.
type List struct {
	Place queue.Place
	// Rows are the buffer, in the place's own order: Rows[0] is at position From.
	Rows   []MessageRow
	From   int64
	Total  int64     // messages in the place; with a filter: matches kept so far, see Matched
	Loaded bool      // a page has come
	At     time.Time // when it came, client's clock
	Err    string    // why the last page could not be read; Rows are then of At

	Top    int64 // position of the first visible row
	Cursor int64 // position of the selected row; -1 when there is none
	// Gone is set when the selected message left its place: the cursor is then
	// on its neighbour, and the next action says so.
	Gone bool

	Marks  Marks
	Search Search

	held *sighting // the selected message; nil until a page with the cursor comes
}

// MessageRow is one message as a list shows it.
type MessageRow struct {
	Message queue.Message
	Marked  bool
	Next    bool          // the one that runs next, where that is known
	Age     time.Duration // in a list: seen there for at least this long; 0 unknown
	Stuck   bool          // in backup for longer than the queue's threshold
	Due     time.Time     // delayed: zero when the score is no time in the queue's unit
	Misfit  string        // delayed: why Due is zero, e.g. "looks like s"

	id identity
}

// page is a page of messages made ready for a list.
type page struct {
	rows  []MessageRow
	from  int64
	total int64
}

// Selected returns the row under the cursor.
func (l List) Selected() (MessageRow, bool) { return l.RowAt(l.Cursor) }

// RowAt returns the row at a position, if it is in the buffer.
func (l List) RowAt(pos int64) (MessageRow, bool) {
	i := pos - l.From
	if i < 0 || i >= int64(len(l.Rows)) {
		return MessageRow{}, false
	}
	return l.Rows[i], true
}

// Visible returns the rows of a window of height lines and the position of the
// first. Positions that are still being read are missing at either end.
func (l List) Visible(height int) (rows []MessageRow, from int64) {
	first := max(0, l.Top-l.From)
	last := min(int64(len(l.Rows)), l.Top+int64(height)-l.From)
	if first >= last {
		return nil, l.Top
	}
	return l.Rows[first:last], l.From + first
}

// covers reports whether all rows of the window are in the buffer.
func (l List) covers(height int) bool {
	until := min(l.Top+int64(height), l.Total)
	return l.Loaded && l.Top >= l.From && until <= l.From+int64(len(l.Rows))
}

// maxPage bounds what one page may ask for.
const maxPage = 200

// wanted returns the page to ask for: the window with as much on either side, so
// that scrolling has rows to show and messages that moved are found. grown is by
// how much the place is longer now than when it was read.
func (l List) wanted(height int, grown int64) (from int64, n int) {
	margin := max(0, min(height, (maxPage-height)/2))
	return max(0, l.Top+grown-int64(margin)), min(height+2*margin, maxPage)
}

// paged takes a new page: cursor, window and marks follow their messages.
func (l List) paged(p page, height int) List {
	f := newFollower(l.Rows, l.From, p)
	held, fate := l.held, fateSeen
	if held != nil {
		var pos int64
		pos, fate = f.find(*held)
		l.Gone = l.Gone || fate == fateGone || fate == fateLost
		l.Top += pos - held.pos
		l.Cursor = pos
	}
	l.Rows, l.From, l.Total, l.Loaded, l.Err = p.rows, p.from, p.total, true, ""
	l.Marks = l.Marks.followed(f)
	l = l.settled(height).marked()
	if fate == fateUnseen && l.held == nil {
		l.held = &sighting{held.id, l.Cursor} // still meant; its page comes next
	}
	return l
}

// settled puts cursor and window back into the bounds and takes hold of the
// message under the cursor.
func (l List) settled(height int) List {
	l.Cursor = max(0, min(l.Cursor, l.Total-1))
	if l.Total == 0 {
		l.Cursor = -1
	}
	h := int64(max(1, height))
	l.Top = min(l.Top, l.Cursor)
	l.Top = max(l.Top, l.Cursor-h+1)
	l.Top = max(0, min(l.Top, l.Total-h))
	l.held = nil
	if row, ok := l.Selected(); ok {
		l.held = &sighting{row.id, l.Cursor}
	}
	return l
}

// marked sets Marked on the rows.
func (l List) marked() List {
	seen := l.Marks.seen()
	rows := slices.Clone(l.Rows)
	for i := range rows {
		rows[i].Marked = seen[sighting{rows[i].id, l.From + int64(i)}]
	}
	l.Rows = rows
	return l
}

// moved puts the cursor on another position.
func (l List) moved(to int64, height int) List {
	l.Cursor, l.Gone = max(0, to), false
	return l.settled(height)
}

// toggled marks the selected row or takes its mark away.
func (l List) toggled() List {
	if row, ok := l.Selected(); ok {
		l.Marks = l.Marks.toggled(mark{sighting: sighting{row.id, l.Cursor}, message: row.Message})
	}
	return l.marked()
}

// markedAll marks all rows that are loaded; with a filter these are all matches.
func (l List) markedAll() (List, string) {
	add := make([]mark, len(l.Rows))
	for i, r := range l.Rows {
		add[i] = mark{sighting: sighting{r.id, l.From + int64(i)}, message: r.Message}
	}
	l.Marks = l.Marks.with(add...)
	n := Thousands(int64(l.Marks.Len()))
	switch {
	case l.Search.Running:
		return l.marked(), fmt.Sprintf("marked %s matches found so far: the search goes on", n)
	case l.Search.Beyond > 0:
		return l.marked(), fmt.Sprintf("marked %s of %s that match: those that are kept for showing", n, Thousands(l.Matched()))
	case l.Search.Text != "":
		return l.marked(), fmt.Sprintf("marked all %s that match", n)
	case int64(len(l.Rows)) < l.Total:
		return l.marked(), fmt.Sprintf("marked %s of %s: those around the screen (with a filter * marks all that match)", n, Thousands(l.Total))
	}
	return l.marked(), fmt.Sprintf("marked all %s", n)
}

// unmarked takes all marks away.
func (l List) unmarked() List {
	l.Marks = Marks{}
	return l.marked()
}

// chosen returns the messages an action is for: the marked ones, else the
// selected. why tells what is wrong when there are none.
func (l List) chosen() (ms []queue.Message, why string) {
	if l.Marks.Len() > 0 {
		return l.Marks.messages(), ""
	}
	row, ok := l.Selected()
	switch {
	case ok:
		return []queue.Message{row.Message}, ""
	case l.Total == 0 && l.Loaded:
		return nil, fmt.Sprintf("no message in %s", l.Place)
	}
	return nil, "the messages are still being read"
}

// without takes messages out that an action has moved away, so that the cursor
// stands on their neighbour before the next page comes.
func (l List) without(ms []queue.Message, height int) List {
	left := map[identity]int{}
	for _, m := range ms {
		left[identify(m)]++
	}
	rows := make([]MessageRow, 0, len(l.Rows))
	cursor := l.Cursor
	// Of identical copies the selected one goes first: it is the one that was meant.
	if row, ok := l.Selected(); ok && left[row.id] > 0 {
		left[row.id]--
		l.Rows = slices.Delete(slices.Clone(l.Rows), int(l.Cursor-l.From), int(l.Cursor-l.From)+1)
		l.Total--
	}
	for i, r := range l.Rows {
		if left[r.id] > 0 {
			left[r.id]--
			l.Total--
			if l.From+int64(i) < l.Cursor {
				cursor--
			}
			continue
		}
		rows = append(rows, r)
	}
	l.Rows, l.Cursor, l.Gone = rows, cursor, false
	return l.settled(height).marked()
}
