package queue

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrGone is returned when the message is no longer where it was seen: a
	// consumer or another operator was faster. Nothing was changed.
	ErrGone = errors.New("already gone")

	// ErrAlreadyBack is returned by an undo that finds the message where it
	// would have put it. Nothing was changed.
	ErrAlreadyBack = errors.New("already back")

	// ErrUnknownOutcome is returned when a write was sent and its answer never
	// came: it may or may not have happened.
	ErrUnknownOutcome = errors.New("outcome unknown")

	// ErrNotSent is returned when no connection could be had: the server was not asked.
	ErrNotSent = errors.New("not sent")

	// ErrReadOnly is returned by every write of a client opened with ReadOnly.
	ErrReadOnly = errors.New("read-only: redq was started with --read-only")

	// ErrNoJournal is returned by deletes, purges and edits of a client opened with NoDelete
	// and without a journal: nothing could bring the messages back.
	ErrNoJournal = errors.New("without an undo journal nothing is deleted or overwritten, unless redq was started with --force")

	// ErrWrongType is returned when a key does not hold the type its place needs.
	ErrWrongType = errors.New("wrong type")

	// ErrSameKey is returned when source and target of a move are one key.
	ErrSameKey = errors.New("source and target are the same key")

	// ErrCrossSlot is returned on a cluster when the keys of an operation do not
	// share a slot. Nothing was changed.
	ErrCrossSlot = errors.New("keys of this queue lie in different cluster slots: name them with one {hash tag}")

	// ErrNoScripts is returned when the user may not run scripts. redq never
	// repairs in two bare steps, so the operation is refused.
	ErrNoScripts = errors.New("this user may not run scripts (EVAL), and redq does not repair without them")

	// ErrNoSuchPlace is returned when the queue has no key for the place.
	ErrNoSuchPlace = errors.New("the queue has no such place")
)

// AlreadyDelayedError is returned when equal bytes are in the sorted set
// already. A sorted set holds them once, so adding would have merged two messages.
type AlreadyDelayedError struct {
	Key   string
	Score Score     // the present score
	Due   time.Time // zero when the score is no time in the queue's unit
}

func (e *AlreadyDelayedError) Error() string {
	if e.Due.IsZero() {
		return fmt.Sprintf("equal bytes are delayed already, with score %s", e.Score)
	}
	return fmt.Sprintf("equal bytes are delayed already, due %s", e.Due.Format(time.RFC3339))
}

// RescheduledError is returned when the message is still delayed but with
// another score than the one seen. Nothing was changed.
type RescheduledError struct{ Old, Now Score }

func (e *RescheduledError) Error() string {
	return fmt.Sprintf("rescheduled meanwhile: score was %s, is %s", e.Old, e.Now)
}

// RefusedError is returned when the server refused a request and changed
// nothing. Code is the first word of its reply (OOM, READONLY, NOPERM …).
type RefusedError struct {
	Code string
	Text string // the reply in plain words
}

func (e *RefusedError) Error() string { return e.Text }
