package model

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"redq/queue"
)

// liveConsumer is a consumer that Live runs, from its start until it is forgotten.
type liveConsumer struct {
	*queue.Consumer
	stop  context.CancelFunc
	ended chan struct{} // closed when err is there
	err   error

	mu     sync.Mutex // guards events
	events recent[queue.Event]
}

// CheckConsumer tells what is wrong with settings.
func (l *Live) CheckConsumer(s ConsumerSettings) error {
	c, err := l.consumer(s)
	if err != nil {
		return err
	}
	return c.Validate()
}

// consumer puts a consumer together.
func (l *Live) consumer(s ConsumerSettings) (*queue.Consumer, error) {
	h, err := s.Handler.Build()
	if err != nil {
		return nil, err
	}
	c := &queue.Consumer{
		Client: l.Client, Queue: s.Queue, Pattern: s.Pattern, Handler: h,
		Concurrency: s.Concurrency, Retry: queue.Retry{Limit: s.Attempts},
	}
	if s.Pattern == queue.LockRetry {
		c.Lock = &queue.Lock{Conflict: s.Conflict}
	}
	return c, nil
}

// StartConsumer starts a consumer.
func (l *Live) StartConsumer(s ConsumerSettings) (int, error) {
	if l.Client.ReadOnly() {
		return 0, queue.ErrReadOnly
	}
	c, err := l.consumer(s)
	if err != nil {
		return 0, err
	}
	if err := c.Validate(); err != nil {
		return 0, err
	}
	ctx, stop := context.WithCancel(context.Background())
	one := &liveConsumer{Consumer: c, stop: stop, ended: make(chan struct{})}
	c.Events = one.note
	go one.run(ctx)
	return l.consumers.add(one), nil
}

// run runs the consumer to its end. A panic in it would leave the terminal raw.
func (c *liveConsumer) run(ctx context.Context) {
	defer close(c.ended)
	defer c.stop()
	defer func() {
		if v := recover(); v != nil {
			c.err = fmt.Errorf("the consumer broke, which is a fault of redq: %v\n%s", v, debug.Stack())
		}
	}()
	c.err = c.Run(ctx)
}

// keptBytes bounds what is kept of a payload for the log of events: a large one
// would stay in memory long after its message was done.
const keptBytes = 4 << 10

// note keeps an event until it is fetched.
func (c *liveConsumer) note(e queue.Event) {
	if len(e.Message.Payload) > keptBytes {
		e.Message.Payload = slices.Clone(e.Message.Payload[:keptBytes])
	}
	e.Message.Tail = nil
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = c.events.with(e, routine(e.Kind), keptEvents)
}

// news returns what is new since the last call.
func (c *liveConsumer) news(id int) ConsumerNews {
	n := ConsumerNews{ID: id}
	select {
	case <-c.ended: // before the rest is read, which is then the last there is
		n.Ended, n.Err = true, c.err
	default:
	}
	n.Stats = c.Stats()
	n.InHand = c.InHand()
	n.InHand = n.InHand[:min(len(n.InHand), mostInHand)]
	c.mu.Lock()
	defer c.mu.Unlock()
	n.Events, n.LeftOut = c.events.all(), c.events.dropped()
	c.events = recent[queue.Event]{}
	return n
}

// StopConsumer asks a consumer to end in good order.
func (l *Live) StopConsumer(id int) {
	if c, ok := l.consumers.get(id); ok {
		c.stop()
	}
}

// AbandonConsumer ends a consumer without waiting for its handlers.
func (l *Live) AbandonConsumer(id int) {
	if c, ok := l.consumers.get(id); ok {
		c.Abandon()
	}
}

// ForgetConsumer drops what is kept of a consumer that has ended.
func (l *Live) ForgetConsumer(id int) {
	c, ok := l.consumers.get(id)
	if !ok {
		return
	}
	select {
	case <-c.ended:
		l.consumers.drop(id)
	default: // it runs: what it holds must not get out of sight
	}
}

// WatchConsumers returns what is new of each consumer.
func (l *Live) WatchConsumers() []ConsumerNews {
	ids, all := l.consumers.list()
	news := make([]ConsumerNews, len(all))
	for i, c := range all {
		news[i] = c.news(ids[i])
	}
	return news
}

// EndConsumers stops all consumers and waits for them; what still runs when ctx
// ends is abandoned, and has endsWithin to put back what it can.
func (l *Live) EndConsumers(ctx context.Context) {
	_, all := l.consumers.list()
	for _, c := range all {
		c.stop()
	}
	for _, c := range all {
		select {
		case <-c.ended:
		case <-ctx.Done():
			c.Abandon()
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), endsWithin)
	defer cancel()
	for _, c := range all {
		select {
		case <-c.ended:
		case <-last.Done():
			return
		}
	}
}
