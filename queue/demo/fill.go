package demo

import (
	"math/rand/v2"
	"time"

	"redq/queue"
)

// firstSerial is where the numbers of messages begin that are produced later.
const firstSerial = 5000

// filling is what a key holds at the start.
type filling struct {
	queue, key string
	payloads   []string    // in the order they are pushed
	due        []time.Time // of a sorted set, else nil
	unit       queue.Unit
	reasons    []string // of a dead list whose consumers keep the last errors beside it, else nil
}

// initial returns what all keys hold at the start. It depends on r and now only.
func initial(r *rand.Rand, now time.Time) []filling {
	serial := 0
	next := func() int { serial++; return serial }
	list := func(name, key string, n int, make func() string) filling {
		f := filling{queue: name, key: key}
		for range n {
			f.payloads = append(f.payloads, make())
		}
		return f
	}
	set := func(name, key string, u queue.Unit, n int, make func(due time.Time) string) filling {
		f := filling{queue: name, key: key, unit: u}
		for i := range n {
			due := now.Add(spread(r, i, n))
			f.due = append(f.due, due)
			f.payloads = append(f.payloads, make(due))
		}
		return f
	}
	dead := func(make func() string, tries int) func() string {
		return func() string {
			m := make()
			for range tries {
				m, _ = failed(m, r)
			}
			return m
		}
	}
	declined := list(payments, paymentDead, 3, func() string { return payment(r, next()) })
	for range declined.payloads {
		declined.reasons = append(declined.reasons, one(r, errs))
	}
	order := func() string { return purchase(r, next()) }
	trail := list(audit, audit, 160, func() string { return auditEntry(r, next()) })
	trail.payloads = append(trail.payloads, longEntry(r), binaryEntry, hostileEntry, auditEntry(r, next()))
	return []filling{
		list(notify, notify, 14, func() string { return notification(r, next()) }),
		list(mail, mail, 45, func() string { return letter(r, next(), "receipt") }),
		list(mail, mailDead, 5, func() string { return bounced(letter(r, next(), "newsletter")) }),
		set(remind, remindSet, queue.Milliseconds, 320, func(time.Time) string { return reminder(r, next()) }),
		set(watch, watch, queue.FloatSeconds, 120, func(time.Time) string { return priceAlert(r, next()) }),
		set(invoices, invoices, queue.Seconds, 180, func(time.Time) string { return invoice(r, next()) }),
		list(stock, stock, 8, func() string { return booking(r, next()) }),
		set(stock, stockSet, queue.Milliseconds, 20, func(time.Time) string { return booking(r, next()) }),
		set(jobs, jobs, queue.Milliseconds, 90, func(due time.Time) string { return job(r, next(), due) }),
		list(jobs, jobsDead, 4, func() string {
			m := job(r, next(), now.Add(-time.Hour))
			for range 3 {
				m, _, _ = putBack(m, now.Add(-30*time.Minute))
			}
			return m
		}),
		list(orders, orders, 36, order),
		list(orders, ordersBak, 4, order),
		set(orders, ordersSet, queue.Milliseconds, 140, func(time.Time) string { return order() }),
		list(orders, ordersBad, 6, dead(order, 5)),
		list(payments, payments, 6, func() string { return payment(r, next()) }),
		set(payments, paymentSet, queue.Milliseconds, 60, func(time.Time) string { return payment(r, next()) }),
		declined,
		trail,
	}
}

// spread returns how far from now the i-th of n messages is due: some overdue,
// many soon, the rest up to a day ahead and a few later.
func spread(r *rand.Rand, i, n int) time.Duration {
	switch part := 100 * i / n; {
	case part < 1:
		return -between(r, time.Hour, 2*time.Hour)
	case part < 3:
		return -between(r, 5*time.Minute, 50*time.Minute)
	case part < 7:
		return -between(r, time.Second, 4*time.Minute)
	case part < 27:
		return between(r, time.Second, time.Minute)
	}
	return farAhead(r)
}

// farAhead returns a duration from a minute to some days, most within a day.
func farAhead(r *rand.Rand) time.Duration {
	switch part := r.IntN(100); {
	case part < 50:
		return between(r, time.Minute, time.Hour)
	case part < 94:
		return between(r, time.Hour, 24*time.Hour)
	}
	return between(r, 24*time.Hour, 5*24*time.Hour)
}
