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

// docPos is a wrapped line: the segment's first byte (in hex: the number of the
// dump's line) and the line within the segment.
type docPos struct {
	at   int
	line int
}

// newDocument returns a document at its first line.
func newDocument(text []byte, hex bool, width int) Document {
	return Document{text: text, hex: hex, width: max(1, width)}
}

// resized returns the document wrapped to another width, the same text on top.
func (d Document) resized(width int) Document {
	d.width = max(1, width)
	if !d.hex {
		d.top.line = min(d.top.line, max(0, len(d.wrapped(d.top.at))-1))
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
	skip := d.top.line
	for at := d.top.at; len(lines) < n && at < len(d.text); at = d.next(at) {
		w := d.wrapped(at)
		lines = append(lines, w[min(skip, len(w)):]...)
		skip = 0
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
	for range n {
		if d.endVisible(height) {
			break
		}
		if d.top.line++; d.top.line >= len(d.wrapped(d.top.at)) {
			d.top = docPos{at: d.next(d.top.at)}
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
		d.top.at = d.previous(d.top.at)
		d.top.line = len(d.wrapped(d.top.at))
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
	d.top = docPos{at: len(d.text)}
	return d.up(height)
}

// wrapped returns the lines of the segment that starts at a byte: at least one.
func (d Document) wrapped(at int) []string {
	segment := bytes.TrimSuffix(d.text[at:d.next(at)], []byte("\n"))
	text := payload.Text(segment, 16*len(segment)+16)
	return strings.Split(ansi.Hardwrap(text, d.width, true), "\n")
}

// next returns where the segment after the one at a byte starts.
func (d Document) next(at int) int {
	if at >= len(d.text) {
		return len(d.text)
	}
	window := d.text[at:min(at+segmentBytes, len(d.text))]
	if i := bytes.IndexByte(window, '\n'); i >= 0 {
		return at + i + 1
	}
	return d.runeStart(at + len(window))
}

// previous returns where the segment before the one at a byte starts.
func (d Document) previous(at int) int {
	// The line of the byte before; its segments are counted from its start, as next does.
	line := bytes.LastIndexByte(d.text[:max(0, at-1)], '\n') + 1
	start := line
	if whole := (at - 1 - line) / segmentBytes; whole > 0 {
		start = d.runeStart(line + whole*segmentBytes)
	}
	for n := d.next(start); n < at; n = d.next(start) {
		start = n
	}
	return start
}

// runeStart moves a cut behind the rune it would split.
func (d Document) runeStart(at int) int {
	for i := 0; i < utf8.UTFMax-1 && at < len(d.text) && !utf8.RuneStart(d.text[at]); i++ {
		at++
	}
	return at
}
