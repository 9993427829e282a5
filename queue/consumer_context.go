package queue

import (
	"context"
	"sync"
	"time"
)

// handContext is the context of a handler. It costs nothing until somebody asks for
// more than its deadline, which most handlers never do.
type handContext struct {
	base     context.Context
	deadline time.Time // zero: none; the keeper ends it then

	mu     sync.Mutex
	inner  context.Context // made when it is needed
	cancel context.CancelCauseFunc
	ended  bool
	cause  error
}

func (c *handContext) Deadline() (time.Time, bool) { return c.deadline, !c.deadline.IsZero() }
func (c *handContext) Done() <-chan struct{}       { return c.made().Done() }
func (c *handContext) Err() error                  { return c.made().Err() }
func (c *handContext) Value(key any) any           { return c.made().Value(key) }

// made returns the context that does the work.
func (c *handContext) made() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inner == nil {
		c.inner, c.cancel = context.WithCancelCause(c.base)
		if c.ended {
			c.cancel(c.cause)
		}
	}
	return c.inner
}

// end cancels it and returns the cause it has ended with: the first one counts.
func (c *handContext) end(cause error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.ended, c.cause = true, cause
		if c.cancel != nil {
			c.cancel(cause)
		}
	}
	return c.cause
}
