package model

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/redis/go-redis/v9"

	"redq/queue"
	"redq/queue/journal"
	"redq/queue/layout"
	"redq/queue/queuetest"
)

// live is a dashboard on a server.
func live(t *testing.T, s *queuetest.Server) *driver {
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
	return start(t, newFake(), func(cfg *Config) {
		cfg.Backend = NewLive(c, j, layout.Options{})
		cfg.Address = c.Address()
	})
}

// awaitJobs lets the clock go on until all jobs have ended.
func (d *driver) awaitJobs() {
	d.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); d.m.working(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			d.t.Fatalf("the job does not end: %+v", d.m.Jobs)
		}
		d.advance(watchJobsEvery)
	}
}

// The main job on real data: look, re-drive, delete, undo.
func TestTourOnAServer(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		queuetest.Seed(t, s)
		d := live(t, s)
		if n := len(d.m.Overview.Rows); n != 8 {
			t.Fatalf("%d queues, want 8: %q", n, d.m.Overview.names())
		}
		d.press("/")
		d.typed("queueA")
		d.press("enter enter 2")
		if want := []string{"Hello-2", "Hello-1", "Hello-0"}; !slices.Equal(d.rows(), want) {
			t.Fatalf("backup shows %q, want %q", d.rows(), want)
		}
		rdb := redis.NewClient(&redis.Options{Addr: s.Addr})
		defer func() { _ = rdb.Close() }()
		wantLengths := func(ready, backup int64) {
			t.Helper()
			ctx := context.Background()
			r, b := rdb.LLen(ctx, "queueA").Val(), rdb.LLen(ctx, "queueA:backup").Val()
			row, _ := d.m.Row("queueA")
			if r != ready || b != backup || row.Sample.Ready.N != r || row.Sample.Backup.N != b {
				t.Fatalf("server has %d and %d, the screen %d and %d, want %d and %d",
					r, b, row.Sample.Ready.N, row.Sample.Backup.N, ready, backup)
			}
		}
		d.press("r y")
		d.wantStatus("re-driven 1 to queueA (u undoes)")
		wantLengths(5, 2)
		d.press("D y")
		d.wantStatus("deleted 1 of queueA:backup (u undoes)")
		wantLengths(5, 1)
		d.press("u y")
		d.wantStatus("brought back 1 to queueA:backup")
		wantLengths(5, 2)
		if want := []string{"Hello-1", "Hello-0"}; !slices.Equal(d.rows(), want) {
			t.Fatalf("after the undo %q, want %q", d.rows(), want)
		}
		d.press("1 X")
		d.typed("queueA")
		d.press("enter enter")
		d.awaitJobs()
		d.wantStatus("purged 5 of ready (u undoes)")
		wantLengths(0, 2)
		d.press("u y")
		d.awaitJobs()
		d.wantStatus("brought back 5 to queueA")
		wantLengths(5, 2)
	})
}

func TestDelayedOnAServer(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		queuetest.Seed(t, s)
		d := live(t, s)
		d.commanded("q-demo")
		if l := d.m.Queue.List(); d.m.Queue.Place != queue.Delayed || l.Total != 10 || !d.m.Queue.DistOK || d.m.Queue.Dist.Total != 10 {
			t.Fatalf("%s: %d rows, distribution %+v", d.m.Queue.Place, l.Total, d.m.Queue.Dist)
		}
		d.press("G t")
		d.typed("-1h")
		d.press("enter y")
		d.wantStatus("rescheduled 1")
		d.press("n")
		d.typed("fresh")
		d.press("enter")
		d.typed("5m")
		d.press("enter enter")
		d.wantStatus("enqueued 1 to q-demo")
		d.press("n")
		d.typed("fresh")
		d.press("enter")
		d.typed("9m")
		d.press("enter enter")
		if g, ok := d.m.Dialog.(EnqueueDialog); !ok || g.Already == nil {
			t.Fatalf("equal bytes: dialog %+v, status %q", d.m.Dialog, d.m.Status.Text)
		}
		d.press("esc esc /")
		d.typed("fresh")
		d.press("enter enter")
		if p := d.m.Message; !p.Loaded || string(p.Message.Payload) != "fresh" {
			t.Fatalf("message page %+v", p)
		}
	})
}

func TestServerGoesAndComesBack(t *testing.T) {
	s := queuetest.Redis(t, "--appendonly", "yes")
	queuetest.Seed(t, s)
	d := live(t, s)
	s.Stop()
	d.send(keyMsg("R"))
	if o := d.m.Conn.Down; o == nil || o.Reason == "" || len(d.m.Overview.Rows) != 8 {
		t.Fatalf("outage %+v, %d queues", o, len(d.m.Overview.Rows))
	}
	s.Start()
	for range 20 {
		d.advance(2 * time.Second)
		if d.m.Conn.Down == nil {
			return
		}
	}
	t.Fatalf("still away: %s", d.m.Conn.Down.Reason)
}

// The first frame with data: all that happens between Init and rows with numbers.
func BenchmarkFirstNumbers(b *testing.B) {
	s := queuetest.Redis(b)
	queuetest.Seed(b, s)
	c, err := queue.Open(context.Background(), queue.Options{URL: s.URL})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	for b.Loop() {
		m, err := New(Config{Backend: NewLive(c, nil, layout.Options{})})
		if err != nil {
			b.Fatal(err)
		}
		m = settle(m, m.Init())
		if len(m.Overview.Rows) != 8 || m.Overview.Rows[0].Sampled.IsZero() {
			b.Fatal("no numbers")
		}
	}
}

// settle runs commands until the first poll of all queues is there.
func settle(m Model, first tea.Cmd) Model {
	todo := []tea.Cmd{first}
	for len(todo) > 0 && (len(m.Overview.Rows) == 0 || m.Overview.Rows[0].Sampled.IsZero()) {
		cmd := todo[0]
		todo = todo[1:]
		if cmd == nil {
			continue
		}
		switch msg := cmd().(type) {
		case tea.BatchMsg:
			todo = append(todo, msg...)
		default:
			var next tea.Cmd
			m, next = m.Update(msg)
			todo = append(todo, next)
		}
	}
	return m
}
