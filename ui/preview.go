package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"redq/queue"
	"redq/queue/payload"
)

// previews remembers how payloads look, since to detect and decode them costs
// far more than a frame may. A payload is known by where its bytes lie in memory:
// they never change, and as long as they are remembered nothing else lies there.
type previews struct {
	lines     map[bytesAt]string
	encodings map[bytesAt]string
	texts     map[textAt][]string
}

type bytesAt struct {
	first *byte
	n     int
}

type textAt struct {
	bytes bytesAt
	w, h  int
}

// mostPreviews bounds what is remembered: many screens of a list.
const mostPreviews = 1024

func newPreviews() *previews {
	return &previews{lines: map[bytesAt]string{}, encodings: map[bytesAt]string{}, texts: map[textAt][]string{}}
}

func at(b []byte) bytesAt {
	if len(b) == 0 {
		return bytesAt{}
	}
	return bytesAt{&b[0], len(b)}
}

// remembered returns what is known under k, making it first when it is new.
func remembered[K comparable, V any](known map[K]V, k K, make func() V) V {
	v, ok := known[k]
	if !ok {
		if len(known) >= mostPreviews {
			clear(known)
		}
		v = make()
		known[k] = v
	}
	return v
}

// mostLine is the most bytes of a payload's line: more than the widest screen shows.
const mostLine = 1024

// line returns the one safe line that stands for a payload in a list.
func (c *previews) line(b []byte) string {
	return remembered(c.lines, at(b), func() string { return payload.Preview(b, mostLine) })
}

// encoding names what a payload's bytes are.
func (c *previews) encoding(m queue.Message) string {
	return remembered(c.encodings, at(m.Payload), func() string {
		return string(payload.Detect(m.Payload, !m.Complete()))
	})
}

// mostText is the most bytes that are decoded for a preview.
const mostText = 64 << 10

// text returns the first h lines of a payload, decoded and wrapped to w.
func (c *previews) text(m queue.Message, w, h int) []string {
	if w <= 0 || h <= 0 || len(m.Payload) == 0 {
		return nil
	}
	return remembered(c.texts, textAt{at(m.Payload), w, h}, func() []string { return decoded(m, w, h) })
}

func decoded(m queue.Message, w, h int) []string {
	d := payload.Decode(m.Payload, mostText)
	if d.Pretty == nil {
		return payload.Hex(m.Payload, 0, h)
	}
	var lines []string
	for line := range strings.Lines(payload.Text(d.Pretty, w*h*mostBytesPerCell)) {
		lines = append(lines, strings.Split(ansi.Hardwrap(strings.TrimSuffix(line, "\n"), w, true), "\n")...)
		if len(lines) >= h {
			return lines[:h]
		}
	}
	return lines
}
