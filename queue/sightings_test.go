package queue

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// prints makes one fingerprint of each letter.
func prints(letters string) []fingerprint {
	var all []fingerprint
	for _, r := range letters {
		all = append(all, fingerprint(r))
	}
	return all
}

func TestSightings(t *testing.T) {
	start := time.Unix(1754000000, 0)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	var s sightings
	check := func(seconds int, letter string, want int) {
		t.Helper()
		if got := s.age(fingerprint(letter), at(seconds)); got != time.Duration(want)*time.Second {
			t.Errorf("age of %s after %d s is %v, want %d s", letter, seconds, got, want)
		}
	}

	s.window(prints("abb"), true, at(0))
	s.window(prints("abbc"), true, at(10))
	check(10, "a", 10)
	check(10, "c", 0)
	check(10, "x", 0)

	// One of two copies went: the one left has been there for 10 s at least, by either.
	s.window(prints("abc"), true, at(20))
	check(20, "b", 20)
	// A copy came: it is the one whose age is told.
	s.window(prints("abbc"), true, at(30))
	check(30, "b", 0)
	// And when one goes again, it may be the younger that is left.
	s.window(prints("abc"), true, at(40))
	check(40, "b", 10)

	// What left and came back starts anew.
	s.window(prints("bc"), true, at(50))
	s.window(prints("abc"), true, at(60))
	check(60, "a", 0)

	if n, oldest := s.stuck(30*time.Second, at(60)); n != 2 || oldest != 50*time.Second {
		t.Errorf("%d stuck, oldest %v; want b and c (30 s and 50 s)", n, oldest)
	}
	s.window(nil, true, at(61))
	if s.n != 0 || len(s.copies) != 0 {
		t.Errorf("%d left of an empty list", s.n)
	}
}

func TestSightingsOnPages(t *testing.T) {
	start := time.Unix(1754000000, 0)
	var s sightings
	s.window(prints("ab"), false, start) // the old end of a longer list
	s.page(prints("xy"), false, start)   // somewhere in its middle
	now := start.Add(30 * time.Second)
	s.page(prints("x"), false, now)
	s.window(prints("ab"), false, now)
	if got := s.age("x", now); got != 30*time.Second {
		t.Errorf("seen on two pages: age %v", got)
	}
	if n, _ := s.stuck(time.Second, now); n != 2 {
		t.Errorf("%d stuck, want those of the window only", n)
	}
	// A message that comes into the window keeps its age.
	s.window(prints("bx"), false, now)
	if n, oldest := s.stuck(30*time.Second, now); n != 2 || oldest != 30*time.Second {
		t.Errorf("%d stuck, oldest %v", n, oldest)
	}
	// y was not looked at for long: an equal one may have taken its place.
	now = now.Add(pageMemory)
	if got := s.age("y", now); got != 0 {
		t.Errorf("not seen for long: age %v", got)
	}
	s.page(prints("q"), true, now) // a page of the whole list
	if s.n != 1 {
		t.Errorf("%d remembered of a list of one", s.n)
	}
}

func TestSightingsAreBounded(t *testing.T) {
	var s sightings
	now := time.Unix(1754000000, 0)
	for i := range 20 {
		var many []fingerprint
		for j := range maxSightings / 10 {
			many = append(many, fingerprint(rune(256+1000*i+j)))
		}
		s.page(many, false, now)
	}
	if s.n > maxSightings || len(s.copies) > maxSightings {
		t.Errorf("%d remembered", s.n)
	}
	s.page(prints("z"), false, now.Add(2*pageMemory))
	if s.n != 1 {
		t.Errorf("%d remembered after all grew old", s.n)
	}
}

// As long as nothing comes and goes between two looks, no age is told that is
// higher than that of the youngest equal message.
func TestSightingsNeverTellTooMuch(t *testing.T) {
	type entry struct {
		letter fingerprint
		since  time.Time
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		var s sightings
		var list []entry // oldest first
		now := time.Unix(1754000000, 0)
		for range 60 {
			now = now.Add(time.Second)
			if rnd.IntN(2) == 0 {
				list = append(list, entry{prints("abc")[rnd.IntN(3)], now})
			} else if len(list) > 0 {
				i := rnd.IntN(len(list))
				list = slices.Delete(list, i, i+1)
			}
			var all []fingerprint
			youngest := map[fingerprint]time.Duration{}
			for _, e := range list {
				all = append(all, e.letter)
				youngest[e.letter] = now.Sub(e.since)
			}
			s.window(all, true, now)
			for letter, d := range youngest {
				if got := s.age(letter, now); got > d {
					t.Fatalf("age of %s told as %v, the youngest is %v", letter, got, d)
				}
			}
			if s.n != len(list) {
				t.Fatalf("%d remembered of %d", s.n, len(list))
			}
		}
	}
}

func TestFingerprintOfACutMessageIsThatOfTheWhole(t *testing.T) {
	for _, size := range []int{0, 1, printedWhole, printedWhole + 1, HeadBytes, HeadBytes + 1, 1 << 20} {
		m := Message{Payload: []byte(strings.Repeat("ab\x00", size/3+1)[:size]), Size: int64(size)}
		whole := fingerprintOf(m)
		if got := fingerprintOf(m.cut()); got != whole || len(got) != 16 {
			t.Errorf("%d bytes: %s cut, %s whole", size, got, whole)
		}
	}
	a := Message{Payload: []byte("a"), Size: 1}
	b := Message{Payload: []byte("b"), Size: 1}
	if fingerprintOf(a) == fingerprintOf(b) {
		t.Error("different messages look equal")
	}
}
