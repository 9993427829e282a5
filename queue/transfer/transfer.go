// Package transfer writes the messages of a queue to a file and brings them back, byte for
// byte. It knows the file's lines, and reads and writes Redis only through package queue.
//
// # The file
//
// A file is JSON lines: one object a line, in UTF-8, each a message as redq peek --json shows it.
// Within a key the oldest message comes first, that is, the one that is consumed first;
// of a sorted set the one with the lowest score. The fields:
//
//	queue         the queue's name
//	place         ready, backup, delayed or dead
//	key           the Redis key
//	index         lists: the position from the head when it was read
//	push          ready: the end that producers push to, left or right
//	score         delayed: the score with every digit the server prints, as a number,
//	              or as a string where JSON has no such number (inf)
//	due           delayed: the score as a time (RFC 3339), null when it is none
//	size          the payload's bytes
//	attempts      how often it has failed, where that is known; then also
//	first_failed  when for the first time (RFC 3339), and
//	reason        the last error's text
//	payload       the payload, when it is valid UTF-8, else
//	payload_b64   the payload in base64
//
// Bytes of queue, key and reason that are no valid UTF-8 are in queue_b64, key_b64 and reason_b64,
// beside a form for people. A reader needs place, a payload, and of delayed the score. It
// skips fields that it does not know and empty lines, and refuses what it cannot take exactly: half surrogate
// pairs, bytes that are no UTF-8, a size that is not the payload's, a field that is there twice. Later versions of redq
// add fields, and change the meaning of none. The lines of redq peek --json can be read too; but peek begins a
// list at its head, where as a rule the newest message lies, and they come back in the opposite order.
//
// # While others work on the queue
//
// An export reads key after key (ready, backup, delayed, dead), each in steps. What lies still
// is in the file once, and in its order. A message that moves from one key to another meanwhile
// can be there twice, or not at all; one that arrives or leaves meanwhile may be there or not. For
// a file that is exact the queue must rest.
//
// An import adds messages where producers and consumers would: behind those that wait in ready, at the
// head of backup and dead. Consumers may take them at once.
package transfer

import (
	"fmt"
	"strings"

	"redq/queue"
)

// Counts are messages by place.
type Counts map[queue.Place]int64

// Sum is how many they are in all.
func (c Counts) Sum() (n int64) {
	for _, m := range c {
		n += m
	}
	return n
}

// String names the places that have any: "ready 400, delayed 12".
func (c Counts) String() string {
	var each []string
	for _, p := range queue.Places() {
		if c[p] > 0 {
			each = append(each, fmt.Sprintf("%s %d", p, c[p]))
		}
	}
	return strings.Join(each, ", ")
}
