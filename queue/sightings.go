package queue

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"slices"
	"strconv"
	"time"
)

// fingerprint stands for a payload in a sampler's memory.
type fingerprint string

const (
	printedWhole = 4096 // bytes up to which a fingerprint takes the whole payload
	printedHead  = 2048 // bytes of the head of a larger one
)

// fingerprintOf computes what scripts/observe.lua does.
func fingerprintOf(m Message) fingerprint {
	text := m.Payload
	if m.Size > printedWhole {
		tail := m.Tail
		if m.Complete() {
			tail = m.Payload[m.Size-TailBytes:]
		}
		text = slices.Concat([]byte(strconv.FormatInt(m.Size, 10)+":"), m.Payload[:printedHead], tail)
	}
	sum := sha1.Sum(text)
	return fingerprint(hex.EncodeToString(sum[:8]))
}

const (
	// pageMemory is how long a message seen on a page only is remembered. Nobody
	// looks at that part of the list meanwhile, so an equal one may have taken its place.
	pageMemory = time.Minute
	// maxSightings bounds what is remembered of one key.
	maxSightings = 5000
)

// sighting is one copy of a payload as it was seen in a list.
type sighting struct {
	first, last time.Time
	window      bool // in the window at the old end, which every observation covers
}

// sightings are the messages seen in one list. Copies with equal bytes cannot be
// told apart, only counted: when one goes it is the one that was seen first
// that is forgotten, so that no age is ever told too high.
type sightings struct {
	copies map[fingerprint][]sighting // by first, ascending
	n      int
}

// window takes in the entries at the old end of the list; whole tells that there
// are no others.
func (s *sightings) window(prints []fingerprint, whole bool, now time.Time) {
	s.takeIn(count(prints), now, true, whole)
}

// page takes in entries from anywhere in the list.
func (s *sightings) page(prints []fingerprint, whole bool, now time.Time) {
	s.expire(now)
	s.takeIn(count(prints), now, false, whole)
}

func (s *sightings) takeIn(seen map[fingerprint]int, now time.Time, window, whole bool) {
	if window || whole {
		for fp := range s.copies {
			if seen[fp] == 0 {
				s.renew(fp, 0, now, window, whole)
			}
		}
	}
	for fp, n := range seen {
		if len(s.copies[fp]) > 0 || s.n < maxSightings {
			s.renew(fp, n, now, window, whole)
		}
	}
}

// renew says that n copies of fp were seen now. Of those known, the ones seen
// first last are taken for them; the others are forgotten when they would have
// been seen too.
func (s *sightings) renew(fp fingerprint, n int, now time.Time, window, whole bool) {
	known := s.copies[fp]
	slices.SortStableFunc(known, func(a, b sighting) int {
		if window && a.window != b.window { // those of the window before others
			if a.window {
				return -1
			}
			return 1
		}
		return b.first.Compare(a.first)
	})
	var kept []sighting
	for i, k := range known {
		switch {
		case i < n:
			k.last, k.window = now, k.window || window
		case whole, window && k.window:
			continue
		}
		kept = append(kept, k)
	}
	for len(kept) < n {
		kept = append(kept, sighting{first: now, last: now, window: window})
	}
	slices.SortFunc(kept, func(a, b sighting) int { return a.first.Compare(b.first) })
	s.put(fp, kept)
}

func (s *sightings) put(fp fingerprint, copies []sighting) {
	s.n += len(copies) - len(s.copies[fp])
	if len(copies) == 0 {
		delete(s.copies, fp)
		return
	}
	if s.copies == nil {
		s.copies = map[fingerprint][]sighting{}
	}
	s.copies[fp] = copies
}

// expire forgets what was seen on pages only, and not lately.
func (s *sightings) expire(now time.Time) {
	for fp, copies := range s.copies {
		kept := slices.DeleteFunc(slices.Clone(copies), func(c sighting) bool {
			return !c.window && now.Sub(c.last) > pageMemory
		})
		if len(kept) < len(copies) {
			s.put(fp, kept)
		}
	}
}

// age returns how long the latest copy of fp has been seen at least; 0 when none was.
func (s *sightings) age(fp fingerprint, now time.Time) time.Duration {
	var newest time.Time
	for _, c := range s.copies[fp] {
		if (c.window || now.Sub(c.last) <= pageMemory) && c.first.After(newest) {
			newest = c.first
		}
	}
	if newest.IsZero() {
		return 0
	}
	return max(0, now.Sub(newest))
}

// stuck returns how many entries of the window have been seen for at least d, and
// the age of the oldest.
func (s *sightings) stuck(d time.Duration, now time.Time) (n int64, oldest time.Duration) {
	for _, copies := range s.copies {
		for _, c := range copies {
			if !c.window {
				continue
			}
			age := now.Sub(c.first)
			oldest = max(oldest, age)
			if age >= d {
				n++
			}
		}
	}
	return n, oldest
}

func count[K cmp.Ordered](ks []K) map[K]int {
	n := make(map[K]int, len(ks))
	for _, k := range ks {
		n[k]++
	}
	return n
}
