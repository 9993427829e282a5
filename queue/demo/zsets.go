package demo

import (
	"context"
	"math/rand/v2"
	"time"

	"redq/queue"
)

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
	due := time.Now().Add(d.scaled(ahead))
	d.produced(name, 1)
	return addDelayed(ctx, d.rdb, key, u.Score(due), make(due)).Err()
}

// P3 in milliseconds

func (d *Demo) produceReminders(ctx context.Context, r *rand.Rand) (time.Duration, error) {
	err := d.schedule(ctx, r, remind, remindSet, queue.Milliseconds, func(time.Time) string { return reminder(r, d.next()) })
	return between(r, 400*time.Millisecond, 1600*time.Millisecond), err
}

// P3 in seconds with a fraction

func (d *Demo) producePrices(ctx context.Context, r *rand.Rand) (time.Duration, error) {
	err := d.schedule(ctx, r, watch, watch, queue.FloatSeconds, func(time.Time) string { return priceAlert(r, d.next()) })
	return between(r, 700*time.Millisecond, 2*time.Second), err
}

// P4

func (d *Demo) produceInvoices(ctx context.Context, r *rand.Rand) (time.Duration, error) {
	err := d.schedule(ctx, r, invoices, invoices, queue.Seconds, func(time.Time) string { return invoice(r, d.next()) })
	return between(r, 500*time.Millisecond, 1500*time.Millisecond), err
}

// P6

func (d *Demo) produceJobs(ctx context.Context, r *rand.Rand) (time.Duration, error) {
	err := d.schedule(ctx, r, jobs, jobs, queue.Milliseconds, func(due time.Time) string {
		return job(r, d.next(), due)
	})
	return between(r, 500*time.Millisecond, 1700*time.Millisecond), err
}
