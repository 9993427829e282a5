package transfer

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads JSON (RFC 8259) from one line, and nothing but it: encoding/json puts U+FFFD in
// place of what is no text and goes on, which would change a payload without a word.
type scanner struct {
	text []byte
	at   int
}

// wrong is an error at the place where the scanner stands.
func (s *scanner) wrong(format string, args ...any) error {
	if s.at >= len(s.text) {
		return &LineError{Column: len(s.text) + 1, Reason: "the line ends too early: it is torn"}
	}
	return &LineError{Column: s.at + 1, Reason: fmt.Sprintf(format, args...)}
}

func (s *scanner) blanks() {
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		s.at++
	}
}

// next reports whether the next byte is c, and goes past it.
func (s *scanner) next(c byte) bool {
	if s.blanks(); s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

// object reads an object and hands the name of each field to read, which must read the value.
func (s *scanner) object(read func(name []byte) error) error {
	if !s.next('{') {
		return s.wrong("expected a JSON object")
	}
	for first := true; !s.next('}'); first = false {
		if !first && !s.next(',') {
			return s.wrong("expected a comma or the end of the object")
		}
		s.blanks()
		name, _, err := s.str()
		if err != nil {
			return err
		}
		if !s.next(':') {
			return s.wrong("expected a colon")
		}
		s.blanks()
		if err := read(name); err != nil {
			return err
		}
	}
	return nil
}

// str reads a string. The answer shares the line's bytes when it has no escapes: then it is not own.
func (s *scanner) str() (text []byte, own bool, err error) {
	if s.at >= len(s.text) || s.text[s.at] != '"' {
		return nil, false, s.wrong("expected a string")
	}
	s.at++
	end := s.at // of what needs no look at its bytes one by one
	for end < len(s.text) && s.text[end] >= ' ' && s.text[end] != '"' && s.text[end] != '\\' {
		end++
	}
	if end < len(s.text) && s.text[end] == '"' && utf8.Valid(s.text[s.at:end]) {
		text = s.text[s.at:end]
		s.at = end + 1
		return text, false, nil
	}
	text, err = s.unescape()
	return text, true, err
}

// unescape reads the inside of a string and the quote behind it.
func (s *scanner) unescape() ([]byte, error) {
	out := make([]byte, 0, s.inside())
	for s.at < len(s.text) {
		run := s.at
		for run < len(s.text) && s.text[run] >= ' ' && s.text[run] < utf8.RuneSelf && s.text[run] != '"' && s.text[run] != '\\' {
			run++
		}
		out = append(out, s.text[s.at:run]...)
		if s.at = run; run == len(s.text) {
			break
		}
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return out, nil
		case c == '\\':
			r, err := s.escape()
			if err != nil {
				return nil, err
			}
			out = utf8.AppendRune(out, r)
		case c < ' ':
			return nil, s.wrong("a control character inside a string")
		default:
			r, n := utf8.DecodeRune(s.text[s.at:])
			if r == utf8.RuneError && n == 1 {
				return nil, s.wrong("bytes that are no valid UTF-8")
			}
			out = append(out, s.text[s.at:s.at+n]...)
			s.at += n
		}
	}
	return nil, s.wrong("")
}

// inside is how many bytes there are to the end of the string.
func (s *scanner) inside() int {
	for end := s.at; end < len(s.text); end++ {
		switch s.text[end] {
		case '"':
			return end - s.at
		case '\\':
			end++
		}
	}
	return len(s.text) - s.at
}

const escapes, escaped = `"\/bfnrt`, "\"\\/\b\f\n\r\t"

// escape reads a backslash and what follows. Half a surrogate pair stands for no text and is an error.
func (s *scanner) escape() (rune, error) {
	from := s.at
	if s.at++; s.at >= len(s.text) {
		return 0, s.wrong("")
	}
	c := s.text[s.at]
	if i := strings.IndexByte(escapes, c); i >= 0 {
		s.at++
		return rune(escaped[i]), nil
	}
	if c != 'u' {
		s.at = from
		return 0, s.wrong("JSON has no such escape")
	}
	s.at++
	r, err := s.unit()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if bytes.HasPrefix(s.text[s.at:], []byte(`\u`)) {
		s.at += 2
		low, err := s.unit()
		if err != nil {
			return 0, err
		}
		if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
			return r, nil
		}
	}
	s.at = from
	return 0, s.wrong("half of a surrogate pair")
}

// unit reads four hexadecimal digits.
func (s *scanner) unit() (r rune, err error) {
	for range 4 {
		if s.at >= len(s.text) {
			return 0, s.wrong("")
		}
		digit := strings.IndexByte(hexDigits, s.text[s.at]|0x20)
		if c := s.text[s.at]; digit < 0 || c < '0' {
			return 0, s.wrong("expected a hexadecimal digit")
		}
		r = r<<4 | rune(digit)
		s.at++
	}
	return r, nil
}

// number reads a number and returns its text and where it ends.
func (s *scanner) number() (text string, end int, err error) {
	from := s.at
	digits := func() bool {
		start := s.at
		for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
			s.at++
		}
		return s.at > start
	}
	accept := func(set string) bool {
		if s.at < len(s.text) && strings.IndexByte(set, s.text[s.at]) >= 0 {
			s.at++
			return true
		}
		return false
	}
	accept("-")
	if !accept("0") && !digits() {
		return "", 0, s.wrong("expected a number")
	}
	if accept(".") && !digits() {
		return "", 0, s.wrong("expected a digit")
	}
	if accept("eE") {
		if accept("+-"); !digits() {
			return "", 0, s.wrong("expected a digit")
		}
	}
	return string(s.text[from:s.at]), s.at, nil
}

// word reads one of JSON's three words.
func (s *scanner) word() error {
	for _, w := range []string{"null", "true", "false"} {
		if bytes.HasPrefix(s.text[s.at:], []byte(w)) {
			s.at += len(w)
			return nil
		}
		if strings.HasPrefix(w, string(s.text[s.at:])) {
			s.at = len(s.text)
		}
	}
	return s.wrong("expected a JSON value")
}

// deepest is how deep the value of a field that is not known may be nested.
const deepest = 100

// skip reads any value.
func (s *scanner) skip(depth int) error {
	s.blanks()
	if s.at >= len(s.text) {
		return s.wrong("")
	}
	switch c := s.text[s.at]; {
	case depth > deepest:
		return s.wrong("nested too deep")
	case c == '"':
		_, _, err := s.str()
		return err
	case c == '{':
		return s.object(func([]byte) error { return s.skip(depth + 1) })
	case c == '[':
		s.at++
		for first := true; !s.next(']'); first = false {
			if !first && !s.next(',') {
				return s.wrong("expected a comma or the end of the array")
			}
			if err := s.skip(depth + 1); err != nil {
				return err
			}
		}
		return nil
	case c == '-' || c >= '0' && c <= '9':
		_, _, err := s.number()
		return err
	}
	return s.word()
}
