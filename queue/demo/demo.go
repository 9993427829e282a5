// Package demo runs an embedded server with queues of every pattern and the
// programs that feed and drain them, badly at times, and plays scenes on it. It knows how
// such programs behave, and nothing of those that watch them.
package demo

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"redq/queue"
	"redq/queue/demo/scene"
)

// Options say how the demo runs. The zero value listens on a free loopback port.
type Options struct {
	// Addr is host:port to listen on; "" means 127.0.0.1 and a free port.
	Addr string
	// Seed decides what the queues hold at the start; equal seeds give equal messages.
	Seed int64
	// Logf receives the errors of the demo's programs; nil drops them.
	Logf func(format string, args ...any)
}

// Demo is a server full of queues that move. It can be joined by redis-cli.
type Demo struct {
	mini   *miniredis.Miniredis
	rdb    *redis.Client // of the demo's programs
	client *queue.Client // of those that use the library
	stage  *scene.Stage
	logf   func(format string, args ...any)
	stop   context.CancelFunc
	work   sync.WaitGroup

	trial trial

	mu     sync.Mutex
	stats  map[string]*Stats
	serial int // of messages
	hired  int // consumers so far
}

// trial is what tests change.
type trial struct {
	speed   int                         // everything takes so many times less
	handled func(queue, payload string) // told of every message that a consumer was done with
}

// Stats counts what the demo's own programs did with a queue since the start.
type Stats struct {
	Queue    string
	Produced int64 // messages enqueued, those of the start included
	Handled  int64 // handled and, where the pattern knows that, acknowledged
	Failed   int64 // handlers that failed: retried, deferred, dead, or left in backup
	Crashed  int64 // workers that died with a message in hand
	Lost     int64 // messages that were lost by that: all where the pattern has no backup
}

// Start starts the server, fills it and sets its programs to work. They run until
// Close, or until ctx ends; the server runs until Close.
func Start(ctx context.Context, o Options) (*Demo, error) {
	return start(ctx, o, trial{speed: 1, handled: func(string, string) {}})
}

func start(ctx context.Context, o Options, t trial) (*Demo, error) {
	addr := o.Addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	mini := miniredis.NewMiniRedis()
	if err := mini.StartAddr(addr); err != nil {
		return nil, fmt.Errorf("starting the embedded server on %s: %w", addr, err)
	}
	d := &Demo{mini: mini, logf: o.Logf, stats: map[string]*Stats{}, trial: t}
	if d.logf == nil {
		d.logf = func(string, ...any) {}
	}
	d.rdb = redis.NewClient(&redis.Options{
		Addr: mini.Addr(), ClientName: "demo", Protocol: 2, DisableIdentity: true, PoolSize: 32,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	if err := d.prepare(ctx, o.Seed); err != nil {
		d.Close()
		return nil, err
	}
	ctx, d.stop = context.WithCancel(ctx)
	for i, do := range d.workloads() {
		r := rand.New(rand.NewPCG(uint64(o.Seed), uint64(i)+1))
		d.work.Go(func() { d.repeat(ctx, r, do) })
	}
	for _, c := range d.crew() {
		d.work.Go(func() { d.employ(ctx, c) })
	}
	d.work.Go(func() { d.expire(ctx) })
	return d, nil
}

// prepare lays down what the keys hold at the start, and opens what the consumers need.
func (d *Demo) prepare(ctx context.Context, seed int64) (err error) {
	for _, f := range initial(rand.New(rand.NewPCG(uint64(seed), 0)), time.Now()) {
		if err := d.fill(ctx, f); err != nil {
			return fmt.Errorf("filling %s: %w", f.key, err)
		}
	}
	d.client, err = queue.Open(ctx, queue.Options{URL: "redis://" + d.Addr(), Name: "demo"})
	if err != nil {
		return err
	}
	d.stage = scene.NewStage(scene.Options{Client: d.client, Redis: d.rdb, Speed: d.trial.speed})
	return nil
}

// Addr returns host:port of the server.
func (d *Demo) Addr() string { return d.mini.Addr() }

// Stage returns where scenes are played, on the demo's server.
func (d *Demo) Stage() *scene.Stage { return d.stage }

// Close stops the scene that plays, the programs and the server. It can be called again.
func (d *Demo) Close() {
	if d.stop != nil {
		d.stop()
	}
	d.mini.Close() // first: nobody waits for a blocking pop
	if d.stage != nil {
		d.stage.Close()
	}
	d.work.Wait()
	_ = d.rdb.Close()
	if d.client != nil {
		_ = d.client.Close()
	}
}

// Stats returns the counts of every queue, sorted as Tour is.
func (d *Demo) Stats() []Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []Stats
	for _, q := range d.Queues() {
		s := Stats{Queue: q.Name}
		if have := d.stats[q.Name]; have != nil {
			s = *have
		}
		all = append(all, s)
	}
	return all
}

// count changes the counts of a queue.
func (d *Demo) count(name string, change func(*Stats)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.stats[name]
	if s == nil {
		s = &Stats{Queue: name}
		d.stats[name] = s
	}
	change(s)
}

// done counts a message that was handled to the end.
func (d *Demo) done(name, payload string) {
	d.count(name, func(s *Stats) { s.Handled++ })
	d.trial.handled(name, payload)
}

// lost counts a consumer that died with a message that is nowhere else.
func (d *Demo) lost(name string) {
	d.count(name, func(s *Stats) { s.Crashed++; s.Lost++ })
}

func (d *Demo) produced(name string, n int) {
	d.count(name, func(s *Stats) { s.Produced += int64(n) })
}

// next numbers the messages that are produced while the demo runs.
func (d *Demo) next() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.serial++
	return firstSerial + d.serial
}

// workload is one program: it does one thing and says how long it rests.
type workload func(ctx context.Context, r *rand.Rand) (rest time.Duration, err error)

func (d *Demo) repeat(ctx context.Context, r *rand.Rand, do workload) {
	for ctx.Err() == nil {
		rest, err := do(ctx, r)
		if err != nil && !errors.Is(err, redis.Nil) {
			if ctx.Err() != nil {
				return
			}
			d.logf("demo: %v", err)
			rest = time.Second
		}
		d.pause(ctx, rest)
	}
}

// expire moves the clock of the embedded server, which does not by itself take
// away keys whose time to live is over.
func (d *Demo) expire(ctx context.Context) {
	for last := time.Now(); ctx.Err() == nil; {
		d.pause(ctx, 500*time.Millisecond)
		now := time.Now()
		d.mini.FastForward(now.Sub(last))
		last = now
	}
}

func (d *Demo) pause(ctx context.Context, t time.Duration) {
	if t <= 0 {
		return
	}
	timer := time.NewTimer(d.scaled(t))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// scaled is how long something takes that takes t at the speed of 1.
func (d *Demo) scaled(t time.Duration) time.Duration { return t / time.Duration(d.trial.speed) }

// fill lays down a key as it is at the start.
func (d *Demo) fill(ctx context.Context, f filling) error {
	d.produced(f.queue, len(f.payloads))
	pipe := d.rdb.Pipeline()
	for i, p := range f.payloads {
		if f.due == nil {
			pipe.LPush(ctx, f.key, p)
			continue
		}
		addDelayed(ctx, pipe, f.key, f.unit.Score(f.due[i]), p)
	}
	for i, reason := range f.reasons {
		entry := fmt.Sprintf("%d %d %s", paymentAttempts, time.Now().Add(-time.Hour).UnixMilli(), reason)
		pipe.HSet(ctx, d.queue(f.queue).MetaKey(), fmt.Sprintf("%x", sha1.Sum([]byte(f.payloads[i]))), entry)
	}
	_, err := pipe.Exec(ctx)
	return err
}

// doer is a client or a pipeline.
type doer interface {
	Do(ctx context.Context, args ...any) *redis.Cmd
}

// addDelayed adds a member unless it is there, with the score's text as it is.
func addDelayed(ctx context.Context, rdb doer, key string, score queue.Score, payload string) *redis.Cmd {
	return rdb.Do(ctx, "ZADD", key, "NX", string(score), payload)
}
