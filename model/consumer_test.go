package model

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
	"redq/queue/handler"
)

// consuming starts a consumer on queueA with the form's defaults.
func consuming(t *testing.T) (*driver, *fakeRun) {
	t.Helper()
	f := seeded()
	d := start(t, f)
	d.commanded("consume queueA")
	d.press("y")
	if d.m.Screen != ConsumerScreen || len(d.m.Consumer.Consumers) != 1 {
		t.Fatalf("screen %d, %d consumers, status %q", d.m.Screen, len(d.m.Consumer.Consumers), d.m.Status.Text)
	}
	return d, f.engine.runs[1]
}

func (d *driver) consumer() OwnConsumer {
	c, _ := d.m.Consumer.Selected()
	return c
}

func TestConsumerIsWatched(t *testing.T) {
	d, r := consuming(t)
	if c := d.consumer(); c.State != RunRunning || c.Settings.Queue.Name != "queueA" {
		t.Fatalf("%+v", c)
	}
	for i := range 10 {
		r.news.Stats.Taken, r.news.Stats.Done = int64(20*(i+1)), int64(20*i)
		r.holds(d.clock, "a", "b")
		r.tells(d.clock, queue.EventFailed, "x", errDown)
		d.advance(time.Second)
	}
	c := d.consumer()
	if c.Stats.Done != 180 || len(c.InHand) != 2 || c.InHand[0].Text != "a" || !c.InHand[1].Started.IsZero() {
		t.Errorf("stats %+v, in hand %+v", c.Stats, c.InHand)
	}
	if rate := c.Rate(CountDone); !rate.OK || rate.PerSecond != 20 {
		t.Errorf("rate %+v", rate)
	}
	if len(c.Log.Shown) != 10 || !strings.Contains(c.Log.Shown[0].Why, "refused") {
		t.Errorf("log %+v", c.Log.Shown)
	}
	r.end(errors.New("no\x1b[2J"))
	d.advance(time.Second)
	if c := d.consumer(); c.State != RunFailed || strings.Contains(c.Err, "\x1b") || c.Err == "" {
		t.Errorf("state %s, %q", c.State, c.Err)
	}
	if r := d.consumer().Rate(CountDone); !r.OK || r.PerSecond < 10 || r.PerSecond > 20 {
		t.Errorf("the rate over its life is %+v", r)
	}
}

// One loop watches, not more than ten times a second, seldom behind another page,
// and not at all once nothing runs.
func TestWatchingIsOneLoop(t *testing.T) {
	d, r := consuming(t)
	count := func(span time.Duration, stir func()) int {
		before := d.f.engine.watches
		for range span / (50 * time.Millisecond) {
			stir()
			d.advance(50 * time.Millisecond)
		}
		return d.f.engine.watches - before
	}
	busy := func() { r.tells(d.clock, queue.EventDone, "x", nil) }
	for range 20 {
		d.commanded("consumers") // must not start loops of their own
	}
	d.advance(time.Second)
	if n := count(10*time.Second, busy); n < 80 || n > 101 {
		t.Errorf("%d looks in 10 s while it is busy", n)
	}
	if n := count(10*time.Second, func() {}); n < 35 || n > 50 {
		t.Errorf("%d looks in 10 s while nothing happens", n)
	}
	d.press("esc")
	d.advance(time.Second)
	if n := count(10*time.Second, busy); n < 9 || n > 11 {
		t.Errorf("%d looks in 10 s behind another page", n)
	}
	r.end(nil)
	d.advance(2 * time.Second)
	if n := count(10*time.Second, busy); n != 0 {
		t.Errorf("%d looks in 10 s after the end", n)
	}
}

func TestStopRestartRemove(t *testing.T) {
	d, r := consuming(t)
	r.holds(d.clock, "a", "b")
	d.advance(time.Second)
	d.press("x")
	d.wantStatus("2 messages in hand")
	if !r.stopped || d.consumer().State != RunStopping {
		t.Fatalf("stopped %v, state %s", r.stopped, d.consumer().State)
	}
	for _, k := range []string{"r", "D"} {
		d.press(k)
		d.wantStatus("still runs")
	}
	r.holds(d.clock)
	r.end(nil)
	d.advance(time.Second)
	if c := d.consumer(); c.State != RunStopped || c.EndedAt.IsZero() || len(c.InHand) != 0 {
		t.Fatalf("state %s", c.State)
	}
	d.wantStatus("stopped")
	d.press("x")
	d.wantStatus("r starts it again")
	d.press("r")
	g, ok := d.m.Dialog.(ConsumerDialog)
	if !ok || g.Focus != FocusNo || g.pattern() != d.consumer().Settings.Pattern {
		t.Fatalf("dialog %+v", d.m.Dialog)
	}
	d.press("y")
	if n := len(d.m.Consumer.Consumers); n != 2 || d.consumer().ID != 2 {
		t.Fatalf("%d consumers, %d in front", n, d.consumer().ID)
	}
	d.press("tab D")
	if n := len(d.m.Consumer.Consumers); n != 1 || d.f.engine.runs[1] != nil {
		t.Fatalf("%d consumers are left", n)
	}
}

func TestSecondStopAsksAndAbandons(t *testing.T) {
	d, r := consuming(t)
	r.holds(d.clock, "a")
	d.advance(time.Second)
	d.press("x x")
	g, ok := d.m.Dialog.(AbandonDialog)
	if !ok || g.Count != 1 || g.Leaves != "they stay in queueA:backup" {
		t.Fatalf("dialog %+v", d.m.Dialog)
	}
	d.press("n")
	if r.abandoned {
		t.Fatal("no abandons")
	}
	d.press("x enter")
	if r.abandoned || d.m.Dialog != nil {
		t.Fatal("enter on No abandons")
	}
	d.press("x y")
	d.advance(time.Second)
	if !r.abandoned || d.consumer().State != RunAbandoned {
		t.Fatalf("abandoned %v, state %s", r.abandoned, d.consumer().State)
	}
}

func TestSeveralConsumers(t *testing.T) {
	d, _ := consuming(t)
	d.press("c y")
	d.commanded("consume orders")
	d.press("y")
	if n := len(d.m.Consumer.Consumers); n != 3 || d.consumer().Settings.Queue.Name != "orders" {
		t.Fatalf("%d consumers, %s in front", n, d.consumer().Settings.Queue.Name)
	}
	var seen []int
	for range 3 {
		d.press("tab")
		seen = append(seen, d.consumer().ID)
	}
	d.press("shift+tab")
	if !slices.Equal(seen, []int{1, 2, 3}) || d.consumer().ID != 2 {
		t.Fatalf("tab goes through %v, shift+tab to %d", seen, d.consumer().ID)
	}
	l := d.m.Layout()
	d.send(click(5, l.Consumers.Y+2))
	if d.consumer().ID != 3 {
		t.Fatalf("a click goes to %d", d.consumer().ID)
	}
	d.press("enter")
	if d.m.Screen != QueueScreen || d.m.Queue.Name != "orders" {
		t.Fatalf("enter goes to screen %d, %s", d.m.Screen, d.m.Queue.Name)
	}
	d.press("c") // back to the one of this queue
	if d.m.Screen != ConsumerScreen || d.consumer().ID != 3 {
		t.Fatalf("c goes to screen %d, consumer %d", d.m.Screen, d.consumer().ID)
	}
	d.press("esc")
	if d.m.Screen != QueueScreen || d.m.Queue.Name != "orders" {
		t.Fatalf("esc goes to screen %d", d.m.Screen)
	}
	d.press("esc n") // n enqueues to the queue in front, wherever that is
	d.press("esc")
	d.commanded("consumers")
	d.press("n")
	if g, ok := d.m.Dialog.(EnqueueDialog); !ok || g.Queue != "orders" {
		t.Fatalf("n on the consumers' page opens %+v", d.m.Dialog)
	}
}

func TestEventsAreFilteredAsTheyAreTyped(t *testing.T) {
	d, r := consuming(t)
	for _, s := range []string{"apple", "pear", "apple pie"} {
		r.tells(d.clock, queue.EventDone, s, nil)
	}
	d.advance(time.Second)
	d.press("/")
	d.typed("apple")
	if n := len(d.consumer().Log.Shown); n != 2 {
		t.Fatalf("%d events while typing", n)
	}
	d.press("esc")
	if n := len(d.consumer().Log.Shown); n != 3 {
		t.Fatalf("%d events after esc", n)
	}
	d.commanded("filter pear")
	if n := len(d.consumer().Log.Shown); n != 1 {
		t.Fatalf("%d events", n)
	}
	d.press("c y") // one more is filtered too
	d.f.engine.runs[2].tells(d.clock, queue.EventDone, "apple", nil)
	d.advance(time.Second)
	if n := len(d.consumer().Log.Shown); n != 0 {
		t.Fatalf("%d events of another", n)
	}
	d.press("esc")
	if d.m.Screen != ConsumerScreen || d.m.Consumer.FilterText != "" {
		t.Fatal("esc does not clear the filter first")
	}
}

func TestFormOffersWhatSuits(t *testing.T) {
	f := seeded()
	f.engine.refuses = map[queue.Pattern]error{queue.ZsetRace: errUnsuited, queue.BackupList: errUnsuited}
	d := start(t, f)
	d.commanded("consume queueA")
	g := d.m.Dialog.(ConsumerDialog)
	if g.Server != "fake:1/0" || g.Queue != "queueA" || g.Focus != FocusPattern || g.Kind != handler.KindLog || len(g.Patterns) != 8 {
		t.Fatalf("form %+v", g)
	}
	if g.pattern() != queue.Pipeline || g.Patterns[2].Refusal != errUnsuited.Error() || g.Patterns[0].Refusal != "" {
		t.Fatalf("chosen %s, refusals %+v", g.pattern(), g.Patterns)
	}
	d.press("3 y")
	if n := d.m.Dialog.Head().Note; n != errUnsuited.Error() || f.calls["StartConsumer"] != 0 {
		t.Fatalf("note %q", n)
	}
	d.press("esc")
	if d.m.Dialog != nil || d.m.Screen != OverviewScreen {
		t.Fatal("esc does not close the form")
	}
}

func TestFormPrefersTheQueuesOwnPattern(t *testing.T) {
	for own, want := range map[queue.Pattern]queue.Pattern{queue.ListBlock: queue.ListBlock, "": queue.BackupList} {
		f := seeded()
		for i := range f.queues {
			f.queues[i].Pattern = own
			f.queues[i].Guessed |= queue.GuessedPattern
		}
		d := start(t, f)
		d.commanded("consume queueA")
		if g := d.m.Dialog.(ConsumerDialog); g.pattern() != want || g.Guessed != (own != "") {
			t.Errorf("of %q the form chooses %s, guessed %v", own, g.pattern(), g.Guessed)
		}
	}
}

func TestFormStartsWhatWasFilledIn(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []string // text begins with a blank
		want ConsumerSettings
	}{
		{"as it is", nil, ConsumerSettings{Pattern: queue.BackupList, Handler: handler.Spec{Kind: handler.KindLog}, Concurrency: 10}},
		{"exec", []string{"8", "tab", "l", "tab", " jq .", "enter", "ctrl+u", " 3", "enter", " 7", "enter"},
			ConsumerSettings{Pattern: queue.Pipeline, Handler: handler.Spec{Kind: handler.KindExec, Command: "jq ."}, Concurrency: 3, Attempts: 7}},
		{"post", []string{"tab", "l", "l", "tab", " http://127.0.0.1:9/x", "enter", "enter"},
			ConsumerSettings{Pattern: queue.BackupList, Handler: handler.Spec{Kind: handler.KindPost, URL: "http://127.0.0.1:9/x"}, Concurrency: 10}},
		{"simulate", []string{"1", "tab", "h", "tab", "ctrl+u", " latency=1ms crash=10%", "tab", "tab", "tab"},
			ConsumerSettings{Pattern: queue.ListPoll, Handler: handler.Spec{Kind: handler.KindSimulate, Simulation: handler.Simulation{Latency: time.Millisecond, Crash: .1}}, Concurrency: 10}},
		{"lock", []string{"5", "tab", "tab", "tab", "tab", "space"},
			ConsumerSettings{Pattern: queue.LockRetry, Handler: handler.Spec{Kind: handler.KindLog}, Concurrency: 10, Conflict: queue.LockFail}},
	} {
		f := seeded()
		d := start(t, f)
		d.commanded("consume queueA")
		d.entered(c.keys)
		d.press("y")
		if f.engine.runs[1] == nil {
			t.Fatalf("%s: nothing was started: %q", c.name, d.m.Dialog.Head().Note)
		}
		got := f.engine.runs[1].settings
		c.want.Queue, c.want.Handler.Queue = f.queues[2], "queueA"
		if got.Pattern != c.want.Pattern || got.Handler != c.want.Handler || got.Concurrency != c.want.Concurrency ||
			got.Attempts != c.want.Attempts || got.Conflict != c.want.Conflict || got.Queue.Name != "queueA" {
			t.Errorf("%s: started %+v, want %+v", c.name, got, c.want)
		}
	}
}

// entered presses keys; what begins with a blank is typed.
func (d *driver) entered(keys []string) {
	for _, k := range keys {
		if text, typed := strings.CutPrefix(k, " "); typed {
			d.typed(text)
		} else {
			d.press(k)
		}
	}
}

func TestFormSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name  string
		keys  []string
		focus Focus
		note  string
	}{
		{"no command", []string{"tab", "l", "y"}, FocusDetail, "command"},
		{"no url", []string{"tab", "l", "l", "y"}, FocusDetail, ""},
		{"rates", []string{"tab", "h", "tab", " nonsense", "shift+tab", "y"}, FocusDetail, "nonsense"},
		{"no workers", []string{"tab", "tab", "ctrl+u", "shift+tab", "y"}, FocusWorkers, "from 1 to 1,000"},
		{"too many workers", []string{"tab", "tab", " 0000", "shift+tab", "y"}, FocusWorkers, "from 1 to 1,000"},
		{"letters", []string{"tab", "tab", " x"}, FocusWorkers, "a number"},
		{"no attempts", []string{"8", "tab", "tab", "tab", " 0", "shift+tab", "shift+tab", "y"}, FocusAttempts, "from 1"},
		{"another key", []string{"Z"}, FocusPattern, "y starts it"},
	} {
		f := seeded()
		d := start(t, f)
		d.commanded("consume queueA")
		d.entered(c.keys)
		g, ok := d.m.Dialog.(ConsumerDialog)
		if !ok || g.Focus != c.focus || g.Note == "" || !strings.Contains(g.Note, c.note) || f.calls["StartConsumer"] != 0 {
			t.Errorf("%s: focus %d, note %q, dialog %T", c.name, g.Focus, g.Note, d.m.Dialog)
		}
	}
}

// Enter, pressed again and again, starts nothing.
func TestEnterAloneStartsNothing(t *testing.T) {
	f := seeded()
	d := start(t, f)
	d.commanded("consume queueA")
	for range 10 {
		if d.m.Dialog == nil {
			break
		}
		d.press("enter")
	}
	if d.m.Dialog != nil || f.calls["StartConsumer"] != 0 {
		t.Fatalf("dialog %T, %d starts", d.m.Dialog, f.calls["StartConsumer"])
	}
}

func TestAStartThatFailsKeepsTheForm(t *testing.T) {
	f := seeded()
	f.engine.startErr = errors.New("no such command")
	d := start(t, f)
	d.commanded("consume queueA")
	d.press("y")
	g, ok := d.m.Dialog.(ConsumerDialog)
	if !ok || g.Busy || !strings.Contains(g.Note, "no such command") || d.m.Screen != OverviewScreen {
		t.Fatalf("dialog %+v", d.m.Dialog)
	}
	f.engine.startErr = nil
	d.press("y")
	if d.m.Screen != ConsumerScreen {
		t.Fatal("a second try does not start it")
	}
}

func TestPromiseOfEachPattern(t *testing.T) {
	d := newConsumerDialog(DialogHead{}, queue.Named("q"), func(queue.Pattern) string { return "" })
	for i, c := range d.Patterns {
		d.Chosen = i
		once := "at most once"
		if c.Pattern.AtLeastOnce() {
			once = "at least once"
		}
		if !strings.HasPrefix(d.Promise(), once) || c.About == "" || c.Number == "" {
			t.Errorf("%s promises %q", c.Pattern, d.Promise())
		}
	}
	for _, k := range handler.Kinds() {
		if d.Kind = k; !strings.Contains(d.Consequence(), "gone") {
			t.Errorf("%s does not say that messages are gone: %q", k, d.Consequence())
		}
	}
}

func TestReadOnlyConsumesNothing(t *testing.T) {
	f := seeded()
	d := start(t, f, func(c *Config) { c.ReadOnly = true })
	d.press("c")
	d.wantStatus("consume is off: read-only")
	d.commanded("consume queueA")
	d.wantStatus("read-only")
	d.commanded("consumers") // to look is free
	d.press("c")
	d.wantStatus("read-only")
	if d.m.Dialog != nil || d.m.Screen != ConsumerScreen {
		t.Fatalf("dialog %T, screen %d", d.m.Dialog, d.m.Screen)
	}
}

func TestConsumeCommands(t *testing.T) {
	d := start(t, seeded())
	for line, want := range map[string]string{"consume nobody": "neither a queue", "scene crash": "neither a queue"} {
		d.press(":")
		d.typed(line)
		d.press("enter")
		if !strings.Contains(d.m.Prompt.Err, want) {
			t.Errorf("%q: %q", line, d.m.Prompt.Err)
		}
		d.press("esc")
	}
	if got := d.m.completions("consume o"); !slices.Equal(got, []string{"consume orders"}) {
		t.Errorf("completions %q", got)
	}
	if got := d.m.completions("consu"); !slices.Equal(got, []string{"consume", "consumers"}) {
		t.Errorf("completions %q", got)
	}
	d.commanded("consume") // of the selected one
	if g, ok := d.m.Dialog.(ConsumerDialog); !ok || g.Queue == "" {
		t.Fatalf("dialog %T", d.m.Dialog)
	}
}

func TestDialogIsNotAnsweredByWhatWasTypedBefore(t *testing.T) {
	d := start(t, seeded())
	d.advance(time.Second)
	d.send(keyMsg("c"))
	d.send(keyMsg("y"))
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("yy")})
	if d.m.Dialog == nil || d.f.calls["StartConsumer"] != 0 {
		t.Fatal("an early y starts a consumer")
	}
}
