package journal

import (
	"encoding/binary"
	"errors"
)

var errDamagedIndex = errors.New("the index is damaged")

// encode appends the table, but for its stretch, to b. Ids stand in it as they are: bytes
// that do not hold an id are no table with that entry.
func (t table) encode(b []byte) []byte {
	var names []string
	numbers := map[string]uint64{}
	number := func(name string) uint64 {
		n, known := numbers[name]
		if !known {
			n = uint64(len(names))
			numbers[name] = n
			names = append(names, name)
		}
		return n
	}
	for _, s := range t.entries {
		number(s.server)
		for _, key := range s.keys {
			number(key)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(names)))
	for _, name := range names {
		b = appendText(b, name)
	}
	b = binary.AppendUvarint(b, uint64(len(t.entries)))
	at := t.from
	for _, s := range t.entries {
		b = appendText(b, s.id)
		b = binary.AppendUvarint(b, uint64(s.from-at))
		b = binary.AppendUvarint(b, uint64(s.to-s.from))
		b = appendPlace(b, s.from, s.begun, s.beginSeq)
		b = appendPlace(b, s.from, s.first, s.firstSeq)
		b = binary.AppendUvarint(b, number(s.server))
		b = binary.AppendUvarint(b, uint64(len(s.keys)))
		for _, key := range s.keys {
			b = binary.AppendUvarint(b, number(key))
		}
		b = s.runs.encode(b)
		at = s.from
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// appendPlace writes where an intent is and its number; 0 for none.
func appendPlace(b []byte, from, offset int64, seq int32) []byte {
	if offset < 0 {
		return append(b, 0)
	}
	return binary.AppendVarint(binary.AppendUvarint(b, uint64(offset-from)+1), int64(seq))
}

func (rs runs) encode(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(rs)))
	for _, r := range rs {
		b = binary.AppendVarint(b, int64(r.seq))
		b = binary.AppendUvarint(b, uint64(r.step))
		b = binary.AppendUvarint(b, uint64(r.count))
		b = binary.AppendUvarint(b, uint64(r.n))
		b = append(b, byte(r.outcome), byte(r.undone))
	}
	return b
}

// decodeTable reads what encode has written. Any bytes at all end in a table or an error.
func decodeTable(from, to int64, b []byte) (table, error) {
	d := decoder{rest: b}
	names := make([]string, d.length())
	for i := range names {
		names[i] = d.text()
	}
	name := func() string {
		if i := d.uvarint(); i < uint64(len(names)) {
			return names[i]
		}
		d.failed = true
		return ""
	}
	t := table{from: from, to: to, entries: make([]share, d.length())}
	at := from
	for i := range t.entries {
		s := &t.entries[i]
		s.id = d.text()
		s.from = at + d.offset(to-from)
		s.to = s.from + d.offset(to-from+1) // the newline may be missing
		s.begun, s.beginSeq = d.place(s.from, to-from)
		s.first, s.firstSeq = d.place(s.from, to-from)
		s.server = name()
		if n := d.length(); n > 0 {
			s.keys = make([]string, n)
		}
		for k := range s.keys {
			s.keys[k] = name()
		}
		s.runs = d.runs()
		at = s.from
		if d.failed {
			break
		}
	}
	if d.failed || len(d.rest) > 0 {
		return table{}, errDamagedIndex
	}
	return t, nil
}

// decoder reads numbers and texts until they fail to be there.
type decoder struct {
	rest   []byte
	failed bool
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	return v * d.passed(n)
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.rest)
	return v * int64(d.passed(n))
}

// passed drops n bytes; 0 when there were none to read.
func (d *decoder) passed(n int) uint64 {
	if n <= 0 || d.failed {
		d.failed, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[n:]
	return 1
}

// length is how many things follow, of a byte at least each.
func (d *decoder) length() int {
	n := d.uvarint()
	if n > uint64(len(d.rest)) {
		d.failed = true
		return 0
	}
	return int(n)
}

func (d *decoder) text() string {
	n := d.length()
	if d.failed {
		return ""
	}
	s := string(d.rest[:n])
	d.rest = d.rest[n:]
	return s
}

// offset is a distance of most at most.
func (d *decoder) offset(most int64) int64 {
	v := d.uvarint()
	if v > uint64(most) {
		d.failed = true
		return 0
	}
	return int64(v)
}

func (d *decoder) place(from, most int64) (offset int64, seq int32) {
	v := d.offset(most + 1)
	if v == 0 {
		return -1, 0
	}
	return from + v - 1, d.int32(d.varint())
}

func (d *decoder) int32(v int64) int32 {
	if int64(int32(v)) != v {
		d.failed = true
	}
	return int32(v)
}

func (d *decoder) code() outcomeCode {
	if len(d.rest) == 0 || d.rest[0] > byte(undoBegun) {
		d.failed = true
		return 0
	}
	c := outcomeCode(d.rest[0])
	d.rest = d.rest[1:]
	return c
}

func (d *decoder) runs() runs {
	n := d.length()
	if n == 0 {
		return nil
	}
	rs := make(runs, n)
	for i := range rs {
		r := run{seq: d.int32(d.varint()), step: d.int32(int64(d.uvarint())), count: d.int32(int64(d.uvarint()))}
		r.n, r.outcome, r.undone = d.int32(int64(d.uvarint())), d.code(), d.code()
		if d.failed || r.count < 1 || r.step < 1 || r.n < 0 || r.outcome == undoBegun {
			d.failed = true
			return nil
		}
		rs[i] = r
	}
	return rs
}
