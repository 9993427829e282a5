package model

import (
	"time"

	"redq/queue"
	"redq/queue/journal"
)

// Intent is what a page, a dialog or the command line asks of the router, which
// alone makes commands. nil asks nothing.
type Intent interface{ intent() }

type (
	openQueue   struct{ name string }
	openMessage struct{}
	// wantPage asks for the rows of the list in front; wantDist for the selected queue's due times.
	wantPage struct{}
	wantDist struct{}
	// setFilter filters the page in front; "" shows all again.
	setFilter struct{ text string }
	// correct replaces a guess about a queue.
	correct struct {
		name string
		with correction
	}
	setRefresh struct{ every time.Duration }
	goTo       struct{ position int64 } // in the list in front
	press      struct{ action Action }
	sortBy     struct{ column Column }
	closeIt    struct{} // the dialog
	stay       struct{} // the question whether to quit
	leaveAll   struct{} // stops all consumers, then quits

	// consume asks for the form for a consumer on a queue; showConsumers for the page of all.
	consume       struct{ name string }
	showConsumers struct{}
	startConsumer struct{ settings ConsumerSettings }
	// abandonConsumer does not wait for what one has in hand.
	abandonConsumer struct{ id int }
	playScene       struct{ name string }
	speak           struct{ status Status }

	doRedrive struct {
		ms []queue.Message
		o  queue.RedriveOptions
	}
	doDelete     struct{ ms []queue.Message }
	doReschedule struct {
		ms  []queue.Message
		due time.Time
	}
	doEnqueue struct {
		payload []byte
		o       queue.EnqueueOptions
	}
	doUndo struct{ entry journal.Summary }

	startJob   struct{ work Work }
	confirmJob struct{ id int }
	cancelJob  struct{ id int }
	pauseJob   struct {
		id     int
		paused bool
	}
	forgetJob struct{ id int }
	showJobs  struct{}
)

func (openQueue) intent()       {}
func (openMessage) intent()     {}
func (wantPage) intent()        {}
func (wantDist) intent()        {}
func (setFilter) intent()       {}
func (correct) intent()         {}
func (setRefresh) intent()      {}
func (goTo) intent()            {}
func (press) intent()           {}
func (sortBy) intent()          {}
func (closeIt) intent()         {}
func (speak) intent()           {}
func (stay) intent()            {}
func (leaveAll) intent()        {}
func (consume) intent()         {}
func (showConsumers) intent()   {}
func (startConsumer) intent()   {}
func (abandonConsumer) intent() {}
func (playScene) intent()       {}
func (doRedrive) intent()       {}
func (doDelete) intent()        {}
func (doReschedule) intent()    {}
func (doEnqueue) intent()       {}
func (startJob) intent()        {}
func (confirmJob) intent()      {}
func (cancelJob) intent()       {}
func (pauseJob) intent()        {}
func (forgetJob) intent()       {}
func (showJobs) intent()        {}
func (doUndo) intent()          {}

func say(kind StatusKind, text string) Intent { return speak{Status{Text: text, Kind: kind}} }

// correction is what an operator said about a queue in place of a guess.
type correction struct {
	unit  *queue.Unit
	push  queue.End
	stuck time.Duration
}

// over returns the correction with what a later one says.
func (c correction) over(later correction) correction {
	if later.unit != nil {
		c.unit = later.unit
	}
	if later.push != "" {
		c.push = later.push
	}
	if later.stuck > 0 {
		c.stuck = later.stuck
	}
	return c
}

// apply returns the queue as corrected.
func (c correction) apply(q queue.Queue) queue.Queue {
	if c.unit != nil {
		q.Unit = *c.unit
		q.Guessed &^= queue.GuessedUnit
	}
	if c.push != "" {
		q.Push = c.push
		q.Guessed &^= queue.GuessedPush
	}
	if c.stuck > 0 {
		q.StuckAfter = c.stuck
	}
	return q
}
