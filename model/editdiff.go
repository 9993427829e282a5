package model

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff/lcs"
	"github.com/charmbracelet/x/ansi"

	"redq/queue/payload"
)

// DiffKind is what a line of a difference is.
type DiffKind uint8

// The kinds of lines.
const (
	DiffSame DiffKind = iota
	DiffRemoved
	DiffAdded
	DiffSkipped // stands for lines that did not change and are not shown
)

// DiffRow is one row of a difference, as wide as the screen has room for.
type DiffRow struct {
	Kind DiffKind
	Text string // safe to print; of DiffSkipped the number of lines
	Cont bool   // it goes on with the row above
}

// Sizes of a difference.
const (
	diffSign    = 2      // cells in front of a row: its sign and a blank
	diffContext = 3      // lines shown around a change
	diffRows    = 20_000 // rows that are made at most: the rest is not shown
	// A line that changed in part is shown from this many characters before the part
	// on, to as many behind it: a payload may be one line of a megabyte.
	diffAround = 60
	// What is shown at most of a line that changed in other ways, and of one that did not.
	diffLineBytes = 64 << 10
	diffSameBytes = 400
)

// Diff is the difference between two texts, a window of it on screen.
type Diff struct {
	Removed, Added int // lines

	lines  []diffLine
	rows   []DiffRow // lines wrapped to width
	width  int
	height int
	top    int // first row on screen
	more   bool
}

type diffLine struct {
	kind DiffKind
	text string
}

// newDiff compares two texts line by line.
func newDiff(was, is []byte) Diff {
	ends := func(text []byte) bool { return bytes.HasSuffix(text, []byte("\n")) }
	tell := ends(was) != ends(is)
	before, after := splitLines(was, tell), splitLines(is, tell)
	var d Diff
	at, to := 0, 0 // lines of before and after that were dealt with
	for _, c := range lcs.DiffRunes(numberLines(before, after)) {
		d.same(before[at:c.Start], false)
		d.changed(before[c.Start:c.End], after[c.ReplStart:c.ReplEnd])
		at, to = c.End, c.ReplEnd
	}
	d.same(after[to:], true)
	return d
}

// splitLines returns the lines of a text, each with its line break. With tell, a last
// one that has none says so, for that alone may be the difference.
func splitLines(text []byte, tell bool) []string {
	lines := strings.SplitAfter(string(text), "\n")
	last := len(lines) - 1
	if lines[last] == "" {
		return lines[:last]
	}
	if tell {
		lines[last] += " (no line break at the end)"
	}
	return lines
}

// numberLines gives each line a number, equal lines the same one.
func numberLines(before, after []string) (a, b []rune) {
	numbers := map[string]rune{}
	number := func(lines []string) []rune {
		all := make([]rune, len(lines))
		for i, s := range lines {
			n, ok := numbers[s]
			if !ok {
				n = rune(len(numbers))
				numbers[s] = n
			}
			all[i] = n
		}
		return all
	}
	return number(before), number(after)
}

// same adds lines that did not change: those next to a change.
func (d *Diff) same(lines []string, last bool) {
	head, tail := diffContext, diffContext
	first := len(d.lines) == 0
	if first {
		head = 0
	}
	if last {
		tail = 0
	}
	skipped := len(lines) - head - tail
	if skipped <= 1 && !(first && last) { // a line for one line saves nothing
		head, tail, skipped = len(lines), 0, 0
	}
	for i, s := range lines {
		switch {
		case i < head, i >= len(lines)-tail:
			d.lines = append(d.lines, diffLine{DiffSame, clipped(s, diffSameBytes)})
		case i == head:
			d.lines = append(d.lines, diffLine{DiffSkipped, plural(skipped, "line", "lines") + " the same"})
		}
	}
}

// changed adds lines that were replaced by others.
func (d *Diff) changed(removed, added []string) {
	d.Removed += len(removed)
	d.Added += len(added)
	paired := len(removed) == len(added)
	add := func(kind DiffKind, lines, others []string) {
		for i, s := range lines {
			if paired {
				s = excerpt(s, others[i])
			}
			d.lines = append(d.lines, diffLine{kind, clipped(s, diffLineBytes)})
		}
	}
	add(DiffRemoved, removed, added)
	add(DiffAdded, added, removed)
}

// excerpt shortens a long line to the part in which it differs from another.
func excerpt(line, other string) string {
	if line == other { // far apart in texts with too many differences to compare in full
		return line
	}
	n := min(len(line), len(other))
	start := 0
	for start < n && line[start] == other[start] {
		start++
	}
	end := len(line) // where the common ending begins
	for i := len(other); end > start && i > start && line[end-1] == other[i-1]; i-- {
		end--
	}
	from, to := runeBack(line, start, diffAround), runeOn(line, end, diffAround)
	short := line[from:to]
	if from > 0 {
		short = "…" + short
	}
	if to < len(line) {
		short += "…"
	}
	return short
}

// clipped cuts a line after n bytes.
func clipped(line string, n int) string {
	if len(line) <= n {
		return line
	}
	return line[:runeOn(line, n, 0)] + "…"
}

// runeBack returns the place n characters before at, runeOn the one n behind it.
func runeBack(s string, at, n int) int {
	for at > 0 && at < len(s) && !utf8.RuneStart(s[at]) {
		at--
	}
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return at
}

func runeOn(s string, at, n int) int {
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

// wrapped wraps the difference to a width.
func (d Diff) wrapped(width int) Diff {
	if d.width != width {
		d.width = width
		d.rows, d.more = wrapDiff(d.lines, max(8, width-diffSign))
	}
	return d
}

// windowed gives the window a height.
func (d Diff) windowed(height int) Diff {
	d.height = max(1, height)
	return d.scrolled(0)
}

// wrapDiff makes rows of lines, and says whether there are more than it made.
func wrapDiff(lines []diffLine, width int) (rows []DiffRow, more bool) {
	for _, l := range lines {
		text := payload.Text(bytes.TrimSuffix([]byte(l.text), []byte("\n")), 16*len(l.text)+16)
		for i, s := range strings.Split(ansi.Hardwrap(text, width, true), "\n") {
			if len(rows) == diffRows {
				return rows, true
			}
			rows = append(rows, DiffRow{Kind: l.kind, Text: s, Cont: i > 0})
		}
	}
	return rows, false
}

// scrolled moves the window by rows.
func (d Diff) scrolled(by int) Diff {
	d.top = max(0, min(d.top+by, len(d.rows)-d.height))
	return d
}

// act moves the window by the keys that move everywhere.
func (d Diff) act(key string) (Diff, bool) {
	page := max(1, d.height-1)
	switch key {
	case "down", "j":
		return d.scrolled(1), true
	case "up", "k":
		return d.scrolled(-1), true
	case "pgdown", "ctrl+f":
		return d.scrolled(page), true
	case "pgup", "ctrl+b":
		return d.scrolled(-page), true
	case "home", "g":
		return d.scrolled(-len(d.rows)), true
	case "end", "G":
		return d.scrolled(len(d.rows)), true
	}
	return d, false
}

// Visible returns the rows in the window.
func (d Diff) Visible() []DiffRow {
	return d.rows[d.top:min(len(d.rows), d.top+d.height)]
}

// Below returns how many rows lie below the window; more says that there are others
// that were not made.
func (d Diff) Below() (n int, more bool) {
	return max(0, len(d.rows)-d.top-d.height), d.more
}

// Above returns how many rows lie above the window.
func (d Diff) Above() int { return d.top }
