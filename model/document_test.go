package model

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// all returns every line of a document, from its start.
func (d Document) all() []string { return d.home().Lines(1 << 30) }

func documents() map[string]string {
	return map[string]string{
		"empty":       "",
		"one line":    "hello",
		"lines":       strings.Repeat("some words\n", 500),
		"no newline":  strings.Repeat("0123456789", 3000),
		"wide":        strings.Repeat("张三李四", 4000),
		"mixed":       strings.Repeat("a\n\n"+strings.Repeat("x", 5000)+"\n", 20),
		"emoji":       strings.Repeat("👩‍👩‍👧‍👦 ", 2000),
		"escapes":     strings.Repeat("\x1b[31m\xff", 3000),
		"blank lines": strings.Repeat("\n", 300),
		"tabs":        strings.Repeat("\t{\n", 100),
	}
}

func TestDocumentLinesFitAndLoseNothing(t *testing.T) {
	for name, text := range documents() {
		for _, w := range []int{1, 7, 80, 250} {
			d := newDocument([]byte(text), false, w)
			lines := d.all()
			for _, l := range lines {
				if got := ansi.StringWidth(l); got > max(w, 2) {
					t.Fatalf("%s at %d: a line is %d wide", name, w, got)
				}
			}
			if name == "no newline" && strings.Join(lines, "") != text {
				t.Fatalf("%s at %d: text is lost", name, w)
			}
		}
	}
}

// Scrolling up and down by any steps shows the same lines as reading from the start.
func TestScrollingAgreesWithReading(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for name, text := range documents() {
		const h = 20
		d := newDocument([]byte(text), false, 40)
		all := d.all()
		top := 0
		for range 300 {
			n := rng.IntN(60)
			switch rng.IntN(6) {
			case 0, 1:
				d, top = d.down(n, h), min(top+n, max(0, len(all)-h))
			case 2, 3:
				d, top = d.up(n), max(0, top-n)
			case 4:
				d, top = d.end(h), max(0, len(all)-h)
			case 5:
				d, top = d.home(), 0
			}
			want := all[min(top, len(all)):min(top+h, len(all))]
			if got := d.Lines(h); !slices.Equal(got, want) {
				t.Fatalf("%s: at line %d of %d:\n got %q\nwant %q", name, top, len(all), got, want)
			}
			if d.AtTop() != (top == 0) {
				t.Fatalf("%s: at line %d AtTop is %v", name, top, d.AtTop())
			}
			if p := d.Percent(h); p < 0 || p > 100 || (p == 100) != (top+h >= len(all)) {
				t.Fatalf("%s: at line %d of %d Percent is %d", name, top, len(all), p)
			}
		}
	}
}

func TestHexScrolls(t *testing.T) {
	d := newDocument(make([]byte, 1000), true, 80)
	d = d.end(10)
	if lines := d.Lines(10); len(lines) != 10 || !strings.HasPrefix(lines[9], "000003e0") {
		t.Fatalf("the end is %q", lines)
	}
	d = d.up(5).down(100, 10).up(1000)
	if !d.AtTop() || !strings.HasPrefix(d.Lines(1)[0], "00000000") {
		t.Fatal("not at the top")
	}
	if empty := newDocument(nil, true, 80).end(10).down(3, 10).up(1); len(empty.Lines(5)) != 0 {
		t.Fatal("an empty dump has lines")
	}
}

func TestDocumentSurvivesAnyWidth(t *testing.T) {
	for name, text := range documents() {
		d := newDocument([]byte(text), false, 80).end(20)
		for _, w := range []int{0, -5, 1, 2, 300, 80, 3} {
			if d = d.resized(w); text != "" && len(d.Lines(5)) == 0 {
				t.Fatalf("%s at width %d: nothing to show", name, w)
			}
		}
	}
}

// A step through 20 MB costs what is on screen: the text that is looked at is
// counted, not the time.
func TestHugeDocumentIsReadOnlyWhereItShows(t *testing.T) {
	for name, text := range map[string][]byte{
		"one line":  []byte(strings.Repeat("张", 20<<20/3)),
		"json":      []byte(strings.Repeat("  {\"a\": 1},\n", 20<<20/12)),
		"ascii":     []byte(strings.Repeat("x", 20<<20)),
		"with nuls": make([]byte, 20<<20),
	} {
		allocs := testing.AllocsPerRun(3, func() {
			d := newDocument(text, false, 80)
			d.end(40).up(200).down(100, 40).Lines(40)
		})
		if allocs > 100_000 {
			t.Errorf("%s: %v allocations for a few screens", name, allocs)
		}
	}
}

func FuzzDocument(f *testing.F) {
	for _, text := range documents() {
		f.Add([]byte(text[:min(len(text), 9000)]), 40, 10)
	}
	f.Fuzz(func(t *testing.T, text []byte, w, h int) {
		w, h = max(1, min(w, 300)), max(1, min(h, 100))
		d := newDocument(text, false, w)
		all := d.all()
		last := d.end(h)
		if want := all[max(0, len(all)-h):]; !slices.Equal(last.Lines(h), want) {
			t.Fatalf("the end is %q, want %q", last.Lines(h), want)
		}
		if up := last.up(len(all)); !up.AtTop() {
			t.Fatal("going up all lines does not reach the top")
		}
	})
}
