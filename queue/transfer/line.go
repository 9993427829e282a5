package transfer

import (
	"bufio"
	"encoding/base64"
	"math"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"redq/queue"
	"redq/queue/payload"
)

// Line is one message of a file: see the package comment for the format.
type Line struct {
	Queue string      // "" when the line names none
	Place queue.Place // never ""
	Key   string      // "" when the line names none
	// Push is, for a message of ready, the end of its list that producers pushed to; "" when
	// that is not said.
	Push queue.End
	// Score and Payload are the message's own.
	Score   queue.Score // of delayed only
	Payload []byte
	// Attempts is how often it has failed, First when for the first time, Reason why the last time.
	Attempts int
	First    time.Time
	Reason   string
}

// encoder writes messages as lines. A payload is never held a second time.
type encoder struct {
	to    *bufio.Writer
	queue queue.Queue
	buf   []byte
}

// message writes one line. The writer keeps the first error.
func (e *encoder) message(m queue.Failed) error {
	b := append(e.buf[:0], '{')
	b = appendName(b, "queue", e.queue.Name)
	b = append(b, `,"place":"`+string(m.Place)+`",`...)
	b = appendName(b, "key", m.Key)
	if m.Place == queue.Delayed {
		b = append(appendScore(append(b, `,"score":`...), m.Score), `,"due":`...)
		if due, ok := e.queue.Unit.Time(m.Score); ok {
			b = append(due.UTC().AppendFormat(append(b, '"'), time.RFC3339Nano), '"')
		} else {
			b = append(b, "null"...)
		}
	} else {
		b = strconv.AppendInt(append(b, `,"index":`...), m.Index, 10)
	}
	if m.Place == queue.Ready {
		b = append(b, `,"push":"`+string(e.queue.PushEnd())+`"`...)
	}
	b = strconv.AppendInt(append(b, `,"size":`...), m.Size, 10)
	if m.Attempts > 0 {
		b = strconv.AppendInt(append(b, `,"attempts":`...), int64(m.Attempts), 10)
		b = append(m.First.UTC().AppendFormat(append(b, `,"first_failed":"`...), time.RFC3339Nano), `",`...)
		b = appendName(b, "reason", m.Reason)
	}
	e.buf = b
	_, _ = e.to.Write(b)
	if utf8.Valid(m.Payload) {
		_, _ = e.to.WriteString(`,"payload":`)
		e.quote(m.Payload)
	} else {
		_, _ = e.to.WriteString(`,"payload_b64":"`)
		to := base64.NewEncoder(base64.StdEncoding, e.to)
		_, _ = to.Write(m.Payload)
		_ = to.Close()
		_ = e.to.WriteByte('"')
	}
	_, err := e.to.WriteString("}\n")
	return err
}

// quoted is how many bytes of a payload are quoted at once.
const quoted = 32 << 10

// quote writes text as a JSON string.
func (e *encoder) quote(text []byte) {
	_ = e.to.WriteByte('"')
	for len(text) > 0 {
		n := min(len(text), quoted)
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		e.buf = appendEscaped(e.buf[:0], text[:n])
		_, _ = e.to.Write(e.buf)
		text = text[n:]
	}
	_ = e.to.WriteByte('"')
}

// appendName appends a field for bytes that are text as a rule: where they are no valid UTF-8
// the field is what can be read, and another one has them in base64.
func appendName(b []byte, field, value string) []byte {
	b = append(b, `"`+field+`":"`...)
	if utf8.ValidString(value) {
		return append(appendEscaped(b, []byte(value)), '"')
	}
	b = append(appendEscaped(b, []byte(payload.Line([]byte(value), math.MaxInt))), '"')
	b = append(b, `,"`+field+`_b64":"`...)
	return append(base64.StdEncoding.AppendEncode(b, []byte(value)), '"')
}

// appendScore appends a score with every digit the server sent: a number, or a string
// where JSON has no such number (inf).
func appendScore(b []byte, s queue.Score) []byte {
	if v, ok := s.Float(); ok && !math.IsInf(v, 0) {
		if _, end, err := (&scanner{text: []byte(s)}).number(); err == nil && end == len(s) {
			return append(b, s...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

const hexDigits = "0123456789abcdef"

// appendEscaped appends the inside of a JSON string. What a terminal could obey or hide is
// written as \u escapes, so that a file can be looked at.
func appendEscaped(b, text []byte) []byte {
	for len(text) > 0 {
		plain := 0
		for plain < len(text) && text[plain] >= ' ' && text[plain] < 0x7f && text[plain] != '"' && text[plain] != '\\' {
			plain++
		}
		b = append(b, text[:plain]...)
		if text = text[plain:]; len(text) == 0 {
			break
		}
		r, n := utf8.DecodeRune(text)
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r > 0x7f && unicode.IsGraphic(r):
			b = append(b, text[:n]...)
		case r > 0xffff:
			b = appendUnit(appendUnit(b, 0xd800+(r-0x10000)>>10), 0xdc00+(r-0x10000)&0x3ff)
		default:
			b = appendUnit(b, r)
		}
		text = text[n:]
	}
	return b
}

// appendUnit appends the escape of a UTF-16 unit.
func appendUnit(b []byte, u rune) []byte {
	return append(b, '\\', 'u', hexDigits[u>>12&15], hexDigits[u>>8&15], hexDigits[u>>4&15], hexDigits[u&15])
}
