package model

import (
	"fmt"
	"maps"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
	"redq/queue/filter"
)

// This file is the router's part for the pages: what they ask for, and the
// answers to it.

// openQueue brings a queue's page to the front, as it was left.
func (m Model) openQueue(name string) (Model, tea.Cmd) {
	row, ok := m.Row(name)
	if !ok {
		return m.say(StatusWarn, "no queue "+shown(name))
	}
	parked := maps.Clone(m.parked)
	if parked == nil {
		parked = map[string]QueuePage{}
	}
	if m.Queue.Name != "" {
		parked[m.Queue.Name] = m.Queue.parked()
	}
	m.parked = parked
	page, ok := parked[name]
	if !ok {
		page = newQueuePage(row.Queue)
	}
	m.Queue = page.described(row.Queue)
	m.Screen = QueueScreen
	// Answers that are still to come belong to another page.
	m.paging = inFlight{gen: m.paging.gen + 1}
	m.charting = inFlight{gen: m.charting.gen + 1}
	m.attending = inFlight{gen: m.attending.gen + 1}
	return m.arrived()
}

// arrived asks for what the tab in front shows.
func (m Model) arrived() (Model, tea.Cmd) {
	var list, dist, who tea.Cmd
	l := m.Queue.List()
	if s := l.Search; s.Text != "" && !s.Running && !l.Loaded {
		m, list = m.startSearch(s.Text, s.matcher, false)
	} else {
		m, list = m.needPage(false)
	}
	m, dist = m.needDistribution()
	m, who = m.needAttendance(true)
	return m, tea.Batch(list, dist, who)
}

// leave goes back one page.
func (m Model) leave() (Model, tea.Cmd) {
	if m.Screen == ConsumerScreen && m.Consumer.from != OverviewScreen {
		m.Screen = m.Consumer.from
		return m.arrived()
	}
	if m.Screen == MessageScreen {
		m.Screen = QueueScreen
		return m.needPage(false)
	}
	m.Screen = OverviewScreen
	m.Overview = m.Overview.bounded(m.tableHeight())
	return m.needDistribution()
}

// openMessage brings the selected message to the front and loads it.
func (m Model) openMessage() (Model, tea.Cmd) {
	row, ok := m.Queue.List().Selected()
	if !ok {
		return m.say(StatusWarn, "the messages are still being read")
	}
	m.loading++
	m.Message = openMessagePage(m.Queue.Name, row, m.Message.View, m.loading)
	m.Screen = MessageScreen
	return m, m.loadCmd(m.loading, row.Message)
}

// stepMessage opens the neighbour of the message in front.
func (m Model) stepMessage(by int64) (Model, tea.Cmd) {
	l := m.Queue.List()
	to := l.Cursor + by
	if m.Message.Gone && by > 0 {
		to = l.Cursor // the cursor went on by itself
	}
	if to < 0 || to >= l.Total {
		return m.say(StatusInfo, "no more messages that way")
	}
	m.Queue = m.Queue.with(l.moved(to, m.listHeight()))
	var page, load tea.Cmd
	if !m.Queue.List().covers(m.listHeight()) {
		m, page = m.needPage(false)
	}
	m, load = m.openMessage()
	return m, tea.Batch(page, load)
}

func (m Model) loaded(msg messageLoadedMsg) Model {
	switch {
	case msg.gen != m.Message.gen:
	case msg.err == nil:
		width := m.Layout().Doc.W
		m.Message = m.Message.loaded(msg.loaded, width)
	default:
		m.Message = m.Message.failed(msg.err)
		if isGone(msg.err) {
			m.Message = m.Message.gone(m.Now)
		}
	}
	return m
}

// refreshList reads the list in front anew after a poll.
func (m Model) refreshList(forced bool) (Model, tea.Cmd) {
	if !m.onQueue() {
		return m, nil
	}
	l := m.Queue.List()
	s := l.Search
	if s.Text == "" {
		return m.needPage(forced)
	}
	row, _ := m.Row(m.Queue.Name)
	n := count(row.Sample, l.Place)
	changed := n.OK() && n.N != s.Of && n.N <= researchAll && s.took <= researchTime
	switch {
	case s.Running:
		return m, nil
	case forced, s.Err == "" && changed && s.Beyond == 0:
		return m.startSearch(s.Text, s.matcher, true)
	case s.Err != "" && !s.GaveUp:
		return m.resumeSearch(l)
	}
	return m, nil
}

// needPage asks for the rows of the list in front, unless it is filtered: then
// they come from the search.
func (m Model) needPage(forced bool) (Model, tea.Cmd) {
	l := m.Queue.List()
	if !m.onQueue() || l.Search.Text != "" || !m.Queue.Queue.Has(l.Place) {
		return m, nil
	}
	var ok bool
	if m.paging, ok = m.paging.begin(); !ok {
		return m, nil
	}
	from, n := l.wanted(m.listHeight(), m.grown(l))
	return m, m.peekCmd(m.paging.gen, m.Queue.Queue, l.Place, from, n, forced)
}

// grown is by how much the rows of a list have probably moved since they were
// read: what was pushed to the head comes before them.
func (m Model) grown(l List) int64 {
	row, _ := m.Row(m.Queue.Name)
	n := count(row.Sample, l.Place)
	if !l.Loaded || !n.OK() || l.Cursor < 0 {
		return 0
	}
	by := n.N - l.Total
	atHead := l.Place != queue.Delayed && (l.Place != queue.Ready || m.Queue.Queue.PushEnd() == queue.Left)
	// What leaves a sorted set leaves at its head; what leaves a list, at its tail.
	if atHead != (by > 0) {
		return 0
	}
	return by
}

// peeked takes a page of a list.
func (m Model) peeked(msg pagePeekedMsg) (Model, tea.Cmd) {
	if msg.gen != m.paging.gen {
		return m, nil
	}
	m.paging.running = false
	if msg.queue != m.Queue.Name {
		return m, nil
	}
	l := m.Queue.lists[placeIndex(msg.place)]
	switch {
	case l.Search.Text != "": // filtered meanwhile
	case msg.err != nil:
		l.Err = explain(msg.err)
	case m.Frozen && l.Loaded && l.covers(m.listHeight()) && !msg.forced: // frozen meanwhile
	default:
		l = l.paged(msg.page, m.listHeight())
		l.At = m.Now
	}
	m.Queue = m.Queue.with(l)
	m = m.followMessage()
	return m.pageAgain(msg)
}

// pageAgain asks for another page when the window moved on meanwhile; by itself
// only once, so that a place that cannot be read in whole does not spin.
func (m Model) pageAgain(msg pagePeekedMsg) (Model, tea.Cmd) {
	moved := msg.err == nil && !m.paging.retried && !m.Queue.List().covers(m.listHeight())
	if !m.paging.again && !moved {
		return m, nil
	}
	m.paging.retried = m.paging.retried || !m.paging.again
	return m.needPage(msg.forced)
}

// followMessage keeps the message page on its message.
func (m Model) followMessage() Model {
	if m.Screen != MessageScreen || m.Message.Gone {
		return m
	}
	l := m.Queue.List()
	row, ok := l.Selected()
	switch {
	case l.Gone:
		m.Message = m.Message.gone(m.Now)
	case ok && l.Search.Text == "" && row.Message.Key == m.Message.Message.Key:
		m.Message = m.Message.seen(row)
	}
	return m
}

// parseFilter reads a filter for the page in front: names and events are lines of text.
func (m Model) parseFilter(text string) (filter.Matcher, error) {
	if m.Screen == QueueScreen {
		return filter.Parse(text)
	}
	return filter.ParseText(text)
}

// setFilter filters the page in front; "" shows all again.
func (m Model) setFilter(text string) (Model, tea.Cmd) {
	match, err := m.parseFilter(text)
	if err != nil {
		return m.say(StatusError, err.Error())
	}
	if match.All() {
		text = ""
	}
	if m.Screen == OverviewScreen {
		m.Overview = m.Overview.filtered(text, match, m.tableHeight())
		return m.needDistribution()
	}
	if m.Screen == ConsumerScreen {
		m.Consumer = m.Consumer.filtered(text, match, m.logHeight())
		return m, nil
	}
	l := m.Queue.List()
	if text == "" && l.Search.Text == "" {
		return m, nil
	}
	if n := l.Marks.Len(); n > 0 {
		m, _ = m.say(StatusInfo, fmt.Sprintf("another filter: %s marks taken away", Thousands(int64(n))))
	}
	if text != "" {
		return m.startSearch(text, match, false)
	}
	m.Queue = m.Queue.with(m.Queue.List().unfiltered())
	return m.needPage(false)
}

// startSearch filters the list in front. A repeated search keeps what was found
// on screen until it is done.
func (m Model) startSearch(text string, match filter.Matcher, again bool) (Model, tea.Cmd) {
	row, _ := m.Row(m.Queue.Name)
	l := m.Queue.List()
	scan := Scan{Of: count(row.Sample, l.Place).N, started: m.Now, now: m.ServerNow()}
	l = l.searching(text, match, scan, again)
	m.Queue = m.Queue.with(l)
	return m, m.searchCmd(m.Queue.Queue, l)
}

// resumeSearch goes on with a search that the server's failure stopped.
func (m Model) resumeSearch(l List) (Model, tea.Cmd) {
	l.Search.Running, l.Search.Err = true, ""
	m.Queue = m.Queue.with(l)
	return m, m.searchCmd(m.Queue.Queue, l)
}

// searched takes one step of a search and asks for the next.
func (m Model) searched(msg placeSearchedMsg) (Model, tea.Cmd) {
	if msg.queue != m.Queue.Name {
		return m, nil
	}
	l := m.Queue.lists[placeIndex(msg.place)]
	if msg.gen != l.Search.gen || !l.Search.Running {
		return m, nil
	}
	again := l.Search.again != nil
	l = l.stepped(msg.found, m.Now, m.listHeight())
	l.At = m.Now
	m.Queue = m.Queue.with(l)
	if l.Search.Running {
		return m, m.searchCmd(m.Queue.Queue, l)
	}
	if status := l.Search.outcome(); status.Text != "" && !again && m.onQueue() && l.Place == m.Queue.Place {
		return m.say(status.Kind, status.Text)
	}
	return m, nil
}

// needDistribution asks for the due times that the page in front shows.
func (m Model) needDistribution() (Model, tea.Cmd) {
	q, ok := m.selectedQueue()
	delayed := m.Screen == OverviewScreen || m.Screen == QueueScreen && m.Queue.Place == queue.Delayed
	if !ok || !delayed || !q.Has(queue.Delayed) {
		return m, nil
	}
	if m.charting, ok = m.charting.begin(); !ok {
		return m, nil
	}
	return m, m.distributionCmd(m.charting.gen, q)
}

// distributed takes a distribution, if its queue is still the one in front.
func (m Model) distributed(msg distributionReadMsg) (Model, tea.Cmd) {
	if msg.gen != m.charting.gen {
		return m, nil
	}
	m.charting.running = false
	why := ""
	if msg.err != nil {
		why = explain(msg.err)
	}
	if msg.queue == m.Queue.Name {
		if m.Queue.DistErr = why; msg.err == nil {
			m.Queue.Dist, m.Queue.DistOK = msg.dist, true
		}
	}
	if r, ok := m.Overview.Selected(); ok && r.Queue.Name == msg.queue {
		if m.Overview.DistErr = why; msg.err == nil {
			m.Overview.Dist, m.Overview.DistOf = msg.dist, msg.queue
		}
	}
	if m.charting.again {
		return m.needDistribution()
	}
	return m, nil
}
