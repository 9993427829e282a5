package model

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"redq/queue"
)

// names returns the queues shown, in order.
func (o Overview) names() []string {
	var s []string
	for _, i := range o.Shown {
		s = append(s, o.Rows[i].Queue.Name)
	}
	return s
}

func TestTroubleComesFirst(t *testing.T) {
	d := start(t, seeded())
	if got, want := d.m.Overview.names(), []string{"orders", "notify-queue", "queueA"}; !slices.Equal(got, want) {
		t.Fatalf("order %q, want %q", got, want)
	}
}

func TestCursorHoldsOnToItsQueue(t *testing.T) {
	f := seeded()
	d := start(t, f)
	d.press("j")
	r, _ := d.m.Overview.Selected()
	f.lists["queueA:dead"] = []string{"x"} // queueA comes before notify-queue now
	d.advance(2 * time.Second)
	after, _ := d.m.Overview.Selected()
	if r.Queue.Name != "notify-queue" || after.Queue.Name != r.Queue.Name {
		t.Fatalf("cursor went from %s to %s", r.Queue.Name, after.Queue.Name)
	}
	if i := slices.Index(d.m.Overview.names(), "queueA"); i > d.m.Overview.Cursor {
		t.Fatal("the test is void: the order did not change")
	}
}

func TestCursorStaysOnTopUntilTheFirstScanIsDone(t *testing.T) {
	rows := func(names ...string) (rs []Row) {
		for _, n := range names {
			rs = append(rs, newRow(queue.Named(n)))
		}
		return rs
	}
	var o Overview
	for _, names := range [][]string{{"m"}, {"f", "m"}, {"b", "f", "m"}} {
		o.Rows = rows(names...)
		o = o.arranged(10)
		if r, _ := o.Selected(); r.Queue.Name != names[0] {
			t.Fatalf("cursor on %s, want the first, %s", r.Queue.Name, names[0])
		}
	}
	o = o.holding()
	o.Rows = rows("a", "b", "f", "m")
	if r, _ := o.arranged(10).Selected(); r.Queue.Name != "b" {
		t.Fatalf("cursor on %s, want b, which it holds on to", r.Queue.Name)
	}
}

func TestSortByEachColumn(t *testing.T) {
	d := start(t, seeded())
	seen := map[Column]bool{}
	for range columnCount {
		seen[d.m.Overview.Sort] = true
		if len(d.m.Overview.Shown) != 3 {
			t.Fatalf("sorting by %s loses rows", d.m.Overview.Sort)
		}
		d.press("s")
	}
	if len(seen) != int(columnCount) || d.m.Overview.Sort != ColumnHealth {
		t.Fatalf("%d columns in a round, back at %s", len(seen), d.m.Overview.Sort)
	}
	d.press(":")
	d.typed("sort ready")
	d.press("enter")
	if got, want := d.m.Overview.names(), []string{"queueA", "notify-queue", "orders"}; !slices.Equal(got, want) {
		t.Fatalf("by ready %q, want %q", got, want)
	}
	d.press("S")
	if got, want := d.m.Overview.names(), []string{"orders", "notify-queue", "queueA"}; !slices.Equal(got, want) {
		t.Fatalf("reversed %q, want %q", got, want)
	}
}

func TestUnknownSortsLastEitherWay(t *testing.T) {
	d := start(t, seeded())
	for _, reverse := range []bool{false, true} {
		o := d.m.Overview
		o.Sort, o.Reverse = ColumnDead, reverse
		if names := o.arranged(10).names(); names[2] != "notify-queue" {
			t.Fatalf("reverse %v: %q: the queue without dead must be last", reverse, names)
		}
	}
}

func TestFilterOfNames(t *testing.T) {
	for text, want := range map[string][]string{
		"QUEUE":     {"notify-queue", "queueA"},
		"/^q/":      {"queueA"},
		"!queue":    {"orders"},
		"nothing":   nil,
		"":          {"orders", "notify-queue", "queueA"},
		"! /queue/": {"orders"},
	} {
		d := start(t, seeded())
		d.press("/")
		d.typed(text)
		if got := d.m.Overview.names(); !slices.Equal(got, want) {
			t.Errorf("while typing %q: %q, want %q", text, got, want)
		}
		d.press("enter")
		if got := d.m.Overview.names(); !slices.Equal(got, want) || d.m.Mode() != NormalMode {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		d.press("esc")
		if n := len(d.m.Overview.Shown); n != 3 {
			t.Errorf("esc after %q leaves %d queues", text, n)
		}
	}
}

func TestEscInThePromptBringsTheOldFilterBack(t *testing.T) {
	d := start(t, seeded())
	d.press("/")
	d.typed("orders")
	d.press("enter /")
	if got := d.m.Prompt.Field.Text(); got != "orders" {
		t.Fatalf("the prompt opens with %q", got)
	}
	d.typed("xyz")
	d.press("esc")
	if d.m.Overview.FilterText != "orders" || len(d.m.Overview.Shown) != 1 {
		t.Fatalf("filter %q shows %d", d.m.Overview.FilterText, len(d.m.Overview.Shown))
	}
}

func TestBadFilterPointsAtWhatIsWrong(t *testing.T) {
	d := start(t, seeded())
	d.press("/")
	d.typed("/ab(/")
	d.press("enter")
	if p := d.m.Prompt; p.Kind != FilterPrompt || p.Err == "" || p.ErrAt < 1 {
		t.Fatalf("prompt %+v", p)
	}
	d.press("backspace backspace")
	d.press("enter")
	if d.m.Prompt.Kind != NoPrompt || d.m.Overview.FilterText != "/ab" {
		t.Fatalf("filter %q, prompt %v", d.m.Overview.FilterText, d.m.Prompt.Kind)
	}
}

func TestOnlyTrouble(t *testing.T) {
	d := start(t, seeded())
	d.press("z")
	if got := d.m.Overview.names(); !slices.Equal(got, []string{"orders"}) {
		t.Fatalf("in trouble: %q", got)
	}
	d.press("esc")
	if n := len(d.m.Overview.Shown); n != 3 {
		t.Fatalf("esc leaves %d", n)
	}
}

func TestHealth(t *testing.T) {
	known := func(n int64) queue.Count { return queue.Count{N: n, State: queue.Known} }
	for name, c := range map[string]struct {
		s    queue.Sample
		want Health
	}{
		"empty":      {queue.Sample{Ready: known(0)}, HealthIdle},
		"busy":       {queue.Sample{Ready: known(5)}, HealthOK},
		"dead":       {queue.Sample{Dead: known(1)}, HealthWarn},
		"late":       {queue.Sample{Delayed: known(1), Due: known(1), Overdue: 15 * time.Second}, HealthWarn},
		"very late":  {queue.Sample{Delayed: known(1), Due: known(1), Overdue: time.Hour}, HealthTrouble},
		"stuck":      {queue.Sample{Backup: known(1), Stuck: known(1)}, HealthTrouble},
		"wrong type": {queue.Sample{Err: queue.ErrWrongType}, HealthTrouble},
		"unreadable": {queue.Sample{Err: errDown}, HealthTrouble},
		"expiring":   {queue.Sample{Ready: known(1), Keys: []queue.KeySample{{Key: "k", TTL: time.Minute}}}, HealthWarn},
	} {
		got, why := health(c.s)
		if got != c.want || (why == "") != (got < HealthWarn) {
			t.Errorf("%s: health %d (%q), want %d", name, got, why, c.want)
		}
	}
}

func TestTotalsSayWhatIsMissing(t *testing.T) {
	d := start(t, seeded())
	tt := d.m.Overview.Totals()
	if tt.Queues != 3 || tt.Ready != 9 || tt.Backup != 3 || tt.Delayed != 3 || tt.Dead != 1 || tt.Unreadable != 0 {
		t.Fatalf("totals %+v", tt)
	}
	p := queue.Poll{Samples: []queue.Sample{{Queue: "orders", Err: queue.ErrWrongType, Ready: queue.Count{State: queue.Unreadable}}}}
	if tt = d.m.Overview.polled(p, epoch, d.m.unattended, 10).Totals(); tt.Unreadable != 1 {
		t.Fatalf("totals %+v", tt)
	}
}

func TestDistributionIsOfTheSelectedQueue(t *testing.T) {
	f := seeded()
	d := start(t, f)
	if o := d.m.Overview; o.DistOf != "orders" || o.Dist.Total != 3 {
		t.Fatalf("distribution of %q: %d", o.DistOf, o.Dist.Total)
	}
	d.press("G")
	before := f.calls["Distribution"]
	d.press("g")
	if n := f.calls["Distribution"] - before; n == 0 {
		t.Fatal("moving the cursor reads no distribution")
	}
	d.hold = true
	d.send(keyMsg("G"))
	d.send(keyMsg("k"))
	d.send(keyMsg("g"))
	d.release()
	if o := d.m.Overview; o.DistOf != "orders" {
		t.Fatalf("distribution of %q", o.DistOf)
	}
}

func TestPageKeysOnAThousandQueues(t *testing.T) {
	f := newFake()
	for i := range 1000 {
		f.queues = append(f.queues, queue.Queue{Name: fmt.Sprintf("q%04d", i), Ready: fmt.Sprintf("q%04d", i)})
	}
	d := start(t, f)
	h := d.m.Layout().Table.H
	d.press("ctrl+f ctrl+f j")
	if o := d.m.Overview; o.Cursor != 2*h+1 || o.Cursor < o.Top || o.Cursor >= o.Top+h {
		t.Fatalf("cursor %d, top %d, height %d", o.Cursor, o.Top, h)
	}
	d.press("G ctrl+b pgup home end")
	if d.m.Overview.Cursor != 999 {
		t.Fatalf("cursor %d", d.m.Overview.Cursor)
	}
}
