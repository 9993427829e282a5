package model

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
)

// Attendance is who consumes a queue, as the server was last asked.
type Attendance struct {
	Consumers queue.Consumers
	At        time.Time // client's clock; zero before the first answer
	Err       string    // why the last question was not answered
}

// ConsumerRow is one line of the consumers tab: a consumer that this redq runs, one
// that is known by its heartbeat, or a client that waits in a blocking pop.
type ConsumerRow struct {
	Own     OwnConsumer          // its ID is 0 when it runs elsewhere
	Info    queue.ConsumerInfo   // its ID is "" when it has no heartbeat
	Blocked *queue.BlockedClient // nil for a consumer
}

// Attendance returns who consumes a queue, as the server was last asked.
func (m Model) Attendance(queueName string) Attendance { return m.attendance[queueName] }

// ConsumerRows returns the lines of the consumers tab: ours first, then those with
// a heartbeat, then clients that may wait for any queue.
func (m Model) ConsumerRows() []ConsumerRow {
	a := m.Attendance(m.Queue.Name)
	var rows []ConsumerRow
	own := map[string]int{}
	for _, c := range m.Consumer.of(m.Queue.Name) {
		own[c.Stats.ID] = len(rows)
		rows = append(rows, ConsumerRow{Own: c})
	}
	for _, info := range a.Consumers.Known {
		if i, ours := own[info.ID]; ours {
			rows[i].Info = info
			continue
		}
		rows = append(rows, ConsumerRow{Info: info})
	}
	for i, b := range a.Consumers.Blocked {
		if b.Consumer == "" { // else it is a connection of a consumer, which has its own line or another queue
			rows = append(rows, ConsumerRow{Blocked: &a.Consumers.Blocked[i]})
		}
	}
	return rows
}

// Attending returns how many consumers of a queue are known to live; ok is false
// while that was not asked, or not told.
func (m Model) Attending(queueName string) (n int, ok bool) {
	own := m.Consumer.of(queueName)
	a := m.Attendance(queueName)
	if a.At.IsZero() {
		row, _ := m.Row(queueName)
		alive := row.Sample.Consumers
		return max(len(own), int(alive.N)), alive.OK() || len(own) > 0
	}
	n = len(own)
	for _, info := range a.Consumers.Known {
		ours := slices.ContainsFunc(own, func(c OwnConsumer) bool { return c.Stats.ID == info.ID })
		if info.Alive && !ours {
			n++
		}
	}
	return n, a.Consumers.Err == nil || n > 0
}

// How long messages must be seen to wait, with none of them taken, before it is said
// that nobody consumes the queue: longer while the server was not asked who does.
const (
	unattendedAfter = 10 * time.Second
	unattendedGuess = 30 * time.Second
)

// unattended says that nobody consumes a queue in which messages wait; "" when
// somebody does, when none wait, or when too little was seen.
//
// A program that waits in a blocking pop cannot wait for a list that has messages,
// but it may be one that would take what became due, once that is promoted.
func (m Model) unattended(r Row) string {
	a := m.Attendance(r.Queue.Name)
	nobody, after := "nobody is consuming this queue", unattendedAfter
	if a.At.IsZero() || a.Consumers.Denied || a.Consumers.Err != nil {
		nobody, after = "nobody seems to consume this queue", unattendedGuess
	}
	waited := r.Sampled.Sub(r.untaken)
	if r.untaken.IsZero() || waited < after || r.Sample.Consumers.N > 0 {
		return ""
	}
	if n, _ := m.Attending(r.Queue.Name); n > 0 {
		return ""
	}
	blocked := slices.ContainsFunc(a.Consumers.Blocked, func(b queue.BlockedClient) bool { return b.Consumer == "" })
	if blocked && r.Sample.Ready.N == 0 {
		return ""
	}
	return fmt.Sprintf("%s: none of %s taken for %s", nobody, Thousands(r.waiting), waited.Truncate(time.Second))
}

// waitingToBeTaken counts the messages a consumer could take now. ok is false when
// that cannot be told.
func waitingToBeTaken(s queue.Sample) (n int64, ok bool) {
	for _, c := range []queue.Count{s.Ready, s.Due} {
		if c.State == queue.Unreadable {
			return 0, false
		}
		n += c.N
	}
	return n, true
}

// watchedWaiting notes since when messages wait of which none was seen to be taken: their
// number did not fall, and the oldest of them is still the same one.
func (r Row) watchedWaiting(s queue.Sample, at time.Time) Row {
	n, ok := waitingToBeTaken(s)
	if !ok {
		return r
	}
	replaced := s.OldestPlace == queue.Ready && s.Oldest > 0 && at.Add(-s.Oldest).Sub(r.untaken) > oldestSlack
	switch {
	case n == 0:
		r.untaken = time.Time{}
	case r.untaken.IsZero() || n < r.waiting || replaced:
		r.untaken = at
	}
	r.waiting = n
	return r
}

// oldestSlack is by how much the age of the oldest message may lag behind.
const oldestSlack = 3 * time.Second

// needAttendance asks who consumes the queue of the page in front: at each poll while
// the consumers tab is, now and then on the others.
func (m Model) needAttendance(forced bool) (Model, tea.Cmd) {
	if m.Screen != QueueScreen || !forced && !m.onConsumersTab() && m.poll.count%serverEvery != 0 {
		return m, nil
	}
	var ok bool
	if m.attending, ok = m.attending.begin(); !ok {
		return m, nil
	}
	b, gen, q := m.cfg.Backend, m.attending.gen, m.Queue.Queue
	return m, m.request(m.cfg.Timeout, func(ctx context.Context) tea.Msg {
		c, err := b.Consumers(ctx, q)
		return consumersReadMsg{gen: gen, queue: q.Name, consumers: c, err: err}
	})
}

// attended takes the answer to who consumes a queue.
func (m Model) attended(msg consumersReadMsg) (Model, tea.Cmd) {
	if msg.gen != m.attending.gen {
		return m, nil
	}
	m.attending.running = false
	all := maps.Clone(m.attendance)
	if all == nil {
		all = map[string]Attendance{}
	}
	a := all[msg.queue]
	if msg.err != nil {
		a.Err = explain(msg.err)
	} else {
		a = Attendance{Consumers: msg.consumers, At: m.Now}
	}
	all[msg.queue] = a
	m.attendance = all
	m.Overview = m.Overview.judged(msg.queue, m.unattended, m.tableHeight())
	m.Queue = m.Queue.consumersBounded(len(m.ConsumerRows()), m.listHeight())
	if m.attending.again {
		return m.needAttendance(true)
	}
	return m, nil
}

// onConsumersTab reports whether the consumers of the queue are in front.
func (m Model) onConsumersTab() bool {
	return m.Screen == QueueScreen && m.Queue.Place == ConsumersTab
}

// consumersAct takes a key's action on the consumers tab.
func (m Model) consumersAct(a Action) (Model, tea.Cmd) {
	rows, height := m.ConsumerRows(), m.listHeight()
	q := m.Queue
	page := max(1, height)
	switch a {
	case ActUp:
		q.ConsumerCursor--
	case ActDown:
		q.ConsumerCursor++
	case ActPageUp:
		q.ConsumerCursor -= page
	case ActPageDown:
		q.ConsumerCursor += page
	case ActTop:
		q.ConsumerCursor = 0
	case ActBottom:
		q.ConsumerCursor = len(rows) - 1
	case ActEnter:
		row, _ := m.SelectedConsumer()
		return m.openConsumer(row.Own.ID)
	}
	m.Queue = q.consumersBounded(len(rows), height)
	return m, nil
}

// SelectedConsumer returns the line under the cursor of the consumers tab.
func (m Model) SelectedConsumer() (ConsumerRow, bool) {
	rows := m.ConsumerRows()
	if i := m.Queue.ConsumerCursor; i >= 0 && i < len(rows) {
		return rows[i], true
	}
	return ConsumerRow{}, false
}
