package model

import (
	"slices"
	"time"

	"redq/queue"
	"redq/queue/filter"
	"redq/queue/payload"
)

// LogLine is one event of a consumer as its log shows it.
type LogLine struct {
	At      time.Time
	Kind    queue.EventKind
	Text    string // the message, one safe line; "" of events about no message
	Why     string // the reason, or what was found; safe to print, "" mostly
	Attempt int    // from 1; 0 of events about no message
	Took    time.Duration
	Late    time.Duration
	Due     time.Time // zero when it is not handled again
	Count   int
}

// Bounds of the texts of a line: more than a screen is wide.
const (
	logTextBytes = 256
	logWhyBytes  = 300
)

func newLogLine(e queue.Event) LogLine {
	l := LogLine{
		At: e.Time, Kind: e.Kind, Attempt: e.Attempt, Took: e.Took, Late: e.Late, Due: e.Due, Count: e.Count,
		Text: payload.Line(e.Message.Payload, logTextBytes),
		Why:  payload.LineString(e.Note, logWhyBytes),
	}
	if e.Err != nil {
		l.Why = payload.LineString(queue.Explain(e.Err), logWhyBytes)
		if e.Note != "" {
			l.Why += ": " + payload.LineString(e.Note, logWhyBytes)
		}
	}
	return l
}

// matches reports whether a filter lets the line through: it looks at the kind, the
// message and the reason.
func (l LogLine) matches(m filter.Matcher) bool {
	return m.All() || m.Match([]byte(string(l.Kind)+" "+l.Text+" "+l.Why))
}

// EventLog is the last events of one consumer.
type EventLog struct {
	// Shown is what the filter lets through, oldest first; while Paused, of the
	// events that were there then.
	Shown   []LogLine
	Kept    int   // events that the filter chose from
	LeftOut int64 // events that there was no room for
	Paused  bool  // the window stands still
	Newer   int64 // events since it was paused
	Top     int   // while Paused: index into Shown of the first visible line

	kept   recent[LogLine]
	idled  time.Time // when it was last told that there was nothing to take
	missed int64     // of LeftOut: that never came here
	held   []LogLine // all that was there when it was paused
	filter filter.Matcher
}

// idleEvery is how often it is told at most that there was nothing to take: a
// consumer that waits for due messages says so after each of them.
const idleEvery = 10 * time.Second

// added takes new events; missed is how many more there were.
func (l EventLog) added(lines []LogLine, missed int64) EventLog {
	if len(lines) == 0 && missed == 0 {
		return l
	}
	for _, line := range lines {
		if line.Kind == queue.EventIdle {
			if line.At.Sub(l.idled) < idleEvery {
				continue
			}
			l.idled = line.At
		}
		l.kept = l.kept.with(line, routine(line.Kind), keptEvents)
	}
	l.missed += missed
	l.LeftOut = l.missed + l.kept.dropped()
	if l.Paused {
		l.Newer += int64(len(lines)) + missed
		return l
	}
	return l.chosen()
}

// chosen filters anew.
func (l EventLog) chosen() EventLog {
	all := l.held
	if !l.Paused {
		all = l.kept.all()
	}
	l.Kept = len(all)
	if l.filter.All() {
		l.Shown = all
		return l
	}
	l.Shown = nil
	for _, line := range all {
		if line.matches(l.filter) {
			l.Shown = append(l.Shown, line)
		}
	}
	return l
}

// filtered shows only what matches. A paused log shows the end of it.
func (l EventLog) filtered(m filter.Matcher, height int) EventLog {
	l.filter = m
	l = l.chosen()
	l.Top = l.lastTop(height)
	return l
}

// lastTop is the first visible line when the last is at the bottom.
func (l EventLog) lastTop(height int) int { return max(0, len(l.Shown)-max(0, height)) }

// paused stops the window where it is.
func (l EventLog) paused(height int) EventLog {
	if l.Paused {
		return l
	}
	l.Paused, l.Newer, l.held = true, 0, l.kept.all()
	l = l.chosen()
	l.Top = l.lastTop(height)
	return l
}

// following lets the window follow the events again.
func (l EventLog) following() EventLog {
	l.Paused, l.Newer, l.held, l.Top = false, 0, nil, 0
	return l.chosen()
}

// scrolled moves the window; to look back pauses it.
func (l EventLog) scrolled(by, height int) EventLog {
	if !l.Paused && by >= 0 {
		return l
	}
	l = l.paused(height)
	l.Top = max(0, min(l.Top+by, l.lastTop(height)))
	return l
}

// Visible returns the lines of a window of height lines.
func (l EventLog) Visible(height int) []LogLine {
	top := l.lastTop(height)
	if l.Paused {
		top = min(l.Top, top)
	}
	return slices.Clip(l.Shown[top:min(top+max(0, height), len(l.Shown))])
}

// act takes a key's action.
func (l EventLog) act(a Action, height int) EventLog {
	page := max(1, height-1)
	switch a {
	case ActUp:
		return l.scrolled(-1, height)
	case ActDown:
		return l.scrolled(1, height)
	case ActPageUp:
		return l.scrolled(-page, height)
	case ActPageDown:
		return l.scrolled(page, height)
	case ActTop:
		return l.scrolled(-len(l.Shown), height)
	case ActBottom:
		return l.following()
	case ActFreeze:
		if l.Paused {
			return l.following()
		}
		return l.paused(height)
	}
	return l
}
