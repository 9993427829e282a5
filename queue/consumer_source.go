package queue

import (
	"context"
	"errors"
	"hash/maphash"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// source is where a pattern's messages come from.
type source interface {
	// take acknowledges (in a pattern with a backup list) and takes up to n messages,
	// in one round trip. What it answers counts even beside an error.
	take(ctx context.Context, acks []*hand, n int) (haul, error)
	// wait returns when there may be something to take, at the latest after a second or
	// the pause that the pattern makes, and early when ctx ends. It may bring messages itself.
	wait(ctx context.Context) (haul, error)
	// empty asks whether nothing is ready or due.
	empty(ctx context.Context) (bool, error)
}

// haul is what a round trip brought.
type haul struct {
	got    []*hand
	ran    bool  // the acknowledgements were carried out, whatever became of the rest
	missed []int // positions of the acknowledged that were not there
	none   bool  // by wait: there is nothing to take, no look is needed
	wasted int   // messages that another one was faster with
}

// takeBudget is after how many bytes a batch is full.
const takeBudget = 4 << 20

// blockFor is how long a blocking pop waits. Whole seconds only below 7.0, and not for
// ever: a stop where the pop cannot be ended waits for it.
const blockFor = time.Second

// blocking bounds a blocking pop on a connection that has died: left alone go-redis waits
// for ten seconds more than the server does.
func (e *engine) blocking() (context.Context, context.CancelFunc) {
	return context.WithTimeout(e.calls, blockFor+e.client.patience()/2)
}

// newSource makes the source that the pattern takes from.
func (e *engine) newSource() source {
	switch {
	case e.backup != "":
		return &listSource{e: e, seed: maphash.MakeSeed(), dues: map[uint64]time.Time{}}
	case e.pattern == ListPoll, e.pattern == ListBlock:
		return &popSource{e: e}
	case e.pattern == ZsetRace:
		return &raceSource{e: e}
	}
	return &claimSource{e: e}
}

// popEnd is the end that consumers pop.
func (q Queue) popEnd() End { return q.PushEnd().Other() }

// popSource pops from a plain list: P1 and P2.
type popSource struct{ e *engine }

func (s *popSource) take(ctx context.Context, _ []*hand, n int) (haul, error) {
	pipe := s.e.conns.work.Pipeline()
	cmds := make([]*redis.StringCmd, n)
	for i := range cmds {
		if s.e.queue.popEnd() == Right {
			cmds[i] = pipe.RPop(ctx, s.e.queue.Ready)
		} else {
			cmds[i] = pipe.LPop(ctx, s.e.queue.Ready)
		}
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	var h haul
	var failed error
	for _, cmd := range cmds {
		payload, err := cmd.Result()
		switch {
		case errors.Is(err, redis.Nil):
		case err != nil:
			failed = err
		default:
			h.got = append(h.got, s.popped(ctx, payload))
		}
	}
	return h, failed
}

func (s *popSource) wait(ctx context.Context) (haul, error) {
	if s.e.pattern == ListPoll {
		s.e.pause(ctx, s.e.idle.Sleep)
		return haul{}, nil
	}
	pop := s.e.conns.block.BRPop
	if s.e.queue.popEnd() == Left {
		pop = s.e.conns.block.BLPop
	}
	blocking, done := s.e.blocking()
	defer done()
	got, err := pop(blocking, blockFor, s.e.queue.Ready).Result()
	if err != nil || len(got) != 2 {
		return haul{none: errors.Is(err, redis.Nil)}, err
	}
	return haul{got: []*hand{s.popped(ctx, got[1])}}, nil
}

func (s *popSource) popped(ctx context.Context, payload string) *hand {
	h := newHand(payload)
	s.e.readPast(ctx, h)
	return h
}

func (s *popSource) empty(ctx context.Context) (bool, error) { return s.e.nothingReady(ctx) }

func (e *engine) nothingReady(ctx context.Context) (bool, error) {
	n, err := e.conns.work.LLen(ctx, e.queue.Ready).Result()
	return n == 0, err
}

func (e *engine) nothingDue(ctx context.Context) (bool, error) {
	now := e.clock.now()
	from, _ := e.queue.Unit.Range()
	pipe := e.conns.work.Pipeline()
	odd := pipe.ZCount(ctx, e.queue.Delayed, "0", "("+strconv.FormatInt(fitsFrom, 10))
	due := pipe.ZCount(ctx, e.queue.Delayed, string(ScoreOf(from)), string(e.queue.Unit.Score(now)))
	_, err := pipe.Exec(ctx)
	return odd.Val()+due.Val() == 0, err
}

// raceSource takes as many programs do: look, then remove; only who removes it owns it. P3.
type raceSource struct{ e *engine }

func (s *raceSource) take(ctx context.Context, _ []*hand, n int) (haul, error) {
	now := s.e.clock.now()
	look := &redis.ZRangeBy{Min: "0", Max: string(latestScore(s.e.queue.Unit, now)), Count: int64(n)}
	due, err := s.e.conns.work.ZRangeByScoreWithScores(ctx, s.e.queue.Delayed, look).Result()
	if err != nil || len(due) == 0 {
		return haul{}, err
	}
	var h haul
	for _, z := range due {
		member, _ := z.Member.(string)
		score := ScoreOf(z.Score)
		if s.e.foreignTime(z.Score) {
			continue
		}
		removed, err := s.e.conns.work.ZRem(ctx, s.e.queue.Delayed, member).Result()
		switch {
		case err != nil:
			return h, err
		case removed == 0:
			h.wasted++
		default:
			t := newHand(member)
			s.e.wasDelayed(t, score, now)
			s.e.readPast(ctx, t)
			h.got = append(h.got, t)
		}
	}
	return h, nil
}

// foreignTime reports whether a score is a time in another unit than the queue's,
// which nobody should take for due.
func (e *engine) foreignTime(score float64) bool {
	from, _ := e.queue.Unit.Range()
	return score >= fitsFrom && score < from
}

func (s *raceSource) wait(ctx context.Context) (haul, error) {
	s.e.pause(ctx, s.e.idle.Sleep)
	return haul{}, nil
}

func (s *raceSource) empty(ctx context.Context) (bool, error) { return s.e.nothingDue(ctx) }

// latestScore is the highest score that is due at an instant: of whole units the last
// one that has begun.
func latestScore(u Unit, t time.Time) Score {
	grain := time.Microsecond
	switch u {
	case Seconds:
		grain = time.Second
	case Milliseconds:
		grain = time.Millisecond
	}
	return u.Score(t.Truncate(grain))
}

// wasDelayed notes the score of a message that was taken from the sorted set, at an
// instant of the server's clock.
func (e *engine) wasDelayed(h *hand, score Score, now time.Time) {
	h.score = score
	if due, ok := e.queue.Unit.Time(score); ok {
		h.wasDue(due, now)
	}
}

// claimSource finds and removes in one script: P4 and P6, and P5 without a ready list.
type claimSource struct {
	e    *engine
	next time.Time // when the earliest is due, zero when none or unknown; used by one lane at a time
}

func (s *claimSource) take(ctx context.Context, _ []*hand, n int) (haul, error) {
	q := s.e.queue
	from, _ := q.Unit.Range()
	reply, err := s.e.call(ctx, scriptClaim, []string{q.Delayed, q.MetaKey()},
		n, takeBudget, q.Unit.scriptName(), string(ScoreOf(from)))
	if err != nil {
		return haul{}, err
	}
	now := s.e.clock.set(textAt(reply, 4))
	pairs, failures := arrayAt(reply, 1), arrayAt(reply, 2)
	got := newHands(len(pairs)/2, func(i int) string { return textAt(pairs, 2*i) })
	for i, h := range got {
		s.e.wasDelayed(h, Score(textAt(pairs, 2*i+1)), now)
		h.attempts, h.reason, _ = parseFailure(textAt(failures, i))
	}
	s.e.mu.Lock()
	s.next = s.e.dueTime(Score(textAt(reply, 3)), now)
	s.e.mu.Unlock()
	return haul{got: got}, nil
}

func (s *claimSource) wait(ctx context.Context) (haul, error) {
	if s.e.idle.Sleep > 0 {
		s.e.pause(ctx, s.e.idle.Sleep)
		return haul{none: !s.e.mayBeDue()}, nil
	}
	s.e.mu.Lock()
	next := s.next
	s.e.mu.Unlock()
	s.e.doze(ctx, next, 0)
	return haul{}, nil
}

func (s *claimSource) empty(ctx context.Context) (bool, error) { return s.e.nothingDue(ctx) }

// dueTime is when a score is due; what cannot be a time is due at once.
func (e *engine) dueTime(score Score, now time.Time) time.Time {
	if score == "" {
		return time.Time{}
	}
	if due, ok := e.queue.Unit.Time(score); ok {
		return due
	}
	if v, ok := score.Float(); ok && v < fitsFrom {
		return now
	}
	return time.Time{} // infinitely far, or in another unit
}

// listSource takes into a backup list, shared (P7) or the consumer's own (P8, P5).
type listSource struct {
	e    *engine
	seed maphash.Seed
	dues map[uint64]time.Time // of messages that this consumer promoted; guarded by the engine's mutex
}

// mostDues bounds how many promoted messages are remembered for their lateness.
const mostDues = 20_000

func (s *listSource) take(ctx context.Context, acks []*hand, n int) (haul, error) {
	q := s.e.queue
	side := 1
	if s.e.own {
		side = -1
	}
	var m stamp
	if len(acks) > 0 {
		m = acks[0].stamp
	}
	args := make([]any, 0, 7+len(acks))
	args = append(args, string(q.popEnd()), n, takeBudget, side, len(acks), m.lane, m.step)
	for _, h := range acks {
		args = append(args, &h.raw)
	}
	for _, h := range acks {
		if h.attempts > 0 || h.unread {
			args = append(args, digestOf(h.raw))
		}
	}
	reply, err := s.e.call(ctx, scriptStep, []string{q.Ready, s.e.backup, q.MetaKey(), q.stampsKey(s.e.id)}, args...)
	if err != nil {
		return haul{}, err
	}
	h := haul{ran: true, got: s.takenOf(arrayAt(reply, 2), arrayAt(reply, 3))}
	for _, at := range arrayAt(reply, 1) {
		if i, ok := at.(int64); ok {
			h.missed = append(h.missed, int(i)-1)
		}
	}
	if refused := textAt(reply, 4); refused != "" {
		return h, classifyReply(refused)
	}
	return h, nil
}

// takenOf makes messages of what the script answered, with what is known of their past.
func (s *listSource) takenOf(payloads, failures []any) []*hand {
	if len(payloads) == 0 {
		return nil
	}
	if len(failures) > 0 {
		s.e.failures.Store(true)
	}
	got := newHands(len(payloads), func(i int) string { return textAt(payloads, i) })
	for i, h := range got {
		h.attempts, h.reason, _ = parseFailure(textAt(failures, i))
	}
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	if len(s.dues) > 0 {
		now := s.e.clock.now()
		for _, h := range got {
			key := maphash.String(s.seed, h.raw)
			if due, ok := s.dues[key]; ok {
				delete(s.dues, key)
				h.wasDue(due, now)
			}
		}
	}
	return got
}

// promoted remembers when a promoted message was due, for when it is taken.
func (s *listSource) promoted(payload string, due time.Time) {
	if payload == "" {
		return
	}
	if len(s.dues) >= mostDues {
		clear(s.dues) // they were taken by others
	}
	s.dues[maphash.String(s.seed, payload)] = due
}

func (s *listSource) wait(ctx context.Context) (haul, error) {
	q := s.e.queue
	blocking, done := s.e.blocking()
	defer done()
	var cmd *redis.StringCmd
	switch {
	case !s.e.noBLMove.Load():
		cmd = s.e.conns.block.BLMove(blocking, q.Ready, s.e.backup, string(q.popEnd()), string(Left), blockFor)
	case q.popEnd() == Right:
		cmd = s.e.conns.block.BRPopLPush(blocking, q.Ready, s.e.backup, blockFor)
	default:
		s.e.pause(ctx, 100*time.Millisecond) // before 6.2 nothing blocks on the other end
		return haul{}, nil
	}
	payload, err := cmd.Result()
	if err != nil {
		if !s.e.noBLMove.Load() && isUnknownCommand(err) {
			s.e.noBLMove.Store(true)
			return haul{}, nil
		}
		return haul{none: errors.Is(err, redis.Nil)}, err
	}
	got := s.takenOf([]any{payload}, nil)
	s.e.readPast(ctx, got[0])
	return haul{got: got}, nil
}

func (s *listSource) empty(ctx context.Context) (bool, error) {
	if s.e.promotes() { // asked first: what is promoted meanwhile is found in ready then
		if none, err := s.e.nothingDue(ctx); err != nil || !none {
			return none, err
		}
	}
	return s.e.nothingReady(ctx)
}

// readPast asks for a message's failed attempts where there may be any. Elsewhere it
// spares the round trip between the producer and the handler.
func (e *engine) readPast(ctx context.Context, h *hand) {
	if h.unread = !e.failures.Load(); !h.unread {
		h.attempts, h.reason = e.pastOf(ctx, h.raw)
	}
}

// pastOf asks how often a message has failed already, and why the last time.
func (e *engine) pastOf(ctx context.Context, payload string) (attempts int, reason string) {
	entry, err := e.conns.work.HGet(ctx, e.queue.MetaKey(), digestOf(payload)).Result()
	if err != nil {
		return 0, ""
	}
	attempts, reason, _ = parseFailure(entry)
	return attempts, reason
}

func isUnknownCommand(err error) bool {
	return err != nil && strings.Contains(err.Error(), "unknown command")
}
