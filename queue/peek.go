package queue

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// HeadBytes is how much of a large payload Peek reads.
	HeadBytes = 16 << 10
	// TailBytes is how much of the end of a payload that was cut comes with it.
	TailBytes = 64
)

var (
	scriptPage  = loadScript("page")
	scriptProbe = loadScript("probe")
)

const (
	// scriptBytes is the payload that one run of the page script touches before it
	// lets others have the server: some 50 ms, for a script copies it more than once.
	scriptBytes = 16 << 20
	// plainMessages is how many messages are read at once where scripts are denied
	// and payloads cannot be cut on the server.
	plainMessages = 25
)

// Peek reads n messages of a place from position from (0 is the head of a list,
// the lowest score of a sorted set; several backup lists count on in key order).
// It only reads, and never more than HeadBytes of any payload. Pages of many huge
// payloads are read in several steps, which traffic may move against each other.
// Where scripts are denied whole payloads travel and are cut here.
//
// Of several backup lists those that cannot be read are left out, unless none can.
func (c *Client) Peek(ctx context.Context, q Queue, p Place, from int64, n int) (Page, error) {
	keys := q.Keys(p)
	from, n = max(0, from), max(0, n)
	switch len(keys) {
	case 0:
		return Page{}, ErrNoSuchPlace
	case 1:
		page, err := c.readKey(ctx, p, keys[0], from, n)
		page.Place, page.From = p, min(from, page.Total)
		return page, err
	}
	return c.peekKeys(ctx, p, keys, from, n)
}

// peekKeys reads a window over several keys, of which only those that the window
// touches are read.
func (c *Client) peekKeys(ctx context.Context, p Place, keys []string, from int64, n int) (Page, error) {
	lengths, now, err := c.lengths(ctx, p, keys)
	if err != nil {
		return Page{}, err
	}
	page := Page{Place: p, Now: now}
	skip := from
	for _, k := range lengths {
		if missing := n - len(page.Messages); missing > 0 && skip < k.n {
			part, err := c.readKey(ctx, p, k.key, skip, missing)
			if err != nil {
				return Page{}, err
			}
			page.Messages = append(page.Messages, part.Messages...)
			page.Now, k.n = part.Now, part.Total
		}
		page.Total += k.n
		skip = max(0, skip-k.n)
	}
	page.From = min(from, page.Total)
	return page, nil
}

type keyLength struct {
	key string
	n   int64
}

// lengths returns the keys that can be read and how long they are, in one
// pipeline; an error when none can.
func (c *Client) lengths(ctx context.Context, p Place, keys []string) ([]keyLength, time.Time, error) {
	pipe := c.read.Pipeline()
	cmds := make([]*redis.IntCmd, len(keys))
	for i, key := range keys {
		if p == Delayed {
			cmds[i] = pipe.ZCard(ctx, key)
		} else {
			cmds[i] = pipe.LLen(ctx, key)
		}
	}
	now := pipe.Time(ctx)
	_, _ = pipe.Exec(ctx) // each command has its own error
	var readable []keyLength
	var failed error
	for i, cmd := range cmds {
		switch err := c.readError(cmd.Err()); {
		case err == nil:
			readable = append(readable, keyLength{keys[i], cmd.Val()})
		case !isRefusal(err):
			return nil, time.Time{}, err
		case failed == nil:
			failed = err
		}
	}
	if len(readable) == 0 {
		return nil, time.Time{}, failed
	}
	if now.Err() != nil {
		return readable, time.Now(), nil
	}
	return readable, now.Val(), nil
}

// isRefusal reports whether the server answered, but not with what was asked for.
func isRefusal(err error) bool {
	return errors.Is(err, ErrWrongType) || errors.As(err, new(*RefusedError))
}

// readKey reads a window of one key, in as many steps as its size needs.
func (c *Client) readKey(ctx context.Context, p Place, key string, from int64, n int) (Page, error) {
	var all Page
	for {
		part, err := c.readStep(ctx, p, key, from+int64(len(all.Messages)), n-len(all.Messages))
		if err != nil {
			return Page{}, err
		}
		all.Messages = append(all.Messages, part.Messages...)
		all.Total, all.Now = part.Total, part.Now
		if len(part.Messages) == 0 || len(all.Messages) >= n {
			return all, nil
		}
	}
}

// readStep reads the first messages of a window; none only when there are none.
func (c *Client) readStep(ctx context.Context, p Place, key string, from int64, n int) (Page, error) {
	if c.lacks.scripts.Load() {
		return c.readPlain(ctx, p, key, from, n)
	}
	cl, err := c.ask(ctx, scriptPage, key, kind(p), from, n, HeadBytes, TailBytes, scriptBytes)
	if errors.Is(err, ErrNoScripts) {
		return c.readPlain(ctx, p, key, from, n)
	}
	if err != nil {
		return Page{}, err
	}
	page := Page{Place: p, From: from, Total: cl.num(1), Now: clock(cl.str(2), cl.str(3))}
	for i := 4; i+3 < len(cl.reply); i += 4 {
		m := Message{
			Payload: []byte(cl.str(i + 1)), Size: cl.num(i), Score: Score(cl.str(i + 3)),
			Place: p, Key: key, Index: from + int64(len(page.Messages)), Len: page.Total,
		}
		if tail := cl.str(i + 2); tail != "" {
			m.Tail = []byte(tail)
		}
		page.Messages = append(page.Messages, m)
	}
	return page, nil
}

// ask runs a script that only reads.
func (c *Client) ask(ctx context.Context, s *script, key string, args ...any) (*call, error) {
	cl := &call{script: s, keys: []string{key}, args: args}
	v, err := c.eval(ctx, c.read, s, cl.keys, args...)
	if err = c.readError(err); err != nil {
		if errors.Is(err, ErrNoScripts) {
			c.lacks.scripts.Store(true)
		}
		return nil, err
	}
	cl.reply, _ = v.([]any)
	switch cl.status() {
	case "type", "gone", "far":
		return nil, cl.result().Err
	}
	return cl, nil
}

// readError classifies the reply to a read. Failures of the network stay as they
// are: of a read no outcome is unknown.
func (c *Client) readError(err error) error {
	if err == nil || errors.Is(err, redis.Nil) || !isReply(err) {
		return err
	}
	if !c.isCluster() && redis.HasErrorPrefix(err, "MOVED") {
		return &RefusedError{Code: "MOVED", Text: "the key lies on another node: this is a cluster, start with --cluster"}
	}
	return classify(err)
}

// clock reads a TIME reply; the client's clock stands in where the server's was denied.
func clock(seconds, micros string) time.Time {
	s, err := strconv.ParseInt(seconds, 10, 64)
	us, err2 := strconv.ParseInt(micros, 10, 64)
	if err != nil || err2 != nil || s == 0 {
		return time.Now()
	}
	return time.Unix(s, us*1000)
}

// readPlain is readStep for users that may run no script.
func (c *Client) readPlain(ctx context.Context, p Place, key string, from int64, n int) (Page, error) {
	to := from + int64(min(n, plainMessages)) - 1
	pipe := c.read.Pipeline()
	var length *redis.IntCmd
	var window *redis.Cmd
	if p == Delayed {
		length = pipe.ZCard(ctx, key)
		window = pipe.Do(ctx, "ZRANGE", key, from, to, "WITHSCORES")
	} else {
		length = pipe.LLen(ctx, key)
		window = pipe.Do(ctx, "LRANGE", key, from, to)
	}
	now := pipe.Time(ctx)
	if _, err := pipe.Exec(ctx); err != nil && !isReply(err) {
		return Page{}, err
	}
	if err := c.readError(length.Err()); err != nil {
		return Page{}, err
	}
	page := Page{Place: p, From: from, Total: length.Val(), Now: now.Val()}
	if now.Err() != nil {
		page.Now = time.Now()
	}
	if n <= 0 {
		return page, nil
	}
	entries, err := window.Slice()
	if err = c.readError(err); err != nil {
		return Page{}, err
	}
	for _, e := range pairs(entries, p == Delayed) {
		m := Message{
			Payload: []byte(e.payload), Size: int64(len(e.payload)), Score: e.score,
			Place: p, Key: key, Index: from + int64(len(page.Messages)), Len: page.Total,
		}
		page.Messages = append(page.Messages, m.cut())
	}
	return page, nil
}

// entry is one element of a plain reply.
type entry struct {
	payload string
	score   Score
}

// pairs reads LRANGE's answer, or ZRANGE's with scores: flat and as text in
// RESP2, in pairs and as doubles in RESP3.
func pairs(reply []any, scored bool) []entry {
	var all []entry
	for i := 0; i < len(reply); i++ {
		var e entry
		switch v := reply[i].(type) {
		case string:
			e.payload = v
			if scored && i+1 < len(reply) {
				i++
				e.score = scoreText(reply[i])
			}
		case []any:
			if len(v) == 2 {
				e.payload, _ = v[0].(string)
				e.score = scoreText(v[1])
			}
		}
		all = append(all, e)
	}
	return all
}

func scoreText(v any) Score {
	switch v := v.(type) {
	case string:
		return Score(v)
	case float64:
		return ScoreOf(v)
	}
	return ""
}

// cut returns m as Peek shows it: a large payload by its ends.
func (m Message) cut() Message {
	if !m.Complete() || m.Size <= HeadBytes {
		return m
	}
	m.Tail = append([]byte(nil), m.Payload[m.Size-TailBytes:]...)
	m.Payload = append([]byte(nil), m.Payload[:HeadBytes]...)
	return m
}

// loadAround is how many entries on either side of where a message was seen Load
// looks at when it knows the message by its ends only.
const loadAround = 1000

// Load returns m with its whole payload and where it lies now. It finds the
// message near where it was seen and returns ErrGone when it is not there any
// more, or a *RefusedError when the key is too long to be sure of that.
func (c *Client) Load(ctx context.Context, m Message) (Message, error) {
	if c.lacks.scripts.Load() {
		return c.loadPlain(ctx, m)
	}
	limit := int64(loadAround)
	if m.Complete() {
		limit = searchLimit
	}
	cl, err := c.ask(ctx, scriptProbe, m.Key, kind(m.Place), m.Payload, m.Tail, m.Size, m.Index, m.Len, string(m.Score), limit)
	if errors.Is(err, ErrNoScripts) {
		return c.loadPlain(ctx, m)
	}
	if err != nil {
		return m, err
	}
	m.Index, m.Len, m.Tail = cl.num(1), cl.num(2), nil
	m.Payload, m.Score = []byte(cl.str(3)), Score(cl.str(4))
	return m, nil
}

// loadPlain is Load for users that may run no script.
func (c *Client) loadPlain(ctx context.Context, m Message) (Message, error) {
	n, err := c.length(ctx, m.Place, m.Key)
	if err != nil {
		return m, err
	}
	for _, index := range []int64{m.Index, n - m.Len + m.Index} {
		from, to := max(0, index-plainMessages), min(n-1, index+plainMessages)
		entries, err := c.window(ctx, m.Place, m.Key, from, to)
		if err != nil {
			return m, err
		}
		for i, e := range entries {
			found := m
			found.Payload, found.Tail, found.Score = []byte(e.payload), nil, e.score
			found.Size = int64(len(e.payload))
			found.Index, found.Len = from+int64(i), n
			if found.Same(m) || found.cut().Same(m) {
				return found, nil
			}
		}
		if from == 0 && to == n-1 || n == 0 {
			return m, ErrGone
		}
	}
	return m, &RefusedError{Code: "FAR", Text: "not near where it was seen: look again and retry"}
}

// window reads whole entries of a key by plain commands.
func (c *Client) window(ctx context.Context, p Place, key string, from, to int64) ([]entry, error) {
	args := []any{"LRANGE", key, from, to}
	if p == Delayed {
		args = []any{"ZRANGE", key, from, to, "WITHSCORES"}
	}
	reply, err := c.read.Do(ctx, args...).Slice()
	if err = c.readError(err); err != nil {
		return nil, err
	}
	return pairs(reply, p == Delayed), nil
}

func (c *Client) length(ctx context.Context, p Place, key string) (int64, error) {
	cmd := c.read.LLen
	if p == Delayed {
		cmd = c.read.ZCard
	}
	n, err := cmd(ctx, key).Result()
	return n, c.readError(err)
}
