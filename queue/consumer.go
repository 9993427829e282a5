package queue

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// Consumer takes the messages of one queue and gives them to a Handler. Client, Queue
// and Handler must be set; every other field has a default that suits the pattern. The
// fields must not be changed while it runs.
//
// What it promises depends on the pattern; see the package documentation. Where the
// promise is "at least once" a handler must bear to see a message twice.
type Consumer struct {
	// Client is the server to work on. The consumer makes connections of its own to it,
	// so that a blocked pop never keeps another user of the client waiting.
	Client *Client
	// Queue names the keys. Which of them are needed depends on the pattern: Validate tells.
	Queue Queue
	// Pattern is how messages are taken; "" means the Queue's, or Pipeline if it has none.
	Pattern Pattern
	// Handler is called for each message, from several goroutines at once.
	Handler Handler

	// ID names the consumer among those of its queue, in its backup list's key and in its
	// heartbeat; "" means one made of host name, process id and random letters.
	ID string
	// Concurrency is how many messages are handled at once; 0 means 10.
	Concurrency int
	// Batch is how many messages are taken in one round trip at most; 0 means 200 for
	// Pipeline, 100 for ZsetScript and 1 for the others, which take one at a time by their nature.
	// With batches, Concurrency plus four batches are in hand at most, and no more than
	// are handled in about 50 ms, so that other consumers get theirs.
	Batch int
	// TimeLimit ends the context of a handler that takes longer; one that does not return
	// soon after is left behind and its message fails. 0 means 10 minutes, negative none.
	TimeLimit time.Duration

	Retry Retry // what becomes of failed messages
	Idle  Idle  // what to do when there is nothing to take
	Lock  *Lock // taken before each message is handled; nil means none, but LockRetry needs one

	// Heartbeat is how often the consumer says that it lives (Pipeline); others take it
	// for dead after three times this. 0 means 10 s.
	Heartbeat time.Duration

	// StopWhenEmpty makes Run return when nothing is ready, due or in hand.
	StopWhenEmpty bool
	// Max makes Run return after so many messages were taken and settled; 0 means no limit.
	Max int64

	// Events is called with each event, one at a time and in order, from a goroutine of its
	// own. A slow one does not hold up the work: events are left out then, and counted by an
	// EventOverflow. nil costs nothing.
	Events func(Event)

	engine    atomic.Pointer[engine]
	abandoned atomic.Bool
}

// Retry says what becomes of a message whose handler failed.
type Retry struct {
	// Limit is how many attempts a message has in all, the first included; then it goes to
	// dead, or is dropped where the queue has no dead place. 0 means 5 for Pipeline,
	// LockRetry and Dispatch, and 1 for the others. BackupList never retries by itself: a failed message stays in backup.
	// ListPoll and ListBlock, which take nothing from delayed, put a message to the back of ready at once, without a wait.
	Limit int
	// Base is the wait before the second attempt; it doubles with each further one up to
	// Max. 0 means 1 s, and 10 minutes (Base when that is longer).
	Base, Max time.Duration
	// Jitter is the share of the wait that is drawn at random, so that messages that failed
	// together do not come back together: 0 means 0.2, negative none, at most 1.
	Jitter float64
}

// Idle says how the consumer waits when there is nothing to take.
type Idle struct {
	// Sleep is the pause between two looks of the polling patterns: 0 means 1 s for ListPoll
	// and Dispatch, 500 ms for ZsetRace. The other patterns do not poll: they block on the
	// list, and wake at the next due time or when a producer schedules an earlier message.
	Sleep time.Duration
	// Spin is how many looks in a row may find nothing before the consumer sleeps: 0 means
	// 512 for Dispatch and 1 for the others.
	Spin int
}

// Lock makes the handler of a message run only while the consumer holds a lock in Redis
// (SET NX PX with a random token, released only by who holds it).
type Lock struct {
	// Key returns the lock's key for a message; nil means one lock for the whole queue, its
	// first key with ":lock" behind it. On a cluster it needs no slot in common with the queue.
	Key func(Message) string
	// TTL is how long the lock outlives a holder that died; 0 means 30 s. It is
	// extended while the handler runs.
	TTL time.Duration
	// Conflict is what to do when somebody else holds the lock; "" means LockDefer.
	Conflict LockConflict
	// Wait is how long LockSleep pauses between tries (0 means 200 ms) and how far LockDefer
	// puts the message off (0 means 5 s).
	Wait time.Duration
	// Tries is how often LockSleep tries before the message fails; 0 means 10.
	Tries int
}

// LockConflict is what becomes of a message whose lock is held by somebody else.
type LockConflict string

// The three ways to meet a lock conflict.
const (
	LockFail  LockConflict = "fail"  // the message fails at once: an attempt is used
	LockSleep LockConflict = "sleep" // the worker waits and tries again
	LockDefer LockConflict = "defer" // the message goes to delayed; no attempt is used
)

// ConsumerStats are the counters of a consumer since it started. All but InHand, Idle
// and the lateness only grow.
type ConsumerStats struct {
	Pattern Pattern
	ID      string
	Started time.Time
	State   ConsumerState

	Taken     int64 // messages taken from the server
	Done      int64 // handled and acknowledged
	Failed    int64 // handlers that failed
	Retried   int64 // put back for another attempt
	Deferred  int64 // put back without using an attempt
	Dead      int64 // put into dead
	Kept      int64 // failed and left in the shared backup list
	Dropped   int64 // removed for good without being done
	Returned  int64 // put back untouched by a stop
	Crashed   int64 // workers that died (ErrCrash)
	NotOurs   int64 // taken by somebody else while in hand
	Promoted  int64 // moved from delayed to ready
	Recovered int64 // taken over from dead consumers
	Wasted    int64 // takes that another worker was faster with (ZsetRace)
	Looks     int64 // requests that found nothing to take
	Errors    int64 // failed or refused requests
	Overflow  int64 // events left out

	InHand int // taken and not settled yet
	Idle   bool

	// LateP50 and LateP99 are how long after their due time delayed messages were taken,
	// over the last 1,024 of them; Lates is how many were counted since the start.
	LateP50, LateP99 time.Duration
	Lates            int64
}

// ConsumerState is where a consumer is in its life.
type ConsumerState string

// The states of a consumer.
const (
	ConsumerNew      ConsumerState = "new"
	ConsumerRunning  ConsumerState = "running"
	ConsumerStopping ConsumerState = "stopping" // finishes what is in hand
	ConsumerStopped  ConsumerState = "stopped"
)

// Hand is a message in a consumer's hand.
type Hand struct {
	Message Message
	Since   time.Time // when it was taken
	Started time.Time // when its handler started; zero while it waits for a worker
}

// Validate tells what is wrong with the configuration: a missing field, a key that the
// pattern needs and the queue does not have, a number out of range.
func (c *Consumer) Validate() error {
	_, err := c.settings()
	return err
}

// Run takes and handles messages until ctx ends, and then finishes what is in hand
// (messages that no worker has begun are put back) before it returns nil. Errors of the
// server do not end it: it waits, with growing pauses, and goes on; only when a stop was asked and the
// server stays away does it end with an error that says what could not be told to it. It returns an error at once
// when Validate does and on a read-only client (ErrReadOnly), and ErrAbandoned after Abandon.
// A consumer runs once.
func (c *Consumer) Run(ctx context.Context) error {
	s, err := c.settings()
	if err != nil {
		return err
	}
	if c.Client.ReadOnly() {
		return ErrReadOnly
	}
	e, err := newEngine(ctx, s)
	if err != nil {
		return err
	}
	if !c.engine.CompareAndSwap(nil, e) {
		e.close()
		return errors.New("a consumer runs once: make another one")
	}
	if c.abandoned.Load() {
		e.abandon()
	}
	return e.run(ctx)
}

// Abandon ends Run without waiting for handlers: their contexts are cancelled, and what is
// in hand stays in backup, or is put back where the pattern has no backup list. It can be called at any time, from any goroutine.
func (c *Consumer) Abandon() {
	c.abandoned.Store(true)
	if e := c.engine.Load(); e != nil {
		e.abandon()
	}
}

// Stats returns the counters. It can be called at any time, from any goroutine.
func (c *Consumer) Stats() ConsumerStats {
	if e := c.engine.Load(); e != nil {
		return e.stats()
	}
	return ConsumerStats{Pattern: c.Pattern, ID: c.ID, State: ConsumerNew}
}

// InHand returns the messages in hand, longest first.
func (c *Consumer) InHand() []Hand {
	if e := c.engine.Load(); e != nil {
		return e.inHand()
	}
	return nil
}
