package model

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"redq/queue"
)

// The smallest terminal redq draws on.
const (
	MinWidth  = 80
	MinHeight = 24
)

// Sizes of the parts of a page, in cells.
const (
	headerHeight = 2
	barHeight    = 1
	footerHeight = 1
	bannerHeight = 2
	factsHeight  = 3
	docMargin    = 1

	wideScreen     = 110 // from here on the preview is beside the list
	minPanelHeight = 6
	maxPanelHeight = 16
	maxDialogWidth = 78
	comfortable    = 30 // height from which lines may be spent
)

// Rect is a rectangle of cells; X and Y count from the top left corner. An
// empty one (W or H 0) is not drawn.
type Rect struct{ X, Y, W, H int }

// Contains reports whether a cell lies in r.
func (r Rect) Contains(x, y int) bool {
	return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H
}

// Empty reports whether there is nothing to draw.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// top cuts h lines off r: it returns them and what is left.
func (r Rect) top(h int) (cut, rest Rect) {
	h = max(0, min(h, r.H))
	return Rect{r.X, r.Y, r.W, h}, Rect{r.X, r.Y + h, r.W, r.H - h}
}

// left cuts w columns off r: it returns them and what is left.
func (r Rect) left(w int) (cut, rest Rect) {
	w = max(0, min(w, r.W))
	return Rect{r.X, r.Y, w, r.H}, Rect{r.X + w, r.Y, r.W - w, r.H}
}

// centre returns a rectangle of at most w by h in the middle of r.
func (r Rect) centre(w, h int) Rect {
	w, h = min(w, r.W), min(h, r.H)
	return Rect{r.X + (r.W-w)/2, r.Y + (r.H-h)/2, w, h}
}

// Layout is where everything is on the screen. It is computed first; drawing,
// page sizes and mouse clicks follow it.
type Layout struct {
	Screen   Rect
	TooSmall bool // nothing but a sentence fits

	Header Rect // two lines: who and where; the server, or the outage
	Bar    Rect // one line: totals on the overview, tabs on the queue page, position on the message page
	Banner Rect // two lines that explain the scene that plays; empty when none does
	Body   Rect // all between Bar and Jobs
	Jobs   Rect // a line for each job that has not ended, or the first of them; empty when none is
	Footer Rect // one line: status and key hints, or the prompt

	// Overview: a line of column titles, the rows, and two panels below.
	TableHead, Table Rect
	DistPanel        Rect // with its frame
	ChartPanel       Rect // with its frame

	// Queue page: a panel above (DistPanel on the delayed tab, ChartPanel on
	// the others), then column titles, rows and the preview beside or below.
	ListHead, List Rect
	Preview        Rect // with its frame or rule

	// Message page: facts, then the document.
	Facts, Doc Rect

	// Page of the consumers: a line of column titles and a row each where there are
	// several, three panels with their frames, then a title and the events.
	ConsumersHead, Consumers Rect
	CountersPanel, HandPanel Rect
	RatePanel                Rect // empty where there is no room beside the others
	LogHead, Log             Rect

	Dialog Rect // centred, with its frame; empty when no dialog is open
	Diff   Rect // in Dialog, while an edit is reviewed
	Help   Rect // with its frame; empty when help is closed
}

// Layout computes where everything is.
func (m Model) Layout() Layout {
	l := Layout{Screen: Rect{W: max(0, m.Width), H: max(0, m.Height)}}
	if l.Screen.W < MinWidth || l.Screen.H < MinHeight {
		l.TooSmall = true
		return l
	}
	var rest Rect
	l.Header, rest = l.Screen.top(headerHeight)
	l.Bar, rest = rest.top(barHeight)
	if m.Banner.Scene != "" {
		l.Banner, rest = rest.top(bannerHeight)
	}
	rest, l.Footer = rest.top(rest.H - footerHeight)
	l.Body, l.Jobs = rest.top(rest.H - m.jobLines())
	switch m.Screen {
	case OverviewScreen:
		l.overview()
	case QueueScreen:
		l.queue(m.Queue.Place)
	case MessageScreen:
		l.Facts, rest = l.Body.top(factsHeight)
		l.Doc = Rect{rest.X + docMargin, rest.Y, rest.W - 2*docMargin, rest.H}
	case ConsumerScreen:
		l.consumer(len(m.Consumer.Consumers))
	}
	if m.Dialog != nil {
		w, h := dialogSize(m.Dialog)
		l.Dialog = l.Body.centre(w, h)
		l.diff(m.Dialog)
	}
	if m.HelpOpen {
		l.Help = l.Body
	}
	return l
}

// mostJobLines is how many jobs are in sight on a screen of a comfortable height.
const mostJobLines = 3

// jobLines is the height of the part for jobs.
func (m Model) jobLines() int {
	most := mostJobLines
	if m.Height < comfortable {
		most = 1
	}
	return min(len(m.ActiveJobs()), most)
}

// panelHeight gives a panel a share of the body, in tenths.
func panelHeight(body, tenths int) int {
	return max(minPanelHeight, min(body*tenths/10, maxPanelHeight))
}

func (l *Layout) overview() {
	panel := panelHeight(l.Body.H, 4)
	table, panels := l.Body.top(l.Body.H - panel)
	l.TableHead, l.Table = table.top(1)
	l.DistPanel, l.ChartPanel = panels.left(panels.W / 2)
}

func (l *Layout) queue(p queue.Place) {
	var rest Rect
	if p == queue.Delayed {
		l.DistPanel, rest = l.Body.top(panelHeight(l.Body.H, 4))
	} else {
		l.ChartPanel, rest = l.Body.top(panelHeight(l.Body.H, 3))
	}
	if rest.W >= wideScreen {
		list, preview := rest.left(rest.W * 3 / 5)
		l.ListHead, l.List = list.top(1)
		l.Preview = preview
		return
	}
	list, preview := rest.top(rest.H * 3 / 5)
	l.ListHead, l.List = list.top(1)
	l.Preview = preview
}

// Sizes of the page of the consumers.
const (
	mostConsumers   = 6   // rows of the table of consumers
	consumersShare  = 5   // of the body: at most one line in so many is a row of that table
	countersWidth   = 52  // of the counters' panel: two columns of them
	wideCounters    = 78  // three columns
	ratePanelFrom   = 150 // width of the screen from which the throughput has a panel
	leastHandHeight = 8
)

// consumer lays out the page of n consumers.
func (l *Layout) consumer(n int) {
	rest := l.Body
	if n > 1 {
		l.ConsumersHead, rest = rest.top(1)
		l.Consumers, rest = rest.top(min(n, max(2, min(mostConsumers, l.Body.H/consumersShare))))
	}
	panels, rest := rest.top(max(leastHandHeight, min(l.Body.H*3/10, maxPanelHeight)))
	if n == 0 {
		l.Log = l.Body // nothing but a sentence
		return
	}
	switch {
	case panels.W >= ratePanelFrom:
		l.CountersPanel, panels = panels.left(countersWidth)
		l.RatePanel, l.HandPanel = panels.left(panels.W / 2)
	case panels.W >= wideScreen:
		l.CountersPanel, l.HandPanel = panels.left(countersWidth + (panels.W-wideScreen)/2)
	default:
		l.CountersPanel, l.HandPanel = panels.left(countersWidth)
	}
	l.LogHead, l.Log = rest.top(1)
}

// dialogSize is how large a dialog with its frame wants to be.
func dialogSize(d Dialog) (w, h int) {
	switch d := d.(type) {
	case EditDialog:
		return d.size()
	case ConsumerDialog:
		return maxDialogWidth, 20
	case SceneDialog:
		return maxDialogWidth, min(20, len(d.Scenes)+9)
	case EnqueueDialog:
		return maxDialogWidth, 19
	case UndoDialog:
		return maxDialogWidth, 18
	case LeaveDialog:
		return maxDialogWidth, 17
	case RepairDialog:
		return maxDialogWidth, map[queue.Op]int{queue.OpRedrive: 19, queue.OpDelete: 14, queue.OpReschedule: 18}[d.Op]
	case ExportDialog:
		return maxDialogWidth, 12
	case ReviewDialog, JobsDialog:
		return maxDialogWidth, 15
	}
	return maxDialogWidth, 13
}

// Cell is one column of the overview's table: where it is and what it shows.
type Cell struct {
	Column Column
	Title  string
	X, W   int  // within the table; cells have one blank between them
	Right  bool // right-aligned, as numbers are
}

// columnSpec is a column's look at the smallest and at a comfortable width.
type columnSpec struct {
	column       Column
	title        string
	narrow, wide int
}

// The numeric columns; the name takes what is left, the trend comes when there is room.
func columnSpecs() []columnSpec {
	return []columnSpec{
		{ColumnReady, "READY", 6, 9},
		{ColumnBackup, "BACKUP", 11, 14},
		{ColumnDelayed, "DELAYED", 7, 9},
		{ColumnDue, "DUE", 6, 8},
		{ColumnDead, "DEAD", 5, 8},
		{ColumnNet, "NET/S", 7, 9},
		{ColumnDrain, "DRAIN", 6, 8},
		{ColumnOldest, "OLDEST", 8, 10},
	}
}

// Widths of the overview's other columns.
const (
	healthWidth = 3 // cursor bar and glyph
	maxName     = 44
	trendWidth  = 12
	trendFrom   = 100 // width of the table from which the trend is shown
	roomyTable  = 116 // width of the table from which the numbers have more room
)

// Columns returns the overview's columns for a table of a width: health and
// name first, then the numbers, then the trend.
func Columns(width int) []Cell {
	specs := columnSpecs()
	used := healthWidth + 1
	for i := range specs {
		if width >= roomyTable {
			specs[i].narrow = specs[i].wide
		}
		used += specs[i].narrow + 1
	}
	trend := 0
	if width >= trendFrom {
		trend = trendWidth
		used += trend + 1
	}
	name := max(1, width-used)
	if spare := name - maxName; trend > 0 && spare > 0 {
		name, trend = maxName, trend+spare // numbers stay near the names
	}
	cells := []Cell{{Column: ColumnHealth, X: 0, W: healthWidth}}
	x := healthWidth
	add := func(c Column, title string, w int, right bool) {
		cells = append(cells, Cell{Column: c, Title: title, X: x, W: w, Right: right})
		x += w + 1
	}
	add(ColumnName, "QUEUE", name, false)
	for _, s := range specs {
		add(s.column, s.title, s.narrow, true)
	}
	if trend > 0 {
		add(ColumnTrend, "LAST 2 MIN", trend, true)
	}
	return cells
}

// TabCell is one tab of the queue page.
type TabCell struct {
	Place queue.Place
	Label string // e.g. "2 backup 3 (1 stuck)"
	Rect  Rect   // of the label, on the bar
}

// tabGap is the number of blanks between tabs.
const tabGap = 3

// TabCells returns the tabs of the queue page and where they are.
func (m Model) TabCells() []TabCell {
	bar := m.Layout().Bar
	labels, gap := m.tabLabels(bar.W - 2)
	x := bar.X + 1
	var cells []TabCell
	for i, p := range m.Queue.Tabs {
		w := min(utf8.RuneCountInString(labels[i]), max(0, bar.X+bar.W-x))
		cells = append(cells, TabCell{p, labels[i], Rect{x, bar.Y, w, bar.H}})
		x += w + gap
	}
	return cells
}

// tabLabels returns the labels of the tabs and the gap between them, so that they
// fit into w cells: first what stands in parentheses goes, what is stuck last, then
// the gaps shrink.
func (m Model) tabLabels(w int) (labels []string, gap int) {
	row, _ := m.Row(m.Queue.Name)
	for _, remarks := range [][]queue.Place{{queue.Backup, queue.Delayed, ConsumersTab}, {queue.Backup}, nil} {
		total := 0
		labels = nil
		for _, p := range m.Queue.Tabs {
			label := tabLabel(p, row.Sample, remarks)
			if p == ConsumersTab {
				label = m.consumersLabel(row.Sample, slices.Contains(remarks, p))
			}
			labels = append(labels, label)
			total += utf8.RuneCountInString(label)
		}
		if gap = min(tabGap, (w-total)/max(1, len(labels)-1)); gap == tabGap {
			break
		}
	}
	return labels, max(1, gap)
}

// consumersLabel is the label of the consumers tab; how many there are is told
// once the server was asked, and how many are gone without a word where remarked.
func (m Model) consumersLabel(s queue.Sample, remark bool) string {
	label := fmt.Sprintf("%d %s", TabNumber(ConsumersTab), ConsumersTab)
	if n, ok := m.Attending(m.Queue.Name); ok {
		label += fmt.Sprintf(" %d", n)
	}
	if remark && s.Gone.N > 0 {
		label += fmt.Sprintf(" (%s gone)", CountText(s.Gone))
	}
	return label
}

// TabNumber returns the digit that opens a place's tab.
func TabNumber(p queue.Place) int {
	for i, t := range tabs() {
		if p == t {
			return i + 1
		}
	}
	return 0
}

// tabLabel is the label of a place's tab; those in remarks have one in parentheses.
func tabLabel(p queue.Place, s queue.Sample, remarks []queue.Place) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s %s", TabNumber(p), p, CountText(count(s, p)))
	if !slices.Contains(remarks, p) {
		return b.String()
	}
	if p == queue.Backup && s.Stuck.OK() && s.Stuck.N > 0 {
		fmt.Fprintf(&b, " (%s stuck)", CountText(s.Stuck))
	}
	if p == queue.Delayed && s.Due.OK() && s.Due.N > 0 {
		fmt.Fprintf(&b, " (%s due)", CountText(s.Due))
	}
	return b.String()
}

// count picks the number of messages in a place.
func count(s queue.Sample, p queue.Place) queue.Count {
	switch p {
	case queue.Ready:
		return s.Ready
	case queue.Backup:
		return s.Backup
	case queue.Delayed:
		return s.Delayed
	}
	return s.Dead
}

// CountText prints a count with thousands apart: "?" when unknown, "–" where
// the queue has no such place, never 0 for either.
func CountText(c queue.Count) string {
	switch c.State {
	case queue.Known:
		return Thousands(c.N)
	case queue.AtLeast:
		return "≥" + Thousands(c.N)
	case queue.Unreadable:
		return "?"
	}
	return "–"
}

// Thousands prints n with a comma between each three digits.
func Thousands(n int64) string {
	if n < 0 {
		return "-" + Thousands(-n)
	}
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", Thousands(n/1000), n%1000)
}
