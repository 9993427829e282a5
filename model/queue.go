package model

import (
	"fmt"
	"slices"
	"time"

	"redq/queue"
)

// QueuePage is the page of one queue: a tab a place.
type QueuePage struct {
	Name  string
	Queue queue.Queue   // as last discovered or corrected
	Place queue.Place   // the tab in front
	Tabs  []queue.Place // the places the queue has, in their usual order, and ConsumersTab

	// ConsumerCursor is the line under the cursor of the consumers tab, -1 when it
	// has none; ConsumerTop the first one on screen.
	ConsumerCursor, ConsumerTop int

	lists [5]List // by the tab's number; that of ConsumersTab stays empty

	// Dist is the distribution of due times, read while the delayed tab is in front.
	Dist    queue.Distribution
	DistOK  bool
	DistErr string // why the last one could not be read
}

// ConsumersTab is the tab of who consumes the queue. It holds no messages.
const ConsumersTab queue.Place = "consumers"

// tabs returns all tabs a queue can have.
func tabs() []queue.Place { return append(queue.Places(), ConsumersTab) }

// hasTab reports whether the queue has the tab.
func (p QueuePage) hasTab(t queue.Place) bool { return t == ConsumersTab || p.Queue.Has(t) }

// isTab reports whether an action brings a tab to the front.
func isTab(a Action) bool {
	return a == ActNextTab || a == ActPrevTab || slices.Contains(tabs(), queue.Place(a))
}

// List returns the list of the tab in front.
func (p QueuePage) List() List { return p.lists[placeIndex(p.Place)] }

func placeIndex(p queue.Place) int { return max(0, TabNumber(p)-1) }

// newQueuePage opens a queue on its first tab.
func newQueuePage(q queue.Queue) QueuePage {
	p := QueuePage{Name: q.Name}.described(q)
	for i, pl := range tabs() {
		p.lists[i].Place = pl
	}
	p.lists[placeIndex(ConsumersTab)] = List{Place: ConsumersTab, Cursor: -1, Loaded: true}
	return p
}

// described takes what is known of the queue now.
func (p QueuePage) described(q queue.Queue) QueuePage {
	p.Queue, p.Tabs = q, nil
	for _, t := range tabs() {
		if p.hasTab(t) {
			p.Tabs = append(p.Tabs, t)
		}
	}
	if !p.hasTab(p.Place) {
		p.Place = p.Tabs[0]
	}
	return p
}

// parked is the page when another is in front: what was read is dropped, where
// the cursor was and what was filtered are kept.
func (p QueuePage) parked() QueuePage {
	for i, l := range p.lists[:placeIndex(ConsumersTab)] {
		s := Search{Text: l.Search.Text, matcher: l.Search.matcher, gen: l.Search.gen + 1}
		p.lists[i] = List{Place: l.Place, Top: l.Top, Cursor: l.Cursor, Search: s}
	}
	p.DistOK = false
	return p
}

// with returns the page with the list of its own place replaced.
func (p QueuePage) with(l List) QueuePage {
	p.lists[placeIndex(l.Place)] = l
	return p
}

// tabbed brings a tab to the front.
func (p QueuePage) tabbed(to queue.Place) (QueuePage, Intent) {
	if !p.hasTab(to) {
		return p, say(StatusWarn, fmt.Sprintf("this queue has no %s", to))
	}
	p.Place = to
	return p, wantPage{}
}

// stepTab brings the next or the previous tab to the front, around the ends.
func (p QueuePage) stepTab(by int) (QueuePage, Intent) {
	for i, pl := range p.Tabs {
		if pl == p.Place {
			return p.tabbed(p.Tabs[(i+by+len(p.Tabs))%len(p.Tabs)])
		}
	}
	return p, nil
}

// consumersBounded puts the cursor of the consumers tab into the bounds of n lines.
func (p QueuePage) consumersBounded(n, height int) QueuePage {
	p.ConsumerCursor = max(0, min(p.ConsumerCursor, n-1))
	if n == 0 {
		p.ConsumerCursor = -1
	}
	p.ConsumerTop = min(p.ConsumerTop, p.ConsumerCursor)
	p.ConsumerTop = max(p.ConsumerTop, p.ConsumerCursor-max(1, height)+1)
	p.ConsumerTop = max(0, min(p.ConsumerTop, n-height))
	return p
}

// act takes a key's action. height is the number of rows on screen.
func (p QueuePage) act(a Action, height int) (QueuePage, Intent) {
	l := p.List()
	page := int64(max(1, height))
	switch a {
	case ActUp:
		return p.move(l.Cursor-1, height)
	case ActDown:
		return p.move(l.Cursor+1, height)
	case ActPageUp:
		return p.move(l.Cursor-page, height)
	case ActPageDown:
		return p.move(l.Cursor+page, height)
	case ActTop:
		return p.move(0, height)
	case ActBottom:
		return p.move(l.Total-1, height)
	case ActTab1, ActTab2, ActTab3, ActTab4, ActTab5:
		return p.tabbed(queue.Place(a))
	case ActNextTab:
		return p.stepTab(1)
	case ActPrevTab:
		return p.stepTab(-1)
	case ActEnter:
		return p, openMessage{}
	case ActMark:
		p = p.with(l.toggled())
		return p.move(l.Cursor+1, height)
	case ActMarkAll:
		return p.markAll()
	}
	return p, nil
}

func (p QueuePage) move(to int64, height int) (QueuePage, Intent) {
	l := p.List().moved(to, height)
	p = p.with(l)
	if l.Search.Text == "" && !l.covers(height) {
		return p, wantPage{}
	}
	return p, nil
}

// markAll marks all, or none when all are marked.
func (p QueuePage) markAll() (QueuePage, Intent) {
	l := p.List()
	if before := l.Marks.Len(); before > 0 {
		if all, _ := l.markedAll(); all.Marks.Len() == before {
			return p.with(l.unmarked()), say(StatusInfo, "no marks any more")
		}
	}
	l, text := l.markedAll()
	return p.with(l), say(StatusInfo, text)
}

// readyRows makes a page of messages ready for a list: what is next, how old, when due.
func readyRows(q queue.Queue, p queue.Page, age func(queue.Message) time.Duration) page {
	rows := make([]MessageRow, len(p.Messages))
	for i, m := range p.Messages {
		rows[i] = readyRow(q, m, age)
		switch pos := p.From + int64(i); {
		case p.Place == queue.Delayed:
			rows[i].Next = pos == 0
		case p.Place == queue.Ready && q.PushEnd() == queue.Left:
			rows[i].Next = pos == p.Total-1
		case p.Place == queue.Ready:
			rows[i].Next = pos == 0
		}
	}
	return page{rows: rows, from: p.From, total: p.Total}
}

func readyRow(q queue.Queue, m queue.Message, age func(queue.Message) time.Duration) MessageRow {
	r := MessageRow{Message: m, id: identify(m)}
	if m.Place == queue.Delayed {
		var ok bool
		if r.Due, ok = q.Unit.Time(m.Score); !ok {
			r.Due, r.Misfit = time.Time{}, misfit(m.Score, q.Unit)
		}
		return r
	}
	r.Age = age(m)
	r.Stuck = m.Place == queue.Backup && r.Age >= q.Stuck()
	return r
}

// misfit tells why a score is no time in the unit.
func misfit(s queue.Score, u queue.Unit) string {
	v, ok := s.Float()
	from, _ := u.Range()
	other, fits := queue.GuessUnit(s)
	switch {
	case !ok:
		return "not a number"
	case v-v != 0: // ±inf
		return "infinite"
	case v < 0:
		return "negative"
	case fits:
		return "looks like " + other.String()
	case v < from:
		return "too small"
	}
	return "too large"
}
