package model

import (
	"maps"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
)

// How often things are asked for that change slowly.
const (
	serverEvery   = 5 // polls
	discoverEvery = 10 * time.Second
)

// slowFactor keeps the server's share of a poll small: the next one starts no
// sooner than this many times what the last took.
const slowFactor = 4

// pollLoop is the one loop of polls. At any moment either a poll is under way or
// one timer is valid.
type pollLoop struct {
	inFlight
	timer  int // generation of the valid timer
	forced bool
	count  int
}

// Connection is what is known of the server and the way to it.
type Connection struct {
	Address string        // host:port/db, no password
	Profile string        // its name in the configuration; "" without one
	Demo    string        // address of the embedded demo server; "" outside the demo
	Server  queue.Server  // the last answer; zero before the first
	Known   bool          // Server holds an answer
	Down    *Outage       // nil while the last poll was answered
	Offset  time.Duration // server's clock minus the client's, by the last poll
}

// Outage is a run of polls without an answer.
type Outage struct {
	Since   time.Time // client's clock
	RetryAt time.Time // when the next poll is made
	Reason  string    // one plain sentence
	Tries   int       // polls that failed so far
}

// PollCost is what the last poll cost.
type PollCost struct {
	At       time.Time // client's clock; zero before the first
	Took     time.Duration
	Commands int
}

// backoff returns how long to wait after a number of polls that failed.
func backoff(tries int) time.Duration {
	if tries > 4 {
		return 10 * time.Second
	}
	return time.Second << max(0, tries-1)
}

// pollNow polls at once, or as soon as the poll under way is answered. The
// timer that was running no longer counts.
func (m Model) pollNow(forced bool) (Model, tea.Cmd) {
	m.poll.timer++
	m.poll.forced = m.poll.forced || forced
	var ok bool
	if m.poll.inFlight, ok = m.poll.begin(); !ok {
		return m, nil
	}
	cmd := m.sampleCmd(m.poll.gen, m.poll.forced)
	m.poll.forced = false
	return m, cmd
}

func (m Model) pollDue(msg pollDueMsg) (Model, tea.Cmd) {
	if msg.gen != m.poll.timer {
		return m, nil
	}
	return m.pollNow(false)
}

// sampled takes a poll and sets the timer of the next.
func (m Model) sampled(msg queuesSampledMsg) (Model, tea.Cmd) {
	m = m.notedDropped(msg.dropped) // it is told once, however late
	if msg.gen != m.poll.gen {
		return m, nil
	}
	m.poll.running = false
	if msg.err != nil {
		return m.failedPoll(msg.err)
	}
	recovered := m.Conn.Down != nil
	m.Conn.Down = nil
	if now := msg.poll.Now; !now.IsZero() {
		m.Conn.Offset = now.Sub(m.Now.Add(-msg.poll.Took / 2))
	}
	m.poll.count++

	var cmds [5]tea.Cmd
	if !m.Frozen || msg.forced {
		m.Cost = PollCost{At: m.Now, Took: msg.poll.Took, Commands: msg.poll.Commands}
		m.Overview = m.Overview.polled(msg.poll, m.Now, m.unattended, m.tableHeight())
		if !m.Scanning {
			m.Overview = m.Overview.holding()
		}
		m, cmds[0] = m.needDistribution()
		m.paging.retried = false
		m, cmds[1] = m.refreshList(msg.forced)
		m, cmds[4] = m.needAttendance(msg.forced)
	}
	if recovered || !m.Conn.Known || m.poll.count%serverEvery == 0 {
		m.serving++
		cmds[2] = m.serverCmd(m.serving)
	}
	m, cmds[3] = m.nextPoll(max(m.Refresh, slowFactor*msg.poll.Took))
	return m, tea.Batch(cmds[:]...)
}

// nextPoll sets the timer, or polls at once when that was asked for meanwhile.
func (m Model) nextPoll(wait time.Duration) (Model, tea.Cmd) {
	if m.poll.again {
		return m.pollNow(false)
	}
	m.poll.timer++
	return m, m.after(wait, pollDueMsg{m.poll.timer})
}

// failedPoll notes that the server does not answer. What is known is kept.
func (m Model) failedPoll(err error) (Model, tea.Cmd) {
	o := Outage{Since: m.Now}
	started := m.Conn.Down == nil
	if !started {
		o = *m.Conn.Down
	}
	o.Tries++
	o.Reason = explain(err)
	wait := backoff(o.Tries)
	o.RetryAt = m.Now.Add(wait)
	m.Conn.Down = &o

	var countdown, next tea.Cmd
	if started {
		m.clock++
		countdown = m.after(time.Second, clockDueMsg{m.clock})
	}
	m, next = m.nextPoll(wait)
	return m, tea.Batch(countdown, next)
}

// clockDue draws the countdown anew while the server is away.
func (m Model) clockDue(msg clockDueMsg) (Model, tea.Cmd) {
	if msg.gen != m.clock || m.Conn.Down == nil {
		return m, nil
	}
	return m, m.after(time.Second, clockDueMsg{m.clock})
}

func (m Model) serverSeen(msg serverSeenMsg) Model {
	if msg.gen != m.serving || msg.err != nil {
		return m // whether the server is there is the poll's to say
	}
	m.Conn.Server, m.Conn.Known = msg.server, true
	if msg.server.Address != "" && m.Conn.Address == "" {
		m.Conn.Address = msg.server.Address
	}
	return m
}

func (m Model) discoverDue(msg discoverDueMsg) (Model, tea.Cmd) {
	if msg.gen != m.scan {
		return m, nil
	}
	return m, m.discoverCmd(m.scan, m.Discovery.Done)
}

// discovered takes one step of the scan for queues and asks for the next.
func (m Model) discovered(msg queuesDiscoveredMsg) (Model, tea.Cmd) {
	if msg.gen != m.scan {
		return m, nil
	}
	d := msg.discovery
	if msg.err != nil {
		d.Err = explain(msg.err)
	}
	if m.Scanning || d.Done || msg.err != nil {
		m.Discovery = d
	}
	m.Discovery.Done = d.Done
	if !m.Frozen && len(d.Queues) > 0 {
		m = m.withQueues(d.Queues)
	}
	if d.Done {
		m.Scanning = false
	}
	next := m.discoverCmd(m.scan, false)
	if d.Done || msg.err != nil {
		next = m.after(discoverEvery, discoverDueMsg{m.scan})
	}
	if !m.hasUnsampled() {
		return m, next
	}
	m, sample := m.pollNow(false)
	return m, tea.Batch(sample, next)
}

// hasUnsampled reports whether a queue waits for its first poll. While the
// server is away the next one comes when it is due.
func (m Model) hasUnsampled() bool {
	if m.Conn.Down != nil {
		return false
	}
	for _, r := range m.Overview.Rows {
		if r.Sampled.IsZero() {
			return true
		}
	}
	return false
}

// withQueues sets the queues that are known, as corrected by the operator. What
// was polled of them stays.
func (m Model) withQueues(qs []queue.Queue) Model {
	known := make(map[string]Row, len(m.Overview.Rows))
	for _, r := range m.Overview.Rows {
		known[r.Queue.Name] = r
	}
	rows := make([]Row, len(qs))
	for i, q := range qs {
		q = m.corrections[q.Name].apply(q)
		r, ok := known[q.Name]
		if !ok {
			r = newRow(q)
		}
		r.Queue = q
		rows[i] = r
		if q.Name == m.Queue.Name {
			m.Queue = m.Queue.described(q)
		}
	}
	m.Overview.Rows = rows
	m.Overview = m.Overview.arranged(m.tableHeight())
	return m
}

// corrected replaces a guess about a queue.
func (m Model) corrected(c correct) (Model, tea.Cmd) {
	all := maps.Clone(m.corrections)
	if all == nil {
		all = map[string]correction{}
	}
	all[c.name] = all[c.name].over(c.with)
	m.corrections = all
	qs := make([]queue.Queue, len(m.Overview.Rows))
	for i, r := range m.Overview.Rows {
		qs[i] = r.Queue
	}
	m = m.withQueues(qs)
	m, _ = m.say(StatusDone, shown(c.name)+": "+c.with.text())
	return m.pollNow(true)
}
