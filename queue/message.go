package queue

import (
	"bytes"
	"time"
)

// Message is one message as it was seen: its bytes and where they lay.
type Message struct {
	// Payload is the exact bytes, or, when Size is larger than len(Payload),
	// only the first of them: see Complete.
	Payload []byte
	// Tail is the last bytes of a payload that was cut, else nil. Together with
	// Size and the head it tells large payloads apart on a page.
	Tail []byte
	// Size is the number of bytes of the whole payload.
	Size int64

	Place Place
	Key   string
	// Index is the position in a list from the head, or the rank in a sorted set.
	Index int64
	// Len is the length of the key when the message was read. With Index it gives
	// the distance from both ends, of which one at least survives traffic at the other.
	Len int64
	// Score is the sorted set's score; empty in a list.
	Score Score

	// Attempts is how many attempts have failed already, as far as the queue's meta hash
	// tells; Reason is the last one's error. Known to handlers, and to Client.Failures.
	Attempts int
	Reason   string
}

// Complete reports whether Payload holds all the bytes.
func (m Message) Complete() bool { return int64(len(m.Payload)) == m.Size }

// Same reports whether two sightings have equal bytes as far as both were read.
func (m Message) Same(o Message) bool {
	return m.Size == o.Size && bytes.Equal(m.Payload, o.Payload) && bytes.Equal(m.Tail, o.Tail)
}

// Page is a window onto one place, read in one step of the server.
type Page struct {
	Place    Place
	From     int64     // position of the first message over all keys of the place
	Total    int64     // messages in the place when the page was read
	Messages []Message // in the place's own order: head first, or lowest score first
	Now      time.Time // the server's clock when the page was read
}
