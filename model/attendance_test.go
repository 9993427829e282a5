package model

import (
	"errors"
	"strings"
	"testing"
	"time"

	"redq/queue"
)

// onConsumers opens the consumers tab of queueA.
func onConsumers(t *testing.T, c queue.Consumers) (*driver, *fake) {
	t.Helper()
	f := seeded()
	f.consumers = c
	d := start(t, f)
	d.commanded("queueA")
	d.press("5")
	return d, f
}

func someConsumers() queue.Consumers {
	return queue.Consumers{
		Now:     epoch,
		Known:   []queue.ConsumerInfo{{ID: "a", Alive: true, Beat: epoch}, {ID: "b", Backup: "queueA:backup:b", Held: 3}},
		Blocked: []queue.BlockedClient{{ID: 7, Name: "worker", Command: "brpop"}, {ID: 8, Name: "redq-consumer:a", Consumer: "a", Command: "blmove"}},
	}
}

func TestConsumersTab(t *testing.T) {
	d, f := onConsumers(t, someConsumers())
	rows := d.m.ConsumerRows()
	if len(rows) != 3 || rows[0].Info.ID != "a" || rows[1].Info.ID != "b" || rows[2].Blocked.ID != 7 {
		t.Fatalf("rows %+v", rows)
	}
	if n, ok := d.m.Attending("queueA"); n != 1 || !ok {
		t.Fatalf("%d attend, %v", n, ok)
	}
	d.press("G")
	if r, _ := d.m.SelectedConsumer(); r.Blocked == nil {
		t.Fatalf("G goes to %+v", r)
	}
	d.press("k enter")
	d.wantStatus("runs elsewhere")
	l := d.m.Layout()
	d.send(click(l.List.X+5, l.List.Y))
	if r, _ := d.m.SelectedConsumer(); r.Info.ID != "a" {
		t.Fatalf("a click goes to %+v", r)
	}
	f.consumers.Known = nil
	f.consumers.Blocked = nil
	d.advance(2 * time.Second)
	if d.m.Queue.ConsumerCursor != -1 {
		t.Fatalf("the cursor is at %d of none", d.m.Queue.ConsumerCursor)
	}
}

func TestOwnConsumersAreMarkedOnce(t *testing.T) {
	d, r := consuming(t)
	d.f.consumers = queue.Consumers{Known: []queue.ConsumerInfo{{ID: "cqueueA", Alive: true, Held: 5}, {ID: "other", Alive: true}}}
	d.press("enter 5")
	rows := d.m.ConsumerRows()
	if len(rows) != 2 || rows[0].Own.ID != 1 || rows[0].Info.Held != 5 || rows[1].Info.ID != "other" {
		t.Fatalf("rows %+v", rows)
	}
	if n, _ := d.m.Attending("queueA"); n != 2 {
		t.Fatalf("%d attend", n)
	}
	d.press("enter")
	if d.m.Screen != ConsumerScreen {
		t.Fatalf("enter goes to screen %d", d.m.Screen)
	}
	r.end(nil)
	d.advance(time.Second)
	d.press("esc")
	if rows := d.m.ConsumerRows(); len(rows) != 2 || rows[0].Own.ID != 0 {
		t.Fatalf("an ended one is still ours: %+v", rows)
	}
}

// It is asked at each poll while its tab is in front, seldom on the other tabs, and
// nowhere else.
func TestConsumersAreAskedOnlyWhereTheyAreShown(t *testing.T) {
	d, f := onConsumers(t, someConsumers())
	asked := func(seconds int) int {
		before := f.calls["Consumers"]
		d.advance(time.Duration(seconds) * time.Second)
		return f.calls["Consumers"] - before
	}
	if n := asked(20); n < 19 || n > 21 {
		t.Errorf("on its tab %d times in 20 s", n)
	}
	d.press("1")
	if n := asked(20); n < 3 || n > 5 {
		t.Errorf("on another tab %d times in 20 s", n)
	}
	d.press("enter")
	if n := asked(20); n != 0 {
		t.Errorf("on a message %d times", n)
	}
	d.press("esc esc")
	if n := asked(20); n != 0 {
		t.Errorf("on the overview %d times", n)
	}
}

func TestALateAnswerDoesNotLandUnderAnotherQueue(t *testing.T) {
	d, f := onConsumers(t, someConsumers())
	f.consumers = queue.Consumers{}
	late := consumersReadMsg{gen: d.m.attending.gen, queue: "queueA", consumers: someConsumers()}
	d.commanded("orders")
	if d.f.calls["Consumers"] < 2 || d.m.Attendance("orders").At.IsZero() {
		t.Fatal("the other queue was not asked about")
	}
	d.send(late)
	if n := len(d.m.Attendance("orders").Consumers.Known); n != 0 {
		t.Fatalf("orders has %d consumers", n)
	}
	late.gen, late.queue = d.m.attending.gen, "orders"
	d.send(late) // as a proof that it would have
	if n := len(d.m.Attendance("orders").Consumers.Known); n != 2 {
		t.Fatalf("orders has %d consumers", n)
	}
}

func TestAFailedAnswerKeepsWhatIsKnown(t *testing.T) {
	d, f := onConsumers(t, someConsumers())
	gen := d.m.attending.gen
	d.send(consumersReadMsg{gen: gen, queue: "queueA", err: errDown})
	if a := d.m.Attendance("queueA"); a.Err == "" || len(a.Consumers.Known) != 2 {
		t.Fatalf("%+v", a)
	}
	d.advance(2 * time.Second)
	if a := d.m.Attendance("queueA"); a.Err != "" || f.calls["Consumers"] == 0 {
		t.Fatalf("%+v", a)
	}
}

func TestNobodyConsumes(t *testing.T) {
	blocked := []queue.BlockedClient{{ID: 7, Command: "brpop"}}
	for name, c := range map[string]struct {
		consumers queue.Consumers
		change    func(*driver, int) // each second
		after     time.Duration
		want      string
	}{
		"nobody":              {queue.Consumers{}, nil, 12 * time.Second, "nobody is consuming"},
		"too soon":            {queue.Consumers{}, nil, 5 * time.Second, ""},
		"a heartbeat":         {queue.Consumers{Known: []queue.ConsumerInfo{{ID: "a", Alive: true}}}, nil, time.Minute, ""},
		"a heartbeat gone":    {queue.Consumers{Known: []queue.ConsumerInfo{{ID: "a"}}}, nil, 12 * time.Second, "nobody is consuming"},
		"blocked elsewhere":   {queue.Consumers{Blocked: blocked}, nil, 12 * time.Second, "nobody is consuming"},
		"denied, too soon":    {queue.Consumers{Denied: true}, nil, 12 * time.Second, ""},
		"denied":              {queue.Consumers{Denied: true}, nil, 35 * time.Second, "nobody seems to consume"},
		"unreadable":          {queue.Consumers{Err: errors.New("no")}, nil, 35 * time.Second, "nobody seems to consume"},
		"it falls":            {queue.Consumers{}, func(d *driver, i int) { d.f.lists["queueA"] = numbered("m", 200-i) }, 30 * time.Second, ""},
		"it grows":            {queue.Consumers{}, func(d *driver, i int) { d.f.lists["queueA"] = numbered("m", 200+i) }, 30 * time.Second, "nobody is consuming"},
		"nothing waits":       {queue.Consumers{}, func(d *driver, _ int) { d.f.lists["queueA"] = nil }, time.Minute, ""},
		"due, nobody":         {queue.Consumers{}, due(), 12 * time.Second, "nobody is consuming"},
		"due, one is blocked": {queue.Consumers{Blocked: blocked}, due(), time.Minute, ""},
	} {
		d, _ := onConsumers(t, c.consumers)
		for i := range int(c.after / time.Second) {
			if c.change != nil {
				c.change(d, i)
			}
			d.advance(time.Second)
		}
		row, _ := d.m.Row("queueA")
		if c.want == "" && row.Unattended != "" || !strings.HasPrefix(row.Unattended, c.want) {
			t.Errorf("%s: %q, want %q", name, row.Unattended, c.want)
		}
		if row.Unattended != "" && row.Health < HealthWarn {
			t.Errorf("%s: health %d", name, row.Health)
		}
	}
}

// due leaves nothing in ready but messages that are due in delayed.
func due() func(*driver, int) {
	return func(d *driver, _ int) {
		d.f.lists["queueA"] = nil
		d.f.due = 3
	}
}

func TestNobodyConsumesOnTheOverview(t *testing.T) {
	d := start(t, seeded())
	d.advance(20 * time.Second)
	row, _ := d.m.Row("notify-queue")
	if row.Unattended != "" {
		t.Fatalf("after 20 s: %q", row.Unattended)
	}
	d.advance(15 * time.Second)
	row, _ = d.m.Row("notify-queue")
	if !strings.HasPrefix(row.Unattended, "nobody seems to consume") || row.Health != HealthWarn || row.Reason != row.Unattended {
		t.Fatalf("after 35 s: %q, health %d", row.Unattended, row.Health)
	}
	d.f.alive = 2 // by heartbeat, as each poll tells
	d.advance(2 * time.Second)
	if row, _ = d.m.Row("notify-queue"); row.Unattended != "" || row.Health >= HealthWarn {
		t.Fatalf("with consumers: %q, health %d", row.Unattended, row.Health)
	}
}

func TestStartingAConsumerTakesTheFlagAway(t *testing.T) {
	d, _ := onConsumers(t, queue.Consumers{})
	d.advance(30 * time.Second)
	if row, _ := d.m.Row("queueA"); row.Unattended == "" {
		t.Fatal("not flagged")
	}
	d.press("c y")
	if row, _ := d.m.Row("queueA"); row.Unattended != "" {
		t.Fatalf("still flagged: %q", row.Unattended)
	}
}
