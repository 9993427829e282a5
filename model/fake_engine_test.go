package model

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"redq/queue"
	"redq/queue/demo/scene"
)

// fakeEngine runs consumers that do what a test tells them to.
type fakeEngine struct {
	refuses  map[queue.Pattern]error
	startErr error
	last     int
	runs     map[int]*fakeRun
	watches  int
	ended    bool // EndConsumers was called
}

// fakeRun is one consumer; a test changes what is new of it.
type fakeRun struct {
	settings  ConsumerSettings
	news      ConsumerNews
	stopped   bool
	abandoned bool
}

var errUnsuited = errors.New("that pattern takes from elsewhere")

func (f *fake) CheckConsumer(s ConsumerSettings) error { return f.engine.refuses[s.Pattern] }

func (f *fake) StartConsumer(s ConsumerSettings) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.call("StartConsumer"); err != nil || f.engine.startErr != nil {
		return 0, errors.Join(err, f.engine.startErr)
	}
	e := &f.engine
	e.last++
	if e.runs == nil {
		e.runs = map[int]*fakeRun{}
	}
	stats := queue.ConsumerStats{ID: "c" + s.Queue.Name, Pattern: s.Pattern, State: queue.ConsumerRunning, Started: f.now}
	e.runs[e.last] = &fakeRun{settings: s, news: ConsumerNews{ID: e.last, Stats: stats}}
	return e.last, nil
}

// StopConsumer ends a consumer that has nothing in hand.
func (f *fake) StopConsumer(id int) {
	r := f.engine.runs[id]
	r.stopped = true
	r.news.Stats.State = queue.ConsumerStopping
	if r.news.Stats.InHand == 0 {
		r.end(nil)
	}
}

func (f *fake) AbandonConsumer(id int) {
	f.engine.runs[id].abandoned = true
	f.engine.runs[id].end(queue.ErrAbandoned)
}

func (f *fake) ForgetConsumer(id int) { delete(f.engine.runs, id) }

func (f *fake) WatchConsumers() []ConsumerNews {
	f.engine.watches++
	var all []ConsumerNews
	for _, id := range slices.Sorted(maps.Keys(f.engine.runs)) {
		r := f.engine.runs[id]
		all = append(all, r.news)
		r.news.Events, r.news.LeftOut = nil, 0
	}
	return all
}

func (f *fake) EndConsumers(context.Context) { f.engine.ended = true }

func (f *fake) Consumers(context.Context, queue.Queue) (queue.Consumers, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.consumers, f.call("Consumers")
}

func (f *fake) Failures(_ context.Context, _ queue.Queue, ms []queue.Message) ([]queue.Failed, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]queue.Failed, len(ms))
	for i, m := range ms {
		all[i] = f.failures[string(m.Payload)]
		all[i].Payload = m.Payload
	}
	return all, f.call("Failures")
}

func (r *fakeRun) end(err error) {
	r.news.Ended, r.news.Err = true, err
	r.news.Stats.State = queue.ConsumerStopped
}

// holds puts messages into the consumer's hand.
func (r *fakeRun) holds(at time.Time, payloads ...string) {
	r.news.InHand = nil
	for i, s := range payloads {
		h := queue.Hand{Message: queue.Message{Payload: []byte(s), Size: int64(len(s))}, Since: at}
		if i == 0 {
			h.Started = at
		}
		r.news.InHand = append(r.news.InHand, h)
	}
	r.news.Stats.InHand = len(payloads)
}

// tells adds an event.
func (r *fakeRun) tells(at time.Time, k queue.EventKind, payload string, err error) {
	r.news.Events = append(r.news.Events, queue.Event{
		Time: at, Kind: k, Message: queue.Message{Payload: []byte(payload), Size: int64(len(payload))}, Err: err, Attempt: 1,
	})
}

// fakeStage plays scenes that a test writes.
type fakeStage struct {
	line   scene.Line
	played []string
	err    error
}

func (s *fakeStage) Scenes() []scene.Scene {
	return []scene.Scene{
		{Name: "crash", Title: "A worker dies", Explain: "A plain pop loses the message in hand, a backup list keeps it."},
		{Name: "poison", Title: "A poison message", Explain: "It fails until its limit, then it is dead."},
	}
}

func (s *fakeStage) Play(_ context.Context, name string) error {
	s.played = append(s.played, name)
	return s.err
}

func (s *fakeStage) Line() scene.Line { return s.line }
