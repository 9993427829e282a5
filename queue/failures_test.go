package queue_test

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/queuetest"
)

// failedAs lays down what consumers keep of a failed message.
func failedAs(t *testing.T, s *queuetest.Server, meta, payload, entry string) {
	t.Helper()
	sum := sha1.Sum([]byte(payload))
	if err := s.Client.HSet(t.Context(), meta, hex.EncodeToString(sum[:]), entry).Err(); err != nil {
		t.Fatal(err)
	}
}

func TestFailures(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, _ := open(t, s)
		entries := []struct {
			payload, entry string
			attempts       int
			first          int64 // milliseconds; 0 when nothing is known
			reason         string
		}{
			{"never failed", "", 0, 0, ""},
			{"twice", "2 1764547200123 exit status 1: no such file", 2, 1764547200123, "exit status 1: no such file"},
			{"no reason", "1 1764547200000 ", 1, 1764547200000, ""},
			{"nothing behind", "1 1764547200000", 1, 1764547200000, ""},
			{"\xff\x00 binary", "3 1764547200000 \x1b]52;c;bad\xff", 3, 1764547200000, "\x1b]52;c;bad\xff"},
			{"foreign", "a b c", 0, 0, ""},
			{"negative", "-1 1764547200000 x", 0, 0, ""},
			{"huge", "99999999999999999999 1764547200000 x", 0, 0, ""},
			{"not even two", "7", 0, 0, ""},
		}
		for _, e := range entries {
			push(t, s, "orders:dead", e.payload)
			if e.entry != "" {
				failedAs(t, s, "orders:meta", e.payload, e.entry)
			}
		}
		push(t, s, "orders:dead", "twice") // equal bytes share what is known
		ms := peek(t, c, orders(), queue.Dead)
		got, err := c.Failures(t.Context(), orders(), ms)
		if err != nil || len(got) != len(ms) {
			t.Fatalf("%d of %d, %v", len(got), len(ms), err)
		}
		for i, e := range append(slices.Clone(entries), entries[1]) {
			var first time.Time
			if e.first != 0 {
				first = time.UnixMilli(e.first)
			}
			f := got[i]
			if string(f.Payload) != e.payload || f.Attempts != e.attempts || f.Reason != e.reason || !f.First.Equal(first) {
				t.Errorf("%q: %d attempts since %v, %q", f.Payload, f.Attempts, f.First, f.Reason)
			}
			if ms[i].Attempts != 0 {
				t.Error("the caller's messages were changed")
			}
		}
	})
}

func TestFailuresOfNothingAndOfCutMessages(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, _ := open(t, s)
		if got, err := c.Failures(t.Context(), orders(), nil); err != nil || len(got) != 0 {
			t.Errorf("%v, %v", got, err)
		}
		large := strings.Repeat("x", 1<<20)
		push(t, s, "orders:dead", large, "small")
		ms := peek(t, c, orders(), queue.Dead)
		if ms[0].Complete() {
			t.Fatal("the large message came whole")
		}
		// Its head is a message of its own, which has failed.
		failedAs(t, s, "orders:meta", string(ms[0].Payload), "9 1764547200000 another")
		failedAs(t, s, "orders:meta", "small", "1 1764547200000 why")
		got, err := c.Failures(t.Context(), orders(), ms)
		if err != nil || got[0].Attempts != 0 || got[1].Attempts != 1 {
			t.Errorf("%d and %d attempts, %v", got[0].Attempts, got[1].Attempts, err)
		}
		if got, err := c.Failures(t.Context(), orders(), ms[:1]); err != nil || len(got) != 1 {
			t.Errorf("%d, %v", len(got), err)
		}
	})
}

func TestFailuresWhereThereAreNone(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		c, _ := open(t, s)
		push(t, s, "orders:dead", "a")
		ms := peek(t, c, orders(), queue.Dead)
		if got, err := c.Failures(t.Context(), orders(), ms); err != nil || len(got) != 1 || got[0].Attempts != 0 {
			t.Errorf("no such key: %+v, %v", got, err)
		}
		q := orders()
		q.Meta = "elsewhere"
		failedAs(t, s, "elsewhere", "a", "4 1764547200000 x")
		if got, err := c.Failures(t.Context(), q, ms); err != nil || got[0].Attempts != 4 {
			t.Errorf("a key of its own: %+v, %v", got, err)
		}
		s.Client.Set(t.Context(), "orders:meta", "a string", 0)
		got, err := c.Failures(t.Context(), orders(), ms)
		if !errors.Is(err, queue.ErrWrongType) || len(got) != 1 || string(got[0].Payload) != "a" {
			t.Errorf("a string: %+v, %v", got, err)
		}
	})
}

func TestFailuresThatMayNotBeRead(t *testing.T) {
	s := queuetest.Redis(t)
	push(t, s, "orders:dead", "a")
	url := s.User("looker", "pw", "~orders ~orders:dead +@all")
	c, _ := open(t, s, func(o *queue.Options) { o.URL = url })
	got, err := c.Failures(t.Context(), orders(), peek(t, c, orders(), queue.Dead))
	var refused *queue.RefusedError
	if !errors.As(err, &refused) || refused.Code != "NOPERM" || len(got) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}
