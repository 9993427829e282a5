package queue

import "strings"

// The keys beside a queue's places are all named after one, so that a hash tag in it
// keeps them in the same cluster slot.

// base is what the names of all others begin with: the ready list's key, or, in a
// queue whose ready list is empty and so unknown, the name that its other keys begin with.
func (q Queue) base() string {
	if q.Ready != "" {
		return q.Ready
	}
	first := q.Name
	for _, p := range []Place{Delayed, Dead, Backup} {
		if keys := q.Keys(p); len(keys) > 0 {
			first = keys[0]
			break
		}
	}
	for _, name := range []string{q.Name, "{" + q.Name + "}"} {
		if strings.HasPrefix(first, name) {
			return name
		}
	}
	return first
}

// MetaKey returns the key of the hash of failed messages: the hexadecimal SHA-1 of the
// payload to "ATTEMPTS FIRST REASON", where ATTEMPTS is how many have failed, FIRST when the
// first one did (milliseconds since 1970, the server's clock), and REASON the last error's text, which
// may hold spaces. Messages with equal bytes share an entry. It expires when nothing has failed for a week.
func (q Queue) MetaKey() string {
	if q.Meta != "" {
		return q.Meta
	}
	return q.base() + ":meta"
}

// StatsKey returns the key of the hash of counters: enqueued, acked, failed, retried,
// dead, recovered.
func (q Queue) StatsKey() string {
	if q.Stats != "" {
		return q.Stats
	}
	return q.base() + ":stats"
}

// ConsumersKey returns the key of the hash that lists the queue's consumers, so that
// nobody has to scan for them: id to a JSON object with host, pid, pattern, concurrency, started (milliseconds)
// and backup (the key of its own list). An entry is removed by a clean stop, or by who recovers the backup list.
func (q Queue) ConsumersKey() string { return q.base() + ":consumers" }

// ConsumerKey returns the key of a consumer's heartbeat: a hash that expires when the
// consumer has not renewed it for three intervals. It has beat (milliseconds, the server's clock), interval (milliseconds) and
// the counters taken, done, failed, retried, deferred, dead and in_hand.
func (q Queue) ConsumerKey(id string) string { return q.base() + ":consumer:" + id }

// stampsKey is the key of a hash in which a consumer's steps leave their numbers: lane to
// the last step that has acknowledged something, and, below zero, the last settling in that place. Whose
// answer is lost finds out there whether it arrived. It expires a day after its last new field.
func (q Queue) stampsKey(id string) string { return q.ConsumerKey(id) + ":stamps" }

// BackupKey returns the key of a consumer's own backup list.
func (q Queue) BackupKey(id string) string { return q.base() + ":backup:" + id }

// WakeChannel returns the channel on which a step that makes a message the earliest of
// the delayed ones publishes its score, so that consumers need not poll. "" without a delayed place.
func (q Queue) WakeChannel() string {
	if q.Delayed == "" {
		return ""
	}
	return q.Delayed + ":wake"
}
