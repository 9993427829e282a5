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

// Enqueue adds one message. When equal bytes are delayed already nothing is
// changed and the error is an *AlreadyDelayedError. With ErrUnknownOutcome the
// answer still says what was sent, and its Note what a second look found.
func (c *Client) Enqueue(ctx context.Context, q Queue, payload []byte, o EnqueueOptions) (Enqueued, error) {
	if c.opts.ReadOnly {
		return Enqueued{}, ErrReadOnly
	}
	if err := o.validate(); err != nil {
		return Enqueued{}, err
	}
	sent := Enqueued{Place: Ready, Key: q.Ready, Payload: payload}
	if o.delayed() {
		sent.Place, sent.Key = Delayed, q.Delayed
	}
	if sent.Key == "" {
		return Enqueued{}, fmt.Errorf("%w: %s", ErrNoSuchPlace, sent.Place)
	}
	if o.Wrap {
		var err error
		if sent.Payload, sent.ID, err = WrapMessage(payload); err != nil {
			return Enqueued{}, err
		}
	}
	cl := enqueueCall(q, sent, o)
	sending, done := c.bounded(ctx)
	c.runCalls(sending, []*call{cl})
	done()

	res := cl.result()
	var present *AlreadyDelayedError
	switch {
	case errors.As(res.Err, &present):
		present.Due, _ = q.Unit.Time(present.Score)
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

func enqueueCall(q Queue, m Enqueued, o EnqueueOptions) *call {
	cl := &call{script: scriptEnqueue, keys: []string{m.Key}}
	switch {
	case m.Place == Ready:
		end := q.PushEnd()
		if o.Front {
			end = end.Other()
		}
		cl.args = []any{m.Payload, "list", string(end)}
	case !o.At.IsZero():
		cl.args = []any{m.Payload, "zset", "at", string(q.Unit.Score(o.At))}
	default:
		us := (o.In + time.Microsecond - 1) / time.Microsecond
		cl.args = []any{m.Payload, "zset", "in", int64(us), q.Unit.scriptName()}
	}
	return cl
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
