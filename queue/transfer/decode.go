package transfer

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"redq/queue"
)

// LineError is returned for a line that is no message.
type LineError struct {
	Line   int64 // from 1; 0 when only the line was looked at
	Column int   // of its first byte that is wrong, from 1
	Reason string
}

func (e *LineError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("column %d: %s", e.Column, e.Reason)
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// Decode reads one line. Fields that it does not know are left out of account. Its error is a *LineError.
func Decode(text []byte) (Line, error) {
	d := decoder{scanner: scanner{text: text}}
	d.blanks()
	start := d.at
	if err := d.object(d.field); err != nil {
		return Line{}, err
	}
	if d.blanks(); d.at < len(text) {
		return Line{}, d.wrong("expected the end of the line")
	}
	if err := d.check(start); err != nil {
		return Line{}, err
	}
	return d.line, nil
}

// decoder reads one line.
type decoder struct {
	scanner
	line Line
	size int64
	seen [fieldCount]int // where the value of a field begins; 0: it is not there
}

// field is a field that says something about the message. Of index and due nothing depends:
// they are for who looks at the file.
type field int

const (
	fieldQueue field = iota
	fieldQueueB64
	fieldPlace
	fieldKey
	fieldKeyB64
	fieldPush
	fieldScore
	fieldSize
	fieldAttempts
	fieldFirstFailed
	fieldReason
	fieldReasonB64
	fieldPayload
	fieldPayloadB64
	fieldCount
)

var fields = map[string]field{
	"queue": fieldQueue, "queue_b64": fieldQueueB64, "place": fieldPlace, "key": fieldKey, "key_b64": fieldKeyB64,
	"push": fieldPush, "score": fieldScore, "size": fieldSize, "attempts": fieldAttempts, "first_failed": fieldFirstFailed,
	"reason": fieldReason, "reason_b64": fieldReasonB64, "payload": fieldPayload, "payload_b64": fieldPayloadB64,
}

// field reads the value of one field.
func (d *decoder) field(name []byte) error {
	f, known := fields[string(name)]
	switch {
	case !known:
		return d.skip(0)
	case d.seen[f] > 0:
		return d.wrong("%s is there a second time", name)
	case d.at < len(d.text) && d.text[d.at] == 'n': // null: not known
		return d.word()
	}
	d.seen[f] = d.at
	return d.value(f)
}

func (d *decoder) value(f field) error {
	switch l := &d.line; f {
	case fieldQueue:
		return d.name(&l.Queue, fieldQueueB64)
	case fieldKey:
		return d.name(&l.Key, fieldKeyB64)
	case fieldReason:
		return d.name(&l.Reason, fieldReasonB64)
	case fieldQueueB64:
		return d.exactName(&l.Queue)
	case fieldKeyB64:
		return d.exactName(&l.Key)
	case fieldReasonB64:
		return d.exactName(&l.Reason)
	case fieldPlace:
		return parsed(d, &l.Place, queue.ParsePlace)
	case fieldPush:
		return parsed(d, &l.Push, queue.ParseEnd)
	case fieldFirstFailed:
		return parsed(d, &l.First, parseFirst)
	case fieldScore:
		return d.score()
	case fieldSize:
		return d.count(&d.size)
	case fieldAttempts:
		return d.attempts()
	case fieldPayload:
		return d.payload()
	default: // fieldPayloadB64
		var err error
		l.Payload, err = d.base64()
		return err
	}
}

// name reads bytes that are text as a rule. What the field in base64 says is exact.
func (d *decoder) name(to *string, exact field) error {
	text, _, err := d.str()
	if err == nil && d.seen[exact] == 0 {
		*to = string(text)
	}
	return err
}

func (d *decoder) exactName(to *string) error {
	b, err := d.base64()
	*to = string(b)
	return err
}

func (d *decoder) base64() ([]byte, error) {
	at := d.at
	text, _, err := d.str()
	if err != nil {
		return nil, err
	}
	b := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Strict().Decode(b, text)
	if err != nil || bytes.ContainsAny(text, "\r\n") {
		d.at = at
		return nil, d.wrong("this is not base64")
	}
	return b[:n], nil
}

// parsed reads a string that says something else.
func parsed[T any](d *decoder, to *T, parse func(string) (T, error)) error {
	at := d.at
	text, _, err := d.str()
	if err != nil {
		return err
	}
	if *to, err = parse(string(text)); err != nil {
		d.at = at
		return d.wrong("%v", err)
	}
	return nil
}

func parseFirst(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || t.UnixMilli() < 0 {
		return t, errors.New("expected a time like 2006-01-02T15:04:05Z")
	}
	return t, nil
}

func (d *decoder) score() error {
	at := d.at
	var text string
	if d.at < len(d.text) && d.text[d.at] == '"' {
		s, _, err := d.str()
		if err != nil {
			return err
		}
		text = string(s)
	} else {
		var err error
		if text, _, err = d.number(); err != nil {
			return err
		}
	}
	d.line.Score = queue.Score(text)
	// Go reads some numbers that Redis does not.
	if _, ok := d.line.Score.Float(); !ok || strings.ContainsAny(text, "_xX") {
		d.at = at
		return d.wrong("this is not a score")
	}
	return nil
}

// count reads a whole number that is not negative.
func (d *decoder) count(to *int64) error {
	at := d.at
	text, _, err := d.number()
	if err != nil {
		return err
	}
	if *to, err = strconv.ParseInt(text, 10, 64); err != nil || *to < 0 {
		d.at = at
		return d.wrong("expected a whole number of 0 or more")
	}
	return nil
}

func (d *decoder) attempts() error {
	at := d.at
	var n int64
	if err := d.count(&n); err != nil {
		return err
	}
	if n > math.MaxInt32 {
		d.at = at
		return d.wrong("nothing fails that often")
	}
	d.line.Attempts = int(n)
	return nil
}

func (d *decoder) payload() error {
	text, own, err := d.str()
	if !own {
		text = append(make([]byte, 0, len(text)), text...)
	}
	d.line.Payload = text
	return err
}

// check tells what a line that begins at start lacks to be a message.
func (d *decoder) check(start int) error {
	has := func(f field) bool { return d.seen[f] > 0 }
	switch d.at = start; {
	case !has(fieldPlace):
		return d.wrong("this is no message: it has no place")
	case !has(fieldPayload) && !has(fieldPayloadB64):
		return d.wrong("this is no message: it has no payload")
	case has(fieldPayload) && has(fieldPayloadB64):
		d.at = d.seen[fieldPayloadB64]
		return d.wrong("there is a payload already")
	case d.line.Place == queue.Delayed && !has(fieldScore):
		return d.wrong("a delayed message needs a score")
	case has(fieldSize) && d.size != int64(len(d.line.Payload)):
		d.at = d.seen[fieldSize]
		return d.wrong("the payload has %d bytes, not %d: the line is damaged", len(d.line.Payload), d.size)
	}
	return nil
}
