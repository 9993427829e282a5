package payload

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/klauspost/compress/zstd"
)

// unwrapped is a payload freed from its outer encodings.
type unwrapped struct {
	chain   []Encoding // from the outside in; the last is content's
	content []byte
	note    string // why content is not all
}

// unwrap opens encodings within encodings until the content is no wrapping, or
// cannot be opened. It makes no more than limit bytes at each step.
func unwrap(b []byte, limit int) unwrapped {
	u := unwrapped{content: b}
	cut := false
	for {
		e := detectContent(u.content, cut)
		u.chain = append(u.chain, e)
		open := opener(e)
		if open == nil || len(u.chain) == maxChain {
			return u
		}
		content, err := open(u.content, limit)
		u.note = joinNotes(u.note, explain(e, err, limit))
		if err != nil && len(content) == 0 {
			u.content = nil
			return u
		}
		u.content, cut = content, err != nil
	}
}

// detectContent is Detect, but takes the beginning of a JSON text for JSON.
func detectContent(b []byte, cut bool) Encoding {
	e := Detect(b, cut)
	if e == Plain && errors.Is(checkJSON(b[:min(len(b), detectBytes)]), errCut) {
		return JSON
	}
	return e
}

// opener returns the function that takes one encoding off: up to limit bytes of the
// content, with errLimit when there is more and another error when the data is damaged.
func opener(e Encoding) func(b []byte, limit int) ([]byte, error) {
	switch e {
	case Gzip:
		return gunzip
	case Zlib:
		return inflate
	case Zstd:
		return unzstd
	case Base64:
		return unbase64
	case Java:
		return javaString
	}
	return nil
}

func explain(e Encoding, err error, limit int) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, errLimit):
		return "shown up to " + humanize.IBytes(uint64(limit))
	case errors.Is(err, errNotString):
		return err.Error()
	}
	return fmt.Sprintf("%s is damaged: %s", e, LineString(err.Error(), 200))
}

func gunzip(b []byte, limit int) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return readUpTo(r, limit)
}

func inflate(b []byte, limit int) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return readUpTo(r, limit)
}

func unzstd(b []byte, limit int) ([]byte, error) {
	r, err := zstd.NewReader(bytes.NewReader(b),
		zstd.WithDecoderConcurrency(1), // no goroutines
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(8<<20)) // what level 19 uses; a frame may ask for gigabytes
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return readUpTo(r, limit)
}

// readUpTo reads limit bytes; errLimit means that there is more.
func readUpTo(r io.Reader, limit int) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if len(content) > limit {
		return content[:limit], errLimit
	}
	return content, err
}

func unbase64(b []byte, limit int) ([]byte, error) {
	r := base64.NewDecoder(base64Of(b), bytes.NewReader(b))
	return readUpTo(r, limit)
}

// base64Of returns the variant b is written in: the alphabet of URLs or the
// usual one, with or without padding.
func base64Of(b []byte) *base64.Encoding {
	enc := base64.StdEncoding
	if bytes.ContainsAny(b, "-_") {
		enc = base64.URLEncoding
	}
	if len(bytes.TrimRight(b, "\r\n"))%4 != 0 && !bytes.ContainsAny(b, "\r\n") {
		enc = enc.WithPadding(base64.NoPadding)
	}
	return enc
}

// minBase64 is the length below which a word could be base64 by accident.
const minBase64 = 16

// isBase64 reports whether b is base64 of something that can be read; many
// words and ids are base64 of noise.
func isBase64(b []byte, cut bool) bool {
	if len(b) < minBase64 || !base64Alphabet(b) {
		return false
	}
	if cut {
		b = b[:len(b)/4*4]
	}
	content, err := unbase64(b, detectBytes)
	if err != nil && !cut {
		return false
	}
	switch detect(content, cut) {
	case JSON, Plain, Base64, Gzip, Zlib, Zstd, Java:
		return true
	}
	return false
}

func base64Alphabet(b []byte) bool {
	for _, c := range b {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', isDigit(c):
		case strings.IndexByte("+/-_=\r\n", c) >= 0:
		default:
			return false
		}
	}
	return true
}

func detect(b []byte, cut bool) Encoding {
	switch {
	case len(b) == 0:
		return Empty
	case bytes.HasPrefix(b, []byte{0x1f, 0x8b, 8}):
		return Gzip
	case bytes.HasPrefix(b, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return Zstd
	case isZlib(b):
		return Zlib
	case bytes.HasPrefix(b, javaMagic):
		return Java
	}
	switch err := checkJSON(b); {
	case err == nil, cut && errors.Is(err, errCut):
		return JSON
	case isText(b, cut) && isBase64(b, cut):
		return Base64
	case isText(b, cut):
		return Plain
	case isMsgPack(b, cut):
		return MsgPack
	}
	return Binary
}

// isZlib asks for the usual header and for data that can be inflated and is no
// text: "x^2 + y" has the header, and begins like compressed data too.
func isZlib(b []byte) bool {
	if len(b) < 2 || b[0] != 0x78 || bytes.IndexByte([]byte{0x01, 0x5e, 0x9c, 0xda}, b[1]) < 0 || isText(b, true) {
		return false
	}
	content, err := inflate(b, 64)
	return err == nil || len(content) > 0
}

// isText reports UTF-8 without zero bytes and with few of the control characters
// that text does not use. Escape sequences are text to be looked at.
func isText(b []byte, cut bool) bool {
	if cut {
		b = trimPartialRune(b)
	}
	if !utf8.Valid(b) {
		return false
	}
	controls := 0
	for _, c := range b {
		switch {
		case c == 0:
			return false
		case c == '\n' || c == '\r' || c == '\t' || c == 0x1b || c == 7 || c == '\b':
		case c < ' ' || c == 0x7f:
			controls++
		}
	}
	return controls <= 1+len(b)/20
}

// trimPartialRune drops a rune whose last bytes were cut off.
func trimPartialRune(b []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if tail := b[len(b)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return b[:len(b)-i]
			}
			return b
		}
	}
	return b
}

// render makes content, which no opener takes further, readable.
func render(content []byte, e Encoding, limit int) (pretty []byte, note string) {
	var err error
	switch e {
	case JSON:
		pretty, err = indentJSON(content, limit)
		switch {
		case errors.Is(err, errCut):
			return pretty, "JSON that ends too early"
		case err != nil && !errors.Is(err, errLimit):
			return pretty, "not JSON to its end: the rest is shown as it is"
		}
	case MsgPack:
		pretty, err = renderMsgPack(content, limit, true)
	case Plain:
		pretty = content
		if len(content) > limit {
			pretty, err = trimPartialRune(content[:limit]), errLimit
		}
	}
	return pretty, explain(e, err, limit)
}

// joinNotes puts two notes into one; the same one is said once.
func joinNotes(a, b string) string {
	switch {
	case a == "" || a == b:
		return b
	case b == "":
		return a
	}
	return a + "; " + b
}

func joinNames(chain []Encoding) string {
	var s strings.Builder
	for i, e := range chain {
		if i > 0 {
			s.WriteString(" ")
		}
		s.WriteString(string(e))
	}
	return s.String()
}
