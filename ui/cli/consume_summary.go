package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"redq/queue"
)

// summary writes the last line: what was done in all.
func (e *eventWriter) summary(s queue.ConsumerStats, now time.Time) error {
	if e.json {
		j := summaryOf(s, now)
		j.Queue, j.QueueB64 = textJSON(e.queue.Name)
		return e.put(func(w io.Writer) error { return writeJSON(w, j) })
	}
	return e.put(func(w io.Writer) error { _, err := fmt.Fprintln(w, summaryText(s, now)); return err })
}

// summaryText leaves out the counters that are 0, but for those everybody asks for.
func summaryText(s queue.ConsumerStats, now time.Time) string {
	parts := []string{fmt.Sprintf("taken %d, done %d", s.Taken, s.Done)}
	for _, c := range []struct {
		n    int64
		word string
	}{
		{s.Failed, "failed"}, {s.Retried, "retried"}, {s.Deferred, "deferred"}, {s.Dead, "dead"}, {s.Kept, "kept in backup"},
		{s.Dropped, "dropped"}, {s.Returned, "put back"}, {s.Crashed, "crashed"}, {s.NotOurs, "taken by somebody else"},
		{s.Promoted, "promoted"}, {s.Recovered, "recovered"}, {s.Wasted, "wasted takes"}, {s.Errors, "errors of the server"},
		{s.Overflow, "events left out"}, {int64(s.InHand), "still in hand"},
	} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", c.word, c.n))
		}
	}
	ran := elapsed(s, now)
	text := fmt.Sprintf("%s in %s (%.1f/s)", strings.Join(parts, ", "), span(ran), perSecond(s, ran))
	if s.Lates > 0 {
		text += fmt.Sprintf("; late by %s (p50), %s (p99)", span(s.LateP50), span(s.LateP99))
	}
	return text
}

// summaryJSON is the last line: every counter of the consumer.
type summaryJSON struct {
	Time      string        `json:"time"`
	Event     string        `json:"event"`
	Queue     string        `json:"queue"`
	QueueB64  *string       `json:"queue_b64,omitempty"`
	Pattern   queue.Pattern `json:"pattern"`
	ID        string        `json:"id"`
	Taken     int64         `json:"taken"`
	Done      int64         `json:"done"`
	Failed    int64         `json:"failed"`
	Retried   int64         `json:"retried"`
	Deferred  int64         `json:"deferred"`
	Dead      int64         `json:"dead"`
	Kept      int64         `json:"kept"`
	Dropped   int64         `json:"dropped"`
	Returned  int64         `json:"returned"`
	Crashed   int64         `json:"crashed"`
	NotOurs   int64         `json:"not_ours"`
	Promoted  int64         `json:"promoted"`
	Recovered int64         `json:"recovered"`
	Wasted    int64         `json:"wasted"`
	Looks     int64         `json:"looks"`
	Errors    int64         `json:"errors"`
	Overflow  int64         `json:"overflow"`
	InHand    int           `json:"in_hand"`
	Seconds   float64       `json:"seconds"`
	PerSecond float64       `json:"per_second"`
	LateP50MS *float64      `json:"late_p50_ms"` // null when nothing delayed was taken
	LateP99MS *float64      `json:"late_p99_ms"`
}

func summaryOf(s queue.ConsumerStats, now time.Time) summaryJSON {
	ran := elapsed(s, now)
	j := summaryJSON{
		Time: stamp(now), Event: "summary", Pattern: s.Pattern, ID: line(s.ID),
		Taken: s.Taken, Done: s.Done, Failed: s.Failed, Retried: s.Retried, Deferred: s.Deferred, Dead: s.Dead,
		Kept: s.Kept, Dropped: s.Dropped, Returned: s.Returned, Crashed: s.Crashed, NotOurs: s.NotOurs,
		Promoted: s.Promoted, Recovered: s.Recovered, Wasted: s.Wasted, Looks: s.Looks, Errors: s.Errors,
		Overflow: s.Overflow, InHand: s.InHand,
		Seconds: ran.Round(time.Millisecond).Seconds(), PerSecond: perSecond(s, ran),
	}
	if s.Lates > 0 {
		j.LateP50MS, j.LateP99MS = milliseconds(s.LateP50), milliseconds(s.LateP99)
	}
	return j
}

func elapsed(s queue.ConsumerStats, now time.Time) time.Duration {
	if s.Started.IsZero() {
		return 0
	}
	return max(0, now.Sub(s.Started))
}

// perSecond is how many messages were done in a second, to one decimal.
func perSecond(s queue.ConsumerStats, ran time.Duration) float64 {
	tenths := float64(s.Done) * 10 / max(ran.Seconds(), time.Millisecond.Seconds())
	return float64(int64(tenths+0.5)) / 10
}

// gaveUp says which messages will not be done by themselves, "" when there are none.
// What crashed workers left is among them unless the consumer recovers it.
func gaveUp(s queue.ConsumerStats, recovers bool) string {
	if recovers {
		s.Crashed = 0
	}
	var sum int64
	var parts []string
	for _, c := range []struct {
		n    int64
		word string
	}{{s.Dead, "dead"}, {s.Kept, "kept in backup"}, {s.Dropped, "dropped"}, {s.Crashed, "crashed"}} {
		if sum += c.n; c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.word))
		}
	}
	if sum == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s failed for good: %s", sum, plural(int(max(s.Taken, sum))), strings.Join(parts, ", "))
}
