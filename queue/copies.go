package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Copies counts the messages in m's key with equal bytes (1 in a sorted set),
// looking at no more than limit entries from each end; more reports whether the
// key is longer than what was looked at.
func (c *Client) Copies(ctx context.Context, m Message, limit int64) (n int64, more bool, err error) {
	if m.Place == Delayed {
		return c.copiesInSet(ctx, m)
	}
	limit = max(1, min(limit, math.MaxInt32))
	if m.Complete() && !c.lacks.lpos.Load() {
		n, more, err = c.copiesByPosition(ctx, m, limit)
		if !isMissing(err) {
			return n, more, c.readError(err)
		}
		c.lacks.lpos.Store(true)
	}
	return c.copiesByPage(ctx, m, limit)
}

func (c *Client) copiesInSet(ctx context.Context, m Message) (n int64, more bool, err error) {
	if !m.Complete() {
		_, err = c.Load(ctx, m)
	} else {
		err = c.readError(c.read.ZScore(ctx, m.Key, string(m.Payload)).Err())
	}
	switch {
	case err == nil:
		return 1, false, nil
	case errors.Is(err, ErrGone), errors.Is(err, redis.Nil):
		return 0, false, nil
	}
	return 0, false, err
}

// copiesByPosition asks for the positions of equal entries from both ends, at one
// moment, and counts each position once.
func (c *Client) copiesByPosition(ctx context.Context, m Message, limit int64) (n int64, more bool, err error) {
	var length *redis.IntCmd
	var head, tail *redis.IntSliceCmd
	_, err = c.read.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		length = pipe.LLen(ctx, m.Key)
		head = pipe.LPosCount(ctx, m.Key, string(m.Payload), 0, redis.LPosArgs{MaxLen: limit})
		tail = pipe.LPosCount(ctx, m.Key, string(m.Payload), 0, redis.LPosArgs{MaxLen: limit, Rank: -1})
		return nil
	})
	if err != nil {
		return 0, false, cmp.Or(head.Err(), err) // why EXEC was aborted, if it was
	}
	at := map[int64]bool{}
	for _, i := range head.Val() {
		at[i] = true
	}
	for _, i := range tail.Val() {
		at[i] = true
	}
	return int64(len(at)), length.Val() > 2*limit, nil
}

// isMissing reports whether the server does not know a command, or denies it as such.
func isMissing(err error) bool {
	return redis.HasErrorPrefix(err, "unknown command") ||
		redis.HasErrorPrefix(err, "NOPERM") && strings.Contains(err.Error(), "permissions to run")
}

// copiesByPage compares entries here, page by page.
func (c *Client) copiesByPage(ctx context.Context, m Message, limit int64) (n int64, more bool, err error) {
	seen := m.cut()
	length, err := c.length(ctx, m.Place, m.Key)
	if err != nil {
		return 0, false, err
	}
	count := func(from, until int64) error {
		for from < until {
			page, err := c.readKey(ctx, m.Place, m.Key, from, int(min(searchPage, until-from)))
			if err != nil {
				return err
			}
			if len(page.Messages) == 0 {
				return nil
			}
			for _, other := range page.Messages {
				if other.Same(seen) {
					n++
				}
			}
			from += int64(len(page.Messages))
		}
		return nil
	}
	headEnd := min(limit, length)
	if err := count(0, headEnd); err != nil {
		return 0, false, fmt.Errorf("counting copies: %w", err)
	}
	if err := count(max(headEnd, length-limit), length); err != nil {
		return 0, false, fmt.Errorf("counting copies: %w", err)
	}
	return n, length > 2*limit, nil
}
