package bench

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/queuetest"
)

// rounds is how often each way has its turn.
const rounds = 3

// rig is a benchmark with a server of its own, redq's client on it and a queue.
type rig struct {
	*testing.B
	server *queuetest.Server
	client *queue.Client
	queue  queue.Queue
}

func newRig(b *testing.B) *rig {
	s := queuetest.Redis(b)
	c, err := queue.Open(b.Context(), queue.Options{URL: s.URL})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	return &rig{B: b, server: s, client: c, queue: queue.Named("orders")}
}

// must ends the benchmark on an error.
func (r *rig) must(err error) {
	if err != nil {
		r.Helper()
		r.Fatal(err)
	}
}

// way is one way to work through messages.
type way struct {
	name string
	n    int                         // messages a turn
	lay  func(n int)                 // lays them down; not timed, and nil when there is nothing to lay down
	run  func(n int) (finish func()) // works through them; finish, not timed, stops and checks
}

// race lets the ways take turns on the rig's server and reports a row for each, with
// how many times as fast the first one, redq, was in the same turn.
func (r *rig) race(ways ...way) {
	speed, cost := make([][]float64, len(ways)), make([][]float64, len(ways))
	for range rounds {
		for i, w := range ways {
			r.must(r.server.Client.FlushAll(r.Context()).Err())
			if w.lay != nil {
				w.lay(w.n)
			}
			debug.FreeOSMemory() // what laying them down has left is nobody's cost
			cpu, start := r.serverCPU(), time.Now()
			finish := w.run(w.n)
			took := time.Since(start)
			cpu = r.serverCPU() - cpu
			finish()
			speed[i] = append(speed[i], float64(w.n)/took.Seconds())
			cost[i] = append(cost[i], cpu*1e6/float64(w.n))
		}
	}
	for i, w := range ways {
		var ratios []float64
		for turn := range rounds {
			ratios = append(ratios, speed[0][turn]/speed[i][turn])
		}
		r.report(w.name, row{"msg/s": median(speed[i]), "redq/this": median(ratios), "server-µs/msg": median(cost[i])})
	}
}

// row is what is reported of one way, by unit.
type row map[string]float64

// report prints a row of the benchmark's table.
func (r *rig) report(name string, values row) {
	r.Run(name, func(b *testing.B) {
		b.ReportMetric(0, "ns/op") // left out when 0: a turn is no operation
		for unit, v := range values {
			b.ReportMetric(v, unit)
		}
	})
}

// serverCPU returns the seconds that the server has worked for so far.
func (r *rig) serverCPU() float64 { return r.info("used_cpu_user") + r.info("used_cpu_sys") }

// info returns a number of the server's INFO.
func (r *rig) info(field string) float64 {
	text, err := r.server.Client.Info(r.Context(), "default").Result()
	r.must(err)
	_, after, _ := strings.Cut(text, field+":")
	line, _, _ := strings.Cut(after, "\r\n")
	v, err := strconv.ParseFloat(line, 64)
	r.must(err)
	return v
}

// message returns the i-th message, of about 100 bytes.
func message(i int) []byte {
	return fmt.Appendf(nil, `{"id":"%032d","msg":"an order of about a hundred bytes, as orders are"}`, i)
}

// numberOf returns which message it is.
func numberOf(payload []byte) int {
	i, err := strconv.Atoi(string(payload[len(`{"id":"`):][:32]))
	if err != nil {
		panic(err) // not one of ours
	}
	return i
}

func messages(n int) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		all[i] = message(i)
	}
	return all
}

// countdown returns a function to be called n times, and a channel that closes then.
func countdown(n int) (one func(), all <-chan struct{}) {
	var left sync.WaitGroup
	left.Add(n)
	done := make(chan struct{})
	go func() {
		left.Wait()
		close(done)
	}()
	return left.Done, done
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
