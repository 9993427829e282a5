package transfer_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"redq/queue"
	"redq/queue/queuetest"
	"redq/queue/transfer"
)

// On a cluster the keys of a queue may lie on several nodes: each comes back all the same.
func TestRoundTripOnACluster(t *testing.T) {
	c := open(t, queuetest.Cluster(t, 3)[0].URL, func(o *queue.Options) { o.Cluster = true })
	rdb := c.Reader()
	ctx := context.Background()
	for _, q := range []queue.Queue{queue.Named("orders"), {Name: "{t}", Ready: "{t}", Dead: "{t}:dead", Delayed: "{t}:delayed"}} {
		for i := range 1500 {
			rdb.LPush(ctx, q.Ready, fmt.Sprint("r", i))
			rdb.LPush(ctx, q.Dead, fmt.Sprint("d", i))
			rdb.ZAdd(ctx, q.Delayed, redis.Z{Score: float64(i) / 7, Member: fmt.Sprint("z", i)})
		}
		_, file := export(t, c, q, transfer.Options{})
		for _, key := range []string{q.Ready, q.Dead, q.Delayed} {
			if err := rdb.Del(ctx, key).Err(); err != nil {
				t.Fatal(err)
			}
		}
		done, err := transfer.Import(t.Context(), c, q, strings.NewReader(file), transfer.ImportOptions{})
		if err != nil || done.Added.Sum() != 4500 {
			t.Fatalf("%+v, %v", done, err)
		}
		if _, again := export(t, c, q, transfer.Options{}); again != file {
			t.Errorf("%s: it is not the same", q.Name)
		}
	}
}
