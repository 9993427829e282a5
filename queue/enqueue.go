package queue

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// EnqueueOptions say where a new message goes. The zero value is the back of ready.
type EnqueueOptions struct {
	Front bool          // ready: at the end that is popped next
	In    time.Duration // delayed: due this long after the server's now
	At    time.Time     // delayed: due at this instant; In must be 0
	// Delay puts the message into delayed even when In is 0 and At is zero (due at once).
	Delay bool
	// Wrap sends {"id":"<random>","msg":<payload>} so that equal payloads stay apart.
	Wrap bool
}

// delayed reports whether the message goes into the sorted set.
func (o EnqueueOptions) delayed() bool { return o.Delay || o.In != 0 || !o.At.IsZero() }

func (o EnqueueOptions) validate() error {
	switch {
	case o.In < 0:
		return errors.New("a delay cannot be negative")
	case o.In != 0 && !o.At.IsZero():
		return errors.New("a message is due in a while or at a time, not both")
	case o.Front && o.delayed():
		return errors.New("front is a place in ready: a delayed message has none")
	}
	return nil
}

// Enqueued is a message that was put into a queue.
type Enqueued struct {
	Place   Place
	Key     string
	Payload []byte    // what was sent
	ID      string    // the id of the envelope; "" when not wrapped
	Score   Score     // delayed only
	Due     time.Time // delayed only
	Len     int64     // of the key afterwards
	Note    string    // with ErrUnknownOutcome: what a second look found
}

// Enqueue adds one message, and counts it where the queue has Stats. When equal bytes are delayed already nothing is
// changed and the error is an *AlreadyDelayedError. With ErrUnknownOutcome the
// answer still says what was sent, and its Note what a second look found.
func (c *Client) Enqueue(ctx context.Context, q Queue, payload []byte, o EnqueueOptions) (Enqueued, error) {
	to, err := c.destination(q, o)
	if err != nil {
		return Enqueued{}, err
	}
	m := outgoing{payload: payload}
	if to.each {
		if m.score, err = dueScore(q.Unit, o.At); err != nil {
			return Enqueued{}, err
		}
	}
	sent := Enqueued{Place: to.place, Key: to.key}
	if o.Wrap {
		if m.payload, sent.ID, err = WrapMessage(payload); err != nil {
			return Enqueued{}, err
		}
	}
	sent.Payload = m.payload
	cl := to.call([]outgoing{m})
	sending, done := c.bounded(ctx)
	c.runCalls(sending, []*call{cl})
	done()

	res := cl.result()
	switch {
	case res.Outcome == Done && len(cl.present()) > 0:
		present := &AlreadyDelayedError{Key: sent.Key, Score: cl.present()[0].score}
		present.Due, _ = q.Unit.Time(present.Score)
		return sent, present
	case res.Outcome == Unknown:
		looking, done := c.bounded(ctx)
		defer done()
		sent.Note = c.secondLook(looking, Record{Op: OpEnqueue, Message: Message{
			Place: sent.Place, Key: sent.Key, Payload: sent.Payload, Size: int64(len(sent.Payload)),
		}})
	case res.Outcome == Done:
		sent.Len = cl.num(1)
		sent.Score = Score(cl.str(2))
		sent.Due, _ = q.Unit.Time(sent.Score)
	}
	return sent, res.Err
}

// destination is where new messages go, and how.
type destination struct {
	place Place
	key   string
	stats string // the key of the counters; "" when nothing is counted
	end   End    // ready: where they are pushed
	each  bool   // delayed: each message has its own score, else
	in    int64  // they are due so many microseconds after the server's now
	unit  Unit
}

// destination checks whether messages can be added and where they shall go.
func (c *Client) destination(q Queue, o EnqueueOptions) (destination, error) {
	d := destination{place: Ready, key: q.Ready, stats: q.Stats, end: q.PushEnd(), unit: q.Unit}
	if c.opts.ReadOnly {
		return d, ErrReadOnly
	}
	if err := o.validate(); err != nil {
		return d, err
	}
	switch {
	case o.delayed():
		d.place, d.key = Delayed, q.Delayed
		d.each = !o.At.IsZero()
		d.in = int64((o.In + time.Microsecond - 1) / time.Microsecond)
	case o.Front:
		d.end = d.end.Other()
	}
	if d.key == "" {
		return d, fmt.Errorf("%w: %s", ErrNoSuchPlace, d.place)
	}
	return d, c.oneSlot(d.keys()...)
}

// dueScore returns the score of a due time. One that no consumer would take for a time is refused.
func dueScore(u Unit, at time.Time) (Score, error) {
	score := u.Score(at)
	if v, ok := score.Float(); !ok || !u.Fits(v) {
		return "", fmt.Errorf("expected a due time between the years 2001 and 3018, not %s", at.Format(time.DateTime))
	}
	return score, nil
}

// keys are those that change when messages are added.
func (d destination) keys() []string {
	if d.stats == "" {
		return []string{d.key}
	}
	return []string{d.key, d.stats}
}

// outgoing is a message to be added.
type outgoing struct {
	payload []byte
	score   Score // of a destination where each has its own
}

// call adds messages in one step.
func (d destination) call(ms []outgoing) *call {
	args := make([]any, 0, 4+2*len(ms))
	switch {
	case d.place == Ready:
		args = append(args, "list", string(d.end), "", "")
	case d.each:
		args = append(args, "zset", "at", "", "")
	default:
		args = append(args, "zset", "in", d.in, d.unit.scriptName())
	}
	for _, m := range ms {
		if d.each {
			args = append(args, string(m.score))
		}
		args = append(args, m.payload)
	}
	return &call{script: scriptEnqueue, keys: d.keys(), args: args}
}

// delayedAlready is a message that was not added, since equal bytes are delayed.
type delayedAlready struct {
	at    int   // which of the call's messages
	score Score // the present one
}

// present reads from the answer of a destination's call what was not added.
func (cl *call) present() []delayedAlready {
	var all []delayedAlready
	for i := 3; i+1 < len(cl.reply); i += 2 {
		all = append(all, delayedAlready{at: int(cl.num(i)) - 1, score: Score(cl.str(i + 1))})
	}
	return all
}

// WrapMessage returns payload in the envelope {"id":…,"msg":…} with a random id:
// as it is when it is JSON, as a JSON string when it is other valid UTF-8. Other
// bytes have no place in JSON and are an error.
func WrapMessage(payload []byte) (wrapped []byte, id string, err error) {
	msg := payload
	if !json.Valid(payload) {
		if !utf8.Valid(payload) {
			return nil, "", errors.New("only text can be wrapped with an id: the payload is not valid UTF-8")
		}
		var quoted bytes.Buffer
		enc := json.NewEncoder(&quoted)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(string(payload)); err != nil {
			return nil, "", err
		}
		msg = bytes.TrimSuffix(quoted.Bytes(), []byte("\n"))
	}
	id = newUUID()
	return fmt.Appendf(nil, `{"id":"%s","msg":%s}`, id, msg), id, nil
}

// newUUID returns a random UUID (RFC 9562, version 4), the shape of id that
// producers of delayed queues use.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, says crypto/rand
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// scriptName is the unit as the scripts know it.
func (u Unit) scriptName() string {
	if u == FloatSeconds {
		return "fs"
	}
	return u.String()
}
