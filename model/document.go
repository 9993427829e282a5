package model

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"redq/queue/payload"
)

// segmentBytes is the most of one line of text that is looked at as a whole.
// Longer lines are cut there, so that no step costs more than a screen does.
const segmentBytes = 4096

// Document is text of any size wrapped to a width, or the hex dump of any bytes.
// Only what is on screen is looked at: 20 MB scroll as quickly as a line.
//
// The text falls into segments, which are its lines, cut after segmentBytes; a
// segment is made safe to print and wrapped when it is shown. Where the window
// stands is a segment and a line of it, so nothing is counted from the start.
type Document struct {
	text  []byte
	hex   bool
	width int
	top   docPos
}

// docPos is a wrapped line: the segment it is of, and which of that one's lines it
// is. (In hex it is only at, the number of the dump's line.)
type docPos struct {
	start int // first byte of the line of text
	at    int // first byte of the segment
	line  int
}

// newDocument returns a document at its first line.
func newDocument(text []byte, hex bool, width int) Document {
	return Document{text: text, hex: hex, width: max(1, width)}
}

// resized returns the document wrapped to another width, the same text on top.
func (d Document) resized(width int) Document {
	d.width = max(1, width)
	if !d.hex {
		d.top.line = min(d.top.line, max(0, len(d.wrapped(d.top))-1))
	}
	return d
}

// Lines returns up to n lines from the top of the window on: safe to print, none
// wider than the document (but for the fixed width of a hex dump).
func (d Document) Lines(n int) []string {
	if d.hex {
		return payload.Hex(d.text, d.top.at, n)
	}
	var lines []string
	for pos := d.top; len(lines) < n && pos.at < len(d.text); pos = d.next(pos) {
		w := d.wrapped(pos)
		lines = append(lines, w[min(pos.line, len(w)):]...)
	}
	return lines[:min(len(lines), max(0, n))]
}

// Percent returns how far the window of height lines is down the document: 100
// when its end is visible.
func (d Document) Percent(height int) int {
	total, seen := len(d.text), d.top.at
	if d.hex {
		total = payload.HexLines(len(d.text))
	}
	if total == 0 || d.endVisible(height) {
		return 100
	}
	return min(99, int(int64(seen)*100/int64(total)))
}

// AtTop reports whether the first line is on screen.
func (d Document) AtTop() bool { return d.top == docPos{} }

func (d Document) endVisible(height int) bool {
	return len(d.Lines(height+1)) <= height
}

// down moves the window n lines towards the end, which stays at its bottom.
func (d Document) down(n, height int) Document {
	if d.hex {
		d.top.at = max(0, min(d.top.at+n, payload.HexLines(len(d.text))-height))
		return d
	}
	n = min(n, len(d.Lines(height+n))-height) // what lies below the window
	for lines := len(d.wrapped(d.top)); n > 0; lines = len(d.wrapped(d.top)) {
		step := min(n, lines-d.top.line)
		n -= step
		if d.top.line += step; d.top.line == lines {
			d.top = d.next(d.top)
		}
	}
	return d
}

// up moves the window n lines towards the start.
func (d Document) up(n int) Document {
	if d.hex {
		d.top.at = max(0, d.top.at-n)
		return d
	}
	for n > d.top.line && d.top.at > 0 {
		n -= d.top.line
		d.top = d.previous(d.top)
		d.top.line = len(d.wrapped(d.top))
	}
	d.top.line = max(0, d.top.line-n)
	return d
}

// home moves the window to the start.
func (d Document) home() Document {
	d.top = docPos{}
	return d
}

// end moves the window so that the last line is at its bottom.
func (d Document) end(height int) Document {
	if d.hex {
		d.top = docPos{at: max(0, payload.HexLines(len(d.text))-height)}
		return d
	}
	d.top = docPos{start: len(d.text), at: len(d.text)}
	return d.up(height)
}

// wrapped returns the lines of a segment: at least one.
func (d Document) wrapped(pos docPos) []string {
	segment := bytes.TrimSuffix(d.text[pos.at:d.next(pos).at], []byte("\n"))
	text := payload.Text(segment, 16*len(segment)+16)
	return strings.Split(ansi.Hardwrap(text, d.width, true), "\n")
}

// next returns the segment after one.
func (d Document) next(pos docPos) docPos {
	end := d.cut(pos.start, (pos.at-pos.start)/segmentBytes+1)
	// A line break right behind the cut belongs to this segment: it begins no other.
	if i := bytes.IndexByte(d.text[pos.at:min(end+1, len(d.text))], '\n'); i >= 0 {
		after := pos.at + i + 1
		return docPos{start: after, at: after}
	}
	return docPos{start: pos.start, at: end}
}

// previous returns the segment before one.
func (d Document) previous(pos docPos) docPos {
	if pos.at > pos.start {
		n := (pos.at - pos.start) / segmentBytes
		at := d.cut(pos.start, n)
		if at >= pos.at { // else it is the end of the text, in the middle of a segment
			at = d.cut(pos.start, n-1)
		}
		return docPos{start: pos.start, at: at}
	}
	start := bytes.LastIndexByte(d.text[:max(0, pos.at-1)], '\n') + 1
	last := docPos{start: start, at: d.cut(start, max(0, (pos.at-1-start)/segmentBytes-1))}
	for after := d.next(last); after.at < pos.at; after = d.next(last) {
		last = after
	}
	return last
}

// cut returns where the nth segment of a line begins: behind the rune that would
// be split.
func (d Document) cut(start, n int) int {
	at := start + n*segmentBytes
	for i := 0; n > 0 && i < utf8.UTFMax-1 && at < len(d.text) && !utf8.RuneStart(d.text[at]); i++ {
		at++
	}
	return min(at, len(d.text))
}
