package scene

import (
	"context"
	"fmt"
	"time"

	"redq/queue"
)

// delayedQueue is nothing but a sorted set.
func delayedQueue(name string, p queue.Pattern) queue.Queue {
	return queue.Queue{Name: Prefix + name, Delayed: Prefix + name, Unit: queue.Milliseconds, Pattern: p}
}

func raceQueues() (look, script queue.Queue) {
	return delayedQueue("race-look", queue.ZsetRace), delayedQueue("race-script", queue.ZsetScript)
}

const (
	racers     = 4
	raceWaves  = 6
	raceInWave = 50 // messages that are due at once
)

// playRace lets four workers race for waves of messages, and one script take as many.
func playRace(ctx context.Context, a *act) error {
	lookQueue, scriptQueue := raceQueues()
	var racing []*player
	for i := range racers {
		p, err := a.hire(&queue.Consumer{
			Queue: lookQueue, ID: fmt.Sprintf("racer-%d", i+1), Concurrency: 1, Handler: atOnce,
			Idle: queue.Idle{Sleep: a.scaled(pollEvery)},
		})
		if err != nil {
			return err
		}
		racing = append(racing, p)
	}
	script, err := a.hire(&queue.Consumer{Queue: scriptQueue, ID: "taker", Concurrency: racers, Handler: atOnce})
	if err != nil {
		return err
	}
	for wave := range raceWaves {
		if err := a.wave(ctx, wave, raceInWave, lookQueue, scriptQueue); err != nil {
			return err
		}
		want := int64((wave + 1) * raceInWave)
		err := a.until(ctx, func() (bool, error) {
			r, s := sum(racing), script.Stats()
			a.tell("P3, %d workers that look and then remove: %d taken, %d takes wasted on what another one has. P4, one script: %d taken, %d wasted.",
				racers, r.Taken, r.Wasted, s.Taken, s.Wasted)
			return r.Taken == want && s.Taken == want, nil
		})
		if err != nil {
			return err
		}
	}
	r, s := sum(racing), script.Stats()
	a.tell("%d racing workers (P3) wasted %d takes on %d messages, %.1f for each. One script (P4) wasted %d on %d.",
		racers, r.Wasted, r.Taken, float64(r.Wasted)/float64(r.Taken), s.Wasted, s.Taken)
	return nil
}

// wave schedules n messages for the same instant, in each of the queues, and waits for it.
func (a *act) wave(ctx context.Context, number, n int, queues ...queue.Queue) error {
	payloads := make([]string, n)
	for i := range payloads {
		payloads[i] = fmt.Sprintf(`{"wave":%d,"n":%d}`, number+1, i+1)
	}
	due := time.Now().Add(a.scaled(1700 * time.Millisecond))
	for _, q := range queues {
		if err := a.schedule(ctx, q, due, payloads); err != nil {
			return err
		}
	}
	return a.pause(ctx, 1700*time.Millisecond)
}

// atOnce is a handler that takes no time.
func atOnce(context.Context, queue.Message) error { return nil }

// sum adds up what a race is about.
func sum(all []*player) (s queue.ConsumerStats) {
	for _, p := range all {
		one := p.Stats()
		s.Taken += one.Taken
		s.Wasted += one.Wasted
	}
	return s
}
