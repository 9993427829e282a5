package handler

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"redq/queue"
)

// defaultWait is how far a message is put off when nobody says how far.
const defaultWait = 5 * time.Second

// errSimulated is the error of a simulated failure.
var errSimulated = errors.New("simulated failure")

// Simulation says how a simulated handler behaves. The zero value is done at once with
// every message.
//
// The rates are shares of the messages from 0 to 1. A message meets one fate at most, so
// together they are 1 at most; the rest is done.
type Simulation struct {
	Latency time.Duration // how long handling takes
	// Spread makes each message take Latency give or take up to Spread, evenly
	// distributed. It is at most Latency.
	Spread time.Duration

	Fail  float64 // fails
	Defer float64 // is put off by Wait
	Crash float64 // ErrCrash: the worker dies with the message in hand
	Panic float64 // panics

	// Wait is how far Defer puts a message off; 0 means 5 s.
	Wait time.Duration
	// Seed, the payload and the number of the attempt decide the fate of a message, so that a
	// run can be repeated whatever the order of its goroutines. Equal payloads share a fate.
	// So does every attempt where the queue keeps no count of them.
	Seed uint64
}

// Validate tells what is out of range.
func (s Simulation) Validate() error {
	for _, d := range s.durations() {
		if *d.value < 0 {
			return fmt.Errorf("%s=%s: a time cannot be negative", d.name, *d.value)
		}
	}
	if s.Spread > s.Latency {
		return fmt.Errorf("latency=%s±%s: the spread is larger than the latency", s.Latency, s.Spread)
	}
	sum := 0.0
	for _, r := range s.rates() {
		if !(*r.value >= 0 && *r.value <= 1) { // NaN is neither
			return fmt.Errorf("%s=%v: a rate is a share from 0 to 1, or a percentage such as 5%%", r.name, *r.value)
		}
		sum += *r.value
	}
	if sum > 1+1e-9 { // ten times 0.1 is a little more than 1
		return errors.New("the rates add up to more than 100%")
	}
	return nil
}

// Simulate returns a handler that does nothing but take time and fail, as s says. The
// error is that of s.Validate.
func Simulate(s Simulation) (queue.Handler, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if s.Wait == 0 {
		s.Wait = defaultWait
	}
	return func(ctx context.Context, m queue.Message) error {
		luck, pace := s.draw(m)
		if err := pause(ctx, s.latency(pace)); err != nil {
			return err
		}
		return s.fate(luck)
	}, nil
}

// draw returns two numbers in [0, 1) that belong to the message alone.
func (s Simulation) draw(m queue.Message) (luck, pace float64) {
	h := sha256.New()
	var head [16]byte
	binary.BigEndian.PutUint64(head[:8], s.Seed)
	binary.BigEndian.PutUint64(head[8:], uint64(attempt(m)))
	h.Write(head[:])
	h.Write(m.Payload)
	sum := h.Sum(nil)
	return unit(sum[:8]), unit(sum[8:16])
}

// unit makes a number in [0, 1) of 8 random bytes: 53 bits are what a float64 holds.
func unit(b []byte) float64 { return float64(binary.BigEndian.Uint64(b)>>11) / (1 << 53) }

func (s Simulation) latency(pace float64) time.Duration {
	return s.Latency + time.Duration(float64(s.Spread)*(2*pace-1))
}

func (s Simulation) fate(luck float64) error {
	if luck < s.Crash {
		return queue.ErrCrash
	}
	luck -= s.Crash
	if luck < s.Panic {
		panic("simulated panic")
	}
	luck -= s.Panic
	if luck < s.Fail {
		return errSimulated
	}
	luck -= s.Fail
	if luck < s.Defer {
		return queue.Defer(s.Wait, errors.New("simulated deferral"))
	}
	return nil
}

// pause waits for d, or returns the cause of ctx when that ends first.
func pause(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
