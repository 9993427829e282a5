package model

import (
	"context"
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
)

// This file is the router's part for the consumers that run inside redq: starting,
// watching and stopping them.

// How often what is new of them is asked for: not more often than an eye can
// follow, and seldom while another page is in front.
const (
	watchEvery  = 100 * time.Millisecond
	watchCalmly = 250 * time.Millisecond // while nothing happens
	watchBehind = time.Second            // while another page is in front
)

// consume answers `c`: it brings the consumers to the front, or the form for one
// where the queue in front has none.
func (m Model) consume() (Model, tea.Cmd) {
	q, _ := m.selectedQueue()
	if i, ok := m.Consumer.find(q.Name); ok && m.Screen != ConsumerScreen {
		m = m.toConsumers()
		m.Consumer.Cursor = i
		return m.watchNow()
	}
	return m.openConsumerForm(q, nil)
}

// consumeNamed opens the form for a consumer on a queue, if there may be one.
func (m Model) consumeNamed(name string) (Model, tea.Cmd) {
	row, ok := m.Row(name)
	switch {
	case m.ReadOnly:
		return m.say(StatusWarn, "consume is off: read-only")
	case !ok:
		return m.say(StatusWarn, "no queue "+shown(name))
	}
	return m.openConsumerForm(row.Queue, nil)
}

// openConsumerForm asks what kind of consumer shall be started on a queue. again
// are the settings of one before, to be filled in; nil for the defaults.
func (m Model) openConsumerForm(q queue.Queue, again *ConsumerSettings) (Model, tea.Cmd) {
	h := DialogHead{Server: m.Conn.Address, Queue: q.Name, OpenedAt: m.Now, queue: q}
	d := newConsumerDialog(h, q, func(p queue.Pattern) string {
		s := ConsumerSettings{Queue: q, Pattern: p}
		s.Handler.Kind = "log"
		if err := m.cfg.Backend.CheckConsumer(s); err != nil {
			return explain(err)
		}
		return ""
	})
	if again != nil {
		d = d.again(*again)
	}
	m.Dialog = d
	return m, nil
}

// toConsumers brings the page of the consumers to the front.
func (m Model) toConsumers() Model {
	if m.Screen != ConsumerScreen {
		m.Consumer.queue, _ = m.selectedQueue()
		m.Consumer.from = m.Screen
	}
	m.Screen = ConsumerScreen
	return m
}

// openConsumer brings one consumer of ours to the front.
func (m Model) openConsumer(id int) (Model, tea.Cmd) {
	m = m.toConsumers()
	for i, c := range m.Consumer.Consumers {
		if c.ID == id {
			m.Consumer.Cursor = i
		}
	}
	return m.watchNow()
}

// showConsumers is toConsumers with what the page shows.
func (m Model) showConsumers() (Model, tea.Cmd) {
	m = m.toConsumers()
	return m.watchNow()
}

// startCmd starts a consumer.
func (m Model) startCmd(gen int, s ConsumerSettings) tea.Cmd {
	b := m.cfg.Backend
	return m.request(m.cfg.Timeout, func(context.Context) tea.Msg {
		id, err := b.StartConsumer(s)
		return consumerStartedMsg{gen: gen, id: id, settings: s, err: err}
	})
}

// consumerStarted takes the answer to a start.
func (m Model) consumerStarted(msg consumerStartedMsg) (Model, tea.Cmd) {
	leaving := false
	if d, ok := m.Dialog.(ConsumerDialog); ok && msg.gen == m.writing {
		leaving = d.Leaving
		if msg.err != nil && !leaving {
			d.Busy, d.Note, d.OpenedAt = false, explain(msg.err), m.Now
			m.Dialog = d
			return m, nil
		}
		m.Dialog = nil
	}
	if msg.err == nil {
		m = m.toConsumers()
		m.Consumer = m.Consumer.started(msg.id, msg.settings, m.Now)
		m.Overview = m.Overview.judged(msg.settings.Queue.Name, m.unattended, m.tableHeight())
		m.Status = Status{Text: "started a consumer on " + shown(msg.settings.Queue.Name), Kind: StatusDone}
	}
	if leaving {
		return m.quit()
	}
	return m.watchNow()
}

// watchNow asks what is new of the consumers; there is one loop of it, which runs
// as long as one of them does.
func (m Model) watchNow() (Model, tea.Cmd) {
	if !m.Consumer.busy() {
		return m, nil
	}
	m.watchTimer++
	var ok bool
	if m.watching, ok = m.watching.begin(); !ok {
		return m, nil
	}
	b, gen := m.cfg.Backend, m.watching.gen
	return m, m.request(m.cfg.Timeout, func(context.Context) tea.Msg {
		news := b.WatchConsumers()
		msg := consumersWatchedMsg{gen: gen, news: make([]consumerNews, len(news))}
		for i, n := range news {
			msg.news[i] = newConsumerNews(n)
		}
		return msg
	})
}

func (m Model) watchDue(msg watchDueMsg) (Model, tea.Cmd) {
	if msg.gen != m.watchTimer {
		return m, nil
	}
	return m.watchNow()
}

// watched takes what is new of the consumers and sets the timer of the next look.
func (m Model) watched(msg consumersWatchedMsg) (Model, tea.Cmd) {
	if msg.gen != m.watching.gen {
		return m, nil
	}
	again := m.watching.again
	m.watching.running, m.watching.again = false, false
	before := m.Consumer.Consumers
	m.Consumer = m.Consumer.watched(msg.news, m.Now)
	m = m.sayEnded(before)
	var leave, next tea.Cmd
	m, leave = m.drained()
	switch {
	case !m.Consumer.busy():
	case again:
		m, next = m.watchNow()
	default:
		m.watchTimer++
		next = m.after(m.watchPause(msg), watchDueMsg{m.watchTimer})
	}
	return m, tea.Batch(leave, next)
}

// sayEnded tells of a consumer that has ended since.
func (m Model) sayEnded(before []OwnConsumer) Model {
	for i, c := range m.Consumer.Consumers {
		if before[i].State.Ended() || !c.State.Ended() {
			continue
		}
		s := Status{Text: fmt.Sprintf("the consumer of %s %s: %s done", shown(c.Settings.Queue.Name), c.State, Thousands(c.Stats.Done)), Kind: StatusDone}
		switch c.State {
		case RunAbandoned:
			s.Kind = StatusWarn
		case RunFailed:
			s = Status{Text: fmt.Sprintf("the consumer of %s failed", shown(c.Settings.Queue.Name)), Kind: StatusError}
			if m.Screen != ConsumerScreen { // which shows the reason
				s.Text += ": " + c.Err
			}
		}
		m.Status = s
	}
	return m
}

func (m Model) watchPause(msg consumersWatchedMsg) time.Duration {
	_, leaving := m.Dialog.(LeaveDialog)
	if m.Screen != ConsumerScreen && !leaving {
		return watchBehind
	}
	for _, n := range msg.news {
		if len(n.lines) > 0 || n.Ended {
			return watchEvery
		}
	}
	return watchCalmly
}

// stopSelected stops the consumer in front; one that is stopping already is
// abandoned, if that is wanted.
func (m Model) stopSelected() (Model, tea.Cmd) {
	c, _ := m.Consumer.Selected()
	if c.State == RunStopping {
		h := DialogHead{Server: m.Conn.Address, Queue: c.Settings.Queue.Name, OpenedAt: m.Now, queue: c.Settings.Queue}
		m.Dialog = newAbandonDialog(h, c)
		return m, nil
	}
	m, stop := m.stop(c.ID)
	text := "stopping"
	if n := c.Stats.InHand; n > 0 {
		text += ": " + plural(n, "message", "messages") + " in hand to finish; x again abandons"
	}
	m.Status = Status{Text: text}
	m, watch := m.watchNow()
	return m, tea.Batch(stop, watch)
}

// stop asks a consumer to end in good order.
func (m Model) stop(id int) (Model, tea.Cmd) {
	m.Consumer = m.Consumer.changed(id, func(c OwnConsumer) OwnConsumer {
		c.State = RunStopping
		return c
	})
	return m, m.tellConsumer(id, m.cfg.Backend.StopConsumer)
}

// abandon ends a consumer without waiting for its handlers.
func (m Model) abandon(id int) (Model, tea.Cmd) {
	m.Consumer = m.Consumer.changed(id, func(c OwnConsumer) OwnConsumer {
		if !c.State.Ended() {
			c.State = RunAbandoning
		}
		return c
	})
	return m, m.tellConsumer(id, m.cfg.Backend.AbandonConsumer)
}

// removeSelected takes a consumer that has ended off the page.
func (m Model) removeSelected() (Model, tea.Cmd) {
	c, _ := m.Consumer.Selected()
	m.Consumer = m.Consumer.without(c.ID)
	m.Status = Status{Text: "removed from this page: the " + c.State.String() + " consumer of " + shown(c.Settings.Queue.Name)}
	return m, m.tellConsumer(c.ID, m.cfg.Backend.ForgetConsumer)
}

// tellConsumer makes a command of a call about one consumer, which has no answer.
func (m Model) tellConsumer(id int, tell func(int)) tea.Cmd {
	return m.request(m.cfg.Timeout, func(context.Context) tea.Msg {
		tell(id)
		return nil
	})
}

// restartSelected opens the form as the consumer in front was started.
func (m Model) restartSelected() (Model, tea.Cmd) {
	c, _ := m.Consumer.Selected()
	return m.openConsumerForm(c.Settings.Queue, &c.Settings)
}
