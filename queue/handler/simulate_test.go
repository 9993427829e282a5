package handler_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redq/queue"
	"redq/queue/handler"
)

// fate is what a simulated handler did with a message.
func fate(h queue.Handler, m queue.Message) (what string) {
	defer func() {
		if v := recover(); v != nil {
			what = fmt.Sprint(v)
		}
	}()
	switch err := h(context.Background(), m); {
	case err == nil:
		return "done"
	case err == queue.ErrCrash:
		return "crash"
	default:
		return err.Error()
	}
}

func fates(h queue.Handler, n int) map[string]int {
	count := map[string]int{}
	for i := range n {
		count[fate(h, message(fmt.Sprintf("message %d", i)))]++
	}
	return count
}

func TestSimulateKeepsItsRates(t *testing.T) {
	const n = 20_000
	h := must(handler.Simulate(handler.Simulation{Fail: 0.2, Defer: 0.1, Crash: 0.05, Panic: 0.01, Seed: 7}))(t)
	got := fates(h, n)
	want := map[string]float64{"simulated failure": 0.2, "simulated deferral": 0.1, "crash": 0.05, "simulated panic": 0.01, "done": 0.64}
	for what, rate := range want {
		// The draws are fixed by the seed: these bounds are no matter of luck.
		if share := float64(got[what]) / n; math.Abs(share-rate) > 0.01 {
			t.Errorf("%s: %v of the messages, want %v", what, share, rate)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%v", got)
	}
}

func TestSimulateExtremes(t *testing.T) {
	for want, s := range map[string]handler.Simulation{
		"done":               {},
		"simulated failure":  {Fail: 1},
		"simulated deferral": {Defer: 1},
		"crash":              {Crash: 1},
		"simulated panic":    {Panic: 1},
	} {
		if got := fates(must(handler.Simulate(s))(t), 1000); got[want] != 1000 {
			t.Errorf("%s: %v", want, got)
		}
	}
}

func TestSimulateDefers(t *testing.T) {
	wantDeferred(t, must(handler.Simulate(handler.Simulation{Defer: 1}))(t)(t.Context(), message("a")), 5*time.Second)
	wantDeferred(t, must(handler.Simulate(handler.Simulation{Defer: 1, Wait: time.Hour}))(t)(t.Context(), message("a")), time.Hour)
}

// A run can be repeated, whatever the order of its goroutines.
func TestSimulateIsReproducible(t *testing.T) {
	run := func(seed uint64, order func(i int) int) map[string]string {
		h := must(handler.Simulate(handler.Simulation{Fail: 0.3, Defer: 0.3, Crash: 0.1, Panic: 0.1, Seed: seed}))(t)
		var mu sync.Mutex
		seen := map[string]string{}
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				m := message(fmt.Sprint(order(i) / 2))
				m.Attempts = order(i) % 2
				what := fate(h, m)
				mu.Lock()
				defer mu.Unlock()
				seen[fmt.Sprint(string(m.Payload), " ", m.Attempts)] = what
			})
		}
		wg.Wait()
		return seen
	}
	forward := run(7, func(i int) int { return i })
	backward := run(7, func(i int) int { return 199 - i })
	other := run(8, func(i int) int { return i })
	if len(forward) != 200 {
		t.Fatal(len(forward))
	}
	differs, attempts := 0, 0
	for m, what := range forward {
		if backward[m] != what {
			t.Errorf("%s: %s and %s", m, what, backward[m])
		}
		if other[m] != what {
			differs++
		}
		if second := strings.TrimSuffix(m, "0") + "1"; strings.HasSuffix(m, " 0") && forward[second] != what {
			attempts++
		}
	}
	if differs < 50 || attempts < 25 {
		t.Errorf("the seed matters for %d of 200 messages, the attempt for %d of 100", differs, attempts)
	}
}

func TestSimulateTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := must(handler.Simulate(handler.Simulation{Latency: 50 * time.Millisecond, Spread: 20 * time.Millisecond}))(t)
		shortest, longest := time.Hour, time.Duration(0)
		for i := range 1000 {
			start := time.Now()
			if err := h(t.Context(), message(fmt.Sprint(i))); err != nil {
				t.Fatal(err)
			}
			took := time.Since(start)
			shortest, longest = min(shortest, took), max(longest, took)
		}
		if shortest < 30*time.Millisecond || shortest > 32*time.Millisecond || longest < 68*time.Millisecond || longest > 70*time.Millisecond {
			t.Errorf("from %s to %s", shortest, longest)
		}
	})
}

func TestSimulateEndsWithItsContext(t *testing.T) {
	for _, cause := range causes() {
		synctest.Test(t, func(t *testing.T) {
			h := must(handler.Simulate(handler.Simulation{Latency: time.Hour, Fail: 1}))(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(cause) })
			start := time.Now()
			if err := h(ctx, message("a")); !errors.Is(err, cause) || time.Since(start) != time.Second {
				t.Errorf("%v after %s, want %v", err, time.Since(start), cause)
			}
		})
		h := must(handler.Simulate(handler.Simulation{}))(t)
		if err := h(ended(cause), message("a")); !errors.Is(err, cause) {
			t.Errorf("%v, want %v", err, cause)
		}
	}
}

func TestSimulationIsChecked(t *testing.T) {
	tests := []struct {
		s    handler.Simulation
		want string
	}{
		{handler.Simulation{Latency: -time.Second}, "latency=-1s: a time cannot be negative"},
		{handler.Simulation{Wait: -time.Second}, "wait=-1s: a time cannot be negative"},
		{handler.Simulation{Latency: 1, Spread: -1}, "spread=-1ns: a time cannot be negative"},
		{handler.Simulation{Latency: 1, Spread: 2}, "latency=1ns±2ns: the spread is larger than the latency"},
		{handler.Simulation{Fail: -0.1}, "fail=-0.1: a rate is a share from 0 to 1, or a percentage such as 5%"},
		{handler.Simulation{Crash: 1.1}, "crash=1.1: a rate is a share from 0 to 1, or a percentage such as 5%"},
		{handler.Simulation{Panic: math.NaN()}, "panic=NaN: a rate is a share from 0 to 1, or a percentage such as 5%"},
		{handler.Simulation{Defer: math.Inf(1)}, "defer=+Inf: a rate is a share from 0 to 1, or a percentage such as 5%"},
		{handler.Simulation{Fail: 0.6, Defer: 0.5}, "the rates add up to more than 100%"},
	}
	for _, tt := range tests {
		wantText(t, tt.s.Validate(), tt.want)
		if _, err := handler.Simulate(tt.s); err == nil {
			t.Errorf("%+v was taken", tt.s)
		}
	}
	if err := (handler.Simulation{Fail: 0.1 + 0.2, Defer: 0.3, Crash: 0.3, Panic: 0.1}).Validate(); err != nil {
		t.Error("a sum of 1 but for rounding:", err)
	}
}
