package journal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"redq/queue"
)

// ledger is what the records of a file come to.
type ledger struct {
	file  *io.SectionReader
	byID  map[string]*tally
	order []*tally          // as they were begun
	names map[string]string // one copy of each name
}

// tally is one entry of a ledger.
type tally struct {
	id, server, queue string
	op                queue.Op
	time              time.Time
	keys              []string
	first             int64 // offset of the first message's line; -1 when there is none
	items             []item
}

// item is what is known of one message or one batch, in few bytes, for there may be millions.
type item struct {
	seq             int32
	n               int32 // messages
	outcome, undone outcomeCode
}

// outcomeCode is an index into outcomes.
type outcomeCode uint8

func outcomes() [5]queue.Outcome {
	return [...]queue.Outcome{"", queue.Done, queue.Gone, queue.Refused, queue.Unknown}
}

func (j *Journal) read() (*ledger, error) {
	file, err := j.snapshot()
	if err != nil {
		return nil, err
	}
	l := &ledger{file: file, byID: map[string]*tally{}, names: map[string]string{}}
	err = scanLines(newReader(file), func(text line) error {
		if s, ok := parseStub(text); ok {
			l.add(s, text.offset)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("undo journal: %w", err)
	}
	return l, nil
}

// add takes in one record, as addRecord does.
func (l *ledger) add(s stub, offset int64) {
	t, known := l.byID[string(s.entry)]
	if s.kind == queue.Intent {
		if !known {
			t = l.begin(s)
		}
		l.intend(t, s, offset)
		return
	}
	if !known {
		return
	}
	it := t.item(s.seq)
	if it == nil {
		return
	}
	switch s.kind {
	case queue.Answered:
		it.outcome = s.outcome
	case queue.UndoIntent:
		it.undone = 0
	case queue.Undone:
		it.undone = s.outcome
	}
}

func (l *ledger) begin(s stub) *tally {
	t := &tally{
		id: string(s.entry), server: l.name(s.server.bytes()), queue: l.name(s.queue.bytes()),
		op: queue.Op(l.name(s.op)), time: s.when(), first: -1,
	}
	l.byID[t.id] = t
	l.order = append(l.order, t)
	return t
}

func (l *ledger) name(b []byte) string {
	if s, ok := l.names[string(b)]; ok {
		return s
	}
	s := string(b)
	l.names[s] = s
	return s
}

func (l *ledger) intend(t *tally, s stub, offset int64) {
	i, known := t.find(s.seq)
	if known {
		return
	}
	t.items = slices.Insert(t.items, i, item{seq: s.seq, n: max(1, s.n)})
	if key := l.name(s.key.bytes()); !slices.Contains(t.keys, key) {
		t.keys = append(t.keys, key)
	}
	if s.seq >= 0 && t.first < 0 {
		t.first = offset
	}
}

// find returns where the message is, or belongs. Nearly always it is the last.
func (t *tally) find(seq int32) (int, bool) {
	if n := len(t.items); n == 0 || t.items[n-1].seq < seq {
		return n, false
	}
	return slices.BinarySearchFunc(t.items, seq, func(it item, seq int32) int { return cmp.Compare(it.seq, seq) })
}

func (t *tally) item(seq int32) *item {
	i, ok := t.find(seq)
	if !ok {
		return nil
	}
	return &t.items[i]
}

// messages returns the items that are messages; those before them, with a
// negative number, are private keys of a purge.
func (t *tally) messages() []item {
	i, _ := t.find(0)
	return t.items[i:]
}

func (t *tally) undoable() int {
	if n := countUndoable(t.messages()); n > 0 {
		return n
	}
	return countUndoable(t.items)
}

func countUndoable(items []item) int {
	names := outcomes()
	n := 0
	for _, it := range items {
		if (queue.Item{Outcome: names[it.outcome], Undone: names[it.undone]}).Undoable() {
			n += int(it.n)
		}
	}
	return n
}

func (l *ledger) summary(t *tally) (Summary, error) {
	s := Summary{
		ID: t.id, Time: t.time, Op: t.op, Server: t.server, Queue: t.queue, Keys: t.keys,
		Undoable: t.undoable(),
	}
	for _, it := range t.messages() {
		s.Total += int(it.n)
	}
	if t.first < 0 {
		return s, nil
	}
	head := make([]byte, headBytes)
	n, err := l.file.ReadAt(head, t.first)
	if err != nil && !errors.Is(err, io.EOF) {
		return s, fmt.Errorf("undo journal: %w", err)
	}
	head, _, _ = bytes.Cut(head[:n], []byte("\n"))
	eachField(head, func(name []byte, v value) {
		switch string(name) {
		case "payload":
			s.Sample = sampleOf(v.bytes())
		case "payloads":
			s.Sample = sampleOf(v.first().bytes())
		}
	})
	return s, nil
}

func sampleOf(payload []byte) []byte { return bytes.Clone(payload[:min(len(payload), SampleBytes)]) }
