package ui

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
	"github.com/muesli/termenv"

	"redq/model"
	"redq/queue"
	"redq/queue/journal"
	"redq/queue/payload/hostile"
	"redq/styles"
)

// epoch is when all tests begin.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fake is a server in memory: lists and sorted sets by key, index 0 the head.
// It answers what the dashboard asks for and changes nothing.
type fake struct {
	now     time.Time
	server  queue.Server
	queues  []queue.Queue
	lists   map[string][][]byte
	zsets   map[string][]member
	broken  map[string]error         // keys that cannot be read
	ttl     map[string]time.Duration // of keys
	scanned int64
	total   int64
	done    bool
	down    error // every call fails with it
	undo    []journal.Summary
	enqueue error
	polls   int

	engine    fakeEngine
	jobs      fakeJobs
	consumers queue.Consumers
	failed    queue.Failed // of every message
}

type member struct {
	payload []byte
	score   queue.Score
}

func (f *fake) Server(context.Context) (queue.Server, error) {
	s := f.server
	s.Now = f.now
	return s, f.down
}

func (f *fake) Discover(context.Context) (model.Discovery, error) {
	if f.down != nil {
		return model.Discovery{}, f.down
	}
	return model.Discovery{Queues: f.queues, Scanned: f.scanned, Total: f.total, Done: f.done}, nil
}

func (f *fake) Rediscover() {}

func (f *fake) Sample(_ context.Context, qs []queue.Queue) (queue.Poll, error) {
	if f.down != nil {
		return queue.Poll{}, f.down
	}
	f.polls++
	p := queue.Poll{Now: f.now, Took: 2400 * time.Microsecond, Commands: 4 * len(qs)}
	for _, q := range qs {
		p.Samples = append(p.Samples, f.sample(q))
	}
	return p, nil
}

func (f *fake) sample(q queue.Queue) queue.Sample {
	s := queue.Sample{Queue: q.Name}
	counts := map[queue.Place]*queue.Count{
		queue.Ready: &s.Ready, queue.Backup: &s.Backup, queue.Delayed: &s.Delayed, queue.Dead: &s.Dead,
	}
	for _, pl := range queue.Places() {
		for _, k := range q.Keys(pl) {
			ks := queue.KeySample{Key: k, Place: pl, Len: int64(len(f.lists[k]) + len(f.zsets[k])), TTL: f.ttl[k], Err: f.broken[k]}
			s.Keys = append(s.Keys, ks)
			c := counts[pl]
			if ks.Err != nil {
				s.Err, c.State = ks.Err, queue.Unreadable
				continue
			}
			c.N, c.State = c.N+ks.Len, max(c.State, queue.Known)
		}
	}
	f.ages(q, &s)
	return s
}

// ages fills in what a sampler would have seen: messages of a backup grow older
// by 20 seconds each.
func (f *fake) ages(q queue.Queue, s *queue.Sample) {
	if s.Backup.State == queue.Known {
		s.Stuck = queue.Count{State: queue.AtLeast, N: max(0, s.Backup.N-2)}
		if s.Backup.N > 0 {
			s.Oldest, s.OldestPlace = f.Age(queue.Message{Index: s.Backup.N - 1}), queue.Backup
		}
	}
	if s.Delayed.State != queue.Known {
		return
	}
	s.Due.State = queue.Known
	for _, z := range f.zsets[q.Delayed] {
		due, ok := q.Unit.Time(z.score)
		switch {
		case ok && !due.After(f.now):
			s.Due.N++
			s.Overdue = max(s.Overdue, f.now.Sub(due))
		case ok && s.NextDue.IsZero():
			s.NextDue = due
		}
	}
}

func (f *fake) Distribution(_ context.Context, q queue.Queue) (queue.Distribution, error) {
	d := queue.Distribution{Now: f.now, Unit: q.Unit, Total: int64(len(f.zsets[q.Delayed]))}
	cuts := []time.Duration{queue.MinSpan, -24 * time.Hour, -time.Hour, -10 * time.Minute, -time.Minute, -10 * time.Second, 0,
		10 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour, queue.MaxSpan}
	for i := range cuts[1:] {
		d.Bins = append(d.Bins, queue.Bin{From: cuts[i], Until: cuts[i+1]})
	}
	for _, z := range f.zsets[q.Delayed] {
		due, ok := q.Unit.Time(z.score)
		if !ok {
			d.Misfits = append(d.Misfits, queue.Misfit{Reason: "too small", N: 1})
			continue
		}
		in := due.Sub(f.now)
		for i := range d.Bins {
			if in >= d.Bins[i].From && in < d.Bins[i].Until {
				d.Bins[i].N++
			}
		}
		d.Overdue = max(d.Overdue, -in)
		if in > 0 && d.NextDue.IsZero() {
			d.NextDue = due
		}
	}
	return d, cmp.Or(f.down, f.broken[q.Delayed])
}

func (f *fake) messages(q queue.Queue, p queue.Place) []queue.Message {
	var ms []queue.Message
	add := func(k string, i, n int, b []byte, score queue.Score) {
		m := queue.Message{Payload: b, Size: int64(len(b)), Place: p, Key: k, Index: int64(i), Len: int64(n), Score: score}
		if len(b) > queue.HeadBytes {
			m.Payload, m.Tail = b[:queue.HeadBytes], b[len(b)-1:]
		}
		ms = append(ms, m)
	}
	for _, k := range q.Keys(p) {
		for i, z := range f.zsets[k] {
			add(k, i, len(f.zsets[k]), z.payload, z.score)
		}
		for i, b := range f.lists[k] {
			add(k, i, len(f.lists[k]), b, "")
		}
	}
	return ms
}

func (f *fake) Peek(_ context.Context, q queue.Queue, p queue.Place, from int64, n int) (queue.Page, error) {
	ms := f.messages(q, p)
	lo := min(from, int64(len(ms)))
	hi := min(lo+int64(n), int64(len(ms)))
	err := f.down
	for _, k := range q.Keys(p) {
		err = cmp.Or(err, f.broken[k])
	}
	return queue.Page{Place: p, From: lo, Total: int64(len(ms)), Messages: ms[lo:hi], Now: f.now}, err
}

func (f *fake) Age(m queue.Message) time.Duration { return time.Duration(m.Index) * 20 * time.Second }

func (f *fake) Load(_ context.Context, m queue.Message) (queue.Message, error) {
	if len(f.lists[m.Key]) > int(m.Index) {
		m.Payload, m.Tail = f.lists[m.Key][m.Index], nil
	}
	return m, f.down
}

func (f *fake) Copies(context.Context, queue.Message, int64) (int64, bool, error) {
	return 2, true, nil
}

func (f *fake) Search(_ context.Context, q queue.Queue, p queue.Place, _ queue.Spot, o queue.SearchOptions) (queue.Found, error) {
	var r queue.Found
	for _, m := range f.messages(q, p) {
		hit, err := o.Match(m)
		if err != nil {
			return r, err
		}
		if hit {
			r.Messages = append(r.Messages, m)
		}
		r.Looked++
	}
	r.Total, r.Done = r.Looked, true
	return r, nil
}

func (f *fake) Enqueue(context.Context, queue.Queue, []byte, queue.EnqueueOptions) (queue.Enqueued, error) {
	return queue.Enqueued{}, f.enqueue
}

func (f *fake) Redrive(context.Context, queue.Queue, []queue.Message, queue.RedriveOptions) queue.Report {
	return queue.Report{Op: queue.OpRedrive, Results: []queue.Result{{Outcome: queue.Done}}}
}

func (f *fake) Delete(context.Context, queue.Queue, []queue.Message) queue.Report {
	return queue.Report{Op: queue.OpDelete, Results: []queue.Result{{Outcome: queue.Done}}}
}

func (f *fake) Reschedule(context.Context, queue.Queue, []queue.Message, time.Time) queue.Report {
	return queue.Report{Op: queue.OpReschedule, Results: []queue.Result{{Outcome: queue.Done}}}
}

func (f *fake) UndoDropped() journal.Dropped { return journal.Dropped{} }

func (f *fake) UndoList(context.Context, int) ([]journal.Summary, error) { return f.undo, nil }

func (f *fake) Undo(context.Context, string) (queue.BulkReport, error) {
	return queue.BulkReport{Op: queue.OpUndo}, nil
}

func (f *fake) push(key string, n int, format string) {
	for i := range n {
		f.lists[key] = append(f.lists[key], fmt.Appendf(nil, format, 1800-i))
	}
}

func (f *fake) delay(key string, in time.Duration, payload string) {
	f.zsets[key] = append(f.zsets[key], member{[]byte(payload), queue.Milliseconds.Score(epoch.Add(in))})
}

// emptyServer is a server without a queue.
func emptyServer() *fake {
	return &fake{
		now: epoch,
		server: queue.Server{
			Version: "7.0.15", Mode: "standalone", Role: "master", Ping: 400 * time.Microsecond,
			Used: 1288490188, Max: 4 << 30, Policy: "noeviction",
		},
		lists: map[string][][]byte{}, zsets: map[string][]member{}, broken: map[string]error{}, ttl: map[string]time.Duration{},
		scanned: 12, total: 12, done: true,
	}
}

// normalServer has queues of several kinds, some of them in trouble.
func normalServer() *fake {
	f := emptyServer()
	orders := queue.Named("orders")
	orders.Guessed = queue.GuessedKeys | queue.GuessedUnit | queue.GuessedPush
	orders.Pattern = queue.Pipeline
	f.queues = []queue.Queue{
		orders,
		{Name: "mail-batch", Ready: "mail-batch", Backups: []string{"mail-batch:backup"}, Pattern: queue.BackupList},
		{Name: "q-demo", Delayed: "q-demo", Guessed: queue.GuessedUnit},
		{Name: "notify-queue", Ready: "notify-queue", Pinned: true},
		{Name: "wrong-type", Ready: "wrong-type"},
		{Name: "a-name-that-is-longer-than-any-column-of-the-table", Ready: "long"},
	}
	f.push("orders", 1204, `{"order":%d,"sku":"S-22","step":"pay"}`)
	f.push("orders:backup", 5, `{"order":%d,"sku":"S-07","error":"timeout","nested":{"amount":12.50,"big":130775545883395173,"tags":["a","b"]}}`)
	f.push("orders:dead", 2, `{"order":%d,"error":"gave up"}`)
	f.push("mail-batch", 87, "mail %d")
	f.push("mail-batch:backup", 2, "mail in hand %d")
	f.push("long", 3, "%d")
	for i := range 60 {
		f.delay("orders:delayed", time.Duration(i*i-120)*7*time.Second, fmt.Sprintf(`{"order":%d,"later":true}`, i))
	}
	f.zsets["orders:delayed"] = append([]member{{[]byte("odd"), "1767225"}}, f.zsets["orders:delayed"]...)
	f.delay("q-demo", 5100*time.Millisecond, "soon")
	f.broken["wrong-type"] = queue.ErrWrongType
	f.ttl["mail-batch"] = 90 * time.Minute
	f.undo = []journal.Summary{
		{ID: "3", Time: epoch.Add(-time.Minute), Op: queue.OpDelete, Server: address, Queue: "orders", Keys: []string{"orders:backup"}, Total: 1, Undoable: 1},
		{ID: "2", Time: epoch.Add(-time.Hour), Op: queue.OpRedrive, Server: address, Queue: "orders", Keys: []string{"orders:dead"}, Total: 37},
		{ID: "1", Time: epoch.Add(-49 * time.Hour), Op: queue.OpPurge, Server: "10.0.0.9:6379/1", Queue: "mail", Keys: []string{"mail"}, Total: 1204, Undoable: 1204},
	}
	return f
}

// hostilePayloads are made once: some have 20 MB.
var hostilePayloads = sync.OnceValue(hostile.Payloads)

// hostileServer has keys, payloads and words that try to reach the terminal.
func hostileServer() *fake {
	f := emptyServer()
	f.server.Version, f.server.Role, f.server.Policy = "7\x1b[2J", "mas\nter", "allkeys-lru\x1b]0;x\x07"
	for i, k := range hostile.Keys() {
		q := queue.Queue{Name: k, Ready: k, Backups: []string{k + ":backup"}, Dead: k + ":dead"}
		if i == 0 {
			q.Delayed = "delayed\x1b[2J"
		}
		f.queues = append(f.queues, q)
		f.push(k, i, "%d\x1b[31m\r")
	}
	first := f.queues[0]
	for _, p := range hostilePayloads() {
		f.lists[first.Backups[0]] = append(f.lists[first.Backups[0]], p.Bytes)
		f.zsets[first.Delayed] = append(f.zsets[first.Delayed], member{p.Bytes[:min(len(p.Bytes), 100)], "1e308"})
	}
	f.zsets[first.Delayed] = append(f.zsets[first.Delayed], member{[]byte("x"), "-inf"}, member{[]byte("y"), "9007199254740993"})
	f.broken[f.queues[2].Dead] = errors.New("ERR \x1b[2Jbad\nreply")
	f.undo = []journal.Summary{{ID: "1", Time: epoch, Op: queue.OpDelete, Server: "x\x1b[2J", Queue: "q\n", Keys: []string{"k\x1b[2J"}, Total: 2, Undoable: 2}}
	return f
}

const address = "10.0.3.7:6379/0"

// dashboard runs the program over a fake server as Bubble Tea would, but at once
// and with its own clock: commands run when they come, timers when the clock
// passes them.
type dashboard struct {
	t      testing.TB
	app    *App
	fake   *fake
	clock  time.Time
	timers []timer
	quit   bool
	hold   bool // commands are not run: their answers never come
}

type timer struct {
	at  time.Time
	due tea.Msg
}

type timerMsg timer

type option func(*model.Config)

func readOnly(c *model.Config) { c.ReadOnly = true }

func staged(c *model.Config) { c.Stage = fakeStage{} }

func demo(c *model.Config) { c.Demo = "127.0.0.1:40123" }

// open starts the program with the theme th.
func open(t testing.TB, f *fake, th styles.Theme, options ...option) *dashboard {
	t.Helper()
	d := newDashboard(t, f, th, options...)
	d.run(d.app.Init())
	d.advance(0)
	d.choose()
	return d
}

// choose puts the cursor on the server's first queue, whatever the sort.
func (d *dashboard) choose() {
	for range d.fake.queues {
		if row, _ := d.app.Model().Overview.Selected(); row.Queue.Name == d.fake.queues[0].Name {
			return
		}
		d.press("j")
	}
}

// newDashboard is open before the first answer has come.
func newDashboard(t testing.TB, f *fake, th styles.Theme, options ...option) *dashboard {
	t.Helper()
	d := &dashboard{t: t, fake: f, clock: epoch}
	cfg := model.Config{
		Backend: f, Address: address, Mouse: true,
		Now: func() time.Time { return d.clock },
		After: func(wait time.Duration, due tea.Msg) tea.Cmd {
			at := d.clock.Add(wait)
			return func() tea.Msg { return timerMsg{at, due} }
		},
		Copy: func(string) error { return nil },
	}
	for _, o := range options {
		o(&cfg)
	}
	m, err := model.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	d.app = NewApp(m, th)
	d.app.least = 0
	return d
}

// plain opens the program without colours.
func plain(t testing.TB, f *fake, options ...option) *dashboard {
	return open(t, f, testTheme(termenv.Ascii, true), options...)
}

func (d *dashboard) send(msg tea.Msg) {
	_, cmd := d.app.Update(msg)
	d.run(cmd)
}

func (d *dashboard) run(cmd tea.Cmd) {
	if cmd == nil || d.hold {
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

// advance moves the clock on and runs the timers that it passes.
func (d *dashboard) advance(by time.Duration) {
	until := d.clock.Add(by)
	for {
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
}

func (d *dashboard) set(t time.Time) {
	if t.After(d.clock) {
		d.fake.now = d.fake.now.Add(t.Sub(d.clock))
		d.clock = t
	}
}

func (d *dashboard) resize(w, h int) { d.send(tea.WindowSizeMsg{Width: w, Height: h}) }

// press presses keys by their names, a blank between them, each long enough after
// the one before for a dialog to be read.
func (d *dashboard) press(keys string) {
	for k := range strings.FieldsSeq(keys) {
		d.advance(200 * time.Millisecond)
		d.send(keyMsg(k))
	}
}

// typed types text.
func (d *dashboard) typed(text string) {
	for _, r := range text {
		d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
	}
}

func keyMsg(k string) tea.KeyMsg {
	types := map[string]tea.KeyType{
		"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "left": tea.KeyLeft, "home": tea.KeyHome, "ctrl+j": tea.KeyCtrlJ,
	}
	if k == "space" {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	}
	if t, ok := types[k]; ok {
		return tea.KeyMsg{Type: t}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}
}

// frame returns what is on the screen now.
func (d *dashboard) frame() string { return d.app.View() }

// live moves the fake's queues for a while, so that there is a history.
func (d *dashboard) live(seconds int) {
	for i := range seconds {
		if i%3 != 0 {
			d.fake.push("orders", 1+i%5, `{"order":%d}`)
			d.fake.lists["mail-batch"] = d.fake.lists["mail-batch"][min(1, len(d.fake.lists["mail-batch"])):]
		}
		d.advance(time.Second)
	}
}
