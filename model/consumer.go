package model

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"redq/queue"
	"redq/queue/filter"
	"redq/queue/payload"
)

// ConsumerPage is the page of the consumers that run inside this redq.
type ConsumerPage struct {
	Consumers  []OwnConsumer // in the order they were started
	Cursor     int           // index of the one in front; -1 when there are none
	FilterText string        // of the events of all of them, as typed; "" shows all

	filter filter.Matcher
	queue  queue.Queue // that `c` was pressed for: an empty page offers it
	from   Screen      // where esc goes back to
}

// RunState is where a consumer of ours is in its life.
type RunState uint8

// The states. From RunStopped on it has ended.
const (
	RunStarting RunState = iota
	RunRunning
	RunStopping   // finishes what is in hand
	RunAbandoning // its handlers are not waited for
	RunStopped
	RunAbandoned
	RunFailed
)

// String names the state.
func (s RunState) String() string {
	return [...]string{"starting", "running", "stopping", "abandoning", "stopped", "abandoned", "failed"}[s]
}

// Ended reports whether nothing runs any more.
func (s RunState) Ended() bool { return s >= RunStopped }

// OwnConsumer is a consumer that this redq runs, or ran.
type OwnConsumer struct {
	ID       int
	Settings ConsumerSettings
	State    RunState
	Err      string // why it failed; safe to print
	Stats    queue.ConsumerStats
	InHand   []HandRow // longest first; Stats.InHand counts them all
	Meter    Meter
	Log      EventLog
	Started  time.Time // client's clock
	EndedAt  time.Time // client's clock; zero while it runs
}

// HandRow is a message in hand.
type HandRow struct {
	Text    string // one safe line
	Since   time.Time
	Started time.Time // when its handler started; zero while it waits for a worker
}

// consumerNews is ConsumerNews made ready for the page.
type consumerNews struct {
	ConsumerNews
	lines []LogLine
	hands []HandRow
}

func newConsumerNews(n ConsumerNews) consumerNews {
	c := consumerNews{ConsumerNews: n}
	for _, e := range n.Events {
		c.lines = append(c.lines, newLogLine(e))
	}
	for _, h := range n.InHand {
		c.hands = append(c.hands, HandRow{
			Text:  payload.Line(h.Message.Payload[:min(len(h.Message.Payload), logTextBytes)], logTextBytes),
			Since: h.Since, Started: h.Started,
		})
	}
	c.Events, c.ConsumerNews.InHand = nil, nil
	return c
}

// watched takes what is new.
func (c OwnConsumer) watched(n consumerNews, at time.Time) OwnConsumer {
	if c.State.Ended() {
		return c
	}
	c.Stats, c.InHand = n.Stats, n.hands
	c.Meter = c.Meter.add(at, n.Stats)
	c.Log = c.Log.added(n.lines, n.LeftOut)
	switch {
	case n.Ended:
		c = c.ended(n.Err, at)
	case c.State == RunAbandoning:
	case n.Stats.State == queue.ConsumerStopping:
		c.State = RunStopping
	case n.Stats.State == queue.ConsumerRunning && c.State == RunStarting:
		c.State = RunRunning
	}
	return c
}

func (c OwnConsumer) ended(err error, at time.Time) OwnConsumer {
	c.EndedAt = at
	switch {
	case err == nil:
		c.State = RunStopped
	case errors.Is(err, queue.ErrAbandoned):
		c.State = RunAbandoned
	default:
		c.State, c.Err = RunFailed, explain(err)
	}
	return c
}

// Rate returns how fast a counter counts now, or, of one that has ended, how fast
// it did over its life.
func (c OwnConsumer) Rate(counter Counter) Rate {
	if !c.State.Ended() {
		return c.Meter.Rate(counter)
	}
	lived := c.EndedAt.Sub(c.Started)
	if lived < netLeast {
		return Rate{}
	}
	return Rate{PerSecond: float64(countersOf(c.Stats)[counter]) / lived.Seconds(), OK: true}
}

// CounterValue is one counter of a consumer.
type CounterValue struct {
	Counter Counter
	N       int64
	Rate    Rate
}

// Counters returns the six main counters, and of the others those that counted
// something. Wasted takes are told by Waste.
func (c OwnConsumer) Counters() (main, others []CounterValue) {
	for i, n := range countersOf(c.Stats) {
		v := CounterValue{Counter(i), n, c.Rate(Counter(i))}
		switch {
		case v.Counter <= CountDead:
			main = append(main, v)
		case n > 0 && v.Counter != CountWasted:
			others = append(others, v)
		}
	}
	return main, others
}

// Waste returns how many takes another worker was faster with, for each message
// taken. ok is false where the pattern does not race, or nothing was taken yet.
func (c OwnConsumer) Waste() (perMessage float64, ok bool) {
	switch c.Settings.Pattern {
	case queue.ZsetRace, queue.ZsetScript, queue.Dispatch:
		return float64(c.Stats.Wasted) / float64(max(1, c.Stats.Taken)), c.Stats.Taken > 0
	}
	return 0, false
}

// leavesInHand says what becomes of messages in hand when they are not waited for.
func (c OwnConsumer) leavesInHand() string {
	q := c.Settings.Queue
	switch {
	case c.Settings.Pattern == queue.BackupList && q.Has(queue.Backup):
		return "they stay in " + shown(q.Backups[0])
	case c.Settings.Pattern.AtLeastOnce():
		return "they stay in " + shown(q.BackupKey(c.Stats.ID))
	}
	return "they are put back, as far as the server answers"
}

// Selected returns the consumer in front.
func (p ConsumerPage) Selected() (OwnConsumer, bool) {
	if p.Cursor < 0 || p.Cursor >= len(p.Consumers) {
		return OwnConsumer{}, false
	}
	return p.Consumers[p.Cursor], true
}

// Top returns the index of the first consumer in a table of height rows that shows
// the selected one.
func (p ConsumerPage) Top(height int) int {
	return max(0, min(p.Cursor-height/2, len(p.Consumers)-height))
}

// Queue returns the queue in front: that of the selected consumer, else the one
// the page was opened for.
func (p ConsumerPage) Queue() queue.Queue {
	if c, ok := p.Selected(); ok {
		return c.Settings.Queue
	}
	return p.queue
}

// Active returns how many consumers have not ended, and how many messages they
// have in hand.
func (p ConsumerPage) Active() (consumers, inHand int) {
	for _, c := range p.Consumers {
		if !c.State.Ended() {
			consumers++
			inHand += c.Stats.InHand
		}
	}
	return consumers, inHand
}

// busy reports whether a consumer has not ended.
func (p ConsumerPage) busy() bool {
	n, _ := p.Active()
	return n > 0
}

// of returns the consumers of a queue that have not ended.
func (p ConsumerPage) of(queueName string) []OwnConsumer {
	var own []OwnConsumer
	for _, c := range p.Consumers {
		if c.Settings.Queue.Name == queueName && !c.State.Ended() {
			own = append(own, c)
		}
	}
	return own
}

// find returns the index of the consumer that a queue's page leads to: one that
// runs, else the last that did.
func (p ConsumerPage) find(queueName string) (int, bool) {
	found := -1
	for i, c := range p.Consumers {
		if c.Settings.Queue.Name != queueName {
			continue
		}
		found = i
		if !c.State.Ended() {
			break
		}
	}
	return found, found >= 0
}

// started adds a consumer and brings it to the front.
func (p ConsumerPage) started(id int, s ConsumerSettings, at time.Time) ConsumerPage {
	c := OwnConsumer{ID: id, Settings: s, Started: at}
	c.Log = c.Log.filtered(p.filter, 0)
	p.Consumers = append(slices.Clone(p.Consumers), c)
	p.Cursor = len(p.Consumers) - 1
	return p
}

// watched takes what is new of all consumers.
func (p ConsumerPage) watched(all []consumerNews, at time.Time) ConsumerPage {
	p.Consumers = slices.Clone(p.Consumers)
	for _, n := range all {
		for i, c := range p.Consumers {
			if c.ID == n.ID {
				p.Consumers[i] = c.watched(n, at)
			}
		}
	}
	return p
}

// changed applies a change to one consumer.
func (p ConsumerPage) changed(id int, change func(OwnConsumer) OwnConsumer) ConsumerPage {
	p.Consumers = slices.Clone(p.Consumers)
	for i, c := range p.Consumers {
		if c.ID == id {
			p.Consumers[i] = change(c)
		}
	}
	return p
}

// without takes a consumer off the page.
func (p ConsumerPage) without(id int) ConsumerPage {
	p.Consumers = slices.DeleteFunc(slices.Clone(p.Consumers), func(c OwnConsumer) bool { return c.ID == id })
	p.Cursor = min(p.Cursor, len(p.Consumers)-1)
	return p
}

// filtered filters the events of all consumers.
func (p ConsumerPage) filtered(text string, m filter.Matcher, height int) ConsumerPage {
	p.FilterText, p.filter = text, m
	p.Consumers = slices.Clone(p.Consumers)
	for i := range p.Consumers {
		p.Consumers[i].Log = p.Consumers[i].Log.filtered(m, height)
	}
	return p
}

// act takes a key's action. height is the number of events on screen.
func (p ConsumerPage) act(a Action, height int) (ConsumerPage, Intent) {
	c, ok := p.Selected()
	if !ok {
		return p, nil
	}
	n := len(p.Consumers)
	switch a {
	case ActNextTab:
		p.Cursor = (p.Cursor + 1) % n
	case ActPrevTab:
		p.Cursor = (p.Cursor + n - 1) % n
	case ActEnter:
		return p, openQueue{c.Settings.Queue.Name}
	default:
		return p.changed(c.ID, func(c OwnConsumer) OwnConsumer {
			c.Log = c.Log.act(a, height)
			return c
		}), nil
	}
	return p, nil
}

// plural writes a count and its noun.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%s %s", Thousands(int64(n)), many)
}
