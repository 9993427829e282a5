package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"redq/queue"
)

// Dropped is what was removed from a journal to make room: it can no longer be undone.
type Dropped struct {
	Entries  int       // operations that were begun in what was removed
	Messages int       // of these and of operations that had lost some before
	Oldest   time.Time // when the first and the last of the operations were begun
	Newest   time.Time
}

// and adds up what was dropped.
func (d Dropped) and(o Dropped) Dropped {
	d.Entries, d.Messages = d.Entries+o.Entries, d.Messages+o.Messages
	if d.Oldest.IsZero() || !o.Oldest.IsZero() && o.Oldest.Before(d.Oldest) {
		d.Oldest = o.Oldest
	}
	if o.Newest.After(d.Newest) {
		d.Newest = o.Newest
	}
	return d
}

// TakeDropped returns what this Journal has dropped since it was asked last; the zero
// value when that is nothing.
func (j *Journal) TakeDropped() Dropped {
	j.mu.Lock()
	defer j.mu.Unlock()
	d := j.dropped
	j.dropped = Dropped{}
	return d
}

// makeRoom drops the oldest segments until need more bytes may be written to the active one, which has
// size bytes. The caller has locked the journal. Segments stay that hold records of entries that
// some process is at work on, or that the new records are about; without intents among these
// they are written all the same, for they are small, and an undo of the oldest entry, or the
// answers to what was asked, should not fail for want of room.
func (j *Journal) makeRoom(size, need int64, rs []queue.Record) error {
	if j.maxBytes <= 0 || size+need+j.sealedBytes <= j.maxBytes {
		return nil
	}
	all, err := j.names.sealed()
	if err != nil {
		return err
	}
	over := size + need - j.maxBytes
	j.sealedBytes = 0
	for _, s := range all {
		j.sealedBytes += s.size
	}
	if over += j.sealedBytes; over <= 0 {
		return nil
	}
	held, err := j.hold.held()
	if err != nil {
		return err
	}
	small := true
	for _, r := range rs {
		held[r.Entry] = true
		small = small && r.Kind != queue.Intent
	}
	n, dropped, err := j.victims(all, over, held)
	switch {
	case err != nil:
		return err
	case n < 0 && small:
		return nil
	case n < 0:
		return fmt.Errorf("%w: %s may have %d bytes, and what is in it belongs to operations that are under way", ErrFull, j.path, j.maxBytes)
	}
	return j.drop(all[:n], dropped)
}

// victims returns how many of the oldest segments must go to win so many bytes, and what
// is lost with them; -1 when one of them must stay.
func (j *Journal) victims(all []segment, over int64, held map[string]bool) (n int, lost Dropped, err error) {
	for n = 0; over > 0; n++ {
		if n == len(all) {
			return -1, lost, nil
		}
		d, stays, err := j.inSegment(all[n], held)
		switch {
		case errors.Is(err, fs.ErrNotExist): // somebody has removed it by hand
		case err != nil:
			return 0, lost, err
		case stays:
			return -1, lost, nil
		}
		lost = lost.and(d)
		over -= all[n].size
	}
	return n, lost, nil
}

// inSegment returns what would be lost with a segment, and whether it holds records of
// entries that are held.
func (j *Journal) inSegment(s segment, held map[string]bool) (lost Dropped, stays bool, err error) {
	ix, err := j.names.indexOf(s)
	if err != nil {
		return lost, false, err
	}
	v := &view{names: j.names}
	defer v.close()
	v.add(s, ix)
	for _, p := range v.parts {
		t, err := p.table()
		if err != nil {
			return lost, false, err
		}
		for _, e := range t.entries {
			if held[e.id] {
				return lost, true, nil
			}
			d, err := v.loses(p, e)
			if err != nil {
				return lost, false, err
			}
			lost = lost.and(d)
		}
	}
	return lost, false, nil
}

// loses returns what is lost with one entry, so far as this part of the journal knows.
func (v *view) loses(p *part, e share) (Dropped, error) {
	_, undoable := e.runs.messages()
	if e.begun < 0 || undoable == 0 {
		return Dropped{}, nil
	}
	head, err := v.head(place{p, e.begun})
	if err != nil {
		return Dropped{}, err
	}
	s, _ := parseStub(line{head: head, whole: true})
	d := Dropped{Messages: undoable, Oldest: s.when(), Newest: s.when()}
	if e.begins() {
		d.Entries = 1
	}
	return d, nil
}

// drop removes segments, the oldest first.
func (j *Journal) drop(all []segment, lost Dropped) error {
	for _, s := range all {
		if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		j.sealedBytes -= s.size
	}
	j.dropped = j.dropped.and(lost)
	return errors.Join(j.names.sweep(), syncDir(filepath.Dir(j.path)))
}

// sweep removes the indexes of segments that are there no more, and what was to become one.
func (n names) sweep() error {
	stem, ext := n.cut()
	files, err := os.ReadDir(filepath.Dir(stem))
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, f := range files {
		there[f.Name()] = true
	}
	for _, f := range files {
		name, _, isIndex := strings.Cut(f.Name(), indexExt)
		if _, ok := numberIn(name, filepath.Base(stem), ""); isIndex && ok && !there[name+ext] {
			_ = os.Remove(filepath.Join(filepath.Dir(stem), f.Name())) // the next time, then
		}
	}
	return nil
}

// removeTemporary removes what was to become an index.
func (n names) removeTemporary(index string) error {
	files, err := os.ReadDir(filepath.Dir(string(n)))
	if err != nil {
		return err
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), index+".") && strings.HasSuffix(f.Name(), tempExt) {
			_ = os.Remove(filepath.Join(filepath.Dir(string(n)), f.Name())) // another has been faster
		}
	}
	return nil
}
