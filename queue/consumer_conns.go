package queue

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// conns are a consumer's own connections. Neither client repeats a request.
type conns struct {
	work  redis.UniversalClient
	block redis.UniversalClient // one connection, for blocking pops
	// blockID is the server's name for that connection, 0 where it does not tell.
	blockID atomic.Int64
}

// newConns makes clients as c was opened, for a consumer with so many lanes.
func (c *Client) newConns(id string, lanes int) (*conns, error) {
	o := c.opts
	o.Name = consumerConn + id
	t, err := parseTarget(o)
	if err != nil {
		return nil, err
	}
	cs := &conns{}
	t.pool = lanes + 4 // promoter, heartbeat, recovery, locks
	cs.work = t.client(never)
	naming := t.base.OnConnect
	t.base.OnConnect = func(ctx context.Context, cn *redis.Conn) error {
		cs.blockID.Store(cn.ClientID(ctx).Val()) // 0 before 5.0 or when denied
		return naming(ctx, cn)
	}
	t.pool = 1
	cs.block = t.client(never)
	return cs, nil
}

// unblock ends a blocking pop at once, as its time-out would: the pop that has taken a
// message meanwhile still answers with it. Where that is not possible the pop ends by itself within a second.
func (cs *conns) unblock() {
	if _, cluster := cs.work.(*redis.ClusterClient); cluster {
		return // which node it waits on is go-redis's secret
	}
	if id := cs.blockID.Load(); id != 0 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = cs.work.ClientUnblock(ctx, id).Err()
	}
}

func (cs *conns) close() {
	_ = cs.work.Close()
	_ = cs.block.Close()
}

// reload learns anew where a cluster keeps the keys.
func (cs *conns) reload(ctx context.Context) {
	if cluster, ok := cs.work.(*redis.ClusterClient); ok {
		cluster.ReloadState(ctx)
	}
}
