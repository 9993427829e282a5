package model

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"redq/queue"
	"redq/queue/filter"
)

// Column is a column of the overview's table.
type Column uint8

// The columns by which the overview can be sorted, in the order `s` steps through them.
const (
	ColumnHealth Column = iota
	ColumnName
	ColumnReady
	ColumnBackup
	ColumnStuck // shown within ColumnBackup
	ColumnDelayed
	ColumnDue
	ColumnDead
	ColumnNet
	ColumnDrain
	ColumnOldest
	columnCount
	ColumnTrend // cannot be sorted by
)

// String names the column as `:sort` takes it.
func (c Column) String() string {
	names := [...]string{"health", "name", "ready", "backup", "stuck", "delayed", "due", "dead", "net", "drain", "oldest"}
	if int(c) < len(names) {
		return names[c]
	}
	return ""
}

// Overview is the page of all queues.
type Overview struct {
	Rows  []Row // all known queues, in the order they were found
	Shown []int // indexes into Rows: what the filter lets through, sorted

	Cursor int // index into Shown; -1 when nothing is shown
	Top    int // index into Shown of the first row on screen

	Sort        Column
	Reverse     bool   // against the column's own direction
	FilterText  string // as typed; "" shows all
	TroubleOnly bool

	// Dist is the distribution of due times of the queue named DistOf, "" before the first.
	Dist    queue.Distribution
	DistOf  string
	DistErr string // why the last one could not be read

	filter filter.Matcher
	held   string // the selected queue's name; "" while the cursor was not moved and the scan goes on
}

// Selected returns the row under the cursor.
func (o Overview) Selected() (Row, bool) {
	if o.Cursor < 0 || o.Cursor >= len(o.Shown) {
		return Row{}, false
	}
	return o.Rows[o.Shown[o.Cursor]], true
}

// Totals are sums over all queues, of what could be read.
type Totals struct {
	Queues, Trouble                          int
	Ready, Backup, Stuck, Delayed, Due, Dead int64
	Unreadable                               int // queues of which something is missing in the sums
}

// Totals returns the sums over all queues.
func (o Overview) Totals() Totals {
	t := Totals{Queues: len(o.Rows)}
	for _, r := range o.Rows {
		s := r.Sample
		t.Ready += s.Ready.N
		t.Backup += s.Backup.N
		t.Stuck += s.Stuck.N
		t.Delayed += s.Delayed.N
		t.Due += s.Due.N
		t.Dead += s.Dead.N
		if s.Err != nil {
			t.Unreadable++
		}
		if r.Health >= HealthWarn {
			t.Trouble++
		}
	}
	return t
}

// act takes a key's action. height is the number of rows on screen.
func (o Overview) act(a Action, height int) (Overview, Intent) {
	page := max(1, height)
	switch a {
	case ActUp:
		return o.moved(o.Cursor-1, height)
	case ActDown:
		return o.moved(o.Cursor+1, height)
	case ActPageUp:
		return o.moved(o.Cursor-page, height)
	case ActPageDown:
		return o.moved(o.Cursor+page, height)
	case ActTop:
		return o.moved(0, height)
	case ActBottom:
		return o.moved(len(o.Shown)-1, height)
	case ActEnter:
		r, _ := o.Selected()
		return o, openQueue{r.Queue.Name}
	case ActSort:
		o.Sort, o.Reverse = (o.Sort+1)%columnCount, false
		return o.arranged(height), say(StatusInfo, "sorted by "+o.Sort.String())
	case ActReverse:
		o.Reverse = !o.Reverse
		return o.arranged(height), say(StatusInfo, "reversed")
	case ActTrouble:
		o.TroubleOnly = !o.TroubleOnly
		return o.arranged(height), wantDist{}
	}
	return o, nil
}

func (o Overview) moved(to, height int) (Overview, Intent) {
	o.Cursor = to
	o = o.bounded(height)
	o.held = ""
	if r, ok := o.Selected(); ok {
		o.held = r.Queue.Name
	}
	return o, wantDist{}
}

// holding takes hold of the selected queue: from now on the cursor stays on it.
func (o Overview) holding() Overview {
	if r, ok := o.Selected(); ok && o.held == "" {
		o.held = r.Queue.Name
	}
	return o
}

// sortedBy sorts by a column; by the one that is sorted by already, it turns round.
func (o Overview) sortedBy(c Column, height int) Overview {
	o.Reverse = o.Sort == c && !o.Reverse
	o.Sort = c
	return o.arranged(height)
}

// filtered shows only the queues whose names match.
func (o Overview) filtered(text string, m filter.Matcher, height int) Overview {
	o.FilterText, o.filter = text, m
	return o.arranged(height)
}

// arranged filters and sorts anew; the cursor stays on its queue.
func (o Overview) arranged(height int) Overview {
	shown := make([]int, 0, len(o.Rows))
	for i, r := range o.Rows {
		if o.TroubleOnly && r.Health < HealthWarn {
			continue
		}
		if o.filter.Match([]byte(r.Queue.Name)) {
			shown = append(shown, i)
		}
	}
	slices.SortStableFunc(shown, func(a, b int) int { return o.compare(o.Rows[a], o.Rows[b]) })
	o.Shown = shown
	if o.held == "" {
		o.Cursor = 0
	} else if i := slices.IndexFunc(shown, func(i int) bool { return o.Rows[i].Queue.Name == o.held }); i >= 0 {
		o.Top += i - o.Cursor
		o.Cursor = i
	}
	return o.bounded(height)
}

// bounded puts cursor and window back into the bounds.
func (o Overview) bounded(height int) Overview {
	height = max(1, height)
	o.Cursor = max(0, min(o.Cursor, len(o.Shown)-1))
	if len(o.Shown) == 0 {
		o.Cursor = -1
	}
	o.Top = min(o.Top, o.Cursor)
	o.Top = max(o.Top, o.Cursor-height+1)
	o.Top = max(0, min(o.Top, len(o.Shown)-height))
	return o
}

// compare orders two rows: unknown ones last either way round, equals by name.
func (o Overview) compare(a, b Row) int {
	byName := strings.Compare(a.Queue.Name, b.Queue.Name)
	if o.Sort == ColumnName {
		if o.Reverse {
			return -byName
		}
		return byName
	}
	x, okX := sortKey(a, o.Sort)
	y, okY := sortKey(b, o.Sort)
	order := -cmp.Compare(x, y)
	if o.Reverse {
		order = -order
	}
	switch {
	case okX && !okY:
		return -1
	case !okX && okY:
		return 1
	case !okX && !okY:
		order = 0
	}
	return cmp.Or(order, byName)
}

// sortKey returns the number a row is sorted by: the largest comes first.
func sortKey(r Row, c Column) (n float64, ok bool) {
	of := func(c queue.Count) (float64, bool) { return float64(c.N), c.OK() }
	s := r.Sample
	switch c {
	case ColumnHealth:
		return float64(r.Health), true
	case ColumnReady:
		return of(s.Ready)
	case ColumnBackup:
		return of(s.Backup)
	case ColumnStuck:
		return of(s.Stuck)
	case ColumnDelayed:
		return of(s.Delayed)
	case ColumnDue:
		return of(s.Due)
	case ColumnDead:
		return of(s.Dead)
	case ColumnNet:
		return r.Net.PerSecond, r.Net.OK
	case ColumnDrain:
		return float64(r.Drain.Left), r.Drain.OK
	case ColumnOldest:
		return float64(s.Oldest), s.Oldest > 0
	}
	return 0, false
}

// judged judges a queue anew after it became known who consumes it.
func (o Overview) judged(name string, unattended func(Row) string, height int) Overview {
	o.Rows = slices.Clone(o.Rows)
	for i, r := range o.Rows {
		if r.Queue.Name == name && !r.Sampled.IsZero() {
			r.Health, r.Reason = health(r.Sample)
			o.Rows[i] = r.attended(unattended(r))
		}
	}
	return o.arranged(height)
}

// polled takes the samples of a poll. unattended tells that nobody consumes a queue.
func (o Overview) polled(p queue.Poll, at time.Time, unattended func(Row) string, height int) Overview {
	rows := slices.Clone(o.Rows)
	index := make(map[string]int, len(rows))
	for i, r := range rows {
		index[r.Queue.Name] = i
	}
	for _, s := range p.Samples {
		if i, ok := index[s.Queue]; ok {
			r := rows[i].polled(s, at)
			rows[i] = r.attended(unattended(r))
		}
	}
	o.Rows = rows
	return o.arranged(height)
}
