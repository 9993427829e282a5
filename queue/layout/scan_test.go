package layout

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"redq/queue"
	"redq/queue/queuetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect returns a client as queue opens them, closed when the test ends.
func connect(t testing.TB, url string) *redis.Client {
	t.Helper()
	o, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	o.DisableIdentity = true
	rdb := redis.NewClient(o)
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

// finish runs a scan to its end.
func finish(t testing.TB, s *Scan) Progress {
	t.Helper()
	for range 10_000 {
		p, err := s.Step(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if p.Done {
			return p
		}
	}
	t.Fatal("the scan does not end")
	return Progress{}
}

func named(t testing.TB, spec string) queue.Queue {
	t.Helper()
	q, err := ParseNamed(spec)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestScanFindsTheSeeds(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, srv *queuetest.Server) {
		queuetest.Seed(t, srv)
		p := finish(t, newScan(srv.Client, Options{}))
		want := "delay-queue{delayed=delay-queue} " +
			"mail-batch{ready=mail-batch backup=mail-batch_bak} " +
			"notify-queue{ready=notify-queue} " +
			"orders{ready=orders backup=orders:backup delayed=orders:delayed dead=orders:dead} " +
			"q-demo{delayed=q-demo} " +
			"queueA{ready=queueA backup=queueA:backup} " +
			"redis-queue{delayed=redis-queue} " +
			"reminders{delayed=reminders:delayed}"
		if got := show(p.Queues); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		units := map[string]queue.Unit{"delay-queue": queue.FloatSeconds, "q-demo": queue.Milliseconds,
			"redis-queue": queue.Milliseconds, "reminders": queue.Seconds, "orders": queue.Milliseconds}
		patterns := map[string]queue.Pattern{"redis-queue": queue.Dispatch, "q-demo": queue.ZsetRace, "queueA": queue.BackupList}
		for _, q := range p.Queues {
			if u, ok := units[q.Name]; ok && q.Unit != u {
				t.Errorf("%s: unit %d, want %d", q.Name, q.Unit, u)
			}
			if w, ok := patterns[q.Name]; ok && q.Pattern != w {
				t.Errorf("%s: pattern %s, want %s", q.Name, q.Pattern, w)
			}
		}
		if p.DBSize != 15 || p.Scanned != 15 || p.Truncated {
			t.Errorf("progress %+v", p)
		}
	})
}

func TestScanSeesWrongTypes(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, srv *queuetest.Server) {
		queuetest.Feed(t, srv.Client, `
LPUSH orders x
HSET orders:backup f v
SET orders:delayed v
SET config:feature on
HSET lonely:backup f v
SET named v`)
		p := finish(t, newScan(srv.Client, Options{Named: []queue.Queue{named(t, "named")}}))
		want := "named{ready=named backup=named:backup delayed=named:delayed dead=named:dead} " +
			"orders{ready=orders backup=orders:backup delayed=orders:delayed}"
		if got := show(p.Queues); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func TestScanMatches(t *testing.T) {
	srv := queuetest.Embedded(t)
	queuetest.Feed(t, srv.Client, "LPUSH a:q x\nLPUSH b:q x\nLPUSH c:q x")
	p := finish(t, newScan(srv.Client, Options{Match: "a:*", Named: []queue.Queue{named(t, "c,ready=c:q")}}))
	if got := show(p.Queues); got != "a:q{ready=a:q} c{ready=c:q}" {
		t.Error(got)
	}
}

// Keys are bytes: whatever they are, they come back as they are.
func TestScanKeepsKeysExact(t *testing.T) {
	srv := queuetest.Redis(t)
	ctx := t.Context()
	for _, base := range []string{"with space", "line\nbreak", "\x1b]0;x\x07", "\xff\xfe", "日本", "{t}q"} {
		srv.Client.LPush(ctx, base, "x")
		srv.Client.LPush(ctx, base+":backup", "x")
	}
	p := finish(t, newScan(srv.Client, Options{}))
	if len(p.Queues) != 6 {
		t.Fatal(show(p.Queues))
	}
	for _, q := range p.Queues {
		for _, k := range append(q.Backups, q.Ready) {
			if n := srv.Client.LLen(ctx, k).Val(); n != 1 {
				t.Errorf("%q holds %d", k, n)
			}
		}
	}
}

// fill adds n strings, which are no queues.
func fill(t testing.TB, rdb redis.Cmdable, n int) {
	t.Helper()
	for from := 0; from < n; from += 10_000 {
		var pairs []any
		for i := from; i < min(n, from+10_000); i++ {
			pairs = append(pairs, fmt.Sprintf("cache:user:%d", i), "x")
		}
		if err := rdb.MSet(t.Context(), pairs...).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// calls returns how often the server ran each command.
func calls(t testing.TB, rdb *redis.Client) map[string]int {
	t.Helper()
	info, err := rdb.Info(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for line := range strings.Lines(info) {
		name, rest, ok := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls=")
		if !ok {
			continue
		}
		count, _, _ := strings.Cut(rest, ",")
		n[name], _ = strconv.Atoi(count)
	}
	return n
}

func TestScanOfManyKeysIsBounded(t *testing.T) {
	srv := queuetest.Redis(t)
	fill(t, srv.Client, 200_000)
	queuetest.Seed(t, srv)
	s := newScan(srv.Client, Options{})
	var p Progress
	for steps := 0; !p.Done; steps++ {
		before, at := calls(t, srv.Client), p.Scanned
		var err error
		if p, err = s.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		after := calls(t, srv.Client)
		if n := after["scan"] - before["scan"]; n > 2*scansPerStep {
			t.Fatalf("step %d sent %d SCANs", steps, n)
		}
		if p.Scanned < at || p.Scanned > p.DBSize || p.Scanned-at > scansPerStep*1000 && !p.Done && p.Scanned != p.DBSize {
			t.Fatalf("step %d went from %d to %d of %d", steps, at, p.Scanned, p.DBSize)
		}
		if after["keys"] > 0 {
			t.Fatal("KEYS was sent")
		}
		if steps > 100 {
			t.Fatal("too many steps")
		}
	}
	if len(p.Queues) != 8 || p.Truncated || p.Scanned != 200_015 {
		t.Errorf("scanned %d, truncated %v: %s", p.Scanned, p.Truncated, show(p.Queues))
	}

	p = finish(t, newScan(srv.Client, Options{MaxKeys: 5000}))
	if !p.Truncated || p.Scanned < 5000 || p.Scanned > 10_000 || p.DBSize != 200_015 {
		t.Errorf("with MaxKeys 5000: scanned %d of %d, truncated %v", p.Scanned, p.DBSize, p.Truncated)
	}
}

func TestScanOfManyListsIsBounded(t *testing.T) {
	srv := queuetest.Redis(t)
	pipe := srv.Client.Pipeline()
	for i := range 20_000 {
		pipe.LPush(t.Context(), fmt.Sprintf("timeline:%d", i), "x")
	}
	if _, err := pipe.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := finish(t, newScan(srv.Client, Options{MaxFound: 3000}))
	if !p.Truncated || len(p.Queues) < 3000 || len(p.Queues) > 3000+2*1000 {
		t.Errorf("%d queues, truncated %v", len(p.Queues), p.Truncated)
	}
}

// Members of sorted sets stay on the server, however large they are.
func TestScanTransfersNoLargeMember(t *testing.T) {
	srv := queuetest.Redis(t)
	ctx := t.Context()
	for i := range 5 {
		member := fmt.Sprintf(`{"beanName":"b%d","delayTime":1,"msg":"%s"}`, i, strings.Repeat("x", 4<<20))
		if err := srv.Client.ZAdd(ctx, "huge", redis.Z{Score: float64(time.Now().Add(time.Hour).UnixMilli()), Member: member}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	proxy := queuetest.NewProxy(t, srv.Addr)
	p := finish(t, newScan(connect(t, proxy.URL), Options{}))
	if len(p.Queues) != 1 || p.Queues[0].Delayed != "huge" || p.Queues[0].Pattern != queue.Dispatch {
		t.Errorf("got %+v", p.Queues)
	}
	if n := proxy.ToClient(); n > 8<<10 {
		t.Errorf("%d bytes were transferred", n)
	}
	// Nor without scripts, where nothing can be said of such a set.
	plain := queuetest.NewProxy(t, srv.Addr)
	srv.User("plain", "pw", "~* +@all -eval")
	url := strings.Replace(plain.URL, "redis://", "redis://plain:pw@", 1)
	if p := finish(t, newScan(connect(t, url), Options{})); len(p.Queues) != 0 {
		t.Errorf("got %s", show(p.Queues))
	}
	if n := plain.ToClient(); n > 8<<10 {
		t.Errorf("without scripts %d bytes were transferred", n)
	}
}

func TestScanWithoutScripts(t *testing.T) {
	srv := queuetest.Redis(t)
	queuetest.Seed(t, srv)
	url := srv.User("plain", "pw", "~* +@all -eval")
	p := finish(t, newScan(connect(t, url), Options{}))
	if len(p.Queues) != 8 {
		t.Errorf("got %s", show(p.Queues))
	}
	for _, q := range p.Queues {
		if q.Name == "delay-queue" && q.Unit != queue.FloatSeconds || q.Name == "redis-queue" && q.Pattern != queue.Dispatch {
			t.Errorf("got %+v", q)
		}
	}
}

func TestScanDenied(t *testing.T) {
	srv := queuetest.Redis(t)
	queuetest.Seed(t, srv)
	url := srv.User("narrow", "pw", "~* +@all -scan -dbsize")
	s := newScan(connect(t, url), Options{Named: []queue.Queue{named(t, "reminders"), named(t, "mine,ready=queueA,backup=queueA:backup")}})
	p, err := s.Step(t.Context())
	if !errors.Is(err, ErrScanDenied) {
		t.Errorf("error %v", err)
	}
	if p.DBSize != -1 {
		t.Errorf("DBSize %d", p.DBSize)
	}
	p = finish(t, s)
	want := "mine{ready=queueA backup=queueA:backup} reminders{ready=reminders backup=reminders:backup delayed=reminders:delayed dead=reminders:dead}"
	if got := show(p.Queues); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if p.Queues[1].Unit != queue.Seconds {
		t.Error("the unit of a queue named by hand was not found")
	}
}

// untyped makes a server one from before 6.0, whose SCAN knows no TYPE.
type untyped struct{}

func (untyped) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (untyped) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (untyped) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		for _, cmd := range cmds {
			if cmd.Name() == "scan" && slices.Contains(cmd.Args(), any("type")) {
				cmd.Args()[len(cmd.Args())-2] = "typo" // the server then says what an old one says
			}
		}
		return next(ctx, cmds)
	}
}

func TestScanOnAnOldServer(t *testing.T) {
	srv := queuetest.Redis(t)
	fill(t, srv.Client, 5000)
	queuetest.Seed(t, srv)
	rdb := connect(t, srv.URL)
	rdb.AddHook(untyped{})
	s := newScan(rdb, Options{})
	p := finish(t, s)
	if !s.untyped {
		t.Fatal("the server did not refuse TYPE")
	}
	if len(p.Queues) != 8 || p.Scanned != 5015 {
		t.Errorf("scanned %d: %s", p.Scanned, show(p.Queues))
	}
}

func TestScanGoesOnAfterAnError(t *testing.T) {
	srv := queuetest.Redis(t)
	fill(t, srv.Client, 20_000)
	queuetest.Seed(t, srv)
	proxy := queuetest.NewProxy(t, srv.Addr)
	o := &redis.Options{Addr: proxy.Addr, DisableIdentity: true, MaxRetries: -1}
	rdb := redis.NewClient(o)
	t.Cleanup(func() { _ = rdb.Close() })
	s := newScan(rdb, Options{Named: []queue.Queue{named(t, "q,ready=q")}})
	first, err := s.Step(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	proxy.Refuse(true)
	proxy.Cut()
	p, err := s.Step(t.Context())
	if err == nil || p.Done || p.Scanned < first.Scanned {
		t.Fatalf("while cut: %+v, %v", p, err)
	}
	proxy.Refuse(false)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Step(cancelled); !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled: %v", err)
	}
	if p := finish(t, s); len(p.Queues) != 9 {
		t.Errorf("afterwards %s", show(p.Queues))
	}
}

func TestScanKeepsWhatIsKnown(t *testing.T) {
	srv := queuetest.Embedded(t)
	queuetest.Seed(t, srv)
	ctx := t.Context()
	first := finish(t, newScan(srv.Client, Options{}))
	srv.Client.Del(ctx, "orders", "orders:backup", "reminders:delayed", "q-demo")
	queuetest.Feed(t, srv.Client, "LPUSH fresh x")
	s := newScan(srv.Client, Options{Known: first.Queues})
	p := finish(t, s)
	if len(p.Queues) != 9 {
		t.Fatalf("got %s", show(p.Queues))
	}
	for _, was := range first.Queues {
		i := slices.IndexFunc(p.Queues, func(q queue.Queue) bool { return q.Name == was.Name })
		if i < 0 {
			t.Errorf("%s is gone", was.Name)
			continue
		}
		is := p.Queues[i]
		if show([]queue.Queue{is}) != show([]queue.Queue{was}) || is.Unit != was.Unit || is.Pattern != was.Pattern || is.Guessed != was.Guessed {
			t.Errorf("was %+v\nis  %+v", was, is)
		}
	}
}

func TestKeepKnown(t *testing.T) {
	ms := queue.Milliseconds
	for _, c := range []struct {
		name       string
		then, here []Key
		want       string
	}{
		{"nothing new", []Key{aList("q")}, []Key{aList("q")}, "q{ready=q}"},
		{"all gone", []Key{aList("q"), aSet("p", ms)}, nil, "p{delayed=p} q{ready=q}"},
		{"one key gone", []Key{aList("q"), aList("q:bak"), aList("q:backup:h-1")}, []Key{aList("q"), aList("q:backup:h-2")},
			"q{ready=q backup=q:backup:h-1+q:backup:h-2+q:bak}"},
		{"part of another queue now", []Key{aList("q:pending")}, []Key{aList("q:pending"), aSet("q:scheduled", ms)},
			"q{ready=q:pending delayed=q:scheduled}"},
		{"still part of a queue", []Key{aList("q:pending"), aSet("q:scheduled", ms)}, []Key{aList("q:pending")},
			"q{ready=q:pending delayed=q:scheduled}"},
		{"another type now", []Key{aList("q")}, []Key{aSet("q", ms)}, "q{delayed=q}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := keepKnown(Group(c.then, nil, now), Group(c.here, nil, now))
			if show(got) != c.want {
				t.Errorf("got  %s\nwant %s", show(got), c.want)
			}
			for _, q := range got {
				if err := q.Validate(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// freePort returns a loopback port for a cluster's own traffic.
func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

func TestScanWalksEveryMaster(t *testing.T) {
	ctx := t.Context()
	var nodes []*queuetest.Server
	var buses []string
	for _, slots := range [][2]int{{0, 8000}, {8001, 16383}} {
		bus := freePort(t)
		srv := queuetest.Redis(t, "--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-config-file", "nodes-"+bus)
		if err := srv.Client.ClusterAddSlotsRange(ctx, slots[0], slots[1]).Err(); err != nil {
			t.Fatal(err)
		}
		nodes, buses = append(nodes, srv), append(buses, bus)
	}
	host, port, _ := net.SplitHostPort(nodes[1].Addr)
	if err := nodes[0].Client.Do(ctx, "CLUSTER", "MEET", host, port, buses[1]).Err(); err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		for tries := 0; !strings.Contains(n.Client.ClusterInfo(ctx).Val(), "cluster_state:ok"); tries++ {
			if tries > 1000 {
				t.Fatal("the cluster does not come up")
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{nodes[0].Addr}, DisableIdentity: true})
	t.Cleanup(func() { _ = rdb.Close() })
	for i := range 50 {
		q := fmt.Sprintf("{q%d}", i)
		rdb.LPush(ctx, q, "x")
		rdb.LPush(ctx, q+":backup", "x")
		rdb.ZAdd(ctx, q+":delayed", redis.Z{Score: float64(time.Now().Unix()), Member: "x"})
		rdb.HSet(ctx, q+":dead", "wrong", "type")
	}
	p := finish(t, newScan(rdb, Options{Named: []queue.Queue{named(t, "{q1}")}}))
	if len(p.Queues) != 50 || p.DBSize != 200 || p.Scanned != 200 {
		t.Fatalf("scanned %d of %d, %d queues", p.Scanned, p.DBSize, len(p.Queues))
	}
	for _, q := range p.Queues {
		if q.Ready == "" || len(q.Backups) != 1 || q.Delayed == "" || q.Dead == "" || q.Unit != queue.Seconds {
			t.Errorf("%+v", q)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	srv := queuetest.Redis(b)
	fill(b, srv.Client, 100_000)
	queuetest.Seed(b, srv)
	for b.Loop() {
		finish(b, newScan(srv.Client, Options{}))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/key")
}
