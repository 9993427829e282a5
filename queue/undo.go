package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Undo puts back what an entry took, as near to the old position as can be.
// Messages that are already back, or were taken since, are Gone and left alone.
// An entry of another server is refused, and one with Batches, which is for UndoBulk. The report has one result a message; what
// became of the private keys of a purge is in it only where it went wrong, or where
// the purge died before it had written any message down.
//
// It is safe to ask again after a crash: an item whose undo was begun, or whose
// first outcome is not known, is only put back when the place does not hold its
// bytes. Two processes must not undo one entry at the same moment.
func (c *Client) Undo(ctx context.Context, e Entry) Report {
	report := Report{Op: OpUndo, Queue: e.Queue, Entry: e.ID, Results: make([]Result, len(e.Items))}
	all := inOrder(e.Items)
	switch {
	case e.Batches != nil:
		report.Results = []Result{{Outcome: Refused, Err: errors.New("this was done in bulk, and is undone in bulk")}}
		return report
	case c.opts.ReadOnly:
		refuse(report.Results, all, ErrReadOnly)
		return report
	case e.Server != c.address:
		refuse(report.Results, all, fmt.Errorf("this happened on %s, and the connection is to %s", e.Server, c.address))
		return report
	}
	// What is told of an item below must not change the caller's entry.
	items := slices.Clone(e.Items)
	var order []int
	var stranded error // why messages that a purge set aside could not be brought back
	for _, i := range undoOrder(items) {
		switch it := items[i]; {
		case it.Undone == Done || it.Undone == Gone:
			report.Results[i] = resultOf(ErrAlreadyBack)
		case !it.Undoable():
			report.Results[i] = resultOf(fmt.Errorf("%w: it was %s, so there is nothing to undo", ErrGone, it.Outcome))
		case e.checkPurge(it) != nil:
			report.Results[i] = resultOf(e.checkPurge(it))
		case it.Seq < 0:
			report.Results[i] = c.rejoin(ctx, it, items)
			stranded = cmp.Or(stranded, report.Results[i].Err)
		case stranded != nil:
			// It may lie among those set aside: restored now, it would be there twice.
			report.Results[i] = Result{Outcome: Refused, Err: fmt.Errorf("%w: first of all the messages that the purge set aside must come back", stranded)}
		default:
			order = append(order, i)
		}
	}
	ms := make([]Message, len(e.Items))
	for i, it := range items {
		ms[i] = it.Message
	}
	c.inBatches(ctx, order, ms, report.Results, Undone, func(i int, _ Message) (step, error) {
		r := items[i].Record
		r.Kind, r.Time = UndoIntent, time.Now()
		cl, err := c.undoCall(items[i])
		return step{record: &r, call: cl}, err
	})
	for i, it := range e.Items {
		var moved *RescheduledError
		if it.Op == OpReschedule && errors.As(report.Results[i].Err, &moved) && moved.Now == it.Message.Score {
			report.Results[i] = resultOf(ErrAlreadyBack)
		}
	}
	report.Results = ofMessages(report.Results, e.Items)
	return report
}

// errHeadless is the result for a message that a purge may have set aside, where nobody knows
// under which name: put back from the journal it could be there twice.
var errHeadless = errors.New("the purge may not have freed it, and what the journal knew of where it was set aside was dropped to make room")

// checkPurge refuses what cannot be put back since the beginning of a purge is no longer
// in the journal.
func (e Entry) checkPurge(it Item) error {
	if it.Op != OpPurge || it.Outcome == Done {
		return nil
	}
	header := func(h Item) bool { return h.Seq < 0 && h.Message.Key == it.Message.Key }
	if it.Seq < 0 || slices.ContainsFunc(e.Items, header) {
		return nil
	}
	return errHeadless
}

// ofMessages leaves out what became of the private keys of a purge, unless it
// went wrong or is all there is to say.
func ofMessages(results []Result, items []Item) []Result {
	var kept []Result
	for i, res := range results {
		if items[i].Seq >= 0 || res.Outcome == Refused || res.Outcome == Unknown {
			kept = append(kept, res)
		}
	}
	if len(kept) == 0 {
		return results
	}
	return kept
}

// undoOrder takes the items back in the opposite order to the one they were taken
// in, so that each finds the list as long as it left it. The private keys of a
// purge come first; its pieces were taken from the head.
func undoOrder(items []Item) []int {
	order := inOrder(items)
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := items[a], items[b]
		if x.Seq < 0 || y.Seq < 0 || x.Op == OpPurge && x.End == Left {
			return cmp.Compare(x.Seq, y.Seq)
		}
		return cmp.Compare(y.Seq, x.Seq)
	})
	return order
}

// restoreFrom says from which end the old position is counted: for a purge the
// end where the oldest lay, since all that came later lies at the other; else the nearer.
func restoreFrom(it Item) string {
	m := it.Message
	if it.Op == OpPurge {
		if it.End == Left {
			return "head"
		}
		return "tail"
	}
	if m.Index <= m.Len-1-m.Index {
		return "head"
	}
	return "tail"
}

// undoCall says what takes one item back.
func (c *Client) undoCall(it Item) (*call, error) {
	m := it.Message
	unsure := it.Unsure()
	switch it.Op {
	case OpDelete, OpPurge:
		return &call{script: scriptRestore, keys: []string{m.Key}, args: []any{
			m.Payload, kind(m.Place), restoreFrom(it), m.Index, m.Len, string(m.Score), mark(), searchLimit, flag(unsure),
		}}, nil
	case OpRedrive:
		// Where it lies now is not known but for the end it was pushed to.
		now := Message{Payload: m.Payload, Place: it.ToPlace, Key: it.ToKey, Index: 0, Len: 1}
		return c.moveCall(now, m.Key, m.Place, restoreFrom(it), m, unsure), c.oneSlot(m.Key, it.ToKey)
	case OpReschedule:
		return rescheduleCall(m.Key, m.Payload, it.ToScore, m.Score), nil
	case OpEdit:
		edited := m
		edited.Payload = it.Payload
		return replaceCall(edited, m.Payload), nil
	}
	return nil, fmt.Errorf("%s cannot be undone", it.Op)
}

// rejoin brings back what a purge had set aside and not yet freed. How much that
// was also tells of items without an answer whether they had been freed, which
// their bytes alone would not where several messages are equal.
func (c *Client) rejoin(ctx context.Context, header Item, items []Item) Result {
	if err := c.record(Record{Kind: UndoIntent, Entry: header.Entry, Seq: header.Seq, Time: time.Now()}); err != nil {
		return resultOf(err)
	}
	res, aside := c.rejoinKey(ctx, header)
	if errors.Is(res.Err, ErrGone) { // all of it was freed: the items bring it back
		res = Result{Outcome: Done}
	}
	if err := c.record(Record{Kind: Undone, Entry: header.Entry, Seq: header.Seq, Time: time.Now(), Outcome: res.Outcome}); err != nil {
		c.logf("journal: %v", err)
	}
	if res.Outcome != Done || header.Tried {
		return res // after a former try the length tells nothing any more
	}
	for i, it := range items {
		if it.Seq < 0 || it.Message.Key != header.Message.Key || !it.Unsure() || it.Tried {
			continue
		}
		if items[i].Outcome = Done; it.Message.Index >= it.Message.Len-aside {
			items[i].Undone = Done // it was never freed, and came back with the rest
		}
	}
	return res
}

// rejoinPiece is how many messages one step of rejoinKey brings back.
const rejoinPiece = 200

// rejoinKey also returns how many messages had been set aside.
func (c *Client) rejoinKey(ctx context.Context, header Item) (res Result, aside int64) {
	for first := true; ; first = false {
		cl := &call{script: scriptRejoin, keys: []string{header.ToKey, header.Message.Key}, args: []any{
			kind(header.Message.Place), string(header.End), rejoinPiece,
		}}
		sending, done := c.bounded(ctx)
		c.runCalls(sending, []*call{cl})
		done()
		if first {
			aside = cl.num(2)
		}
		if res := cl.result(); res.Outcome != Done || cl.num(1) == 0 {
			return res, aside
		}
	}
}
