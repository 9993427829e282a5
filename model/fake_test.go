package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"redq/queue"
	"redq/queue/journal"
)

// fake is a server in memory: lists and sorted sets by key, index 0 the head.
type fake struct {
	mu     sync.Mutex
	now    time.Time
	queues []queue.Queue
	lists  map[string][]string
	zsets  map[string][]member

	err       error // every call fails with it
	steps     int   // of a scan until it is done
	step      int
	outcome   queue.Outcome // of writes, "" for the true one
	note      string
	panicking bool
	undo      []journal.Summary
	dropped   journal.Dropped
	calls     map[string]int
	enqueued  []queue.EnqueueOptions
	engine    fakeEngine
	jobs      fakeJobs
	consumers queue.Consumers
	failures  map[string]queue.Failed  // by payload
	due       int64                    // delayed messages of each queue that are due
	alive     int64                    // consumers of each queue, by heartbeat
	stride    int64                    // messages that one step of a search looks at; 0: 10
	headBytes int                      // a longer payload is cut for a search; 0: none is
	ages      map[string]time.Duration // by payload; nil: 3 s each
}

type member struct {
	payload string
	score   queue.Score
}

func newFake(qs ...queue.Queue) *fake {
	return &fake{
		now: epoch, queues: qs, steps: 1, calls: map[string]int{},
		lists: map[string][]string{}, zsets: map[string][]member{},
	}
}

// epoch is when all tests begin.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func (f *fake) call(name string) error {
	f.calls[name]++
	if f.panicking {
		panic("the fake was told to")
	}
	return f.err
}

func (f *fake) Server(context.Context) (queue.Server, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return queue.Server{Address: "fake:1/0", Version: "7.0.15", Now: f.now, Ping: time.Millisecond}, f.call("Server")
}

func (f *fake) Discover(context.Context) (Discovery, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.call("Discover")
	f.step++
	d := Discovery{Scanned: int64(f.step) * 1000, Total: int64(f.steps) * 1000, Done: f.step >= f.steps, Queues: f.queues}
	if err != nil {
		return Discovery{}, err
	}
	return d, nil
}

func (f *fake) Rediscover() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls["Rediscover"]++
	f.step = 0
}

func (f *fake) Sample(_ context.Context, qs []queue.Queue) (queue.Poll, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.call("Sample"); err != nil {
		return queue.Poll{}, err
	}
	p := queue.Poll{Now: f.now, Took: time.Millisecond, Commands: len(qs)}
	for _, q := range qs {
		s := queue.Sample{Queue: q.Name}
		n := func(p queue.Place) queue.Count {
			if !q.Has(p) {
				return queue.Count{}
			}
			return queue.Count{N: int64(len(f.messages(q, p))), State: queue.Known}
		}
		s.Due = queue.Count{N: f.due, State: queue.Known}
		if f.alive > 0 {
			s.Consumers = queue.Count{N: f.alive, State: queue.Known}
		}
		s.Ready, s.Backup, s.Delayed, s.Dead = n(queue.Ready), n(queue.Backup), n(queue.Delayed), n(queue.Dead)
		p.Samples = append(p.Samples, s)
	}
	return p, nil
}

func (f *fake) Distribution(_ context.Context, q queue.Queue) (queue.Distribution, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.call("Distribution")
	return queue.Distribution{Now: f.now, Total: int64(len(f.zsets[q.Delayed]))}, err
}

func (f *fake) messages(q queue.Queue, p queue.Place) []queue.Message {
	var ms []queue.Message
	for _, k := range q.Keys(p) {
		if p == queue.Delayed {
			for i, z := range f.zsets[k] {
				ms = append(ms, queue.Message{Payload: []byte(z.payload), Size: int64(len(z.payload)), Place: p, Key: k, Index: int64(i), Len: int64(len(f.zsets[k])), Score: z.score})
			}
		}
		for i, s := range f.lists[k] {
			ms = append(ms, queue.Message{Payload: []byte(s), Size: int64(len(s)), Place: p, Key: k, Index: int64(i), Len: int64(len(f.lists[k]))})
		}
	}
	return ms
}

func (f *fake) Peek(_ context.Context, q queue.Queue, p queue.Place, from int64, n int) (queue.Page, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.call("Peek"); err != nil {
		return queue.Page{}, err
	}
	ms := f.messages(q, p)
	lo := min(from, int64(len(ms)))
	hi := min(lo+int64(n), int64(len(ms)))
	return queue.Page{Place: p, From: lo, Total: int64(len(ms)), Messages: ms[lo:hi], Now: f.now}, nil
}

func (f *fake) Age(m queue.Message) time.Duration {
	if f.ages == nil {
		return 3 * time.Second
	}
	return f.ages[string(m.Payload)]
}

func (f *fake) Load(_ context.Context, m queue.Message) (queue.Message, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.call("Load"); err != nil {
		return m, err
	}
	if f.find(m) < 0 {
		return m, queue.ErrGone
	}
	return m, nil
}

func (f *fake) Copies(context.Context, queue.Message, int64) (int64, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return 2, true, f.call("Copies")
}

// Search looks at a few messages a call.
func (f *fake) Search(_ context.Context, q queue.Queue, p queue.Place, from queue.Spot, o queue.SearchOptions) (queue.Found, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := queue.Found{Next: from}
	if err := f.call("Search"); err != nil {
		return r, err
	}
	ms := f.messages(q, p)
	r.Total = int64(len(ms))
	for at := from.Position(); at < r.Total && r.Looked < cmp.Or(f.stride, 10); at++ {
		m := ms[at]
		if f.headBytes > 0 && len(m.Payload) > f.headBytes {
			m.Payload = m.Payload[:f.headBytes]
		}
		hit, err := o.Match(m)
		if errors.Is(err, queue.ErrCut) {
			hit, err = o.Match(ms[at])
		}
		if err != nil {
			return r, err
		}
		if hit {
			r.Messages = append(r.Messages, m)
		}
		r.Looked++
		r.Next = queue.At(at + 1)
	}
	r.Done = r.Next.Position() >= r.Total
	return r, nil
}

func (f *fake) find(m queue.Message) int {
	if m.Place == queue.Delayed {
		return slices.IndexFunc(f.zsets[m.Key], func(z member) bool { return z.payload == string(m.Payload) })
	}
	return slices.Index(f.lists[m.Key], string(m.Payload))
}

func (f *fake) take(m queue.Message) bool {
	i := f.find(m)
	if i < 0 {
		return false
	}
	if m.Place == queue.Delayed {
		f.zsets[m.Key] = slices.Delete(slices.Clone(f.zsets[m.Key]), i, i+1)
	} else {
		f.lists[m.Key] = slices.Delete(slices.Clone(f.lists[m.Key]), i, i+1)
	}
	return true
}

// write makes the report of an operation that does each message by do.
func (f *fake) write(op queue.Op, q queue.Queue, ms []queue.Message, do func(queue.Message) bool) queue.Report {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[string(op)]++
	r := queue.Report{Op: op, Queue: q.Name, Entry: "entry-1"}
	for _, m := range ms {
		switch {
		case f.outcome == queue.Unknown:
			r.Results = append(r.Results, queue.Result{Outcome: queue.Unknown, Err: queue.ErrUnknownOutcome, Note: f.note})
		case f.outcome == queue.Refused:
			r.Results = append(r.Results, queue.Result{Outcome: queue.Refused, Err: &queue.RefusedError{Code: "OOM", Text: f.note}})
		case do(m):
			r.Results = append(r.Results, queue.Result{Outcome: queue.Done})
		default:
			r.Results = append(r.Results, queue.Result{Outcome: queue.Gone, Err: queue.ErrGone})
		}
	}
	return r
}

func (f *fake) Enqueue(_ context.Context, q queue.Queue, payload []byte, o queue.EnqueueOptions) (queue.Enqueued, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.call("Enqueue"); err != nil {
		return queue.Enqueued{}, err
	}
	f.enqueued = append(f.enqueued, o)
	if o.Wrap {
		payload = []byte(`{"id":"1","msg":` + string(payload) + `}`)
	}
	if !o.Delay {
		f.lists[q.Ready] = append([]string{string(payload)}, f.lists[q.Ready]...)
		return queue.Enqueued{Place: queue.Ready, Key: q.Ready, Payload: payload}, nil
	}
	if i := f.find(queue.Message{Place: queue.Delayed, Key: q.Delayed, Payload: payload}); i >= 0 {
		z := f.zsets[q.Delayed][i]
		due, _ := q.Unit.Time(z.score)
		return queue.Enqueued{}, &queue.AlreadyDelayedError{Key: q.Delayed, Score: z.score, Due: due}
	}
	due := o.At
	if due.IsZero() {
		due = f.now.Add(o.In)
	}
	f.addDelayed(q.Delayed, string(payload), q.Unit.Score(due))
	return queue.Enqueued{Place: queue.Delayed, Key: q.Delayed, Payload: payload, Due: due}, nil
}

func (f *fake) addDelayed(key, payload string, score queue.Score) {
	f.zsets[key] = append(f.zsets[key], member{payload, score})
	slices.SortFunc(f.zsets[key], func(a, b member) int {
		x, _ := a.score.Float()
		y, _ := b.score.Float()
		return cmp.Compare(x, y)
	})
}

func (f *fake) Redrive(_ context.Context, q queue.Queue, ms []queue.Message, o queue.RedriveOptions) queue.Report {
	return f.write(queue.OpRedrive, q, ms, func(m queue.Message) bool {
		if !f.take(m) {
			return false
		}
		if o.Front == (q.PushEnd() == queue.Left) {
			f.lists[q.Ready] = append(f.lists[q.Ready], string(m.Payload))
		} else {
			f.lists[q.Ready] = append([]string{string(m.Payload)}, f.lists[q.Ready]...)
		}
		return true
	})
}

func (f *fake) Delete(_ context.Context, q queue.Queue, ms []queue.Message) queue.Report {
	return f.write(queue.OpDelete, q, ms, f.take)
}

func (f *fake) Reschedule(_ context.Context, q queue.Queue, ms []queue.Message, due time.Time) queue.Report {
	return f.write(queue.OpReschedule, q, ms, func(m queue.Message) bool {
		if !f.take(m) {
			return false
		}
		f.addDelayed(m.Key, string(m.Payload), q.Unit.Score(due))
		return true
	})
}

func (f *fake) UndoDropped() journal.Dropped {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.dropped
	f.dropped = journal.Dropped{}
	return d
}

func (f *fake) UndoList(context.Context, int) ([]journal.Summary, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.undo, f.call("UndoList")
}

func (f *fake) Undo(_ context.Context, id string) (queue.BulkReport, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.call("Undo"); err != nil {
		return queue.BulkReport{}, err
	}
	if f.outcome == queue.Gone {
		return queue.BulkReport{Op: queue.OpUndo, Total: 1, Gone: 1, Why: queue.ErrAlreadyBack}, nil
	}
	return queue.BulkReport{Op: queue.OpUndo, Entry: id, Total: 1, Done: 1}, nil
}

// numbered returns n payloads that differ.
func numbered(prefix string, n int) []string {
	s := make([]string, n)
	for i := range s {
		s[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return s
}

var errDown = errors.New("connection refused")

// seeded is a server with the queues that most tests use.
func seeded() *fake {
	qA := queue.Named("queueA")
	notify := queue.Queue{Name: "notify-queue", Ready: "notify-queue"}
	orders := queue.Named("orders")
	f := newFake(notify, orders, qA)
	f.lists["queueA"] = []string{"Hello-6", "Hello-5", "Hello-4", "Hello-3"}
	f.lists["queueA:backup"] = []string{"Hello-2", "Hello-1", "Hello-0"}
	f.lists["notify-queue"] = []string{"pear", "banana", "apple"}
	f.lists["orders"] = []string{"o1", "o2"}
	f.lists["orders:dead"] = []string{"d1"}
	f.addDelayed("orders:delayed", "later", queue.Milliseconds.Score(epoch.Add(time.Hour)))
	f.addDelayed("orders:delayed", "late", queue.Milliseconds.Score(epoch.Add(-time.Minute)))
	f.addDelayed("orders:delayed", "odd", "12345")
	return f
}
