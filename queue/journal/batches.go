package journal

import (
	"io"

	"redq/queue"
)

// batches are the steps of one bulk operation, of which only where they lie is in memory.
type batches struct {
	file  io.ReaderAt
	steps []batch
	at    map[int32]int // by the number of their first message
}

// batch is one step: where it lies, and what became of it.
type batch struct {
	offset, size    int64
	n               int32
	outcome, undone outcomeCode
	tried           bool
	back            int64
}

var _ queue.Batches = (*batches)(nil)

// add takes in a record; false when it is not about a batch.
func (b *batches) add(l line, s stub) bool {
	i, known := b.at[s.seq]
	if s.kind == queue.Intent && s.n > 0 && !known {
		b.at[s.seq] = len(b.steps)
		b.steps = append(b.steps, batch{offset: l.offset, size: l.size, n: s.n})
		return true
	}
	if !known {
		return false
	}
	switch it := &b.steps[i]; s.kind {
	case queue.Answered:
		it.outcome = s.outcome
	case queue.UndoIntent:
		it.tried, it.undone = true, 0
	case queue.Undone:
		it.undone = s.outcome
		it.back += s.count
	}
	return true
}

// Len implements queue.Batches.
func (b *batches) Len() int { return len(b.steps) }

// Messages implements queue.Batches.
func (b *batches) Messages() (all, undoable int64) {
	for _, it := range b.steps {
		all += int64(it.n)
		if it.item().Undoable() {
			undoable += int64(it.n)
		}
	}
	return all, undoable
}

func (b batch) item() queue.Item {
	names := outcomes()
	return queue.Item{Outcome: names[b.outcome], Tried: b.tried, Undone: names[b.undone], Back: b.back}
}

// Step implements queue.Batches.
func (b *batches) Step(i int) (queue.Item, error) {
	it := b.steps[i].item()
	var err error
	it.Record, err = readRecord(b.file, line{offset: b.steps[i].offset, size: b.steps[i].size})
	return it, err
}
