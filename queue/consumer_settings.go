package queue

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// settings is a consumer's configuration with every default filled in.
type settings struct {
	client      *Client
	queue       Queue
	pattern     Pattern
	handler     Handler
	id          string
	concurrency int
	batch       int
	timeLimit   time.Duration // 0: none
	retry       Retry
	idle        Idle
	lock        *Lock
	heartbeat   time.Duration
	untilEmpty  bool
	most        int64
	events      func(Event)

	backup  string // where messages in hand lie; "" in a pattern without a backup list
	own     bool   // the backup list is this consumer's alone
	from    Place  // as handlers see it: backup, or where the message was before it was taken
	fromKey string
}

// mostBatch is below what Lua's unpack and a moment of the server can bear.
const mostBatch = 1000

// settings fills in the defaults and checks the whole.
func (c *Consumer) settings() (settings, error) {
	s := settings{
		client: c.Client, queue: c.Queue, handler: c.Handler,
		pattern:     cmp.Or(c.Pattern, c.Queue.Pattern, Pipeline),
		id:          c.ID,
		concurrency: cmp.Or(c.Concurrency, 10),
		timeLimit:   max(0, cmp.Or(c.TimeLimit, 10*time.Minute)),
		heartbeat:   cmp.Or(c.Heartbeat, 10*time.Second),
		untilEmpty:  c.StopWhenEmpty, most: c.Max, events: c.Events,
		retry: c.Retry, idle: c.Idle,
	}
	if s.id == "" {
		s.id = newConsumerID()
	}
	traits, ok := patternTraits[s.pattern]
	switch {
	case c.Client == nil:
		return s, errors.New("a consumer needs a client")
	case c.Handler == nil:
		return s, errors.New("a consumer needs a handler")
	case !ok:
		return s, fmt.Errorf("%q is not a pattern", s.pattern)
	case s.concurrency < 0 || s.concurrency > 10_000:
		return s, fmt.Errorf("a concurrency of %d is out of range: 1 to 10000", s.concurrency)
	case c.Batch < 0 || c.Batch > mostBatch:
		return s, fmt.Errorf("a batch of %d is out of range: 1 to %d", c.Batch, mostBatch)
	case c.Max < 0:
		return s, errors.New("the number of messages to take cannot be negative")
	case s.heartbeat < 50*time.Millisecond:
		return s, errors.New("a heartbeat needs an interval of 50 ms at least")
	case strings.ContainsAny(s.id, "{} \r\n\t"):
		return s, errors.New("a consumer's id must not hold braces or blanks")
	}
	if err := c.Queue.Validate(); err != nil {
		return s, err
	}
	s.batch = cmp.Or(c.Batch, traits.batch)
	s.idle.Sleep = cmp.Or(s.idle.Sleep, traits.sleep)
	s.idle.Spin = cmp.Or(s.idle.Spin, traits.spin)
	s.retry.Limit = cmp.Or(s.retry.Limit, traits.attempts)
	s.retry.Base = cmp.Or(s.retry.Base, time.Second)
	s.retry.Max = cmp.Or(s.retry.Max, max(10*time.Minute, s.retry.Base))
	s.retry.Jitter = cmp.Or(s.retry.Jitter, 0.2)
	if s.retry.Limit < 0 || s.retry.Base < 0 || s.retry.Max < s.retry.Base || s.retry.Jitter > 1 {
		return s, errors.New("retries: the limit and the waits cannot be negative, the longest wait not below the first, the jitter not above 1")
	}
	if err := s.place(); err != nil {
		return s, err
	}
	if c.Lock != nil || s.pattern == LockRetry {
		lock, err := c.Lock.withDefaults(s.queue)
		if err != nil {
			return s, err
		}
		s.lock = &lock
	}
	return s, nil
}

// place says where messages in hand lie, and refuses a queue that lacks what the pattern takes from.
func (s *settings) place() error {
	from := patternTraits[s.pattern].from
	if s.pattern == LockRetry && s.queue.Ready == "" {
		from = Delayed
	}
	if !s.queue.Has(from) {
		return fmt.Errorf("pattern %s takes from %s, and queue %q has no such place", s.pattern, from, s.queue.Name)
	}
	switch {
	case s.pattern == BackupList:
		if len(s.queue.Backups) == 0 {
			return fmt.Errorf("pattern %s needs a backup list, and queue %q has none", s.pattern, s.queue.Name)
		}
		s.backup = s.queue.Backups[0]
	case s.pattern == Pipeline, s.pattern == LockRetry && from == Ready:
		s.backup, s.own = s.queue.BackupKey(s.id), true
	}
	if s.from, s.fromKey = from, s.backup; s.backup != "" {
		s.from = Backup
	} else {
		s.fromKey = s.queue.Keys(from)[0]
	}
	keys := []string{s.queue.base(), s.queue.MetaKey(), s.queue.ConsumersKey()}
	for _, p := range []Place{Ready, Delayed, Dead} {
		keys = append(keys, s.queue.Keys(p)...)
	}
	if s.backup != "" {
		keys = append(keys, s.backup)
	}
	return s.client.oneSlot(keys...)
}

// traits are what a pattern does unless told otherwise.
type traits struct {
	from     Place
	batch    int
	sleep    time.Duration
	spin     int
	attempts int
}

var patternTraits = map[Pattern]traits{
	ListPoll:   {Ready, 1, time.Second, 1, 1},
	ListBlock:  {Ready, 1, 0, 1, 1},
	ZsetRace:   {Delayed, 1, 500 * time.Millisecond, 1, 1},
	ZsetScript: {Delayed, 100, 0, 1, 1},
	LockRetry:  {Ready, 1, 0, 1, 5},
	Dispatch:   {Delayed, 1, time.Second, 512, 5},
	BackupList: {Ready, 1, 0, 1, 1},
	Pipeline:   {Ready, 200, 0, 1, 5},
}

// Patterns returns all patterns, P1 to P8.
func Patterns() []Pattern {
	return []Pattern{ListPoll, ListBlock, ZsetRace, ZsetScript, LockRetry, Dispatch, BackupList, Pipeline}
}

// ParsePattern reads P1 to P8 or a pattern's name.
func ParsePattern(s string) (Pattern, error) {
	for i, p := range Patterns() {
		if strings.EqualFold(s, string(p)) || strings.EqualFold(s, fmt.Sprintf("P%d", i+1)) {
			return p, nil
		}
	}
	return "", fmt.Errorf("%q is not a pattern: expected P1 to P8, or list-poll, list-block, zset-race, zset-script, lock, dispatch, backup-list, pipeline", s)
}

// AtLeastOnce reports whether the pattern handles every message at least once: it keeps
// messages in a backup list while they are in hand. The others handle each at most once: what
// is in hand when the process is killed, or lost on the way with a cut connection, is gone.
// LockRetry does so where the queue has a ready list.
func (p Pattern) AtLeastOnce() bool { return p == BackupList || p == Pipeline || p == LockRetry }

// newConsumerID names this process and tells its consumers apart.
func newConsumerID() string {
	host, err := os.Hostname()
	if err != nil || strings.ContainsAny(host, "{} \r\n\t") {
		host = "host"
	}
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), strings.ToLower(rand.Text()[:6]))
}
