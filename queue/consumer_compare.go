package queue

import (
	"context"
	"slices"
	"strconv"
	"time"
)

// compare finds out what became of round trips whose answer was lost, by comparing the
// backup list with what is in hand. Of each payload the list must hold as many copies as are in hand
// and not acknowledged. More: an acknowledgement did not arrive, or, in an own list, a message was
// taken that nobody knows of. Fewer: somebody took it. Since of equal messages one may have been acknowledged
// and another one taken, every step that acknowledges leaves its stamp.
func (e *engine) compare() {
	e.conns.unblock() // a blocked pop may hold the steps for a second
	e.steps.Lock()
	defer e.steps.Unlock()
	e.mu.Lock()
	if !e.doubt || e.flying > 0 {
		e.mu.Unlock()
		return
	}
	hands := slices.Collect(e.hands.all())
	e.mu.Unlock()

	there, err := e.backupCopies(e.calls, hands)
	var arrived map[string]string
	if err == nil {
		arrived, err = e.conns.work.HGetAll(e.calls, e.queue.stampsKey(e.id)).Result()
	}
	if err != nil {
		e.trouble(classify(err))
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.doubt, e.troubles = false, 0
	e.dispatch(e.reconcile(hands, there, arrived))
	e.cond.Broadcast()
}

// backupCopies counts the copies of payloads in the backup list: of all in an own list,
// of those in hand in a shared one, which may be long.
func (e *engine) backupCopies(ctx context.Context, hands []*hand) (map[string]int, error) {
	there := map[string]int{}
	if !e.own {
		for _, h := range hands {
			if _, asked := there[h.raw]; asked {
				continue
			}
			n, _, err := e.client.Copies(ctx, Message{Place: Backup, Key: e.backup, Payload: []byte(h.raw), Size: int64(len(h.raw))}, searchLimit)
			if err != nil {
				return nil, err
			}
			there[h.raw] = int(n)
		}
		return there, nil
	}
	const page = 100
	for from := int64(0); ; from += page {
		got, err := e.conns.work.LRange(ctx, e.backup, from, from+page-1).Result()
		if err != nil {
			return nil, err
		}
		for _, payload := range got {
			there[payload]++
		}
		if len(got) < page {
			return there, nil
		}
	}
}

// reconcile draws the conclusions, and returns messages that were taken without
// anybody's knowledge. The mutex is held.
func (e *engine) reconcile(hands []*hand, there map[string]int, arrived map[string]string) []*hand {
	for _, h := range hands { // what is certainly in hand has the first claim on the copies
		if h.state != closed && h.state != unsure && !h.settled(arrived) {
			there[h.raw]--
		}
	}
	for _, h := range hands {
		if h.state != unsure {
			continue
		}
		if there[h.raw] > 0 && !h.stamp.in(arrived) {
			there[h.raw]--
			h.state = acking
			e.acks = append(e.acks, h)
		} else {
			e.conclude(h)
		}
	}
	var orphans []string
	for payload, n := range there {
		for ; n < 0; n++ {
			e.missing(hands, payload)
		}
		for ; n > 0 && e.own; n-- {
			orphans = append(orphans, payload)
		}
	}
	found := newHands(len(orphans), func(i int) string { return orphans[i] })
	for _, h := range found {
		h.unread = true
	}
	e.hold(found, time.Now())
	return found
}

// stamp is the number of a step, and of the lane that made it; or of a settling, and its
// place among those under way, below zero.
type stamp struct{ lane, step int64 }

// settled reports whether a message that is being settled has left the backup list
// already: only the answer was lost.
func (h *hand) settled(arrived map[string]string) bool {
	return (h.state == settling || h.state == returning) && h.stamp.in(arrived)
}

// in reports whether the step is the last of its lane that arrived.
func (m stamp) in(arrived map[string]string) bool {
	return arrived[strconv.FormatInt(m.lane, 10)] == strconv.FormatInt(m.step, 10)
}

// missing ends the handling of a message that is not in the backup list any more. One
// that is being settled may have been: its answer will tell.
func (e *engine) missing(hands []*hand, payload string) {
	for _, h := range hands {
		if h.raw != payload {
			continue
		}
		switch h.state {
		case running:
			h.ctx.end(ErrNotOurs)
			return
		case waiting, crashed:
			e.notOurs(h)
			return
		}
	}
}

// dispatch gives messages to workers. The mutex is held.
func (e *engine) dispatch(hands []*hand) {
	if !e.inline() {
		e.lineUp(hands)
		return
	}
	for _, h := range hands {
		h.aside = true
		go e.handleAside(h)
	}
}
