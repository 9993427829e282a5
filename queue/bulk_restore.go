package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// restore puts removed messages back from the journal, the steps in the opposite order.
func (u *bulkUndo) restore(ctx context.Context) error {
	for _, i := range u.steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		it, err := u.entry.Batches.Step(i)
		if err != nil {
			return err
		}
		if err := u.intend(i); err != nil {
			return err
		}
		each := it.Batch.Index != nil || it.Unsure() && len(u.stamps[it.Message.Key]) == 0
		if it.Op == OpPurge && !each {
			each, err = u.crowded(ctx, it)
		}
		switch {
		case err != nil:
		case each:
			err = u.restoreEach(ctx, i, it)
		default:
			err = u.restoreStep(ctx, i, it)
		}
		u.tell()
		if err != nil {
			return err
		}
		u.undone(Done, i)
	}
	return nil
}

// crowded reports whether other messages have arrived where a piece of a purged list was.
func (u *bulkUndo) crowded(ctx context.Context, it Item) (bool, error) {
	m := it.Message
	if m.Place == Delayed {
		return false, nil
	}
	n, err := u.c.length(ctx, m.Place, m.Key)
	return n != m.Len-m.Index-int64(it.Batch.Len()), err
}

// restoreStep puts a whole step back to the end it was taken from.
func (u *bulkUndo) restoreStep(ctx context.Context, i int, it Item) error {
	which := inOrder(it.Batch.Payloads)
	slices.Reverse(which) // the outermost last
	for len(which) > 0 {
		cl := u.putback(it, which)
		lost, err := u.insist(ctx, cl)
		if err != nil {
			return err
		}
		switch cl.status() {
		case "done":
			u.came(i, len(which))
			return nil
		case "back":
			if lost { // that was us
				u.came(i, len(which))
			} else {
				u.report.Gone += int64(len(which))
			}
			return nil
		case "exists":
			drop := map[int]bool{}
			for n := 1; n < len(cl.reply); n++ {
				drop[which[cl.num(n)-1]] = true
			}
			which = slices.DeleteFunc(which, func(n int) bool { return drop[n] })
			u.report.Gone += int64(len(drop))
		default:
			return cl.result().Err
		}
	}
	return nil
}

// came counts messages of a step that are back.
func (u *bulkUndo) came(step, n int) {
	u.report.Done += int64(n)
	u.backed[step] += int64(n)
}

func (u *bulkUndo) putback(it Item, which []int) *call {
	m := it.Message
	args := make([]any, 0, 5+2*len(which))
	args = append(args, kind(m.Place), string(it.fromEnd()), fmt.Sprintf("back:%d", it.Seq), stampLife.Milliseconds(), len(which))
	for _, n := range which {
		args = append(args, it.Batch.Payloads[n])
	}
	if m.Place == Delayed {
		for _, n := range which {
			args = append(args, string(it.Batch.Scores[n]))
		}
	}
	return &call{script: scriptPutback, keys: []string{m.Key, bulkStampKey(m.Key, u.entry.ID)}, args: args}
}

// insist asks until there is an answer. The call must be one that does nothing when it
// was carried out already; lost reports whether an answer was missed.
func (u *bulkUndo) insist(ctx context.Context, cl *call) (lost bool, err error) {
	for {
		sending, done := u.c.bounded(ctx)
		u.c.runCalls(sending, []*call{cl})
		done()
		if !isAway(cl.err) {
			return lost, cl.err
		}
		lost = lost || errors.Is(cl.err, ErrUnknownOutcome)
		run := &bulkRun{c: u.c, report: u.report}
		run.Progress = u.progress
		if err := run.await(ctx, cl.err, func(ctx context.Context) error { return u.c.write.Ping(ctx).Err() }); err != nil {
			return lost, fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
		}
		cl.err, cl.reply = nil, nil
	}
}

// restoreOrder says from which end old positions are counted, and in which order the
// messages find the list as long as they left it: those nearest to that end first.
func (i Item) restoreOrder() (from string, order []int) {
	order = inOrder(i.Batch.Payloads)
	if from = "tail"; i.fromEnd() == Left {
		from = "head"
	}
	if i.Op == OpPurge {
		if from = restoreFrom(i); from == "tail" {
			slices.Reverse(order)
		}
	}
	return from, order
}

// restoreEach puts the messages of a step back one by one, near where they were.
func (u *bulkUndo) restoreEach(ctx context.Context, step int, it Item) error {
	batch := it.Batch
	from, order := it.restoreOrder()
	for len(order) > 0 {
		var calls []*call
		for passed := int64(0); len(order) > 0 && len(calls) < batchMessages && passed < batchSteps; order = order[1:] {
			n, m := order[0], it.Message
			switch {
			case batch.Index != nil:
				m.Index = batch.Index[n]
			case it.Op == OpPurge:
				m.Index += int64(n)
			case it.fromEnd() == Left:
				m.Index = int64(n)
			default:
				m.Index = m.Len - 1 - int64(n)
			}
			if batch.Scores != nil {
				m.Score = batch.Scores[n]
			}
			calls = append(calls, &call{script: scriptRestore, keys: []string{m.Key}, args: []any{
				batch.Payloads[n], kind(m.Place), from, m.Index, m.Len, string(m.Score), mark(), searchLimit, flag(it.Unsure()),
			}})
			passed += min(m.Index, m.Len-m.Index)
		}
		sending, done := u.c.bounded(ctx)
		u.c.runCalls(sending, calls)
		done()
		for _, cl := range calls {
			switch res := cl.result(); res.Outcome {
			case Done:
				u.came(step, 1)
			case Gone:
				u.report.Gone++
			case Unknown:
				u.report.Unknown++
				return res.Err // asked again, it looks whether they are back
			default:
				var present *AlreadyDelayedError
				if errors.As(res.Err, &present) {
					u.report.Refused++
					continue
				}
				return res.Err
			}
		}
	}
	return nil
}
