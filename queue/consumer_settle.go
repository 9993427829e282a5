package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// ending is how a message leaves a consumer's hand otherwise than by being done.
type ending struct {
	kind   EventKind
	to     string        // delayed, ready, front, dead or away, as script settle has it
	after  time.Duration // to delayed: due so long after the server's now
	score  Score         // to delayed: with this score instead
	meta   string        // "", "forget", or the reason of a failed attempt
	reason error
}

// endingOf decides what becomes of a message whose handler returned err.
func (e *engine) endingOf(h *hand, err error) ending {
	var later *deferral
	var said *verdict
	switch {
	case errors.Is(err, ErrCrash):
		return ending{kind: EventCrashed, reason: err}
	case errors.As(err, &later):
		return ending{kind: EventDeferred, to: "delayed", after: later.after, reason: later.why}
	case errors.As(err, &said) && said.kind == EventDead && e.queue.Dead == "" && e.pattern == BackupList:
		return ending{kind: EventKept, reason: err}
	case errors.As(err, &said) && said.kind == EventDead:
		return ending{kind: EventDead, to: "dead", meta: reasonOf(err), reason: err}
	case errors.As(err, &said):
		return ending{kind: EventDropped, to: "away", meta: "forget", reason: err}
	case e.pattern == BackupList:
		return ending{kind: EventKept, reason: err}
	}
	if h.unread {
		h.attempts, h.reason = e.pastOf(e.calls, h.raw)
	}
	if failed := h.attempt(); failed < e.retry.Limit {
		return ending{kind: EventRetried, to: "delayed", after: e.retry.again(failed), meta: reasonOf(err), reason: err}
	}
	if e.queue.Dead == "" {
		return ending{kind: EventDropped, to: "away", meta: "forget", reason: err}
	}
	return ending{kind: EventDead, to: "dead", meta: reasonOf(err), reason: err}
}

// reasonOf is an error as the meta hash keeps it: never empty, and bounded.
func reasonOf(err error) string {
	const most = 1000
	text := cmp.Or(err.Error(), "failed")
	if text == "forget" {
		text = "failed: forget" // the script's own word
	}
	if len(text) <= most {
		return text
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}

// settle ends a message whose handler did not say that all is well. The caller has set
// its state to settling.
func (e *engine) settle(h *hand) {
	end := e.endingOf(h, h.err)
	switch end.kind {
	case EventRetried, EventDead, EventKept, EventDropped:
		var said *verdict
		if !errors.As(h.err, &said) {
			e.count.failed.Add(1)
			e.feed.tell(Event{Kind: EventFailed, Message: e.message(h), Attempt: h.attempt(), Took: h.took, Err: h.err})
		}
	}
	switch {
	case end.kind == EventDeferred && !e.takesDelayed():
		e.park(h, end)
	case end.kind == EventCrashed && e.own:
		e.mu.Lock()
		e.become(h, crashed) // nobody works on it until it is recovered
		e.mu.Unlock()
		e.told(h, end, Event{})
	case end.kind == EventCrashed, end.kind == EventKept:
		e.told(h, end, Event{})
		e.drop(h)
	default:
		e.carryOut(h, settling, end)
	}
}

// takesDelayed reports whether the pattern takes messages out of delayed sooner or
// later. Where it does not, one that is put there would wait for ever.
func (e *engine) takesDelayed() bool {
	_, lists := e.source.(*popSource)
	return e.queue.Delayed != "" && !lists && (e.own || e.backup == "")
}

// park keeps a deferred message in hand, where the pattern takes nothing from delayed,
// and handles it again later.
func (e *engine) park(h *hand, end ending) {
	e.told(h, end, Event{Due: time.Now().Add(end.after)})
	e.mu.Lock()
	h.state = waiting
	e.cond.Broadcast() // a stop gives it back
	e.mu.Unlock()
	go func() {
		e.pause(e.stopping, end.after)
		e.mu.Lock()
		e.dispatch([]*hand{h})
		e.mu.Unlock()
	}()
}

// carryOut asks the server to put a message where it goes, until it has an answer: the
// message is in hand so long. It stops when the message is not in the state any more that the
// caller gave it, as somebody else settles it then, and returns false when it has given up.
func (e *engine) carryOut(h *hand, as handState, end ending) bool {
	if end.meta != "" && end.meta != "forget" {
		e.failures.Store(true) // before anybody may take it again
	}
	free := e.stampSettling(h)
	defer free()
	for {
		// What the answer says is taken in before anybody may compare hands and server.
		e.steps.RLock()
		if !e.is(h, as) {
			e.steps.RUnlock()
			return true
		}
		reply, err := e.askSettle(e.calls, h, end)
		if err == nil {
			e.carriedOut(h, end, reply)
		}
		e.steps.RUnlock()
		if err == nil {
			return true
		}
		if e.forsaken() {
			return false
		}
		e.trouble(err)
	}
}

// stampSettling gives a settling its number, and a field of the stamps that no other
// settling has until free is called.
func (e *engine) stampSettling(h *hand) (free func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	slot := int64(1)
	for e.settlings[slot] {
		slot++
	}
	e.settlings[slot] = true
	e.loads++
	h.stamp = stamp{-slot, e.loads} // lanes count upwards
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.settlings, slot)
	}
}

// is reports whether a message in hand is in a state.
func (e *engine) is(h *hand, state handState) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return h.state == state
}

// forsaken reports whether the consumer has given up on the server, or on everything.
func (e *engine) forsaken() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.abandoned || e.lost != nil
}

// carriedOut takes in the answer of a settle.
func (e *engine) carriedOut(h *hand, end ending, reply []any) {
	if textAt(reply, 0) == "gone" {
		e.mu.Lock()
		e.notOurs(h)
		e.cond.Broadcast()
		e.mu.Unlock()
		return
	}
	ev := Event{}
	switch went := textAt(reply, 1); {
	case went == "away" && end.to != "away":
		end.kind = EventDropped // the queue has no place for it
	case went == "dead" && end.to != "dead":
		end.kind, ev.Note = EventDead, "equal bytes are delayed already, and the queue has no ready list"
	case went == "ready" && end.to == "delayed" && e.takesDelayed():
		ev.Note = "equal bytes are delayed already: put into ready instead"
	}
	if refused := textAt(reply, 4); refused != "" {
		e.complain(fmt.Errorf("a failed attempt could not be counted: %w", classifyReply(refused)))
	}
	if due, ok := e.queue.Unit.Time(Score(textAt(reply, 2))); ok {
		ev.Due = due
	}
	e.told(h, end, ev)
	e.drop(h)
}

// drop takes a settled message out of hand.
func (e *engine) drop(h *hand) {
	e.mu.Lock()
	e.troubles = 0
	e.let(h)
	e.cond.Broadcast()
	e.mu.Unlock()
}

// told counts an ending and tells of it.
func (e *engine) told(h *hand, end ending, ev Event) {
	if counter := e.count.of(end.kind); counter != nil {
		counter.Add(1)
	}
	ev.Kind, ev.Message, ev.Attempt, ev.Err = end.kind, e.message(h), h.attempt(), end.reason
	e.feed.tell(ev)
}

// askSettle runs the script that puts a message where it goes.
func (e *engine) askSettle(ctx context.Context, h *hand, end ending) ([]any, error) {
	q := e.queue
	if !e.takesDelayed() {
		q.Delayed = ""
	}
	keys, has := []string{cmp.Or(e.backup, q.base())}, ""
	for _, p := range []struct{ key, letter string }{{q.Ready, "r"}, {q.Delayed, "d"}, {q.Dead, "x"}} {
		keys = append(keys, cmp.Or(p.key, keys[0]))
		if p.key != "" {
			has += p.letter
		}
	}
	keys = append(keys, q.MetaKey(), q.stampsKey(e.id))
	side := 1
	switch {
	case e.backup == "":
		side = 0
	case e.own:
		side = -1
	}
	how, when := "in", any(ceilDiv(int64(end.after), int64(time.Microsecond)))
	if end.score != "" {
		how, when = "at", string(end.score)
	}
	reply, err := e.call(ctx, scriptSettle, keys, h.raw, digestOf(h.raw), has, side, end.to, how, when,
		q.Unit.scriptName(), string(q.PushEnd()), end.meta, h.stamp.lane, h.stamp.step)
	if err != nil {
		return nil, classify(err)
	}
	if textAt(reply, 0) == "type" {
		return nil, classifyReply("WRONGTYPE")
	}
	return reply, nil
}

// which hands giveBack takes.
type which func(*hand) bool

func untouched(h *hand) bool  { return h.state == waiting }
func unfinished(h *hand) bool { return h.state == waiting || h.state == running || h.state == settling }

// giveBack puts messages back where they are taken next, the newest first, so that
// the oldest comes to lie in front. No attempt is used.
func (e *engine) giveBack(these which) { e.putBack(e.takeBack(these)) }

// takeBack takes messages from whoever works on them, and returns them oldest first.
func (e *engine) takeBack(these which) []*hand {
	e.mu.Lock()
	defer e.mu.Unlock()
	var back []*hand
	for h := range e.hands.all() {
		if these(h) {
			h.state = returning
			back = append(back, h)
		}
	}
	return back
}

// putBack puts messages that were taken back into their place.
func (e *engine) putBack(back []*hand) {
	for _, h := range slices.Backward(back) {
		end := ending{kind: EventReturned, to: "front"}
		if e.from == Delayed {
			end.to, end.score = "delayed", h.score
		}
		if !e.carryOut(h, returning, end) {
			return // the server does not answer: no use to ask for the others
		}
	}
}
