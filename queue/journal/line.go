package journal

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
)

// headBytes is how much of a line is looked at to list entries. All that a list
// shows comes before the payload and fits easily.
const headBytes = 8 << 10

// line is one line of the file.
type line struct {
	offset int64
	size   int64  // without the newline
	head   []byte // the first bytes, headBytes at most; valid during the visit
	whole  bool   // it is one JSON object from end to end, not torn
}

// scanLines visits all lines of r. It keeps no more than a buffer of them in
// memory, however long they are.
func scanLines(r io.Reader, visit func(line) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var head []byte
	var l line
	var shape object
	for {
		part, err := in.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull && err != io.EOF {
			return err
		}
		ended := len(part) > 0 && part[len(part)-1] == '\n'
		text := part
		if ended {
			text = part[:len(part)-1]
		}
		shape.feed(text)
		head = append(head, text[:min(len(text), headBytes-len(head))]...)
		l.size += int64(len(text))
		if ended || err == io.EOF && l.size > 0 {
			l.head, l.whole = head, shape.whole()
			if err := visit(l); err != nil {
				return err
			}
			l = line{offset: l.offset + l.size + 1}
			head, shape = head[:0], object{}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// object tells whether bytes that arrive in parts are one JSON object from its
// first brace to its last. A torn line never is.
type object struct {
	depth   int
	quoted  bool
	escaped bool
	state   objectState
}

type objectState uint8

const (
	before objectState = iota
	inside
	after
	broken
)

func (o *object) whole() bool { return o.state == after }

func (o *object) feed(b []byte) {
	for len(b) > 0 {
		if o.quoted {
			b = o.skipQuoted(b)
			continue
		}
		o.mark(b[0])
		b = b[1:]
	}
}

// skipQuoted drops the rest of a string, or all of b when the string goes on.
// Payloads are strings, so this is where the time goes.
func (o *object) skipQuoted(b []byte) []byte {
	if o.escaped {
		o.escaped = false
		b = b[1:]
	}
	quote := bytes.IndexByte(b, '"')
	text := b
	if quote >= 0 {
		text = b[:quote]
	}
	odd := endsInOddBackslashes(text)
	if quote < 0 {
		o.escaped = odd
		return nil
	}
	o.quoted = odd
	return b[quote+1:]
}

func endsInOddBackslashes(b []byte) bool {
	n := len(b) - len(bytes.TrimRight(b, `\`))
	return n%2 == 1
}

func (o *object) mark(c byte) {
	if isSpace(c) {
		return
	}
	switch {
	case o.state == before && c == '{':
		o.state, o.depth = inside, 1
	case o.state != inside:
		o.state = broken
	case c == '"':
		o.quoted = true
	case c == '{':
		o.depth++
	case c == '}':
		if o.depth--; o.depth == 0 {
			o.state = after
		}
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// value is a field's value as it stands in the file.
type value struct {
	json []byte
	cut  bool // the head ended in it
}

// eachField visits the fields of the JSON object that head begins with, as far
// as head goes.
func eachField(head []byte, visit func(name []byte, v value)) {
	rest, ok := bytes.CutPrefix(trim(head), []byte("{"))
	for ok {
		var name, text []byte
		var whole bool
		if name, rest, ok = cutString(trim(rest)); !ok {
			return
		}
		if rest, ok = bytes.CutPrefix(trim(rest), []byte(":")); !ok {
			return
		}
		text, rest, whole = cutValue(trim(rest))
		visit(name, value{json: text, cut: !whole})
		rest, ok = bytes.CutPrefix(trim(rest), []byte(","))
	}
}

func trim(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	return b
}

// cutString splits a string without its quotes off b.
func cutString(b []byte) (text, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != '"' {
		return nil, nil, false
	}
	n := stringLen(b)
	if n == 0 {
		return nil, nil, false
	}
	return b[1 : n-1], b[n:], true
}

// stringLen returns the length of the string b begins with, 0 when it has no end.
func stringLen(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// cutValue splits a value off b; whole is false when b ends first.
func cutValue(b []byte) (text, rest []byte, whole bool) {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			n := stringLen(b[i:])
			if n == 0 {
				return b, nil, false
			}
			i += n - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return b[:i], b[i:], true
			}
			depth--
		case ',':
			if depth == 0 {
				return b[:i], b[i:], true
			}
		}
	}
	return b, nil, false
}

// bytes returns the bytes that a value stands for, as far as it goes: those of a
// string or of {"b64":"…"}; nil for anything else.
func (v value) bytes() []byte {
	if len(v.json) > 0 && v.json[0] == '{' {
		var inner value
		eachField(v.json, func(name []byte, f value) {
			if string(name) == "b64" {
				inner = f
			}
		})
		return inner.base64()
	}
	return v.text()
}

func (v value) text() []byte {
	text, _, ok := cutString(v.json)
	switch {
	case ok && bytes.IndexByte(text, '\\') < 0:
		return text
	case ok:
		return unquote(v.json)
	case v.cut && len(v.json) > 0 && v.json[0] == '"':
		return unquoteCut(v.json)
	}
	return nil
}

func unquote(quoted []byte) []byte {
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return nil
	}
	return []byte(s)
}

// unquoteCut reads a string that has no end. What an escape was cut in is dropped.
func unquoteCut(quoted []byte) []byte {
	const longest = len(`\ud83d\ude00`)
	for drop := range min(longest, len(quoted)) {
		closed := append(bytes.Clone(quoted[:len(quoted)-drop]), '"')
		if stringLen(closed) != len(closed) {
			continue
		}
		if text := unquote(closed); text != nil {
			return text
		}
	}
	return nil
}

func (v value) base64() []byte {
	text := bytes.Trim(v.json, `"`)
	if v.cut {
		text = text[:len(text)/4*4]
	}
	b, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return nil
	}
	return b
}

// first returns the first element of an array.
func (v value) first() value {
	rest, ok := bytes.CutPrefix(v.json, []byte("["))
	if !ok {
		return value{}
	}
	text, _, whole := cutValue(trim(rest))
	return value{json: text, cut: !whole}
}
