package model

import (
	"slices"
	"time"

	"redq/queue"
)

// Counter is one of the numbers that a consumer counts up.
type Counter uint8

// The counters. The first six are always shown, the others once they count something.
const (
	CountTaken Counter = iota
	CountDone
	CountFailed
	CountRetried
	CountDeferred
	CountDead
	CountKept
	CountDropped
	CountReturned
	CountCrashed
	CountNotOurs
	CountPromoted
	CountRecovered
	CountErrors
	CountWasted
	counterCount
)

// String names the counter in a word or two.
func (c Counter) String() string {
	names := [...]string{"taken", "done", "failed", "retried", "deferred", "dead", "kept", "dropped",
		"returned", "crashed", "not ours", "promoted", "recovered", "errors", "wasted"}
	if int(c) < len(names) {
		return names[c]
	}
	return ""
}

func countersOf(s queue.ConsumerStats) [counterCount]int64 {
	return [counterCount]int64{s.Taken, s.Done, s.Failed, s.Retried, s.Deferred, s.Dead, s.Kept, s.Dropped,
		s.Returned, s.Crashed, s.NotOurs, s.Promoted, s.Recovered, s.Errors, s.Wasted}
}

// meterWindow is the time over which a rate is measured: long enough to be read,
// short enough to follow.
const meterWindow = 5 * time.Second

// Meter remembers a consumer's counters over the last two minutes, oldest first.
// It is a value, as History is.
type Meter struct {
	points []meterPoint
}

type meterPoint struct {
	at time.Time // client's clock
	n  [counterCount]int64
}

// add returns the meter with the counters as they are now, without what became too old.
func (m Meter) add(at time.Time, s queue.ConsumerStats) Meter {
	points := m.points
	if n := len(points); n > 0 && at.Sub(points[n-1].at) < historyStep {
		return m
	}
	for len(points) > 0 && at.Sub(points[0].at) > historySpan {
		points = points[1:]
	}
	return Meter{append(points, meterPoint{at, countersOf(s)})} // see History.add
}

// Rate returns how fast a counter counts, over the last seconds.
func (m Meter) Rate(c Counter) Rate {
	last := len(m.points) - 1
	if last < 1 {
		return Rate{}
	}
	now := m.points[last]
	first, _ := slices.BinarySearchFunc(m.points, now.at.Add(-meterWindow), func(p meterPoint, t time.Time) int {
		return p.at.Compare(t)
	})
	return between(m.points[min(first, last-1)], now, c)
}

func between(a, b meterPoint, c Counter) Rate {
	return Rate{PerSecond: float64(b.n[c]-a.n[c]) / b.at.Sub(a.at).Seconds(), OK: true}
}

// Throughput is how many messages were done a second, up to an instant.
type Throughput struct {
	At        time.Time // client's clock
	PerSecond float64
}

// Throughput returns the messages done a second over the last two minutes.
func (m Meter) Throughput() []Throughput {
	var all []Throughput
	for i := 1; i < len(m.points); i++ {
		all = append(all, Throughput{m.points[i].at, between(m.points[i-1], m.points[i], CountDone).PerSecond})
	}
	return all
}
