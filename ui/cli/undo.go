package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"redq/queue"
	"redq/queue/journal"
	"redq/queue/payload"
)

// usualUndoList is how many entries are listed unless somebody has said so.
const usualUndoList = 1000

type undoFlags struct {
	operationFlags
	last  bool
	id    string
	limit int64 // entries that are listed; 0: all
}

func (r *run) undo() *cobra.Command {
	f := undoFlags{limit: usualUndoList}
	cmd := &cobra.Command{
		Use:   "undo [--last | --id ID]",
		Short: "List what can be undone, or undo it",
		Long: `List what the undo journal holds, the newest first, or put back what an entry
took. Messages that are back already, or were taken since, are left alone.`,
		Args:                  noArgs,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			byID := cmd.Flags().Changed("id")
			switch {
			case r.flags.noJournal:
				return usagef("redq undo reads the undo journal: --no-journal keeps none")
			case f.last && byID:
				return usagef("expected either --last or --id ID")
			case !f.last && !byID && (f.yes || f.dryRun):
				return usagef("expected --last or --id ID: what is to be undone")
			case !f.last && !byID:
				return r.listUndo(f)
			}
			return r.undoEntry(cmd.Context(), f)
		},
	}
	cmd.Flags().BoolVar(&f.last, "last", false, "undo the newest entry of this server that can be undone")
	cmd.Flags().StringVar(&f.id, "id", "", "undo the entry `ID`")
	cmd.Flags().VarP(&countFlag{&f.limit, 0}, "limit", "n", "list at most `N` entries, 0 for all (default 1000)")
	f.define(cmd)
	return cmd
}

// entryJSON is one entry of the undo journal.
type entryJSON struct {
	ID       string   `json:"id"`
	Time     *string  `json:"time"`
	Op       queue.Op `json:"op"`
	Server   string   `json:"server"`
	Queue    string   `json:"queue"`
	QueueB64 *string  `json:"queue_b64,omitempty"`
	Total    int      `json:"total"`
	Undoable int      `json:"undoable"`
	Lost     int      `json:"lost,omitempty"`
}

// listUndo lists the entries of which something can still be undone. It asks no server.
func (r *run) listUndo(f undoFlags) error {
	if err := r.openLog(); err != nil {
		return err
	}
	j, err := r.openJournal(0) // nothing is written
	if err != nil {
		return err
	}
	defer j.Close()
	undoable, err := j.Undoable(int(f.limit))
	if err != nil {
		return failf("%v", err)
	}
	if len(undoable) == usualUndoList && f.limit == usualUndoList {
		r.note("these are the last %d entries: -n 0 lists all", len(undoable))
	}
	if f.json {
		for _, s := range undoable {
			e := entryJSON{ID: s.ID, Time: timeJSON(s.Time), Op: s.Op, Server: s.Server, Total: s.Total, Undoable: s.Undoable, Lost: s.Lost}
			e.Queue, e.QueueB64 = textJSON(s.Queue)
			if err := writeJSON(r.Stdout, e); err != nil {
				return err
			}
		}
		return nil
	}
	t := r.table("ID", "TIME", "OPERATION", "SERVER", "QUEUE", "MESSAGES", "FIRST")
	for _, s := range undoable {
		t.row(line(s.ID), timeText(s.Time, r.Now()), line(string(s.Op)), line(s.Server), line(s.Queue),
			undoableText(s), payload.Preview(s.Sample, sampleBytes))
	}
	return t.flush()
}

// undoableText says how much of an entry could be put back.
func undoableText(s journal.Summary) string {
	text := fmt.Sprintf("%d of %d", s.Undoable, s.Total)
	if s.Lost > 0 {
		text += fmt.Sprintf(", %d lost", s.Lost)
	}
	return text
}

func (r *run) undoEntry(ctx context.Context, f undoFlags) error {
	c, err := r.connectToChange(ctx, f.dryRun)
	if err != nil {
		return err
	}
	defer c.close()
	unlock, err := c.journal.Lock()
	if err != nil {
		return failf("%v", err)
	}
	defer unlock()
	if f.last {
		last, err := c.journal.Last(c.Address())
		if errors.Is(err, journal.ErrNotFound) {
			return failf("there is nothing to undo on %s", line(c.server()))
		}
		if err != nil {
			return failf("%v", err)
		}
		f.id = last.ID
	}
	e, err := c.journal.Load(f.id)
	if err != nil {
		return failf("%v", err)
	}
	if e.Server != c.Address() {
		return failf("entry %s happened on %s, and the connection is to %s", e.ID, line(e.Server), line(c.Address()))
	}
	return r.undoMessages(ctx, c, e, f)
}

func (r *run) undoMessages(ctx context.Context, c connection, e queue.Entry, f undoFlags) error {
	if e.Undoable() == 0 {
		return failf("nothing of entry %s can be undone any more", e.ID)
	}
	if e.Lost > 0 {
		r.note("the first %s of entry %s are not brought back: what the undo journal knew of them was dropped to make room", plural(e.Lost), e.ID)
	}
	matched, ms, err := undoable(e)
	if err != nil {
		return failf("%v", err)
	}
	return r.operate(ctx, c, queue.Queue{Name: e.Queue}, operation{
		op: queue.OpUndo, past: "undone", asks: true, matched: matched, samples: ms,
		what: fmt.Sprintf("undo the %s of %s of %s", e.Op, plural(matched), line(e.Queue)),
		do: func(ctx context.Context, progress func(queue.BulkReport)) (queue.BulkReport, error) {
			if e.Batches != nil {
				return c.UndoBulk(ctx, e, progress)
			}
			return c.Undo(ctx, e).Totals(), nil
		},
	}, f.operationFlags)
}

// undoable counts the messages of an entry that could be put back, and returns the first
// of them, where the entry has their bytes.
func undoable(e queue.Entry) (n int64, first []queue.Message, err error) {
	if e.Batches == nil {
		for _, it := range e.Items {
			if it.Seq >= 0 && it.Undoable() {
				n++
				first = append(first, it.Message)
			}
		}
		return n, first, nil
	}
	_, n = e.Batches.Messages()
	if e.Batches.Len() == 0 {
		return n, nil, nil
	}
	step, err := e.Batches.Step(0)
	for _, p := range step.Batch.Payloads {
		first = append(first, queue.Message{Payload: p, Size: int64(len(p)), Place: step.Message.Place})
	}
	return n, first[:min(len(first), samples)], err
}
