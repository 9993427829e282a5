package demo

import (
	"context"
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

// workloads are all programs that produce, and those that consume without the library.
func (d *Demo) workloads() []workload {
	return []workload{
		d.produceNotify,
		d.produceMail, d.newsletter(), d.popMail,
		d.produceReminders, d.producePrices, d.produceInvoices, d.produceJobs,
		d.produceStock,
		d.produceOrders, d.orderRush(), d.promoteOrders,
		d.producePayments,
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

// P1: RPUSH.

func (d *Demo) produceNotify(ctx context.Context, r *rand.Rand) (time.Duration, error) {
	if d.room(ctx, notify, mostReady) {
		d.produced(notify, 1)
		if err := d.rdb.RPush(ctx, notify, notification(r, d.next())).Err(); err != nil {
			return 0, err
		}
	}
	return between(r, 200*time.Millisecond, 1200*time.Millisecond), nil
}

// P2: LPUSH, and a blocking pop.

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

// popMail is a program without a heartbeat, of which nobody knows but the server.
func (d *Demo) popMail(ctx context.Context, r *rand.Rand) (time.Duration, error) {
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

// P5

func (d *Demo) produceStock(ctx context.Context, r *rand.Rand) (time.Duration, error) {
	err := d.push(ctx, stock, 1, func() string { return booking(r, d.next()) })
	return between(r, 300*time.Millisecond, 1100*time.Millisecond), err
}

// P7, with a promoter of its own.

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

func (d *Demo) promoteOrders(ctx context.Context, _ *rand.Rand) (time.Duration, error) {
	now := queue.Milliseconds.Score(time.Now())
	return 500 * time.Millisecond, promote.Run(ctx, d.rdb, []string{ordersSet, orders}, string(now)).Err()
}

// P8

func (d *Demo) producePayments(ctx context.Context, r *rand.Rand) (time.Duration, error) {
	rest := between(r, 300*time.Millisecond, 1300*time.Millisecond)
	if chance(r, 0.15) { // an instalment
		return rest, d.schedule(ctx, r, payments, paymentSet, queue.Milliseconds, func(time.Time) string { return payment(r, d.next()) })
	}
	return rest, d.push(ctx, payments, 1, func() string { return payment(r, d.next()) })
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
