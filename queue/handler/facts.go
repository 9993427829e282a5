package handler

import (
	"strconv"

	"redq/queue"
)

// maxFact bounds a value of an environment or a header. A Redis key can be 512 MB long,
// and a command that is given more than 128 KiB in one variable does not start.
const maxFact = 4 << 10

// fact is one thing a handler outside the program is told beside the payload.
type fact struct{ name, value string }

// facts are what is known of m. queueName is left out when it is empty.
func facts(queueName string, m queue.Message) []fact {
	all := []fact{
		{"queue", queueName},
		{"place", string(m.Place)},
		{"key", m.Key},
		{"attempt", strconv.Itoa(attempt(m))},
	}
	told := all[:0]
	for _, f := range all {
		if f.value != "" && len(f.value) <= maxFact {
			told = append(told, f)
		}
	}
	return told
}

// attempt is which attempt at m this is, from 1.
func attempt(m queue.Message) int { return m.Attempts + 1 }
