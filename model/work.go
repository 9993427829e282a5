package model

import (
	"context"
	"fmt"
	"time"

	"redq/queue"
	"redq/queue/filter"
	"redq/queue/journal"
)

// Jobs runs what takes long behind the screen. Its calls return at once unless they say
// otherwise; what becomes of a job is told by WatchJobs.
type Jobs interface {
	// StartJob starts one and returns its number, from 1. An error means that nothing
	// runs: another job takes messages from the same place, or redq is read-only.
	StartJob(w Work) (id int, err error)
	// ConfirmJob lets a job go on whose set is fixed and which waits for that.
	ConfirmJob(id int)
	// PauseJob has a job wait before its next step, or go on.
	PauseJob(id int, paused bool)
	// CancelJob ends a job before its next step.
	CancelJob(id int)
	// ForgetJob drops what is kept of one that has ended.
	ForgetJob(id int)
	// WatchJobs returns how far each is, in the order of their numbers.
	WatchJobs() []JobNews
	// EndJobs cancels all jobs and waits for them until ctx ends.
	EndJobs(ctx context.Context)
}

// JobPhase is how far a job is in its life.
type JobPhase uint8

// The phases.
const (
	JobFixing  JobPhase = iota // it finds out which messages it is about; nothing is changed
	JobFixed                   // its set is fixed, and it waits for ConfirmJob
	JobRunning                 // it is at work, or paused
	JobEnded
)

// JobNews is how far a job is.
type JobNews struct {
	ID     int
	Phase  JobPhase
	Set    FixedSet         // of a BulkWork and an ExportWork
	Report queue.BulkReport // so far, in the end of the whole
	// Paused is why it does not go on at the moment; "" while it does.
	Paused string
	// Err is why it ended before its end; context.Canceled after CancelJob.
	Err error
}

// FixedSet is which messages a job is about, as far as that is known.
type FixedSet struct {
	Looked    int64 // messages looked at
	Of        int64 // messages in the place when that began
	Count     int64 // in the set
	Gone      int64 // marked ones that had left before
	Undecided int64 // that the filter could not decide about: they are not in the set
	Reason    string
	Samples   []queue.Message
	Took      time.Duration // to fix it; 0 until that is done
}

// Work is what a job does: a BulkWork, an UndoWork, a PurgeWork or an ExportWork.
type Work interface {
	// Takes returns the keys whose messages it takes. Two jobs never take from the same key.
	Takes() []string
	// Words says what it does.
	Words() Words
}

// Words say what a job does. They are safe to print.
type Words struct {
	Does  string // "re-drive from orders:dead to orders"
	Brief string // "re-drive orders:dead"
	Past  string // "re-driven"
	Where string // "to orders"; "" where that says nothing
}

// BulkWork changes many messages of one place.
type BulkWork struct {
	Queue queue.Queue
	Place queue.Place
	// Messages are those that were marked, or selected; nil means those of Place that match
	// Filter, of which the zero value is all.
	Messages []queue.Message
	Filter   filter.Matcher
	Limit    int64      // the oldest so many; 0: all
	Bulk     queue.Bulk // without Gate and Progress
	// PauseOnDead pauses the job when so many messages died since it began; 0 never does.
	PauseOnDead int64
	// Ask has the job wait for ConfirmJob once its set is fixed.
	Ask bool
}

// Takes implements Work.
func (w BulkWork) Takes() []string { return w.Queue.Keys(w.Place) }

// Words implements Work.
func (w BulkWork) Words() Words {
	from := w.Queue.Keys(w.Place)
	source := "nowhere"
	if len(from) > 0 {
		source = shown(from[0])
	}
	switch w.Bulk.Op {
	case queue.OpDelete:
		return Words{Does: "delete from " + source, Brief: "delete " + source, Past: "deleted", Where: "of " + source}
	case queue.OpReschedule:
		to := "by " + spanText(w.Bulk.Due.Shift)
		if at := w.Bulk.Due.At; !at.IsZero() {
			to = "to " + at.Format(timeLayout)
		}
		return Words{Does: "reschedule in " + source + " " + to, Brief: "reschedule " + source, Past: "rescheduled", Where: to}
	}
	where := w.where()
	does, past := "re-drive", pastTense(queue.OpRedrive)
	if w.Place == queue.Ready {
		does, past = "move", "moved"
	}
	return Words{Does: fmt.Sprintf("%s from %s %s", does, source, where), Brief: does + " " + source, Past: past, Where: where}
}

// where says where a re-drive goes.
func (w BulkWork) where() string {
	place, to := w.Queue.RedriveTarget()
	if w.Bulk.ToPlace == queue.Delayed {
		place, to = queue.Delayed, w.Queue.Delayed
	}
	switch {
	case w.Bulk.ToKey != "":
		to = w.Bulk.ToKey
	case place == queue.Delayed:
		return "into " + shown(to)
	}
	if w.Bulk.Front {
		return "to the front of " + shown(to)
	}
	return "to " + shown(to)
}

// timeLayout is how an instant is written in a sentence.
const timeLayout = "2006-01-02 15:04:05"

// spanText is a duration with its sign, in a sentence.
func spanText(d time.Duration) string {
	if d >= 0 {
		return "+" + d.String()
	}
	return d.String()
}

// PurgeWork empties a place.
type PurgeWork struct {
	Queue queue.Queue
	Place queue.Place
}

// Takes implements Work.
func (w PurgeWork) Takes() []string { return w.Queue.Keys(w.Place) }

// Words implements Work.
func (w PurgeWork) Words() Words {
	does := fmt.Sprintf("purge %s of %s", w.Place, shown(w.Queue.Name))
	return Words{Does: does, Brief: does, Past: pastTense(queue.OpPurge), Where: "of " + string(w.Place)}
}

// UndoWork takes back an operation.
type UndoWork struct{ Entry journal.Summary }

// Takes implements Work.
func (w UndoWork) Takes() []string { return w.Entry.Keys }

// Words implements Work.
func (w UndoWork) Words() Words {
	where := "of " + shown(w.Entry.Queue)
	if len(w.Entry.Keys) > 0 {
		where = "to " + shown(w.Entry.Keys[0])
	}
	return Words{Does: "bring back " + where, Brief: "bring back " + where, Past: "brought back", Where: where}
}
