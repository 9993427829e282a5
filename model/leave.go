package model

import (
	"errors"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// LeaveDialog asks before redq ends with consumers running or jobs at work, and then shows
// what they still have to finish.
type LeaveDialog struct {
	DialogHead
	Consumers int   // that run
	InHand    int   // messages they hold
	Jobs      int   // that are at work
	Draining  bool  // it was answered with yes: redq ends when they have
	Abandoned bool  // they are not waited for any more
	Focus     Focus // FocusNo, FocusYes

	under Dialog // that was open before: no brings it back
}

// LeaveMsg asks the program to end, as q on the overview does, but without a
// question: who sent it (a signal, a terminal that closed) reads none.
type LeaveMsg struct {
	// AtOnce does not wait for what consumers have in hand, nor for an answer of the
	// server: it was asked before, and somebody is losing patience.
	AtOnce bool
}

func (d LeaveDialog) withHead(h DialogHead) Dialog {
	d.DialogHead = h
	return d
}

func (d LeaveDialog) typing() bool { return false }

func (d LeaveDialog) key(k tea.KeyMsg, _ time.Time) (Dialog, Intent) {
	if d.Draining {
		return noted(d, "ctrl+c again leaves without waiting"), nil
	}
	var v verdict
	switch d.Focus, v = answer(k, d.Focus, FocusNo, FocusYes); v {
	case verdictYes:
		return d, leaveAll{}
	case verdictNo:
		return d, stay{}
	case verdictOther:
		return noted(d, "y stops them and quits, n stays"), nil
	}
	return d, nil
}

// busy reports whether something runs that must not be cut off.
func (m Model) busy() bool { return m.Consumer.busy() || m.jobsAtWork() > 0 }

// jobsAtWork counts the jobs that change messages.
func (m Model) jobsAtWork() int {
	n := 0
	for _, j := range m.Jobs {
		if j.AtWork() {
			n++
		}
	}
	return n
}

// quit ends the program; while consumers run or jobs are at work it asks first.
func (m Model) quit() (Model, tea.Cmd) {
	if !m.busy() {
		return m, tea.Quit
	}
	n, inHand := m.Consumer.Active()
	h := DialogHead{Title: "Quit", Server: m.Conn.Address, OpenedAt: m.Now}
	m.Dialog = LeaveDialog{DialogHead: h, Consumers: n, InHand: inHand, Jobs: m.jobsAtWork(), under: m.Dialog}
	return m, nil
}

// leaveWithin is how long a program that was told to end waits for an answer, or
// for what its consumers have in hand: less than what a container is given.
const leaveWithin = 8 * time.Second

// leaveFor ends the program in good order, or after leaveWithin without it.
func (m Model) leaveFor(msg LeaveMsg) (Model, tea.Cmd) {
	var leave tea.Cmd
	d, asking := m.Dialog.(LeaveDialog)
	switch {
	case msg.AtOnce:
		return m.leaveDue()
	case m.busy():
		if !asking {
			m, _ = m.quit()
		}
		if !d.Draining {
			m, leave = m.drain()
		}
	case m.Dialog != nil && m.Dialog.Head().Leaving:
	default:
		m, leave = m.interrupted()
	}
	return m, tea.Batch(leave, m.after(leaveWithin, leaveDueMsg{}))
}

// leaveDue ends a program that was told to end long ago.
func (m Model) leaveDue() (Model, tea.Cmd) {
	d, asking := m.Dialog.(LeaveDialog)
	if !m.busy() || d.Abandoned {
		return m, tea.Quit
	}
	if !asking {
		m, _ = m.quit()
	}
	m, abandon := m.abandonAll()
	return m, tea.Batch(abandon, m.after(endsWithin, leaveDueMsg{}))
}

// interrupted takes a ctrl+c: it quits. While the server is being asked for a
// change it does so as soon as that has answered, since the outcome would be
// unknown; while consumers run or jobs are at work it asks, then lets them finish, and then
// leaves them. Each further ctrl+c goes one step on.
func (m Model) interrupted() (Model, tea.Cmd) {
	if d, ok := m.Dialog.(LeaveDialog); ok {
		switch {
		case !d.Draining:
			return m.drain()
		case m.Now.Sub(d.OpenedAt) < dialogGuard:
			return m, nil // a key that was held down
		case !d.Abandoned:
			return m.abandonAll()
		}
		return m, tea.Quit
	}
	if m.Dialog != nil {
		if h := m.Dialog.Head(); h.Busy && !h.Leaving {
			h.Leaving = true
			h.Note = "leaving as soon as the server answers; ctrl+c again leaves at once"
			m.Dialog = m.Dialog.withHead(h)
			return m, nil
		}
	}
	return m.quit()
}

// drain stops all consumers and cancels all jobs; the program ends when they have.
func (m Model) drain() (Model, tea.Cmd) {
	d, ok := m.Dialog.(LeaveDialog)
	if !ok || !m.busy() {
		return m, tea.Quit
	}
	d.Draining, d.OpenedAt, d.Note = true, m.Now, ""
	d.Title = "Leaving"
	m.Dialog = d
	var cmds []tea.Cmd
	for _, c := range m.Consumer.Consumers {
		if c.State.Ended() || c.State == RunAbandoning {
			continue
		}
		var cmd tea.Cmd
		m, cmd = m.stop(c.ID)
		cmds = append(cmds, cmd)
	}
	for _, j := range m.ActiveJobs() {
		var cmd tea.Cmd
		m, cmd = m.cancelJob(j.ID)
		cmds = append(cmds, cmd)
	}
	m, watch := m.watchNow()
	m, look := m.watchJobs()
	return m, tea.Batch(append(cmds, watch, look)...)
}

// abandonAll ends all consumers without waiting for what is in hand, and says
// after the end where that is.
func (m Model) abandonAll() (Model, tea.Cmd) {
	d, _ := m.Dialog.(LeaveDialog)
	d.Draining, d.Abandoned, d.OpenedAt = true, true, m.Now
	d.Title = "Leaving"
	d.Note = "putting back what can be; ctrl+c again leaves at once"
	m.Dialog = d
	m.Fatal = errors.New(m.abandonedText())
	var cmds []tea.Cmd
	for _, c := range m.Consumer.Consumers {
		if c.State.Ended() {
			continue
		}
		var cmd tea.Cmd
		m, cmd = m.abandon(c.ID)
		cmds = append(cmds, cmd)
	}
	return m, tea.Batch(cmds...)
}

// abandonedText says what is not waited for, and where messages lie then.
func (m Model) abandonedText() string {
	var parts []string
	if m.Consumer.busy() {
		parts = append(parts, m.Consumer.abandonedText())
	}
	for _, j := range m.Jobs {
		if j.AtWork() {
			parts = append(parts, fmt.Sprintf("left before a job had ended (%s): what became of its last step is unknown, see redq undo", j.Work.Words().Does))
		}
	}
	return strings.Join(parts, "\n")
}

// abandonedText says where messages lie that are not waited for.
func (p ConsumerPage) abandonedText() string {
	var parts []string
	for _, c := range p.Consumers {
		if n := c.Stats.InHand; n > 0 && !c.State.Ended() {
			parts = append(parts, fmt.Sprintf("%s of %s in hand: %s",
				plural(n, "message", "messages"), shown(c.Settings.Queue.Name), c.leavesInHand()))
		}
	}
	if len(parts) == 0 {
		return "left before the consumers had ended; nothing was in hand"
	}
	return "left before the consumers had ended, with " + strings.Join(parts, "; ")
}

// drained tells the dialog how far consumers and jobs are, and ends the program once the last
// of them has ended. What became of a job that was cut short is said after that.
func (m Model) drained() (Model, tea.Cmd) {
	d, ok := m.Dialog.(LeaveDialog)
	if !ok {
		return m, nil
	}
	d.Consumers, d.InHand = m.Consumer.Active()
	d.Jobs = m.jobsAtWork()
	m.Dialog = d
	if !d.Draining || d.Consumers > 0 || d.Jobs > 0 {
		return m, nil
	}
	var cut []string
	for _, j := range m.Jobs {
		if j.Cancelling && j.Settled() > 0 {
			cut = append(cut, j.Work.Words().Does+": "+j.outcome(false).Text)
		}
	}
	if len(cut) > 0 && m.Fatal == nil {
		m.Fatal = errors.New(strings.Join(cut, "\n"))
	}
	return m, tea.Quit
}

// stay closes the question; what was open before is open again.
func (m Model) stay() Model {
	if d, ok := m.Dialog.(LeaveDialog); ok {
		m.Dialog = d.under
	}
	return m
}
