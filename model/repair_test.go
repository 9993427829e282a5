package model

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redq/queue"
)

// manyDead is a server whose orders have n dead messages, the last of them the oldest.
func manyDead(n int) *fake {
	f := seeded()
	f.lists["orders:dead"] = numbered("dead", n)
	return f
}

// onDead opens the dead of orders.
func onDead(t *testing.T, n int) (*driver, *fake) {
	t.Helper()
	f := manyDead(n)
	d := start(t, f)
	d.commanded("orders")
	d.press("4")
	return d, f
}

// types presses keys; those that are no names of keys are typed as text.
func (d *driver) types(keys string) {
	for _, k := range strings.Fields(keys) {
		if text, ok := strings.CutPrefix(k, "="); ok {
			d.typed(strings.ReplaceAll(text, "_", " "))
			continue
		}
		d.press(k)
	}
}

// What the form says is what the job is asked for.
func TestFormsOfJobs(t *testing.T) {
	const dead = 150
	for _, c := range []struct {
		keys string
		want func(BulkWork) bool
		says string // in the title
	}{
		{"r s y", func(w BulkWork) bool {
			return w.Bulk.Op == queue.OpRedrive && w.Ask && w.Messages == nil && w.Filter.All() && w.Limit == 0 && !w.Bulk.Front && w.Bulk.ToKey == "" && w.Bulk.Rate == 0
		}, "Re-drive all 150 messages of dead"},
		{"r s o o f a r =50/s tab =20 tab y", func(w BulkWork) bool {
			return w.Limit == 10 && w.Bulk.Front && w.Bulk.ResetAttempts && w.Bulk.Rate == 50 && w.PauseOnDead == 20
		}, "Re-drive the oldest 10 of all 150 messages of dead"},
		{"r s t w =1h tab =10m tab =30s tab y", func(w BulkWork) bool {
			due := w.Bulk.Due
			return w.Bulk.ToPlace == queue.Delayed && due.Spread == 10*time.Minute && due.Jitter == 30*time.Second &&
				due.At.Sub(epoch) >= time.Hour && due.At.Sub(epoch) < time.Hour+time.Minute
		}, ""},
		{"r t t tab tab tab tab =queueA tab y", func(w BulkWork) bool { // one, to the ready of another queue
			return len(w.Messages) == 1 && !w.Ask && w.Bulk.ToKey == "queueA" && w.Bulk.Push == queue.Left
		}, "Re-drive 1 message"},
		{"r s t t tab tab tab tab tab tab tab =a:list tab y", func(w BulkWork) bool { return w.Bulk.ToKey == "a:list" && w.Ask }, ""},
		{"D s o r =7200/h tab y", func(w BulkWork) bool { return w.Bulk.Op == queue.OpDelete && w.Limit == 1 && w.Bulk.Rate == 2 }, "Delete the oldest 1 of all 150 messages of dead"},
		{"/ =dead1 enter r s y", func(w BulkWork) bool { return w.Filter.String() == "dead1" && w.Ask && w.Messages == nil }, "Re-drive 61 messages of dead that match"},
		{"/ =dead1 enter r s s y", func(w BulkWork) bool { return w.Filter.All() && w.Ask }, "Re-drive all 150 messages of dead"},
		{"/ =dead1 enter space space r r =5 tab tab y", func(w BulkWork) bool {
			return len(w.Messages) == 2 && !w.Ask && w.Bulk.Rate == 5
		}, "Re-drive 2 marked messages"},
		{"1 r y", func(w BulkWork) bool {
			return w.Place == queue.Ready && w.Bulk.ToPlace == queue.Delayed && len(w.Messages) == 1
		}, "Move 1 message"},
		{"3 t =by_10m enter s y", func(w BulkWork) bool {
			return w.Bulk.Op == queue.OpReschedule && w.Bulk.Due == queue.Due{Shift: 10 * time.Minute} && w.Ask
		}, "Reschedule all 3 messages of delayed"},
		{"3 t =by_-1h enter y", func(w BulkWork) bool { return w.Bulk.Due == queue.Due{Shift: -time.Hour} && len(w.Messages) == 1 }, ""},
		{"3 t =5m enter s tab tab tab tab tab =1m tab tab y", func(w BulkWork) bool {
			return w.Bulk.Due.Spread == time.Minute && !w.Bulk.Due.At.IsZero() && w.Ask
		}, ""},
	} {
		d, f := onDead(t, dead)
		keys := strings.Fields(c.keys)
		d.types(strings.Join(keys[:len(keys)-1], " "))
		title := ""
		if d.m.Dialog != nil {
			title = d.m.Dialog.Head().Title
		}
		d.types(keys[len(keys)-1])
		if len(f.jobs.all) != 1 {
			note := ""
			if d.m.Dialog != nil {
				note = d.m.Dialog.Head().Note
			}
			t.Errorf("%s: %d jobs, note %q, status %q", c.keys, len(f.jobs.all), note, d.m.Status.Text)
			continue
		}
		if w := f.jobs.all[0].work.(BulkWork); !c.want(w) {
			t.Errorf("%s: %+v", c.keys, w)
		}
		if c.says != "" && title != c.says {
			t.Errorf("%s: title %q, want %q", c.keys, title, c.says)
		}
	}
}

func TestFormsThatAreNotFilledIn(t *testing.T) {
	for keys, says := range map[string]string{
		"r s r =fast tab tab y": "expected a rate",
		"r s p =x tab y":        "expected a number",
		"r s p =0 tab y":        "expected a number",
		"r t t y":               "say which list",
		"r t t tab tab tab tab =orders:dead tab y": "is where they are",
		"r s t w =soon tab tab tab y":              "expected a duration",
		"r s t w tab =x tab tab y":                 "expected a duration like 10m",
		"3 t =by_x enter":                          "say when first",
		"3 t shift+tab y":                          "say when first",
	} {
		d, f := onDead(t, 5)
		d.types(keys)
		if d.m.Dialog == nil || !strings.Contains(d.m.Dialog.Head().Note, says) || f.calls["StartJob"] > 0 {
			t.Errorf("%s: dialog %+v, want a note %q", keys, d.m.Dialog, says)
		}
	}
}

// A set that is asked about is shown before anything happens: it can be left at that.
func TestReview(t *testing.T) {
	d, f := onDead(t, 150)
	f.jobs.looks = true
	d.press("r s y")
	g, ok := d.m.Dialog.(ReviewDialog)
	if !ok || g.Fixed() {
		t.Fatalf("dialog %+v", d.m.Dialog)
	}
	d.press("y")
	if !strings.Contains(d.m.Dialog.Head().Note, "still looking") {
		t.Fatalf("note %q", d.m.Dialog.Head().Note)
	}
	f.goOn()
	d.advance(time.Second)
	if g = d.m.Dialog.(ReviewDialog); !g.Fixed() || g.Focus != FocusNo || g.Job.News.Set.Count != 150 || len(g.Job.News.Set.Samples) != 3 {
		t.Fatalf("dialog %+v", g)
	}
	if s, atMost := g.Job.Estimate(); !atMost || s != time.Second {
		t.Fatalf("estimate %s %v", s, atMost)
	}
	d.press("enter")
	if d.m.Dialog != nil || f.calls["CancelJob 1"] != 1 || len(f.lists["orders:dead"]) != 150 || d.m.working() {
		t.Fatalf("dialog %T, %d are left, jobs %+v", d.m.Dialog, len(f.lists["orders:dead"]), d.m.Jobs)
	}

	f.jobs.looks = false
	d.press("r s y")
	f.lists["orders:dead"] = append([]string{"newer"}, f.lists["orders:dead"]...)
	d.press("y")
	d.wantStatus("re-driven 150 to orders (u undoes)")
	if !slices.Equal(f.lists["orders:dead"], []string{"newer"}) {
		t.Fatalf("left %q", f.lists["orders:dead"])
	}
}

// A key that was typed while the set was looked for does not confirm it.
func TestReviewIgnoresWhatWasTypedBefore(t *testing.T) {
	d, f := onDead(t, 150)
	f.jobs.looks = true
	d.press("r s y")
	d.advance(time.Second)
	f.goOn()
	d.advance(watchJobsEvery)
	d.send(keyMsg("y"))
	if f.calls["ConfirmJob 1"] != 0 || d.m.Dialog == nil || !strings.Contains(d.m.Dialog.Head().Note, "before") {
		t.Fatalf("dialog %+v", d.m.Dialog)
	}
	d.press("y")
	if f.calls["ConfirmJob 1"] != 1 {
		t.Fatal("y does nothing")
	}
}

func TestNothingMatchesAnyMore(t *testing.T) {
	d, f := onDead(t, 150)
	d.types("/ =dead1 enter r s")
	f.lists["orders:dead"] = []string{"other"}
	f.mu.Lock()
	f.jobs.none = true
	f.mu.Unlock()
	d.press("y")
	g, ok := d.m.Dialog.(ReviewDialog)
	if !ok || g.Job.Active() || !strings.Contains(g.Job.Outcome().Text, "nothing matches") {
		t.Fatalf("dialog %+v", d.m.Dialog)
	}
	d.press("enter")
	if d.m.Dialog != nil {
		t.Fatal("the dialog stays")
	}
}

func TestSecondJobIsRefused(t *testing.T) {
	d, f := onDead(t, 150)
	f.jobs.refuse = fmt.Errorf("job 1 is at work on orders:dead already")
	d.press("r s y")
	if g, ok := d.m.Dialog.(RepairDialog); !ok || g.Busy || !strings.Contains(g.Note, "job 1 is at work") {
		t.Fatalf("dialog %+v", d.m.Dialog)
	}
}

// atWork starts a job that does not end by itself.
func atWork(t *testing.T) (*driver, *fake) {
	t.Helper()
	d, f := onDead(t, 150)
	f.jobs.hold = true
	d.press("r s y y")
	if d.m.Dialog != nil || d.m.jobsAtWork() != 1 || d.m.Layout().Jobs.H != 1 {
		t.Fatalf("dialog %T, jobs %+v", d.m.Dialog, d.m.Jobs)
	}
	return d, f
}

func TestJobsByKeys(t *testing.T) {
	d, f := atWork(t)
	d.press("J p")
	d.advance(time.Second)
	j, _ := d.m.Dialog.(JobsDialog).Selected()
	if f.calls["PauseJob 1"] != 1 || j.News.Paused == "" {
		t.Fatalf("not paused: %+v", j)
	}
	d.press("D")
	if !strings.Contains(d.m.Dialog.Head().Note, "x cancels") {
		t.Fatalf("note %q", d.m.Dialog.Head().Note)
	}
	d.press("p")
	if j, _ = d.m.Dialog.(JobsDialog).Selected(); f.calls["PauseJob 1"] != 2 || j.News.Paused != "" {
		t.Fatalf("still paused: %+v", j)
	}
	d.press("x")
	d.wantStatus("cancelled: re-driven 0, 150 not asked for")
	d.press("p")
	if !strings.Contains(d.m.Dialog.Head().Note, "has ended") {
		t.Fatalf("note %q", d.m.Dialog.Head().Note)
	}
	d.press("D")
	if f.calls["ForgetJob 1"] != 1 || len(d.m.Jobs) != 0 {
		t.Fatalf("jobs %+v", d.m.Jobs)
	}
	d.press("esc J")
	if d.m.Dialog != nil {
		t.Fatal("there are no jobs to show")
	}
	d.commanded("jobs")
	d.wantStatus("no job was started")
}

// The rate is that of the last seconds, and what is left is told by it.
func TestJobPace(t *testing.T) {
	j := Job{Work: PurgeWork{}}
	for i := range 20 {
		n := JobNews{Phase: JobRunning, Report: queue.BulkReport{Total: 10_000, Done: int64(i * 100)}}
		if i >= 10 {
			n.Report.Done = int64(1000 + (i-10)*400)
		}
		j = j.told(n, epoch.Add(time.Duration(i)*time.Second))
	}
	if r := j.Rate(); !r.OK || r.PerSecond < 390 || r.PerSecond > 410 {
		t.Errorf("rate %+v", r)
	}
	if left, ok := j.Remaining(); !ok || left < 12*time.Second || left > 16*time.Second {
		t.Errorf("%s left", left)
	}
	if f := j.Fraction(); f < 0.45 || f > 0.47 {
		t.Errorf("%f is done", f)
	}
	if r := j.told(JobNews{Phase: JobRunning, Paused: "so"}, epoch.Add(time.Minute)).Rate(); r.OK {
		t.Errorf("a paused job has a rate %+v", r)
	}
}

// Quitting asks while a job is at work, and then waits for its step to end.
func TestLeavingWithAJob(t *testing.T) {
	d, f := atWork(t)
	d.press("ctrl+c")
	g, ok := d.m.Dialog.(LeaveDialog)
	if !ok || g.Jobs != 1 || g.Consumers != 0 || d.quit {
		t.Fatalf("dialog %+v", d.m.Dialog)
	}
	d.press("n")
	if d.quit || d.m.Dialog != nil || f.calls["CancelJob 1"] != 0 {
		t.Fatal("n does not stay")
	}
	d.press("ctrl+c y")
	d.advance(time.Second)
	if !d.quit || f.calls["CancelJob 1"] != 1 {
		t.Fatalf("quit %v, calls %v", d.quit, f.calls)
	}

	d, f = atWork(t)
	d.send(LeaveMsg{})
	d.advance(time.Second)
	if !d.quit || f.calls["CancelJob 1"] != 1 {
		t.Fatalf("a signal: quit %v, calls %v", d.quit, f.calls)
	}

	d, _ = onDead(t, 150) // what only waits for an answer holds nothing up
	d.press("r s y ctrl+c")
	if !d.quit {
		t.Fatalf("dialog %T", d.m.Dialog)
	}
}

func TestOutcomesOfJobs(t *testing.T) {
	bulk := BulkWork{Queue: queue.Named("orders"), Place: queue.Dead, Bulk: queue.Bulk{Op: queue.OpRedrive}}
	for _, c := range []struct {
		work Work
		r    queue.BulkReport
		err  error
		want string
		kind StatusKind
	}{
		{bulk, queue.BulkReport{Total: 5, Done: 3, Gone: 2, Entry: "e"}, nil, "re-driven 3 to orders (u undoes), 2 already gone", StatusWarn},
		{bulk, queue.BulkReport{}, nil, "nothing matches", StatusWarn},
		{bulk, queue.BulkReport{Total: 5}, errDown, "could not re-drive from orders:dead to orders: connection refused", StatusError},
		{bulk, queue.BulkReport{Total: 5, Done: 2, Refused: 3, Why: queue.ErrReadOnly}, queue.ErrReadOnly, "re-driven 2 to orders, 3 refused", StatusError},
		{bulk, queue.BulkReport{Total: 5, Done: 2, Unknown: 1}, queue.ErrUnknownOutcome, "2 not asked for", StatusError},
		{PurgeWork{queue.Named("orders"), queue.Dead}, queue.BulkReport{Total: 5, Done: 5, Entry: "e"}, nil, "purged 5 of dead (u undoes)", StatusDone},
		{PurgeWork{queue.Named("orders"), queue.Dead}, queue.BulkReport{}, nil, "already gone", StatusWarn},
		{PurgeWork{queue.Named("orders"), queue.Dead}, queue.BulkReport{Total: 5, Done: 2}, fmt.Errorf("the purge stopped: %w", errDown), "the purge stopped", StatusError},
	} {
		j := Job{Work: c.work, News: JobNews{Phase: JobEnded, Report: c.r, Err: c.err}}
		if s := j.Outcome(); !strings.Contains(s.Text, c.want) || s.Kind != c.kind {
			t.Errorf("%+v, %v: %+v, want %q", c.r, c.err, s, c.want)
		}
	}
}

// A queue may be called jobs.
func TestQueueNamedJobs(t *testing.T) {
	f := seeded()
	f.queues = append(f.queues, queue.Named("jobs"))
	f.lists["jobs"] = []string{"x"}
	d := start(t, f)
	d.commanded("jobs")
	if d.m.Screen != QueueScreen || d.m.Queue.Name != "jobs" {
		t.Fatalf("screen %d, status %q", d.m.Screen, d.m.Status.Text)
	}
}
