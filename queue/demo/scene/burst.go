package scene

import (
	"context"
	"time"

	"redq/queue"
)

func burstQueues() (poll, pipeline queue.Queue) {
	pipeline = queue.Named(Prefix + "burst-pipeline")
	pipeline.Pattern = queue.Pipeline
	return delayedQueue("burst-poll", queue.ZsetRace), pipeline
}

const (
	bursts       = 4
	inBurst      = 100 // messages that are due at once: many for the embedded server
	burstWorkers = 4
	pollEvery    = 500 * time.Millisecond
)

// playBurst lets many messages become due at once, for a consumer that polls and for
// one that sleeps until they are due.
func playBurst(ctx context.Context, a *act) error {
	pollQueue, pipelineQueue := burstQueues()
	poll, err := a.hire(&queue.Consumer{
		Queue: pollQueue, ID: "poller", Concurrency: burstWorkers, Handler: atOnce,
		Idle: queue.Idle{Sleep: a.scaled(pollEvery)},
	})
	if err != nil {
		return err
	}
	pipeline, err := a.hire(&queue.Consumer{
		Queue: pipelineQueue, ID: "sleeper", Concurrency: burstWorkers, Handler: atOnce, Heartbeat: a.heartbeat(time.Second),
	})
	if err != nil {
		return err
	}
	for burst := range bursts {
		if err := a.wave(ctx, burst, inBurst, pollQueue, pipelineQueue); err != nil {
			return err
		}
		want := int64((burst + 1) * inBurst)
		err := a.until(ctx, func() (bool, error) {
			p, s := poll.Stats(), pipeline.Stats()
			a.tell("Burst %d of %d, %d due at once. P3 polls: %d handled, late p50 %s, p99 %s. P8: %d handled, p50 %s, p99 %s.",
				burst+1, bursts, inBurst, p.Done, brief(p.LateP50), brief(p.LateP99), s.Done, brief(s.LateP50), brief(s.LateP99))
			return p.Done == want && s.Done == want, nil
		})
		if err != nil {
			return err
		}
		if err := a.pause(ctx, time.Second); err != nil {
			return err
		}
	}
	p, s := poll.Stats(), pipeline.Stats()
	a.tell("Lateness of %d, p50 and p99: P3, which looks every %s, %s and %s. P8, which sleeps until the due time, %s and %s.",
		s.Done, a.scaled(pollEvery), brief(p.LateP50), brief(p.LateP99), brief(s.LateP50), brief(s.LateP99))
	return nil
}

// brief is a duration with no more digits than mean something here.
func brief(d time.Duration) string {
	if d < 10*time.Millisecond {
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(time.Millisecond).String()
}
