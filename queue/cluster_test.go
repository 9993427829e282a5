package queue_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"redq/queue"
	"redq/queue/queuetest"
)

// onCluster opens a client on a cluster of three masters and one to check with.
func onCluster(t *testing.T) (*queue.Client, *redis.ClusterClient, func(id string) queue.Entry) {
	t.Helper()
	nodes := queuetest.Cluster(t, 3)
	var addrs []string
	for _, n := range nodes {
		addrs = append(addrs, n.Addr)
	}
	c, j := open(t, nodes[0], func(o *queue.Options) {
		o.URL, o.Cluster = strings.Join(addrs, ","), true
	})
	rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs})
	t.Cleanup(func() { _ = rdb.Close() })
	return c, rdb, func(id string) queue.Entry { return entry(t, j, id) }
}

func TestRepairOnACluster(t *testing.T) {
	t.Parallel()
	c, rdb, load := onCluster(t)
	ctx := t.Context()
	// Several tags, so that every master gets some.
	for i := range 6 {
		q := queue.Named(fmt.Sprintf("{orders%d}", i))
		rdb.LPush(ctx, q.Backups[0], "a", "b", "c")
		ms := peek(t, c, q, queue.Backup)
		wantAll(t, c.Redrive(ctx, q, ms[:2], queue.RedriveOptions{}), queue.Done)
		if got := rdb.LRange(ctx, q.Ready, 0, -1).Val(); fmt.Sprint(got) != "[c b]" {
			t.Errorf("%s: ready holds %q", q.Name, got)
		}
		r := c.Delete(ctx, q, ms[2:])
		wantAll(t, r, queue.Done)
		wantAll(t, c.Undo(ctx, load(r.Entry)), queue.Done)
		p, err := c.Purge(ctx, q, queue.Ready, nil)
		if err != nil || p.Freed != 2 {
			t.Errorf("%s: %+v, %v", q.Name, p, err)
		}
		wantUndone(t, c, load(p.Entry))
		if n := rdb.LLen(ctx, q.Ready).Val() + rdb.LLen(ctx, q.Backups[0]).Val(); n != 3 {
			t.Errorf("%s: %d messages, want 3", q.Name, n)
		}
	}
}

func TestKeysInSeveralSlotsAreShownAndNotRepaired(t *testing.T) {
	t.Parallel()
	c, rdb, _ := onCluster(t)
	q := queue.Named("orders") // no tag: the keys lie anywhere
	rdb.LPush(t.Context(), "orders:backup", "a")
	ms := peek(t, c, q, queue.Backup)
	r := c.Redrive(t.Context(), q, ms, queue.RedriveOptions{})
	wantOutcomes(t, r, queue.Refused)
	if !errors.Is(r.Err(), queue.ErrCrossSlot) {
		t.Errorf("got %v", r.Err())
	}
	if n := rdb.LLen(t.Context(), "orders:backup").Val(); n != 1 {
		t.Errorf("%d messages in backup", n)
	}
	// What needs one key goes on, also with a private key beside a key of any shape.
	wantAll(t, c.Delete(t.Context(), q, ms), queue.Done)
	for _, key := range []string{"plain", "a{b}c", "{tag}:x", "odd}key", "un{closed"} {
		rdb.LPush(t.Context(), key, "m")
		if p, err := c.Purge(t.Context(), queue.Queue{Name: key, Ready: key}, queue.Ready, nil); err != nil || p.Freed != 1 {
			// a key with a stray brace has no private key in its slot: refused, and kept
			if !errors.Is(err, queue.ErrCrossSlot) || rdb.LLen(t.Context(), key).Val() != 1 {
				t.Errorf("%s: %+v, %v", key, p, err)
			}
		}
	}
}

// The slots of keys, against the server's own.
func TestSlots(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	nodes := queuetest.Cluster(t, 1)
	c, _ := open(t, nodes[0], func(o *queue.Options) { o.URL, o.Cluster = nodes[0].Addr, true })
	for _, pair := range [][2]string{{"{a}:x", "{a}:y"}, {"x", "{x}:backup"}, {"{}a", "{}a"}, {"foo{{bar}}", "{{bar}"}} {
		a := nodes[0].Client.ClusterKeySlot(t.Context(), pair[0]).Val()
		b := nodes[0].Client.ClusterKeySlot(t.Context(), pair[1]).Val()
		q := queue.Queue{Name: "q", Ready: pair[0], Dead: pair[1]}
		if pair[0] == pair[1] {
			continue
		}
		nodes[0].Client.LPush(t.Context(), pair[1], "m")
		r := c.Redrive(t.Context(), q, peek(t, c, q, queue.Dead), queue.RedriveOptions{})
		if refused := errors.Is(r.Err(), queue.ErrCrossSlot); refused != (a != b) {
			t.Errorf("%q and %q: slots %d and %d, %v", pair[0], pair[1], a, b, r.Err())
		}
	}
}
