package model

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
)

// polls returns how many polls a stretch of time makes.
func (d *driver) polls(over time.Duration) int {
	before := d.f.calls["Sample"]
	d.advance(over)
	return d.f.calls["Sample"] - before
}

func TestOnePollASecond(t *testing.T) {
	d := start(t, seeded())
	if n := d.polls(10 * time.Second); n != 10 {
		t.Fatalf("%d polls in 10 s, want 10", n)
	}
}

func TestManyRefreshesMakeOneLoop(t *testing.T) {
	d := start(t, seeded())
	for range 20 {
		d.send(keyMsg("R"))
		d.send(tea.WindowSizeMsg{Width: 100, Height: 30})
		d.send(tea.WindowSizeMsg{Width: 120, Height: 36})
		d.send(tea.ResumeMsg{})
		d.send(keyMsg("+"))
		d.send(keyMsg("-"))
	}
	if n := d.polls(10 * time.Second); n != 10 {
		t.Fatalf("%d polls in 10 s after 20 refreshes, want 10", n)
	}
}

func TestNoPollWhileOneRuns(t *testing.T) {
	d := start(t, seeded())
	before := d.f.calls["Sample"]
	d.hold = true
	d.send(keyMsg("R"))
	for range 5 {
		d.send(keyMsg("R"))
		d.advance(time.Second)
	}
	if n := len(d.held); n != 1 {
		t.Fatalf("%d commands while a poll runs, want 1", n)
	}
	d.release()
	if n := d.f.calls["Sample"] - before; n != 2 {
		t.Fatalf("%d polls, want the one under way and one more for all that were asked for", n)
	}
}

func TestAnswersOfOlderGenerationsAreDropped(t *testing.T) {
	d := start(t, seeded())
	d.press("enter")
	old := d.m
	before := d.m.Conn
	stale := []tea.Msg{
		queuesSampledMsg{gen: old.poll.gen - 1, err: errDown},
		serverSeenMsg{gen: old.serving - 1},
		queuesDiscoveredMsg{gen: old.scan - 1, discovery: Discovery{Queues: []queue.Queue{queue.Named("ghost")}}},
		pagePeekedMsg{gen: old.paging.gen - 1, queue: old.Queue.Name, place: old.Queue.Place, page: page{total: 99}},
		placeSearchedMsg{gen: 99, queue: old.Queue.Name, place: old.Queue.Place},
		distributionReadMsg{gen: old.charting.gen - 1, queue: old.Queue.Name, dist: queue.Distribution{Total: 99}},
		messageLoadedMsg{gen: 99},
		actionDoneMsg{gen: 99, status: Status{Text: "ghost"}},
		undoListedMsg{gen: 99},
		pollDueMsg{old.poll.timer - 1},
		discoverDueMsg{old.scan - 1},
		clockDueMsg{old.clock - 1},
	}
	for _, msg := range stale {
		next, cmd := d.m.Update(msg)
		if cmd != nil {
			t.Errorf("%T of an older generation makes a command", msg)
		}
		if next.Conn.Down != before.Down || next.Conn.Server.Version != before.Server.Version ||
			len(next.Overview.Rows) != len(old.Overview.Rows) || next.Queue.List().Total != old.Queue.List().Total ||
			next.Status != old.Status || next.Queue.Dist.Total != old.Queue.Dist.Total {
			t.Errorf("%T of an older generation changes the state", msg)
		}
	}
}

func TestOutageBacksOffAndRecovers(t *testing.T) {
	f := seeded()
	d := start(t, f)
	rows := len(d.m.Overview.Rows)
	f.err = errDown
	d.advance(time.Second)
	waits := []time.Duration{1, 2, 4, 8, 10, 10}
	for i, w := range waits {
		o := d.m.Conn.Down
		if o == nil {
			t.Fatal("no outage is noticed")
		}
		if got := o.RetryAt.Sub(d.clock); got != w*time.Second || o.Tries != i+1 {
			t.Fatalf("try %d waits %s, want %s", o.Tries, got, w*time.Second)
		}
		if n := d.polls(w*time.Second - 1); n != 0 {
			t.Fatalf("%d polls before they are due", n)
		}
		d.advance(1)
	}
	if d.m.Conn.Down.Reason == "" || len(d.m.Overview.Rows) != rows || d.m.Overview.Rows[0].Sample.Ready.N == 0 {
		t.Fatal("an outage must say why and keep the data")
	}
	if age, stale := d.m.Stale(); !stale || age < 30*time.Second {
		t.Fatalf("age %s, stale %v during an outage", age, stale)
	}
	f.err = nil
	d.advance(10 * time.Second)
	if d.m.Conn.Down != nil {
		t.Fatal("the outage outlives the first answer")
	}
	if _, stale := d.m.Stale(); stale {
		t.Fatal("still stale after the first answer")
	}
	if n := d.polls(10 * time.Second); n != 10 {
		t.Fatalf("%d polls in 10 s after the outage, want 10", n)
	}
}

func TestCountdownMovesDuringAnOutageAndStopsAfter(t *testing.T) {
	f := seeded()
	d := start(t, f)
	f.err = errDown
	d.advance(30 * time.Second)
	clocks := 0
	for _, tm := range d.timers {
		if _, ok := tm.due.(clockDueMsg); ok {
			clocks++
		}
	}
	if clocks != 1 {
		t.Fatalf("%d countdowns run, want 1", clocks)
	}
	f.err = nil
	d.send(keyMsg("R"))
	d.advance(3 * time.Second)
	for _, tm := range d.timers {
		if _, ok := tm.due.(clockDueMsg); ok {
			t.Fatal("the countdown goes on after the outage")
		}
	}
}

func TestStartsWithoutAServerAndFindsItLater(t *testing.T) {
	f := seeded()
	f.err = errDown
	d := start(t, f)
	if d.m.Conn.Down == nil {
		t.Fatal("a server that never answered is not missed")
	}
	f.err = nil
	d.advance(12 * time.Second)
	if len(d.m.Overview.Rows) != 3 || d.m.Overview.Rows[0].Sampled.IsZero() {
		t.Fatalf("%d queues after the server came", len(d.m.Overview.Rows))
	}
	if !d.m.Conn.Known {
		t.Fatal("nothing is known of the server")
	}
}

func TestFreezeKeepsTheNumbers(t *testing.T) {
	f := seeded()
	d := start(t, f)
	d.press("p")
	f.lists["notify-queue"] = nil
	d.advance(5 * time.Second)
	if n := d.m.Overview.Rows[0].Sample.Ready.N; n != 3 {
		t.Fatalf("a frozen view changed to %d", n)
	}
	if _, stale := d.m.Stale(); !stale {
		t.Fatal("a frozen view is not shown as old")
	}
	d.press("R")
	if n := d.m.Overview.Rows[0].Sample.Ready.N; n != 0 {
		t.Fatalf("R in a frozen view shows %d, want what is there now", n)
	}
	f.lists["notify-queue"] = []string{"x"}
	d.press("p")
	if n := d.m.Overview.Rows[0].Sample.Ready.N; n != 1 || d.m.Frozen {
		t.Fatalf("after the freeze %d", n)
	}
}

func TestNumbersAreUnknownBeforeTheFirstPoll(t *testing.T) {
	r := newRow(queue.Queue{Name: "q", Ready: "q"})
	if r.Sample.Ready.State != queue.Unreadable || CountText(r.Sample.Ready) != "?" {
		t.Fatalf("ready is %q before the first poll, want ?", CountText(r.Sample.Ready))
	}
	if CountText(r.Sample.Dead) != "–" {
		t.Fatalf("a place the queue does not have is %q", CountText(r.Sample.Dead))
	}
	if r.Net.OK || r.Drain.OK || r.Health != HealthUnknown {
		t.Fatal("something is known before the first poll")
	}
}

func TestDiscoveryGoesStepByStepThenRests(t *testing.T) {
	f := seeded()
	f.steps = 5
	d := start(t, f)
	if n := f.calls["Discover"]; n != 5 || d.m.Scanning {
		t.Fatalf("%d steps, scanning %v, want 5 and done", n, d.m.Scanning)
	}
	d.advance(9 * time.Second)
	if n := f.calls["Discover"]; n != 5 {
		t.Fatalf("%d steps while resting", n-5)
	}
	f.queues = append(f.queues, queue.Named("new"))
	d.advance(2 * time.Second)
	if n := f.calls["Rediscover"]; n != 1 {
		t.Fatalf("%d new scans, want 1", n)
	}
	if _, ok := d.m.Row("new"); !ok || d.m.Scanning {
		t.Fatalf("a later scan found the new queue: %v, scanning %v", ok, d.m.Scanning)
	}
	if r, _ := d.m.Row("new"); r.Sampled.IsZero() {
		t.Fatal("a new queue waits for the next poll")
	}
}

func TestScanThatIsDeniedSaysSo(t *testing.T) {
	f := seeded()
	pinned := f.queues[2]
	f.queues = nil
	d := start(t, f, func(c *Config) { c.Pinned = []queue.Queue{pinned} })
	d.send(queuesDiscoveredMsg{gen: d.m.scan, err: errDown, discovery: Discovery{Queues: []queue.Queue{pinned}}})
	if d.m.Discovery.Err == "" || len(d.m.Overview.Rows) != 1 {
		t.Fatalf("err %q, %d rows", d.m.Discovery.Err, len(d.m.Overview.Rows))
	}
}

func TestServerIsAskedNowAndThen(t *testing.T) {
	d := start(t, seeded())
	before := d.f.calls["Server"]
	d.advance(20 * time.Second)
	if n := d.f.calls["Server"] - before; n != 4 {
		t.Fatalf("%d times in 20 polls, want 4", n)
	}
}

func TestSlowServerIsPolledLess(t *testing.T) {
	d := start(t, seeded())
	d.send(keyMsg("R"))
	d.m.poll.running = true
	d.timers = nil
	d.send(queuesSampledMsg{gen: d.m.poll.gen, poll: queue.Poll{Now: d.f.now, Took: time.Second}})
	for _, tm := range d.timers {
		if _, ok := tm.due.(pollDueMsg); ok && tm.at.Sub(d.clock) != slowFactor*time.Second {
			t.Fatalf("the next poll comes after %s", tm.at.Sub(d.clock))
		}
	}
}

func TestRefreshSteps(t *testing.T) {
	d := start(t, seeded())
	d.press("- - - - - -")
	if d.m.Refresh != 30*time.Second {
		t.Fatalf("refresh is %s", d.m.Refresh)
	}
	d.press("+ + + + + + + +")
	if d.m.Refresh != 250*time.Millisecond {
		t.Fatalf("refresh is %s", d.m.Refresh)
	}
	if n := d.polls(time.Second); n != 4 {
		t.Fatalf("%d polls in a second at 250ms", n)
	}
	d.m.Refresh = 3 * time.Second
	d.press("-")
	if d.m.Refresh != 5*time.Second {
		t.Fatalf("from 3s slower is %s", d.m.Refresh)
	}
	d.m.Refresh = 3 * time.Second
	d.press("+")
	if d.m.Refresh != 2*time.Second {
		t.Fatalf("from 3s faster is %s", d.m.Refresh)
	}
}

func TestPanicInACommandEndsTheProgramWithItsReason(t *testing.T) {
	f := seeded()
	d := start(t, f)
	f.panicking = true
	d.send(keyMsg("R"))
	if !d.quit || d.m.Fatal == nil || !strings.Contains(d.m.Fatal.Error(), "the fake was told to") {
		t.Fatalf("quit %v, fatal %v", d.quit, d.m.Fatal)
	}
}

func TestConfigIsChecked(t *testing.T) {
	f := newFake()
	for name, cfg := range map[string]Config{
		"no backend":   {},
		"refresh":      {Backend: f, Refresh: time.Millisecond},
		"pinned queue": {Backend: f, Pinned: []queue.Queue{{Name: "no keys"}}},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := New(Config{Backend: f}); err != nil {
		t.Errorf("the zero Config with a backend: %v", err)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	var h History
	s := queue.Sample{Ready: queue.Count{State: queue.Known}}
	for i := range 5000 {
		s.Ready.N = int64(i)
		h = h.add(epoch.Add(time.Duration(i)*100*time.Millisecond), s)
		if n := len(h.Points()); n > int(historySpan/historyStep)+1 {
			t.Fatalf("%d points", n)
		}
	}
	first, last := h.Points()[0], h.Points()[len(h.Points())-1]
	if last.N[SeriesReady] < 4990 || last.At.Sub(first.At) > historySpan {
		t.Fatalf("last %d, span %s", last.N[SeriesReady], last.At.Sub(first.At))
	}
	h = h.add(last.At.Add(time.Hour), s)
	if n := len(h.Points()); n != 1 {
		t.Fatalf("%d points after an hour, want 1", n)
	}
}

func TestNetRateAndDrain(t *testing.T) {
	sample := func(n int64) queue.Sample {
		return queue.Sample{Ready: queue.Count{N: n, State: queue.Known}}
	}
	var h History
	if h.net().OK {
		t.Fatal("a rate out of nothing")
	}
	for i := range 20 {
		h = h.add(epoch.Add(time.Duration(i)*time.Second), sample(int64(1000-5*i)))
	}
	if r := h.net(); !r.OK || r.PerSecond != -5 {
		t.Fatalf("rate %+v, want -5/s", r)
	}
	if dr := drain(queue.Count{N: 100, State: queue.Known}, h.net()); !dr.OK || dr.Left != 20*time.Second {
		t.Fatalf("drain %+v, want 20s", dr)
	}
	h = h.add(epoch.Add(20*time.Second), queue.Sample{Ready: queue.Count{State: queue.Unreadable}})
	if h.net().OK {
		t.Fatal("a rate to an unknown length")
	}
	if drain(queue.Count{N: 5, State: queue.Known}, Rate{PerSecond: 1, OK: true}).OK {
		t.Fatal("a growing queue drains")
	}
}
