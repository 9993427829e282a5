// Package layout knows which keys of a server belong together as a queue: the
// naming rules, the guesses and the scan that finds the keys. It reads only, and
// does not know what becomes of a queue once it is found.
package layout

import (
	"strings"

	"redq/queue"
)

// rule says what a key's ending means: the key without it is the queue's name.
type rule struct {
	suffix string
	place  queue.Place // "" means that such a key is no part of any queue
	// weak endings are ordinary words too ("users:active"): they count only
	// beside a key of another place of the same queue.
	weak bool
	// perConsumer: SUFFIX:<consumer id> is one consumer's own list.
	perConsumer bool
}

// rules holds the endings in use, without regard to upper and lower case. The
// longest that fits decides. When a queue has several keys for a place that can
// have only one, the rule that stands first wins.
var rules = []rule{
	{suffix: ":backup", place: queue.Backup, perConsumer: true},
	{suffix: "_backup", place: queue.Backup},
	{suffix: "-backup", place: queue.Backup},
	{suffix: ".backup", place: queue.Backup},
	{suffix: ":bak", place: queue.Backup},
	{suffix: "_bak", place: queue.Backup},
	{suffix: "-bak", place: queue.Backup},
	{suffix: ":processing", place: queue.Backup, perConsumer: true},
	{suffix: "-processing", place: queue.Backup},
	{suffix: "_processing", place: queue.Backup},
	{suffix: ":working", place: queue.Backup, perConsumer: true},
	{suffix: ":inflight", place: queue.Backup, perConsumer: true},
	{suffix: ":in-flight", place: queue.Backup, perConsumer: true},
	{suffix: ":in_flight", place: queue.Backup, perConsumer: true},
	{suffix: ":unacked", place: queue.Backup, perConsumer: true},
	{suffix: "_unacked", place: queue.Backup},
	{suffix: "-unacked", place: queue.Backup},
	{suffix: ":tmp", place: queue.Backup},
	{suffix: ":active", place: queue.Backup, weak: true},
	{suffix: ":reserved", place: queue.Backup, weak: true},
	{suffix: "-working", place: queue.Backup, weak: true},
	{suffix: "_working", place: queue.Backup, weak: true},
	{suffix: "-inflight", place: queue.Backup, weak: true},
	{suffix: "_inflight", place: queue.Backup, weak: true},

	{suffix: ":delayed", place: queue.Delayed},
	{suffix: "-delayed", place: queue.Delayed},
	{suffix: "_delayed", place: queue.Delayed},
	{suffix: ".delayed", place: queue.Delayed},
	{suffix: ":delay", place: queue.Delayed},
	{suffix: "-delay", place: queue.Delayed},
	{suffix: "_delay", place: queue.Delayed},
	{suffix: ":scheduled", place: queue.Delayed},
	{suffix: "-scheduled", place: queue.Delayed},
	{suffix: "_scheduled", place: queue.Delayed},
	{suffix: ":schedule", place: queue.Delayed},
	{suffix: ":deferred", place: queue.Delayed},
	{suffix: ":retry", place: queue.Delayed, weak: true},
	{suffix: ":retries", place: queue.Delayed, weak: true},

	{suffix: ":dead", place: queue.Dead},
	{suffix: "_dead", place: queue.Dead},
	{suffix: "-dead", place: queue.Dead},
	{suffix: ".dead", place: queue.Dead},
	{suffix: ":dlq", place: queue.Dead},
	{suffix: "_dlq", place: queue.Dead},
	{suffix: "-dlq", place: queue.Dead},
	{suffix: ".dlq", place: queue.Dead},
	{suffix: ":dead-letter", place: queue.Dead},
	{suffix: ":dead_letter", place: queue.Dead},
	{suffix: ":dead-letters", place: queue.Dead},
	{suffix: ":dead_letters", place: queue.Dead},
	{suffix: ":deadletter", place: queue.Dead},
	{suffix: "-dead-letter", place: queue.Dead},
	{suffix: "_dead_letter", place: queue.Dead},
	{suffix: ":failed", place: queue.Dead},
	{suffix: "-failed", place: queue.Dead},
	{suffix: "_failed", place: queue.Dead},
	{suffix: ":rejected", place: queue.Dead},
	{suffix: ":poison", place: queue.Dead},

	{suffix: ":ready", place: queue.Ready, weak: true},
	{suffix: ":pending", place: queue.Ready, weak: true},
	{suffix: ":wait", place: queue.Ready, weak: true},
	{suffix: ":waiting", place: queue.Ready, weak: true},

	// What redq and other libraries keep beside a queue and that is none.
	{suffix: ":meta"},
	{suffix: ":stats"},
	{suffix: ":consumers"},
	{suffix: ":completed"}, // a log of what was done, scored by time
}

// Keys that redq writes itself: a consumer's heartbeat, and the snapshot of a purge
// that has not been freed yet.
var ownInfixes = []string{":consumer:", ":redq-purge:"}

// defaultSuffixes are the endings of the keys that queue.Named gives a queue.
var defaultSuffixes = []string{":backup", ":delayed", ":dead"}

// match is what a key's name says about it.
type match struct {
	base     string // the queue's name: the key itself when no rule fits
	place    queue.Place
	rule     int // index into rules; -1 when no rule fits
	weak     bool
	consumer bool // one consumer's own list
	foreign  bool // certainly no part of a queue
}

// matcher finds the rule for a key. The rules are indexed by their last byte,
// since nearly all keys of a server end in something else.
type matcher struct{ byLast [256][]int }

func newMatcher() *matcher {
	m := &matcher{}
	for i, r := range rules {
		last := r.suffix[len(r.suffix)-1]
		m.byLast[last] = append(m.byLast[last], i)
		m.byLast[last-'a'+'A'] = append(m.byLast[last-'a'+'A'], i)
	}
	return m
}

func (m *matcher) match(key string) match {
	for _, infix := range ownInfixes {
		if i := strings.Index(key, infix); i > 0 {
			return match{base: key[:i], rule: -1, foreign: true}
		}
	}
	if base, i := m.bySuffix(key); i >= 0 {
		r := rules[i]
		return match{base: base, place: r.place, rule: i, weak: r.weak, foreign: r.place == ""}
	}
	if base, i := byConsumer(key); i >= 0 {
		return match{base: base, place: queue.Backup, rule: i, consumer: true}
	}
	return match{base: key, rule: -1}
}

func (m *matcher) bySuffix(key string) (base string, index int) {
	index = -1
	if key == "" {
		return "", index
	}
	for _, i := range m.byLast[key[len(key)-1]] {
		s := rules[i].suffix
		if len(key) <= len(s) || !strings.EqualFold(key[len(key)-len(s):], s) {
			continue
		}
		if index >= 0 && len(rules[index].suffix) >= len(s) {
			continue
		}
		if b, ok := baseOf(key[:len(key)-len(s)]); ok {
			base, index = b, i
		}
	}
	return base, index
}

// byConsumer reads BASE:backup:<id>. The last such infix counts, so that a queue
// may have any name.
func byConsumer(key string) (base string, index int) {
	at, index := 0, -1
	for i, r := range rules {
		if !r.perConsumer {
			continue
		}
		j := strings.LastIndex(key, r.suffix+":")
		if j <= at || j+len(r.suffix)+1 == len(key) {
			continue
		}
		if b, ok := baseOf(key[:j]); ok {
			base, at, index = b, j, i
		}
	}
	return base, index
}

// baseOf makes a queue's name of what stands before an ending. Some libraries
// separate with two colons. An ending inside a {hash tag} is none.
func baseOf(s string) (string, bool) {
	s = strings.TrimSuffix(s, ":")
	return s, s != "" && strings.Count(s, "{") == strings.Count(s, "}")
}

// untagged returns T for {T}: a key and its own name as hash tag share a cluster
// slot, so some programs keep the list in T and the rest in {T}:backup.
func untagged(base string) (string, bool) {
	if len(base) > 2 && base[0] == '{' && strings.IndexByte(base, '}') == len(base)-1 {
		return base[1 : len(base)-1], true
	}
	return "", false
}
