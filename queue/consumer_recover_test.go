package queue_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/queuetest"
)

// What a dead consumer had in hand comes to lie in front of ready in its order; those that
// were being handled have used an attempt.
func TestRecoveryKeepsTheOrder(t *testing.T) {
	s := queuetest.Redis(t)
	for _, push := range []queue.End{queue.Left, queue.Right} {
		for _, by := range []string{"w1", "w2"} { // its own next life, another one
			t.Run(fmt.Sprintf("%s, by %s", push, by), func(t *testing.T) {
				s.Client.FlushDB(t.Context())
				c, q := reader(t, s.URL), orders()
				q.Push = push
				want := numbered(0, 40)
				feedFor(t, c, q, queue.Pipeline, want...)
				hang := make(chan struct{})
				t.Cleanup(func() { close(hang) })
				first := consumerOf(c, q, queue.Pipeline, func(context.Context, queue.Message) error { <-hang; return nil })
				first.Concurrency, first.Batch, first.Heartbeat = 2, 20, 50*time.Millisecond
				r := launch(t, first)
				eventually(t, func() bool { return len(r.InHand()) >= 2 && !r.InHand()[1].Started.IsZero() })
				first.Abandon()
				_ = r.end()
				inHand := len(list(t, s, q.BackupKey("w1")))

				var order []string
				attempts := map[string]int{}
				recovered := make(chan struct{})
				next := consumerOf(c, q, queue.Pipeline, func(_ context.Context, m queue.Message) error {
					<-recovered
					order = append(order, string(m.Payload))
					attempts[string(m.Payload)] = m.Attempts
					return nil
				})
				next.ID, next.Concurrency, next.Batch, next.Heartbeat = by, 1, 1, 50*time.Millisecond
				r = launch(t, next)
				if by == "w1" {
					close(recovered) // before it took anything
				} else { // with the next of ready in its hand
					want = slices.Concat(want[inHand:inHand+1], want[:inHand], want[inHand+1:])
					r.seen.one(t, queue.EventRecovered)
					close(recovered)
				}
				eventually(t, func() bool { return next.Stats().Done == 40 })
				if err := r.stop(); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(order, want) {
					t.Errorf("handled in the order %v, want %v", order, want)
				}
				if fmt.Sprint(attempts["m00000"], attempts["m00001"], attempts["m00002"]) != "1 1 0" {
					t.Errorf("failed attempts: %v; two were being handled", attempts)
				}
				if st := next.Stats(); st.Recovered != int64(inHand) {
					t.Errorf("recovered %d of %d", st.Recovered, inHand)
				}
				wantEverywhere(t, s)
			})
		}
	}
}

// A consumer that comes back under its name takes messages in another pattern now: what it left is not forgotten.
func TestAnEarlierLifeInAnotherPatternIsTakenOver(t *testing.T) {
	s := queuetest.Redis(t)
	c, q := reader(t, s.URL), orders()
	feedFor(t, c, q, queue.Pipeline, "m1")
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	first := consumerOf(c, q, queue.Pipeline, func(context.Context, queue.Message) error { <-hang; return nil })
	r := launch(t, first)
	eventually(t, func() bool { return first.Stats().InHand == 1 })
	first.Abandon()
	_ = r.end()
	wantEverywhere(t, s, q.BackupKey("w1")+"=m1")

	var b book
	next := consumerOf(c, q, queue.BackupList, func(_ context.Context, m queue.Message) error { b.note(m); return nil })
	r = launch(t, next)
	eventually(t, func() bool { return next.Stats().Done == 1 })
	known, err := c.Consumers(t.Context(), q)
	if err != nil || len(known.Known) != 1 || known.Known[0].Pattern != queue.BackupList || known.Known[0].Backup != "" {
		t.Errorf("known of it: %+v, %v", known.Known, err)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	b.once(t, []string{"m1"})
	wantEverywhere(t, s)
}

// Whoever else uses a shared backup list may be alive: what lies there is left alone.
func TestASharedBackupListIsNeverRecovered(t *testing.T) {
	s := queuetest.Redis(t)
	c, q := reader(t, s.URL), orders()
	s.Client.LPush(t.Context(), q.Backups[0], "old", "older")
	feedFor(t, c, q, queue.BackupList, "hang", "m1")
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	var b book
	h := func(_ context.Context, m queue.Message) error {
		if b.note(m); string(m.Payload) == "hang" {
			<-hang
		}
		return nil
	}
	first := consumerOf(c, q, queue.BackupList, h)
	first.Heartbeat = 50 * time.Millisecond
	r := launch(t, first)
	eventually(t, func() bool { return first.Stats().Done == 1 })
	first.Abandon()
	_ = r.end()

	for _, again := range []struct {
		id      string
		pattern queue.Pattern
	}{{"w1", queue.BackupList}, {"w2", queue.BackupList}, {"w3", queue.Pipeline}} {
		con := consumerOf(c, q, again.pattern, h)
		con.ID, con.Heartbeat = again.id, 50*time.Millisecond
		r := launch(t, con)
		if again.id != "w1" { // that it is dead is seen, and its entry removed
			eventually(t, func() bool {
				n, err := s.Client.HExists(t.Context(), q.ConsumersKey(), "w1").Result()
				return err == nil && !n
			})
		}
		feedFor(t, c, q, again.pattern, "m-"+again.id)
		eventually(t, func() bool { return con.Stats().Done == 1 })
		if again.id == "w1" {
			con.Abandon() // leaves its entry
			_ = r.end()
		} else if err := r.stop(); err != nil {
			t.Fatal(err)
		}
	}
	wantEverywhere(t, s, "orders:backup=hang,old,older")
	b.once(t, []string{"hang", "m1", "m-w1", "m-w2", "m-w3"})
}
