package queue_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/queuetest"
)

func TestReadingACluster(t *testing.T) {
	t.Parallel()
	nodes := queuetest.Cluster(t, 3)
	c, err := queue.Open(t.Context(), queue.Options{URL: nodes[0].Addr + "," + nodes[1].Addr, Cluster: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if want := nodes[0].Addr + "," + nodes[1].Addr + "/0"; c.Address() != want {
		t.Errorf("address %q, want %q", c.Address(), want)
	}
	// Queues whose keys share a slot, and one whose keys do not: all are shown.
	var qs []queue.Queue
	for i := range 20 {
		q := queue.Named(fmt.Sprintf("{q%d}", i))
		if i == 0 {
			q = queue.Named("apart")
		}
		qs = append(qs, q)
		for _, key := range []string{q.Ready, q.Backups[0]} {
			pushAnywhere(t, nodes, key, "a", "b")
		}
	}
	sampler := c.NewSampler()
	for range 2 {
		p, err := sampler.Sample(t.Context(), qs)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range p.Samples {
			if s.Ready.N != 2 || s.Backup.N != 2 || s.Err != nil {
				t.Errorf("%s: %+v", s.Queue, s)
			}
		}
	}
	time.Sleep(10 * time.Millisecond)
	p, err := sampler.Sample(t.Context(), qs)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Samples {
		if s.Oldest <= 0 {
			t.Errorf("%s: no age: not looked into", s.Queue)
		}
	}
	for _, q := range qs {
		page, err := c.Peek(t.Context(), q, queue.Ready, 0, 10)
		if err != nil || strings.Join(payloads(page.Messages), "") != "ab" {
			t.Errorf("%s: %v, %v", q.Name, page, err)
		}
		if n, _, err := c.Copies(t.Context(), page.Messages[0], 100); err != nil || n != 1 {
			t.Errorf("%s: %d copies, %v", q.Name, n, err)
		}
	}
	got, err := c.Server(t.Context())
	if err != nil || got.Mode != "cluster" || got.Keys != 40 || got.Role != "master" {
		t.Errorf("server %+v, %v", got, err)
	}

	t.Run("as one node", func(t *testing.T) {
		one := reader(t, nodes[0].URL)
		for _, q := range qs {
			_, err := one.Peek(t.Context(), q, queue.Ready, 0, 10)
			var refused *queue.RefusedError
			if err != nil && (!errors.As(err, &refused) || !strings.Contains(err.Error(), "--cluster")) {
				t.Errorf("%s: %v", q.Name, err)
			}
		}
	})
}

// pushAnywhere appends to a list on the node that takes it.
func pushAnywhere(t *testing.T, nodes []*queuetest.Server, key string, payloads ...any) {
	t.Helper()
	for _, node := range nodes {
		if node.Client.RPush(t.Context(), key, payloads...).Err() == nil {
			return
		}
	}
	t.Fatalf("no node takes %s", key)
}

func TestReadingBehindASentinel(t *testing.T) {
	master := queuetest.Redis(t)
	rpush(t, master, "orders", "a", "b")
	sentinel := queuetest.Sentinel(t, master, "prod")
	c, err := queue.Open(t.Context(), queue.Options{URL: "127.0.0.1:1," + sentinel, SentinelMaster: "prod"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if want := "prod@127.0.0.1:1," + sentinel + "/0"; c.Address() != want {
		t.Errorf("address %q, want %q", c.Address(), want)
	}
	page, err := c.Peek(t.Context(), queue.Named("orders"), queue.Ready, 0, 10)
	if err != nil || page.Total != 2 {
		t.Errorf("%v, %v", page, err)
	}

	_, err = queue.Open(t.Context(), queue.Options{URL: "redis://" + sentinel, SentinelMaster: "other"})
	if err == nil || !strings.Contains(err.Error(), `no master "other"`) {
		t.Errorf("an unknown master: %v", err)
	}
	_, err = queue.Open(t.Context(), queue.Options{URL: "redis://127.0.0.1:1", SentinelMaster: "prod"})
	if err == nil || !strings.Contains(err.Error(), "nobody listens at 127.0.0.1:1") {
		t.Errorf("no sentinel: %v", err)
	}
}
