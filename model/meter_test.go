package model

import (
	"testing"
	"time"

	"redq/queue"
)

func TestMeterMeasuresOverTheLastSeconds(t *testing.T) {
	var m Meter
	if m.Rate(CountDone).OK {
		t.Error("a rate of nothing")
	}
	at, done := epoch, int64(0)
	step := func(seconds int, perSecond int64) {
		for range seconds {
			m = m.add(at, queue.ConsumerStats{Done: done})
			at, done = at.Add(time.Second), done+perSecond
		}
	}
	step(1, 100)
	if m.Rate(CountDone).OK {
		t.Error("a rate of one point")
	}
	step(20, 100)
	if got := m.Rate(CountDone); !got.OK || got.PerSecond != 100 {
		t.Errorf("steady: %+v", got)
	}
	step(3, 0)
	if got := m.Rate(CountDone).PerSecond; got <= 0 || got >= 100 {
		t.Errorf("falling: %v", got)
	}
	step(10, 0)
	if got := m.Rate(CountDone); got.PerSecond != 0 || !got.OK {
		t.Errorf("stopped: %+v", got)
	}
	step(500, 7)
	if n := len(m.points); n > 123 {
		t.Errorf("%d points are kept", n)
	}
	if all := m.Throughput(); len(all) < 119 || all[len(all)-1].PerSecond != 7 {
		t.Errorf("throughput of %d points, the last %+v", len(all), all[len(all)-1])
	}
}

func TestMeterTakesNoPointsThatLieTooClose(t *testing.T) {
	var m Meter
	for i := range 100 {
		m = m.add(epoch.Add(time.Duration(i)*100*time.Millisecond), queue.ConsumerStats{Taken: int64(i)})
	}
	if n := len(m.points); n != 12 {
		t.Errorf("%d points of 10 s", n)
	}
}

func TestEachCounterHasItsNumber(t *testing.T) {
	s := queue.ConsumerStats{Taken: 1, Done: 2, Failed: 3, Retried: 4, Deferred: 5, Dead: 6, Kept: 7, Dropped: 8,
		Returned: 9, Crashed: 10, NotOurs: 11, Promoted: 12, Recovered: 13, Errors: 14, Wasted: 15}
	for i, n := range countersOf(s) {
		if n != int64(i)+1 || Counter(i).String() == "" {
			t.Errorf("%d is %d, named %q", i, n, Counter(i))
		}
	}
	c := OwnConsumer{Stats: s, Settings: ConsumerSettings{Pattern: queue.ZsetRace}}
	main, others := c.Counters()
	if len(main) != 6 || len(others) != 8 {
		t.Errorf("%d main counters and %d others", len(main), len(others))
	}
	if main, others := (OwnConsumer{}).Counters(); len(main) != 6 || len(others) != 0 {
		t.Errorf("of nothing %d and %d", len(main), len(others))
	}
	if waste, ok := c.Waste(); !ok || waste != 15 {
		t.Errorf("waste %v, %v", waste, ok)
	}
	c.Settings.Pattern = queue.Pipeline
	if _, ok := c.Waste(); ok {
		t.Error("a pipeline races for nothing")
	}
}
