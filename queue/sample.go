package queue

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// CountState says how far a Count can be believed.
type CountState uint8

// The states of a count.
const (
	Absent     CountState = iota // the queue has no such place, or it does not apply
	Known                        // N is the number
	AtLeast                      // N is a lower bound
	Unreadable                   // the server would not say: see Sample.Err
)

// Count is a number that may be missing. It is never 0 for want of an answer.
type Count struct {
	N     int64
	State CountState
}

// OK reports whether N holds a number.
func (c Count) OK() bool { return c.State == Known || c.State == AtLeast }

// KeySample is one key of a queue as it was polled.
type KeySample struct {
	Key   string
	Place Place
	Len   int64
	TTL   time.Duration // 0: none, or not known yet
	Err   error         // ErrWrongType, a RefusedError …; nil when Len is good
}

// Sample is one queue as it was polled.
type Sample struct {
	Queue   string
	Ready   Count
	Backup  Count
	Delayed Count
	Due     Count // delayed with due time <= the server's now
	Dead    Count
	// Stuck is how many have been in backup for at least Queue.Stuck(), as far as was seen
	// (AtLeast until proven), or lie in the own list of a consumer that is gone.
	Stuck Count

	// Consumers is how many consumers say that they are alive, and Gone how many stopped
	// without a word: their heartbeat is gone and their backup waits to be recovered. Only consumers
	// of this library say so (see Queue.ConsumersKey): both are Absent until one was met, AtLeast until
	// every heartbeat was asked for. Known and 0 means that all have stopped.
	Consumers, Gone Count

	// Oldest is how long the oldest message in backup or ready has been seen
	// there at least; 0 when nothing is known. OldestPlace tells where.
	Oldest      time.Duration
	OldestPlace Place
	// NextDue is the first due time after now; zero when there is none or it is no time.
	NextDue time.Time
	// Overdue is how far the longest overdue message is past its time; 0 when none.
	Overdue time.Duration

	Keys []KeySample
	Err  error // the first of the keys' errors
}

// Poll is one answer of a Sampler.
type Poll struct {
	Now      time.Time     // the server's clock
	Took     time.Duration // from request to answer, on the client's clock
	Commands int           // commands sent, all in one pipeline
	Samples  []Sample      // in the order of the queues asked for
}

// Sampler polls queues again and again and remembers what it saw, so that it can
// tell how long a message has been lying in a list that has no times. It tells
// large payloads apart by their size, head and tail.
// It is safe for concurrent use; polls run one after the other.
type Sampler struct {
	c     *Client
	clock func() time.Time // the client's, monotonic: ages do not jump with it

	polling sync.Mutex // one poll at a time
	offset  time.Duration
	learnt  bool // offset is known

	mu      sync.Mutex // guards watches and crews
	watches map[string]*watch
	crews   map[string]*crew // by the key of the list of consumers
}

// NewSampler returns a sampler that has seen nothing yet.
func (c *Client) NewSampler() *Sampler {
	return &Sampler{c: c, clock: time.Now, watches: map[string]*watch{}, crews: map[string]*crew{}}
}

// keyRead is one key of a queue in a poll.
type keyRead struct {
	key    string
	place  Place
	queue  *Queue
	watch  *watch
	length *redis.IntCmd
	due    *redis.IntCmd // delayed only
}

// Sample reads all queues in one pipeline of constant and logarithmic commands.
// One failing key gives one failing sample; an error is returned only when
// nothing at all could be read. Keys beyond the first 200 are looked into (for
// time to live, ages, next due times) in turns, and so are queues beyond the first
// 50 asked for their consumers.
func (s *Sampler) Sample(ctx context.Context, qs []Queue) (Poll, error) {
	s.polling.Lock()
	defer s.polling.Unlock()
	if err := s.learnClock(ctx); err != nil {
		return Poll{}, err
	}
	start := s.clock()
	now := start.Add(s.offset)
	pipe := s.c.read.Pipeline()
	timed := pipe.Time(ctx)
	keys := s.queueLengths(ctx, pipe, qs, now)
	looks := s.choose(keys)
	observations := s.c.queueLooks(ctx, pipe, looks, now)
	crews, rolls := s.callRoll(qs)
	queueRolls(ctx, pipe, rolls)
	commands := pipe.Len()
	_, err := pipe.Exec(ctx)
	if err := s.nothingRead(keys, err); err != nil {
		return Poll{}, err
	}
	if timed.Err() == nil {
		now = timed.Val()
		s.offset = now.Sub(start.Add(s.clock().Sub(start) / 2))
	}
	commands += s.c.askAgain(ctx, observations)
	poll := Poll{Now: now, Took: s.clock().Sub(start), Commands: commands}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takeIn(observations, looks)
	for _, r := range rolls {
		r.read(now, s.clock())
	}
	poll.Samples = s.samples(qs, crews, keys, poll.Now)
	return poll, nil
}

// learnClock asks for the server's time once: what is due is counted by it.
// Where it is denied the client's stands in.
func (s *Sampler) learnClock(ctx context.Context) error {
	if s.learnt {
		return nil
	}
	start := s.clock()
	now, err := s.c.read.Time(ctx).Result()
	switch {
	case err == nil:
		s.offset = now.Sub(start.Add(s.clock().Sub(start) / 2))
	case !isReply(err):
		return err
	}
	s.learnt = true
	return nil
}

// queueLengths adds the lengths of all keys to the pipeline, and how many are due.
func (s *Sampler) queueLengths(ctx context.Context, pipe redis.Pipeliner, qs []Queue, now time.Time) []*keyRead {
	var keys []*keyRead
	for i := range qs {
		q := &qs[i]
		for _, place := range Places() {
			for _, key := range q.Keys(place) {
				k := &keyRead{key: key, place: place, queue: q}
				if place == Delayed {
					from, _ := q.Unit.Range()
					k.length = pipe.ZCard(ctx, key)
					k.due = pipe.ZCount(ctx, key, string(ScoreOf(from)), string(exactScore(q.Unit, now)))
				} else {
					k.length = pipe.LLen(ctx, key)
				}
				keys = append(keys, k)
			}
		}
	}
	return keys
}

// choose gives every key its watch, forgets keys that are polled no more, and
// picks the keys to look into.
func (s *Sampler) choose(keys []*keyRead) []*look {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	for _, k := range keys {
		k.watch = s.watchOf(k.key)
		k.watch.polled = now
	}
	maps.DeleteFunc(s.watches, func(_ string, w *watch) bool { return now.Sub(w.polled) > unpolledMemory })
	return chooseLooks(keys)
}

// watchOf returns the watch of a key, a new one at first.
func (s *Sampler) watchOf(key string) *watch {
	w := s.watches[key]
	if w == nil {
		w = &watch{polled: s.clock()}
		s.watches[key] = w
	}
	return w
}

// nothingRead returns why no key could be read, nil when any could, or was refused
// for a reason of its own. err is the pipeline's.
func (s *Sampler) nothingRead(keys []*keyRead, err error) error {
	if err == nil || len(keys) == 0 && isReply(err) {
		return nil
	}
	var first error
	for _, k := range keys {
		err := s.c.readError(k.length.Err())
		if !concernsAll(err) {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		return err
	}
	return first
}

// concernsAll reports whether err says something of the server or the connection
// rather than of one key.
func concernsAll(err error) bool {
	if err == nil || errors.Is(err, ErrWrongType) {
		return false
	}
	var refused *RefusedError
	if !errors.As(err, &refused) {
		return true
	}
	switch refused.Code {
	case "LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "NOAUTH":
		return true
	}
	return false
}

// takeIn reads the answers of the keys that were looked into.
func (s *Sampler) takeIn(observations []*observation, looks []*look) {
	now := s.clock()
	for _, o := range observations {
		if errors.Is(s.c.readError(o.cmd.Err()), ErrNoScripts) {
			s.c.lacks.scripts.Store(true)
		}
		o.read(now)
	}
	for _, l := range looks {
		if l.ttl == nil {
			continue
		}
		l.watch.at = now
		if ms, err := l.ttl.Int64(); err == nil {
			l.watch.ttl = time.Duration(max(0, ms)) * time.Millisecond
		}
	}
}

// samples puts the queues' samples together. keys are in the order of the queues.
func (s *Sampler) samples(qs []Queue, crews []*crew, keys []*keyRead, now time.Time) []Sample {
	samples := make([]Sample, len(qs))
	for i := range qs {
		n := 0
		for n < len(keys) && keys[n].queue == &qs[i] {
			n++
		}
		samples[i] = s.sample(qs[i], crews[i], keys[:n], now)
		keys = keys[n:]
	}
	return samples
}

func (s *Sampler) sample(q Queue, cr *crew, keys []*keyRead, now time.Time) Sample {
	sample := Sample{Queue: q.Name, Keys: make([]KeySample, 0, len(keys))}
	sample.Consumers, sample.Gone = cr.count()
	for _, k := range keys {
		read := KeySample{Key: k.key, Place: k.place, TTL: k.watch.ttlAt(s.clock()), Err: s.c.readError(k.length.Err())}
		length := Count{State: Unreadable}
		if read.Err == nil {
			read.Len = k.length.Val()
			length = Count{N: read.Len, State: Known}
		} else if sample.Err == nil {
			sample.Err = read.Err
		}
		k.watch.failed = read.Err != nil
		sample.Keys = append(sample.Keys, read)
		switch k.place {
		case Ready:
			sample.Ready = length
			sample.addAge(k, length)
		case Backup:
			sample.Backup = sample.Backup.add(length)
			sample.addAge(k, length)
			if cr.deserted(q, k.key) {
				sample.Stuck = sample.Stuck.add(length)
			} else {
				sample.Stuck = sample.Stuck.add(k.stuck(length, s.c.lacks.scripts.Load()))
			}
		case Delayed:
			sample.Delayed = length
			sample.addDue(k, s.c.readError(k.due.Err()), now)
		case Dead:
			sample.Dead = length
		}
	}
	return sample
}

// stuck tells how many messages of a backup are stuck. blind: nothing can be seen
// but its length.
func (k *keyRead) stuck(length Count, blind bool) Count {
	if !length.OK() {
		return length
	}
	return k.watch.stuckCount(length.N, k.queue.Stuck(), blind)
}

// addAge takes the age of a list's oldest message into account.
func (sample *Sample) addAge(k *keyRead, length Count) {
	if length.N == 0 {
		return
	}
	if _, age := k.watch.seen.stuck(k.queue.Stuck(), k.watch.at); age > sample.Oldest {
		sample.Oldest, sample.OldestPlace = age, k.place
	}
}

// addDue fills what concerns due times.
func (sample *Sample) addDue(k *keyRead, err error, now time.Time) {
	if err != nil {
		sample.Due = Count{State: Unreadable}
		if sample.Err == nil {
			sample.Err = err
		}
		return
	}
	sample.Due = Count{N: k.due.Val(), State: Known}
	if next, ok := k.queue.Unit.Time(k.watch.next); ok && next.After(now) {
		sample.NextDue = next
	}
	if lowest, ok := k.queue.Unit.Time(k.watch.lowest); ok && sample.Due.N > 0 {
		sample.Overdue = max(0, now.Sub(lowest))
	}
}

// add sums two counts, of which each may be missing.
func (c Count) add(o Count) Count {
	switch {
	case c.State == Absent:
		return o
	case o.State == Absent:
		return c
	case c.State == Unreadable && o.State == Unreadable:
		return o
	case c.State == Known && o.State == Known:
		return Count{N: c.N + o.N, State: Known}
	}
	return Count{N: c.N + o.N, State: AtLeast}
}
