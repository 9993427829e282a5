package journal

import (
	"bytes"
	"fmt"
	"iter"
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
	Total  int      // messages that the journal holds, without those that were refused
	// Undoable is how many of the messages could still be put back. For a purge
	// that died before it wrote any down, it is the private keys that hold them.
	Undoable int
	// Lost is how many more messages it had at its beginning: their records were dropped
	// to make room, and nothing can put them back.
	Lost   int
	Sample []byte // the first SampleBytes of the first message that the journal holds
}

// Entries lists the last limit operations, newest first; all of them when limit
// is not positive. Its memory grows with their number, not with their payloads.
func (j *Journal) Entries(limit int) ([]Summary, error) {
	return j.list(limit, func(tally) bool { return true })
}

// Undoable lists the last limit operations of which something could still be put back,
// as Entries does.
func (j *Journal) Undoable(limit int) ([]Summary, error) {
	return j.list(limit, tally.undoable)
}

func (j *Journal) list(limit int, wanted func(tally) bool) ([]Summary, error) {
	var all []Summary
	err := j.read(func(v *view) error {
		all = nil
		for t, err := range v.tallies() {
			if err != nil {
				return err
			}
			if !wanted(t) {
				continue
			}
			s, err := v.summary(t)
			if err != nil {
				return err
			}
			if all = append(all, s); len(all) == limit {
				break
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("undo journal: %w", err)
	}
	return all, nil
}

// Last returns the newest operation on the server that can still be undone, or
// ErrNotFound.
func (j *Journal) Last(server string) (Summary, error) {
	var last Summary
	err := j.read(func(v *view) error {
		for t, err := range v.tallies() {
			if err != nil {
				return err
			}
			if t.server == server && t.undoable() {
				last, err = v.summary(t)
				return err
			}
		}
		return ErrNotFound
	})
	switch {
	case err == ErrNotFound:
		return Summary{}, err
	case err != nil:
		return Summary{}, fmt.Errorf("undo journal: %w", err)
	}
	return last, nil
}

// tally is what the shares of one entry come to.
type tally struct {
	server       string
	keys         []string
	begun, first place // of the first intent, and that of a message; without a part when there is none
	firstSeq     int32
	runs         runs
}

func (t tally) undoable() bool {
	_, n := t.runs.messages()
	return n > 0
}

// place is where a line begins.
type place struct {
	part   *part
	offset int64
}

// before takes in a share that lies before all that the tally knows.
func (t tally) before(s share, p *part) tally {
	if s.begun >= 0 {
		t.server, t.begun = s.server, place{p, s.begun}
	}
	if s.first >= 0 {
		t.first, t.firstSeq = place{p, s.first}, s.firstSeq
	}
	keys := slices.Clip(s.keys)
	for _, key := range t.keys {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	t.keys, t.runs = keys, s.runs.then(t.runs)
	return t
}

// tallies visits the entries, the one that was begun last first. What it keeps in mind are the
// entries that later parts spoke of and that were begun before.
func (v *view) tallies() iter.Seq2[tally, error] {
	return func(yield func(tally, error) bool) {
		later := map[string]tally{}
		for k := 0; ; k++ {
			p, t, err := v.table(k)
			if err != nil {
				yield(tally{}, err)
				return
			}
			if p == nil {
				return
			}
			for _, s := range slices.Backward(t.entries) {
				sum := later[s.id].before(s, p)
				begun := s.begins()
				if s.begun >= 0 && !begun {
					before, err := v.begunBefore(k, s.id)
					if err != nil {
						yield(tally{}, err)
						return
					}
					begun = !before
				}
				if !begun {
					later[s.id] = sum
					continue
				}
				delete(later, s.id)
				if !yield(sum, nil) {
					return
				}
			}
		}
	}
}

// table reads the k-th part; nil when there is none.
func (v *view) table(k int) (*part, table, error) {
	p, err := v.part(k)
	if p == nil || err != nil {
		return nil, table{}, err
	}
	t, err := p.table()
	return p, t, err
}

// begunBefore reports whether an entry has intents in parts older than the k-th.
func (v *view) begunBefore(k int, id string) (bool, error) {
	for k++; ; k++ {
		p, err := v.part(k)
		if p == nil || err != nil {
			return false, err
		}
		s, ok, err := p.find(id)
		if err != nil || ok && s.begun >= 0 {
			return ok, err
		}
	}
}

// summary reads the rest of what a list shows from the lines themselves.
func (v *view) summary(t tally) (Summary, error) {
	s := Summary{Keys: t.keys, Server: t.server, Lost: int(t.firstSeq)}
	s.Total, s.Undoable = t.runs.messages()
	head, err := v.head(t.begun)
	if err != nil {
		return s, err
	}
	if stub, ok := parseStub(line{head: head, whole: true}); ok {
		s.ID, s.Time, s.Op, s.Queue = string(stub.entry), stub.when(), queue.Op(stub.op), string(stub.queue.bytes())
	}
	if t.first.part == nil {
		return s, nil
	}
	if t.first != t.begun {
		if head, err = v.head(t.first); err != nil {
			return s, err
		}
	}
	eachField(head, func(name []byte, f value) {
		switch string(name) {
		case "payload":
			s.Sample = sampleOf(f.bytes())
		case "payloads":
			s.Sample = sampleOf(f.first().bytes())
		}
	})
	return s, nil
}

func sampleOf(payload []byte) []byte { return bytes.Clone(payload[:min(len(payload), SampleBytes)]) }
