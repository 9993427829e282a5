package demo

import (
	"time"

	"redq/queue"
)

// The demo's queues and what they are made of.
const (
	notify    = "notify"
	mail      = "mail"
	mailDead  = "mail:dead"
	remind    = "reminders"
	remindSet = "reminders:delayed"
	watch     = "price-watch"
	invoices  = "invoices"
	stock     = "stock"
	stockBak  = "stock:backup" // and a colon and a consumer
	stockSet  = "stock:delayed"
	stockLock = "stock:lock:" // and the article
	jobs      = "jobs"
	jobsDead  = "jobs:dead"
	orders    = "orders"
	ordersBak = "orders:backup"
	ordersSet = "orders:delayed"
	ordersBad = "orders:dead"
	audit     = "audit"

	payments    = "payments"
	paymentBak  = "payments:backup" // and a colon and a consumer
	paymentSet  = "payments:delayed"
	paymentDead = "payments:dead"
)

// Queues returns the queues as their programs know them: keys, unit, end and
// pattern, none of it guessed. A scan finds the same keys by itself; named by
// these, it has to guess nothing and still finds what is added to the server.
func (d *Demo) Queues() []queue.Queue {
	return []queue.Queue{
		{Name: notify, Ready: notify, Push: queue.Right, Pattern: queue.ListPoll},
		{Name: mail, Ready: mail, Dead: mailDead, Push: queue.Left, Pattern: queue.ListBlock},
		{Name: remind, Delayed: remindSet, Unit: queue.Milliseconds, Pattern: queue.ZsetRace},
		{Name: watch, Delayed: watch, Unit: queue.FloatSeconds, Pattern: queue.ZsetRace},
		{Name: invoices, Delayed: invoices, Unit: queue.Seconds, Pattern: queue.ZsetScript},
		{Name: stock, Ready: stock, Backups: []string{stockBak}, Delayed: stockSet, Push: queue.Left, Unit: queue.Milliseconds, Pattern: queue.LockRetry},
		{Name: jobs, Delayed: jobs, Dead: jobsDead, Unit: queue.Milliseconds, Pattern: queue.Dispatch},
		{
			Name: orders, Ready: orders, Backups: []string{ordersBak}, Delayed: ordersSet, Dead: ordersBad,
			Push: queue.Left, Unit: queue.Milliseconds, Pattern: queue.BackupList, StuckAfter: 15 * time.Second,
		},
		{
			Name: payments, Ready: payments, Backups: []string{paymentBak}, Delayed: paymentSet, Dead: paymentDead,
			Push: queue.Left, Unit: queue.Milliseconds, Pattern: queue.Pipeline,
		},
		{Name: audit, Ready: audit, Push: queue.Left, Pattern: queue.ListPoll},
	}
}

// queue returns one of the queues.
func (d *Demo) queue(name string) queue.Queue {
	for _, q := range d.Queues() {
		if q.Name == name {
			return q
		}
	}
	return queue.Queue{}
}

// Step is one stop of the tour: a queue worth a look, and why.
type Step struct {
	Pattern queue.Pattern
	Queue   string // its name
	Keys    string // what to press on the overview
	Says    string // one sentence
}

// Tour leads through the patterns, in their usual order.
func (d *Demo) Tour() []Step {
	return []Step{
		{queue.ListPoll, notify, "/notify enter enter", "A plain list whose consumer looks once a second; when it crashes with a message in hand, that message is gone for good."},
		{queue.ListBlock, mail, "/mail enter enter", "Blocking pops of a consumer with a heartbeat (press 5) and of a program without one: a newsletter comes as a burst and drains; addresses that bounce end in dead (press 4, then r and y to try one again)."},
		{queue.ZsetRace, remind, "/reminders enter enter 3", "A sorted set in milliseconds that three workers race for; see how the due times are spread."},
		{queue.ZsetRace, watch, "/price enter enter 3", "The same in seconds with a fraction; its only worker goes away now and then, so that messages become overdue."},
		{queue.ZsetScript, invoices, "/invoices enter enter 3", "One script takes all that is due, every few seconds: no wasted takes."},
		{queue.LockRetry, stock, "/stock enter enter 3", "A handler that cannot get the lock of its article defers the message into delayed."},
		{queue.Dispatch, jobs, "/jobs enter enter 3", "The handler is chosen by beanName; what fails is put back, and after three attempts it is dead (press 4)."},
		{queue.BackupList, orders, "/orders enter enter 2", "Taken messages lie in a backup list until acknowledged; a worker that crashed has left some stuck: r, then y, re-drives one."},
		{queue.Pipeline, payments, "/payments enter enter 4", "All together: failures are retried with a growing back-off and dead after four attempts; one of its two consumers is killed now and then, and the other recovers what it held (press 5)."},
		{queue.ListPoll, audit, "/audit enter enter", "Nobody consumes it: watch it grow. It holds a long, a binary and a hostile message too."},
	}
}
