package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// ConsumerInfo is a consumer as seen from outside, by its heartbeat and its entry in the
// queue's list of consumers (see Queue.ConsumersKey). What neither tells is zero.
type ConsumerInfo struct {
	ID      string
	Host    string
	PID     int64
	Pattern Pattern
	Started time.Time // by the server's clock
	// Beat is when its heartbeat was last renewed, by the server's clock; zero when it is gone.
	Beat time.Time
	// Interval is how often it renews it; it counts as gone after three times that.
	Interval time.Duration
	// Alive is false when the heartbeat is gone: its backup list waits to be recovered.
	Alive bool
	// Backup is its own backup list, "" when it has none; Held how many messages lie there.
	Backup      string
	Held        int64
	Concurrency int64
	Taken       int64 // since it started, as all these
	Done        int64 // acknowledged
	Failed      int64
	Retried     int64
	Deferred    int64
	Dead        int64
	InHand      int64 // at the last heartbeat
}

// BlockedClient is a connection of CLIENT LIST that waits in a blocking pop. Redis does
// not tell which keys it waits for.
type BlockedClient struct {
	ID   int64
	Name string
	// Consumer is the id of the redq consumer whose connection it is, "" when it is another program's.
	Consumer string
	Addr     string
	Command  string // brpop, blmove …
	Idle     time.Duration
	DB       int64
}

// Consumers is who consumes a queue, as far as the server tells.
type Consumers struct {
	Now     time.Time       // the server's clock, to tell ages by
	Known   []ConsumerInfo  // of this queue, by heartbeat; alive first, then by start
	Blocked []BlockedClient // of the whole database: they may wait for any queue
	// Err is why the queue's list of consumers could not be read (ErrWrongType, a
	// RefusedError …): Known is empty then for want of an answer.
	Err error
	// Denied is set when CLIENT LIST was refused, is missing, or was not asked for since there are
	// too many clients: Blocked may lack some then, or all.
	Denied bool
}

// Unattended reports whether nobody is known to consume the queue: no consumer is alive,
// and no other client of the database waits in a blocking pop. A program that polls without telling
// anybody is not seen. It is false where the server would not tell.
func (c Consumers) Unattended() bool {
	if c.Err != nil || c.Denied {
		return false
	}
	alive := func(k ConsumerInfo) bool { return k.Alive }
	foreign := func(b BlockedClient) bool { return b.Consumer == "" }
	return !slices.ContainsFunc(c.Known, alive) && !slices.ContainsFunc(c.Blocked, foreign)
}

const (
	// maxConsumers bounds how many entries of a list of consumers are read.
	maxConsumers = 500
	// maxListed is how many clients a server may have to be asked for their list: 3 MB, and 10 ms of its time.
	maxListed = 10_000
	// maxBlocked bounds how many of them are kept.
	maxBlocked = 1000
	// beatsMissed is after how many intervals without a heartbeat a consumer counts as gone.
	beatsMissed = 3
	// consumerConn is how the names of consumers' connections begin; their id follows.
	consumerConn = "redq-consumer:"
)

// Consumers asks who consumes q: in two round trips who has said so, and in two more, of
// each master on a cluster, which clients wait in a blocking pop. An error means that there
// was no answer at all.
func (c *Client) Consumers(ctx context.Context, q Queue) (Consumers, error) {
	var all Consumers
	entries, err := c.registered(ctx, q, &all)
	if err != nil {
		return all, err
	}
	if err := c.heartbeats(ctx, q, entries, &all); err != nil {
		return all, err
	}
	if cluster, ok := c.read.(*redis.ClusterClient); ok {
		return all, all.askMasters(ctx, cluster)
	}
	blocked, denied, err := blockedClients(ctx, c.read, c.database())
	all.Blocked, all.Denied = blocked, denied
	return all, err
}

// database is the number of the database that the client works on.
func (c *Client) database() int64 {
	if one, ok := c.read.(*redis.Client); ok {
		return int64(one.Options().DB)
	}
	return 0
}

// registered reads the list of consumers, and the server's clock.
func (c *Client) registered(ctx context.Context, q Queue, all *Consumers) (entries map[string]string, err error) {
	pipe := c.read.Pipeline()
	now := pipe.Time(ctx)
	page := pipe.HScan(ctx, q.ConsumersKey(), 0, "", maxConsumers)
	if _, err := pipe.Exec(ctx); err != nil && !isReply(err) {
		return nil, err
	}
	if all.Now = now.Val(); now.Err() != nil {
		all.Now = time.Now()
	}
	fields, _, err := page.Result()
	if err = c.readError(err); err != nil {
		if concernsAll(err) {
			return nil, err
		}
		all.Err = err
	}
	entries = make(map[string]string, len(fields)/2)
	for i := 0; i+1 < len(fields) && len(entries) < maxConsumers; i += 2 {
		entries[fields[i]] = fields[i+1]
	}
	return entries, nil
}

// heartbeats asks for the heartbeats and backup lists of those registered.
func (c *Client) heartbeats(ctx context.Context, q Queue, entries map[string]string, all *Consumers) error {
	if len(entries) == 0 {
		return nil
	}
	type asked struct {
		info ConsumerInfo
		ours bool // the entry is one that a consumer writes
		beat *redis.SliceCmd
		held *redis.IntCmd
	}
	pipe := c.read.Pipeline()
	consumers := make([]asked, 0, len(entries))
	for id, entry := range entries {
		info, ours := parseConsumer(id, entry)
		a := asked{info: info, ours: ours, beat: pipe.HMGet(ctx, q.ConsumerKey(id), heartbeatFields()...)}
		if info.Backup != "" {
			a.held = pipe.LLen(ctx, info.Backup)
		}
		consumers = append(consumers, a)
	}
	if _, err := pipe.Exec(ctx); err != nil && !isReply(err) {
		return err
	}
	for _, a := range consumers {
		beats := a.info.readBeat(a.beat.Val(), all.Now)
		if !a.ours && !beats {
			continue // what another program keeps under this name
		}
		if a.held != nil {
			a.info.Held = a.held.Val()
		}
		all.Known = append(all.Known, a.info)
	}
	slices.SortFunc(all.Known, func(a, b ConsumerInfo) int {
		switch {
		case a.Alive && !b.Alive:
			return -1
		case b.Alive && !a.Alive:
			return 1
		}
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID))
	})
	return nil
}

// consumerEntry is a consumer's entry in the list of consumers (see Queue.ConsumersKey).
type consumerEntry struct {
	Host        string  `json:"host"`
	PID         int64   `json:"pid"`
	Pattern     Pattern `json:"pattern"`
	Concurrency int64   `json:"concurrency"`
	Started     int64   `json:"started"` // milliseconds
	Backup      string  `json:"backup,omitempty"`
}

// parseConsumer reads an entry; false when it is none of ours.
func parseConsumer(id, entry string) (ConsumerInfo, bool) {
	var e consumerEntry
	if err := json.Unmarshal([]byte(entry), &e); err != nil || e.Started <= 0 {
		return ConsumerInfo{ID: id}, false
	}
	return ConsumerInfo{
		ID: id, Host: e.Host, PID: e.PID, Pattern: e.Pattern, Concurrency: e.Concurrency,
		Started: time.UnixMilli(e.Started), Backup: e.Backup,
	}, true
}

// heartbeatFields are the fields of a heartbeat in the order readBeat takes them.
func heartbeatFields() []string {
	return []string{"beat", "interval", "taken", "done", "failed", "retried", "deferred", "dead", "in_hand"}
}

// readBeat takes in a heartbeat and reports whether there was one.
func (i *ConsumerInfo) readBeat(values []any, now time.Time) bool {
	n := make([]int64, len(heartbeatFields()))
	for at := range min(len(n), len(values)) {
		text, _ := values[at].(string)
		n[at], _ = strconv.ParseInt(text, 10, 64) // 0 when it is missing or no number
	}
	if n[0] <= 0 {
		return false
	}
	i.Beat, i.Interval = time.UnixMilli(n[0]), time.Duration(n[1])*time.Millisecond
	i.Taken, i.Done, i.Failed, i.Retried, i.Deferred, i.Dead, i.InHand = n[2], n[3], n[4], n[5], n[6], n[7], n[8]
	i.Alive = beats(i.Beat, i.Interval, now)
	return true
}

// beats reports whether a heartbeat is still good. One that is not has mostly expired
// by itself; not every server does that.
func beats(beat time.Time, interval time.Duration, now time.Time) bool {
	return interval <= 0 || now.Sub(beat) <= beatsMissed*interval
}

// askMasters asks all masters of a cluster for their blocked clients.
func (c *Consumers) askMasters(ctx context.Context, cluster *redis.ClusterClient) error {
	var mu sync.Mutex
	return cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		blocked, denied, err := blockedClients(ctx, node, 0)
		mu.Lock()
		defer mu.Unlock()
		c.Blocked = append(c.Blocked, blocked...)
		c.Denied = c.Denied || denied
		return err
	})
}

// blockedClients returns the clients of one server that wait in a blocking pop in a
// database, as long as it does not have too many clients to ask. denied: some or all are unknown.
func blockedClients(ctx context.Context, rdb redis.Cmdable, db int64) (blocked []BlockedClient, denied bool, err error) {
	// Where INFO is denied or does not tell the list is asked for in any case.
	info, err := rdb.Info(ctx, "clients").Result()
	if err != nil && !isReply(err) {
		return nil, false, err
	}
	var s Server
	if s.readInfo(info); s.Clients > maxListed {
		return nil, true, nil
	}
	text, err := rdb.ClientList(ctx).Result()
	switch {
	case isReply(err):
		return nil, true, nil
	case err != nil:
		return nil, false, err
	}
	for line := range strings.Lines(text) {
		b, waits := parseClient(line)
		if !waits || b.DB != db {
			continue
		}
		if len(blocked) == maxBlocked {
			return blocked, true, nil
		}
		blocked = append(blocked, b)
	}
	return blocked, false, nil
}

// parseClient reads a line of CLIENT LIST and reports whether the client waits in a
// blocking pop from a list or sorted set.
func parseClient(line string) (BlockedClient, bool) {
	f := map[string]string{}
	for field := range strings.FieldsSeq(line) {
		name, value, _ := strings.Cut(field, "=")
		f[name] = value
	}
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(f[name], 10, 64)
		return n
	}
	b := BlockedClient{
		ID: number("id"), Name: f["name"], Addr: f["addr"], Command: strings.ToLower(f["cmd"]),
		Idle: time.Duration(number("idle")) * time.Second, DB: number("db"),
	}
	if id, ours := strings.CutPrefix(b.Name, consumerConn); ours {
		b.Consumer = id
	}
	switch b.Command {
	case "blpop", "brpop", "brpoplpush", "blmove", "blmpop", "bzpopmin", "bzpopmax", "bzmpop":
		return b, strings.Contains(f["flags"], "b")
	}
	return b, false
}
