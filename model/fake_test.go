package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

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
	calls     map[string]int
	enqueued  []queue.EnqueueOptions
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

func (f *fake) Age(queue.Message) time.Duration { return 3 * time.Second }

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

// Search looks at ten messages a call.
func (f *fake) Search(_ context.Context, q queue.Queue, p queue.Place, from int64, match func(queue.Message) bool, limit, _ int) ([]queue.Message, int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.call("Search"); err != nil {
		return nil, 0, err
	}
	ms := f.messages(q, p)
	until := min(from+10, int64(len(ms)))
	var found []queue.Message
	for _, m := range ms[min(from, until):until] {
		if match(m) && len(found) < limit {
			found = append(found, m)
		}
	}
	if until == int64(len(ms)) {
		until = -1
	}
	return found, until, nil
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

func (f *fake) Purge(_ context.Context, q queue.Queue, p queue.Place) (queue.Purged, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.call("Purge"); err != nil {
		return queue.Purged{}, err
	}
	n := int64(len(f.messages(q, p)))
	for _, k := range q.Keys(p) {
		delete(f.lists, k)
		delete(f.zsets, k)
	}
	return queue.Purged{Entry: "entry-1", Taken: n, Freed: n}, nil
}

func (f *fake) UndoList(context.Context, int) ([]journal.Summary, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.undo, f.call("UndoList")
}

func (f *fake) Undo(_ context.Context, id string) (queue.Report, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.call("Undo"); err != nil {
		return queue.Report{}, err
	}
	if f.outcome == queue.Gone {
		return queue.Report{Op: queue.OpUndo, Results: []queue.Result{{Outcome: queue.Gone, Err: queue.ErrAlreadyBack}}}, nil
	}
	return queue.Report{Op: queue.OpUndo, Entry: id, Results: []queue.Result{{Outcome: queue.Done}}}, nil
}

// driver runs a model as Bubble Tea would, but at once and with its own clock:
// commands are run when they come, timers when the clock passes them.
type driver struct {
	t      *testing.T
	m      Model
	f      *fake
	clock  time.Time
	timers []timer
	held   []tea.Cmd // commands not run yet
	hold   bool      // keep commands instead of running them
	quit   bool
	copied string
}

type timer struct {
	at  time.Time
	due tea.Msg
}

type timerMsg timer

// start runs a model over the fake at 120x36, until all first answers are there.
func start(t *testing.T, f *fake, change ...func(*Config)) *driver {
	t.Helper()
	d := &driver{t: t, f: f, clock: epoch}
	cfg := Config{
		Backend: f, Address: "fake:1/0", Mouse: true,
		Now: func() time.Time { return d.clock },
		After: func(wait time.Duration, due tea.Msg) tea.Cmd {
			at := d.clock.Add(wait)
			return func() tea.Msg { return timerMsg{at, due} }
		},
		Copy: func(s string) error { d.copied = s; return nil },
	}
	for _, c := range change {
		c(&cfg)
	}
	m, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	d.m = m
	d.run(m.Init())
	d.send(tea.WindowSizeMsg{Width: 120, Height: 36})
	d.advance(0)
	return d
}

func (d *driver) send(msg tea.Msg) {
	var cmd tea.Cmd
	d.m, cmd = d.m.Update(msg)
	d.run(cmd)
}

// run runs a command and all that follows from it.
func (d *driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	if d.hold {
		d.held = append(d.held, cmd)
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			d.run(c)
		}
	case timerMsg:
		d.timers = append(d.timers, timer(msg))
	case tea.QuitMsg:
		d.quit = true
	case nil:
	default:
		d.send(msg)
	}
}

// release runs what was held back.
func (d *driver) release() {
	held := d.held
	d.held, d.hold = nil, false
	for _, c := range held {
		d.run(c)
	}
}

// advance moves the clock on and runs the timers that it passes.
func (d *driver) advance(by time.Duration) {
	until := d.clock.Add(by)
	for range 10_000 {
		slices.SortStableFunc(d.timers, func(a, b timer) int { return a.at.Compare(b.at) })
		if len(d.timers) == 0 || d.timers[0].at.After(until) {
			d.set(until)
			return
		}
		next := d.timers[0]
		d.timers = d.timers[1:]
		d.set(next.at)
		d.send(next.due)
	}
	d.t.Fatal("timers never come to rest")
}

func (d *driver) set(t time.Time) {
	if t.After(d.clock) {
		d.f.mu.Lock()
		d.f.now = d.f.now.Add(t.Sub(d.clock))
		d.f.mu.Unlock()
		d.clock = t
	}
}

// press presses keys by their names, a blank between them, a second apart from
// what was before: time enough for a dialog to be read.
func (d *driver) press(keys string) {
	for _, k := range strings.Fields(keys) {
		d.advance(200 * time.Millisecond)
		d.send(keyMsg(k))
	}
}

// typed types text a key at a time.
func (d *driver) typed(text string) {
	for _, r := range text {
		d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
	}
}

func keyMsg(k string) tea.KeyMsg {
	types := map[string]tea.KeyType{
		"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "shift+tab": tea.KeyShiftTab,
		"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
		"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
		"ctrl+f": tea.KeyCtrlF, "ctrl+b": tea.KeyCtrlB, "ctrl+c": tea.KeyCtrlC, "ctrl+z": tea.KeyCtrlZ,
		"ctrl+j": tea.KeyCtrlJ, "ctrl+u": tea.KeyCtrlU, "ctrl+w": tea.KeyCtrlW, "ctrl+k": tea.KeyCtrlK,
		"backspace": tea.KeyBackspace, "delete": tea.KeyDelete,
	}
	if k == "space" {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	}
	if t, ok := types[k]; ok {
		return tea.KeyMsg{Type: t}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}
}

// wantStatus fails unless the status line holds text.
func (d *driver) wantStatus(text string) {
	d.t.Helper()
	if !strings.Contains(d.m.Status.Text, text) {
		d.t.Fatalf("status is %q, want it to say %q", d.m.Status.Text, text)
	}
}

// rows returns the payloads of the list in front.
func (d *driver) rows() []string {
	var s []string
	for _, r := range d.m.Queue.List().Rows {
		s = append(s, string(r.Message.Payload))
	}
	return s
}

// selected returns the payload under the cursor.
func (d *driver) selected() string {
	r, _ := d.m.Queue.List().Selected()
	return string(r.Message.Payload)
}

func windowSize(w, h int) tea.WindowSizeMsg { return tea.WindowSizeMsg{Width: w, Height: h} }

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
