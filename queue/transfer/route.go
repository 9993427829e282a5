package transfer

import (
	"fmt"
	"slices"
	"strings"

	"redq/queue"
)

// Target says where in a queue messages go. The zero value is where they were: the line's place,
// and its key when the line is of the same queue.
type Target struct {
	// Place is one place for all. A message that was in a list cannot go to delayed: it has no score.
	Place queue.Place
	// Key is one of that place's keys; "" is the first of them.
	Key string
	// Create puts messages of a place that the queue has no key for where the default
	// layout has it (see queue.Named).
	Create bool
}

// stop is where a line goes.
type stop struct {
	place queue.Place
	key   string
	end   queue.End // of a list
}

// router finds out where lines go.
type router struct {
	queue queue.Queue
	to    Target
}

// route says where a line goes, or why it cannot.
func (r router) route(l Line) (stop, error) {
	s := stop{place: l.Place, end: queue.Left}
	if r.to.Place != "" {
		s.place = r.to.Place
	}
	if s.place == queue.Delayed && l.Place != queue.Delayed {
		return s, fmt.Errorf("a message of %s has no score, so it cannot go to delayed", l.Place)
	}
	if s.place == queue.Ready {
		s.end = r.pushEnd(l)
	}
	var err error
	s.key, err = r.key(s.place, l)
	return s, err
}

// pushEnd is the end of ready that a line goes to: where its list had its newest messages, when the
// list comes back, else where the producers of the queue push.
func (r router) pushEnd(l Line) queue.End {
	told := r.queue.Guessed&queue.GuessedPush == 0
	if l.Place == queue.Ready && l.Queue == r.queue.Name && l.Push != "" && !told {
		return l.Push
	}
	return r.queue.PushEnd()
}

func (r router) key(p queue.Place, l Line) (string, error) {
	keys := r.queue.Keys(p)
	switch {
	case r.to.Key != "":
		return r.to.Key, nil
	case p != l.Place || l.Queue != r.queue.Name || l.Key == "":
	case slices.Contains(keys, l.Key):
		return l.Key, nil
	case r.mayBring(p, l.Key):
		return l.Key, nil
	}
	if len(keys) > 0 {
		return keys[0], nil
	}
	if r.to.Create {
		return queue.Named(r.queue.Name).Keys(p)[0], nil
	}
	return "", fmt.Errorf("%w: %s has no %s", queue.ErrNoSuchPlace, r.queue.Name, p)
}

// mayBring reports whether a key that the queue does not have now is one it had: Redis keeps no
// empty keys. Its name must be that of the queue with something around it, and the queue's keys must not
// have been named by hand.
func (r router) mayBring(p queue.Place, key string) bool {
	if r.queue.Guessed&queue.GuessedKeys == 0 && !r.to.Create {
		return false
	}
	if p != queue.Backup && r.queue.Has(p) {
		return false
	}
	if _, other := r.queue.PlaceOf(key); other {
		return false
	}
	return strings.HasPrefix(key, r.queue.Name) || strings.HasPrefix(key, "{"+r.queue.Name+"}")
}
