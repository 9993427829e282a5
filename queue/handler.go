package queue

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Handler processes one message. nil means done: the message is acknowledged, or,
// in a pattern without a backup list, simply gone. Any other error fails the message
// (see Retry), unless it is made by Defer, Drop or DeadLetter, which say what shall become
// of it. A panic fails the message too.
//
// The context ends when the consumer's time limit for the message is over, when the
// message was found to belong to somebody else, and when the consumer is abandoned.
// A graceful stop does not end it.
type Handler func(ctx context.Context, m Message) error

// Defer returns an error that puts the message back for later: it becomes due after d
// (where the pattern takes from delayed; else the consumer keeps it in hand so long). It does not
// count as a failed attempt. why is for people and may be nil.
func Defer(d time.Duration, why error) error { return &deferral{after: max(d, 0), why: why} }

// Drop returns an error that removes the message for good, as an acknowledgement
// does; why is told in the event.
func Drop(why error) error { return &verdict{kind: EventDropped, why: why} }

// DeadLetter returns an error that puts the message into dead at once, however many
// attempts it has left; why is kept as its last error.
func DeadLetter(why error) error { return &verdict{kind: EventDead, why: why} }

// ErrCrash, returned by a handler, makes the consumer behave as if the worker had died
// with the message in hand: it is neither acknowledged nor put back. Where the pattern has a
// backup list the message lies there until it is recovered; elsewhere it is lost. It is
// for demonstrations and tests.
var ErrCrash = errors.New("simulated crash")

// ErrTimeLimit is the cause of a handler's context when its time was over, and the
// error of such a message when the handler did not return soon after.
var ErrTimeLimit = errors.New("time limit exceeded")

// ErrNotOurs is the cause of a handler's context, and the error in the event, when
// the message in hand was found to be no longer in the consumer's backup list: an operator
// re-drove or deleted it, or another consumer took this one for dead.
var ErrNotOurs = errors.New("the message was taken from this consumer while it was being handled")

// ErrAbandoned is the cause of a handler's context when Consumer.Abandon was called.
var ErrAbandoned = errors.New("the consumer was abandoned")

// PanicError is the error of a message whose handler panicked.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// deferral is what Defer returns.
type deferral struct {
	after time.Duration
	why   error
}

func (e *deferral) Error() string {
	if e.why == nil {
		return "deferred for " + e.after.String()
	}
	return e.why.Error()
}
func (e *deferral) Unwrap() error { return e.why }

// verdict is what Drop and DeadLetter return.
type verdict struct {
	kind EventKind
	why  error
}

func (e *verdict) Error() string {
	if e.why == nil {
		return string(e.kind)
	}
	return e.why.Error()
}
func (e *verdict) Unwrap() error { return e.why }
