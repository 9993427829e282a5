package model

import (
	"context"
	"time"

	"redq/queue"
	"redq/queue/journal"
)

// Backend is what the dashboard needs of a server. Every call may block until
// ctx ends; none is made from Update, only from commands. [Live] is the real one.
type Backend interface {
	Server(ctx context.Context) (queue.Server, error)

	// Discover makes one bounded step of the scan for queues; after a step with
	// Done it does nothing until Rediscover starts a new scan, which keeps the
	// queues that are known. The Discovery is good beside an error too.
	Discover(ctx context.Context) (Discovery, error)
	Rediscover()

	Sample(ctx context.Context, qs []queue.Queue) (queue.Poll, error)
	Distribution(ctx context.Context, q queue.Queue) (queue.Distribution, error)

	// Peek reads a page and remembers its messages, so that Age knows them.
	Peek(ctx context.Context, q queue.Queue, p queue.Place, from int64, n int) (queue.Page, error)
	// Age is how long a message has been seen in its list at least. It does not block.
	Age(m queue.Message) time.Duration
	Load(ctx context.Context, m queue.Message) (queue.Message, error)
	// Failures fills in what is known of failed attempts at messages.
	Failures(ctx context.Context, q queue.Queue, ms []queue.Message) ([]queue.Failed, error)
	Copies(ctx context.Context, m queue.Message, limit int64) (n int64, more bool, err error)
	Search(ctx context.Context, q queue.Queue, p queue.Place, from queue.Spot, o queue.SearchOptions) (queue.Found, error)

	Enqueue(ctx context.Context, q queue.Queue, payload []byte, o queue.EnqueueOptions) (queue.Enqueued, error)
	Redrive(ctx context.Context, q queue.Queue, ms []queue.Message, o queue.RedriveOptions) queue.Report
	Delete(ctx context.Context, q queue.Queue, ms []queue.Message) queue.Report
	Edit(ctx context.Context, q queue.Queue, m queue.Message, payload []byte) queue.Report
	Reschedule(ctx context.Context, q queue.Queue, ms []queue.Message, due time.Time) queue.Report

	// Consumers asks who consumes a queue, as far as the server knows.
	Consumers(ctx context.Context, q queue.Queue) (queue.Consumers, error)
	Engine
	Jobs

	// UndoList returns the last operations in the journal, newest first.
	UndoList(ctx context.Context, limit int) ([]journal.Summary, error)
	// UndoDropped returns what the journal has dropped to make room since it was asked last.
	UndoDropped() journal.Dropped
	// Undo takes back the operation with an id. What it did before an error counts.
	Undo(ctx context.Context, id string) (queue.BulkReport, error)
}

// Discovery is how far the scan for queues has come.
type Discovery struct {
	Queues    []queue.Queue // found so far, known before or named by hand
	Scanned   int64         // keys looked at
	Total     int64         // keys in the database; -1 unknown
	Done      bool          // there is nothing left to do
	Truncated bool          // it gave up before the end: the keyspace is too large
	Err       string        // why keys cannot be scanned; "" mostly. Set by Update
}
