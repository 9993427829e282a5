package queue

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Place is one of the kinds of key a queue is made of.
type Place string

// The places of a queue, in the order a message usually passes through them.
const (
	Ready   Place = "ready"   // the list that producers push to and consumers pop from
	Backup  Place = "backup"  // the list(s) of messages taken and not yet acknowledged
	Delayed Place = "delayed" // the sorted set whose score is the due time
	Dead    Place = "dead"    // the list of messages given up after the last retry
)

// Places returns all places in their usual order.
func Places() []Place { return []Place{Ready, Backup, Delayed, Dead} }

// ParsePlace reads the name of a place.
func ParsePlace(s string) (Place, error) {
	if p := Place(strings.ToLower(s)); slices.Contains(Places(), p) {
		return p, nil
	}
	return "", fmt.Errorf("%q is not a place: expected ready, backup, delayed or dead", s)
}

// End is one end of a list, in Redis's words: Left is the head, Right the tail.
type End string

// The ends of a list.
const (
	Left  End = "left"
	Right End = "right"
)

// Other returns the opposite end.
func (e End) Other() End {
	if e == Right {
		return Left
	}
	return Right
}

// ParseEnd reads "left" or "right".
func ParseEnd(s string) (End, error) {
	switch e := End(strings.ToLower(s)); e {
	case Left, Right:
		return e, nil
	}
	return "", fmt.Errorf("%q is not an end of a list: expected left or right", s)
}

// Pattern names the way programs produce to and consume from a queue.
type Pattern string

// The patterns, by the names the command line uses.
const (
	ListPoll   Pattern = "list-poll"   // P1: plain list, polled
	ListBlock  Pattern = "list-block"  // P2: plain list, blocking pop
	ZsetRace   Pattern = "zset-race"   // P3: sorted set, whoever removes it owns it
	ZsetScript Pattern = "zset-script" // P4: sorted set, one script finds and removes
	LockRetry  Pattern = "lock"        // P5: handler needs a lock
	Dispatch   Pattern = "dispatch"    // P6: sorted set, handler chosen by a field
	BackupList Pattern = "backup-list" // P7: list with a backup list
	Pipeline   Pattern = "pipeline"    // P8: all of them together
)

// Guess says which properties of a queue were inferred rather than told.
type Guess uint8

// What can be guessed.
const (
	GuessedKeys Guess = 1 << iota
	GuessedUnit
	GuessedPush
	GuessedPattern
)

// DefaultStuckAfter is how long a message may lie in backup before it counts as stuck.
const DefaultStuckAfter = 60 * time.Second

// Queue names the keys that belong together. Any subset of the places will do;
// the zero value of a field means the queue has no such place.
type Queue struct {
	Name    string
	Ready   string   // a list
	Backups []string // lists: one shared, or one a consumer; newest at the head
	Delayed string   // a sorted set, score = due time in Unit
	Dead    string   // a list; newest at the head

	// Meta is a hash of attempts and last errors by message digest, Stats a hash of
	// counters; consumers and their scripts write them. "" means the default name, the
	// first key with ":meta" or ":stats" behind it, and that producers count nothing.
	Meta, Stats string

	Unit    Unit    // of Delayed's scores; the zero value means Milliseconds
	Push    End     // where producers push to Ready; consumers pop at the other end; "" means Left
	Pattern Pattern // "" when nothing is known

	// StuckAfter is the age in backup from which a message counts as stuck;
	// 0 means DefaultStuckAfter.
	StuckAfter time.Duration

	Guessed Guess // what of the above was inferred
	Pinned  bool  // named by hand: stays on screen when its keys vanish
}

// Named returns a queue with the default keys for name: the ready list under the
// name itself, NAME:backup, NAME:delayed and NAME:dead.
func Named(name string) Queue {
	return Queue{
		Name:    name,
		Ready:   name,
		Backups: []string{name + ":backup"},
		Delayed: name + ":delayed",
		Dead:    name + ":dead",
		Unit:    Milliseconds,
		Push:    Left,
	}
}

// Keys returns the keys of a place, none when the queue has no such place.
func (q Queue) Keys(p Place) []string {
	one := func(k string) []string {
		if k == "" {
			return nil
		}
		return []string{k}
	}
	switch p {
	case Ready:
		return one(q.Ready)
	case Backup:
		return q.Backups
	case Delayed:
		return one(q.Delayed)
	case Dead:
		return one(q.Dead)
	}
	return nil
}

// Has reports whether the queue has the place.
func (q Queue) Has(p Place) bool { return len(q.Keys(p)) > 0 }

// PlaceOf returns the place a key has in the queue.
func (q Queue) PlaceOf(key string) (Place, bool) {
	for _, p := range Places() {
		if slices.Contains(q.Keys(p), key) {
			return p, true
		}
	}
	return "", false
}

// RedriveTarget returns where a re-drive puts messages: ready, or, in a queue that
// is consumed from its sorted set, delayed and due now. The key is "" when the
// queue has neither.
func (q Queue) RedriveTarget() (Place, string) {
	if q.Ready == "" && q.Delayed != "" {
		return Delayed, q.Delayed
	}
	return Ready, q.Ready
}

// PushEnd returns the end producers push to, Left unless told otherwise.
func (q Queue) PushEnd() End {
	if q.Push == Right {
		return Right
	}
	return Left
}

// Stuck returns the age from which a message in backup counts as stuck.
func (q Queue) Stuck() time.Duration {
	if q.StuckAfter > 0 {
		return q.StuckAfter
	}
	return DefaultStuckAfter
}

// Validate tells what is wrong with a queue: no name, no key, or one key in two
// places (a re-drive would then move a message onto itself).
func (q Queue) Validate() error {
	if q.Name == "" {
		return errors.New("a queue needs a name")
	}
	seen := map[string]Place{}
	for _, p := range Places() {
		for _, k := range q.Keys(p) {
			if other, dup := seen[k]; dup {
				return fmt.Errorf("queue %q: key %q is both %s and %s", q.Name, k, other, p)
			}
			seen[k] = p
		}
	}
	if len(seen) == 0 {
		return fmt.Errorf("queue %q has no key", q.Name)
	}
	return nil
}
