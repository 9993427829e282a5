package transfer

import (
	"encoding/base64"
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
	d := decoder{scanner: scanner{text: text}, seen: map[string]int{}}
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
	seen map[string]int // where the value of a known field begins
}

// field reads the value of one field.
func (d *decoder) field(name string) error {
	at := d.at
	read, known := fields[name]
	if !known {
		return d.skip(0)
	}
	if _, twice := d.seen[name]; twice {
		return d.wrong("%s is there a second time", name)
	}
	d.seen[name] = at
	if d.at < len(d.text) && d.text[d.at] == 'n' { // null: not known
		delete(d.seen, name)
		return d.word()
	}
	return read(d)
}

// fields are those of a line that say something about the message. Of index and due nothing
// depends: they are for who looks at the file.
var fields = map[string]func(*decoder) error{
	"queue":        func(d *decoder) error { return d.name(&d.line.Queue, "queue_b64") },
	"queue_b64":    func(d *decoder) error { return d.base64Text(&d.line.Queue) },
	"key":          func(d *decoder) error { return d.name(&d.line.Key, "key_b64") },
	"key_b64":      func(d *decoder) error { return d.base64Text(&d.line.Key) },
	"reason":       func(d *decoder) error { return d.name(&d.line.Reason, "reason_b64") },
	"reason_b64":   func(d *decoder) error { return d.base64Text(&d.line.Reason) },
	"place":        (*decoder).place,
	"push":         (*decoder).push,
	"score":        (*decoder).score,
	"size":         func(d *decoder) error { return d.count(&d.size) },
	"attempts":     (*decoder).attempts,
	"first_failed": (*decoder).firstFailed,
	"payload":      (*decoder).payload,
	"payload_b64":  (*decoder).payloadB64,
}

// name reads bytes that are text as a rule. What the field in base64 says is exact.
func (d *decoder) name(to *string, exact string) error {
	text, err := d.str()
	if _, there := d.seen[exact]; err == nil && !there {
		*to = string(text)
	}
	return err
}

func (d *decoder) base64() ([]byte, error) {
	at := d.at
	text, err := d.str()
	if err != nil {
		return nil, err
	}
	b := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Strict().Decode(b, text)
	if err != nil {
		d.at = at
		return nil, d.wrong("this is not base64")
	}
	return b[:n], nil
}

func (d *decoder) base64Text(to *string) error {
	b, err := d.base64()
	*to = string(b)
	return err
}

func (d *decoder) place() error {
	at := d.at
	text, err := d.str()
	if err != nil {
		return err
	}
	if d.line.Place, err = queue.ParsePlace(string(text)); err != nil {
		d.at = at
		return d.wrong("%v", err)
	}
	return nil
}

func (d *decoder) push() error {
	at := d.at
	text, err := d.str()
	if err != nil {
		return err
	}
	if d.line.Push, err = queue.ParseEnd(string(text)); err != nil {
		d.at = at
		return d.wrong("%v", err)
	}
	return nil
}

func (d *decoder) score() error {
	at := d.at
	var text string
	if d.at < len(d.text) && d.text[d.at] == '"' {
		s, err := d.str()
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

func (d *decoder) firstFailed() error {
	at := d.at
	text, err := d.str()
	if err != nil {
		return err
	}
	if d.line.First, err = time.Parse(time.RFC3339Nano, string(text)); err != nil || d.line.First.UnixMilli() < 0 {
		d.at = at
		return d.wrong("expected a time like 2006-01-02T15:04:05Z")
	}
	return nil
}

func (d *decoder) payload() error {
	text, err := d.str()
	d.line.Payload = append([]byte{}, text...) // not nil, and not the line's
	return err
}

func (d *decoder) payloadB64() (err error) {
	d.line.Payload, err = d.base64()
	return err
}

// check tells what a line that begins at start lacks to be a message.
func (d *decoder) check(start int) error {
	has := func(name string) bool { _, ok := d.seen[name]; return ok }
	size, sized := d.seen["size"]
	switch d.at = start; {
	case !has("place"):
		return d.wrong("this is no message: it has no place")
	case !has("payload") && !has("payload_b64"):
		return d.wrong("this is no message: it has no payload")
	case has("payload") && has("payload_b64"):
		d.at = d.seen["payload_b64"]
		return d.wrong("there is a payload already")
	case d.line.Place == queue.Delayed && !has("score"):
		return d.wrong("a delayed message needs a score")
	case sized && d.size != int64(len(d.line.Payload)):
		d.at = size
		return d.wrong("the payload has %d bytes, not %d: the line is damaged", len(d.line.Payload), d.size)
	}
	return nil
}
