package model

import (
	"errors"
	"fmt"
	"time"

	"redq/queue"
	"redq/queue/payload"
)

// Health is the state of a queue in one word, in rising order of concern.
type Health uint8

// The states of health.
const (
	HealthUnknown Health = iota // not polled yet
	HealthIdle                  // nothing in it
	HealthOK
	HealthWarn
	HealthTrouble
)

// From how far past its time the longest overdue message is worth a warning, and
// from how far it is trouble: a consumer polls at least every second or so.
const (
	lateWarn    = 10 * time.Second
	lateTrouble = time.Minute
)

// reasonBytes bounds what is shown of a key in a reason.
const reasonBytes = 60

// Rate is messages per second; OK is false while too little was seen to tell.
type Rate struct {
	PerSecond float64
	OK        bool
}

// Drain is the time until ready is empty at the present rate; OK is false
// when ready does not shrink or nothing is known.
type Drain struct {
	Left time.Duration
	OK   bool
}

// Row is one queue as the overview shows it.
type Row struct {
	Queue   queue.Queue
	Sample  queue.Sample // before the first poll all counts of places it has are Unreadable
	Sampled time.Time    // of Sample, client's clock; zero: not polled yet
	Net     Rate         // growth of ready, over about 10 s
	Drain   Drain
	History History
	Health  Health
	Reason  string // why Health is warn or trouble, safe to print; "" otherwise
	// Unattended says that messages wait and nobody consumes the queue; "" otherwise.
	Unattended string

	waiting int64     // messages a consumer could take
	untaken time.Time // since when none of them was seen to be taken, client's clock; zero: none wait
}

// newRow returns the row of a queue that was not polled yet.
func newRow(q queue.Queue) Row {
	unknown := func(p queue.Place) queue.Count {
		if q.Has(p) {
			return queue.Count{State: queue.Unreadable}
		}
		return queue.Count{}
	}
	return Row{Queue: q, Sample: queue.Sample{
		Queue: q.Name,
		Ready: unknown(queue.Ready), Backup: unknown(queue.Backup), Stuck: unknown(queue.Backup),
		Delayed: unknown(queue.Delayed), Due: unknown(queue.Delayed), Dead: unknown(queue.Dead),
	}}
}

// polled takes a sample.
func (r Row) polled(s queue.Sample, at time.Time) Row {
	r.Sample, r.Sampled = s, at
	r = r.watchedWaiting(s, at)
	r.History = r.History.add(at, s)
	r.Net = r.History.net()
	r.Drain = drain(s.Ready, r.Net)
	r.Health, r.Reason = health(s)
	return r
}

// attended notes that nobody consumes the queue; "" that somebody does, or may.
func (r Row) attended(nobody string) Row {
	r.Unattended = nobody
	if nobody != "" && r.Health < HealthWarn {
		r.Health, r.Reason = HealthWarn, nobody
	}
	return r
}

// health judges a sample: the worst that is found decides.
func health(s queue.Sample) (Health, string) {
	switch {
	case errors.Is(s.Err, queue.ErrWrongType):
		return HealthTrouble, "a key of the wrong type: " + brokenKey(s)
	case s.Err != nil:
		return HealthTrouble, brokenKey(s) + ": " + payload.LineString(queue.Explain(s.Err), reasonBytes)
	case s.Stuck.OK() && s.Stuck.N > 0:
		return HealthTrouble, CountText(s.Stuck) + " stuck in backup"
	case s.Overdue >= lateTrouble:
		return HealthTrouble, late(s)
	case s.Dead.OK() && s.Dead.N > 0:
		return HealthWarn, CountText(s.Dead) + " dead"
	case s.Overdue >= lateWarn:
		return HealthWarn, late(s)
	}
	for _, k := range s.Keys {
		if k.TTL > 0 {
			return HealthWarn, fmt.Sprintf("%s expires in %s", payload.LineString(k.Key, reasonBytes), k.TTL.Round(time.Second))
		}
	}
	if s.Ready.N+s.Backup.N+s.Delayed.N+s.Dead.N == 0 {
		return HealthIdle, ""
	}
	return HealthOK, ""
}

func late(s queue.Sample) string {
	return fmt.Sprintf("%s overdue, the oldest by %s", CountText(s.Due), s.Overdue.Round(time.Second))
}

// brokenKey names the first key that could not be read.
func brokenKey(s queue.Sample) string {
	for _, k := range s.Keys {
		if k.Err != nil {
			return payload.LineString(k.Key, reasonBytes)
		}
	}
	return payload.LineString(s.Queue, reasonBytes)
}
