package queue

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Server is what is known of the server. A field that the server or an ACL
// denies is zero and named in Denied.
type Server struct {
	Address string
	Version string // "" unknown
	Mode    string // standalone, sentinel, cluster; "" unknown
	Role    string // master or replica; "" unknown
	Now     time.Time
	Ping    time.Duration // round trip of one PING
	Used    int64         // bytes of memory in use; 0 unknown
	Max     int64         // maxmemory in bytes; 0 no limit or unknown
	Policy  string        // maxmemory-policy; "" unknown
	Keys    int64         // keys in the database; -1 unknown
	Clients int64         // connected clients; 0 unknown
	Loading bool
	Denied  []string // commands that were refused or are missing, e.g. "INFO"
}

// EvictsQueues reports whether the eviction policy may take a queue's keys.
func (s Server) EvictsQueues() bool { return s.Policy != "" && s.Policy != "noeviction" }

// Server asks for the server's state: a PING to time it, then all else in one
// pipeline. Of a cluster it asks every master and adds up memory, keys and
// clients. An error means that there was no answer at all.
func (c *Client) Server(ctx context.Context) (Server, error) {
	var s Server
	var err error
	if cluster, ok := c.read.(*redis.ClusterClient); ok {
		s, err = askMasters(ctx, cluster)
	} else {
		s, err = askServer(ctx, c.read)
	}
	s.Address = c.address
	return s, err
}

// asker is what one node is asked through.
type asker interface {
	Ping(ctx context.Context) *redis.StatusCmd
	Pipeline() redis.Pipeliner
}

func askServer(ctx context.Context, rdb asker) (Server, error) {
	s := Server{Keys: -1}
	start := time.Now()
	if err := rdb.Ping(ctx).Err(); err != nil && !isReply(err) {
		return s, err
	}
	s.Ping = time.Since(start)

	pipe := rdb.Pipeline()
	now := pipe.Time(ctx)
	size := pipe.DBSize(ctx)
	info := pipe.Info(ctx) // all sections: one of them at a time is older, several newer
	_, err := pipe.Exec(ctx)
	if err != nil && !isReply(err) {
		return s, err
	}
	for _, cmd := range []redis.Cmder{now, size, info} {
		if redis.HasErrorPrefix(cmd.Err(), "LOADING") {
			s.Loading = true
		} else if cmd.Err() != nil {
			s.Denied = append(s.Denied, strings.ToUpper(cmd.Name()))
		}
	}
	if s.Now = now.Val(); now.Err() != nil {
		s.Now = time.Now()
	}
	if size.Err() == nil {
		s.Keys = size.Val()
	}
	s.readInfo(info.Val())
	return s, nil
}

// readInfo takes what it knows from INFO's answer and leaves the rest unknown.
func (s *Server) readInfo(text string) {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(fields[name], 10, 64)
		return n
	}
	s.Version, s.Mode, s.Policy = fields["redis_version"], fields["redis_mode"], fields["maxmemory_policy"]
	s.Used, s.Max, s.Clients = number("used_memory"), number("maxmemory"), number("connected_clients")
	s.Role = fields["role"]
	if s.Role == "slave" {
		s.Role = "replica"
	}
	s.Loading = s.Loading || fields["loading"] == "1"
}

// askMasters asks all masters of a cluster and puts their answers together.
func askMasters(ctx context.Context, cluster *redis.ClusterClient) (Server, error) {
	var mu sync.Mutex
	nodes := map[string]Server{}
	err := cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		one, err := askServer(ctx, node)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		nodes[node.Options().Addr] = one
		return nil
	})
	if len(nodes) == 0 {
		return Server{Keys: -1}, err
	}
	return mergeServers(nodes), nil
}

func mergeServers(nodes map[string]Server) Server {
	var all Server
	for i, addr := range slices.Sorted(maps.Keys(nodes)) {
		one := nodes[addr]
		if i == 0 {
			all = one
			continue
		}
		all.Ping = max(all.Ping, one.Ping)
		all.Used += one.Used
		all.Max += one.Max
		all.Clients += one.Clients
		all.Loading = all.Loading || one.Loading
		if all.Keys < 0 || one.Keys < 0 {
			all.Keys = -1
		} else {
			all.Keys += one.Keys
		}
		if one.EvictsQueues() {
			all.Policy = one.Policy
		}
		for _, name := range one.Denied {
			if !slices.Contains(all.Denied, name) {
				all.Denied = append(all.Denied, name)
			}
		}
	}
	return all
}
