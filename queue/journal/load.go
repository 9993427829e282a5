package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"redq/queue"
)

// Load returns one operation with all its messages, or ErrNotFound. The steps of a bulk
// operation are read when they are asked for.
func (j *Journal) Load(id string) (queue.Entry, error) {
	var e queue.Entry
	err := j.read(func(v *view) (err error) {
		e, err = v.load(id)
		return err
	})
	switch {
	case errors.Is(err, ErrNotFound):
		return queue.Entry{}, err
	case err != nil:
		return queue.Entry{}, fmt.Errorf("undo journal: %w", err)
	}
	return e, nil
}

// stretch is where a part has lines of an entry.
type stretch struct {
	part     *part
	from, to int64
}

// stretches returns where the lines of an entry are, the oldest first.
func (v *view) stretches(id string) ([]stretch, error) {
	var all []stretch
	for k := 0; ; k++ {
		p, err := v.part(k)
		if err != nil {
			return nil, err
		}
		if p == nil {
			break
		}
		s, ok, err := p.find(id)
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, stretch{p, s.from, s.to})
		}
		if ok && s.begins() {
			break
		}
	}
	slices.Reverse(all)
	return all, nil
}

func (v *view) load(id string) (queue.Entry, error) {
	all, err := v.stretches(id)
	if err != nil {
		return queue.Entry{}, err
	}
	l := loading{id: id, entry: queue.Entry{ID: id}, at: map[int]int{}, first: -1, steps: &batches{at: map[int32]int{}}}
	for _, s := range all {
		if err := l.read(v, s); err != nil {
			l.steps.close()
			return queue.Entry{}, err
		}
	}
	if l.entry.Batches == nil {
		l.steps.close()
	}
	if len(l.entry.Items) == 0 && l.entry.Batches == nil {
		return queue.Entry{}, fmt.Errorf("%w: %q", ErrNotFound, id)
	}
	l.entry.Lost = max(0, l.first)
	return l.entry, nil
}

// loading is an entry while its lines go by.
type loading struct {
	id    string
	entry queue.Entry
	at    map[int]int // where each message is in Items
	first int64       // number of the first message; -1 before it
	steps *batches
}

// read takes in the lines of one stretch.
func (l *loading) read(v *view, s stretch) error {
	file, err := l.steps.open(v, s.part)
	if err != nil {
		return err
	}
	return scanLines(io.NewSectionReader(file, s.from, s.to-s.from), func(text line) error {
		text.offset += s.from
		stub, ok := parseStub(text)
		if !ok || string(stub.entry) != l.id {
			return nil
		}
		return l.add(file, text, stub)
	})
}

func (l *loading) add(file *os.File, text line, s stub) error {
	if s.kind == queue.Intent && s.seq >= 0 && l.first < 0 {
		l.first = int64(s.seq)
	}
	e := &l.entry
	if l.steps.add(file, text, s) {
		if e.Batches == nil {
			e.Batches = l.steps
			e.Time, e.Op, e.Server, e.Queue = s.when(), queue.Op(s.op), string(s.server.bytes()), string(s.queue.bytes())
		}
		return nil
	}
	r, err := readRecord(file, text)
	if err != nil {
		return err
	}
	addRecord(e, l.at, r)
	return nil
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
