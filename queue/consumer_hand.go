package queue

import (
	"cmp"
	"slices"
	"time"
)

// hand is one message between being taken and being settled.
type hand struct {
	msg    Message
	raw    string // the bytes as the server gave them: the handler may write on msg's
	seq    int64  // in the order of taking
	unread bool   // its attempts were not asked for yet
	since  time.Time

	// The rest is guarded by the engine's mutex.
	state   handState
	aside   bool  // handled by a goroutine that is neither lane nor worker
	stamp   stamp // of the step that carries its acknowledgement
	started time.Time
	ctx     *handContext // the handler's
	done    bool         // its handler has finished well
	err     error
	took    time.Duration
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
func (h *hand) attempt() int { return h.msg.Attempts + 1 }

// inHand lists what is in hand, longest first.
func (e *engine) inHand() []Hand {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []Hand
	for _, h := range e.sorted() {
		all = append(all, Hand{Message: h.msg, Since: h.since, Started: h.started})
	}
	return all
}

// sorted returns the hands in the order they were taken. The mutex is held.
func (e *engine) sorted() []*hand {
	all := make([]*hand, 0, len(e.hands))
	for h := range e.hands {
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b *hand) int { return cmp.Compare(a.seq, b.seq) })
	return all
}

// hold takes messages into hand. The mutex is held.
func (e *engine) hold(got []taken, now time.Time) []*hand {
	hands := make([]*hand, len(got))
	for i, t := range got {
		e.serial++
		h := &hand{raw: t.payload, seq: e.serial, since: now, unread: t.unread}
		h.msg = Message{
			Payload: []byte(t.payload), Size: int64(len(t.payload)),
			Place: t.place, Key: t.key, Score: t.score, Attempts: t.attempts, Reason: t.reason,
		}
		e.hands[h] = struct{}{}
		hands[i] = h
	}
	e.count.taken.Add(int64(len(got)))
	return hands
}

// let takes a message out of hand; who waits for that is to be woken. The mutex is held.
func (e *engine) let(h *hand) {
	e.become(h, closed)
	delete(e.hands, h)
	if e.untilEmpty && e.resting && len(e.hands) == e.fallen {
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
