package queue

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// Bin counts the delayed messages whose due time, relative to the server's now,
// lies in [From, Until).
type Bin struct {
	From, Until time.Duration // MinSpan and MaxSpan stand for the open ends
	N           int64
}

// The open ends of a distribution.
const (
	MinSpan = time.Duration(-1 << 63)
	MaxSpan = time.Duration(1<<63 - 1)
)

// Misfit counts scores that are no time in the queue's unit.
type Misfit struct {
	Reason string // "looks like s", "negative", "infinite", "too small", "too large"
	N      int64
}

// Distribution is how the due times of a delayed queue lie around now.
type Distribution struct {
	Now     time.Time // the server's clock
	Unit    Unit
	Total   int64
	Bins    []Bin // far overdue first; now is an edge; misfits are in no bin
	Misfits []Misfit
	NextDue time.Time     // first due time after now; zero when none
	Overdue time.Duration // of the longest overdue that fits; 0 when none
}

// edges are the distances from now, and behind it the same ahead, at which one
// bin ends and the next begins.
func edges() []time.Duration {
	return []time.Duration{10 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour}
}

// binSpans returns the bins around now, far overdue first, without their counts.
func binSpans() []Bin {
	distances := edges()
	cuts := []time.Duration{0}
	for _, d := range distances {
		cuts = append([]time.Duration{-d}, append(cuts, d)...)
	}
	bins := []Bin{{From: MinSpan, Until: cuts[0]}}
	for i := 1; i < len(cuts); i++ {
		bins = append(bins, Bin{From: cuts[i-1], Until: cuts[i]})
	}
	return append(bins, Bin{From: cuts[len(cuts)-1], Until: MaxSpan})
}

// Reasons why a score is no time in the queue's unit.
const (
	misfitNegative = "negative"
	misfitInfinite = "infinite"
	misfitSmall    = "too small"
	misfitLarge    = "too large"
	misfitLooks    = "looks like " // and the unit
)

// interval is a range of scores, as ZCOUNT takes it, and why they do not fit.
type interval struct {
	low, high string
	reason    string
}

// misfitIntervals returns, for a unit, intervals that hold every score outside
// of the unit's range exactly once.
func misfitIntervals(unit Unit) []interval {
	all := []interval{
		{"-inf", "-inf", misfitInfinite},
		{"inf", "inf", misfitInfinite},
		{string(ScoreOf(-math.MaxFloat64)), "(0", misfitNegative}, // finite; not every server excludes (-inf
	}
	low := Score("0")
	between := misfitSmall
	for _, u := range []Unit{Seconds, Milliseconds, Microseconds} {
		from, until := u.Range()
		all = append(all, interval{string(low), "(" + string(ScoreOf(from)), between})
		if u.String() == unit.String() {
			between = misfitLarge
		} else {
			all = append(all, interval{string(ScoreOf(from)), "(" + string(ScoreOf(until)), misfitLooks + u.String()})
		}
		low = ScoreOf(until)
	}
	return append(all, interval{string(low), string(ScoreOf(math.MaxFloat64)), between})
}

// exactScore returns the score of t in the unit, to the microsecond; Unit.Score
// rounds to what is written.
func exactScore(u Unit, t time.Time) Score {
	us := t.UnixMicro()
	switch u {
	case Seconds, FloatSeconds:
		return Score(fmt.Sprintf("%d.%06d", us/1e6, us%1e6))
	case Microseconds:
		return scoreOfInt(us)
	}
	return Score(fmt.Sprintf("%d.%03d", us/1e3, us%1e3))
}

// Distribution counts the due times of q's delayed messages: one pipeline of
// ZCOUNTs, after the server was asked for its time; no member is transferred.
// Where scripts are denied NextDue and Overdue stay zero.
func (c *Client) Distribution(ctx context.Context, q Queue) (Distribution, error) {
	if !q.Has(Delayed) {
		return Distribution{}, ErrNoSuchPlace
	}
	now, err := c.read.Time(ctx).Result()
	if isReply(err) {
		now, err = time.Now(), nil
	}
	if err != nil {
		return Distribution{}, err
	}
	pipe := c.read.Pipeline()
	count := func(low, high string) *redis.IntCmd { return pipe.ZCount(ctx, q.Delayed, low, high) }

	d := Distribution{Now: now, Unit: q.Unit, Bins: binSpans()}
	bins := make([]*redis.IntCmd, len(d.Bins))
	for i, b := range d.Bins {
		bins[i] = count(spanEdge(q.Unit, now, b.From), "("+spanEdge(q.Unit, now, b.Until))
	}
	intervals := misfitIntervals(q.Unit)
	misfits := make([]*redis.IntCmd, len(intervals))
	for i, in := range intervals {
		misfits[i] = count(in.low, in.high)
	}
	l := &look{key: q.Delayed, place: Delayed, queue: &q, watch: &watch{}}
	observations := c.queueLooks(ctx, pipe, []*look{l}, now)
	_, _ = pipe.Exec(ctx) // each command has its own error
	for _, cmd := range slices.Concat(bins, misfits) {
		if err := c.readError(cmd.Err()); err != nil {
			return Distribution{}, err
		}
	}
	c.askAgain(ctx, observations)
	for _, o := range observations {
		o.read(now)
	}

	for i, cmd := range bins {
		d.Bins[i].N = cmd.Val()
		d.Total += cmd.Val()
	}
	for i, cmd := range misfits {
		d.addMisfit(intervals[i].reason, cmd.Val())
	}
	d.NextDue, _ = q.Unit.Time(l.watch.next)
	if lowest, ok := q.Unit.Time(l.watch.lowest); ok {
		d.Overdue = max(0, now.Sub(lowest))
	}
	return d, nil
}

// spanEdge is the score at a distance from now, no further than the unit reaches.
func spanEdge(u Unit, now time.Time, distance time.Duration) string {
	from, until := u.Range()
	switch distance {
	case MinSpan:
		return string(ScoreOf(from))
	case MaxSpan:
		return string(ScoreOf(until))
	}
	edge := exactScore(u, now.Add(distance))
	if v, _ := edge.Float(); v < from {
		return string(ScoreOf(from))
	} else if v > until {
		return string(ScoreOf(until))
	}
	return string(edge)
}

// addMisfit adds n scores that do not fit for a reason.
func (d *Distribution) addMisfit(reason string, n int64) {
	if n == 0 {
		return
	}
	d.Total += n
	for i := range d.Misfits {
		if d.Misfits[i].Reason == reason {
			d.Misfits[i].N += n
			return
		}
	}
	d.Misfits = append(d.Misfits, Misfit{Reason: reason, N: n})
}
