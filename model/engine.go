package model

import (
	"context"
	"time"

	"redq/queue"
	"redq/queue/handler"
)

// Engine runs consumers inside redq. Its calls return at once unless they say
// otherwise; what becomes of a consumer is told by WatchConsumers.
type Engine interface {
	// CheckConsumer tells what is wrong with settings: a key that the pattern needs
	// and the queue lacks, a number out of range. It asks no server and does not
	// block, so that a form may call it.
	CheckConsumer(s ConsumerSettings) error
	// StartConsumer starts one and returns its number, from 1, by which it is known
	// from then on. An error means that nothing runs.
	StartConsumer(s ConsumerSettings) (id int, err error)
	// StopConsumer asks one to finish what is in hand and end.
	StopConsumer(id int)
	// AbandonConsumer ends one without waiting for its handlers.
	AbandonConsumer(id int)
	// ForgetConsumer drops what is kept of one that has ended.
	ForgetConsumer(id int)
	// WatchConsumers returns what is new of each consumer since the last call, in the
	// order of their numbers.
	WatchConsumers() []ConsumerNews
	// EndConsumers stops all consumers and waits for them until ctx ends; what runs
	// then is abandoned. It is for the end of the program, however that came.
	EndConsumers(ctx context.Context)
}

// ConsumerSettings are what a consumer is started with.
type ConsumerSettings struct {
	Queue       queue.Queue
	Pattern     queue.Pattern
	Handler     handler.Spec
	Concurrency int                // messages handled at once; 0 means the library's default
	Attempts    int                // in all, the first included; 0 means the pattern's default
	Conflict    queue.LockConflict // of LockRetry
}

// ConsumerNews is what is new of one consumer.
type ConsumerNews struct {
	ID     int
	Stats  queue.ConsumerStats
	InHand []queue.Hand  // longest first, as many as a screen shows
	Events []queue.Event // since the last call, oldest first
	// LeftOut counts the events since the last call that there was no room for.
	LeftOut int64
	Ended   bool
	// Err is why it ended: nil after a stop, queue.ErrAbandoned after an abandon.
	Err error
}

// mostInHand is how many messages in hand are listed; Stats.InHand counts them all.
const mostInHand = 100

// keptEvents is how many events of a kind are kept of a consumer: see recent.
const keptEvents = 1000

// endsWithin is how long an abandoned consumer may take to put back what it holds.
const endsWithin = 2 * time.Second

// routine reports whether events of a kind come with every message that goes well:
// they must not push the others out of a log.
func routine(k queue.EventKind) bool {
	switch k {
	case queue.EventTaken, queue.EventDone, queue.EventIdle, queue.EventPromoted:
		return true
	}
	return false
}
