package cli

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"redq/queue"
	"redq/queue/payload"
)

// eventWriter writes what a consumer does, one event a line. It may be used from
// several goroutines at once.
type eventWriter struct {
	queue queue.Queue
	json  bool
	// logs is set when the messages are written by their handler: the events that
	// would tell of the same once more are left out.
	logs bool
	last queue.EventKind // what event was last given

	mu  sync.Mutex
	w   io.Writer
	err error // the first failed write; nothing is written after it
	// broken is closed with the first failed write.
	broken chan struct{}
}

func newEventWriter(w io.Writer, q queue.Queue, asJSON bool) *eventWriter {
	return &eventWriter{queue: q, json: asJSON, w: w, broken: make(chan struct{})}
}

// event writes an event of the consumer, which tells them one at a time. That it is
// still idle is no news: a polling pattern says so with each look.
func (e *eventWriter) event(ev queue.Event) {
	still := ev.Kind == queue.EventIdle && e.last == queue.EventIdle
	e.last = ev.Kind
	if still || e.logs && (ev.Kind == queue.EventTaken || ev.Kind == queue.EventDone) {
		return
	}
	_ = e.write(ev) // a failed write stops the consumer; see broken
}

func (e *eventWriter) write(ev queue.Event) error {
	if e.json {
		return e.put(func(w io.Writer) error { return writeJSON(w, e.eventOf(ev)) })
	}
	text := eventText(ev) + "\n"
	return e.put(func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
}

// put writes unless an earlier write failed.
func (e *eventWriter) put(write func(io.Writer) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil {
		return e.err
	}
	if e.err = write(e.w); e.err != nil {
		close(e.broken)
	}
	return e.err
}

// failure is the first failed write.
func (e *eventWriter) failure() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// eventText is an event as one line: time, kind, attempt and a length of time in
// columns, and then what it is about.
func eventText(ev queue.Event) string {
	attempt := ""
	if ev.Attempt > 0 {
		attempt = fmt.Sprintf("#%d", ev.Attempt)
	}
	text := fmt.Sprintf("%s  %-9s  %-3s  %-8s  %s",
		ev.Time.Local().Format("15:04:05.000"), ev.Kind, attempt, eventSpan(ev), eventSubject(ev))
	return strings.TrimRight(text, " ")
}

// eventSubject is the message of an event, or what it counts, with what went wrong.
func eventSubject(ev queue.Event) string {
	note, reason := line(ev.Note), line(eventReason(ev))
	if ev.Attempt == 0 {
		return joined(": ", note, counted(ev.Kind, ev.Count), reason)
	}
	if note != "" {
		note = "(" + note + ")"
	}
	return joined("  ", payload.Preview(ev.Message.Payload, shownBytes), note, reason)
}

// joined puts a separator between texts, leaving out empty ones.
func joined(sep string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), sep)
}

// counted says what an event without a message counts.
func counted(kind queue.EventKind, n int) string {
	if n == 0 || n == 1 && kind == queue.EventError {
		return ""
	}
	switch kind {
	case queue.EventPromoted:
		return plural(n) + " became due"
	case queue.EventRecovered:
		return plural(n) + " moved back"
	case queue.EventStopping:
		return fmt.Sprintf("finishing %d in hand", n)
	case queue.EventStopped:
		return fmt.Sprintf("%d left in hand", n)
	case queue.EventError:
		return fmt.Sprintf("%d in a row", n)
	case queue.EventOverflow:
		return fmt.Sprintf("%d events left out", n)
	}
	return fmt.Sprint(n)
}

// eventSpan is the length of time that an event is about.
func eventSpan(ev queue.Event) string {
	switch {
	case ev.Kind == queue.EventTaken && ev.Late > 0:
		return "+" + span(ev.Late)
	case timed(ev.Kind):
		return span(ev.Took)
	case !ev.Due.IsZero() && ev.Kind != queue.EventTaken:
		return "in " + span(max(0, ev.Due.Sub(ev.Time)))
	}
	return ""
}

// timed reports whether events of the kind tell how long the handler ran.
func timed(kind queue.EventKind) bool { return kind == queue.EventDone || kind == queue.EventFailed }

// span is a length of time with as many digits as somebody reads.
func span(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// eventReason says why. The server's errors are explained; a handler's are its own words.
func eventReason(ev queue.Event) string {
	switch {
	case ev.Err == nil:
		return ""
	case ev.Kind == queue.EventError:
		return redact(queue.Explain(ev.Err))
	}
	return redact(ev.Err.Error())
}

// eventJSON is one event.
type eventJSON struct {
	Time     string          `json:"time"`
	Event    queue.EventKind `json:"event"`
	Queue    string          `json:"queue"`
	QueueB64 *string         `json:"queue_b64,omitempty"`

	*eventMessageJSON // events about one message only

	TookMS *float64 `json:"took_ms,omitempty"`
	LateMS *float64 `json:"late_ms,omitempty"`
	Due    string   `json:"due,omitempty"`
	Error  string   `json:"error,omitempty"`
	Count  int      `json:"count,omitempty"`
	Note   string   `json:"note,omitempty"`
}

// eventMessageJSON is the message of an event, its payload whole.
type eventMessageJSON struct {
	Key     string  `json:"key,omitempty"`
	KeyB64  *string `json:"key_b64,omitempty"`
	Attempt int     `json:"attempt"`
	// Payload when it is valid UTF-8, else PayloadB64.
	Payload    *string `json:"payload,omitempty"`
	PayloadB64 *string `json:"payload_b64,omitempty"`
}

func (e *eventWriter) eventOf(ev queue.Event) eventJSON {
	j := eventJSON{Time: stamp(ev.Time), Event: ev.Kind, Count: ev.Count}
	j.Queue, j.QueueB64 = textJSON(e.queue.Name)
	j.Error, _ = textJSON(eventReason(ev))
	j.Note, _ = textJSON(ev.Note)
	if !ev.Due.IsZero() {
		j.Due = stamp(ev.Due)
	}
	if timed(ev.Kind) {
		j.TookMS = milliseconds(ev.Took)
	}
	if ev.Late > 0 {
		j.LateMS = milliseconds(ev.Late)
	}
	if ev.Attempt > 0 {
		j.eventMessageJSON = eventMessageOf(ev)
	}
	return j
}

func eventMessageOf(ev queue.Event) *eventMessageJSON {
	m := &eventMessageJSON{Attempt: ev.Attempt}
	m.Key, m.KeyB64 = textJSON(ev.Message.Key)
	if utf8.Valid(ev.Message.Payload) {
		s := string(ev.Message.Payload)
		m.Payload = &s
	} else {
		b := base64.StdEncoding.EncodeToString(ev.Message.Payload)
		m.PayloadB64 = &b
	}
	return m
}

// stamp is a time in milliseconds, in UTC.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// milliseconds is d in milliseconds, exact to the microsecond.
func milliseconds(d time.Duration) *float64 {
	ms := float64(d.Microseconds()) / 1000
	return &ms
}

// logHandler writes each message before it is acknowledged, so that none is gone that
// nobody saw; one that could not be written is put back.
func (e *eventWriter) logHandler(now func() time.Time) queue.Handler {
	return func(_ context.Context, m queue.Message) error {
		err := e.write(queue.Event{Time: now(), Kind: queue.EventTaken, Message: m, Attempt: m.Attempts + 1})
		if err == nil {
			return nil
		}
		return queue.Defer(unwritten, errors.New("it could not be written: "+err.Error()))
	}
}

// unwritten is how long a message that could not be written is put off: the consumer
// is about to stop.
const unwritten = time.Second
