package queue_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/queuetest"
)

func TestEnqueueAtBothEnds(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		for _, tc := range []struct {
			push  queue.End
			front bool
			want  []string
		}{
			{queue.Left, false, []string{"new", "a", "b"}},
			{queue.Left, true, []string{"a", "b", "new"}},
			{queue.Right, false, []string{"a", "b", "new"}},
			{queue.Right, true, []string{"new", "a", "b"}},
		} {
			s.Client.FlushDB(t.Context())
			c, _ := open(t, s)
			q := orders()
			q.Push = tc.push
			push(t, s, "orders", "a", "b")
			e, err := c.Enqueue(t.Context(), q, []byte("new"), queue.EnqueueOptions{Front: tc.front})
			if err != nil || e.Len != 3 || e.Key != "orders" || e.Place != queue.Ready {
				t.Fatalf("%+v, %v", e, err)
			}
			wantList(t, s, "orders", tc.want...)
		}
	})
}

func TestEnqueueDelayedByTheServersClock(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		for _, unit := range []queue.Unit{queue.Milliseconds, queue.Seconds, queue.FloatSeconds, queue.Microseconds} {
			s.Client.FlushDB(t.Context())
			c, _ := open(t, s)
			q := orders()
			q.Unit = unit
			before := s.Client.Time(t.Context()).Val()
			e, err := c.Enqueue(t.Context(), q, []byte("x"), queue.EnqueueOptions{In: 90 * time.Second})
			after := s.Client.Time(t.Context()).Val()
			if err != nil {
				t.Fatal(err)
			}
			if e.Due.Before(before.Add(90*time.Second)) || e.Due.After(after.Add(91*time.Second)) {
				t.Errorf("%v: due %v, asked for 90 s after %v", unit, e.Due, before)
			}
			stored := peek(t, c, q, queue.Delayed)[0]
			got, _ := stored.Score.Float()
			want, _ := e.Score.Float()
			if got != want {
				t.Errorf("%v: the answer says %s, the server has %s", unit, e.Score, stored.Score)
			}
			if guessed, ok := queue.GuessUnit(stored.Score); !ok || guessed.String() != unit.String() {
				t.Errorf("%v: score %s does not look like its unit", unit, stored.Score)
			}
		}
	})
}

func TestEqualBytesAlreadyDelayedAreRefused(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, _ := open(t, s)
		at := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
		if _, err := c.Enqueue(t.Context(), orders(), []byte("x"), queue.EnqueueOptions{At: at}); err != nil {
			t.Fatal(err)
		}
		_, err := c.Enqueue(t.Context(), orders(), []byte("x"), queue.EnqueueOptions{In: time.Minute})
		var present *queue.AlreadyDelayedError
		if !errors.As(err, &present) || !present.Due.Equal(at) {
			t.Fatalf("got %v, want the present due time %v", err, at)
		}
		if ms := peek(t, c, orders(), queue.Delayed); len(ms) != 1 || ms[0].Score != queue.Milliseconds.Score(at) {
			t.Errorf("delayed holds %+v", ms)
		}
		for range 2 {
			if _, err := c.Enqueue(t.Context(), orders(), []byte("x"), queue.EnqueueOptions{In: time.Minute, Wrap: true}); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(peek(t, c, orders(), queue.Delayed)); n != 3 {
			t.Errorf("%d messages, want 3: wrapped ones stay apart", n)
		}
	})
}

func TestWrapKeepsThePayload(t *testing.T) {
	for _, tc := range []struct{ payload, msg string }{
		{`{"n":12345678901234567890,"n":1}`, `{"n":12345678901234567890,"n":1}`},
		{"plain <text> & \"quotes\"", `"plain <text> & \"quotes\""`},
		{"", `""`},
		{"7", "7"},
	} {
		got, id, err := queue.WrapMessage([]byte(tc.payload))
		if err != nil {
			t.Fatal(err)
		}
		if want := `{"id":"` + id + `","msg":` + tc.msg + `}`; string(got) != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if !json.Valid(got) || len(id) != 36 {
			t.Errorf("not an envelope: %s", got)
		}
	}
	if _, _, err := queue.WrapMessage([]byte{0xff, 0x00}); err == nil {
		t.Error("binary was wrapped")
	}
	a, _, _ := queue.WrapMessage([]byte("x"))
	b, _, _ := queue.WrapMessage([]byte("x"))
	if bytes.Equal(a, b) {
		t.Error("two envelopes are equal")
	}
}

func TestEnqueueOptionsAreChecked(t *testing.T) {
	s := queuetest.Redis(t)
	c, _ := open(t, s)
	for _, tc := range []struct {
		o    queue.EnqueueOptions
		says string
	}{
		{queue.EnqueueOptions{In: -time.Second}, "negative"},
		{queue.EnqueueOptions{In: time.Second, At: time.Now()}, "not both"},
		{queue.EnqueueOptions{In: time.Second, Front: true}, "front"},
	} {
		if _, err := c.Enqueue(t.Context(), orders(), nil, tc.o); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%+v: %v, want a sentence with %q", tc.o, err, tc.says)
		}
	}
	if _, err := c.Enqueue(t.Context(), queue.Queue{Name: "x", Ready: "x"}, nil, queue.EnqueueOptions{Delay: true}); !errors.Is(err, queue.ErrNoSuchPlace) {
		t.Errorf("got %v", err)
	}
}

// The scores of bulk re-drives and of enqueue must not be printed differently.
func TestScoresReadBack(t *testing.T) {
	for text, want := range map[string]queue.Score{
		"9007199254740993": "9007199254740992", "inf": "inf", "-inf": "-inf", "-5": "-5", "1.5": "1.5",
	} {
		v, ok := queue.Score(text).Float()
		if !ok || queue.ScoreOf(v) != want {
			t.Errorf("%s reads back as %s, want %s", text, queue.ScoreOf(v), want)
		}
	}
	if _, ok := queue.Score("nan").Float(); ok {
		t.Error("nan is no score")
	}
}
