package model

// recent keeps the last entries of a stream. Of routine ones there may be
// thousands a second, so they have a room of their own: they never push out the
// few that matter. It is a value: with returns another one and never changes what
// others hold.
type recent[T any] struct {
	routine, other []entry[T]
	seen           int64 // entries so far
}

type entry[T any] struct {
	number int64 // in the stream, from 0
	value  T
}

// with returns recent with one more entry and, of each kind, at most the last most.
func (r recent[T]) with(v T, routine bool, most int) recent[T] {
	room := &r.other
	if routine {
		room = &r.routine
	}
	// Appending may use the room behind the entries: no other value of this one is
	// added to once this one is there. Growth moves them, which frees those dropped.
	*room = append(*room, entry[T]{r.seen, v})
	if extra := len(*room) - most; extra > 0 {
		*room = (*room)[extra:]
	}
	r.seen++
	return r
}

// len returns how many entries are kept.
func (r recent[T]) len() int { return len(r.routine) + len(r.other) }

// dropped returns how many were not kept.
func (r recent[T]) dropped() int64 { return r.seen - int64(r.len()) }

// all returns the entries that are kept, oldest first.
func (r recent[T]) all() []T {
	merged := make([]T, 0, r.len())
	a, b := r.routine, r.other
	for len(a)+len(b) > 0 {
		next := &a
		if len(a) == 0 || len(b) > 0 && b[0].number < a[0].number {
			next = &b
		}
		merged = append(merged, (*next)[0].value)
		*next = (*next)[1:]
	}
	return merged
}
