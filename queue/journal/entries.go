package journal

import (
	"fmt"
	"io"
	"slices"
	"time"

	"redq/queue"
)

// SampleBytes is how much of its first message a Summary shows.
const SampleBytes = 256

// Summary is one operation as a list shows it.
type Summary struct {
	ID     string
	Time   time.Time // when it was begun
	Op     queue.Op
	Server string
	Queue  string
	Keys   []string // the keys it took messages from, in order of appearance
	Total  int      // messages
	// Undoable is how many of the messages could still be put back. For a purge
	// that died before it wrote any down, it is the private keys that hold them.
	Undoable int
	Sample   []byte // the first SampleBytes of the first message
}

// Entries lists the last limit operations, newest first; all of them when limit
// is not positive. Its memory grows with their number, not with their payloads.
func (j *Journal) Entries(limit int) ([]Summary, error) {
	l, err := j.read()
	if err != nil {
		return nil, err
	}
	n := len(l.order)
	if limit > 0 {
		n = min(n, limit)
	}
	all := make([]Summary, 0, n)
	for _, t := range slices.Backward(l.order) {
		if len(all) == n {
			break
		}
		s, err := l.summary(t)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// Last returns the newest operation on the server that can still be undone, or
// ErrNotFound.
func (j *Journal) Last(server string) (Summary, error) {
	l, err := j.read()
	if err != nil {
		return Summary{}, err
	}
	for _, t := range slices.Backward(l.order) {
		if t.server == server && t.undoable() > 0 {
			return l.summary(t)
		}
	}
	return Summary{}, ErrNotFound
}

// Load returns one operation with all its messages, or ErrNotFound.
func (j *Journal) Load(id string) (queue.Entry, error) {
	file, err := j.snapshot()
	if err != nil {
		return queue.Entry{}, err
	}
	e := queue.Entry{ID: id}
	at := map[int]int{} // Seq to index in e.Items
	steps := &batches{file: file, at: map[int32]int{}}
	err = scanLines(newReader(file), func(l line) error {
		s, ok := parseStub(l)
		if !ok || string(s.entry) != id {
			return nil
		}
		if steps.add(l, s) {
			if e.Batches == nil {
				e.Batches = steps
				e.Time, e.Op, e.Server, e.Queue = s.when(), queue.Op(s.op), string(s.server.bytes()), string(s.queue.bytes())
			}
			return nil
		}
		r, err := readRecord(file, l)
		if err != nil {
			return err
		}
		addRecord(&e, at, r)
		return nil
	})
	switch {
	case err != nil:
		return queue.Entry{}, fmt.Errorf("undo journal: %w", err)
	case len(e.Items) == 0 && e.Batches == nil:
		return queue.Entry{}, fmt.Errorf("%w: %q", ErrNotFound, id)
	}
	return e, nil
}

func readRecord(file io.ReaderAt, l line) (queue.Record, error) {
	var r queue.Record
	text := make([]byte, l.size)
	if _, err := file.ReadAt(text, l.offset); err != nil {
		return r, err
	}
	if err := r.UnmarshalJSON(text); err != nil {
		return r, fmt.Errorf("the record at byte %d is damaged: %w", l.offset, err)
	}
	return r, nil
}

// addRecord puts one record into its entry. at remembers where each message is.
func addRecord(e *queue.Entry, at map[int]int, r queue.Record) {
	i, known := at[r.Seq]
	if r.Kind == queue.Intent && !known {
		if len(e.Items) == 0 {
			e.Time, e.Op, e.Server, e.Queue = r.Time, r.Op, r.Server, r.Queue
		}
		at[r.Seq] = len(e.Items)
		e.Items = append(e.Items, queue.Item{Record: r})
		return
	}
	if !known {
		return // an answer without a question: the line that asked is damaged
	}
	it := &e.Items[i]
	switch r.Kind {
	case queue.Answered:
		it.Outcome = r.Outcome
		if r.Message.Len > 0 { // where it really was, not where it was last seen
			it.Message.Index, it.Message.Len = r.Message.Index, r.Message.Len
		}
	case queue.UndoIntent:
		it.Tried, it.Undone = true, ""
	case queue.Undone:
		it.Undone = r.Outcome
	}
}

// snapshot returns the journal as it is now. What is appended later is not in it.
func (j *Journal) snapshot() (*io.SectionReader, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var file *io.SectionReader
	err := j.locked(shared, func(size int64) error {
		file = io.NewSectionReader(j.file, 0, size)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("undo journal: %w", err)
	}
	return file, nil
}

func newReader(file *io.SectionReader) io.Reader { return io.NewSectionReader(file, 0, file.Size()) }
