// Package sieve asks a filter about the messages of a queue and counts those it cannot
// decide about. It knows filters and messages, and nothing of Redis or a screen.
package sieve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redq/queue"
	"redq/queue/filter"
)

// MaxStopped is on how many messages a jq expression may be stopped before it is given up:
// each takes as long as thousands of others.
const MaxStopped = 20

// ErrGaveUp is returned, wrapped, when a jq expression was stopped on MaxStopped messages.
var ErrGaveUp = errors.New("gave up")

// errFar is why a large payload could not be read whole.
var errFar = errors.New("the message moved too far meanwhile to be read whole")

// Tally counts what a filter could not decide. Such messages do not match.
type Tally struct {
	Undecided int64
	Ageless   int64 // of them those of which nobody knows the age that the filter asks for
	Stopped   int64 // of them those on which the jq expression was stopped
	// Why tells what was wrong with the first one that is not ageless; nil when all are.
	// Its text is safe to print.
	Why error

	stopped error // why the expression was stopped the last time
}

// Sieve asks one filter about the messages of one place, one after the other.
type Sieve struct {
	Filter filter.Matcher
	Unit   queue.Unit // of the scores
	// Now is the server's clock when the scan began: a message is due or not by that
	// instant, however long the scan takes.
	Now time.Time
	// Age tells how long a message has been in its list at least, 0 when that is not
	// known; nil knows no age. It is asked only when the filter wants an age.
	Age func(queue.Message) time.Duration

	Tally
}

// Match reports whether a message matches. queue.ErrCut asks for the whole payload, and
// nothing was counted then. Other errors end the scan: ErrGaveUp, and that of ctx.
func (s *Sieve) Match(ctx context.Context, m queue.Message) (bool, error) {
	if s.Stopped >= MaxStopped {
		return false, fmt.Errorf("%w after %d messages: %w", ErrGaveUp, s.Stopped, s.stopped)
	}
	subject := filter.Subject{Payload: m.Payload, Size: m.Size, Now: s.Now}
	if m.Place == queue.Delayed {
		if due, ok := s.Unit.Time(m.Score); ok {
			subject.Due = due
		}
	}
	ageless := false
	if s.Filter.Needs().Age {
		if s.Age != nil {
			subject.Age = s.Age(m)
		}
		ageless = subject.Age <= 0
	}
	hit, err := s.Filter.Decide(ctx, subject)
	switch {
	case err == nil && !ageless:
		return hit, nil
	case err == nil:
		s.Ageless++
		s.Undecided++
		return false, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.Is(err, filter.ErrIncomplete) && !m.Complete():
		return false, queue.ErrCut
	}
	s.undecided(err)
	return false, nil
}

// Unread counts messages that could not be read whole.
func (s *Sieve) Unread(n int64) {
	if n > 0 {
		s.blame(errFar)
		s.Undecided += n
	}
}

func (s *Sieve) undecided(why error) {
	s.blame(why)
	s.Undecided++
	if errors.Is(why, filter.ErrStopped) {
		s.Stopped++
		s.stopped = why
	}
}

func (s *Sieve) blame(why error) {
	if s.Why == nil {
		s.Why = why
	}
}

// Reason says in few words why messages are undecided; "" when none is.
func (t Tally) Reason() string {
	switch {
	case t.Undecided == 0:
		return ""
	case t.Why == nil:
		return "how long they have been there is not known"
	}
	return t.Why.Error()
}
