package model

import (
	"time"

	"redq/queue"
	"redq/queue/journal"
)

// Answers are named after what was done, timers end in Due. Each carries the
// generation of the request or loop it belongs to: one that is not the present
// one is dropped, so a late answer never overwrites a newer one.
type (
	queuesSampledMsg struct {
		dropped journal.Dropped // by the undo journal since the last one
		gen     int
		poll    queue.Poll
		err     error
		forced  bool // asked for by R: applied even when the view is frozen
	}
	pollDueMsg struct{ gen int }

	serverSeenMsg struct {
		gen    int
		server queue.Server
		err    error
	}

	queuesDiscoveredMsg struct {
		gen       int
		discovery Discovery
		err       error
	}
	discoverDueMsg struct{ gen int }

	pagePeekedMsg struct {
		gen    int
		queue  string
		place  queue.Place
		page   page
		err    error
		forced bool
	}
	placeSearchedMsg struct {
		gen   int
		queue string
		place queue.Place
		found found
	}
	distributionReadMsg struct {
		gen   int
		queue string
		dist  queue.Distribution
		err   error
	}
	messageLoadedMsg struct {
		gen    int
		loaded loadedMessage
		err    error
	}
	payloadCopiedMsg struct {
		size int
		err  error
	}

	// actionDoneMsg is the answer to a write.
	actionDoneMsg struct {
		gen    int
		asked  Intent
		status Status
		moved  []queue.Message // that are surely not where they were any more
		// already is set when an enqueue found equal bytes.
		already *queue.AlreadyDelayedError
		failed  bool // nothing was done: a form stays open
		gone    bool // since the message had left its place
		// replaced is set when a message has other bytes now.
		replaced *replacement
	}
	undoListedMsg struct {
		gen     int
		entries []journal.Summary
		err     error
	}

	// consumerStartedMsg is the answer to the start of a consumer of ours.
	consumerStartedMsg struct {
		gen      int
		id       int
		settings ConsumerSettings
		err      error
	}
	consumersWatchedMsg struct {
		gen  int
		news []consumerNews
	}
	watchDueMsg struct{ gen int }

	// jobStartedMsg is the answer to the start of a job.
	jobStartedMsg struct {
		gen  int
		id   int
		work Work
		err  error
	}
	jobsWatchedMsg struct {
		gen  int
		news []JobNews
	}
	jobsDueMsg struct{ gen int }
	jobToldMsg struct{} // a job was told to go on, to pause or to end

	// consumersReadMsg is the answer to who consumes a queue.
	consumersReadMsg struct {
		gen       int
		queue     string
		consumers queue.Consumers
		err       error
	}

	scenePlayedMsg struct {
		gen int
		err error
	}
	sceneDueMsg struct{ gen int }

	// leaveDueMsg ends a program that was told to end and still waits.
	leaveDueMsg struct{}

	// clockDueMsg moves the countdown of an outage on.
	clockDueMsg struct{ gen int }

	// commandPanickedMsg ends the program: the state can no longer be trusted.
	commandPanickedMsg struct {
		value any
		stack []byte
		at    time.Time
	}
)
