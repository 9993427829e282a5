package cli

import (
	"context"
	"errors"
	"math"

	"redq/queue"
	"redq/queue/layout"
)

// discovery is the queues found and what keeps them from being all of them.
type discovery struct {
	queues []queue.Queue
	// partial is nil, or says why there may be more queues than were found.
	partial error
}

// discover scans the whole keyspace: a command that names a queue has to know all
// of its keys.
func (c connection) discover(ctx context.Context) (discovery, error) {
	return c.scan(ctx, layout.Options{Match: c.match, Named: c.queues, MaxKeys: math.MaxInt})
}

func (c connection) scan(ctx context.Context, o layout.Options) (discovery, error) {
	scan := layout.NewScan(c.Client, o)
	var d discovery
	for {
		p, err := scan.Step(ctx)
		d.queues = p.Queues
		switch {
		case errors.Is(err, layout.ErrScanDenied):
			d.partial = err
		case err != nil:
			return d, err
		case p.Done && p.Truncated:
			d.partial = failf("there are too many keys to find every queue: --match narrows the search, --queue names one")
			return d, nil
		case p.Done:
			return d, nil
		}
	}
}

// find returns the queue that an argument names: by its exact name, or by the
// escaped form in which ls prints a name that is not printable.
func (c connection) find(ctx context.Context, name string) (queue.Queue, error) {
	d, err := c.discoverFor(ctx, name)
	if err != nil {
		return queue.Queue{}, err
	}
	q, err := pick(d.queues, name)
	if err != nil && d.partial != nil {
		return q, d.partial
	}
	return q, err
}

// discoverFor is discover, spared the walk over the keyspace when name is a
// queue whose keys were all given by hand.
func (c connection) discoverFor(ctx context.Context, name string) (discovery, error) {
	for _, q := range c.queues {
		if q.Name == name && q.Guessed&queue.GuessedKeys == 0 {
			return c.scan(ctx, layout.Options{Named: []queue.Queue{q}, MaxKeys: 1, Count: 1})
		}
	}
	return c.discover(ctx)
}
