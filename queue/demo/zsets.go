package demo

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"

	"redq/queue"
)

// claim finds and removes what is due in one step.
// KEYS[1] sorted set; ARGV[1] highest score, ARGV[2] how many; returns the members.
var claim = redis.NewScript(`
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
for _, m in ipairs(due) do
  redis.call('ZREM', KEYS[1], m)
end
return due`)

// schedule adds a message to a sorted set: mostly due soon, at times much later
// as long as the set is not full.
func (d *Demo) schedule(ctx context.Context, r *rand.Rand, name, key string, u queue.Unit, make func(due time.Time) string) error {
	n, err := d.rdb.ZCard(ctx, key).Result()
	if err != nil || n >= 2*mostDelayed {
		return err
	}
	ahead := between(r, 2*time.Second, 60*time.Second)
	if n < mostDelayed && chance(r, 0.2) {
		ahead = farAhead(r)
	}
	due := time.Now().Add(ahead)
	d.produced(name, 1)
	return addDelayed(ctx, d.rdb, key, u.Score(due), make(due)).Err()
}

// race takes one due message as many programs do: whoever removes it owns it.
func (d *Demo) race(ctx context.Context, key string, u queue.Unit) (m string, owned bool, err error) {
	now := string(u.Score(time.Now()))
	due, err := d.rdb.ZRangeArgs(ctx, redis.ZRangeArgs{Key: key, Start: "0", Stop: now, ByScore: true, Count: 1}).Result()
	if err != nil || len(due) == 0 {
		return "", false, err
	}
	n, err := d.rdb.ZRem(ctx, key, due[0]).Result()
	return due[0], n == 1, err
}

// P3 in milliseconds, with workers that compete.

func (d *Demo) produceReminders(ctx context.Context, r *rand.Rand) (time.Duration, error) {
	err := d.schedule(ctx, r, remind, remindSet, queue.Milliseconds, func(time.Time) string { return reminder(r, d.next()) })
	return between(r, 400*time.Millisecond, 1600*time.Millisecond), err
}

func (d *Demo) raceReminders(ctx context.Context, r *rand.Rand) (time.Duration, error) {
	m, owned, err := d.race(ctx, remindSet, queue.Milliseconds)
	if err != nil || !owned {
		return 500 * time.Millisecond, err
	}
	if chance(r, 0.02) {
		d.lost(remind)
		return 2 * time.Second, nil
	}
	d.pause(ctx, between(r, 100*time.Millisecond, 900*time.Millisecond))
	d.done(remind, m)
	return 0, nil
}

// P3 in seconds with a fraction, with one worker that goes away at times.

func (d *Demo) producePrices(ctx context.Context, r *rand.Rand) (time.Duration, error) {
	err := d.schedule(ctx, r, watch, watch, queue.FloatSeconds, func(time.Time) string { return priceAlert(r, d.next()) })
	return between(r, 700*time.Millisecond, 2*time.Second), err
}

func (d *Demo) watchPrices() workload {
	var until time.Time // the end of its present shift
	return func(ctx context.Context, r *rand.Rand) (time.Duration, error) {
		if now := time.Now(); now.After(until) {
			away := between(r, 25*time.Second, 45*time.Second)
			until = now.Add(away + between(r, 30*time.Second, 60*time.Second))
			return away, nil
		}
		m, owned, err := d.race(ctx, watch, queue.FloatSeconds)
		if err != nil || !owned {
			return 500 * time.Millisecond, err
		}
		d.pause(ctx, between(r, 100*time.Millisecond, 500*time.Millisecond))
		d.done(watch, m)
		return 0, nil
	}
}

// P4: one script takes all that is due.

func (d *Demo) produceInvoices(ctx context.Context, r *rand.Rand) (time.Duration, error) {
	err := d.schedule(ctx, r, invoices, invoices, queue.Seconds, func(time.Time) string { return invoice(r, d.next()) })
	return between(r, 500*time.Millisecond, 1500*time.Millisecond), err
}

func (d *Demo) claimInvoices(ctx context.Context, r *rand.Rand) (time.Duration, error) {
	now := string(queue.Seconds.Score(time.Now().Add(-time.Second))) // a whole second: never early
	due, err := claim.Run(ctx, d.rdb, []string{invoices}, now, 20).StringSlice()
	for _, m := range due {
		d.done(invoices, m)
	}
	return between(r, 3*time.Second, 6*time.Second), err
}

// P6: the handler is chosen by a field; what fails is put back, and in the end dead.

func (d *Demo) produceJobs(ctx context.Context, r *rand.Rand) (time.Duration, error) {
	err := d.schedule(ctx, r, jobs, jobs, queue.Milliseconds, func(due time.Time) string {
		return job(r, d.next(), due)
	})
	return between(r, 500*time.Millisecond, 1700*time.Millisecond), err
}

func (d *Demo) dispatchJobs(ctx context.Context, r *rand.Rand) (time.Duration, error) {
	m, owned, err := d.race(ctx, jobs, queue.Milliseconds)
	if err != nil || !owned {
		return time.Second, err
	}
	d.pause(ctx, between(r, 100*time.Millisecond, 800*time.Millisecond))
	again, due, attempts := putBack(m, time.Now())
	switch {
	case !chance(r, 0.15) || again == "":
		d.done(jobs, m)
		return 0, nil
	case attempts < 3:
		d.count(jobs, func(s *Stats) { s.Failed++ })
		return 0, addDelayed(ctx, d.rdb, jobs, queue.Milliseconds.Score(due), again).Err()
	case d.room(ctx, jobsDead, mostDead):
		d.count(jobs, func(s *Stats) { s.Failed++ })
		return 0, d.rdb.LPush(ctx, jobsDead, again).Err()
	}
	d.lost(jobs)
	return 2 * time.Second, nil
}
