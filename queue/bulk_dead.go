package queue

import (
	"context"
	"fmt"
)

// DeadRise counts the messages that die while an operation goes on: those that a re-drive
// has brought back may fail again. It is for one goroutine.
type DeadRise struct {
	c      *Client
	queue  Queue
	from   bool // the operation itself takes messages from dead
	lowest int64
	known  bool
}

// NewDeadRise watches the dead of q during an operation that takes messages from p. The
// error is ErrNoSuchPlace when the queue has no dead.
func (c *Client) NewDeadRise(q Queue, p Place) (*DeadRise, error) {
	if !q.Has(Dead) {
		return nil, fmt.Errorf("%w: %s", ErrNoSuchPlace, Dead)
	}
	return &DeadRise{c: c, queue: q, from: p == Dead}, nil
}

// Count returns how many messages have died since the first call, or since dead held the
// fewest; done is how many the operation has taken so far.
func (d *DeadRise) Count(ctx context.Context, done int64) (int64, error) {
	page, err := d.c.Peek(ctx, d.queue, Dead, 0, 0)
	if err != nil {
		return 0, err
	}
	n := page.Total
	if d.from {
		n += done
	}
	if !d.known || n < d.lowest {
		d.lowest, d.known = n, true
	}
	return n - d.lowest, nil
}

// Again counts from the next call on.
func (d *DeadRise) Again() { d.known = false }
