package queue

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Failed is a message with what is known of its failed attempts.
type Failed struct {
	Message           // Attempts and Reason are filled; 0 and "" when nothing is known
	First   time.Time // when the first attempt failed, by the server's clock; zero when not known
}

// Failures fills in how often messages of q have failed, since when and why the last
// time, as q's consumers keep it in its meta hash (see Queue.MetaKey). Messages with equal bytes share what is known; of a
// message whose payload was cut (see Message.Complete) nothing is. All the messages come
// back in their order, also beside an error: ErrWrongType when the key is no hash.
func (c *Client) Failures(ctx context.Context, q Queue, ms []Message) ([]Failed, error) {
	all := make([]Failed, len(ms))
	var digests []string
	var at []int // the message each digest is of
	for i, m := range ms {
		all[i].Message = m
		if m.Complete() {
			digests, at = append(digests, digestOf(string(m.Payload))), append(at, i)
		}
	}
	if len(digests) == 0 {
		return all, nil
	}
	entries, err := c.read.HMGet(ctx, q.MetaKey(), digests...).Result()
	if err != nil {
		return all, fmt.Errorf("%s: %w", q.MetaKey(), c.readError(err))
	}
	for i, entry := range entries {
		if text, ok := entry.(string); ok {
			f := &all[at[i]]
			f.Attempts, f.Reason, f.First = parseFailure(text)
		}
	}
	return all, nil
}

// parseFailure reads an entry of the meta hash (see Queue.MetaKey); of one that is not
// ours nothing is known.
func parseFailure(entry string) (attempts int, reason string, first time.Time) {
	if entry == "" {
		return 0, "", time.Time{}
	}
	count, rest, _ := strings.Cut(entry, " ")
	since, reason, _ := strings.Cut(rest, " ")
	attempts, err := strconv.Atoi(count)
	ms, err2 := strconv.ParseInt(since, 10, 64)
	if err != nil || err2 != nil || attempts < 0 || ms < 0 {
		return 0, "", time.Time{}
	}
	return attempts, reason, time.UnixMilli(ms)
}

// digestOf names a message in the meta hash.
func digestOf(payload string) string {
	sum := sha1.Sum([]byte(payload))
	return hex.EncodeToString(sum[:])
}
