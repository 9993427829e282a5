package layout

import (
	"bytes"
	"time"

	"redq/queue"
)

// How far from now a score may lie to be taken for a time when nothing but the
// scores speaks for a delayed queue.
const (
	longAgo  = 5 * 365 * 24 * time.Hour
	farAhead = 30 * 365 * 24 * time.Hour
)

// areTimes reports whether scores look like due times: at least half of them
// near now and in one unit. Some may be anything: real queues have stray scores.
func areTimes(scores []queue.Score, now time.Time) bool {
	near := make([]queue.Score, 0, len(scores))
	for _, s := range scores {
		u, ok := queue.GuessUnit(s)
		if !ok {
			continue
		}
		t, ok := u.Time(s)
		if ok && t.After(now.Add(-longAgo)) && t.Before(now.Add(farAhead)) {
			near = append(near, s)
		}
	}
	_, n := unitOf(near)
	return n > 0 && 2*n >= len(scores)
}

// unitOf returns the unit that most scores fit, and how many do. Milliseconds
// win a tie, and are the answer when nothing fits. One fraction is enough to
// tell that seconds are written with fractions.
func unitOf(scores []queue.Score) (queue.Unit, int) {
	var n [4]int // by unit
	for _, s := range scores {
		if u, ok := queue.GuessUnit(s); ok {
			n[u]++
		}
	}
	seconds := queue.Seconds
	if n[queue.FloatSeconds] > 0 {
		seconds = queue.FloatSeconds
	}
	best, most := queue.Milliseconds, n[queue.Milliseconds]
	if s := n[queue.Seconds] + n[queue.FloatSeconds]; s > most {
		best, most = seconds, s
	}
	if us := n[queue.Microseconds]; us > most {
		best, most = queue.Microseconds, us
	}
	return best, most
}

// guess infers what the queue itself says is guessed, and clears the marks for
// what the queue has not.
func (g *grouper) guess(q *queue.Queue) {
	if q.Guessed&queue.GuessedUnit != 0 {
		if k := g.keys[q.Delayed]; k != nil {
			q.Unit, _ = unitOf(k.Scores)
		}
		if q.Delayed == "" {
			q.Guessed &^= queue.GuessedUnit
		}
	}
	if q.Guessed&queue.GuessedPush != 0 && q.Push == "" {
		q.Push = queue.Left
	}
	if q.Guessed&queue.GuessedPattern != 0 {
		q.Pattern = g.pattern(*q)
		if q.Pattern == "" {
			q.Guessed &^= queue.GuessedPattern
		}
	}
}

// pattern guesses how a queue is used from the keys that exist.
func (g *grouper) pattern(q queue.Queue) queue.Pattern {
	exists := func(key string) bool { return key != "" && g.keys[key] != nil }
	shared, own := false, false
	for _, b := range q.Backups {
		if g.matcher.match(b).consumer {
			own = own || exists(b)
		} else {
			shared = shared || exists(b)
		}
	}
	switch {
	case own:
		return queue.Pipeline
	case shared:
		return queue.BackupList
	case exists(q.Delayed) && exists(q.Ready):
		return queue.Pipeline
	case exists(q.Delayed) && isDispatch(g.keys[q.Delayed].Head):
		return queue.Dispatch
	case exists(q.Delayed):
		return queue.ZsetRace
	case exists(q.Ready):
		return queue.ListPoll
	}
	return ""
}

// isDispatch recognises a member that names its own handler. It looks at the
// text only, since the beginning of a long member is no valid JSON.
func isDispatch(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) &&
		bytes.Contains(head, []byte(`"beanName"`)) && bytes.Contains(head, []byte(`"delayTime"`))
}
