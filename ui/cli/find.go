package cli

import (
	"fmt"
	"slices"
	"strings"

	"redq/queue"
)

// pick returns the queue with the name.
func pick(qs []queue.Queue, name string) (queue.Queue, error) {
	var escaped []queue.Queue
	for _, q := range qs {
		if q.Name == name {
			return q, nil
		}
		if line(q.Name) == name {
			escaped = append(escaped, q)
		}
	}
	switch len(escaped) {
	case 1:
		return escaped[0], nil
	case 0:
		return queue.Queue{}, &unknownQueueError{name, near(qs, name)}
	}
	return queue.Queue{}, failf("%d queues are printed as %s: name the one that is meant by its bytes", len(escaped), name)
}

// unknownQueueError is returned when no queue has the name.
type unknownQueueError struct {
	name string
	near []string // names that look like it, safe to print
}

func (e *unknownQueueError) Error() string {
	text := fmt.Sprintf("there is no queue %s", line(e.name))
	switch len(e.near) {
	case 0:
		return text + " (redq ls lists them)"
	case 1:
		return text + ": did you mean " + e.near[0] + "?"
	}
	last := len(e.near) - 1
	return text + ": did you mean " + strings.Join(e.near[:last], ", ") + " or " + e.near[last] + "?"
}

// nearNames is how many names are offered for one that is unknown.
const nearNames = 3

// near returns the names that are most like name, nearest first.
func near(qs []queue.Queue, name string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	wanted := strings.ToLower(name)
	for _, q := range qs {
		shown := line(q.Name)
		have := strings.ToLower(shown)
		d := distance(have, wanted)
		within := strings.Contains(have, wanted) || strings.Contains(wanted, have)
		if within || d <= max(1, len(wanted)/3) {
			found = append(found, candidate{shown, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.distance - b.distance })
	var names []string
	for _, f := range found[:min(len(found), nearNames)] {
		names = append(names, f.name)
	}
	return names
}

// distance is how many letters must be changed, added or taken to make b of a.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range to {
			cost := 1
			if x == y {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}

// missing says that a queue has no key for a place, and where it has some.
func missing(q queue.Queue, p queue.Place) string {
	var has []string
	for _, other := range queue.Places() {
		if q.Has(other) {
			has = append(has, string(other))
		}
	}
	return fmt.Sprintf("%s has no %s, only %s", line(q.Name), p, strings.Join(has, ", "))
}

// mayHave reports whether a place that q has no key for may only be empty: Redis
// keeps no empty key, so the scan cannot tell.
func mayHave(q queue.Queue, p queue.Place) bool {
	return q.Guessed&queue.GuessedKeys != 0 && !q.Has(p)
}
