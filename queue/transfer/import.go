package transfer

import (
	"context"
	"errors"
	"io"
	"time"

	"redq/queue"
)

const (
	// batchLines and batchBytes are how much one round trip adds at most.
	batchLines = queue.InsertMessages
	batchBytes = 2 << 20
)

// ImportOptions say how messages come into a queue. The zero value puts all of them where they were, at full speed.
type ImportOptions struct {
	Target
	// FromLine is the number of the first line that is taken; 0 and 1: the first.
	FromLine int64
	// Rate is how many messages a second are added at most; 0 is full speed.
	Rate float64
	// ResetAttempts forgets how often messages have failed.
	ResetAttempts bool
	// Progress, when not nil, is called after each batch, and when the server is not to be reached, which
	// an import waits for.
	Progress func(Imported)
}

// Imported is what an import has done so far, or in the end.
type Imported struct {
	Added Counts
	// Duplicates are messages that were left out: their sorted set had equal bytes, which keep
	// their score. DuplicateLines are the lines of the first three.
	Duplicates     int64
	DuplicateLines []int64
	// Through is the last line that is known to be done, as are all before it from FromLine on.
	Through int64
	// UnknownThrough, when it is not 0, is the last of the lines behind Through of which nobody
	// knows: they were sent, and no answer came. Either all of them were added or none. Nothing
	// behind them was sent.
	UnknownThrough int64
	// Trouble is why the server is not asked at the moment; nil when all goes well.
	Trouble error
}

// Import adds the messages of a file to a queue: batch by batch, in its order, each batch as a whole or not at
// all, and never twice. A lost connection does not end it: when the server is back it tells what became of the
// batch under way. It stops between two batches when ctx ends, and where something is refused; the
// report says how far it came, and FromLine goes on from there.
//
// The error is nil when all is done. It is a *LineError for a line that is no message (those before it are
// added), queue.ErrUnknownOutcome as UnknownThrough says, or that of queue.Inserter.Insert, of ctx or of r. When ctx
// ends a read of r that is under way is left behind.
func Import(ctx context.Context, c *queue.Client, q queue.Queue, r io.Reader, o ImportOptions) (Imported, error) {
	im := importing{ImportOptions: o, report: Imported{Added: Counts{}}}
	if c.ReadOnly() {
		return im.report, queue.ErrReadOnly
	}
	im.report.Through = max(0, o.FromLine-1)
	im.insert = c.NewInserter(q, im.trouble)
	defer im.insert.Close(ctx)

	reading, stop := context.WithCancel(ctx)
	defer stop()
	batches := make(chan batch)
	b := batcher{from: newReader(r), router: router{q, o.Target}, fromLine: o.FromLine, most: im.most()}
	go b.run(reading, batches)
	return im.run(ctx, batches)
}

// importing is one import under way.
type importing struct {
	ImportOptions
	insert *queue.Inserter
	report Imported
	next   time.Time // when the rate allows the next batch
}

// most is how many messages one batch may have: at a rate no more than those of a tenth of a second.
func (im *importing) most() int {
	if im.Rate > 0 {
		return max(1, min(batchLines, int(im.Rate/10)))
	}
	return batchLines
}

func (im *importing) run(ctx context.Context, batches <-chan batch) (Imported, error) {
	for {
		select {
		case <-ctx.Done():
			return im.report, ctx.Err()
		case b, ok := <-batches:
			if !ok {
				return im.report, ctx.Err()
			}
			if err := im.add(ctx, b); err != nil {
				return im.report, err
			}
		}
	}
}

// add adds one batch.
func (im *importing) add(ctx context.Context, b batch) error {
	if len(b.messages) > 0 {
		if err := im.wait(ctx, len(b.messages)); err != nil {
			return err
		}
		if im.ResetAttempts {
			for i := range b.messages {
				b.messages[i].Attempts = 0
			}
		}
		left, err := im.insert.Insert(ctx, queue.Insertion{
			Place: b.to.place, Key: b.to.key, End: b.to.end, Messages: b.messages,
		})
		if errors.Is(err, queue.ErrUnknownOutcome) {
			im.report.UnknownThrough = b.through
		}
		if err != nil {
			return err
		}
		im.report.Added[b.to.place] += int64(len(b.messages) - len(left))
		im.report.Duplicates += int64(len(left))
		for _, n := range left[:min(len(left), 3-len(im.report.DuplicateLines))] {
			im.report.DuplicateLines = append(im.report.DuplicateLines, b.lines[n])
		}
		im.report.Through = b.through
	}
	im.tell()
	return b.err
}

// wait keeps to the rate.
func (im *importing) wait(ctx context.Context, n int) error {
	if im.Rate > 0 {
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(im.next)):
		}
		// A server that was away is not made up for.
		im.next = time.Now().Add(time.Duration(float64(n) / im.Rate * float64(time.Second)))
	}
	return ctx.Err()
}

func (im *importing) trouble(why error) {
	im.report.Trouble = why
	im.tell()
}

func (im *importing) tell() {
	if im.Progress != nil {
		im.Progress(im.report)
	}
}

// batch is messages of lines in a row that go to the same key.
type batch struct {
	to       stop
	messages []queue.Failed
	lines    []int64 // their numbers
	size     int
	through  int64 // the last line
	// err is why there are no more behind it; nil: there may be.
	err error
}

// batcher makes batches of lines, while others are added.
type batcher struct {
	from     *reader
	router   router
	fromLine int64
	most     int // messages of a batch
}

// run reads to the end of the file, the first error or that of ctx. It is one batch ahead.
func (b *batcher) run(ctx context.Context, batches chan<- batch) {
	defer close(batches)
	var now batch
	send := func() bool {
		select {
		case batches <- now:
			now = batch{}
			return true
		case <-ctx.Done():
			return false
		}
	}
	for {
		line, to, err := b.line()
		if err != nil {
			if now.err = err; errors.Is(err, io.EOF) {
				now.err = nil
			}
			send()
			return
		}
		if len(now.messages) > 0 && to != now.to && !send() {
			return
		}
		now.to, now.through = to, b.from.line
		now.lines = append(now.lines, b.from.line)
		now.size += len(line.Payload)
		now.messages = append(now.messages, queue.Failed{
			Message: queue.Message{Payload: line.Payload, Score: line.Score, Attempts: line.Attempts, Reason: line.Reason},
			First:   line.First,
		})
		if full := len(now.messages) == b.most || now.size >= batchBytes; full && !send() {
			return
		}
	}
}

// line reads one line and says where it goes.
func (b *batcher) line() (Line, stop, error) {
	line, err := b.from.message(b.fromLine)
	if err != nil {
		return line, stop{}, err
	}
	to, err := b.router.route(line)
	if err != nil {
		err = &LineError{Line: b.from.line, Column: 1, Reason: err.Error()}
	}
	return line, to, err
}
