package queue

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// UndoBulk puts back what a bulk operation took, an entry with Batches. What was moved is
// looked for where it went; what consumers have taken since is Gone. Removed messages are put
// back from the journal. Both come back in their order to the end they were taken from; those that
// a filter had picked out for deletion come near their old positions. The report's Total is what
// could be undone.
//
// It is safe to ask again after a crash. Two processes must not undo one entry at the same moment.
func (c *Client) UndoBulk(ctx context.Context, e Entry, progress func(BulkReport)) (BulkReport, error) {
	u := &bulkUndo{c: c, entry: e, progress: progress, report: BulkReport{Op: OpUndo, Queue: e.Queue, Entry: e.ID}}
	switch {
	case c.opts.ReadOnly:
		return u.report, ErrReadOnly
	case e.Server != c.address:
		return u.report, fmt.Errorf("this happened on %s, and the connection is to %s", e.Server, c.address)
	}
	if err := u.rejoin(ctx); err != nil {
		return u.report, err
	}
	if err := u.open(ctx); err != nil {
		return u.report, err
	}
	u.undone(Gone, u.never...)
	var err error
	if e.Op == OpDelete || e.Op == OpPurge {
		err = u.restore(ctx)
	} else {
		err = u.bringBack(ctx)
	}
	if err == nil {
		u.forget(ctx)
	}
	return u.report, err
}

// forget removes the stamps of an operation that is undone.
func (u *bulkUndo) forget(ctx context.Context) {
	forgetting, done := u.c.bounded(ctx)
	defer done()
	for key := range u.keys {
		_ = u.c.write.Del(forgetting, bulkStampKey(key, u.entry.ID)).Err() // else it expires
	}
}

// bulkUndo is an undo of a bulk operation under way.
type bulkUndo struct {
	c        *Client
	entry    Entry
	progress func(BulkReport)
	report   BulkReport
	steps    []int                      // that could be undone, newest first
	never    []int                      // that were written down and did not happen
	stamps   map[string]map[string]bool // the steps that happened, by key; nil when none is known
	keys     map[string]bool            // that it took messages from
	aside    map[string]int64           // messages that a purge had set aside and not freed, by key
	backed   []int64                    // messages that came back in this undo, by step
}

// open finds out which steps have happened and are not undone.
func (u *bulkUndo) open(ctx context.Context) error {
	u.stamps = map[string]map[string]bool{}
	u.backed, u.keys = make([]int64, u.entry.Batches.Len()), map[string]bool{}
	for i := u.entry.Batches.Len() - 1; i >= 0; i-- {
		it, err := u.entry.Batches.Step(i)
		if err != nil {
			return err
		}
		u.keys[it.Message.Key] = true
		if !it.Undoable() {
			continue
		}
		if err := u.entry.checkPurge(it); err != nil {
			return err
		}
		happened, err := u.happened(ctx, it)
		if err != nil {
			return err
		}
		if !happened {
			u.never = append(u.never, i)
			continue
		}
		u.steps = append(u.steps, i)
		u.report.Total += int64(it.Batch.Len()) - it.Back
	}
	return nil
}

// happened reports whether a step may have happened. Where no answer was written down the
// server's stamp tells, as long as it is kept.
func (u *bulkUndo) happened(ctx context.Context, it Item) (bool, error) {
	if !it.Unsure() || it.Outcome == Done {
		return true, nil
	}
	if aside, known := u.aside[it.Message.Key]; known && !it.Tried { // what was not freed came back with the rest
		return it.Message.Index < it.Message.Len-aside, nil
	}
	stamps, err := u.stampsOf(ctx, it.Message.Key)
	if err != nil {
		return false, err
	}
	if len(stamps) == 0 && (it.Op == OpPurge || time.Since(it.Time) > stampLife) {
		return true, nil // never kept, or forgotten: it may have
	}
	return stamps[strconv.Itoa(it.Seq)], nil
}

// stampsOf asks which steps on a key have happened.
func (u *bulkUndo) stampsOf(ctx context.Context, key string) (map[string]bool, error) {
	if stamps, known := u.stamps[key]; known {
		return stamps, nil
	}
	fields, err := u.c.write.HKeys(ctx, bulkStampKey(key, u.entry.ID)).Result()
	if err != nil {
		return nil, classify(err)
	}
	stamps := map[string]bool{}
	for _, f := range fields {
		stamps[f] = true
	}
	u.stamps[key] = stamps
	return stamps, nil
}

// rejoin brings back what a purge had set aside and not yet freed. How much that was also
// tells which step without an answer had been freed.
func (u *bulkUndo) rejoin(ctx context.Context) error {
	u.aside = map[string]int64{}
	for _, header := range u.entry.Items {
		if header.Seq >= 0 || !header.Undoable() {
			continue
		}
		if err := u.c.record(Record{Kind: UndoIntent, Entry: u.entry.ID, Seq: header.Seq, Time: time.Now()}); err != nil {
			return err
		}
		res, aside := u.c.rejoinKey(ctx, header)
		if errors.Is(res.Err, ErrGone) { // all of it was freed: the steps bring it back
			res = Result{Outcome: Done}
		}
		if err := u.c.record(Record{Kind: Undone, Entry: u.entry.ID, Seq: header.Seq, Time: time.Now(), Outcome: res.Outcome}); err != nil {
			u.c.logf("journal: %v", err)
		}
		if res.Err != nil {
			// A step may lie among those set aside: restored now, it would be there twice.
			return res.Err
		}
		if !header.Tried { // after a former try the length tells nothing any more
			u.aside[header.Message.Key] = aside
		}
		u.report.Total += aside
		u.report.Done += aside
	}
	return nil
}

func (u *bulkUndo) tell() {
	if u.progress != nil {
		u.progress(u.report)
	}
}

// intend writes to the journal that steps are about to be undone.
func (u *bulkUndo) intend(steps ...int) error {
	return u.write(steps, func(Item) Record { return Record{Kind: UndoIntent} })
}

// undone writes what became of them.
func (u *bulkUndo) undone(o Outcome, steps ...int) {
	err := u.write(steps, func(Item) Record { return Record{Kind: Undone, Outcome: o} })
	if err != nil {
		u.c.logf("journal: %v", err) // asked again, it looks itself
	}
}

// write writes one record a step, some at a time.
func (u *bulkUndo) write(steps []int, make func(Item) Record) error {
	for some := range slices.Chunk(steps, stepMessages) {
		var records []Record
		for _, i := range some {
			it, err := u.entry.Batches.Step(i)
			if err != nil {
				return err
			}
			r := make(it)
			r.Entry, r.Seq, r.Time, r.Count = u.entry.ID, it.Seq, time.Now(), u.backed[i]
			records = append(records, r)
		}
		if err := u.c.record(records...); err != nil {
			return err
		}
	}
	return nil
}

// moved is one message that a bulk operation has moved: who it is, in which step, and its
// score before and after.
type moved struct {
	print    Print
	step     int
	from, to float64
}

// movedFrom is what was moved from one key, and where it is now.
type movedFrom struct {
	place  Place
	key    string
	end    End // they go back to
	now    side
	target string // as script bulk has it
	all    []moved
	// inside tells that they lay at the other end, and were worked on from within the list
	// towards it: the oldest few that went to the front.
	inside bool
}

// bringBack looks for what was moved where it went, and moves it back.
func (u *bulkUndo) bringBack(ctx context.Context) error {
	sources, err := u.sources()
	if err != nil {
		return err
	}
	if err := u.intend(u.steps...); err != nil {
		return err
	}
	for _, from := range sources {
		if err = u.bringBackTo(ctx, from); err != nil {
			break
		}
	}
	if err == nil { // else all of them are looked for once more
		u.undone(Done, u.steps...)
	}
	return err
}

// sources collects what is to be brought back, by the key it was taken from.
func (u *bulkUndo) sources() ([]*movedFrom, error) {
	var all []*movedFrom
	byKey := map[string]*movedFrom{}
	for _, i := range u.steps {
		it, err := u.entry.Batches.Step(i)
		if err != nil {
			return nil, err
		}
		from := byKey[it.Message.Key]
		if from == nil {
			from = newMovedFrom(it)
			byKey[it.Message.Key] = from
			all = append(all, from)
			from.inside = it.touches(from.end.Other())
		}
		from.inside = from.inside && !it.touches(from.end) // decided by the step that was the first
		for n, print := range it.Batch.Prints {
			m := moved{print: print, step: i}
			if it.Batch.Scores != nil {
				m.from, _ = it.Batch.Scores[n].Float()
			}
			if it.Batch.ToScores != nil {
				m.to, _ = it.Batch.ToScores[n].Float()
			}
			from.all = append(from.all, m)
		}
	}
	for _, from := range all {
		if from.inside && from.target == "list" {
			from.end, from.now.end = from.end.Other(), from.now.end.Other()
		}
		slices.SortFunc(from.all, func(a, b moved) int { return bytes.Compare(a.print[:], b.print[:]) })
	}
	return all, nil
}

func newMovedFrom(it Item) *movedFrom {
	from := &movedFrom{place: it.Message.Place, key: it.Message.Key, end: it.fromEnd(), target: "list"}
	from.now = side{place: it.ToPlace, key: it.ToKey, end: it.End}
	switch {
	case it.ToKey == "": // only the scores have changed
		from.now, from.target = side{place: Delayed, key: it.Message.Key, end: Left}, "same"
	case it.Message.Place == Delayed:
		from.target = "zset"
	}
	if from.now.place == Delayed && from.target == "list" {
		from.now.end = Right // what is due last was moved last
	}
	return from
}

// fromEnd is the end of a list that a step was taken from.
func (i Item) fromEnd() End {
	at := i.Batch.Index
	if i.Op == OpPurge {
		return Left // the head of what was set aside
	}
	if n := len(at); n > 1 {
		if at[0] < at[n-1] {
			return Left
		}
		return Right
	}
	if i.Message.Index <= i.Message.Len-1-i.Message.Index {
		return Left
	}
	return Right
}

// touches reports whether a step took the outermost message at an end of the list.
func (i Item) touches(end End) bool {
	at := i.Batch.Index
	if at == nil {
		at = []int64{i.Message.Index}
	}
	if end == Left {
		return slices.Min(at) == 0
	}
	return slices.Max(at) == i.Message.Len-1
}

// bringBackTo brings back what was taken from one key: a bulk operation the other way round.
func (u *bulkUndo) bringBackTo(ctx context.Context, from *movedFrom) error {
	part := &setPart{side: from.now, prints: make([]Print, len(from.all))}
	for i, m := range from.all {
		part.prints[i] = m.print
	}
	before := u.report
	run := &bulkRun{
		Bulk: Bulk{Op: OpUndo, Progress: func(r BulkReport) {
			u.report = before.plus(r)
			u.tell()
		}},
		c: u.c, entry: u.entry.ID + "-undo", target: from.target, pushTo: from.end,
		set:    &Set{Queue: Queue{Name: u.entry.Queue, Ready: from.key}, Place: from.now.place, Count: int64(len(from.all)), parts: []*setPart{part}, mark: mark()},
		report: BulkReport{Op: OpUndo, Total: int64(len(from.all))},
	}
	if from.target != "same" {
		run.to = from.key
	}
	run.log = &undoLog{undo: u, run: run, all: from.all, met: map[int]int{}}
	run.newScore = func(_ int64, at int, now Score) (Score, error) {
		if v, _ := now.Float(); from.target == "same" && v != from.all[at].to {
			if v == from.all[at].from {
				return "", ErrAlreadyBack
			}
			return "", errors.New("rescheduled since")
		}
		return ScoreOf(from.all[at].from), nil
	}
	err := run.parts(ctx)
	u.report = before.plus(run.report)
	return err
}

// plus adds up what became of messages.
func (r BulkReport) plus(o BulkReport) BulkReport {
	r.Done, r.Gone, r.Refused, r.Unknown = r.Done+o.Done, r.Gone+o.Gone, r.Refused+o.Refused, r.Unknown+o.Unknown
	r.Why, r.Trouble = cmp.Or(r.Why, o.Why), o.Trouble
	return r
}

// undoLog counts what comes back for the step that had moved it. The journal was told before.
type undoLog struct {
	undo *bulkUndo
	run  *bulkRun
	all  []moved
	met  map[int]int // copies of equal messages
}

func (l *undoLog) intent(s *bulkStep) error {
	s.record = Record{Seq: l.run.seq}
	l.run.seq += s.n
	return nil
}

func (l *undoLog) answer(s *bulkStep, o Outcome) {
	if o != Done {
		return
	}
	for _, at := range s.found {
		owner := at
		if at+1 < len(l.all) && l.all[at+1].print == l.all[at].print {
			owner += l.met[at]
			l.met[at]++
		}
		l.undo.backed[l.all[owner].step]++
	}
}

func (l *undoLog) flush() error { return nil }
