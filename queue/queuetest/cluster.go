package queuetest

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// slots is how many hash slots a Redis Cluster has.
const slots = 16384

// Cluster starts a Redis Cluster of n masters, each with an equal share of the
// slots, and waits until all of them serve.
func Cluster(t testing.TB, n int) []*Server {
	t.Helper()
	ctx := context.Background()
	nodes := make([]*Server, n)
	buses := make([]string, n)
	for i := range nodes {
		// The bus would be at port + 10000, which may be no port at all.
		buses[i] = freePort(t)
		nodes[i] = Redis(t, "--cluster-enabled", "yes", "--cluster-port", buses[i], "--cluster-node-timeout", "5000")
	}
	for i, node := range nodes {
		from, until := i*slots/n, (i+1)*slots/n-1
		if err := node.Client.Do(ctx, "CLUSTER", "ADDSLOTSRANGE", from, until).Err(); err != nil {
			t.Fatalf("cluster: %v", err)
		}
		if i > 0 {
			host, port, _ := net.SplitHostPort(nodes[0].Addr)
			if err := node.Client.Do(ctx, "CLUSTER", "MEET", host, port, buses[0]).Err(); err != nil {
				t.Fatalf("cluster: %v", err)
			}
		}
	}
	for _, node := range nodes {
		await(t, "the cluster", func() bool {
			info := node.Client.ClusterInfo(ctx).Val()
			return strings.Contains(info, "cluster_state:ok") &&
				strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d", n))
		})
	}
	return nodes
}

// Sentinel starts a sentinel that watches master under the name, and returns its
// host:port.
func Sentinel(t testing.TB, master *Server, name string) string {
	t.Helper()
	host, port, _ := net.SplitHostPort(master.Addr)
	file := filepath.Join(t.TempDir(), "sentinel.conf")
	conf := fmt.Sprintf("sentinel monitor %s %s %s 1\n", name, host, port)
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startWith(t, &redis.Options{}, []string{file, "--sentinel"})
	return s.Addr
}

// await waits until ok, and fails the test when it never comes.
func await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(startWithin); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("%s did not come up in time", what)
}
