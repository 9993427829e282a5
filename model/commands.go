package model

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
	"redq/queue/payload"
	"redq/queue/sieve"
)

// How much one request may do.
const (
	// searchStep is how long a step of a search looks for more before it tells.
	searchStep  = 200 * time.Millisecond
	copiesLimit = 10_000 // entries from each end in which identical copies are counted
	perMessage  = 20 * time.Millisecond
)

// request makes a command of a call that may block: bounded in time, and with a
// panic turned into a message, for one in a command would leave the terminal raw.
func (m Model) request(timeout time.Duration, call func(context.Context) tea.Msg) tea.Cmd {
	now := m.cfg.Now
	return func() (answer tea.Msg) {
		defer func() {
			if v := recover(); v != nil {
				answer = commandPanickedMsg{value: v, stack: debug.Stack(), at: now()}
			}
		}()
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		return call(ctx)
	}
}

// after makes a timer. It is built only where it starts: one of Bubble Tea runs
// from its making.
func (m Model) after(d time.Duration, due tea.Msg) tea.Cmd { return m.cfg.After(d, due) }

// tick is the timer of Bubble Tea.
func tick(d time.Duration, due tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return due })
}

func (m Model) sampleCmd(gen int, forced bool) tea.Cmd {
	b := m.cfg.Backend
	qs := make([]queue.Queue, len(m.Overview.Rows))
	for i, r := range m.Overview.Rows {
		qs[i] = r.Queue
	}
	return m.request(m.cfg.Timeout, func(ctx context.Context) tea.Msg {
		if len(qs) > 0 {
			poll, err := b.Sample(ctx, qs)
			return queuesSampledMsg{dropped: b.UndoDropped(), gen: gen, poll: poll, err: err, forced: forced}
		}
		// Nothing to sample: only whether the server is there.
		s, err := b.Server(ctx)
		return queuesSampledMsg{dropped: b.UndoDropped(), gen: gen, poll: queue.Poll{Now: s.Now, Took: s.Ping, Commands: 1}, err: err, forced: forced}
	})
}

func (m Model) serverCmd(gen int) tea.Cmd {
	b := m.cfg.Backend
	return m.request(m.cfg.Timeout, func(ctx context.Context) tea.Msg {
		s, err := b.Server(ctx)
		return serverSeenMsg{gen: gen, server: s, err: err}
	})
}

// discoverCmd makes one step of the scan; again starts a new one.
func (m Model) discoverCmd(gen int, again bool) tea.Cmd {
	b := m.cfg.Backend
	return m.request(m.cfg.Timeout, func(ctx context.Context) tea.Msg {
		if again {
			b.Rediscover()
		}
		d, err := b.Discover(ctx)
		return queuesDiscoveredMsg{gen: gen, discovery: d, err: err}
	})
}

func (m Model) peekCmd(gen int, q queue.Queue, p queue.Place, from int64, n int, forced bool) tea.Cmd {
	b := m.cfg.Backend
	return m.request(m.cfg.Timeout, func(ctx context.Context) tea.Msg {
		a := pagePeekedMsg{gen: gen, queue: q.Name, place: p, forced: forced}
		var read queue.Page
		read, a.err = b.Peek(ctx, q, p, from, n)
		if a.err == nil && len(read.Messages) == 0 && read.Total > 0 {
			// The place has shrunk behind what was asked for: its end is what is left to show.
			read, a.err = b.Peek(ctx, q, p, max(0, read.Total-int64(n)), n)
		}
		a.page = readyRows(q, read, b.Age)
		return a
	})
}

// searchCmd makes the next step of the search in a list.
func (m Model) searchCmd(q queue.Queue, l List) tea.Cmd {
	b := m.cfg.Backend
	gen, match := l.Search.gen, l.Search.matcher
	scan, rows := l.scan()
	return m.request(m.cfg.Timeout, func(ctx context.Context) tea.Msg {
		c := catch{
			sieve: sieve.Sieve{Filter: match, Unit: q.Unit, Now: scan.now, Age: b.Age, Tally: scan.Tally},
			rows:  maxRows - len(rows), bytes: maxRowBytes - scan.bytes,
		}
		take := func(msg queue.Message) (bool, error) { return c.take(ctx, msg) }
		var f found
		f.Found, f.err = b.Search(ctx, q, l.Place, scan.next, queue.SearchOptions{Match: take, Within: searchStep})
		c.sieve.Unread(f.Unread)
		f.beyond, f.tally = c.beyond, c.sieve.Tally
		for _, msg := range f.Messages {
			f.rows = append(f.rows, readyRow(q, msg, b.Age))
		}
		f.Messages = nil // the rows have them
		return placeSearchedMsg{gen: gen, queue: q.Name, place: l.Place, found: f}
	})
}

func (m Model) distributionCmd(gen int, q queue.Queue) tea.Cmd {
	b := m.cfg.Backend
	return m.request(m.cfg.Timeout, func(ctx context.Context) tea.Msg {
		d, err := b.Distribution(ctx, q)
		return distributionReadMsg{gen: gen, queue: q.Name, dist: d, err: err}
	})
}

func (m Model) loadCmd(gen int, msg queue.Message) tea.Cmd {
	b, q := m.cfg.Backend, m.Queue.Queue
	return m.request(m.cfg.Timeout, func(ctx context.Context) tea.Msg {
		var l loadedMessage
		var err error
		if l.message, err = b.Load(ctx, msg); err != nil {
			return messageLoadedMsg{gen: gen, err: err}
		}
		l.decoded = payload.Decode(l.message.Payload, prettyLimit)
		// How many copies there are, and why it failed before, is good to know, and no
		// reason to show nothing.
		if known, err := b.Failures(ctx, q, []queue.Message{l.message}); err == nil && len(known) == 1 {
			l.failed = known[0]
		}
		l.copies, l.more, _ = b.Copies(ctx, l.message, copiesLimit)
		return messageLoadedMsg{gen: gen, loaded: l}
	})
}

func (m Model) copyCmd(msg queue.Message) tea.Cmd {
	b, copyText := m.cfg.Backend, m.cfg.Copy
	return m.request(m.cfg.Timeout, func(ctx context.Context) tea.Msg {
		if !msg.Complete() {
			var err error
			if msg, err = b.Load(ctx, msg); err != nil {
				return payloadCopiedMsg{err: err}
			}
		}
		return payloadCopiedMsg{size: len(msg.Payload), err: copyText(string(msg.Payload))}
	})
}

func (m Model) undoListCmd(gen int) tea.Cmd {
	b := m.cfg.Backend
	return m.request(m.cfg.Timeout, func(ctx context.Context) tea.Msg {
		entries, err := b.UndoList(ctx, maxUndo)
		return undoListedMsg{gen: gen, entries: entries, err: err}
	})
}

// writeCmd asks the server for what a dialog decided.
func (m Model) writeCmd(gen int, in Intent, q queue.Queue) tea.Cmd {
	b := m.cfg.Backend
	done := func(status Status) actionDoneMsg { return actionDoneMsg{gen: gen, asked: in, status: status} }
	bulk := func(n int) time.Duration { return m.cfg.Timeout + time.Duration(n)*perMessage }
	switch in := in.(type) {
	case startConsumer:
		return m.startCmd(gen, in.settings)
	case startJob:
		return m.startJobCmd(gen, in.work)
	case doRedrive:
		return m.request(bulk(len(in.ms)), func(ctx context.Context) tea.Msg {
			r := b.Redrive(ctx, q, in.ms, in.o)
			place, to := q.RedriveTarget()
			where := "to " + shown(to)
			switch {
			case place == queue.Delayed:
				where = "in " + shown(to) + ", due now"
			case in.o.Front:
				where += ", front"
			}
			return done(reportStatus(r.Totals(), "re-driven", where, true)).took(r, in.ms)
		})
	case doDelete:
		return m.request(bulk(len(in.ms)), func(ctx context.Context) tea.Msg {
			r := b.Delete(ctx, q, in.ms)
			return done(reportStatus(r.Totals(), "deleted", "of "+shown(in.ms[0].Key), true)).took(r, in.ms)
		})
	case doReschedule:
		return m.request(bulk(len(in.ms)), func(ctx context.Context) tea.Msg {
			r := b.Reschedule(ctx, q, in.ms, in.due)
			return done(reportStatus(r.Totals(), "rescheduled", "to "+in.due.Format("2006-01-02 15:04:05"), true))
		})
	case doEdit:
		return m.editCmd(gen, in, q)
	case doEnqueue:
		return m.request(m.cfg.Timeout, func(ctx context.Context) tea.Msg {
			e, err := b.Enqueue(ctx, q, in.payload, in.o)
			return enqueued(done(Status{}), e, err)
		})
	case doUndo:
		return m.request(bulk(in.entry.Total), func(ctx context.Context) tea.Msg {
			r, err := b.Undo(ctx, in.entry.ID)
			s := undoneStatus(r, in.entry)
			switch {
			case err != nil && r.Done > 0:
				s = Status{Text: s.Text + ", then: " + explain(err), Kind: StatusError}
			case err != nil:
				s = Status{Text: explain(err), Kind: StatusError}
			}
			return done(s)
		})
	}
	return nil
}

// took notes which messages are surely not where they were.
func (a actionDoneMsg) took(r queue.Report, ms []queue.Message) actionDoneMsg {
	for i, res := range r.Results {
		if i < len(ms) && (res.Outcome == queue.Done || res.Outcome == queue.Gone) {
			a.moved = append(a.moved, ms[i])
		}
	}
	return a
}

// enqueued says what became of a new message.
func enqueued(a actionDoneMsg, e queue.Enqueued, err error) actionDoneMsg {
	if err == nil {
		text := "enqueued 1 to " + shown(e.Key)
		if e.Place == queue.Delayed && !e.Due.IsZero() {
			text += ", due " + e.Due.Format("2006-01-02 15:04:05")
		}
		a.status = Status{Text: text, Kind: StatusDone}
		return a
	}
	a.failed = !errors.Is(err, queue.ErrUnknownOutcome)
	a.status = Status{Text: explain(err), Kind: StatusError}
	if errors.Is(err, queue.ErrUnknownOutcome) {
		a.status.Text = "outcome unknown, look before you enqueue it again: " + a.status.Text
	}
	errors.As(err, &a.already)
	return a
}
