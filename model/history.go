package model

import (
	"slices"
	"time"

	"redq/queue"
)

// Series names one line of a queue's length history.
type Series uint8

// The series.
const (
	SeriesReady Series = iota
	SeriesBackup
	SeriesDelayed
	SeriesDead
	SeriesTotal
	seriesCount
)

// How far back a history reaches, and how close its points lie at most: with a
// thousand queues on screen more would cost memory that no chart can show.
const (
	historySpan = 2 * time.Minute
	historyStep = 900 * time.Millisecond
)

// netWindow is the time over which a queue's net rate is measured; netLeast is
// the shortest that tells anything.
const (
	netWindow = 10 * time.Second
	netLeast  = 800 * time.Millisecond
)

// Point is the lengths of a queue at one poll.
type Point struct {
	At time.Time // client's clock
	N  [seriesCount]int64
	OK [seriesCount]bool // false: unknown at that poll, or no such place: a gap, not 0
}

// History is the lengths of a queue over the last two minutes, oldest first.
// It is a value: add returns another one and never changes what others hold.
type History struct {
	points []Point
}

// Points returns the points, oldest first. They must not be changed.
func (h History) Points() []Point { return h.points }

// add returns the history with one more poll, without what became too old.
func (h History) add(at time.Time, s queue.Sample) History {
	points := h.points
	if n := len(points); n > 0 && at.Sub(points[n-1].At) < historyStep {
		return h
	}
	for len(points) > 0 && at.Sub(points[0].At) > historySpan {
		points = points[1:]
	}
	// Appending may use the room behind the points: no other value of this
	// history is used once this one is there. Growth moves them to a new array,
	// which frees those that were dropped.
	return History{points: append(points, pointOf(at, s))}
}

func pointOf(at time.Time, s queue.Sample) Point {
	p := Point{At: at}
	p.OK[SeriesTotal] = true
	for i, pl := range queue.Places() {
		c := count(s, pl)
		p.N[i], p.OK[i] = c.N, c.OK()
		p.N[SeriesTotal] += c.N
		if c.State == queue.Unreadable {
			p.OK[SeriesTotal] = false
		}
	}
	return p
}

// net returns how fast ready grew lately.
func (h History) net() Rate {
	last := len(h.points) - 1
	if last < 1 || !h.points[last].OK[SeriesReady] {
		return Rate{}
	}
	now := h.points[last]
	i, _ := slices.BinarySearchFunc(h.points, now.At.Add(-netWindow), func(p Point, t time.Time) int {
		return p.At.Compare(t)
	})
	for ; i < last && !h.points[i].OK[SeriesReady]; i++ {
	}
	took := now.At.Sub(h.points[i].At)
	if took < netLeast {
		return Rate{}
	}
	grown := now.N[SeriesReady] - h.points[i].N[SeriesReady]
	return Rate{PerSecond: float64(grown) / took.Seconds(), OK: true}
}

// drain returns how long n messages last at a net rate.
func drain(n queue.Count, net Rate) Drain {
	if !n.OK() || !net.OK || net.PerSecond >= 0 {
		return Drain{}
	}
	seconds := float64(n.N) / -net.PerSecond
	if seconds > (1000 * time.Hour).Seconds() {
		return Drain{}
	}
	return Drain{Left: time.Duration(seconds * float64(time.Second)), OK: true}
}
