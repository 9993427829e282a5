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
	stockSet  = "stock:delayed"
	stockLock = "stock:lock:" // and the article
	jobs      = "jobs"
	jobsDead  = "jobs:dead"
	orders    = "orders"
	ordersBak = "orders:backup"
	ordersSet = "orders:delayed"
	ordersBad = "orders:dead"
	audit     = "audit"
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
		{Name: stock, Ready: stock, Delayed: stockSet, Push: queue.Left, Unit: queue.Milliseconds, Pattern: queue.LockRetry},
		{Name: jobs, Delayed: jobs, Dead: jobsDead, Unit: queue.Milliseconds, Pattern: queue.Dispatch},
		{
			Name: orders, Ready: orders, Backups: []string{ordersBak}, Delayed: ordersSet, Dead: ordersBad,
			Push: queue.Left, Unit: queue.Milliseconds, Pattern: queue.BackupList, StuckAfter: 15 * time.Second,
		},
		{Name: audit, Ready: audit, Push: queue.Left, Pattern: queue.ListPoll},
	}
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
		{queue.ListBlock, mail, "/mail enter enter", "A blocking pop: a newsletter comes as a burst and drains; addresses that bounce end in dead (press 4, then r and y to try one again)."},
		{queue.ZsetRace, remind, "/reminders enter enter 3", "A sorted set in milliseconds that three workers race for; see how the due times are spread."},
		{queue.ZsetRace, watch, "/price enter enter 3", "The same in seconds with a fraction; its only worker goes away now and then, so that messages become overdue."},
		{queue.ZsetScript, invoices, "/invoices enter enter 3", "One script takes all that is due, every few seconds: no wasted takes."},
		{queue.LockRetry, stock, "/stock enter enter 3", "A handler that cannot get the lock of its article defers the message into delayed."},
		{queue.Dispatch, jobs, "/jobs enter enter 3", "The handler is chosen by beanName; what fails is put back, and after three attempts it is dead (press 4)."},
		{queue.BackupList, orders, "/orders enter enter 2", "Taken messages lie in a backup list until acknowledged; a worker that crashed has left some stuck: r, then y, re-drives one."},
		{queue.ListPoll, audit, "/audit enter enter", "Nobody consumes it: watch it grow. It holds a long, a binary and a hostile message too."},
	}
}
