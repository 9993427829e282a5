package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redq/queue"
	"redq/queue/queuetest"
	"redq/queue/transfer"
)

// linesOf is a file of n messages of ready.
func linesOf(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"queue":"q","place":"ready","key":"q","push":"left","payload":"m%d"}`+"\n", i)
	}
	return b.String()
}

// inOrder checks that a list has the messages m0 to n-1 as linesOf makes them, once each.
func inOrder(t *testing.T, s *queuetest.Server, key string, n int) {
	t.Helper()
	got := s.Client.LRange(context.Background(), key, 0, -1).Val()
	slices.Reverse(got)
	for i := range min(n, len(got)) {
		if got[i] != fmt.Sprint("m", i) {
			t.Fatalf("message %d is %s", i, got[i])
		}
	}
	if len(got) != n {
		t.Fatalf("%d messages, want %d", len(got), n)
	}
}

func TestImportElsewhere(t *testing.T) {
	const file = `{"queue":"old","place":"ready","key":"old","push":"right","payload":"r1"}
{"queue":"old","place":"ready","key":"old","push":"right","payload":"r2"}
{"queue":"old","place":"backup","key":"old:backup:7","payload":"b1"}
{"queue":"old","place":"delayed","key":"old:delayed","score":5,"payload":"x1"}
{"queue":"old","place":"dead","key":"old:dead","payload":"d1"}
{"queue":"old","place":"dead","key":"old:dead","payload":"d2"}
`
	s := queuetest.Redis(t)
	c := open(t, s.URL)
	right := queue.Named("new")
	right.Push = queue.Right
	for _, tt := range []struct {
		name string
		q    queue.Queue
		to   transfer.Target
		want map[string][]string
	}{
		{"each to its place", queue.Named("new"), transfer.Target{}, map[string][]string{
			"new": {"r2", "r1"}, "new:backup": {"b1"}, "new:delayed": {"x1", "5"}, "new:dead": {"d2", "d1"}}},
		{"producers push elsewhere", right, transfer.Target{}, map[string][]string{
			"new": {"r1", "r2"}, "new:backup": {"b1"}, "new:delayed": {"x1", "5"}, "new:dead": {"d2", "d1"}}},
		{"all to ready", queue.Named("new"), transfer.Target{Place: queue.Ready}, map[string][]string{
			"new": {"d2", "d1", "x1", "b1", "r2", "r1"}}},
		{"all to a key", queue.Named("new"), transfer.Target{Place: queue.Backup, Key: "new:backup:1"}, map[string][]string{
			"new:backup:1": {"d2", "d1", "x1", "b1", "r2", "r1"}}},
		{"to what is made", queue.Queue{Name: "new", Ready: "new"}, transfer.Target{Create: true}, map[string][]string{
			"new": {"r2", "r1"}, "new:backup": {"b1"}, "new:delayed": {"x1", "5"}, "new:dead": {"d2", "d1"}}},
		{"back, to keys that are gone", queue.Queue{Name: "old", Ready: "old", Guessed: queue.GuessedKeys | queue.GuessedPush}, transfer.Target{}, map[string][]string{
			"old": {"r1", "r2"}, "old:backup:7": {"b1"}, "old:delayed": {"x1", "5"}, "old:dead": {"d2", "d1"}}},
		{"back, to keys named by hand", queue.Queue{Name: "old", Ready: "R", Backups: []string{"B"}, Delayed: "D", Dead: "X"}, transfer.Target{}, map[string][]string{
			"R": {"r2", "r1"}, "B": {"b1"}, "D": {"x1", "5"}, "X": {"d2", "d1"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s.Client.FlushAll(t.Context())
			if _, err := transfer.Import(t.Context(), c, tt.q, strings.NewReader(file), transfer.ImportOptions{Target: tt.to}); err != nil {
				t.Fatal(err)
			}
			same(t, keys(t, s), tt.want)
		})
	}
	for name, tt := range map[string]struct {
		q  queue.Queue
		to transfer.Target
	}{
		"a place it does not have": {queue.Queue{Name: "new", Ready: "new"}, transfer.Target{}},
		"no score":                 {queue.Named("new"), transfer.Target{Place: queue.Delayed}},
		"a key of another place":   {queue.Queue{Name: "old", Ready: "old", Dead: "old:backup:7", Guessed: queue.GuessedKeys}, transfer.Target{}},
	} {
		t.Run(name, func(t *testing.T) {
			s.Client.FlushAll(t.Context())
			var wrong *transfer.LineError
			_, err := transfer.Look(t.Context(), c, tt.q, strings.NewReader(file), transfer.PreviewOptions{Target: tt.to})
			if !errors.As(err, &wrong) || wrong.Line == 0 {
				t.Errorf("%v", err)
			}
		})
	}
	// Of a foreign name nothing is taken for a key of the queue.
	evil := strings.NewReader(`{"queue":"old","place":"dead","key":"sessions","payload":"x"}`)
	if _, err := transfer.Import(t.Context(), c, queue.Queue{Name: "old", Ready: "old", Guessed: queue.GuessedKeys}, evil, transfer.ImportOptions{}); err == nil {
		t.Error("a key that is not the queue's was written to")
	}
}

func TestImportStops(t *testing.T) {
	s := queuetest.Redis(t)
	c := open(t, s.URL)
	q := queue.Named("q")
	wrong := func(line int64, column int) func(error) bool {
		return func(err error) bool {
			var at *transfer.LineError
			return errors.As(err, &at) && at.Line == line && at.Column == column
		}
	}
	for name, tt := range map[string]struct {
		file    string
		before  func()
		as      func(error) bool
		through int64
		added   int64
	}{
		"torn":      {linesOf(2500) + `{"place":"ready","payl`, nil, wrong(2501, 23), 2500, 2500},
		"no score":  {linesOf(3) + "\n\n" + `  {"place":"delayed","payload":""}`, nil, wrong(6, 3), 3, 3},
		"all blank": {"\n \r\n", nil, func(err error) bool { return err == nil }, 0, 0},
		"another type": {linesOf(10) + `{"place":"dead","payload":"x"}`, func() { s.Client.Set(t.Context(), "q:dead", "x", 0) },
			func(err error) bool { return errors.Is(err, queue.ErrWrongType) }, 10, 10},
		"read fails": {linesOf(10) + "FAIL", nil, func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }, 10, 10},
	} {
		t.Run(name, func(t *testing.T) {
			s.Client.FlushAll(t.Context())
			if tt.before != nil {
				tt.before()
			}
			file, fails := strings.CutSuffix(tt.file, "FAIL")
			var r io.Reader = strings.NewReader(file)
			if fails {
				r = io.MultiReader(r, broken{})
			}
			done, err := transfer.Import(t.Context(), c, q, r, transfer.ImportOptions{})
			if !tt.as(err) || done.Through != tt.through || done.UnknownThrough != 0 || done.Added.Sum() != tt.added {
				t.Errorf("%+v, %v", done, err)
			}
			inOrder(t, s, "q", int(tt.added))
		})
	}
	readOnly := open(t, s.URL, func(o *queue.Options) { o.ReadOnly = true })
	if _, err := transfer.Import(t.Context(), readOnly, q, strings.NewReader(linesOf(1)), transfer.ImportOptions{}); !errors.Is(err, queue.ErrReadOnly) {
		t.Errorf("%v", err)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// Memory runs out, the server becomes a replica, the operator gives up: FromLine goes on from
// where the report says, and in the end each message is there once.
func TestImportGoesOn(t *testing.T) {
	const n = 5000
	s := queuetest.Redis(t)
	c := open(t, s.URL)
	ctx := t.Context()
	q := queue.Named("q")
	from, rounds := int64(0), 0
	for step := 0; ; step++ {
		running, cancel := context.WithCancel(ctx)
		batches := 0
		done, err := transfer.Import(running, c, q, strings.NewReader(linesOf(n)), transfer.ImportOptions{FromLine: from, Rate: 1e6, Progress: func(now transfer.Imported) {
			if batches++; batches != 2 {
				return
			}
			switch step % 3 {
			case 0:
				cancel()
			case 1:
				s.Client.ConfigSet(ctx, "maxmemory", "1")
			case 2:
				s.Client.Do(ctx, "REPLICAOF", "127.0.0.1", "1")
			}
		}})
		cancel()
		s.Client.ConfigSet(ctx, "maxmemory", "0")
		s.Client.Do(ctx, "REPLICAOF", "NO", "ONE")
		if done.UnknownThrough != 0 {
			t.Fatalf("%+v, %v", done, err)
		}
		if from = done.Through + 1; err == nil {
			break
		}
		if rounds++; rounds > n {
			t.Fatal("it does not come to an end")
		}
	}
	if rounds < 2 {
		t.Errorf("it stopped %d times only", rounds)
	}
	inOrder(t, s, "q", n)
}

// Connections are cut all the time, with the answers of what has happened.
func TestImportOverABadConnection(t *testing.T) {
	n := 30_000
	if testing.Short() {
		n = 5000
	}
	s := queuetest.Redis(t)
	p := queuetest.NewProxy(t, s.Addr)
	c := open(t, p.URL)
	stop := make(chan struct{})
	var cutting sync.WaitGroup
	cutting.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Duration(1+rand.IntN(20)) * time.Millisecond):
			}
			if rand.IntN(2) == 0 {
				p.CutAfterRequest("redq-bulk")
			} else {
				p.Cut()
			}
		}
	})
	troubled := false
	done, err := transfer.Import(t.Context(), c, queue.Named("q"), strings.NewReader(linesOf(n)), transfer.ImportOptions{
		Progress: func(now transfer.Imported) { troubled = troubled || now.Trouble != nil },
	})
	close(stop)
	cutting.Wait()
	if err != nil || !troubled {
		t.Fatalf("%+v, %v; troubled %t", done, err, troubled)
	}
	inOrder(t, s, "q", n)
}

// The server is killed at any moment, and comes back with what it had written down.
func TestImportWhileTheServerIsKilled(t *testing.T) {
	const n = 20_000
	rounds := 10
	if testing.Short() {
		rounds = 2
	}
	s := queuetest.Redis(t, "--appendonly", "yes", "--appendfsync", "always")
	c := open(t, s.URL)
	for round := range rounds {
		s.Client.FlushAll(t.Context())
		begun, finished := make(chan struct{}), make(chan struct{})
		var once sync.Once
		var done transfer.Imported
		var err error
		go func() {
			defer close(finished)
			done, err = transfer.Import(t.Context(), c, queue.Named("q"), strings.NewReader(linesOf(n)), transfer.ImportOptions{
				Progress: func(transfer.Imported) { once.Do(func() { close(begun) }) },
			})
		}()
		<-begun
		time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
		s.Kill()
		s.Start()
		<-finished
		if err != nil || done.Added.Sum() != n || done.Duplicates != 0 {
			t.Fatalf("round %d: %+v, %v", round, done, err)
		}
		inOrder(t, s, "q", n)
	}
}

// An answer never comes, and the operator gives up: the report says which lines nobody knows
// about, and either going on behind them or with them is right.
func TestImportWhoseOutcomeIsUnknown(t *testing.T) {
	const n = 4500
	s := queuetest.Redis(t)
	p := queuetest.NewProxy(t, s.Addr)
	q := queue.Named("q")
	for _, happened := range []bool{true, false} {
		s.Client.FlushAll(t.Context())
		c := open(t, p.URL, func(o *queue.Options) { o.Timeout = 300 * time.Millisecond })
		ctx, cancel := context.WithCancel(t.Context())
		batches := 0
		done, err := transfer.Import(ctx, c, q, strings.NewReader(linesOf(n)), transfer.ImportOptions{Progress: func(now transfer.Imported) {
			switch batches++; {
			case now.Trouble != nil:
				cancel()
			case batches == 2 && happened:
				p.CutReplies(true)
			case batches == 2:
				p.BlackHole(true)
			}
		}})
		cancel()
		p.CutReplies(false)
		p.BlackHole(false)
		if !errors.Is(err, queue.ErrUnknownOutcome) || done.Through != 2000 || done.UnknownThrough != 3000 {
			t.Fatalf("%+v, %v", done, err)
		}
		from := done.Through + 1
		if s.Client.LLen(t.Context(), "q").Val() == 3000 != happened {
			t.Fatal("the test did not do what it was to do")
		}
		if happened {
			from = done.UnknownThrough + 1
		}
		if _, err := transfer.Import(t.Context(), open(t, s.URL), q, strings.NewReader(linesOf(n)), transfer.ImportOptions{FromLine: from}); err != nil {
			t.Fatal(err)
		}
		inOrder(t, s, "q", n)
	}
}

func TestImportOfDuplicates(t *testing.T) {
	s := queuetest.Redis(t)
	c := open(t, s.URL)
	q := queue.Named("q")
	s.Client.ZAdd(t.Context(), q.Delayed, redis.Z{Score: 1, Member: "there"})
	const file = `{"place":"delayed","score":5,"payload":"new"}
{"place":"delayed","score":7,"payload":"there"}
{"place":"delayed","score":8,"payload":"new"}
{"place":"dead","payload":"x"}
{"place":"dead","payload":"x"}
`
	p, err := transfer.Look(t.Context(), c, q, strings.NewReader(file), transfer.PreviewOptions{Duplicates: true})
	if err != nil || p.Duplicates != 1 || len(p.Samples) != 3 {
		t.Errorf("%+v, %v", p, err)
	}
	done, err := transfer.Import(t.Context(), c, q, strings.NewReader(file), transfer.ImportOptions{})
	if err != nil || done.Duplicates != 2 || !slices.Equal(done.DuplicateLines, []int64{2, 3}) || done.Added.String() != "delayed 1, dead 2" {
		t.Errorf("%+v, %v", done, err)
	}
	same(t, keys(t, s), map[string][]string{q.Delayed: {"there", "1", "new", "5"}, q.Dead: {"x", "x"}})
}

// A consumer and a producer work while the queue is exported and imported. Nothing that is theirs is
// lost or doubled, and what rests is in the file once.
func TestWhileOthersWork(t *testing.T) {
	const n = 20_000
	s := queuetest.Redis(t)
	c := open(t, s.URL)
	ctx := t.Context()
	q := queue.Named("q")
	var resting []string
	for i := range n {
		resting = append(resting, fmt.Sprint("rests ", i))
	}
	rpush(t, s, q.Ready, resting...)
	for i := range 3000 { // these are taken
		rpush(t, s, q.Ready, fmt.Sprint("first ", i))
	}
	stop := make(chan struct{})
	var working sync.WaitGroup
	pushed, popped := 0, 0
	working.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			s.Client.LPush(context.Background(), q.Ready, fmt.Sprint("new ", pushed))
			pushed++
		}
	})
	working.Go(func() {
		for popped < 3000 {
			select {
			case <-stop:
				return
			default:
			}
			s.Client.RPop(context.Background(), q.Ready)
			popped++
		}
	})
	_, file := export(t, c, q, transfer.Options{})
	got := map[string]int{}
	for text := range strings.Lines(file) {
		l, err := transfer.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got[string(l.Payload)]++
	}
	done, err := transfer.Import(ctx, c, q, strings.NewReader(linesOf(n)), transfer.ImportOptions{})
	if err != nil || done.Added.Sum() != n {
		t.Fatalf("%+v, %v", done, err)
	}
	close(stop)
	working.Wait()
	for payload, times := range got {
		if times > 1 {
			t.Fatalf("%s is there %d times", payload, times)
		}
	}
	for _, payload := range resting {
		if got[payload] != 1 {
			t.Fatalf("%s is there %d times", payload, got[payload])
		}
	}
	if have := s.Client.LLen(ctx, q.Ready).Val(); have != int64(n+3000-popped+pushed+n) {
		t.Errorf("%d messages, want %d", have, n+3000-popped+pushed+n)
	}
}

// A rate is kept to: it takes as long as it must.
func TestImportAtARate(t *testing.T) {
	s := queuetest.Redis(t)
	c := open(t, s.URL)
	start := time.Now()
	most := int64(0)
	last := int64(0)
	done, err := transfer.Import(t.Context(), c, queue.Named("q"), strings.NewReader(linesOf(100)), transfer.ImportOptions{
		Rate: 200, Progress: func(now transfer.Imported) { most, last = max(most, now.Through-last), now.Through },
	})
	if err != nil || done.Added.Sum() != 100 || most > 20 || time.Since(start) < 300*time.Millisecond {
		t.Errorf("%+v, %v: up to %d at once, in %v", done, err, most, time.Since(start))
	}
}
