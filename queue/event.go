package queue

import "time"

// EventKind says what happened.
type EventKind string

// The kinds of event. Those of the first group are about one message each.
const (
	EventTaken    EventKind = "taken"    // taken from the server; a handler starts
	EventDone     EventKind = "done"     // handled, and acknowledged where the pattern has a backup list
	EventFailed   EventKind = "failed"   // the handler failed; what follows is retried, dead, kept or dropped
	EventRetried  EventKind = "retried"  // put back, to be handled again at Due
	EventDeferred EventKind = "deferred" // put back for later by the handler or a lock conflict; no attempt used
	EventDead     EventKind = "dead"     // put into dead
	EventKept     EventKind = "kept"     // failed, and left in the shared backup list for an operator (P7)
	EventDropped  EventKind = "dropped"  // removed for good without being done
	EventReturned EventKind = "returned" // put back untouched when the consumer stopped
	EventCrashed  EventKind = "crashed"  // the worker died, as ErrCrash asks
	EventNotOurs  EventKind = "not-ours" // somebody took the message while it was in hand: it may be handled twice

	EventStarted   EventKind = "started"   // the consumer runs
	EventStopping  EventKind = "stopping"  // a stop was asked; what is in hand is finished
	EventStopped   EventKind = "stopped"   // the consumer has ended
	EventIdle      EventKind = "idle"      // nothing to take: it waits
	EventPromoted  EventKind = "promoted"  // Count due messages were moved to ready
	EventRecovered EventKind = "recovered" // Count messages of a dead consumer were moved back
	EventError     EventKind = "error"     // the server failed or refused, Count times in a row; the consumer goes on
	EventOverflow  EventKind = "overflow"  // Count events were left out, since the receiver is slower than the work
)

// Event is one thing that a consumer did or met.
type Event struct {
	Time    time.Time // of the host
	Kind    EventKind
	Message Message       // of events about one message
	Attempt int           // which attempt this is, from 1; 0 when not about one message
	Took    time.Duration // how long the handler ran: done, failed
	Late    time.Duration // taken: how long after its due time; 0 when it was not delayed
	Due     time.Time     // retried, deferred: when it is handled again
	Err     error         // failed, deferred, dead, dropped, error …: why
	Count   int           // promoted, recovered, error, overflow
	Note    string        // who was recovered, what was found; "" mostly
}
