package queue

import (
	"context"
	"fmt"
)

// secondLook reads again after an outcome stayed unknown and says in one
// sentence what is there now. It concludes nothing that it cannot know. All looks
// of a batch share the time of ctx (see bounded): a server that has gone silent is not
// waited for once a message.
func (c *Client) secondLook(ctx context.Context, r Record) string {
	at := func(place Place, key string, payload []byte) presence {
		n, more, err := c.Copies(ctx, Message{Place: place, Key: key, Payload: payload, Size: int64(len(payload))}, searchLimit)
		switch {
		case err != nil:
			return unseen
		case n > 0:
			return there
		case more:
			return unseen
		}
		return absent
	}
	m := r.Message
	here := at(m.Place, m.Key, m.Payload)
	if here == unseen && r.Op != OpReschedule {
		return "a second look was not possible"
	}
	switch r.Op {
	case OpEnqueue, OpDelete, OpPurge:
		if here == there {
			return fmt.Sprintf("a message with these bytes is in %s now", m.Place)
		}
		return fmt.Sprintf("it is not in %s now", m.Place)
	case OpRedrive:
		switch to := at(r.ToPlace, r.ToKey, m.Payload); {
		case here == there && to == there:
			return fmt.Sprintf("messages with these bytes are in %s and in %s now", m.Place, r.ToPlace)
		case here == there:
			return fmt.Sprintf("it is still in %s", m.Place)
		case to == there:
			return fmt.Sprintf("it is in %s now", r.ToPlace)
		}
		return fmt.Sprintf("it is neither in %s nor in %s now: moved and taken since, or taken before", m.Place, r.ToPlace)
	case OpEdit:
		switch {
		case here == there:
			return "the old bytes are still there"
		case at(m.Place, m.Key, r.Payload) == there:
			return "the new bytes are there now"
		}
		return "neither the old nor the new bytes are there now"
	case OpReschedule:
		score, err := c.read.ZScore(ctx, m.Key, string(m.Payload)).Result()
		if err != nil {
			return "it is not in delayed now, or a second look was not possible"
		}
		return fmt.Sprintf("its score is %s now", ScoreOf(score))
	}
	return ""
}

// presence is what a second look saw of a message.
type presence uint8

const (
	absent presence = iota
	there
	unseen // the server did not answer, or the list is longer than was searched
)
