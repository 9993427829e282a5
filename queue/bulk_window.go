package queue

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"hash"
)

var (
	scriptWindow  = loadScriptWith("window", "prelude", "between")
	scriptBulk    = loadScriptWith("bulk", "prelude", "between")
	scriptPutback = loadScriptWith("putback", "prelude")
)

const (
	// A step of a bulk operation, and what is read for it: enough that a round trip costs
	// nothing beside it, little enough that other clients of the server do not wait.
	stepMessages = 1000
	stepBytes    = 2 << 20
	// largePayload is the size from which on payloads stay on the server where their
	// bytes are not needed.
	largePayload = 64 << 10
)

// side is the end of a key that a bulk operation works from; of a sorted set Left is the lowest score.
type side struct {
	place Place
	key   string
	end   End
}

// span is some messages in a row, the first of which is at position from.
type span struct {
	from  int64
	total int64 // messages in the key
	all   []spanned
	bytes int64
}

// chunk is how many messages behind the span may be read at once, going by those in it.
func (sp span) chunk() int {
	if len(sp.all) > 0 && sp.bytes/int64(len(sp.all)) < 1024 {
		return 2 * stepMessages
	}
	return 1
}

// spanned is one message of a span.
type spanned struct {
	payload []byte // nil when it is large: see digest
	digest  string // of a large one, in hex
	size    int64
	score   Score
}

func (m spanned) print() Print {
	if m.digest == "" {
		return PrintOf(m.payload)
	}
	var p Print
	sum, _ := hex.DecodeString(m.digest) // as the server's sha1hex made it
	copy(p[:], sum)
	return p
}

// message returns what a matcher sees of it: of a large one no payload.
func (m spanned) message(s side, at, total int64) Message {
	if s.end == Right {
		at = total - 1 - at
	}
	return Message{Payload: m.payload, Size: m.size, Place: s.place, Key: s.key, Index: at, Len: total, Score: m.score}
}

// readSpan reads up to n messages from a position on, fewer when they are large. Payloads
// above large bytes are not read.
func (c *Client) readSpan(ctx context.Context, s side, from int64, n int, large int64) (span, error) {
	return c.readSpanBy(ctx, s, from, n, large, 1)
}

// readSpanBy reads so many at once as long as their size is not known.
func (c *Client) readSpanBy(ctx context.Context, s side, from int64, n int, large int64, chunk int) (span, error) {
	cl, err := c.ask(ctx, scriptWindow, s.key, kind(s.place), string(s.end), from, n, stepBytes, large, chunk)
	if err != nil {
		return span{}, err
	}
	payloads, scores := arrayAt(cl.reply, 2), arrayAt(cl.reply, 3)
	sp := span{from: from, total: cl.num(1), all: make([]spanned, len(payloads))}
	for i := range payloads {
		sp.bytes += int64(len(textAt(payloads, i)))
	}
	bytes := make([]byte, 0, sp.bytes) // of all, which is one piece less a message
	for i := range payloads {
		start := len(bytes)
		bytes = append(bytes, textAt(payloads, i)...)
		sp.all[i] = spanned{payload: bytes[start:len(bytes):len(bytes)], size: int64(len(bytes) - start), score: Score(textAt(scores, i))}
	}
	big := arrayAt(cl.reply, 4)
	for i := 0; i+2 < len(big); i += 3 {
		m := &sp.all[numberAt(big, i)-1]
		m.payload, m.size, m.digest = nil, numberAt(big, i+1), textAt(big, i+2)
		sp.bytes += m.size
	}
	return sp, nil
}

// identity makes what script bulk compares before it changes anything: see its identity.
type identity struct {
	separator []byte
	n         int
	group     hash.Hash // of the last messages, 32 at most
	sums      hash.Hash
	scores    []byte
}

func newIdentity(separator string) *identity {
	return &identity{separator: []byte(separator), group: sha1.New(), sums: sha1.New()}
}

func (id *identity) add(m spanned) {
	const together = 32
	switch {
	case id.n%together > 0:
		id.group.Write(id.separator)
	case id.n > 0:
		id.endGroup()
	}
	id.n++
	switch {
	case m.digest != "":
		id.group.Write([]byte(m.digest))
	case m.size > largePayload:
		id.group.Write([]byte(digestOf(string(m.payload))))
	default:
		id.group.Write(m.payload)
	}
	if m.score != "" {
		if len(id.scores) > 0 {
			id.scores = append(id.scores, ',')
		}
		id.scores = append(id.scores, m.score...)
	}
}

func (id *identity) endGroup() {
	id.sums.Write(hex.AppendEncode(nil, id.group.Sum(nil)))
	id.group.Reset()
}

// hex ends it: nothing can be added any more.
func (id *identity) hex() string {
	id.endGroup()
	id.sums.Write(id.scores)
	return hex.EncodeToString(id.sums.Sum(nil))
}
