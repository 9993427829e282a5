package queue

import (
	"errors"
	"time"
)

// lane makes round trips until all is settled.
func (e *engine) lane() {
	number := e.numbers.Add(1)
	for {
		acks, n, ok := e.next(number)
		if !ok {
			e.leave()
			return
		}
		e.steps.RLock()
		h, err := e.source.take(e.calls, acks, n)
		err = classify(err)
		mine := e.landed(acks, n, h, err)
		e.steps.RUnlock()
		if err != nil {
			e.trouble(err)
		} else if n > 0 && len(h.got) == 0 && h.wasted == 0 {
			mine = e.rest()
		}
		if !e.deal(mine) {
			return // a handler here was left behind: another lane has taken over
		}
	}
}

// leave counts a lane that has ended; the last one ends the run.
func (e *engine) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.live--; e.live == 0 {
		close(e.ended)
	}
	e.cond.Broadcast()
}

// next waits until there is reason for a round trip: messages to acknowledge, or
// room for more. It returns false when all is settled.
func (e *engine) next(lane int64) (acks []*hand, n int, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		if e.abandoned || e.lost != nil {
			return nil, 0, false
		}
		if e.doubt && e.flying == 0 {
			e.mu.Unlock()
			e.compare()
			e.mu.Lock()
			continue
		}
		if n = e.room(); e.resting {
			n = 0 // the lane that waits looks itself
		}
		if !e.doubt && e.worthIt(n) {
			e.flying++
			e.asking += n
			return e.load(lane), n, true
		}
		if e.settled() {
			return nil, 0, false
		}
		// Not while others may still take: they would take it again.
		if e.stopping.Err() != nil && e.flying == 0 && !e.resting && e.hasWaiting() {
			e.mu.Unlock()
			e.giveBack(untouched)
			e.mu.Lock()
			continue
		}
		e.cond.Wait()
	}
}

// load takes along what is to be acknowledged. Only one lane at a time does: two could
// arrive in the wrong order, and the oldest first is what the server does fast. The mutex is held.
func (e *engine) load(lane int64) []*hand {
	if e.laden && !e.inline() {
		return nil
	}
	acks := e.acks
	if len(acks) > mostBatch {
		acks = acks[:mostBatch:mostBatch]
	}
	e.acks = e.acks[len(acks):]
	e.ripe, e.laden = false, len(acks) > 0
	e.loads++
	for _, h := range acks {
		h.state, h.stamp = asked, stamp{lane, e.loads}
	}
	return acks
}

// room is how many messages may be taken now. The mutex is held.
func (e *engine) room() int {
	if e.stopping.Err() != nil {
		return 0
	}
	limit := e.window
	if !e.inline() {
		limit = e.pace.allows(time.Now(), e.concurrency, e.window, e.count.taken.Load()-int64(e.hands.n))
	}
	n := limit - e.asking - e.hands.n + e.fallen
	if !e.laden {
		n += len(e.acks) // they go with the next round trip
	}
	n = min(n, e.batch)
	if e.inline() {
		n = min(n, 1)
	}
	if e.most > 0 {
		n = int(min(int64(n), e.most-e.count.taken.Load()-int64(e.asking)))
		if e.flying == 0 && e.count.taken.Load() >= e.most && e.hands.n == e.fallen {
			e.stop()
		}
	}
	return max(n, 0)
}

// worthIt decides whether a round trip is due. Under load it waits until half a batch
// has come together, which a second lane may carry beside the first; with little to do it goes at once. The mutex is held.
func (e *engine) worthIt(n int) bool {
	switch {
	case n == 0 && (len(e.acks) == 0 || e.laden && !e.inline()):
		return false
	case e.inline(), n >= e.batch/2, len(e.acks) >= e.batch/2 && !e.laden:
		return true
	case e.flying > 0:
		return false
	}
	return e.hungry() || e.ripe || e.resting || e.stopping.Err() != nil
}

// hungry reports whether workers will soon have nothing to do. The mutex is held.
func (e *engine) hungry() bool { return len(e.line) < e.concurrency }

// nudge wakes a lane if the end of a message's handling is a reason for a round trip.
// The mutex is held.
func (e *engine) nudge() {
	switch {
	case e.inline(): // this lane goes itself
	case len(e.acks) >= e.batch/2, e.flying == 0 && (e.hungry() || e.resting):
		e.cond.Broadcast()
	case len(e.acks) == 1:
		e.ripening.Reset(ripeAfter)
	}
}

// ripeAfter is how long an acknowledgement waits for others to go with it.
const ripeAfter = time.Millisecond

// ripened sends what waits.
func (e *engine) ripened() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ripe = true
	e.cond.Broadcast()
}

// settled reports whether a stop was asked and nothing is in hand any more. The mutex is held.
func (e *engine) settled() bool {
	return e.stopping.Err() != nil && e.flying == 0 && !e.resting && e.hands.n == e.fallen
}

func (e *engine) hasWaiting() bool {
	for h := range e.hands.all() {
		if h.state == waiting {
			return true
		}
	}
	return false
}

// landed takes in what a round trip brought: acknowledged messages are done, taken
// ones in hand. It returns the latter.
func (e *engine) landed(acks []*hand, n int, h haul, err error) []*hand {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.flying--
	e.asking -= n
	if len(acks) > 0 {
		e.laden = false
	}
	switch {
	case err == nil, h.ran:
		e.acknowledged(acks, h.missed)
	case errors.Is(err, ErrUnknownOutcome):
		for _, a := range acks {
			a.state = unsure
		}
		e.doubt = e.doubt || e.backup != ""
	default: // nothing ran: once more
		for _, a := range acks {
			a.state = acking
		}
		e.acks = append(acks, e.acks...)
	}
	if err == nil {
		e.troubles = 0
		if n > 0 && len(h.got) == 0 {
			e.empties++
			e.count.looks.Add(1)
		}
	}
	return e.received(h)
}

// received takes messages into hand. The mutex is held.
func (e *engine) received(h haul) []*hand {
	now := time.Now()
	e.count.wasted.Add(int64(h.wasted))
	e.hold(h.got, now)
	if len(h.got) > 0 {
		e.empties, e.idleTold, e.lastTaken = 0, false, now
	}
	for _, t := range h.got {
		if !t.due.IsZero() {
			e.lates.add(t.late)
		}
		if e.feed.open() {
			e.feed.tell(Event{Kind: EventTaken, Time: now, Message: e.message(t), Attempt: t.attempt(), Late: t.late, Due: t.due})
		}
	}
	e.cond.Broadcast()
	return h.got
}

// acknowledged ends messages whose acknowledgement was answered. The mutex is held.
func (e *engine) acknowledged(acks []*hand, missed []int) {
	gone := map[int]bool{}
	for _, i := range missed {
		gone[i] = true
	}
	for i, h := range acks {
		if gone[i] {
			e.notOurs(h)
			continue
		}
		e.conclude(h)
	}
}

// rest is called by a lane that found nothing: one lane waits for messages, the
// others until it has some.
func (e *engine) rest() []*hand {
	e.mu.Lock()
	if e.resting || e.stopping.Err() != nil || e.empties < e.idle.Spin {
		e.mu.Unlock()
		return nil
	}
	if e.most > 0 && e.count.taken.Load()+int64(e.asking) >= e.most {
		e.mu.Unlock()
		return nil
	}
	e.resting = true // from now on no other lane takes
	if !e.idleTold {
		e.idleTold = true
		e.feed.tell(Event{Kind: EventIdle})
	}
	e.mu.Unlock()
	for {
		e.stopIfEmpty()
		hands, again, err := e.await()
		if err != nil {
			e.trouble(err)
		}
		if !again {
			return hands
		}
	}
}

// stopIfEmpty asks for a stop when nothing is in hand, ready or due, if that was wanted.
func (e *engine) stopIfEmpty() {
	if !e.untilEmpty {
		return
	}
	e.mu.Lock()
	for (e.flying > 0 || len(e.acks) > 0) && !e.abandoned && e.lost == nil {
		e.cond.Wait() // for what the others bring and acknowledge
	}
	alone := e.hands.n == e.fallen
	e.mu.Unlock()
	if !alone {
		return
	}
	if none, err := e.source.empty(e.calls); err == nil && none {
		e.stop()
	}
}

// await waits for messages, in a blocking pop or as the pattern does. again is true when
// there are none: of all lanes only this one looks, then, and blocks or pauses once more.
func (e *engine) await() (hands []*hand, again bool, err error) {
	e.steps.RLock()
	defer e.steps.RUnlock()
	var h haul
	if e.stopping.Err() == nil {
		h, err = e.source.wait(e.stopping)
	}
	if n := e.roomNow(); err == nil && !h.none && len(h.got) == 0 && n > 0 {
		h, err = e.source.take(e.calls, nil, n)
		e.count.looks.Add(1)
	}
	err = classify(err)
	e.mu.Lock()
	defer e.mu.Unlock()
	again = err == nil && len(h.got) == 0 && h.wasted == 0 && e.stopping.Err() == nil && !e.doubt && e.lost == nil
	e.resting = again
	if err == nil {
		e.troubles = 0
	}
	if errors.Is(err, ErrUnknownOutcome) && e.own {
		e.doubt = true // it may have taken a message
	}
	return e.received(h), again, err
}

func (e *engine) roomNow() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.room()
}

// deal gives messages to workers, or handles them in this lane. It returns false when a
// handler was left behind here.
func (e *engine) deal(hands []*hand) bool {
	if !e.inline() {
		e.mu.Lock()
		e.lineUp(hands)
		e.mu.Unlock()
		return true
	}
	for _, h := range hands {
		if !e.handle(h) {
			return false
		}
	}
	return true
}

// lineUp has messages wait for a worker. The mutex is held.
func (e *engine) lineUp(hands []*hand) {
	e.line = append(e.line, hands...)
	for range min(len(hands), e.concurrency) {
		e.jobs.Signal()
	}
}

// worker handles what the lanes have taken. A message is ended and the next one begun
// under one hold of the mutex, where all workers meet.
func (e *engine) worker() {
	now := time.Now()
	e.mu.Lock() // not unlocked by a defer: a handler may end this goroutine while it is not held
	for {
		for len(e.line) == 0 {
			if e.dismissed {
				e.mu.Unlock()
				return
			}
			e.jobs.Wait()
			now = time.Now()
		}
		h := e.line[0]
		e.line[0], e.line = nil, e.line[1:]
		if !e.start(h, now) {
			continue
		}
		e.mu.Unlock()
		err := e.attempt(h)
		now = time.Now() // the next one begins when this one ends
		e.mu.Lock()
		if !e.finish(h, err, now) {
			e.mu.Unlock()
			return
		}
		if err != nil {
			now = time.Now() // the server was asked meanwhile
		}
	}
}
