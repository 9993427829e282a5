package demo

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"

	"redq/queue"
)

// How long a place may grow. The embedded server is slow with long lists, and a
// demo may run all day: above these, producers pause and consumers do not fail.
const (
	mostReady   = 400
	mostAudit   = 1500
	mostStuck   = 20
	mostDead    = 40
	mostDelayed = 500
)

// promote moves what is due from a sorted set to a list, in one step.
// KEYS[1] sorted set, KEYS[2] list; ARGV[1] highest score; returns how many.
var promote = redis.NewScript(`
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, 20)
for _, m in ipairs(due) do
  redis.call('LPUSH', KEYS[2], m)
  redis.call('ZREM', KEYS[1], m)
end
return #due`)

// giveBack takes a failed message out of backup and adds it, changed, to a
// sorted set or, without a score, to a list; nothing when it is in backup no more.
// KEYS[1] backup, KEYS[2] target; ARGV[1] message, ARGV[2] as added, ARGV[3] score or "".
var giveBack = redis.NewScript(`
if redis.call('LREM', KEYS[1], 1, ARGV[1]) == 0 then
  return 0
end
if ARGV[3] == '' then
  redis.call('LPUSH', KEYS[2], ARGV[2])
else
  redis.call('ZADD', KEYS[2], ARGV[3], ARGV[2])
end
return 1`)

// workloads are all programs of the demo; those listed twice are two of a kind.
func (d *Demo) workloads() []workload {
	return []workload{
		d.produceNotify, d.consumeNotify,
		d.produceMail, d.newsletter(), d.consumeMail, d.consumeMail,
		d.produceReminders, d.raceReminders, d.raceReminders, d.raceReminders,
		d.producePrices, d.watchPrices(),
		d.produceInvoices, d.claimInvoices,
		d.produceStock, d.consumeStock, d.consumeStock, d.promoteStock,
		d.produceJobs, d.dispatchJobs,
		d.produceOrders, d.orderRush(), d.consumeOrders, d.consumeOrders, d.promoteOrders,
		d.produceAudit,
	}
}

// chance is true in the given share of cases.
func chance(r *rand.Rand, share float64) bool { return r.Float64() < share }

// between returns a duration from lo up to hi.
func between(r *rand.Rand, lo, hi time.Duration) time.Duration {
	return lo + time.Duration(r.Int64N(int64(hi-lo)))
}

// room reports whether a list is shorter than most.
func (d *Demo) room(ctx context.Context, key string, most int64) bool {
	n, err := d.rdb.LLen(ctx, key).Result()
	return err == nil && n < most
}

// push enqueues n messages at the head of a list, if there is room.
func (d *Demo) push(ctx context.Context, name string, n int, make func() string) error {
	if !d.room(ctx, name, mostReady) {
		return nil
	}
	pipe := d.rdb.Pipeline()
	for range n {
		pipe.LPush(ctx, name, make())
	}
	d.produced(name, n)
	_, err := pipe.Exec(ctx)
	return err
}

// blockFor is how long a blocking pop waits, in seconds: as long as Close may have to wait.
const blockFor = "0.25"

// pop waits for the next message of a list. go-redis knows whole seconds only.
func (d *Demo) pop(ctx context.Context, key string) (string, error) {
	got, err := d.rdb.Do(ctx, "BRPOP", key, blockFor).StringSlice()
	if err != nil {
		return "", err
	}
	return got[1], nil
}

// P1: RPUSH, and LPOP once in a while.

func (d *Demo) produceNotify(ctx context.Context, r *rand.Rand) (time.Duration, error) {
	if d.room(ctx, notify, mostReady) {
		d.produced(notify, 1)
		if err := d.rdb.RPush(ctx, notify, notification(r, d.next())).Err(); err != nil {
			return 0, err
		}
	}
	return between(r, 200*time.Millisecond, 1200*time.Millisecond), nil
}

func (d *Demo) consumeNotify(ctx context.Context, r *rand.Rand) (time.Duration, error) {
	m, err := d.rdb.LPop(ctx, notify).Result()
	if err != nil {
		return time.Second, err
	}
	if chance(r, 0.02) {
		d.lost(notify)
		return 3 * time.Second, nil
	}
	d.pause(ctx, between(r, 100*time.Millisecond, 900*time.Millisecond))
	d.done(notify, m)
	return 0, nil
}

// P2: LPUSH and a blocking pop.

func (d *Demo) produceMail(ctx context.Context, r *rand.Rand) (time.Duration, error) {
	err := d.push(ctx, mail, 1, func() string { return letter(r, d.next(), "receipt") })
	return between(r, 300*time.Millisecond, 1500*time.Millisecond), err
}

// newsletter sends many letters at once, the first a little after the start.
func (d *Demo) newsletter() workload {
	wait := 12 * time.Second
	return func(ctx context.Context, r *rand.Rand) (time.Duration, error) {
		d.pause(ctx, wait)
		wait = between(r, 40*time.Second, 70*time.Second)
		return 0, d.push(ctx, mail, 60+r.IntN(80), func() string { return letter(r, d.next(), "newsletter") })
	}
}

func (d *Demo) consumeMail(ctx context.Context, r *rand.Rand) (time.Duration, error) {
	m, err := d.pop(ctx, mail)
	if err != nil {
		return 0, err
	}
	d.pause(ctx, between(r, 200*time.Millisecond, 600*time.Millisecond))
	switch {
	case chance(r, 0.01):
		d.lost(mail)
		return 2 * time.Second, nil
	case chance(r, 0.02) && d.room(ctx, mailDead, mostDead):
		d.count(mail, func(s *Stats) { s.Failed++ })
		return 0, d.rdb.LPush(ctx, mailDead, bounced(m)).Err()
	}
	d.done(mail, m)
	return 0, nil
}

// P5: the handler needs the lock of an article, and defers the message without it.

func (d *Demo) produceStock(ctx context.Context, r *rand.Rand) (time.Duration, error) {
	err := d.push(ctx, stock, 1, func() string { return booking(r, d.next()) })
	return between(r, 300*time.Millisecond, 1100*time.Millisecond), err
}

func (d *Demo) consumeStock(ctx context.Context, r *rand.Rand) (time.Duration, error) {
	m, err := d.pop(ctx, stock)
	if err != nil {
		return 0, err
	}
	var b struct{ Sku string }
	_ = json.Unmarshal([]byte(m), &b) // what is put in by hand has the article ""
	lock := stockLock + b.Sku
	free, err := d.rdb.SetNX(ctx, lock, "held", 8*time.Second).Result()
	if err != nil {
		return 0, err
	}
	if !free {
		d.count(stock, func(s *Stats) { s.Failed++ })
		due := queue.Milliseconds.Score(time.Now().Add(between(r, 2*time.Second, 9*time.Second)))
		return 0, addDelayed(ctx, d.rdb, stockSet, due, m).Err()
	}
	d.pause(ctx, between(r, 500*time.Millisecond, 1700*time.Millisecond))
	if chance(r, 0.03) {
		d.lost(stock) // and the lock stays until it expires
		return time.Second, nil
	}
	d.done(stock, m)
	return 0, d.rdb.Del(ctx, lock).Err()
}

func (d *Demo) promoteStock(ctx context.Context, _ *rand.Rand) (time.Duration, error) {
	return 500 * time.Millisecond, d.promoteDue(ctx, stockSet, stock)
}

func (d *Demo) promoteDue(ctx context.Context, from, to string) error {
	now := queue.Milliseconds.Score(time.Now())
	return promote.Run(ctx, d.rdb, []string{from, to}, string(now)).Err()
}

// P7: BLMOVE into a backup list, and LREM when done.

func (d *Demo) produceOrders(ctx context.Context, r *rand.Rand) (time.Duration, error) {
	rest := between(r, 200*time.Millisecond, 1100*time.Millisecond)
	if chance(r, 0.1) { // a pre-order
		return rest, d.schedule(ctx, r, orders, ordersSet, queue.Milliseconds, func(time.Time) string { return purchase(r, d.next()) })
	}
	return rest, d.push(ctx, orders, 1, func() string { return purchase(r, d.next()) })
}

func (d *Demo) orderRush() workload {
	wait := 25 * time.Second
	return func(ctx context.Context, r *rand.Rand) (time.Duration, error) {
		d.pause(ctx, wait)
		wait = between(r, 60*time.Second, 120*time.Second)
		return 0, d.push(ctx, orders, 30+r.IntN(40), func() string { return purchase(r, d.next()) })
	}
}

func (d *Demo) consumeOrders(ctx context.Context, r *rand.Rand) (time.Duration, error) {
	m, err := d.rdb.Do(ctx, "BLMOVE", orders, ordersBak, "RIGHT", "LEFT", blockFor).Text()
	if err != nil {
		return 0, err
	}
	d.pause(ctx, between(r, 200*time.Millisecond, 1000*time.Millisecond))
	switch {
	case chance(r, 0.02) && d.room(ctx, ordersBak, mostStuck):
		d.count(orders, func(s *Stats) { s.Crashed++ }) // the message stays in backup
		return 2 * time.Second, nil
	case chance(r, 0.06) && d.room(ctx, ordersBad, mostDead):
		d.count(orders, func(s *Stats) { s.Failed++ })
		return 0, d.retryOrder(ctx, r, m)
	}
	n, err := d.rdb.LRem(ctx, ordersBak, 1, m).Result()
	if n > 0 {
		d.done(orders, m)
	}
	return 0, err
}

// retryOrder puts a failed order into delayed with one attempt more, or into dead.
func (d *Demo) retryOrder(ctx context.Context, r *rand.Rand, m string) error {
	again, attempts := failed(m, r)
	target, score := ordersBad, queue.Score("")
	if attempts < 5 {
		backOff := 5 * time.Second << attempts
		target, score = ordersSet, queue.Milliseconds.Score(time.Now().Add(backOff))
	}
	return giveBack.Run(ctx, d.rdb, []string{ordersBak, target}, m, again, string(score)).Err()
}

func (d *Demo) promoteOrders(ctx context.Context, _ *rand.Rand) (time.Duration, error) {
	return 500 * time.Millisecond, d.promoteDue(ctx, ordersSet, orders)
}

// Nobody consumes this one.

func (d *Demo) produceAudit(ctx context.Context, r *rand.Rand) (time.Duration, error) {
	if d.room(ctx, audit, mostAudit) {
		d.produced(audit, 1)
		if err := d.rdb.LPush(ctx, audit, auditEntry(r, d.next())).Err(); err != nil {
			return 0, err
		}
	}
	return between(r, 500*time.Millisecond, 3*time.Second), nil
}
