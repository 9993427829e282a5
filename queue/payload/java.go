package payload

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// The Java Object Serialization Stream Protocol, version 5: magic and version,
// then type codes.
var javaMagic = []byte{0xac, 0xed, 0x00, 0x05}

const (
	javaString16 = 0x74 // TC_STRING: two bytes of length
	javaString64 = 0x7c // TC_LONGSTRING: eight bytes of length
	javaObject   = 0x73 // TC_OBJECT
	javaClass    = 0x72 // TC_CLASSDESC: two bytes of length and the class's name
)

// errNotString is returned for Java data other than one string.
var errNotString = errors.New("a serialised Java object: only strings can be shown")

// javaString takes the serialisation's header off a string.
func javaString(b []byte, limit int) ([]byte, error) {
	b = b[len(javaMagic):]
	if len(b) == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	size, body, ok := javaLength(b)
	if !ok {
		return nil, javaOther(b)
	}
	var err error
	switch {
	case size > uint64(len(body)):
		err = io.ErrUnexpectedEOF
	case size < uint64(len(body)):
		err = fmt.Errorf("%d bytes follow the string", uint64(len(body))-size)
		body = body[:size]
	}
	if len(body) > limit {
		body, err = body[:limit], errLimit
	}
	return fromModifiedUTF8(body), err
}

func javaLength(b []byte) (size uint64, body []byte, ok bool) {
	switch {
	case b[0] == javaString16 && len(b) >= 3:
		return uint64(binary.BigEndian.Uint16(b[1:])), b[3:], true
	case b[0] == javaString64 && len(b) >= 9:
		return binary.BigEndian.Uint64(b[1:]), b[9:], true
	}
	return 0, nil, false
}

// javaOther names the class of an object that is not shown.
func javaOther(b []byte) error {
	if len(b) < 4 || b[0] != javaObject || b[1] != javaClass {
		return errNotString
	}
	name := b[4:]
	name = name[:min(len(name), int(binary.BigEndian.Uint16(b[2:])))]
	return fmt.Errorf("%w (class %s)", errNotString, Line(name, 80))
}

// fromModifiedUTF8 turns Java's UTF-8 (zero as two bytes, surrogate pairs as two
// times three) into the real one. Anything else stays as it is.
func fromModifiedUTF8(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		high, low := surrogate(b), rune(0)
		if high != 0 {
			low = surrogate(b[3:])
		}
		switch pair := utf16.DecodeRune(high, low); {
		case len(b) >= 2 && b[0] == 0xc0 && b[1] == 0x80:
			out = append(out, 0)
			b = b[2:]
		case pair != utf8.RuneError:
			out = utf8.AppendRune(out, pair)
			b = b[6:]
		default:
			out = append(out, b[0])
			b = b[1:]
		}
	}
	return out
}

// surrogate returns the half of a pair that b begins with, else 0.
func surrogate(b []byte) rune {
	if len(b) < 3 || b[0] != 0xed || b[1]&0xe0 != 0xa0 || b[2]&0xc0 != 0x80 {
		return 0
	}
	return 0xd000 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f)
}
