package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"redq/queue"
)

// eventTime is when the events of these tests happen.
func eventTime() time.Time { return time.Date(2025, 12, 1, 15, 4, 5, 123_456_789, time.Local) }

func message(payload string) queue.Message {
	return queue.Message{Payload: []byte(payload), Size: int64(len(payload)), Place: queue.Backup, Key: "orders:backup"}
}

func TestEventText(t *testing.T) {
	for _, c := range []struct {
		name string
		ev   queue.Event
		want string
	}{
		{"taken", queue.Event{Kind: queue.EventTaken, Message: message(`{"a":1}`), Attempt: 1},
			`15:04:05.123  taken      #1             {"a":1}`},
		{"taken late", queue.Event{Kind: queue.EventTaken, Message: message("x"), Attempt: 12, Late: 1500 * time.Microsecond},
			`15:04:05.123  taken      #12  +2ms      x`},
		{"taken on time", queue.Event{Kind: queue.EventTaken, Message: message("x"), Attempt: 1, Due: eventTime()},
			`15:04:05.123  taken      #1             x`},
		{"done", queue.Event{Kind: queue.EventDone, Message: message("x"), Attempt: 1, Took: 12_345 * time.Microsecond},
			`15:04:05.123  done       #1   12ms      x`},
		{"an empty message", queue.Event{Kind: queue.EventDone, Attempt: 1, Took: 12_300 * time.Nanosecond},
			`15:04:05.123  done       #1   12µs`},
		{"failed", queue.Event{Kind: queue.EventFailed, Message: message("x"), Attempt: 1, Took: time.Minute, Err: errors.New("no\nluck\x1b[2J")},
			`15:04:05.123  failed     #1   1m0s      x  no\nluck\x1b[2J`},
		{"an empty message failed", queue.Event{Kind: queue.EventFailed, Attempt: 1, Took: time.Second, Err: errors.New("why")},
			`15:04:05.123  failed     #1   1s        why`},
		{"retried", queue.Event{Kind: queue.EventRetried, Message: message("x"), Attempt: 1, Due: eventTime().Add(1234 * time.Millisecond)},
			`15:04:05.123  retried    #1   in 1.2s   x`},
		{"deferred to the past", queue.Event{Kind: queue.EventDeferred, Message: message("x"), Attempt: 1, Due: eventTime().Add(-time.Hour)},
			`15:04:05.123  deferred   #1   in 0s     x`},
		{"a note", queue.Event{Kind: queue.EventNotOurs, Message: message("x"), Attempt: 1, Note: "already gone"},
			`15:04:05.123  not-ours   #1             x  (already gone)`},
		{"bytes a terminal would obey", queue.Event{Kind: queue.EventTaken, Message: message("a\x1b]52;c;AA\a\nb\u202e"), Attempt: 1},
			`15:04:05.123  taken      #1             a\x1b]52;c;AA\x07\nb\u202e`},
		{"started", queue.Event{Kind: queue.EventStarted},
			`15:04:05.123  started`},
		{"started with a note", queue.Event{Kind: queue.EventStarted, Note: "pipeline"},
			`15:04:05.123  started                   pipeline`},
		{"promoted", queue.Event{Kind: queue.EventPromoted, Count: 1},
			`15:04:05.123  promoted                  1 message became due`},
		{"recovered", queue.Event{Kind: queue.EventRecovered, Count: 3, Note: "web-1-77"},
			`15:04:05.123  recovered                 web-1-77: 3 messages moved back`},
		{"stopping", queue.Event{Kind: queue.EventStopping, Count: 2},
			`15:04:05.123  stopping                  finishing 2 in hand`},
		{"forced", queue.Event{Kind: queue.EventStopped, Note: "abandoned", Count: 1},
			`15:04:05.123  stopped                   abandoned: 1 left in hand`},
		{"overflow", queue.Event{Kind: queue.EventOverflow, Count: 40},
			`15:04:05.123  overflow                  40 events left out`},
		{"the server's error", queue.Event{Kind: queue.EventError, Count: 2, Err: errors.New("dial redis://:s3cret@h: no")},
			`15:04:05.123  error                     2 in a row: dial redis://…@h: no`},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.ev.Time = eventTime()
			if got := eventText(c.ev); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestEventJSON(t *testing.T) {
	q := queue.Named("orders")
	for _, c := range []struct {
		name string
		ev   queue.Event
		want string
	}{
		{"taken", queue.Event{Kind: queue.EventTaken, Message: message(`{"a":1}`), Attempt: 1, Late: 1234567 * time.Nanosecond},
			`{"time":"2025-12-01T15:04:05.123Z","event":"taken","queue":"orders","key":"orders:backup","attempt":1,"payload":"{\"a\":1}","late_ms":1.234}`},
		{"done at once", queue.Event{Kind: queue.EventDone, Message: message(""), Attempt: 1},
			`{"time":"2025-12-01T15:04:05.123Z","event":"done","queue":"orders","key":"orders:backup","attempt":1,"payload":"","took_ms":0}`},
		{"binary", queue.Event{Kind: queue.EventTaken, Message: message("a\x00\xff"), Attempt: 1},
			`{"time":"2025-12-01T15:04:05.123Z","event":"taken","queue":"orders","key":"orders:backup","attempt":1,"payload_b64":"YQD/"}`},
		{"retried", queue.Event{Kind: queue.EventRetried, Message: message("x"), Attempt: 2, Due: time.UnixMilli(1764547200123), Err: errors.New("no luck")},
			`{"time":"2025-12-01T15:04:05.123Z","event":"retried","queue":"orders","key":"orders:backup","attempt":2,"payload":"x","due":"2025-12-01T00:00:00.123Z","error":"no luck"}`},
		{"promoted", queue.Event{Kind: queue.EventPromoted, Count: 3},
			`{"time":"2025-12-01T15:04:05.123Z","event":"promoted","queue":"orders","count":3}`},
		{"an error with a secret", queue.Event{Kind: queue.EventFailed, Message: message("x"), Attempt: 1, Err: errors.New("Post http://me:s3cret@h/: \xff no")},
			`{"time":"2025-12-01T15:04:05.123Z","event":"failed","queue":"orders","key":"orders:backup","attempt":1,"payload":"x","took_ms":0,"error":"Post http://…@h/: \\xff no"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			w := newEventWriter(&out, q, true)
			c.ev.Time = time.Date(2025, 12, 1, 15, 4, 5, 123_456_789, time.UTC)
			w.event(c.ev)
			if got := strings.TrimSuffix(out.String(), "\n"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestIdleIsSaidOnce(t *testing.T) {
	var out bytes.Buffer
	w := newEventWriter(&out, queue.Named("orders"), false)
	w.logs = true
	for _, kind := range []queue.EventKind{queue.EventIdle, queue.EventIdle, queue.EventTaken, queue.EventIdle, queue.EventIdle} {
		w.event(queue.Event{Kind: kind, Attempt: 1})
	}
	if n := strings.Count(out.String(), "idle"); n != 2 {
		t.Errorf("said %d times, want 2:\n%s", n, out.String())
	}
}

func TestSummaryText(t *testing.T) {
	started := eventTime()
	now := started.Add(2 * time.Second)
	for _, c := range []struct {
		stats queue.ConsumerStats
		want  string
	}{
		{queue.ConsumerStats{}, "taken 0, done 0 in 0s (0.0/s)"},
		{queue.ConsumerStats{Started: started, Taken: 3, Done: 3}, "taken 3, done 3 in 2s (1.5/s)"},
		{queue.ConsumerStats{Started: started, Taken: 9, Done: 5, Failed: 4, Retried: 1, Deferred: 2, Dead: 3, Kept: 1, Dropped: 2, Returned: 1,
			Crashed: 1, NotOurs: 1, Promoted: 5, Recovered: 6, Wasted: 7, Errors: 8, Overflow: 9, InHand: 1},
			"taken 9, done 5, failed 4, retried 1, deferred 2, dead 3, kept in backup 1, dropped 2, put back 1, crashed 1, taken by somebody else 1, " +
				"promoted 5, recovered 6, wasted takes 7, errors of the server 8, events left out 9, still in hand 1 in 2s (2.5/s)"},
		{queue.ConsumerStats{Started: started, Taken: 1, Done: 1, Lates: 1, LateP50: 1200 * time.Microsecond, LateP99: 2500 * time.Millisecond},
			"taken 1, done 1 in 2s (0.5/s); late by 1ms (p50), 2.5s (p99)"},
	} {
		if got := summaryText(c.stats, now); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestGaveUp(t *testing.T) {
	for _, c := range []struct {
		stats    queue.ConsumerStats
		recovers bool
		want     string
	}{
		{queue.ConsumerStats{Taken: 9, Done: 9, Failed: 3, Retried: 3, Deferred: 2, Returned: 1}, false, ""},
		{queue.ConsumerStats{Taken: 1, Dead: 1}, false, "1 of 1 message failed for good: 1 dead"},
		{queue.ConsumerStats{Taken: 9, Dead: 1, Kept: 2, Dropped: 1, Crashed: 1}, false,
			"5 of 9 messages failed for good: 1 dead, 2 kept in backup, 1 dropped, 1 crashed"},
		{queue.ConsumerStats{Taken: 9, Done: 8, Crashed: 1}, true, ""},
	} {
		if got := gaveUp(c.stats, c.recovers); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// A message that nobody could see is not acknowledged.
func TestLogHandlerDoesNotLoseWhatItCannotWrite(t *testing.T) {
	var out bytes.Buffer
	w := newEventWriter(&out, queue.Named("orders"), false)
	w.logs = true
	handle := w.logHandler(eventTime)
	if err := handle(t.Context(), message("first")); err != nil {
		t.Fatal(err)
	}
	w.event(queue.Event{Kind: queue.EventTaken, Message: message("first"), Attempt: 1})
	w.event(queue.Event{Kind: queue.EventDone, Message: message("first"), Attempt: 1})
	if n := strings.Count(out.String(), "first"); n != 1 {
		t.Errorf("printed %d times:\n%s", n, out.String())
	}

	full := errors.New("no space left on device")
	w = newEventWriter(failingWriter{full}, queue.Named("orders"), false)
	for range 2 {
		err := w.logHandler(eventTime)(t.Context(), message("second"))
		if err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("the handler says %v", err)
		}
	}
	select {
	case <-w.broken:
	default:
		t.Error("nobody is told that the output is broken")
	}
	if w.failure() != full {
		t.Errorf("the failure is %v", w.failure())
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }
