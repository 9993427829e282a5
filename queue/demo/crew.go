package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"redq/queue"
	"redq/queue/handler"
)

// member is a program that consumes with a queue.Consumer.
type member struct {
	queue string                                  // its name
	hire  func(q queue.Queue) (c *queue.Consumer) // with a handler; a new one each time, since a consumer runs once
	// It is away, works and is gone again in turn, each for a random time up to half as long again; zero: it works for ever.
	away, shift time.Duration
	killed      bool // it is gone as a killed process is, not as a stopped one
}

// paymentAttempts is how often a payment is tried.
const paymentAttempts = 4

// crew are all programs that consume with a queue.Consumer.
func (d *Demo) crew() []member {
	return []member{
		{queue: notify, hire: d.notifier},
		{queue: mail, hire: d.mailer},
		{queue: remind, hire: d.reminder},
		{queue: watch, hire: d.watcher, away: 25 * time.Second, shift: 30 * time.Second},
		{queue: invoices, hire: d.invoicer},
		{queue: stock, hire: d.booker},
		{queue: jobs, hire: d.dispatcher},
		{queue: orders, hire: d.packer},
		{queue: payments, hire: d.cashier},
		{queue: payments, hire: d.cashier, away: 15 * time.Second, shift: 40 * time.Second, killed: true},
	}
}

// P1: looks once a second, and has lost what was in hand when it crashes.
func (d *Demo) notifier(q queue.Queue) *queue.Consumer {
	return &queue.Consumer{
		Concurrency: 1, Idle: queue.Idle{Sleep: d.scaled(time.Second)},
		Handler: d.behave(q, behaviour{least: 100 * time.Millisecond, most: 900 * time.Millisecond, crash: 0.02}),
	}
}

// P2: what bounces is dead after one attempt. Another program pops from the same list, see popMail.
func (d *Demo) mailer(q queue.Queue) *queue.Consumer {
	return &queue.Consumer{
		Concurrency: 1,
		Handler: d.behave(q, behaviour{
			least: 200 * time.Millisecond, most: 600 * time.Millisecond, crash: 0.01, fail: 0.02, errors: []string{mailBounced},
		}),
	}
}

// P3 in milliseconds, with workers that race.
func (d *Demo) reminder(q queue.Queue) *queue.Consumer {
	return &queue.Consumer{
		Concurrency: 3, Idle: queue.Idle{Sleep: d.scaled(500 * time.Millisecond)},
		Handler: d.behave(q, behaviour{least: 100 * time.Millisecond, most: 900 * time.Millisecond, crash: 0.02}),
	}
}

// P3 in seconds with a fraction.
func (d *Demo) watcher(q queue.Queue) *queue.Consumer {
	return &queue.Consumer{
		Concurrency: 1, Idle: queue.Idle{Sleep: d.scaled(500 * time.Millisecond)},
		Handler: d.behave(q, behaviour{least: 100 * time.Millisecond, most: 500 * time.Millisecond}),
	}
}

// P4: one script takes all that is due, every few seconds, so that batches are seen.
func (d *Demo) invoicer(q queue.Queue) *queue.Consumer {
	return &queue.Consumer{
		Concurrency: 4, Idle: queue.Idle{Sleep: d.scaled(4 * time.Second)},
		Handler: d.behave(q, behaviour{least: 10 * time.Millisecond, most: 30 * time.Millisecond}),
	}
}

// P5: the handler needs the lock of an article, and without it the message is put off.
func (d *Demo) booker(q queue.Queue) *queue.Consumer {
	return &queue.Consumer{
		Concurrency: 2, Lock: &queue.Lock{Key: articleLock, Conflict: queue.LockDefer, Wait: d.scaled(5 * time.Second)},
		Handler: d.behave(q, behaviour{least: 500 * time.Millisecond, most: 1700 * time.Millisecond, crash: 0.03}),
	}
}

// P6: the handler is chosen by a field; what fails is put back, and in the end dead.
func (d *Demo) dispatcher(q queue.Queue) *queue.Consumer {
	mux := handler.NewMux("beanName")
	for _, bean := range beans {
		mux.Handle(bean, d.behave(q, behaviour{
			least: 100 * time.Millisecond, most: 800 * time.Millisecond, fail: 0.15, errors: []string{bean + " returned NOT_OK"},
		}))
	}
	return &queue.Consumer{
		Concurrency: 1,
		Idle:        queue.Idle{Sleep: d.scaled(time.Second), Spin: 1}, // the pattern's hundreds of empty looks would cost the embedded server too much
		Retry:       queue.Retry{Limit: 3, Base: d.scaled(10 * time.Second)},
		Handler:     mux.Serve,
	}
}

// P7: what crashes or fails is left in the backup list that all share.
func (d *Demo) packer(q queue.Queue) *queue.Consumer {
	return &queue.Consumer{
		Concurrency: 2,
		Handler: d.behave(q, behaviour{
			least: 200 * time.Millisecond, most: time.Second,
			crash: 0.015, fail: 0.005, bury: 0.03, errors: errs,
		}),
	}
}

// P8: failed messages are retried with a growing back-off, and dead in the end; what a
// killed consumer held is recovered by the other one.
func (d *Demo) cashier(q queue.Queue) *queue.Consumer {
	return &queue.Consumer{
		Concurrency: 2, Retry: queue.Retry{Limit: paymentAttempts, Base: d.scaled(3 * time.Second)},
		Handler: d.behave(q, behaviour{
			least: 200 * time.Millisecond, most: 900 * time.Millisecond,
			crash: 0.01, panics: 0.01, fail: 0.2, bury: 0.01, errors: errs,
		}),
	}
}

// employ lets a member work until ctx ends.
func (d *Demo) employ(ctx context.Context, m member) {
	q := d.queue(m.queue)
	for ctx.Err() == nil {
		if m.shift > 0 {
			d.pause(ctx, upToHalfAgain(m.away))
		}
		c := m.hire(q)
		c.Client, c.Queue, c.ID = d.client, q, fmt.Sprintf("%s-%d", m.queue, d.nextHired())
		c.Heartbeat = max(d.scaled(5*time.Second), 50*time.Millisecond)
		if err := d.workShift(ctx, c, m); err != nil && !errors.Is(err, queue.ErrAbandoned) {
			d.logf("demo: %s: %v", c.ID, err)
			d.pause(ctx, time.Second)
		}
	}
}

// workShift runs a consumer until its shift is over, or ctx ends: then nobody waits for it.
func (d *Demo) workShift(ctx context.Context, c *queue.Consumer, m member) error {
	shift, over := context.WithCancel(ctx)
	defer over()
	if m.shift > 0 {
		end := time.AfterFunc(d.scaled(upToHalfAgain(m.shift)), over)
		defer end.Stop()
	}
	defer context.AfterFunc(ctx, c.Abandon)()
	if m.killed {
		defer context.AfterFunc(shift, func() {
			if !d.full(ctx, c.Queue, queue.Dead, mostDead) { // for what becomes of the messages in hand
				c.Abandon()
			}
		})()
	}
	c.Events = d.account(c.Queue, func() bool { return shift.Err() != nil || ctx.Err() != nil })
	return c.Run(shift)
}

// account counts what a consumer does. Errors are told of until it is to end.
func (d *Demo) account(q queue.Queue, ending func() bool) func(queue.Event) {
	return func(ev queue.Event) {
		switch ev.Kind {
		case queue.EventDone:
			d.done(q.Name, string(ev.Message.Payload))
		case queue.EventRetried, queue.EventDeferred, queue.EventDead, queue.EventKept:
			d.count(q.Name, func(s *Stats) { s.Failed++ })
		case queue.EventCrashed:
			d.count(q.Name, func(s *Stats) {
				s.Crashed++
				if !q.Pattern.AtLeastOnce() {
					s.Lost++
				}
			})
		case queue.EventError:
			if !ending() {
				d.logf("demo: a consumer of %s: %v", q.Name, ev.Err)
			}
		}
	}
}

// behaviour is what a handler does instead of work.
type behaviour struct {
	least, most time.Duration // how long it takes
	// The shares of messages with which something goes wrong.
	crash  float64 // the worker dies
	panics float64
	fail   float64 // one of errors
	bury   float64 // one of errors, and not to be tried again
	errors []string
}

// behave returns a handler of q's messages. Nothing goes wrong as long as there is no
// room for what becomes of such messages.
func (d *Demo) behave(q queue.Queue, b behaviour) queue.Handler {
	return func(ctx context.Context, _ queue.Message) error {
		r := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
		d.pause(ctx, between(r, b.least, b.most))
		luck := r.Float64()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case luck >= b.crash+b.panics+b.fail+b.bury, d.full(ctx, q, queue.Backup, mostStuck), d.full(ctx, q, queue.Dead, mostDead):
			return nil
		case luck < b.crash:
			return queue.ErrCrash
		case luck < b.crash+b.panics:
			panic("index out of range [3] with length 3")
		}
		reason := errors.New(one(r, b.errors))
		if luck < b.crash+b.panics+b.fail {
			return reason
		}
		return queue.DeadLetter(reason)
	}
}

// full reports whether the first key of a place holds as much as it may.
func (d *Demo) full(ctx context.Context, q queue.Queue, p queue.Place, most int64) bool {
	keys := q.Keys(p)
	return len(keys) > 0 && !d.room(ctx, keys[0], most)
}

// articleLock is the lock that a booking needs; what is put in by hand has the article "".
func articleLock(m queue.Message) string {
	var b struct{ Sku string }
	_ = json.Unmarshal(m.Payload, &b)
	return stockLock + b.Sku
}

// upToHalfAgain returns a duration from t up to one and a half times t.
func upToHalfAgain(t time.Duration) time.Duration { return t + rand.N(t/2) }

// nextHired numbers the consumers.
func (d *Demo) nextHired() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hired++
	return d.hired
}
