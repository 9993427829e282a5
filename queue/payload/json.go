package payload

import (
	"bytes"
	"errors"
	"io"
)

const (
	maxJSONDepth = 10_000
	// maxIndent stops the indentation, not the nesting: a payload of brackets
	// alone must not grow with the square of its depth.
	maxIndent = 40
)

var (
	errCut       = errors.New("ends too early")
	errMalformed = errors.New("malformed")
	errTooDeep   = errors.New("nested too deep")
	errLimit     = errors.New("limit reached")
)

// jsonWant is what may come next.
type jsonWant uint8

const (
	wantValue      jsonWant = iota
	wantFirstValue          // or the end of an empty array
	wantFirstKey            // or the end of an empty object
	wantKey
	wantColon
	wantCommaOrEnd
	wantNothing
)

// jsonScanner cuts one JSON value into tokens without copying or changing a
// byte. encoding/json is no help here: it cannot go as far as a cut text goes,
// and its indentation is not bounded.
type jsonScanner struct {
	src     []byte
	pos     int
	want    jsonWant
	objects []bool // the open brackets: true for an object, false for an array
}

// next returns the next token. io.EOF means that the value was whole, errCut that
// src is the beginning of a JSON text, errMalformed that it is none.
func (s *jsonScanner) next() ([]byte, error) {
	s.skipSpace()
	if s.pos == len(s.src) {
		if s.want == wantNothing {
			return nil, io.EOF
		}
		return nil, errCut
	}
	switch c := s.src[s.pos]; c {
	case '{', '[':
		return s.open(c == '{')
	case '}', ']':
		return s.close(c == '}')
	case ',':
		return s.comma()
	case ':':
		return s.take(1, wantColon, wantValue)
	case '"':
		return s.quoted()
	}
	if !s.wantsValue() {
		return nil, errMalformed
	}
	return s.scalar()
}

func (s *jsonScanner) skipSpace() {
	for s.pos < len(s.src) {
		switch s.src[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

func (s *jsonScanner) wantsValue() bool { return s.want == wantValue || s.want == wantFirstValue }

// take returns the next n bytes as a token if it is the one wanted.
func (s *jsonScanner) take(n int, wanted, then jsonWant) ([]byte, error) {
	if s.want != wanted {
		return nil, errMalformed
	}
	return s.advance(n, then), nil
}

func (s *jsonScanner) advance(n int, then jsonWant) []byte {
	token := s.src[s.pos : s.pos+n]
	s.pos += n
	s.want = then
	return token
}

func (s *jsonScanner) open(object bool) ([]byte, error) {
	if !s.wantsValue() {
		return nil, errMalformed
	}
	if len(s.objects) == maxJSONDepth {
		return nil, errTooDeep
	}
	s.objects = append(s.objects, object)
	if object {
		return s.advance(1, wantFirstKey), nil
	}
	return s.advance(1, wantFirstValue), nil
}

func (s *jsonScanner) close(object bool) ([]byte, error) {
	depth := len(s.objects)
	if depth == 0 || s.objects[depth-1] != object {
		return nil, errMalformed
	}
	empty := wantFirstValue
	if object {
		empty = wantFirstKey
	}
	if s.want != wantCommaOrEnd && s.want != empty {
		return nil, errMalformed
	}
	s.objects = s.objects[:depth-1]
	return s.advance(1, s.afterValue()), nil
}

func (s *jsonScanner) comma() ([]byte, error) {
	then := wantValue
	if n := len(s.objects); n > 0 && s.objects[n-1] {
		then = wantKey
	}
	return s.take(1, wantCommaOrEnd, then)
}

func (s *jsonScanner) afterValue() jsonWant {
	if len(s.objects) == 0 {
		return wantNothing
	}
	return wantCommaOrEnd
}

// quoted takes a string, as key or value. Like encoding/json it does not ask
// whether the bytes are UTF-8.
func (s *jsonScanner) quoted() ([]byte, error) {
	then := s.afterValue()
	switch {
	case s.want == wantKey || s.want == wantFirstKey:
		then = wantColon
	case !s.wantsValue():
		return nil, errMalformed
	}
	rest := s.src[s.pos:]
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '"':
			return s.advance(i+1, then), nil
		case c < ' ':
			return nil, errMalformed
		case c == '\\':
			n, err := escapeLen(rest[i:])
			if err != nil {
				return nil, err
			}
			i += n - 1
		}
	}
	return nil, errCut
}

// escapeLen returns the length of the escape b begins with.
func escapeLen(b []byte) (int, error) {
	if len(b) < 2 {
		return 0, errCut
	}
	if b[1] != 'u' {
		if bytes.IndexByte([]byte(`"\/bfnrt`), b[1]) < 0 {
			return 0, errMalformed
		}
		return 2, nil
	}
	for i := 2; i < 6; i++ {
		if i == len(b) {
			return 0, errCut
		}
		if !isHex(b[i]) {
			return 0, errMalformed
		}
	}
	return 6, nil
}

func isHex(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// scalar takes a number, true, false or null.
func (s *jsonScanner) scalar() ([]byte, error) {
	rest := s.src[s.pos:]
	for _, word := range []string{"true", "false", "null"} {
		if rest[0] != word[0] {
			continue
		}
		if bytes.HasPrefix(rest, []byte(word)) {
			return s.advance(len(word), s.afterValue()), nil
		}
		if bytes.HasPrefix([]byte(word), rest) {
			return nil, errCut
		}
		return nil, errMalformed
	}
	n, err := numberLen(rest)
	if err != nil {
		return nil, err
	}
	return s.advance(n, s.afterValue()), nil
}

// numberLen returns the length of the number b begins with.
func numberLen(b []byte) (int, error) {
	i := 0
	digits := func() error {
		start := i
		for i < len(b) && isDigit(b[i]) {
			i++
		}
		switch {
		case i > start:
			return nil
		case i == len(b):
			return errCut
		}
		return errMalformed
	}
	at := func(chars string) bool { return i < len(b) && bytes.IndexByte([]byte(chars), b[i]) >= 0 }

	if at("-") {
		i++
	}
	if at("0") {
		i++
	} else if err := digits(); err != nil {
		return 0, err
	}
	if at(".") {
		i++
		if err := digits(); err != nil {
			return 0, err
		}
	}
	if at("eE") {
		i++
		if at("+-") {
			i++
		}
		if err := digits(); err != nil {
			return 0, err
		}
	}
	return i, nil
}

// checkJSON returns nil when b is one JSON object, array or string, errCut when it is
// the beginning of one, else why it is none.
func checkJSON(b []byte) error {
	s := jsonScanner{src: b}
	s.skipSpace()
	if s.pos == len(b) || bytes.IndexByte([]byte(`{["`), b[s.pos]) < 0 {
		return errMalformed
	}
	for {
		if _, err := s.next(); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
	}
}

// indentJSON lays out the tokens of b, one member or element a line, in at most
// limit bytes. Where b stops being JSON the rest follows as it is.
func indentJSON(b []byte, limit int) ([]byte, error) {
	s := jsonScanner{src: b}
	w := indenter{limit: limit}
	for {
		token, err := s.next()
		switch err {
		case nil:
			w.token(token, len(s.objects))
		case io.EOF:
			return w.result(nil)
		default:
			w.token(b[s.pos:], len(s.objects))
			return w.result(err)
		}
		if w.full {
			return w.result(nil)
		}
	}
}

// indenter writes JSON tokens with line breaks and indentation.
type indenter struct {
	out   []byte
	limit int
	full  bool
	prev  byte // first byte of the token before; 0 at the start
}

// token writes one token. depth is the number of brackets open after it.
func (w *indenter) token(token []byte, depth int) {
	if len(token) == 0 {
		return
	}
	switch first := token[0]; first {
	case '}', ']':
		if w.prev != '{' && w.prev != '[' {
			w.newline(depth)
		}
	case ',', ':':
	case '{', '[':
		w.before(depth - 1)
	default:
		w.before(depth)
	}
	w.write(token)
	w.prev = token[0]
}

// before separates a key or a value from what it follows.
func (w *indenter) before(depth int) {
	switch w.prev {
	case '{', '[', ',':
		w.newline(depth)
	case ':':
		w.write([]byte(" "))
	}
}

func (w *indenter) newline(depth int) {
	w.write([]byte("\n"))
	for range min(depth, maxIndent) {
		w.write([]byte("  "))
	}
}

func (w *indenter) write(b []byte) {
	if room := w.limit - len(w.out); len(b) > room {
		b = b[:room]
		w.full = true
	}
	w.out = append(w.out, b...)
}

func (w *indenter) result(err error) ([]byte, error) {
	if w.full {
		err = errLimit
	}
	return w.out, err
}
