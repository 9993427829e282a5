package handler_test

import (
	"math"
	"testing"
	"time"

	"redq/queue/handler"
)

func TestParseSimulation(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct {
		text  string
		want  handler.Simulation
		again string // what String makes of it
	}{
		{"", handler.Simulation{}, ""},
		{"latency=50ms±20ms fail=5% crash=1% panic=0.1% seed=7",
			handler.Simulation{Latency: 50 * ms, Spread: 20 * ms, Fail: 0.05, Crash: 0.01, Panic: 0.001, Seed: 7},
			"latency=50ms±20ms fail=5% crash=1% panic=0.1% seed=7"},
		{"latency=50ms+-20ms", handler.Simulation{Latency: 50 * ms, Spread: 20 * ms}, "latency=50ms±20ms"},
		{" seed=7,\tfail=0.05, wait=90s ", handler.Simulation{Fail: 0.05, Wait: 90 * time.Second, Seed: 7}, "fail=5% wait=1m30s seed=7"},
		{"latency=0.5s", handler.Simulation{Latency: 500 * ms}, "latency=500ms"},
		{"latency=0 fail=0% seed=0 wait=0s", handler.Simulation{}, ""},
		{"fail=100%", handler.Simulation{Fail: 1}, "fail=100%"},
		{"fail=1", handler.Simulation{Fail: 1}, "fail=100%"},
		{"defer=7%", handler.Simulation{Defer: 0.07}, "defer=7%"},
		{"defer=0.0001%", handler.Simulation{Defer: 0.000001}, "defer=0.0001%"},
		{"defer=12.50%", handler.Simulation{Defer: 0.125}, "defer=12.5%"},
		{"seed=18446744073709551615", handler.Simulation{Seed: math.MaxUint64}, "seed=18446744073709551615"},
	}
	for _, tt := range tests {
		got, err := handler.ParseSimulation(tt.text)
		if err != nil || got != tt.want {
			t.Errorf("%q: %+v, %v; want %+v", tt.text, got, err, tt.want)
		}
		if got.String() != tt.again {
			t.Errorf("%q is written %q, want %q", tt.text, got, tt.again)
		}
	}
}

func TestParseSimulationTellsWhatIsWrong(t *testing.T) {
	tests := []struct{ text, want string }{
		{"slow", `"slow": expected name=value`},
		{"speed=1", `"speed=1": unknown: expected latency, fail, defer, crash, panic, wait or seed`},
		{"spread=1s", `"spread=1s": unknown: expected latency, fail, defer, crash, panic, wait or seed`},
		{"fail=1% fail=2%", `"fail=2%": fail was given before`},
		{"latency=50", `"latency=50": expected a time such as 50ms or 1.5s`},
		{"latency=1s±", `"latency=1s±": expected a time such as 50ms or 1.5s`},
		{"latency=1s±2s", "latency=1s±2s: the spread is larger than the latency"},
		{"latency=-1s", "latency=-1s: a time cannot be negative"},
		{"wait=soon", `"wait=soon": expected a time such as 50ms or 1.5s`},
		{"fail=often", `"fail=often": expected a percentage such as 5% or a share such as 0.05`},
		{"fail=%", `"fail=%": expected a percentage such as 5% or a share such as 0.05`},
		{"fail=5", "fail=5: a rate is a share from 0 to 1, or a percentage such as 5%"},
		{"fail=NaN", "fail=NaN: a rate is a share from 0 to 1, or a percentage such as 5%"},
		{"fail=60% crash=50%", "the rates add up to more than 100%"},
		{"seed=-1", `"seed=-1": expected a whole number of at most 64 bits`},
		{"fail=\x1b[2J", `"fail=\x1b[2J": expected a percentage such as 5% or a share such as 0.05`},
	}
	for _, tt := range tests {
		got, err := handler.ParseSimulation(tt.text)
		wantText(t, err, tt.want)
		if got != (handler.Simulation{}) {
			t.Errorf("%q: %+v", tt.text, got)
		}
	}
}

// What String writes is read back to the last bit.
func FuzzSimulationText(f *testing.F) {
	f.Add(int64(50e6), int64(20e6), 0.05, 0.07, 1.0/3, 5e-324, int64(0), uint64(7))
	f.Add(int64(math.MaxInt64), int64(1), 0.1+0.2, 0.29, 0.1, 0.07, int64(time.Hour), uint64(math.MaxUint64))
	f.Fuzz(func(t *testing.T, latency, spread int64, fail, deferred, crash, panics float64, wait int64, seed uint64) {
		s := handler.Simulation{
			Latency: time.Duration(latency), Spread: time.Duration(spread), Wait: time.Duration(wait),
			Fail: fail, Defer: deferred, Crash: crash, Panic: panics, Seed: seed,
		}
		if s.Validate() != nil {
			t.Skip()
		}
		if got, err := handler.ParseSimulation(s.String()); err != nil || got != s {
			t.Errorf("%q was read as %+v, %v; want %+v", s, got, err, s)
		}
	})
}

func FuzzParseSimulation(f *testing.F) {
	for _, s := range []string{"latency=50ms±20ms fail=5%", "fail=0x1p-3", "fail=1e-400", "latency=1s±1s±1s", "seed=+1", "fail=-0%", "fail=.5%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := handler.ParseSimulation(text)
		if err != nil {
			return
		}
		if got, err := handler.ParseSimulation(s.String()); err != nil || got != s {
			t.Errorf("%q is %+v, written %q and read as %+v, %v", text, s, s, got, err)
		}
	})
}
