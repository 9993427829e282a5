package filter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"redq/queue/payload"
)

// Bounds of what a jq expression runs on. A value takes some sixty bytes of memory, a
// text its own length.
const (
	maxText   = 8 << 20 // bytes of a decoded payload
	maxValues = 1 << 20 // members, elements and keys in it
	// maxDigits is the length of the longest number: reading it takes the square of it.
	maxDigits = 1000
)

var (
	errTooLong    = fmt.Errorf("the payload is longer than %d MiB", maxText>>20)
	errTooMany    = fmt.Errorf("the payload holds more than %d values", maxValues)
	errLongNumber = fmt.Errorf("the payload holds a number of more than %d digits", maxDigits)
)

// document decodes a payload for jq: numbers are json.Number, to the last digit.
func document(b []byte) (any, error) {
	if len(b) > 0 && (b[0] == '{' || b[0] == '[') {
		return readJSON(b) // nothing else begins like that, and most payloads do
	}
	e := payload.Detect(b, false)
	switch e {
	case payload.JSON, payload.Plain: // a bare number is text there
		return readJSON(b)
	case payload.Empty, payload.Binary:
		return nil, fmt.Errorf("the payload is %s, not JSON", e)
	}
	d := payload.Decode(b, maxText)
	if d.Note != "" {
		return nil, errors.New(d.Note)
	}
	switch inner := d.Chain[len(d.Chain)-1]; inner {
	case payload.JSON, payload.Plain:
		return readJSON(d.Pretty)
	case payload.MsgPack:
		return readJSON(strict(d.Pretty))
	default:
		return nil, fmt.Errorf("the payload is %s, not JSON", inner)
	}
}

func readJSON(b []byte) (any, error) {
	if len(b) > maxText {
		return nil, errTooLong
	}
	values, digits := extent(b)
	if values > maxValues {
		return nil, errTooMany
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("not JSON: %s", payload.LineString(err.Error(), maxReason))
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("not JSON: more follows the first value")
	}
	if room := math.MaxInt; digits > maxDigits && !weigh(v, &room, 0) {
		return nil, errLongNumber // no run of digits in a text, then
	}
	return v, nil
}

// extent returns about how many values a JSON text holds, at least as many as there
// are, and the length of its longest run of digits, without decoding it.
func extent(b []byte) (values, digits int) {
	run := 0
	for _, c := range b {
		if '0' <= c && c <= '9' {
			run++
			digits = max(digits, run)
			continue
		}
		run = 0
		switch c {
		case ',', ':', '[', '{':
			values++
		}
	}
	return values, digits
}

// strict makes JSON of the JSON-like text that MessagePack is shown as: what JSON
// lacks becomes a string, as b64(AQI=) becomes "AQI=", or null, and so does a key
// that is no string. A map or an array as a key stays, and is no JSON.
func strict(text []byte) []byte {
	out := make([]byte, 0, len(text)+len(text)/8)
	for len(text) > 0 {
		n := tokenLen(text)
		key := bytes.HasPrefix(text[n:], []byte(":"))
		out = append(out, strictToken(text[:n], key)...)
		text = text[n:]
	}
	return out
}

// tokenLen returns the length of the token that text begins with: a string, a word, or
// one byte of anything else.
func tokenLen(text []byte) int {
	if text[0] == '"' {
		for i := 1; i < len(text); i++ {
			switch text[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
		return len(text)
	}
	n := bytes.IndexAny(text, " \n,:[]{}\"")
	switch {
	case n < 0:
		return len(text)
	case bytes.HasPrefix(text, []byte("ext(")):
		return bytes.IndexByte(text, ')') + 1
	}
	return max(1, n)
}

func strictToken(token []byte, key bool) []byte {
	word := string(token)
	switch {
	case strings.Contains("\"]} \n", word[:1]):
	case strings.HasPrefix(word, "b64("), strings.HasPrefix(word, "ext("):
		data := strings.TrimSuffix(word[strings.LastIndexAny(word, "( ")+1:], ")")
		return []byte(`"` + data + `"`)
	case key:
		return []byte(`"` + word + `"`)
	case word == "NaN", word == "Infinity", word == "-Infinity":
		return []byte("null")
	}
	return token
}
