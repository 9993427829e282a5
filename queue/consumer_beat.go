package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// beats says at every interval that the consumer lives. What is to be looked after then has
// a goroutine of its own: it may have to wait for the server, and the heartbeat must not.
func (e *engine) beats(ctx context.Context) {
	checks := make(chan checkup, 1)
	var checking sync.WaitGroup
	checking.Go(func() { e.checks(ctx, checks) })
	defer checking.Wait()
	defer close(checks)

	run := streak{last: e.clock.now()} // begin has made the first
	for next := (checkup{known: true}); ; {
		e.pause(ctx, e.heartbeat)
		if ctx.Err() != nil {
			return
		}
		known, err := e.beat(ctx)
		if ctx.Err() != nil {
			return // the end of the run has cut it off
		}
		if err != nil {
			e.complain(err) // and again at the next interval: others wait for it
			continue
		}
		next.known = next.known && known
		next.steady = run.goesOn(e.clock.now(), e.heartbeat)
		select {
		case checks <- next:
			next = checkup{known: true}
		default: // the last one still goes on
		}
	}
}

// checkup is what a heartbeat has shown.
type checkup struct {
	known  bool // the consumer was still listed
	steady bool // whoever lives has had the time to show it
}

// checks looks after what is not right: messages in hand that may have been taken, crashed
// workers, dead consumers.
func (e *engine) checks(ctx context.Context, due <-chan checkup) {
	for c := range due {
		e.lookForFailures(ctx)
		e.inspect(c.known)
		e.reviveCrashed()
		if c.steady && e.stopping.Err() == nil {
			if err := e.recoverDead(ctx); err != nil {
				e.complain(err)
			}
		}
	}
}

// streak is a row of heartbeats without a gap. After a gap, in which the server or this
// machine was away, other consumers may only just be coming back, as this one is, and are not to be taken for dead.
type streak struct {
	last time.Time // by the server's clock
	n    int
	back time.Time // when the last gap ended
}

// comeback is how long others may need after an outage: go-redis looks only once a second
// for a server that has refused several connections.
const comeback = 3 * time.Second

// goesOn counts one more heartbeat, and reports whether the others have had the time
// that theirs are good for.
func (s *streak) goesOn(now time.Time, interval time.Duration) bool {
	if now.Sub(s.last) > interval*3/2 { // others may have been silent for an interval more
		s.n, s.back = 0, time.Now()
	}
	s.last = now
	s.n++
	return s.n > beatsMissed && time.Since(s.back) > comeback
}

// lookForFailures asks whether messages have failed, unless that is known already.
func (e *engine) lookForFailures(ctx context.Context) {
	if e.failures.Load() {
		return
	}
	if n, err := e.conns.work.Exists(ctx, e.queue.MetaKey()).Result(); err == nil && n > 0 {
		e.failures.Store(true)
	}
}

// beat renews the heartbeat and adds to the queue's counters. It reports whether the
// consumer was still listed: if not, somebody has taken it for dead.
func (e *engine) beat(ctx context.Context) (known bool, err error) {
	entry, err := e.entry()
	if err != nil {
		return false, err
	}
	s := e.stats()
	values := map[string]int64{
		"interval": e.heartbeat.Milliseconds(), "taken": s.Taken, "done": s.Done, "failed": s.Failed,
		"retried": s.Retried, "deferred": s.Deferred, "dead": s.Dead, "in_hand": int64(s.InHand),
	}
	args := []any{e.id, entry, (beatsMissed * e.heartbeat).Milliseconds(), len(values)}
	for _, field := range slices.Sorted(maps.Keys(values)) {
		args = append(args, field, values[field])
	}
	counted := e.uncounted()
	for _, c := range counted {
		if c.add > 0 {
			args = append(args, c.field, c.add)
		}
	}
	q := e.queue
	reply, err := e.call(ctx, scriptBeat, []string{q.ConsumerKey(e.id), q.ConsumersKey(), q.StatsKey()}, args...)
	if err != nil {
		return false, classify(err)
	}
	for _, c := range counted {
		c.told.Add(c.add)
	}
	e.clock.set(textAt(reply, 2))
	return numberAt(reply, 1) == 1, nil
}

// entry is the consumer's entry in the list of consumers.
func (e *engine) entry() (string, error) {
	host, _ := os.Hostname()
	e.mu.Lock()
	started := e.clock.now().Add(-time.Since(e.started))
	e.mu.Unlock()
	text, err := json.Marshal(consumerEntry{
		Host: host, PID: int64(os.Getpid()), Pattern: e.pattern, Concurrency: int64(e.concurrency),
		Started: started.UnixMilli(), Backup: e.ownBackup(),
	})
	return string(text), err
}

func (e *engine) ownBackup() string {
	if e.own {
		return e.backup
	}
	return ""
}

// uncounted lists what was not added to the queue's counters yet: nothing where they
// were not asked for and the queue's other programs know nothing of them.
func (e *engine) uncounted() []uncounted {
	if !e.own && e.queue.Stats == "" {
		return nil
	}
	all := []uncounted{
		{field: "acked", told: &e.tally.acked, add: e.count.done.Load()},
		{field: "failed", told: &e.tally.failed, add: e.count.failed.Load()},
		{field: "retried", told: &e.tally.retried, add: e.count.retried.Load()},
		{field: "dead", told: &e.tally.dead, add: e.count.dead.Load()},
		{field: "recovered", told: &e.tally.recovered, add: e.count.recovered.Load()},
	}
	for i := range all {
		all[i].add -= all[i].told.Load()
	}
	return all
}

// uncounted is one of the queue's counters and what it lacks.
type uncounted struct {
	field string
	told  *atomic.Int64
	add   int64
}

// tally is what was added to the queue's counters.
type tally struct{ acked, failed, retried, dead, recovered atomic.Int64 }

// inspect compares what is in hand with the backup list when there is reason to: the
// consumer was taken for dead, had trouble not long ago, or has a message in hand for long.
func (e *engine) inspect(known bool) {
	if e.backup == "" {
		return
	}
	e.mu.Lock()
	reason := e.own && (!known || e.recheck > 0)
	e.recheck = max(0, e.recheck-1)
	for h := range e.hands.all() {
		reason = reason || h.state == running && time.Since(h.started) > e.heartbeat
	}
	e.doubt = e.doubt || reason
	quiet := e.flying == 0
	e.mu.Unlock()
	if reason && quiet {
		e.compare()
	}
}

// reviveCrashed puts messages whose worker died back when a dead consumer's would be,
// one attempt poorer.
func (e *engine) reviveCrashed() {
	e.mu.Lock()
	var back []*hand
	for h := range e.hands.all() {
		if h.state == crashed && time.Since(h.started) > beatsMissed*e.heartbeat {
			e.become(h, settling)
			h.err = errWorkerDied
			back = append(back, h)
		}
	}
	e.mu.Unlock()
	for _, h := range back {
		e.settle(h)
	}
}

var errWorkerDied = errors.New("its worker died")

// recoverDead takes over from consumers whose heartbeat is gone.
func (e *engine) recoverDead(ctx context.Context) error {
	q := e.queue
	listed, err := e.conns.work.HGetAll(ctx, q.ConsumersKey()).Result()
	if err != nil {
		return classify(err)
	}
	ids := slices.Sorted(maps.Keys(listed))
	pipe := e.conns.work.Pipeline()
	beats := make([]*redis.IntCmd, len(ids))
	for i, id := range ids {
		beats[i] = pipe.Exists(ctx, q.ConsumerKey(id))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return classify(err)
	}
	rank := int64(0)
	for i, id := range ids {
		if id == e.id {
			e.rank.Store(rank)
			continue
		}
		alive := beats[i].Val()
		info, ours := parseConsumer(id, listed[id])
		switch {
		case alive > 0:
			if info.Pattern == e.pattern {
				rank++
			}
		case !ours:
		case info.Backup == "":
			_ = e.conns.work.HDel(ctx, q.ConsumersKey(), id).Err()
			_ = e.conns.work.Del(ctx, q.stampsKey(id)).Err()
		case e.own:
			if err := e.takeOver(ctx, info); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeOver recovers one dead consumer and tells of it.
func (e *engine) takeOver(ctx context.Context, dead ConsumerInfo) error {
	ready, buried, err := e.recover(ctx, dead.ID, dead.Backup, int(dead.Concurrency), false)
	if err == nil {
		err = e.conns.work.Del(ctx, e.queue.stampsKey(dead.ID)).Err()
	}
	if n := ready + buried; n > 0 {
		note := "from " + dead.ID
		if buried > 0 {
			note += fmt.Sprintf(", %d of them to dead after their last attempt", buried)
		}
		e.feed.tell(Event{Kind: EventRecovered, Count: n, Note: note})
	}
	return err
}

// recover moves the messages of a dead consumer's backup list back. handled is how many of
// the oldest were being handled; own asks for it although its heartbeat is there.
func (e *engine) recover(ctx context.Context, id, backup string, handled int, own bool) (ready, buried int, err error) {
	q := e.queue
	keys := []string{backup, q.Ready, q.Dead, q.MetaKey(), q.ConsumersKey(), q.ConsumerKey(id)}
	if q.Dead == "" {
		keys[2] = backup
	}
	limit := e.retry.Limit
	if !e.own {
		limit = 0 // this pattern's limit is not of those messages
	}
	for {
		reply, err := e.call(ctx, scriptRecover, keys, id, flag(own), mostBatch, handled,
			limit, flag(q.Dead != ""), string(q.popEnd()), "its consumer "+id+" died")
		if err != nil {
			return ready, buried, classify(err)
		}
		if textAt(reply, 0) == "type" {
			return ready, buried, fmt.Errorf("%w: %s holds a %s", ErrWrongType, textAt(reply, 1), textAt(reply, 2))
		}
		moved, dead := int(numberAt(reply, 1)), int(numberAt(reply, 2))
		ready, buried = ready+moved, buried+dead
		if moved+dead > 0 {
			e.failures.Store(true)
			e.count.recovered.Add(int64(moved + dead))
			e.count.dead.Add(int64(dead))
		}
		if textAt(reply, 0) != "done" || numberAt(reply, 3) == 0 {
			return ready, buried, nil
		}
	}
}

// inherit takes over what an earlier life of the same id has left: its backup list, also
// when it took messages in another pattern, and its entry, which would tell of that life.
func (e *engine) inherit(ctx context.Context) error {
	q := e.queue
	entry, err := e.conns.work.HGet(ctx, q.ConsumersKey(), e.id).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	former, ours := parseConsumer(e.id, entry)
	if !ours {
		former.Backup, former.Concurrency = e.ownBackup(), int64(e.concurrency)
	}
	if former.Backup != "" && q.Ready != "" {
		if _, _, err := e.recover(ctx, e.id, former.Backup, int(former.Concurrency), true); err != nil {
			return err
		}
	}
	return e.conns.work.HDel(ctx, q.ConsumersKey(), e.id).Err()
}

// farewell tells the server that a consumer has ended well: the last counts, no
// heartbeat, no entry. What crashed workers left is put back.
func (e *engine) farewell() {
	ctx, cancel := context.WithTimeout(e.calls, e.client.patience())
	defer cancel()
	if _, err := e.beat(ctx); err != nil {
		e.feed.tell(Event{Kind: EventError, Err: err, Count: 1})
		return
	}
	if e.own {
		if _, _, err := e.recover(ctx, e.id, e.backup, e.concurrency, true); err != nil {
			e.feed.tell(Event{Kind: EventError, Err: err, Count: 1})
			return // the entry stays, so that somebody else will recover it
		}
	}
	pipe := e.conns.work.Pipeline()
	pipe.Del(ctx, e.queue.ConsumerKey(e.id), e.queue.stampsKey(e.id))
	pipe.HDel(ctx, e.queue.ConsumersKey(), e.id)
	if channel := e.queue.WakeChannel(); channel != "" && e.promotes() {
		pipe.Publish(ctx, channel, "") // another one promotes from now on
	}
	_, _ = pipe.Exec(ctx)
}
