package journal

import (
	"os"

	"redq/queue"
)

// batches are the steps of one bulk operation, of which only where they lie is in memory.
type batches struct {
	// files are those that the steps lie in, by segment. They are open as long as somebody has the
	// steps, and so stay readable when the segment is sealed or dropped meanwhile; the
	// runtime closes them when nobody has.
	files map[int]*os.File
	steps []batch
	at    map[int32]int // by the number of their first message
}

// batch is one step: where it lies, and what became of it.
type batch struct {
	file            *os.File
	offset, size    int64
	n               int32
	outcome, undone outcomeCode
	tried           bool
	back            int64
}

var _ queue.Batches = (*batches)(nil)

// open returns the file of a part.
func (b *batches) open(v *view, p *part) (*os.File, error) {
	number := p.segment.number
	if file := b.files[number]; file != nil {
		return file, nil
	}
	file, err := v.open(p)
	if err != nil {
		return nil, err
	}
	v.release(file) // it is ours from now on
	if b.files == nil {
		b.files = map[int]*os.File{}
	}
	b.files[number] = file
	return file, nil
}

func (b *batches) close() {
	for _, file := range b.files {
		_ = file.Close() // only read
	}
}

// add takes in a record; false when it is not about a batch.
func (b *batches) add(file *os.File, l line, s stub) bool {
	i, known := b.at[s.seq]
	if s.kind == queue.Intent && s.n > 0 && !known {
		b.at[s.seq] = len(b.steps)
		b.steps = append(b.steps, batch{file: file, offset: l.offset, size: l.size, n: s.n})
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
		if it.item().Outcome == queue.Refused { // asked for again, under another number
			continue
		}
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
	it.Record, err = readRecord(b.steps[i].file, line{offset: b.steps[i].offset, size: b.steps[i].size})
	return it, err
}
