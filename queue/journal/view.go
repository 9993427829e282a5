package journal

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
)

// view is the journal as it was at one moment: what is appended later is not in it.
type view struct {
	names  names
	sealed []segment // those that were not looked at yet, the oldest first
	parts  []*part   // those that were, the newest first
	opened []*index
	active *os.File

	file *os.File // of the sealed segment that was read last
	of   int      // its number
}

// part is a stretch of a file of the journal with its table. The newest one may have no
// index yet.
type part struct {
	segment segment // number 0 for the active one
	index   *index
	frame   int
	latest  *table // when there is no index
}

// active is the index of the active segment. It is in memory, and extended by what was
// appended since.
type active struct {
	generation int // of the file
	made       *indexing
	memory     *bytes.Buffer
}

// read gives do a view, and another one when a segment that it needs has been dropped.
func (j *Journal) read(do func(*view) error) error {
	const tries = 5
	var err error
	for range tries {
		var v *view
		if v, err = j.view(); err == nil {
			err = do(v)
			v.close()
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return err
}

// view looks at the files under the lock, so that they belong together.
func (j *Journal) view() (*view, error) {
	v := &view{names: j.names}
	size, generation, err := j.look(v)
	if err == nil {
		err = j.index(v, size, generation)
	}
	if err != nil {
		v.close()
		return nil, err
	}
	return v, nil
}

func (j *Journal) look(v *view) (size int64, generation int, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.sealOvergrown(); err != nil {
		return 0, 0, err
	}
	err = j.locked(shared, func(now int64) (err error) {
		size, generation = now, j.generation
		if v.active, err = os.Open(j.path); err == nil {
			v.sealed, err = j.names.sealed()
		}
		return err
	})
	return size, generation, err
}

// sealOvergrown seals an active segment that is far larger than a segment should be, as one that
// was written before there were any: then its index is kept.
func (j *Journal) sealOvergrown() error {
	most := 2 * j.segmentBytes
	if info, err := os.Stat(j.path); err != nil || info.Size() <= most || j.file == nil {
		return nil
	}
	return j.locked(exclusive, func(size int64) error {
		if size <= most {
			return nil // another was faster
		}
		return j.seal()
	})
}

// index puts the parts of the active segment into the view.
func (j *Journal) index(v *view, size int64, generation int) error {
	j.indexed.Lock()
	defer j.indexed.Unlock()
	a := &j.active
	if a.made == nil || a.generation != generation || size < a.made.draft.to-1 {
		memory := &bytes.Buffer{}
		*a = active{generation: generation, memory: memory, made: newIndexing(memory, 0)}
	}
	from := min(a.made.draft.to, size)
	err := scanLines(io.NewSectionReader(v.active, from, size-from), func(l line) error {
		l.offset += from
		return a.made.add(l)
	})
	if err != nil {
		a.made = nil
		return err
	}
	latest := a.made.draft.table()
	v.parts = append(v.parts, &part{latest: &latest})
	v.add(segment{}, &index{in: bytes.NewReader(a.memory.Bytes()), frames: a.made.frames})
	return nil
}

// add puts the tables of an index behind the parts.
func (v *view) add(s segment, ix *index) {
	v.opened = append(v.opened, ix)
	for i := len(ix.frames) - 1; i >= 0; i-- {
		v.parts = append(v.parts, &part{segment: s, index: ix, frame: i})
	}
}

func (v *view) close() {
	for _, ix := range v.opened {
		ix.close()
	}
	for _, file := range []*os.File{v.active, v.file} {
		if file != nil {
			_ = file.Close() // only read
		}
	}
}

// part returns the k-th part, the newest being 0; nil when there are no more.
func (v *view) part(k int) (*part, error) {
	for k >= len(v.parts) && len(v.sealed) > 0 {
		s := v.sealed[len(v.sealed)-1]
		ix, err := v.names.indexOf(s)
		if err != nil {
			return nil, err
		}
		v.sealed = v.sealed[:len(v.sealed)-1]
		v.add(s, ix)
	}
	if k >= len(v.parts) {
		return nil, nil
	}
	return v.parts[k], nil
}

// table reads the part's table.
func (p *part) table() (table, error) {
	if p.latest != nil {
		return *p.latest, nil
	}
	b, err := p.index.body(p.frame)
	if err != nil {
		return table{}, err
	}
	return decodeTable(p.index.frames[p.frame].from, p.index.frames[p.frame].to, b)
}

// find returns what the part says of an entry.
func (p *part) find(id string) (share, bool, error) {
	if p.latest == nil {
		b, err := p.index.body(p.frame)
		if err != nil || !bytes.Contains(b, []byte(id)) {
			return share{}, false, err
		}
	}
	t, err := p.table()
	if err != nil {
		return share{}, false, err
	}
	s, ok := t.find(id)
	return s, ok, nil
}

// open returns the file that a part is in. It stays open until another segment is asked
// for.
func (v *view) open(p *part) (*os.File, error) {
	if p.segment.number == 0 {
		return v.active, nil
	}
	if v.file != nil && v.of == p.segment.number {
		return v.file, nil
	}
	file, err := p.segment.open()
	if err != nil {
		return nil, err
	}
	if v.file != nil {
		_ = v.file.Close() // only read
	}
	v.file, v.of = file, p.segment.number
	return file, nil
}

// release leaves the file that open returned last to somebody else to close.
func (v *view) release(file *os.File) {
	if file == v.active {
		v.active = nil
	}
	if file == v.file {
		v.file = nil
	}
}

// head reads the line at an offset, as far as a list needs it.
func (v *view) head(at place) ([]byte, error) {
	file, err := v.open(at.part)
	if err != nil {
		return nil, err
	}
	head := make([]byte, headBytes)
	n, err := file.ReadAt(head, at.offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	head, _, _ = bytes.Cut(head[:n], []byte("\n"))
	return head, nil
}
