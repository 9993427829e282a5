package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"
	"unicode"
	"unicode/utf8"

	"redq/queue"
	"redq/queue/payload"
)

// writeJSON writes v as one line. What a terminal could obey or hide is written
// as \u escapes, which mean the same to every reader of JSON.
func writeJSON(w io.Writer, v any) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(append(escapeHidden(bytes.TrimSuffix(out.Bytes(), []byte("\n"))), '\n'))
	return err
}

// escapeHidden writes control, format and other invisible characters of a JSON
// text as escapes. They can only stand inside strings.
func escapeHidden(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r < utf8.RuneSelf && r != 0x7f, unicode.IsGraphic(r):
			out = append(out, text[:n]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[n:]
	}
	return out
}

// textJSON returns s for a JSON string, and for bytes that are no valid UTF-8 their
// base64 too: the string is then the escaped form that text output shows.
func textJSON(s string) (shown string, b64 *string) {
	if utf8.ValidString(s) {
		return s, nil
	}
	b := base64.StdEncoding.EncodeToString([]byte(s))
	return line(s), &b
}

// line is s as one line that is safe to print.
func line(s string) string { return payload.LineString(s, math.MaxInt) }

// timeJSON is a time as RFC 3339 in UTC, or null when it is none.
func timeJSON(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := t.UTC().Format(time.RFC3339Nano)
	return &s
}

// scoreJSON is a score with every digit the server sent: a number, or a string
// where JSON has no such number (inf).
func scoreJSON(s queue.Score) json.RawMessage {
	if v, ok := s.Float(); ok && !math.IsInf(v, 0) && json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	quoted, _ := json.Marshal(string(s)) // a string cannot fail
	return quoted
}

// countJSON is a count, or null where there is none to believe.
func countJSON(c queue.Count) *int64 {
	if !c.OK() {
		return nil
	}
	return &c.N
}

// operationJSON is the result of an operation.
type operationJSON struct {
	Op       queue.Op `json:"op"`
	Queue    string   `json:"queue"`
	QueueB64 *string  `json:"queue_b64,omitempty"`
	Matched  int64    `json:"matched"`
	Done     int64    `json:"done"`
	Gone     int64    `json:"gone"`
	Refused  int64    `json:"refused"`
	Unknown  int64    `json:"unknown"`
	DryRun   bool     `json:"dry_run"`
	// Entry is the undo journal's id.
	Entry string `json:"entry,omitempty"`

	*enqueuedJSON               // enqueue only
	Samples       []messageJSON `json:"samples,omitempty"` // dry runs only
}

// enqueuedJSON says where a new message went.
type enqueuedJSON struct {
	Place  queue.Place     `json:"place,omitempty"`
	Key    string          `json:"key,omitempty"`
	KeyB64 *string         `json:"key_b64,omitempty"`
	Score  json.RawMessage `json:"score,omitempty"`
	Due    *string         `json:"due,omitempty"`
	ID     string          `json:"id,omitempty"`
}

// scheduleJSON is where a message lies in a sorted set; due is null when the
// score is no time in the queue's unit.
type scheduleJSON struct {
	Score json.RawMessage `json:"score"`
	Due   *string         `json:"due"`
}

// messageJSON is one message, its payload whole.
type messageJSON struct {
	Queue         string           `json:"queue"`
	QueueB64      *string          `json:"queue_b64,omitempty"`
	Place         queue.Place      `json:"place"`
	Key           string           `json:"key"`
	KeyB64        *string          `json:"key_b64,omitempty"`
	Index         *int64           `json:"index,omitempty"`
	*scheduleJSON                  // sorted sets only
	Size          int64            `json:"size"`
	Encoding      payload.Encoding `json:"encoding"`
	// Payload when it is valid UTF-8, else PayloadB64.
	Payload    *string `json:"payload,omitempty"`
	PayloadB64 *string `json:"payload_b64,omitempty"`
	// Copies is how many messages in the key have these bytes, this one included.
	Copies *int64 `json:"copies,omitempty"`
	// CopiesPartial says that there may be more copies: the key is longer than what was compared.
	CopiesPartial bool `json:"copies_partial,omitempty"`
}

func messageOf(q queue.Queue, m queue.Message) messageJSON {
	j := messageJSON{Place: m.Place, Size: m.Size, Encoding: payload.Detect(m.Payload, !m.Complete())}
	j.Queue, j.QueueB64 = textJSON(q.Name)
	j.Key, j.KeyB64 = textJSON(m.Key)
	if m.Place == queue.Delayed {
		due, _ := q.Unit.Time(m.Score)
		j.scheduleJSON = &scheduleJSON{scoreJSON(m.Score), timeJSON(due)}
	} else {
		j.Index = &m.Index
	}
	if utf8.Valid(m.Payload) {
		s := string(m.Payload)
		j.Payload = &s
	} else {
		b := base64.StdEncoding.EncodeToString(m.Payload)
		j.PayloadB64 = &b
	}
	return j
}

func operationOf(report queue.BulkReport) operationJSON {
	j := operationJSON{
		Op: report.Op, Matched: report.Total, Entry: report.Entry,
		Done: report.Done, Gone: report.Gone, Refused: report.Refused, Unknown: report.Unknown,
	}
	j.Queue, j.QueueB64 = textJSON(report.Queue)
	return j
}
