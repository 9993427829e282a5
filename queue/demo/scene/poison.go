package scene

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"redq/queue"
)

func poisonQueue() queue.Queue {
	q := queue.Named(Prefix + "poison")
	q.Pattern = queue.Pipeline
	return q
}

// The messages that cannot be handled.
const (
	poisonFails = `{"letter":"poison","to":"nobody@example.invalid"}`
	poisonKills = `{"letter":"poison","attachment":"a bomb of 900 GB"}`
)

const poisonAttempts = 4

// playPoison lets two messages use up their attempts while others pass.
func playPoison(ctx context.Context, a *act) error {
	q := poisonQueue()
	watch := &courses{round: a.scaled(100 * time.Millisecond)}
	p, err := a.hire(&queue.Consumer{
		Queue: q, ID: "postman", Concurrency: 2, Batch: 1, Heartbeat: a.heartbeat(500 * time.Millisecond),
		Retry:   queue.Retry{Limit: poisonAttempts, Base: a.scaled(time.Second), Jitter: -1},
		Handler: a.deliver, Events: watch.event,
	})
	if err != nil {
		return err
	}
	if err := a.enqueue(ctx, q, poisonFails, poisonKills); err != nil {
		return err
	}
	sent := 0
	err = a.until(ctx, func() (bool, error) {
		a.tell("%s", watch.sentence())
		if watch.over() {
			return watch.delivered() == sent, nil
		}
		sent++
		return false, a.enqueue(ctx, q, fmt.Sprintf(`{"letter":%d}`, sent))
	})
	if err != nil {
		return err
	}
	p.stop()
	dead, err := a.length(ctx, q.Dead)
	if err != nil {
		return err
	}
	a.tell("%s Now %d are in dead (press 4), and held up none of %d others.", watch.moral(), dead, p.Stats().Done)
	return nil
}

// deliver handles a message as a program does that some messages are too much for.
func (a *act) deliver(ctx context.Context, m queue.Message) error {
	if err := a.pause(ctx, 150*time.Millisecond); err != nil {
		return err
	}
	switch string(m.Payload) {
	case poisonFails:
		return errors.New("no such domain")
	case poisonKills:
		return queue.ErrCrash
	}
	return nil
}

// courses are what became of the two messages so far.
type courses struct {
	round time.Duration // to which waits are told

	mu           sync.Mutex
	fails, kills course
	others       int
}

// course is the way of one message.
type course struct {
	attempts int
	last     queue.EventKind // taken, crashed, retried or dead
	waits    []time.Duration // after each attempt but the last
}

func (c *courses) event(ev queue.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var one *course
	switch string(ev.Message.Payload) {
	case poisonFails:
		one = &c.fails
	case poisonKills:
		one = &c.kills
	default:
		if ev.Kind == queue.EventDone {
			c.others++
		}
		return
	}
	switch ev.Kind {
	case queue.EventRetried:
		one.waits = append(one.waits, ev.Due.Sub(ev.Time).Round(c.round))
	case queue.EventTaken, queue.EventCrashed, queue.EventDead:
	default:
		return
	}
	one.attempts, one.last = ev.Attempt, ev.Kind
}

func (c *courses) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fails.last == queue.EventDead && c.kills.last == queue.EventDead
}

func (c *courses) delivered() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.others
}

// sentence says where both are.
func (c *courses) sentence() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprintf("One always fails: %s. One kills its worker: %s. %d others delivered.", c.fails, c.kills, c.others)
}

// moral says what became of both.
func (c *courses) moral() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprintf("One failed %d times, after waits of %s; one killed its worker %d times.",
		c.fails.attempts, c.fails.pauses(), c.kills.attempts)
}

func (c course) String() string {
	switch c.last {
	case queue.EventDead:
		return fmt.Sprintf("dead after %d attempts", c.attempts)
	case queue.EventRetried:
		return fmt.Sprintf("attempt %d of %d failed, again in %s", c.attempts, poisonAttempts, c.waits[len(c.waits)-1])
	case queue.EventCrashed:
		return fmt.Sprintf("attempt %d of %d, its worker is dead", c.attempts, poisonAttempts)
	}
	return fmt.Sprintf("attempt %d of %d", c.attempts, poisonAttempts)
}

func (c course) pauses() string {
	var all []string
	for _, w := range c.waits {
		all = append(all, w.String())
	}
	return strings.Join(all, ", ")
}
