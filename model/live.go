package model

import (
	"context"
	"errors"
	"sync"
	"time"

	"redq/queue"
	"redq/queue/journal"
	"redq/queue/layout"
)

// errNoJournal is returned where an undo is asked for and nothing was kept.
var errNoJournal = errors.New("no undo journal is kept")

// Live is the Backend on a server.
type Live struct {
	// Home is the user's own directory, which ~/ stands for in the name of a file; "" leaves
	// that as it is.
	Home string

	*queue.Client                  // reads and writes
	sampler       *queue.Sampler   // remembers what it saw, for ages
	journal       *journal.Journal // nil: nothing can be undone
	options       layout.Options

	mu   sync.Mutex // guards scan
	scan *layout.Scan

	consumers register[*liveConsumer]

	jobs     register[*liveJob]
	starting sync.Mutex // of a job, which looks at the others first
}

var _ Backend = (*Live)(nil)

// NewLive returns the Backend of a client. find says which queues to look for; j
// is the journal the client writes, nil when it keeps none.
func NewLive(c *queue.Client, j *journal.Journal, find layout.Options) *Live {
	return &Live{
		Client: c, sampler: c.NewSampler(), journal: j,
		options: find, scan: layout.NewScan(c, find),
	}
}

// Discover makes one step of the scan.
func (l *Live) Discover(ctx context.Context) (Discovery, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, err := l.scan.Step(ctx)
	l.options.Known = p.Queues
	return Discovery{Queues: p.Queues, Scanned: p.Scanned, Total: p.DBSize, Done: p.Done, Truncated: p.Truncated}, err
}

// Rediscover starts a new scan that keeps the queues that are known.
func (l *Live) Rediscover() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.scan = layout.NewScan(l.Client, l.options)
}

// Sample polls the queues.
func (l *Live) Sample(ctx context.Context, qs []queue.Queue) (queue.Poll, error) {
	return l.sampler.Sample(ctx, qs)
}

// Peek reads a page and remembers its messages, for Age.
func (l *Live) Peek(ctx context.Context, q queue.Queue, p queue.Place, from int64, n int) (queue.Page, error) {
	page, err := l.Client.Peek(ctx, q, p, from, n)
	if err == nil {
		l.sampler.Observe(page)
	}
	return page, err
}

// Age returns how long a message was seen in its list at least.
func (l *Live) Age(m queue.Message) time.Duration { return l.sampler.Age(m) }

// UndoList reads the journal.
func (l *Live) UndoList(_ context.Context, limit int) ([]journal.Summary, error) {
	if l.journal == nil {
		return nil, errNoJournal
	}
	return l.journal.Entries(limit)
}

// UndoDropped asks the journal that this process writes.
func (l *Live) UndoDropped() journal.Dropped {
	if l.journal == nil {
		return journal.Dropped{}
	}
	return l.journal.TakeDropped()
}

// Undo takes back an operation, unless another redq is undoing at the moment.
func (l *Live) Undo(ctx context.Context, id string) (queue.BulkReport, error) {
	return l.undo(ctx, id, nil)
}

func (l *Live) undo(ctx context.Context, id string, progress func(queue.BulkReport)) (queue.BulkReport, error) {
	if l.journal == nil {
		return queue.BulkReport{}, errNoJournal
	}
	unlock, err := l.journal.Lock()
	if err != nil {
		return queue.BulkReport{}, err
	}
	defer unlock()
	e, err := l.journal.Load(id)
	if err != nil {
		return queue.BulkReport{}, err
	}
	if e.Batches != nil {
		return l.Client.UndoBulk(ctx, e, progress)
	}
	return l.Client.Undo(ctx, e).Totals(), nil
}
