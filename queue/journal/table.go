package journal

import (
	"cmp"
	"slices"

	"redq/queue"
)

// tableBytes is how much of a file one table is about: it bounds the memory that reading
// an index takes.
const tableBytes = 8 << 20

// table is what one stretch of a file says of each entry in it.
type table struct {
	from, to int64   // the stretch, in bytes
	entries  []share // in the order of their first lines
}

// share is what a stretch of a file says of one entry.
type share struct {
	id       string
	from, to int64 // where its lines lie in the file
	// begun is where its first intent is, and first that of its first message, which are
	// numbered beginSeq and firstSeq; -1 when there is none in the stretch.
	begun, first       int64
	beginSeq, firstSeq int32
	server             string
	keys               []string // that intents in the stretch name
	runs               runs
}

// begins reports whether this is surely the beginning of the entry.
func (s share) begins() bool { return s.begun >= 0 && (s.beginSeq == 0 || s.beginSeq == -1) }

func (t table) find(id string) (share, bool) {
	i := slices.IndexFunc(t.entries, func(s share) bool { return s.id == id })
	if i < 0 {
		return share{}, false
	}
	return t.entries[i], true
}

// drafting is a table in the making.
type drafting struct {
	from, to int64
	byID     map[string]*draft
	order    []*draft
	names    map[string]string // one copy of each name
}

// draft is a share in the making.
type draft struct {
	share
	items []item
}

// item is what is known of one message or one batch.
type item struct {
	seq int32
	fact
}

func newDrafting(from int64) *drafting {
	return &drafting{from: from, to: from, byID: map[string]*draft{}, names: map[string]string{}}
}

// add takes in one line.
func (d *drafting) add(l line) {
	d.to = l.offset + l.size + 1
	s, ok := parseStub(l)
	if !ok {
		return
	}
	e, known := d.byID[string(s.entry)]
	if !known {
		e = &draft{share: share{id: string(s.entry), from: l.offset, begun: -1, first: -1}}
		d.byID[e.id] = e
		d.order = append(d.order, e)
	}
	e.to = d.to
	it := e.item(s.seq)
	switch s.kind {
	case queue.Intent:
		if it.n == 0 {
			it.n = max(1, s.n)
			d.intend(e, s, l.offset)
		}
	case queue.Answered:
		it.outcome = s.outcome
	case queue.UndoIntent:
		it.undone = undoBegun
	case queue.Undone:
		it.undone = s.outcome
	}
}

func (d *drafting) intend(e *draft, s stub, offset int64) {
	if e.begun < 0 {
		e.begun, e.beginSeq, e.server = offset, s.seq, d.name(s.server.bytes())
	}
	if s.seq >= 0 && e.first < 0 {
		e.first, e.firstSeq = offset, s.seq
	}
	if key := d.name(s.key.bytes()); !slices.Contains(e.keys, key) {
		e.keys = append(e.keys, key)
	}
}

func (d *drafting) name(b []byte) string {
	if s, ok := d.names[string(b)]; ok {
		return s
	}
	s := string(b)
	d.names[s] = s
	return s
}

// item returns what is known of a message. Nearly always it is the last.
func (e *draft) item(seq int32) *item {
	i, known := len(e.items), false
	if i > 0 && e.items[i-1].seq >= seq {
		i, known = slices.BinarySearchFunc(e.items, seq, func(it item, seq int32) int { return cmp.Compare(it.seq, seq) })
	}
	if !known {
		e.items = slices.Insert(e.items, i, item{seq: seq})
	}
	return &e.items[i]
}

// table returns what was drafted so far.
func (d *drafting) table() table {
	t := table{from: d.from, to: d.to, entries: make([]share, 0, len(d.order))}
	for _, e := range d.order {
		s := e.share
		s.keys = slices.Clone(s.keys)
		for _, it := range e.items {
			s.runs = s.runs.add(run{seq: it.seq, step: 1, count: 1, fact: it.fact})
		}
		t.entries = append(t.entries, s)
	}
	return t
}
