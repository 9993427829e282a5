package model

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redq/queue"
	"redq/queue/filter"
	"redq/queue/journal"
	"redq/queue/layout"
	"redq/queue/queuetest"
)

// workshop is a Live on a server, with a queue q of which some messages are dead.
func workshop(t *testing.T, s *queuetest.Server, dead int) (*Live, queue.Queue, *redis.Client) {
	t.Helper()
	j, err := journal.Open(filepath.Join(t.TempDir(), "journal.jsonl"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	c, err := queue.Open(context.Background(), queue.Options{URL: s.URL, Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	rdb := redis.NewClient(&redis.Options{Addr: s.Addr})
	t.Cleanup(func() { _ = rdb.Close() })
	var all []any
	for i := range dead {
		all = append(all, fmt.Sprintf("m%04d", i))
	}
	if err := rdb.RPush(t.Context(), "q:dead", all...).Err(); err != nil {
		t.Fatal(err)
	}
	l := NewLive(c, j, layout.Options{})
	t.Cleanup(func() {
		ctx, done := context.WithTimeout(context.Background(), 10*time.Second)
		defer done()
		l.EndJobs(ctx)
	})
	return l, queue.Named("q"), rdb
}

// started starts a job.
func started(t *testing.T, l *Live, w Work) int {
	t.Helper()
	id, err := l.StartJob(w)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// reaches waits until a job is as far as wanted.
func reaches(t *testing.T, l *Live, id int, enough func(JobNews) bool) JobNews {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		for _, n := range l.WatchJobs() {
			if n.ID == id && enough(n) {
				return n
			}
			if n.ID == id && time.Now().After(deadline) {
				t.Fatalf("the job is no further than %+v", n)
			}
		}
	}
}

func hasEnded(n JobNews) bool { return n.Phase == JobEnded }

func isFixed(n JobNews) bool { return n.Phase == JobFixed }

func length(t *testing.T, rdb *redis.Client, key string) int64 {
	t.Helper()
	n, err := rdb.LLen(t.Context(), key).Result()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestJobOnAServer(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		l, q, rdb := workshop(t, s, 250)
		some, err := filter.Parse("/m00[0-9]5/")
		if err != nil {
			t.Fatal(err)
		}
		w := BulkWork{Queue: q, Place: queue.Dead, Filter: some, Ask: true, Bulk: queue.Bulk{Op: queue.OpRedrive}}
		id := started(t, l, w)
		n := reaches(t, l, id, isFixed)
		if n.Set.Count != 10 || n.Set.Looked != 250 || len(n.Set.Samples) != 3 || n.Set.Took == 0 || length(t, rdb, "q:dead") != 250 {
			t.Fatalf("fixed %+v, %d are left", n.Set, length(t, rdb, "q:dead"))
		}
		// What arrives now is not in it, what goes is counted as gone.
		rdb.RPush(t.Context(), "q:dead", "m0005 again")
		rdb.LRem(t.Context(), "q:dead", 1, "m0095")
		if _, err := l.StartJob(PurgeWork{q, queue.Dead}); err == nil || !strings.Contains(err.Error(), "job 1 is at work on q:dead") {
			t.Fatalf("a second job on the same place: %v", err)
		}
		l.ConfirmJob(id)
		n = reaches(t, l, id, hasEnded)
		if r := n.Report; n.Err != nil || r.Done != 9 || r.Gone != 1 || r.Total != 10 || length(t, rdb, "q") != 9 {
			t.Fatalf("ended with %+v, %v", r, n.Err)
		}
		id = started(t, l, PurgeWork{q, queue.Dead})
		if n = reaches(t, l, id, hasEnded); n.Err != nil || n.Report.Done != 241 || length(t, rdb, "q:dead") != 0 {
			t.Fatalf("purge: %+v", n)
		}
		all, err := l.UndoList(t.Context(), 10)
		if err != nil || len(all) != 2 {
			t.Fatalf("%+v, %v", all, err)
		}
		for _, e := range all {
			id = started(t, l, UndoWork{e})
			if n = reaches(t, l, id, hasEnded); n.Err != nil || n.Report.Done != int64(e.Total) {
				t.Fatalf("undo of %+v: %+v", e, n)
			}
		}
		if length(t, rdb, "q:dead") != 250 {
			t.Errorf("%d are back", length(t, rdb, "q:dead"))
		}
		l.ForgetJob(id)
		if len(l.WatchJobs()) != 3 {
			t.Errorf("%d jobs are kept", len(l.WatchJobs()))
		}
	})
}

// Without a yes nothing is changed, whatever the job has found.
func TestJobThatIsNotConfirmed(t *testing.T) {
	s := queuetest.Redis(t)
	l, q, rdb := workshop(t, s, 50)
	id := started(t, l, BulkWork{Queue: q, Place: queue.Dead, Ask: true, Bulk: queue.Bulk{Op: queue.OpDelete}})
	reaches(t, l, id, isFixed)
	l.CancelJob(id)
	if n := reaches(t, l, id, hasEnded); !errors.Is(n.Err, context.Canceled) || n.Report.Done != 0 {
		t.Fatalf("%+v", n)
	}
	if length(t, rdb, "q:dead") != 50 {
		t.Fatal("messages are gone")
	}
	none, err := filter.Parse("nothing like it")
	if err != nil {
		t.Fatal(err)
	}
	id = started(t, l, BulkWork{Queue: q, Place: queue.Dead, Filter: none, Ask: true, Bulk: queue.Bulk{Op: queue.OpDelete}})
	if n := reaches(t, l, id, hasEnded); n.Err != nil || n.Report.Total != 0 || n.Set.Looked != 50 {
		t.Fatalf("%+v", n)
	}
}

func TestJobPausesAndGoesOn(t *testing.T) {
	s := queuetest.Redis(t)
	l, q, rdb := workshop(t, s, 400)
	id := started(t, l, BulkWork{Queue: q, Place: queue.Dead, Bulk: queue.Bulk{Op: queue.OpRedrive, Rate: 500}})
	reaches(t, l, id, func(n JobNews) bool { return n.Report.Done > 0 })
	l.PauseJob(id, true)
	// A step that was under way may still end.
	n := reaches(t, l, id, func(n JobNews) bool { return n.Paused != "" })
	time.Sleep(300 * time.Millisecond)
	still := reaches(t, l, id, func(JobNews) bool { return true })
	if still.Report.Done > n.Report.Done+100 || still.Phase != JobRunning {
		t.Fatalf("it went on: %+v, then %+v", n.Report, still.Report)
	}
	time.Sleep(200 * time.Millisecond)
	if later := reaches(t, l, id, func(JobNews) bool { return true }); later.Report.Done != still.Report.Done {
		t.Fatalf("it goes on while it is paused: %d, then %d", still.Report.Done, later.Report.Done)
	}
	l.PauseJob(id, false)
	if n = reaches(t, l, id, hasEnded); n.Err != nil || n.Report.Done != 400 || length(t, rdb, "q") != 400 {
		t.Fatalf("%+v, %v", n.Report, n.Err)
	}
}

// What is re-driven dies at once: the job pauses by itself, and goes on when it is told to.
func TestJobPausesWhenMessagesDie(t *testing.T) {
	s := queuetest.Redis(t)
	l, q, rdb := workshop(t, s, 400)
	ctx, stop := context.WithCancel(t.Context())
	dying := make(chan struct{})
	go func() {
		defer close(dying)
		for ctx.Err() == nil {
			if rdb.LMove(ctx, "q", "q:dead", "RIGHT", "LEFT").Err() != nil {
				time.Sleep(time.Millisecond)
			}
		}
	}()
	id := started(t, l, BulkWork{Queue: q, Place: queue.Dead, PauseOnDead: 30, Bulk: queue.Bulk{Op: queue.OpRedrive, Rate: 200}})
	n := reaches(t, l, id, func(n JobNews) bool { return n.Paused != "" || n.Phase == JobEnded })
	if !strings.Contains(n.Paused, "more are dead") || n.Report.Done >= 400 {
		t.Fatalf("%+v", n)
	}
	stop()
	<-dying
	l.PauseJob(id, false)
	if n = reaches(t, l, id, hasEnded); n.Err != nil || n.Report.Done != 400 {
		t.Fatalf("%+v, %v", n.Report, n.Err)
	}
}

func TestMarkedMessagesOfAJob(t *testing.T) {
	s := queuetest.Redis(t)
	l, q, rdb := workshop(t, s, 30)
	page, err := l.Peek(t.Context(), q, queue.Dead, 0, 20)
	if err != nil {
		t.Fatal(err)
	}
	rdb.LRem(t.Context(), "q:dead", 1, "m0003")
	id := started(t, l, BulkWork{Queue: q, Place: queue.Dead, Messages: page.Messages, Limit: 5, Bulk: queue.Bulk{Op: queue.OpRedrive, Front: true}})
	n := reaches(t, l, id, hasEnded)
	if n.Report.Done != 5 || n.Err != nil {
		t.Fatalf("%+v", n)
	}
	got, err := rdb.LRange(t.Context(), "q", 0, -1).Result()
	if want := []string{"m0015", "m0016", "m0017", "m0018", "m0019"}; err != nil || !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
	id = started(t, l, BulkWork{Queue: q, Place: queue.Dead, Messages: page.Messages, Bulk: queue.Bulk{Op: queue.OpDelete}})
	if n = reaches(t, l, id, hasEnded); n.Report.Done != 14 || n.Report.Gone != 6 || n.Report.Total != 20 {
		t.Fatalf("%+v", n.Report)
	}
}

func TestReadOnlyStartsNoJob(t *testing.T) {
	s := queuetest.Redis(t)
	c, err := queue.Open(t.Context(), queue.Options{URL: s.URL, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	l := NewLive(c, nil, layout.Options{})
	if _, err := l.StartJob(PurgeWork{queue.Named("q"), queue.Dead}); !errors.Is(err, queue.ErrReadOnly) {
		t.Fatalf("got %v", err)
	}
}

// The whole way by keys: all of a place, after it was shown what that is.
func TestRedriveAllByKeys(t *testing.T) {
	s := queuetest.Redis(t)
	_, _, rdb := workshop(t, s, 300)
	rdb.LPush(t.Context(), "q", "waits")
	d := live(t, s)
	d.press("enter") // q is the only queue
	d.press("4 r s o o y")
	awaitReview := func() ReviewDialog {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
			r, ok := d.m.Dialog.(ReviewDialog)
			if !ok || time.Now().After(deadline) {
				t.Fatalf("dialog %+v, status %q", d.m.Dialog, d.m.Status.Text)
			}
			if r.Fixed() {
				return r
			}
			d.advance(watchJobsEvery)
		}
	}
	if r := awaitReview(); r.Job.News.Set.Count != 10 {
		t.Fatalf("%+v", r.Job.News.Set)
	}
	d.press("y")
	d.awaitJobs()
	d.wantStatus("re-driven 10 to q (u undoes)")
	if n := length(t, rdb, "q"); n != 11 {
		t.Fatalf("%d in ready", n)
	}
	d.press("r s y")
	awaitReview()
	d.press("n")
	d.advance(time.Second)
	if length(t, rdb, "q:dead") != 290 || d.m.working() {
		t.Fatal("a job that was not confirmed did something")
	}
	d.press("u y")
	d.awaitJobs()
	d.wantStatus("brought back 10 to q:dead")
}
