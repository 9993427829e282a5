package queue

import (
	"context"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

var scriptObserve = loadScript("observe")

const (
	// observedKeys is how many keys one poll looks into; more take turns.
	observedKeys = 200
	// observedBackups is how many of them may be backups, which come first.
	observedBackups = 150
	// windowEntries is how many entries at the old end of a backup are told apart.
	windowEntries = 100
	// pollEntries is how many all backups of a poll share, and minEntries what each has.
	pollEntries, minEntries = 1000, 8
	// heavyBytes is the payload that an observation may touch on the server in each
	// poll; a key that takes more is looked at less often.
	heavyBytes = 1 << 20
	// lightBytes is the payload up to which a window may be read at once next time.
	lightBytes = 64 << 10
	// unpolledMemory is how long a key is remembered that is polled no more.
	unpolledMemory = 10 * time.Minute
	// maxRest is how many polls such a key rests at most.
	maxRest = 30
)

// watch is what a sampler remembers of one key.
type watch struct {
	polled time.Time // when its length was last asked for
	at     time.Time // when it was last looked into; zero: never
	since  time.Time // from when on nothing can have been missed
	rest   int       // polls to wait until it is looked into again
	light  bool      // its messages were small then
	failed bool      // its length could not be read: one denied key would fail a script for all

	ttl    time.Duration // at that time; 0 none
	lowest Score         // sorted set: the lowest score that is a time
	next   Score         // sorted set: the first one after then
	whole  bool          // list: every entry was in the window
	seen   sightings     // list
}

// look is one key to be looked into by a poll.
type look struct {
	key     string
	place   Place
	queue   *Queue
	watch   *watch
	entries int        // of a list, how many to tell apart
	ttl     *redis.Cmd // PTTL, where scripts are denied
}

// args are the key's four arguments of the script.
func (l *look) args(now time.Time) []any {
	if l.place == Delayed {
		from, until := l.queue.Unit.Range()
		return []any{"zset", string(ScoreOf(from)), string(exactScore(l.queue.Unit, now)), string(ScoreOf(until))}
	}
	atOnce := 1
	if l.watch.light {
		atOnce = l.entries
	}
	return []any{string(oldestEnd(*l.queue, l.place)), l.entries, atOnce, ""}
}

// chooseLooks picks the keys whose turn it is: backups first, then what was not
// looked into for longest.
func chooseLooks(keys []*keyRead) []*look {
	var backups, others []*look
	for _, k := range keys {
		if k.watch.failed {
			continue
		}
		if k.watch.rest > 0 {
			k.watch.rest--
			continue
		}
		l := &look{key: k.key, place: k.place, queue: k.queue, watch: k.watch}
		switch k.place {
		case Backup:
			backups = append(backups, l)
		case Ready:
			l.entries = 1
			others = append(others, l)
		default:
			others = append(others, l)
		}
	}
	backups = longestUnseen(backups, observedBackups)
	for _, l := range backups {
		l.entries = min(windowEntries, max(minEntries, pollEntries/len(backups)))
	}
	return append(backups, longestUnseen(others, observedKeys-len(backups))...)
}

func longestUnseen(looks []*look, n int) []*look {
	if len(looks) <= n {
		return looks
	}
	slices.SortStableFunc(looks, func(a, b *look) int { return a.watch.at.Compare(b.watch.at) })
	return looks[:n]
}

// observation is one call of the script in a poll's pipeline.
type observation struct {
	looks []*look
	args  []any
	cmd   *redis.Cmd
}

func (o *observation) keys() []string {
	keys := make([]string, len(o.looks))
	for i, l := range o.looks {
		keys[i] = l.key
	}
	return keys
}

// queueLooks adds the looks to a pipeline: one call of the script for all, on a
// cluster one a key, or the time to live alone where scripts are denied.
func (c *Client) queueLooks(ctx context.Context, pipe redis.Pipeliner, looks []*look, now time.Time) []*observation {
	if len(looks) == 0 {
		return nil
	}
	if c.lacks.scripts.Load() {
		for _, l := range looks {
			l.ttl = pipe.Do(ctx, "PTTL", l.key)
		}
		return nil
	}
	size := len(looks)
	if c.isCluster() {
		size = 1
	}
	var all []*observation
	for some := range slices.Chunk(looks, size) {
		o := &observation{looks: some}
		for _, l := range some {
			o.args = append(o.args, l.args(now)...)
		}
		o.cmd = queueScript(ctx, pipe, scriptObserve, o.keys(), o.args...)
		all = append(all, o)
	}
	return all
}

// askAgain repeats the calls that found the script missing, the first with its text.
func (c *Client) askAgain(ctx context.Context, all []*observation) (commands int) {
	pipe := c.read.Pipeline()
	for _, o := range all {
		if !isNoScript(o.cmd.Err()) {
			continue
		}
		if pipe.Len() == 0 || c.isCluster() { // on a cluster each may be for another node
			o.cmd = pipe.Eval(ctx, scriptObserve.src, o.keys(), o.args...)
		} else {
			o.cmd = queueScript(ctx, pipe, scriptObserve, o.keys(), o.args...)
		}
	}
	if commands = pipe.Len(); commands > 0 {
		_, _ = pipe.Exec(ctx) // each command has its own error
	}
	return commands
}

// read takes the answers into the watches. What could not be had stays as it was.
func (o *observation) read(now time.Time) {
	answers, err := o.cmd.Slice()
	if err != nil {
		return
	}
	for i, l := range o.looks {
		if i >= len(answers) {
			return
		}
		answer, _ := answers[i].([]any)
		cl := call{reply: answer}
		if len(answer) < 3 {
			continue // the wrong type: its length said so
		}
		l.watch.look(l, &cl, now)
	}
}

// look takes in one key's answer.
func (w *watch) look(l *look, answer *call, now time.Time) {
	w.ttl = time.Duration(max(0, answer.num(0))) * time.Millisecond
	w.rest = int(min(maxRest, answer.num(2)/heavyBytes))
	w.light = answer.num(2) <= lightBytes
	if l.place == Delayed {
		w.at = now
		w.lowest, w.next = Score(answer.str(3)), Score(answer.str(4))
		return
	}
	prints := make([]fingerprint, 0, len(answer.reply)-3)
	for i := 3; i < len(answer.reply); i++ {
		prints = append(prints, fingerprint(answer.str(i)))
	}
	w.window(prints, int64(len(prints)) == answer.num(1), now, l.queue.Stuck())
}

// window takes in the old end of a list. After a gap as long as the threshold,
// messages may have come and grown old unseen.
func (w *watch) window(prints []fingerprint, whole bool, now time.Time, stuck time.Duration) {
	if w.at.IsZero() || now.Sub(w.at) >= stuck {
		w.since = now
	}
	w.at, w.whole = now, whole
	w.seen.window(prints, whole, now)
}

// ttlAt is the time to live that is left; 0 when there is none.
func (w *watch) ttlAt(now time.Time) time.Duration {
	if w.ttl == 0 {
		return 0
	}
	return max(time.Millisecond, w.ttl-now.Sub(w.at))
}

// stuckCount tells how many entries of a backup of n are stuck.
func (w *watch) stuckCount(n int64, stuck time.Duration, blind bool) Count {
	switch {
	case n == 0:
		return Count{State: Known}
	case blind:
		return Count{State: Unreadable}
	case w.at.IsZero():
		return Count{State: AtLeast}
	}
	many, _ := w.seen.stuck(stuck, w.at)
	if w.whole && w.at.Sub(w.since) >= stuck {
		return Count{N: many, State: Known}
	}
	return Count{N: many, State: AtLeast}
}

// Age returns how long m has been seen in its list at least (by the pages and
// polls of this sampler); 0 when it was not seen before. Of several messages with
// equal bytes it is the age of the one seen last.
func (s *Sampler) Age(m Message) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.watches[m.Key]
	if w == nil {
		return 0
	}
	return w.seen.age(fingerprintOf(m), s.clock())
}

// Observe tells the sampler of a page that was read, so that Age knows its messages.
func (s *Sampler) Observe(p Page) {
	if p.Place == Delayed {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	byKey := map[string][]Message{}
	for _, m := range p.Messages {
		byKey[m.Key] = append(byKey[m.Key], m)
	}
	for key, ms := range byKey {
		prints := make([]fingerprint, len(ms))
		for i, m := range ms {
			prints[i] = fingerprintOf(m)
		}
		whole := int64(len(ms)) == ms[0].Len
		s.watchOf(key).seen.page(prints, whole, now)
	}
}
