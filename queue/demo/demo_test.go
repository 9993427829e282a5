package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"redq/queue"
	"redq/queue/layout"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// launch starts a demo whose errors fail the test, and a client of its server.
func launch(t *testing.T, tr trial) (*Demo, *redis.Client) {
	t.Helper()
	if tr.handled == nil {
		tr.handled = func(string, string) {}
	}
	d, err := start(t.Context(), Options{Seed: 7, Logf: t.Errorf}, tr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	rdb := redis.NewClient(&redis.Options{Addr: d.Addr(), Protocol: 2, DisableIdentity: true})
	t.Cleanup(func() { _ = rdb.Close() })
	return d, rdb
}

// eventually waits for something that must come.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 3000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s: it did not come", what)
}

// discover scans the demo's server to the end.
func discover(t *testing.T, d *Demo, named []queue.Queue) []queue.Queue {
	t.Helper()
	c, err := queue.Open(t.Context(), queue.Options{URL: "redis://" + d.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	scan := layout.NewScan(c, layout.Options{Named: named})
	for {
		p, err := scan.Step(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if p.Done {
			return p.Queues
		}
	}
}

func TestTheStartDependsOnTheSeed(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	at := func(seed uint64) []filling { return initial(rand.New(rand.NewPCG(seed, 0)), now) }
	if !reflect.DeepEqual(at(1), at(1)) {
		t.Error("equal seeds differ")
	}
	if reflect.DeepEqual(at(1), at(2)) {
		t.Error("different seeds are equal")
	}
}

// What the demo says of its queues is what discovery finds by itself.
func TestQueuesAreFound(t *testing.T) {
	d, _ := launch(t, trial{speed: 1})
	d.stop() // so that no key is empty for a moment
	d.work.Wait()
	found := map[string]queue.Queue{}
	for _, q := range discover(t, d, nil) {
		found[q.Name] = q
	}
	for _, want := range d.Queues() {
		got := found[want.Name]
		for _, p := range queue.Places() {
			if p == queue.Backup && want.Pattern != queue.BackupList {
				// Each consumer has a list of its own, while it has messages in hand.
				for _, key := range got.Backups {
					if len(want.Backups) == 0 || !strings.HasPrefix(key, want.BackupKey("")) {
						t.Errorf("%s has the backup list %q", want.Name, key)
					}
				}
				continue
			}
			if !slices.Equal(got.Keys(p), want.Keys(p)) {
				t.Errorf("%s: %s is %q, want %q", want.Name, p, got.Keys(p), want.Keys(p))
			}
		}
		if want.Delayed != "" && got.Unit != want.Unit {
			t.Errorf("%s: unit %d, want %d", want.Name, got.Unit, want.Unit)
		}
		delete(found, want.Name)
	}
	if len(found) > 0 {
		t.Errorf("found besides: %v", found)
	}
	for _, q := range discover(t, d, d.Queues()) {
		if q.Guessed != 0 {
			t.Errorf("%s: %b is a guess", q.Name, q.Guessed)
		}
	}
}

func TestTourLeadsThroughAllPatterns(t *testing.T) {
	d, _ := launch(t, trial{speed: 1})
	patterns := map[string]queue.Pattern{}
	for _, q := range d.Queues() {
		if err := q.Validate(); err != nil {
			t.Error(err)
		}
		patterns[q.Name] = q.Pattern
	}
	var seen []queue.Pattern
	for _, s := range d.Tour() {
		if patterns[s.Queue] != s.Pattern {
			t.Errorf("the tour calls %s %s, it is %s", s.Queue, s.Pattern, patterns[s.Queue])
		}
		seen = append(seen, s.Pattern)
	}
	for _, p := range []queue.Pattern{queue.ListPoll, queue.ListBlock, queue.ZsetRace, queue.ZsetScript, queue.LockRetry, queue.Dispatch, queue.BackupList, queue.Pipeline} {
		if !slices.Contains(seen, p) {
			t.Errorf("no stop at %s", p)
		}
	}
}

// The first look must be worth it: something overdue, something for each span, something in backup and dead.
func TestTheStartIsInteresting(t *testing.T) {
	now := time.Now()
	late, soon, far := 0, 0, 0
	held := map[string]int{}
	for _, f := range initial(rand.New(rand.NewPCG(7, 0)), now) {
		held[f.key] = len(f.payloads)
		if seen := slices.Compact(slices.Sorted(slices.Values(f.payloads))); len(seen) != len(f.payloads) {
			t.Errorf("%s: equal payloads", f.key)
		}
		for _, at := range f.due {
			switch {
			case at.Before(now):
				late++
			case at.Before(now.Add(time.Hour)):
				soon++
			default:
				far++
			}
		}
	}
	if late < 20 || soon < 100 || far < 100 {
		t.Errorf("%d late, %d soon, %d far", late, soon, far)
	}
	for _, key := range []string{ordersBak, ordersBad, jobsDead, mailDead, paymentDead} {
		if held[key] < 3 {
			t.Errorf("%s holds %d", key, held[key])
		}
	}
}

func TestPayloads(t *testing.T) {
	var all []string
	for _, f := range initial(rand.New(rand.NewPCG(7, 0)), time.Now()) {
		all = append(all, f.payloads...)
	}
	var odd []string
	for _, p := range all {
		if !json.Valid([]byte(p)) {
			odd = append(odd, p)
		}
	}
	if !slices.Equal(odd, []string{binaryEntry, hostileEntry}) {
		t.Errorf("no JSON: %q", odd)
	}
	if !slices.ContainsFunc(all, func(p string) bool { return len(p) > 8000 }) {
		t.Error("none is long")
	}
	if !regexp.MustCompile(`:\d{20}[,}]`).MatchString(strings.Join(all, "\n")) {
		t.Error("none has an id of 20 digits")
	}
}

func TestEveryQueueMoves(t *testing.T) {
	d, rdb := launch(t, trial{speed: 20})
	eventually(t, "every consumed queue handles messages", func() bool {
		for _, s := range d.Stats() {
			if s.Queue != audit && s.Handled == 0 || s.Produced == 0 {
				return false
			}
		}
		return true
	})
	eventually(t, "crashes, failures and losses", func() bool {
		var sum Stats
		for _, s := range d.Stats() {
			sum.Crashed += s.Crashed
			sum.Failed += s.Failed
			sum.Lost += s.Lost
			if d.queue(s.Queue).Pattern.AtLeastOnce() && s.Lost > 0 {
				t.Fatalf("%s lost messages in spite of a backup list", s.Queue)
			}
		}
		return sum.Crashed > 2 && sum.Failed > 2 && sum.Lost > 2
	})
	if n := rdb.LLen(t.Context(), audit).Val(); n <= 164 {
		t.Errorf("audit does not grow: %d", n)
	}
}

// At 300 times its speed the demo runs an hour in 12 s; here a few minutes must do.
func TestLengthsAreBounded(t *testing.T) {
	d, rdb := launch(t, trial{speed: 300})
	eventually(t, "a few hundred messages a queue", func() bool {
		for _, s := range d.Stats() {
			if s.Produced < 500 {
				return false
			}
		}
		return true
	})
	ctx := t.Context()
	for _, q := range d.Queues() {
		for _, p := range queue.Places() {
			for _, k := range q.Keys(p) {
				n := rdb.LLen(ctx, k).Val() + rdb.ZCard(ctx, k).Val()
				if n > 2000 || p == queue.Dead && n > 2*mostDead || p == queue.Backup && n > 2*mostStuck {
					t.Errorf("%s holds %d", k, n)
				}
			}
		}
	}
}

var orderNumber = regexp.MustCompile(`"order":(\d+)`)

// An operator moves messages from backup to ready while workers take, crash,
// fail and acknowledge: every order is handled, or still in one of the places.
func TestNoOrderIsLost(t *testing.T) {
	var mu sync.Mutex
	handled := map[string]bool{}
	d, rdb := launch(t, trial{speed: 50, handled: func(name, payload string) {
		if m := orderNumber.FindStringSubmatch(payload); m != nil && name == orders {
			mu.Lock()
			handled[m[1]] = true
			mu.Unlock()
		}
	}})
	ctx := context.WithoutCancel(t.Context())
	var mine []string
	for i := range 300 {
		n := fmt.Sprint(900_000 + i)
		mine = append(mine, n)
		if err := rdb.LPush(ctx, orders, fmt.Sprintf(`{"order":%s,"customer":"it's me"}`, n)).Err(); err != nil {
			t.Fatal(err)
		}
	}
	moved := 0
	eventually(t, "my orders are handled", func() bool {
		if err := rdb.LMove(ctx, ordersBak, orders, "RIGHT", "RIGHT").Err(); err == nil {
			moved++
		}
		mu.Lock()
		defer mu.Unlock()
		n := 0
		for _, o := range mine {
			if handled[o] {
				n++
			}
		}
		return n >= 200
	})
	d.stop()
	d.work.Wait()
	rest := strings.Join(slices.Concat(rdb.LRange(ctx, orders, 0, -1).Val(), rdb.LRange(ctx, ordersBak, 0, -1).Val(),
		rdb.LRange(ctx, ordersBad, 0, -1).Val(), rdb.ZRange(ctx, ordersSet, 0, -1).Val()), "\n")
	for _, o := range mine {
		if !handled[o] && !strings.Contains(rest, `"order":`+o+",") {
			t.Errorf("order %s is lost", o)
		}
	}
	if moved == 0 {
		t.Error("nothing was moved")
	}
}

func TestWhatIsPutInByHandIsConsumed(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]string{}
	_, rdb := launch(t, trial{speed: 50, handled: func(name, payload string) {
		mu.Lock()
		defer mu.Unlock()
		if strings.Contains(payload, "by hand") {
			seen[payload] = name
		}
	}})
	ctx := t.Context()
	for i := range 8 { // some get lost: that is what these patterns are like
		for _, key := range []string{mail, stock, orders, payments} {
			rdb.LPush(ctx, key, fmt.Sprintf("by hand %d %s", i, key))
		}
		rdb.RPush(ctx, notify, fmt.Sprintf("by hand %d %s", i, notify))
		for _, key := range []string{remindSet, jobs, invoices, watch} {
			rdb.ZAdd(ctx, key, redis.Z{Score: 1, Member: fmt.Sprintf(`{"beanName":"smsProcess","by hand":"%d %s"}`, i, key)})
		}
	}
	eventually(t, "each queue handles some", func() bool {
		mu.Lock()
		defer mu.Unlock()
		names := map[string]bool{}
		for _, name := range seen {
			names[name] = true
		}
		return len(names) == 9
	})
}

func TestLocksExpire(t *testing.T) {
	_, rdb := launch(t, trial{speed: 50})
	ctx := t.Context()
	rdb.Set(ctx, "mine", "x", time.Second)
	eventually(t, "a key with a time to live goes", func() bool { return rdb.Exists(ctx, "mine").Val() == 0 })
}

func TestFailed(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	m := purchase(r, 17)
	for want := 1; want <= 3; want++ {
		again, attempts := failed(m, r)
		if attempts != want || !json.Valid([]byte(again)) || !strings.HasPrefix(again, `{"order":17,`) || strings.Count(again, "attempts") != 1 {
			t.Fatalf("attempt %d: %d, %s", want, attempts, again)
		}
		m = again
	}
	if again, _ := failed("no object", r); again != "no object" {
		t.Error(again)
	}
}

// What is dead of a queue whose consumers keep the errors beside it has one from the start.
func TestTheDeadHaveReasons(t *testing.T) {
	d, _ := launch(t, trial{speed: 1})
	q := d.queue(payments)
	page, err := d.client.Peek(t.Context(), q, queue.Dead, 0, 10)
	if err != nil || len(page.Messages) < 3 {
		t.Fatalf("%d messages, %v", len(page.Messages), err)
	}
	failed, err := d.client.Failures(t.Context(), q, page.Messages)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range failed {
		if f.Attempts == 0 || f.Reason == "" || f.First.IsZero() {
			t.Errorf("%s: %d attempts since %v, %q", f.Payload, f.Attempts, f.First, f.Reason)
		}
	}
}

// All queues but one have consumers that are seen to live.
func TestConsumersAreSeen(t *testing.T) {
	d, _ := launch(t, trial{speed: 20})
	for _, q := range d.Queues() {
		if q.Name == audit {
			continue
		}
		eventually(t, "a consumer of "+q.Name, func() bool {
			c, err := d.client.Consumers(t.Context(), q)
			return err == nil && slices.ContainsFunc(c.Known, func(i queue.ConsumerInfo) bool { return i.Alive && i.Pattern == q.Pattern })
		})
	}
	c, err := d.client.Consumers(t.Context(), d.queue(audit))
	if err != nil || len(c.Known) > 0 {
		t.Errorf("%s has consumers: %v, %v", audit, c.Known, err)
	}
}

// What a killed consumer held is recovered by the other one, and the dead do not pile up.
func TestTheKilledAreRecovered(t *testing.T) {
	d, rdb := launch(t, trial{speed: 30})
	q := d.queue(payments)
	eventually(t, "some are killed and recovered", func() bool {
		d.mu.Lock()
		hired := d.hired
		d.mu.Unlock()
		return hired > 18 && rdb.HGet(t.Context(), q.StatsKey(), "recovered").Val() != ""
	})
	eventually(t, "the dead are not listed any more", func() bool {
		return rdb.HLen(t.Context(), q.ConsumersKey()).Val() <= 3
	})
}

func TestScenesPlay(t *testing.T) {
	d, _ := launch(t, trial{speed: 10})
	if err := d.Stage().Play(t.Context(), "race"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the scene", func() bool { return d.Stage().Line().Done })
	for _, q := range discover(t, d, d.Queues()) {
		if strings.HasPrefix(q.Name, "scene:") && q.Delayed == "" {
			t.Errorf("found %+v", q)
		}
	}
	if err := d.Stage().Play(t.Context(), "crash"); err != nil { // Close ends it
		t.Fatal(err)
	}
}

func TestStartOnATakenAddress(t *testing.T) {
	d, _ := launch(t, trial{speed: 1})
	if _, err := Start(t.Context(), Options{Addr: d.Addr()}); err == nil || !strings.Contains(err.Error(), d.Addr()) {
		t.Errorf("error %v", err)
	}
}

func TestCloseTwice(t *testing.T) {
	d, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(d.Addr(), "127.0.0.1:") {
		t.Errorf("it listens on %s", d.Addr())
	}
	d.Close()
	d.Close()
}
