package journal

import (
	"cmp"
	"math"
	"slices"

	"redq/queue"
)

// outcomeCode is an index into outcomes.
type outcomeCode uint8

func outcomes() [5]queue.Outcome {
	return [...]queue.Outcome{"", queue.Done, queue.Gone, queue.Refused, queue.Unknown}
}

// undoBegun stands beside the outcomes of an undo: it was begun, and nobody has said yet
// what became of it.
const undoBegun = outcomeCode(5)

// fact is what some records say of one message or one batch. Zero values are what they do
// not speak of.
type fact struct {
	n       int32 // messages: the intent is among the records
	outcome outcomeCode
	undone  outcomeCode // or undoBegun
}

// then returns what both say, f the earlier of them.
func (f fact) then(later fact) fact {
	return fact{n: cmp.Or(f.n, later.n), outcome: cmp.Or(later.outcome, f.outcome), undone: cmp.Or(later.undone, f.undone)}
}

func (f fact) undoable() bool {
	it := queue.Item{Outcome: outcomes()[f.outcome]}
	if f.undone != undoBegun {
		it.Undone = outcomes()[f.undone]
	}
	return f.n > 0 && it.Undoable()
}

// run is the same fact of messages or batches in a row: a million messages that all were
// deleted are one run.
type run struct {
	seq, step, count int32 // their numbers: seq, seq+step, …
	fact
}

func (r run) at(i int32) int32 { return r.seq + i*r.step }
func (r run) last() int32      { return r.at(r.count - 1) }

// runs are facts in the order of the numbers.
type runs []run

// add appends facts whose numbers are above all others. Private keys and messages are
// never in one run.
func (rs runs) add(r run) runs {
	if r.count == 0 {
		return rs
	}
	if len(rs) == 0 {
		return append(rs, r)
	}
	end := &rs[len(rs)-1]
	gap := int64(r.seq) - int64(end.last())
	switch {
	case end.fact != r.fact, (end.seq < 0) != (r.seq < 0), gap > math.MaxInt32,
		end.count > 1 && int64(end.step) != gap, r.count > 1 && int64(r.step) != gap:
		return append(rs, r)
	}
	end.step = int32(gap)
	end.count += r.count
	return rs
}

// then joins what earlier and later records say.
func (rs runs) then(later runs) runs {
	joined := make(runs, 0, len(rs)+len(later))
	a, b := slices.Clone(rs), slices.Clone(later)
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].seq < b[0].seq:
			joined = joined.add(a.cutBefore(b[0].seq))
		case b[0].seq < a[0].seq:
			joined = joined.add(b.cutBefore(a[0].seq))
		default:
			n := int32(1)
			if a[0].step == b[0].step {
				n = min(a[0].count, b[0].count)
			}
			x, y := a.cut(n), b.cut(n)
			x.fact = x.then(y.fact)
			joined = joined.add(x)
		}
	}
	for _, r := range append(a, b...) {
		joined = joined.add(r)
	}
	return joined
}

// cut splits the first n off the first run.
func (rs *runs) cut(n int32) run {
	r := (*rs)[0]
	if n >= r.count {
		*rs = (*rs)[1:]
		return r
	}
	(*rs)[0].seq, (*rs)[0].count = r.at(n), r.count-n
	r.count = n
	return r
}

// cutBefore splits off what the first run has below seq.
func (rs *runs) cutBefore(seq int32) run {
	r := (*rs)[0]
	below := (int64(seq) - int64(r.seq) + int64(r.step) - 1) / int64(r.step)
	return rs.cut(int32(min(int64(r.count), below)))
}

// messages counts the messages that were not refused, and those of which an undo could change anything. Where
// there are none, it is the private keys of a purge.
func (rs runs) messages() (all, undoable int) {
	keys := 0
	for _, r := range rs {
		if outcomes()[r.outcome] == queue.Refused { // a step of a bulk operation is asked for again, under another number
			continue
		}
		n := int(r.n) * int(r.count)
		switch {
		case r.seq < 0 && r.undoable():
			keys += n
		case r.seq < 0:
		case r.undoable():
			undoable += n
			all += n
		default:
			all += n
		}
	}
	if undoable == 0 {
		undoable = keys
	}
	return all, undoable
}
