package payload

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

const maxMsgPackDepth = 500

// isMsgPack reports whether b is one MessagePack map, array or string and
// nothing else; with cut, the beginning of one. Other types are too short to tell.
func isMsgPack(b []byte, cut bool) bool {
	if len(b) < 2 || !startsMsgPack(b[0]) {
		return false
	}
	p := newMsgPackPrinter(b, math.MaxInt, false)
	err := p.value(0)
	if err == nil {
		return p.rest.Len() == 0
	}
	return cut && errors.Is(err, errCut)
}

func startsMsgPack(c byte) bool {
	return msgpcode.IsFixedMap(c) && c != msgpcode.FixedMapLow ||
		msgpcode.IsFixedArray(c) && c != msgpcode.FixedArrayLow ||
		msgpcode.IsString(c) ||
		c == msgpcode.Map16 || c == msgpcode.Map32 || c == msgpcode.Array16 || c == msgpcode.Array32
}

// renderMsgPack shows b as JSON-like text: order and duplicate keys stay, and
// what JSON lacks is written as b64(…), ext(type, …), NaN or Infinity.
func renderMsgPack(b []byte, limit int, indent bool) ([]byte, error) {
	p := newMsgPackPrinter(b, limit, indent)
	err := p.value(0)
	return p.out.result(err)
}

type msgPackPrinter struct {
	rest   *bytes.Reader
	dec    *msgpack.Decoder
	out    indenter
	indent bool
}

func newMsgPackPrinter(b []byte, limit int, indent bool) *msgPackPrinter {
	r := bytes.NewReader(b)
	return &msgPackPrinter{rest: r, dec: msgpack.NewDecoder(r), out: indenter{limit: limit}, indent: indent}
}

// value prints the next value, inside depth containers.
func (p *msgPackPrinter) value(depth int) error {
	if p.out.full {
		return errLimit
	}
	if depth > maxMsgPackDepth {
		return errTooDeep
	}
	c, err := p.dec.PeekCode()
	if err != nil {
		return early(err)
	}
	switch {
	case msgpcode.IsFixedMap(c), c == msgpcode.Map16, c == msgpcode.Map32:
		n, err := p.dec.DecodeMapLen()
		return p.container("{", "}", n, depth, err, p.member)
	case msgpcode.IsFixedArray(c), c == msgpcode.Array16, c == msgpcode.Array32:
		n, err := p.dec.DecodeArrayLen()
		return p.container("[", "]", n, depth, err, p.value)
	}
	text, err := p.scalar(c)
	if err != nil {
		return early(err)
	}
	p.token(text, depth)
	return nil
}

func (p *msgPackPrinter) container(open, end string, n, depth int, err error, element func(depth int) error) error {
	if err != nil {
		return early(err)
	}
	p.token(open, depth+1)
	for i := range n {
		if i > 0 {
			p.token(",", depth+1)
		}
		if err := element(depth + 1); err != nil {
			return err
		}
	}
	p.token(end, depth)
	return nil
}

func (p *msgPackPrinter) member(depth int) error {
	if err := p.value(depth); err != nil {
		return err
	}
	p.token(":", depth)
	return p.value(depth)
}

func (p *msgPackPrinter) token(text string, depth int) {
	if p.indent {
		p.out.token([]byte(text), depth)
		return
	}
	p.out.write([]byte(text))
}

func (p *msgPackPrinter) scalar(c byte) (string, error) {
	switch {
	case c == msgpcode.Nil:
		return "null", p.dec.DecodeNil()
	case c == msgpcode.True, c == msgpcode.False:
		b, err := p.dec.DecodeBool()
		return strconv.FormatBool(b), err
	case c == msgpcode.Float:
		f, err := p.dec.DecodeFloat32()
		return floatText(float64(f), 32), err
	case c == msgpcode.Double:
		f, err := p.dec.DecodeFloat64()
		return floatText(f, 64), err
	case c >= msgpcode.Uint8 && c <= msgpcode.Uint64:
		n, err := p.dec.DecodeUint64()
		return strconv.FormatUint(n, 10), err
	case msgpcode.IsFixedNum(c), c >= msgpcode.Int8 && c <= msgpcode.Int64:
		n, err := p.dec.DecodeInt64()
		return strconv.FormatInt(n, 10), err
	case msgpcode.IsString(c):
		n, err := p.dec.DecodeBytesLen()
		return p.text(n, err, quote)
	case msgpcode.IsBin(c):
		n, err := p.dec.DecodeBytesLen()
		return p.text(n, err, func(b []byte) string { return "b64(" + base64Text(b) + ")" })
	case msgpcode.IsExt(c):
		id, n, err := p.dec.DecodeExtHeader()
		return p.text(n, err, func(b []byte) string { return fmt.Sprintf("ext(%d, %s)", id, base64Text(b)) })
	}
	return "", errMalformed
}

// text reads n bytes and shows them. The length is what the payload claims, so
// it is believed only when the bytes are there.
func (p *msgPackPrinter) text(n int, err error, show func([]byte) string) (string, error) {
	if err != nil {
		return "", err
	}
	if n < 0 || n > p.rest.Len() {
		return "", errCut
	}
	b := make([]byte, n)
	if err := p.dec.ReadFull(b); err != nil {
		return "", err
	}
	return show(b), nil
}

func base64Text(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func floatText(f float64, bits int) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return strconv.FormatFloat(f, 'g', -1, bits)
}

// quote writes s as a JSON string with no more escapes than needed.
func quote(s []byte) string {
	out := make([]byte, 0, len(s)+2)
	out = append(out, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c == '\n':
			out = append(out, `\n`...)
		case c < ' ':
			out = append(out, `\u00`...)
			out = append(out, hexDigit(rune(c), 4), hexDigit(rune(c), 0))
		default:
			out = append(out, c)
		}
	}
	return string(append(out, '"'))
}

// early gives an end of the data the name it has here.
func early(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errCut
	}
	return err
}
