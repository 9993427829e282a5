package layout

import (
	"cmp"
	"slices"

	"redq/queue"
)

// keepKnown adds to the queues found what was known of them before and is not
// there at the moment, since a key that is empty does not exist. A key that is
// part of another queue now has moved there.
func keepKnown(known, found []queue.Queue) []queue.Queue {
	if len(known) == 0 {
		return found
	}
	was := owners(known)
	found = slices.DeleteFunc(found, func(q queue.Queue) bool {
		return q.Guessed&queue.GuessedKeys != 0 && !q.Pinned && isPartOf(q, was)
	})
	is := owners(found)
	at := make(map[string]int, len(found))
	for i, q := range found {
		at[q.Name] = i
	}
	for _, k := range known {
		i, there := at[k.Name]
		switch {
		case !there:
			k = without(k, is)
			if k.Validate() == nil {
				found = append(found, k)
			}
		case found[i].Guessed&queue.GuessedKeys != 0:
			found[i] = joined(found[i], k, is)
		}
	}
	slices.SortFunc(found, func(a, b queue.Queue) int { return cmp.Compare(a.Name, b.Name) })
	return found
}

// owners returns the name of the queue each key belongs to.
func owners(qs []queue.Queue) map[string]string {
	m := map[string]string{}
	for _, q := range qs {
		for _, p := range queue.Places() {
			for _, k := range q.Keys(p) {
				m[k] = q.Name
			}
		}
	}
	return m
}

// isPartOf reports whether all keys of q belong to one queue of another name.
func isPartOf(q queue.Queue, owner map[string]string) bool {
	name := ""
	for _, p := range queue.Places() {
		for _, k := range q.Keys(p) {
			o := owner[k]
			if o == "" || o == q.Name || name != "" && o != name {
				return false
			}
			name = o
		}
	}
	return true
}

// without returns k without the keys that belong to a queue by now.
func without(k queue.Queue, owner map[string]string) queue.Queue {
	left := k
	left.Ready, left.Backups, left.Delayed, left.Dead = "", nil, "", ""
	for _, p := range queue.Places() {
		for _, key := range k.Keys(p) {
			if owner[key] == "" {
				add(&left, p, key)
			}
		}
	}
	return left
}

// keptEmpty bounds how many backup lists of a queue are kept that are not there at
// the moment: consumers come under new names for ever, and each left one list. One
// that fills again is found again.
const keptEmpty = 64

// joined returns the found queue with the keys that only the known one has.
func joined(q, k queue.Queue, owner map[string]string) queue.Queue {
	gone := without(k, owner)
	gone.Backups = gone.Backups[:min(len(gone.Backups), keptEmpty)]
	if !hasKeys(gone) {
		return q
	}
	q.Backups = slices.Clone(q.Backups)
	for _, p := range queue.Places() {
		for _, key := range gone.Keys(p) {
			if add(&q, p, key) && p == queue.Delayed {
				q.Unit = k.Unit
				q.Guessed |= k.Guessed & queue.GuessedUnit
			}
		}
	}
	slices.Sort(q.Backups)
	// The pattern was guessed when all the keys were there.
	q.Pattern = k.Pattern
	q.Guessed = q.Guessed&^queue.GuessedPattern | k.Guessed&queue.GuessedPattern
	return q
}
