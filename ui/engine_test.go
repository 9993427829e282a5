package ui

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"redq/model"
	"redq/queue"
	played "redq/queue/demo/scene"
)

// fakeEngine pretends to run consumers: each does as its pattern would on a busy queue.
type fakeEngine struct {
	mu    sync.Mutex
	runs  []*fakeRun
	fails error  // of starts
	text  string // of the messages in its events; "" for a friendly one
	quiet bool   // nothing is new of any of them
	light bool   // nothing stays in hand
}

type fakeRun struct {
	settings model.ConsumerSettings
	news     model.ConsumerNews
	hold     int // messages that stay in hand
	n        int64
}

func (f *fake) CheckConsumer(s model.ConsumerSettings) error {
	q := s.Queue
	switch s.Pattern {
	case queue.ZsetRace, queue.ZsetScript, queue.Dispatch:
		if !q.Has(queue.Delayed) {
			return fmt.Errorf("pattern %s takes from delayed, and queue %q has no such place", s.Pattern, q.Name)
		}
	case queue.BackupList:
		if !q.Has(queue.Backup) {
			return fmt.Errorf("pattern %s needs a backup list, and queue %q has none", s.Pattern, q.Name)
		}
	default:
		if !q.Has(queue.Ready) {
			return fmt.Errorf("pattern %s takes from ready, and queue %q has no such place", s.Pattern, q.Name)
		}
	}
	return nil
}

func (f *fake) StartConsumer(s model.ConsumerSettings) (int, error) {
	f.engine.mu.Lock()
	defer f.engine.mu.Unlock()
	if f.engine.fails != nil {
		return 0, f.engine.fails
	}
	id := len(f.engine.runs) + 1
	r := &fakeRun{settings: s, hold: 3}
	if f.engine.light {
		r.hold = 0
	}
	r.news = model.ConsumerNews{ID: id, Stats: queue.ConsumerStats{
		ID: fmt.Sprintf("worker-%d-abcdef", id), Pattern: s.Pattern, State: queue.ConsumerRunning, Started: f.now,
	}}
	f.engine.runs = append(f.engine.runs, r)
	f.event(r, queue.Event{Kind: queue.EventStarted, Note: string(s.Pattern) + " on " + s.Queue.Name})
	return id, nil
}

func (f *fake) run(id int) *fakeRun { return f.engine.runs[id-1] }

func (f *fake) StopConsumer(id int) {
	f.engine.mu.Lock()
	defer f.engine.mu.Unlock()
	r := f.run(id)
	r.news.Stats.State = queue.ConsumerStopping
	f.event(r, queue.Event{Kind: queue.EventStopping})
	if r.hold == 0 {
		r.news.Ended = true
	}
}

func (f *fake) AbandonConsumer(id int) {
	f.engine.mu.Lock()
	defer f.engine.mu.Unlock()
	f.run(id).news.Ended, f.run(id).news.Err = true, queue.ErrAbandoned
}

func (f *fake) ForgetConsumer(int) {}

func (f *fake) EndConsumers(context.Context) {}

// WatchConsumers lets each consumer that runs go on a little.
func (f *fake) WatchConsumers() []model.ConsumerNews {
	f.engine.mu.Lock()
	defer f.engine.mu.Unlock()
	var all []model.ConsumerNews
	if f.engine.quiet {
		return nil
	}
	for _, r := range f.engine.runs {
		if !r.news.Ended && r.news.Stats.State == queue.ConsumerRunning {
			f.work(r)
		}
		f.hand(r)
		all = append(all, r.news)
		r.news.Events, r.news.LeftOut = nil, 0
	}
	return all
}

// work handles a few messages: one of 7 fails, one of 50 is dead.
func (f *fake) work(r *fakeRun) {
	s := &r.news.Stats
	for range 4 {
		r.n++
		m := queue.Event{Message: f.message(r.n), Attempt: 1 + int(r.n%3)/2}
		taken := m
		taken.Kind = queue.EventTaken
		if r.settings.Queue.Has(queue.Delayed) {
			taken.Late = time.Duration(r.n%9) * 400 * time.Microsecond
			s.LateP50, s.LateP99, s.Lates = 1600*time.Microsecond, 3*time.Millisecond, s.Taken+1
		}
		f.event(r, taken)
		s.Taken++
		m.Took = time.Duration(20+r.n%40) * time.Millisecond
		switch {
		case r.n%50 == 49:
			m.Kind, m.Err = queue.EventDead, errors.New("no such order")
			s.Dead++
		case r.n%7 == 6:
			m.Kind, m.Err = queue.EventFailed, errors.New("dial tcp 10.0.0.8:443: connect: connection refused")
			f.event(r, m)
			s.Failed++
			s.Retried++
			m.Kind, m.Err, m.Due = queue.EventRetried, nil, f.now.Add(1200*time.Millisecond)
		default:
			m.Kind = queue.EventDone
			s.Done++
		}
		f.event(r, m)
	}
	if r.settings.Pattern == queue.ZsetRace {
		s.Wasted = s.Taken * 7 / 4
	}
	if r.settings.Pattern == queue.Pipeline {
		s.Promoted, s.Recovered = s.Taken/5, 3
	}
}

func (f *fake) message(n int64) queue.Message {
	text := f.engine.text
	if text == "" {
		text = fmt.Sprintf(`{"order":%d,"sku":"S-22","step":"pay"}`, 1000+n)
	}
	return queue.Message{Payload: []byte(text), Size: int64(len(text))}
}

func (f *fake) hand(r *fakeRun) {
	r.news.InHand = nil
	for i := range int64(r.hold) {
		h := queue.Hand{Message: f.message(r.n + i), Since: f.now.Add(-time.Duration(1200-i*350) * time.Millisecond)}
		if i < 2 {
			h.Started = h.Since
		}
		r.news.InHand = append(r.news.InHand, h)
	}
	if r.news.Ended {
		r.news.InHand = nil
	}
	r.news.Stats.InHand = len(r.news.InHand)
}

func (f *fake) event(r *fakeRun, e queue.Event) {
	e.Time = f.now
	r.news.Events = append(r.news.Events, e)
}

func (f *fake) Consumers(context.Context, queue.Queue) (queue.Consumers, error) {
	return f.consumers, f.down
}

func (f *fake) Failures(_ context.Context, _ queue.Queue, ms []queue.Message) ([]queue.Failed, error) {
	all := make([]queue.Failed, len(ms))
	for i, m := range ms {
		all[i].Message = m
		all[i].Attempts, all[i].Reason, all[i].First = f.failed.Attempts, f.failed.Reason, f.failed.First
	}
	return all, nil
}

// attendedBy is an answer with one consumer of each sort.
func attendedBy(now time.Time) queue.Consumers {
	return queue.Consumers{
		Now: now,
		Known: []queue.ConsumerInfo{
			{ID: "worker-a-4711-k3j2h1", Host: "worker-a", PID: 4711, Pattern: queue.Pipeline, Started: now.Add(-3 * time.Hour), Beat: now.Add(-2 * time.Second),
				Alive: true, Backup: "orders:backup:worker-a-4711-k3j2h1", Held: 12, Concurrency: 10, Done: 120_400, Failed: 31, InHand: 10},
			{ID: "worker-b-99-zzzzzz", Host: "worker-b", PID: 99, Pattern: queue.Pipeline, Started: now.Add(-26 * time.Hour),
				Backup: "orders:backup:worker-b-99-zzzzzz", Held: 4, Concurrency: 10},
		},
		Blocked: []queue.BlockedClient{
			{ID: 81, Name: "billing", Addr: "10.0.0.7:50412", Command: "brpop", Idle: 12 * time.Second},
			{ID: 83, Addr: "10.0.0.7:50413", Command: "blmove", Idle: time.Second},
		},
	}
}

// hostileAttendance is an answer in which every text tries to reach the terminal.
func hostileAttendance(now time.Time) queue.Consumers {
	const evil = "x\x1b[2J\r\n\x07"
	return queue.Consumers{
		Now: now,
		Known: []queue.ConsumerInfo{{ID: evil + "id", Host: evil, PID: 1 << 40, Pattern: evil, Started: now, Beat: now.Add(-time.Hour),
			Alive: true, Backup: evil, Held: 1 << 50, Done: 1 << 60, Failed: 1 << 60, InHand: 1 << 40, Concurrency: 1 << 40}},
		Blocked: []queue.BlockedClient{{ID: 1 << 50, Name: evil, Addr: evil, Command: evil, Idle: 1 << 60}},
		Err:     errors.New("ERR " + evil),
	}
}

// fakeStage has one scene that has come half way.
type fakeStage struct{}

func (fakeStage) Scenes() []played.Scene {
	return []played.Scene{
		{Name: "crash", Title: "A crash", Explain: "Two consumers are killed with messages in hand: a plain list has lost them, a backup list still has them."},
		{Name: "poison", Title: "Poison messages", Explain: "One message always fails, another kills its worker: each ends in dead after its last attempt."},
		{Name: "lock", Title: "A lock conflict", Explain: "Somebody else holds a lock that three consumers need: one fails, one sleeps, one defers."},
		{Name: "race", Title: "A race", Explain: "Four workers race for the same due messages and waste takes; beside them one script takes without waste."},
		{Name: "burst", Title: "A burst", Explain: "Many messages are due at once: a consumer that polls is late, one that knows when they are due is not."},
	}
}

func (fakeStage) Play(context.Context, string) error { return nil }

func (fakeStage) Line() played.Line {
	return played.Line{Scene: "crash", Text: "Of 12 messages each, scene:crash-plain has handled 4 and has 4 in hand; scene:crash-backup has handled 4 " +
		"and has 4 in hand. Now both processes are killed."}
}
