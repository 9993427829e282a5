package layout

import (
	"context"
	_ "embed"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"redq/queue"
)

//go:embed probe.lua
var probeScript string

const (
	headBytes = 256 // of one member: enough to see what kind of message it is
	// plainBytes is how large members may be on average to be read where scripts are not allowed.
	plainBytes = 16 << 10
	plainRanks = 5
)

// readSome looks into the next sorted sets that were found.
func (s *Scan) readSome(ctx context.Context) error {
	n := min(len(s.unread), probesPerStep)
	keys, err := s.probe(ctx, s.unread[:n])
	if err != nil {
		return err
	}
	s.keys = append(s.keys, keys...)
	s.unread = s.unread[n:]
	return nil
}

// probe samples the scores of sorted sets by a script, which keeps the members on
// the server, or where the user may run none, by reading a few small members.
func (s *Scan) probe(ctx context.Context, names []string) ([]Key, error) {
	if s.noScripts {
		return probePlainly(ctx, s.rdb, names)
	}
	pipe := s.rdb.Pipeline()
	asked := make([]*redis.Cmd, len(names))
	for i, name := range names {
		asked[i] = pipe.Eval(ctx, probeScript, []string{name}, headBytes)
	}
	if _, err := pipe.Exec(ctx); err != nil && !isRefusal(err) {
		return nil, err
	}
	keys := make([]Key, 0, len(names))
	for i, name := range names {
		answer, err := asked[i].StringSlice()
		if noScripts(err) {
			s.noScripts = true
			return s.probe(ctx, names)
		}
		k := Key{Name: name, Type: zset}
		if err == nil && len(answer) > 0 {
			k.Head = []byte(answer[0])
			k.Scores = scores(answer[1:])
		}
		keys = append(keys, k)
	}
	return keys, nil
}

func scores(texts []string) []queue.Score {
	s := make([]queue.Score, len(texts))
	for i, t := range texts {
		s[i] = queue.Score(t)
	}
	return s
}

// probePlainly reads members at a few ranks where the members are small on
// average. Of the others it learns nothing.
func probePlainly(ctx context.Context, rdb redis.UniversalClient, names []string) ([]Key, error) {
	pipe := rdb.Pipeline()
	lens := make([]*redis.IntCmd, len(names))
	sizes := make([]*redis.IntCmd, len(names))
	for i, name := range names {
		lens[i], sizes[i] = pipe.ZCard(ctx, name), pipe.MemoryUsage(ctx, name)
	}
	if _, err := pipe.Exec(ctx); err != nil && !isRefusal(err) {
		return nil, err
	}
	pipe = rdb.Pipeline()
	asked := make([][]*redis.ZSliceCmd, len(names))
	for i, name := range names {
		n, size := lens[i].Val(), sizes[i].Val()
		if n == 0 || size == 0 || size/n > plainBytes {
			continue
		}
		for r := range int64(plainRanks) {
			rank := (n - 1) * r / (plainRanks - 1)
			asked[i] = append(asked[i], pipe.ZRangeWithScores(ctx, name, rank, rank))
		}
	}
	if pipe.Len() > 0 {
		if _, err := pipe.Exec(ctx); err != nil && !isRefusal(err) {
			return nil, err
		}
	}
	keys := make([]Key, len(names))
	for i, name := range names {
		keys[i] = Key{Name: name, Type: zset}
		for _, cmd := range asked[i] {
			for _, z := range cmd.Val() {
				keys[i].Scores = append(keys[i].Scores, queue.ScoreOf(z.Score))
				member, _ := z.Member.(string)
				keys[i].Head = []byte(member[:min(len(member), headBytes)])
			}
		}
	}
	return keys, nil
}

// masters returns the servers that hold the keys.
func masters(ctx context.Context, rdb redis.UniversalClient) ([]*node, error) {
	cluster, ok := rdb.(*redis.ClusterClient)
	if !ok {
		return []*node{{rdb: rdb}}, nil
	}
	var mu sync.Mutex
	var nodes []*node
	err := cluster.ForEachMaster(ctx, func(_ context.Context, c *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		nodes = append(nodes, &node{rdb: c})
		return nil
	})
	return nodes, err
}

// isRefusal reports whether a reply says that this command, on this key, will
// never do: that is no reason to stop. LOADING and the like pass, and are.
func isRefusal(err error) bool {
	return redis.HasErrorPrefix(err, "NOPERM") || redis.HasErrorPrefix(err, "WRONGTYPE") || isUnknown(err)
}

func isUnknown(err error) bool { return redis.HasErrorPrefix(err, "unknown command") }

// noScripts reports whether a reply says that the user may run none at all.
func noScripts(err error) bool {
	return isUnknown(err) || redis.HasErrorPrefix(err, "NOPERM") && strings.Contains(strings.ToLower(err.Error()), "'eval'")
}
