package queue_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/queuetest"
)

func failedOf(payloads ...string) []queue.Failed {
	ms := make([]queue.Failed, len(payloads))
	for i, p := range payloads {
		ms[i].Payload = []byte(p)
	}
	return ms
}

func scored(pairs ...string) []queue.Failed {
	var ms []queue.Failed
	for p := range slices.Chunk(pairs, 2) {
		ms = append(ms, queue.Failed{Message: queue.Message{Payload: []byte(p[1]), Score: queue.Score(p[0])}})
	}
	return ms
}

func TestInsert(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, _ := open(t, s)
		ctx := t.Context()
		q := queue.Named("q")
		in := c.NewInserter(q, nil)
		for _, step := range []queue.Insertion{
			{Place: queue.Ready, Key: "q", End: queue.Left, Messages: failedOf("a", "b", "b")},
			{Place: queue.Ready, Key: "q", End: queue.Right, Messages: failedOf("y", "", "\x00\xff")},
		} {
			if left, err := in.Insert(ctx, step); err != nil || left != nil {
				t.Fatal(left, err)
			}
		}
		if got, want := listOf(t, s, "q"), []string{"b", "b", "a", "y", "", "\x00\xff"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		delayed := queue.Insertion{Place: queue.Delayed, Key: "q:delayed", Messages: scored("1", "x", "0.1", "y", "3", "x", "-inf", "")}
		if left, err := in.Insert(ctx, delayed); err != nil || !slices.Equal(left, []int{2}) {
			t.Errorf("left out %v, %v; want the second x", left, err)
		}
		delayed.Messages = scored("7", "x", "8", "z")
		if left, err := in.Insert(ctx, delayed); err != nil || !slices.Equal(left, []int{0}) {
			t.Errorf("left out %v, %v; want x", left, err)
		}
		if score := s.Client.ZScore(ctx, "q:delayed", "x").Val(); score != 1 {
			t.Errorf("x has the score %v now: it must keep 1", score)
		}
		in.Close(ctx)
		if keys := s.Client.Keys(ctx, "*redq*").Val(); len(keys) > 0 {
			t.Errorf("left behind: %q", keys)
		}
	})
}

func TestInsertKeepsAttempts(t *testing.T) {
	s, c, _ := bulkRig(t)
	ctx := t.Context()
	q := queue.Named("q")
	at := time.UnixMilli(1_700_000_000_123)
	ms := failedOf("fails", "fails too", "never failed")
	ms[0].Attempts, ms[0].Reason, ms[0].First = 3, "boom \xff", at
	ms[1].Attempts, ms[1].First = 1, at
	for _, step := range []queue.Insertion{
		{Place: queue.Dead, Key: q.Dead, End: queue.Left, Messages: ms},
		{Place: queue.Delayed, Key: q.Delayed, Messages: append(scored("1", "x"), queue.Failed{
			Message: queue.Message{Payload: []byte("later"), Score: "2", Attempts: 7, Reason: "r"}, First: at,
		})},
	} {
		if _, err := c.NewInserter(q, nil).Insert(ctx, step); err != nil {
			t.Fatal(err)
		}
	}
	seen, err := c.Failures(ctx, q, []queue.Message{
		{Payload: []byte("fails"), Size: 5}, {Payload: []byte("fails too"), Size: 9}, {Payload: []byte("never failed"), Size: 12}, {Payload: []byte("later"), Size: 5},
	})
	if err != nil {
		t.Fatal(err)
	}
	if f := seen[0]; f.Attempts != 3 || f.Reason != "boom \xff" || !f.First.Equal(at) {
		t.Errorf("%+v", f)
	}
	if seen[1].Attempts != 1 || seen[2].Attempts != 0 || seen[3].Attempts != 7 {
		t.Errorf("%+v", seen[1:])
	}
	if life := s.Client.PTTL(ctx, q.MetaKey()).Val(); life <= 6*24*time.Hour {
		t.Errorf("what is known of attempts is kept for %v, want a week", life)
	}
	// What consumers have counted since is newer.
	ms[0].Attempts = 1
	if _, err := c.NewInserter(q, nil).Insert(ctx, queue.Insertion{Place: queue.Dead, Key: q.Dead, End: queue.Left, Messages: ms}); err != nil {
		t.Fatal(err)
	}
	if seen, err = c.Failures(ctx, q, []queue.Message{{Payload: []byte("fails"), Size: 5}}); err != nil || seen[0].Attempts != 3 {
		t.Errorf("%+v, %v", seen, err)
	}
}

func TestInsertIsRefusedAsAWhole(t *testing.T) {
	s, c, _ := bulkRig(t)
	ctx := t.Context()
	q := queue.Named("q")
	step := queue.Insertion{Place: queue.Ready, Key: "q", End: queue.Left, Messages: failedOf("a", "b")}
	later := queue.Insertion{Place: queue.Delayed, Key: "q:delayed", Messages: scored("1", "a")}
	for name, tt := range map[string]struct {
		before, after func()
		as            func(error) bool
	}{
		"another type": {
			func() { s.Client.Set(ctx, "q", "x", 0); s.Client.Set(ctx, "q:delayed", "x", 0) },
			func() {},
			func(err error) bool { return errors.Is(err, queue.ErrWrongType) },
		},
		"out of memory": {
			func() { s.Client.ConfigSet(ctx, "maxmemory", "1") },
			func() { s.Client.ConfigSet(ctx, "maxmemory", "0") },
			refusedWith("OOM"),
		},
		"a replica": {
			func() { s.Client.Do(ctx, "REPLICAOF", "127.0.0.1", "1") },
			func() { s.Client.Do(ctx, "REPLICAOF", "NO", "ONE") },
			refusedWith("READONLY"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			s.Client.FlushAll(ctx)
			tt.before()
			in := c.NewInserter(q, nil)
			for _, step := range []queue.Insertion{step, later} {
				if left, err := in.Insert(ctx, step); !tt.as(err) || left != nil {
					t.Errorf("%v, %v", left, err)
				}
			}
			tt.after()
			in.Close(ctx)
			for _, key := range s.Client.Keys(ctx, "*").Val() {
				if kind := s.Client.Type(ctx, key).Val(); kind != "string" {
					t.Errorf("%s holds a %s", key, kind)
				}
			}
		})
	}
	readOnly, _ := open(t, s, func(o *queue.Options) { o.ReadOnly = true })
	if _, err := readOnly.NewInserter(q, nil).Insert(ctx, step); !errors.Is(err, queue.ErrReadOnly) {
		t.Errorf("%v", err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := c.NewInserter(q, nil).Insert(gone, step); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	step.Messages = failedOf(numbered(0, queue.InsertMessages+1)...)
	if _, err := c.NewInserter(q, nil).Insert(ctx, step); err == nil {
		t.Error("more than a step may have were taken")
	}
	if n := s.Client.Exists(ctx, "q").Val(); n != 0 {
		t.Error("something was added all the same")
	}
}

func refusedWith(code string) func(error) bool {
	return func(err error) bool {
		var refused *queue.RefusedError
		return errors.As(err, &refused) && refused.Code == code
	}
}

// Answers are lost, again and again: each step has happened once.
func TestInsertHappensOnce(t *testing.T) {
	s := queuetest.Redis(t)
	p := queuetest.NewProxy(t, s.Addr)
	c, err := queue.Open(t.Context(), queue.Options{URL: p.URL, Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	q := queue.Named("q")
	troubles := 0
	in := c.NewInserter(q, func(why error) {
		if why != nil {
			troubles++
		}
	})
	var want []string
	for n := range 20 {
		payloads := []string{fmt.Sprint("step ", n), "again", "again"}
		want = append(want, payloads...)
		p.CutAfterRequest(fmt.Sprint("step ", n))
		if _, err := in.Insert(t.Context(), queue.Insertion{Place: queue.Ready, Key: "q", End: queue.Right, Messages: failedOf(payloads...)}); err != nil {
			t.Fatal(err)
		}
	}
	if got := listOf(t, s, "q"); !slices.Equal(got, want) {
		t.Errorf("%d messages, want %d", len(got), len(want))
	}
	if troubles < 20 {
		t.Errorf("told of %d troubles, want 20", troubles)
	}
	in.Close(t.Context())

	// The server does not come back before the operator gives up.
	ctx, cancel := context.WithCancel(t.Context())
	in = c.NewInserter(q, func(error) { cancel() })
	p.CutReplies(true)
	_, err = in.Insert(ctx, queue.Insertion{Place: queue.Ready, Key: "q", End: queue.Right, Messages: failedOf("perhaps")})
	if !errors.Is(err, queue.ErrUnknownOutcome) {
		t.Errorf("%v, want that the outcome is unknown", err)
	}
	if text := queue.Explain(err); strings.Count(text, "outcome unknown") != 1 {
		t.Error(text)
	}
	p.CutReplies(false)
	in.Close(t.Context())
	if keys := s.Client.Keys(t.Context(), "*redq-bulk*").Val(); len(keys) == 0 {
		t.Error("the stamp of a step that nobody knows of was removed")
	}

	// It is away before anything was sent.
	p.Refuse(true)
	p.Cut()
	ctx, cancel = context.WithCancel(t.Context())
	if _, err := c.Server(ctx); err == nil {
		t.Fatal("the proxy still lets connections in")
	}
	in = c.NewInserter(q, func(error) { cancel() })
	_, err = in.Insert(ctx, queue.Insertion{Place: queue.Ready, Key: "q", End: queue.Right, Messages: failedOf("not")})
	if err == nil {
		t.Error("it was added to a server that is away")
	}
	p.Refuse(false)
	if n := s.Client.LRem(t.Context(), "q", 0, "not").Val(); n != 0 {
		t.Error("it was added all the same")
	}
}
