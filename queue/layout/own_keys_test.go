package layout

import (
	"testing"

	"redq/queue"
	"redq/queue/queuetest"
)

// What redq keeps beside a queue is part of none, whatever type a key of that name has.
func TestKeysBesideAQueueAreNone(t *testing.T) {
	q := queue.Named("orders")
	id := "web-3-4242-k7q2xw"
	for _, key := range []string{q.MetaKey(), q.StatsKey(), q.ConsumersKey(), q.ConsumerKey(id), q.ConsumerKey("a:b"), q.WakeChannel()} {
		for _, typ := range []string{"hash", "string"} {
			if got := show(Group([]Key{other(key, typ)}, nil, now)); got != "" {
				t.Errorf("%s, a %s: %s", key, typ, got)
			}
		}
	}
	for _, key := range []string{q.MetaKey(), q.StatsKey(), q.ConsumersKey(), q.ConsumerKey(id)} {
		if got := show(Group([]Key{aList(key), aSet(key, queue.Milliseconds)}, nil, now)); got != "" {
			t.Errorf("%s: %s", key, got)
		}
	}
}

func TestAConsumersOwnListBelongsToItsQueue(t *testing.T) {
	for _, name := range []string{"orders", "{orders}", "a:b:c"} {
		q := queue.Named(name)
		own := q.BackupKey("web-3-4242-k7q2xw")
		for _, ready := range []string{"", q.Ready} { // an empty list is not there
			keys := []Key{aList(own)}
			if ready != "" {
				keys = append(keys, aList(ready))
			}
			want := name + "{ready=" + name + " backup=" + own + "}"
			if got := show(Group(keys, nil, now)); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	}
}

func TestAScanOfALivingQueue(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		ctx := t.Context()
		q := queue.Named("orders")
		id := "web-3-4242-k7q2xw"
		s.Client.LPush(ctx, q.Ready, "a")
		s.Client.LPush(ctx, q.BackupKey(id), "b")
		for _, key := range []string{q.MetaKey(), q.StatsKey(), q.ConsumersKey(), q.ConsumerKey(id)} {
			s.Client.HSet(ctx, key, "field", "1")
		}
		scan := newScan(s.Client, Options{})
		for {
			p, err := scan.Step(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if !p.Done {
				continue
			}
			if got, want := show(p.Queues), "orders{ready=orders backup=orders:backup:"+id+"}"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			return
		}
	})
}
