package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/redis/go-redis/v9"

	"redq/queue"
)

// Preview is what an import would do.
type Preview struct {
	Keys    []KeyCount      // where the messages go, in the order of the file
	Samples []queue.Message // the first three
	Lines   int64           // of the file
	// Duplicates are messages that the import would leave out, since equal bytes are in the
	// sorted set. They are counted only where that was asked for.
	Duplicates int64
}

// KeyCount is how many messages go to a key.
type KeyCount struct {
	Place queue.Place
	Key   string
	Count int64
}

// Counts returns the messages by the place they go to.
func (p Preview) Counts() Counts {
	counts := Counts{}
	for _, k := range p.Keys {
		counts[k.Place] += k.Count
	}
	return counts
}

// PreviewOptions say what a Preview looks at.
type PreviewOptions struct {
	Target
	FromLine int64 // lines before it are passed over; 0 and 1: none
	// Duplicates has the server asked about each message that goes to a sorted set.
	Duplicates bool
	// Progress, when not nil, is called after some hundred lines, with how many were read.
	Progress func(lines int64)
}

const (
	previewSamples = 3
	progressLines  = 500
)

// Look reads a file to its end and tells what Import would do with it. It changes nothing.
// Its error is a *LineError when a line is no message or cannot go where it should; it is
// queue.ErrWrongType when a key has another type than its place needs.
func Look(ctx context.Context, c *queue.Client, q queue.Queue, r io.Reader, o PreviewOptions) (Preview, error) {
	l := look{PreviewOptions: o, c: c, router: router{q, o.Target}, keys: map[string]int{}}
	err := l.lines(ctx, newReader(r))
	return l.preview, err
}

// look is one look at a file under way.
type look struct {
	PreviewOptions
	c       *queue.Client
	router  router
	keys    map[string]int // positions in preview.Keys
	preview Preview
	members []member // that the server was not asked about yet
	size    int      // of their payloads
}

// member is a message that goes to a sorted set.
type member struct {
	key     string
	payload []byte
}

func (l *look) lines(ctx context.Context, from *reader) error {
	for {
		line, err := from.message(l.FromLine)
		l.preview.Lines = from.line
		switch {
		case errors.Is(err, io.EOF):
			return l.ask(ctx)
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		if err := l.line(ctx, line, from.line); err != nil {
			return err
		}
		if l.Progress != nil && from.line%progressLines == 0 {
			l.Progress(from.line)
		}
	}
}

// line counts one line.
func (l *look) line(ctx context.Context, line Line, number int64) error {
	to, err := l.router.route(line)
	if err != nil {
		return &LineError{Line: number, Column: 1, Reason: err.Error()}
	}
	at, known := l.keys[to.key]
	if !known {
		if err := fits(ctx, l.c, to); err != nil {
			return err
		}
		at = len(l.preview.Keys)
		l.keys[to.key] = at
		l.preview.Keys = append(l.preview.Keys, KeyCount{Place: to.place, Key: to.key})
	}
	count := &l.preview.Keys[at]
	if count.Place != to.place {
		return &LineError{Line: number, Column: 1, Reason: fmt.Sprintf("%s is %s for this line and %s for others", to.key, to.place, count.Place)}
	}
	count.Count++
	if len(l.preview.Samples) < previewSamples {
		l.preview.Samples = append(l.preview.Samples, queue.Message{
			Payload: line.Payload, Size: int64(len(line.Payload)), Place: to.place, Key: to.key, Score: line.Score,
		})
	}
	if l.Duplicates && to.place == queue.Delayed {
		l.members = append(l.members, member{to.key, line.Payload})
		if l.size += len(line.Payload); len(l.members) == batchLines || l.size >= batchBytes {
			return l.ask(ctx)
		}
	}
	return nil
}

// ask asks which members the sorted sets have already.
func (l *look) ask(ctx context.Context) error {
	if len(l.members) == 0 {
		return nil
	}
	pipe := l.c.Reader().Pipeline()
	scores := make([]*redis.FloatCmd, len(l.members))
	for i, m := range l.members {
		scores[i] = pipe.ZScore(ctx, m.key, string(m.payload))
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	for _, s := range scores {
		switch err := s.Err(); {
		case err == nil:
			l.preview.Duplicates++
		case !errors.Is(err, redis.Nil):
			return err
		}
	}
	l.members, l.size = l.members[:0], 0
	return nil
}

// fits checks that a key has the type that its place needs, or does not exist.
func fits(ctx context.Context, c *queue.Client, to stop) error {
	found, err := c.Reader().Type(ctx, to.key).Result()
	if err != nil {
		return err
	}
	want := "list"
	if to.place == queue.Delayed {
		want = "zset"
	}
	if found != want && found != "none" {
		return fmt.Errorf("%w: %s holds a %s", queue.ErrWrongType, to.key, found)
	}
	return nil
}
