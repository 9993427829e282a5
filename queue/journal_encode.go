package queue

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MarshalJSON implements json.Marshaler.
func (r Record) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil) }

// AppendJSON appends the record as it stands in the journal, in one line without its end. It is an error when
// Time has no RFC 3339 form. A bulk operation writes hundreds of thousands of payloads a
// second, so this is written out by hand.
func (r Record) AppendJSON(b []byte) ([]byte, error) {
	b = appendString(append(b, `{"kind":`...), string(r.Kind))
	b = appendString(append(b, `,"entry":`...), strings.ToValidUTF8(r.Entry, "\ufffd"))
	b = strconv.AppendInt(append(b, `,"seq":`...), int64(r.Seq), 10)
	b = append(b, `,"time":"`...)
	b, err := r.Time.AppendText(b)
	if err != nil {
		return nil, err
	}
	b = append(b, '"')
	b = appendText(b, "server", r.Server)
	b = appendText(b, "queue", r.Queue)
	b = appendWord(b, "op", string(r.Op))
	if r.Kind == Intent && r.Batch != nil {
		b = appendNumber(b, "n", int64(r.Batch.Len()))
	}
	b = appendNumber(b, "count", r.Count)
	if r.Kind == Intent {
		b = appendWord(b, "place", string(r.Message.Place))
		b = appendText(b, "key", r.Message.Key)
	}
	b = appendNumber(b, "index", r.Message.Index)
	b = appendNumber(b, "len", r.Message.Len)
	if r.Kind == Intent {
		b = r.appendIntent(b)
	}
	b = appendWord(b, "outcome", string(r.Outcome))
	return append(b, '}'), nil
}

// appendIntent appends what only an intent has, as far as lists do not need it.
func (r Record) appendIntent(b []byte) []byte {
	b = appendWord(b, "score", string(r.Message.Score))
	if r.Batch == nil {
		b = appendBytes(append(b, `,"payload":`...), r.Message.Payload)
	}
	b = appendWord(b, "to_place", string(r.ToPlace))
	b = appendText(b, "to_key", r.ToKey)
	b = appendWord(b, "to_score", string(r.ToScore))
	b = appendWord(b, "end", string(r.End))
	if r.Payload != nil {
		b = appendBytes(append(b, `,"new_payload":`...), r.Payload)
	}
	if r.Batch != nil {
		b = r.Batch.appendJSON(b)
	}
	return b
}

// appendJSON appends the fields of a batch.
func (p *Batch) appendJSON(b []byte) []byte {
	const each = 40 // bytes for the print, the position and the scores of a message, about
	size := p.Len() * each
	for _, v := range p.Payloads {
		size += len(v) + len(v)/8 // quotes are escaped
	}
	b = slices.Grow(b, size)
	if len(p.Prints) > 0 {
		raw := make([]byte, 0, len(p.Prints)*len(Print{}))
		for _, print := range p.Prints {
			raw = append(raw, print[:]...)
		}
		b = append(b, `,"prints":"`...)
		b = append(base64.StdEncoding.AppendEncode(b, raw), '"')
	}
	b = appendArray(b, "at", p.Index, func(b []byte, at int64) []byte { return strconv.AppendInt(b, at, 10) })
	score := func(b []byte, s Score) []byte { return appendString(b, string(s)) }
	b = appendArray(b, "scores", p.Scores, score)
	b = appendArray(b, "to_scores", p.ToScores, score)
	return appendArray(b, "payloads", p.Payloads, appendBytes)
}

func appendArray[T any](b []byte, name string, all []T, one func([]byte, T) []byte) []byte {
	if len(all) == 0 {
		return b
	}
	b = append(appendName(b, name), '[')
	for i, v := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, v)
	}
	return append(b, ']')
}

func appendName(b []byte, name string) []byte {
	b = append(b, ',', '"')
	b = append(b, name...)
	return append(b, '"', ':')
}

// appendNumber appends a field, unless it is 0.
func appendNumber(b []byte, name string, v int64) []byte {
	if v == 0 {
		return b
	}
	return strconv.AppendInt(appendName(b, name), v, 10)
}

// appendWord appends a field of text that is UTF-8 by its nature, unless it is empty.
func appendWord(b []byte, name, word string) []byte {
	if word == "" {
		return b
	}
	return appendString(appendName(b, name), strings.ToValidUTF8(word, "\ufffd"))
}

// appendText appends a field of bytes that may be anything, unless there are none.
func appendText(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	return appendBytes(appendName(b, name), []byte(text))
}

// appendBytes appends bytes as JSON: a string, or {"b64":"…"} when they are not valid UTF-8.
func appendBytes(b, v []byte) []byte {
	if utf8.Valid(v) {
		return appendString(b, v)
	}
	b = append(b, `{"b64":"`...)
	return append(base64.StdEncoding.AppendEncode(b, v), `"}`...)
}

// appendString appends text, which is valid UTF-8, as a JSON string.
func appendString[T string | []byte](b []byte, s T) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	plain := 0 // up to here it is written
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[plain:i]...)
		plain = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\t':
			b = append(b, `\t`...)
		case '\r':
			b = append(b, `\r`...)
		default:
			b = append(b, `\u00`...)
			b = append(b, hex[c>>4], hex[c&0xf])
		}
	}
	b = append(b, s[plain:]...)
	return append(b, '"')
}
