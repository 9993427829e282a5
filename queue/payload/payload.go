// Package payload knows what a message's bytes can be and how to show them to
// the eye; it knows neither Redis nor queues, and makes no bytes for the wire but
// those of an edited [Form].
//
// All text that came from Redis and is shown, be it a key, a payload, an error or
// a client's name, goes through [Line], [LineString] or [Text].
package payload

import "unicode/utf8"

// Encoding names what a payload's bytes are. The names are those of the command
// line's JSON.
type Encoding string

// The encodings.
const (
	Empty   Encoding = "empty"
	JSON    Encoding = "json" // an object, an array or a string; a bare number is Text
	Plain   Encoding = "text" // UTF-8
	MsgPack Encoding = "msgpack"
	Gzip    Encoding = "gzip"
	Zlib    Encoding = "zlib"
	Zstd    Encoding = "zstd"
	Base64  Encoding = "base64" // of something that can be read
	Java    Encoding = "java"   // Java serialisation
	Binary  Encoding = "binary" // none of the others
)

const (
	// DefaultLimit is how many bytes Decode looks at and makes when it is not told.
	DefaultLimit = 1 << 20

	// detectBytes is how far Detect looks: enough to be sure, cheap for a page of rows.
	detectBytes = 8 << 10
	// maxChain bounds encodings within encodings.
	maxChain = 5
)

// Decoded is a payload made readable.
type Decoded struct {
	// Encoding is the outermost encoding.
	Encoding Encoding
	// Chain is all encodings from the outside in, e.g. gzip, json. It begins with
	// Encoding and ends with what Pretty shows.
	Chain []Encoding
	// Pretty is the readable form: JSON indented with every digit, escape and
	// duplicate key as it was sent, MessagePack as JSON-like text, text as it is;
	// nil when only Hex can show it. It is not safe to print: see Text.
	Pretty []byte
	// Note is a short sentence on what Pretty does not show and why; "" when it shows all.
	Note string
}

// Text returns Pretty as text of many lines that is safe to print.
func (d Decoded) Text() string { return Text(d.Pretty, 4*len(d.Pretty)) }

// Detect says what b is, looking at its first 8 KiB only. With cut, b is the
// head of a longer payload and may end anywhere.
func Detect(b []byte, cut bool) Encoding {
	if len(b) > detectBytes {
		b, cut = b[:detectBytes], true
	}
	return detect(b, cut)
}

// Decode makes b readable, looking at and making no more than limit bytes
// (DefaultLimit when it is not positive). It never fails: what it cannot decode
// is shown as far as it goes, with a Note. JSON that ends too early, as the head of a
// long payload does, is still shown as JSON.
func Decode(b []byte, limit int) Decoded {
	if limit <= 0 {
		limit = DefaultLimit
	}
	u := unwrap(b, limit)
	d := Decoded{Encoding: u.chain[0], Chain: u.chain}
	var note string
	d.Pretty, note = render(u.content, u.chain[len(u.chain)-1], limit)
	d.Note = joinNotes(u.note, note)
	return d
}

// Preview returns one safe line of at most maxBytes bytes that tells a payload
// from its neighbours in a list: text as it is, other encodings by name and
// content. It decodes only a head, yet costs far more than Line for compressed
// payloads: keep the result.
func Preview(b []byte, maxBytes int) string {
	// No byte of content is shown as less than one of the line.
	limit := min(max(maxBytes, 60), detectBytes) + utf8.UTFMax
	u := unwrap(b[:min(len(b), detectBytes)], limit)
	inner := u.chain[len(u.chain)-1]
	names := u.chain
	if inner == JSON || inner == Plain || inner == Empty {
		names = names[:len(names)-1]
	}
	if len(names) == 0 {
		return Line(b, maxBytes)
	}
	content := u.content
	switch {
	case inner == MsgPack:
		content, _ = renderMsgPack(u.content, limit, false)
	case content == nil: // could not be opened
		content = b
	}
	return LineString(joinNames(names)+": "+Line(content, maxBytes), maxBytes)
}
