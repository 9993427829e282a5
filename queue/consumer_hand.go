package queue

import (
	"iter"
	"time"
)

// hand is one message between being taken and being settled. Those of a round trip
// are made together: what a consumer throws away bounds its speed.
type hand struct {
	raw      string // the bytes as the server gave them
	payload  []byte // the handler's, which may write on them
	score    Score  // in the sorted set that it was taken from
	attempts int    // that have failed
	reason   string // of the last one
	unread   bool   // its attempts were not asked for yet
	due      time.Time
	late     time.Duration // where due is known, which then is not zero
	since    time.Time

	// The rest is guarded by the engine's mutex.
	before, after *hand // in the engine's hands
	state         handState
	aside         bool  // handled by a goroutine that is neither lane nor worker
	done          bool  // its handler has finished well
	stamp         stamp // of the step that carries its acknowledgement
	started       time.Time
	ctx           *handContext // the handler's
	firstCtx      handContext
	err           error
	took          time.Duration
}

// newHand makes a message in hand of what was taken.
func newHand(payload string) *hand { return &hand{raw: payload, payload: []byte(payload)} }

// newHands makes the messages in hand of one round trip, in few pieces.
func newHands(n int, payload func(i int) string) []*hand {
	const together = 64 << 10 // more is kept apart: one that is long in work would keep it all
	total := 0
	for i := range n {
		total += len(payload(i))
	}
	var room []byte
	if n > 1 && total <= together {
		room = make([]byte, 0, total)
	}
	all, hands := make([]hand, n), make([]*hand, n)
	for i := range all {
		h := &all[i]
		h.raw = payload(i)
		if room == nil {
			h.payload = []byte(h.raw)
		} else {
			from := len(room)
			room = append(room, h.raw...)
			h.payload = room[from:len(room):len(room)]
		}
		hands[i] = h
	}
	return hands
}

// wasDue notes that the message was delayed, when it was due and when it was taken.
func (h *hand) wasDue(due, now time.Time) { h.due, h.late = due, now.Sub(due) }

// message is what the handler sees.
func (e *engine) message(h *hand) Message {
	return Message{
		Payload: h.payload, Size: int64(len(h.raw)), Place: e.from, Key: e.fromKey,
		Score: h.score, Attempts: h.attempts, Reason: h.reason,
	}
}

// handState is where a message in hand is on its way.
type handState uint8

const (
	waiting   handState = iota // for a worker
	running                    // its handler
	acking                     // to be acknowledged with the next round trip
	asked                      // its acknowledgement is under way
	unsure                     // its acknowledgement was sent and the answer lost
	settling                   // being put back or into dead
	returning                  // being put back untouched
	crashed                    // its worker has died: nobody works on it
	closed                     // not in hand any more
)

// attempt is which attempt this is, from 1.
func (h *hand) attempt() int { return h.attempts + 1 }

// inHand lists what is in hand, longest first.
func (e *engine) inHand() []Hand {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []Hand
	for h := range e.hands.all() {
		all = append(all, Hand{Message: e.message(h), Since: h.since, Started: h.started})
	}
	return all
}

// hands are the messages in hand, in the order they were taken.
type hands struct {
	first, last *hand
	n           int
}

func (l *hands) add(h *hand) {
	if h.before = l.last; l.last != nil {
		l.last.after = h
	} else {
		l.first = h
	}
	l.last = h
	l.n++
}

func (l *hands) remove(h *hand) {
	if h.before != nil {
		h.before.after = h.after
	} else {
		l.first = h.after
	}
	if h.after != nil {
		h.after.before = h.before
	} else {
		l.last = h.before
	}
	h.before, h.after = nil, nil
	l.n--
}

// all goes through them; none may be removed meanwhile.
func (l *hands) all() iter.Seq[*hand] {
	return func(yield func(*hand) bool) {
		for h := l.first; h != nil && yield(h); h = h.after {
		}
	}
}

// hold takes messages into hand. The mutex is held.
func (e *engine) hold(got []*hand, now time.Time) {
	for _, h := range got {
		h.since = now
		e.hands.add(h)
	}
	e.count.taken.Add(int64(len(got)))
}

// let takes a message out of hand; who waits for that is to be woken. The mutex is held.
func (e *engine) let(h *hand) {
	if h.state == closed {
		return
	}
	e.become(h, closed)
	e.hands.remove(h)
	if e.untilEmpty && e.resting && e.hands.n == e.fallen {
		e.rouse() // it was the last: look at once whether there is more
		go e.conns.unblock()
	}
}

// become changes the state of a message in hand. The mutex is held.
func (e *engine) become(h *hand, s handState) {
	if h.state == crashed {
		e.fallen--
	}
	if s == crashed {
		e.fallen++
	}
	h.state = s
}
