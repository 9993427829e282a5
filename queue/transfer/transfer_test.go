package transfer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"redq/queue"
	"redq/queue/queuetest"
	"redq/queue/transfer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, url string, change ...func(*queue.Options)) *queue.Client {
	t.Helper()
	o := queue.Options{URL: url}
	for _, f := range change {
		f(&o)
	}
	c, err := queue.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// keys are what a server holds: LRANGE and ZRANGE WITHSCORES of each key.
func keys(t testing.TB, s *queuetest.Server) map[string][]string {
	t.Helper()
	ctx, all := context.Background(), map[string][]string{}
	for _, key := range s.Client.Keys(ctx, "*").Val() {
		ask := []any{"LRANGE", key, 0, -1}
		switch s.Client.Type(ctx, key).Val() {
		case "zset":
			ask = []any{"ZRANGE", key, 0, -1, "WITHSCORES"}
		case "hash":
			ask = []any{"HGETALL", key}
		}
		values, err := s.Client.Do(ctx, ask...).StringSlice()
		if err != nil {
			t.Fatal(err)
		}
		all[key] = values
	}
	return all
}

func same(t testing.TB, got, want map[string][]string) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if !slices.Equal(got[key], want[key]) {
			t.Errorf("%s: %d of %d values, or not the same bytes:\n %.60q\n %.60q", key, len(got[key]), len(want[key]), head(got[key]), head(want[key]))
		}
	}
	for key := range got {
		if _, there := want[key]; !there {
			t.Errorf("there is a key %s", key)
		}
	}
}

func head(values []string) []string { return values[:min(len(values), 12)] }

func rpush(t testing.TB, s *queuetest.Server, key string, payloads ...string) {
	t.Helper()
	for piece := range slices.Chunk(payloads, 1000) {
		values := make([]any, len(piece))
		for i, p := range piece {
			values[i] = p
		}
		if err := s.Client.RPush(t.Context(), key, values...).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// hostile is payloads that have cost others messages.
func hostile() []string {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	return []string{
		"", " ", "\n", "a\r\nb\n", "\x00", "\x00\xff\xfe", string(every), "\xed\xa0\x80", "\xf0\x9f\x98", "\ufffd", "\\ufffd", `\ud83d\ude00`,
		"😀 \U0010ffff", "\u2028\u2029\u202e\ufeff\u200b", "\x1b]52;c;AAAA\x07\x9b2J", "\u009b2J", `{"n":130775545883395173,"x":1.0e+5,"e":[]}`,
		`"quoted" \ / <script>&amp;`, strings.Repeat("é", 70_000), strings.Repeat("\xff\x00", 40_000), strings.Repeat("\x01", 50_000),
		"twice", "twice", "other", "twice", strings.Repeat("x", 64<<10), strings.Repeat("x", 64<<10+1),
	}
}

// scores are those at which a double or its print goes wrong.
func scores() []string {
	return []string{
		"1.7976931348623157e+308", "-1.7976931348623157e+308", "inf", "-inf", "-0", "0", "0.1", "1e-320", "5e-324", "2.2250738585072014e-308",
		"1700000000000", "1700000000.123456", "9007199254740993", "1e22", "3.1415926535897931", "123456789012345.67",
	}
}

// lay fills a queue with what is hard.
func lay(t testing.TB, s *queuetest.Server, q queue.Queue) {
	t.Helper()
	ctx := t.Context()
	rpush(t, s, q.Ready, hostile()...)
	for i := range 3500 {
		rpush(t, s, q.Ready, fmt.Sprint("m", i))
	}
	for i, key := range q.Backups {
		rpush(t, s, key, hostile()[i:]...)
	}
	rpush(t, s, q.Dead, hostile()...)
	rpush(t, s, q.Dead, "same", "same", "same")
	for i, score := range scores() {
		for j, payload := range []string{"", "a\xff", fmt.Sprint("json ", i)} {
			if j == 0 && i > 0 {
				continue
			}
			if err := s.Client.Do(ctx, "ZADD", q.Delayed, score, fmt.Sprintf("%s%s", payload, strings.Repeat("!", i*j))).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range 2500 {
		s.Client.Do(ctx, "ZADD", q.Delayed, fmt.Sprintf("%.6f", 1.7e9+float64(i)*rand.Float64()), fmt.Sprint("later ", i))
	}
}

func export(t testing.TB, c *queue.Client, q queue.Queue, o transfer.Options) (transfer.Report, string) {
	t.Helper()
	var file bytes.Buffer
	r, err := transfer.Export(t.Context(), c, q, o, &file)
	if err != nil {
		t.Fatal(err)
	}
	if n := int64(strings.Count(file.String(), "\n")); n != r.Written.Sum() {
		t.Errorf("%d lines, and %d were reported", n, r.Written.Sum())
	}
	return r, file.String()
}

// What was exported is the same after an import, byte for byte, in each place.
func TestRoundTrip(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		for _, push := range []queue.End{queue.Left, queue.Right} {
			for _, guessed := range []queue.Guess{0, queue.GuessedPush | queue.GuessedKeys} {
				t.Run(fmt.Sprintf("push %s, guessed %d", push, guessed), func(t *testing.T) {
					s.Client.FlushAll(t.Context())
					c := open(t, s.URL)
					q := queue.Named("q")
					q.Push, q.Backups = push, []string{"q:backup:one", "q:backup:two"}
					if s.Mini == nil {
						lay(t, s, q)
					} else { // its Lua and its scores are not Redis's
						rpush(t, s, q.Ready, hostile()...)
						rpush(t, s, q.Backups[1], hostile()...)
						s.Client.ZAdd(t.Context(), q.Delayed, redis.Z{Score: 1.5, Member: "x"}, redis.Z{Score: 1.5, Member: "\xff"})
					}
					before := keys(t, s)
					_, file := export(t, c, q, transfer.Options{})
					same(t, keys(t, s), before)

					s.Client.FlushAll(t.Context())
					if q.Guessed = guessed; guessed != 0 { // the keys are gone, and what was known with them
						q = queue.Named("q")
						q.Guessed, q.Backups, q.Dead, q.Delayed = guessed, nil, "", ""
					}
					p, err := transfer.Look(t.Context(), c, q, strings.NewReader(file), transfer.PreviewOptions{Duplicates: true})
					if err != nil || p.Duplicates != 0 {
						t.Fatal(p, err)
					}
					done, err := transfer.Import(t.Context(), c, q, strings.NewReader(file), transfer.ImportOptions{})
					lines := int64(strings.Count(file, "\n"))
					if err != nil || done.Through != lines || p.Lines != lines || done.Duplicates != 0 || done.Added.Sum() != lines || p.Counts().Sum() != lines {
						t.Fatalf("%+v, %v; %d lines, a preview of %+v", done, err, lines, p.Counts())
					}
					same(t, keys(t, s), before)
				})
			}
		}
	})
}

// A payload of 20 MB goes both ways, as text and as bytes.
func TestRoundTripOfLargePayloads(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	s := queuetest.Redis(t)
	c := open(t, s.URL)
	q := queue.Named("q")
	rpush(t, s, q.Dead, "small", strings.Repeat("a", 20<<20), "small", strings.Repeat("\xff", 20<<20), strings.Repeat("\x1b", 5<<20))
	s.Client.ZAdd(t.Context(), q.Delayed, redis.Z{Score: 1, Member: strings.Repeat("z", 20<<20)}, redis.Z{Score: 1, Member: "z"})
	before := keys(t, s)
	_, file := export(t, c, q, transfer.Options{})
	s.Client.FlushAll(t.Context())
	if _, err := transfer.Import(t.Context(), c, q, strings.NewReader(file), transfer.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	same(t, keys(t, s), before)
}

func TestExportOfSome(t *testing.T) {
	s := queuetest.Redis(t)
	c := open(t, s.URL)
	q := queue.Named("q")
	rpush(t, s, q.Ready, "r3", "r2", "r1")
	rpush(t, s, q.Dead, "d2", "d1")
	odd := func(m queue.Message) (bool, error) { return m.Payload[1]%2 == 1, nil }
	for _, tt := range []struct {
		name string
		o    transfer.Options
		want []string
	}{
		{"all", transfer.Options{}, []string{"r1", "r2", "r3", "d1", "d2"}},
		{"a place", transfer.Options{Places: []queue.Place{queue.Dead}}, []string{"d1", "d2"}},
		{"no place", transfer.Options{Places: []queue.Place{}}, nil},
		{"a filter", transfer.Options{Match: odd}, []string{"r1", "r3", "d1"}},
		{"a limit", transfer.Options{Limit: 4}, []string{"r1", "r2", "r3", "d1"}},
		{"both", transfer.Options{Match: odd, Limit: 2}, []string{"r1", "r3"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, file := export(t, c, q, tt.o)
			var got []string
			for text := range strings.Lines(file) {
				l, err := transfer.Decode([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(l.Payload))
			}
			if !slices.Equal(got, tt.want) || r.Written.Sum() != int64(len(tt.want)) {
				t.Errorf("%q, want %q; %+v", got, tt.want, r)
			}
		})
	}
	stop := errors.New("stop")
	_, err := transfer.Export(t.Context(), c, q, transfer.Options{Match: func(queue.Message) (bool, error) { return false, stop }}, &bytes.Buffer{})
	if !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
	if _, err := transfer.Export(t.Context(), c, q, transfer.Options{}, full{}); err == nil {
		t.Error("a full disk was not noticed")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := transfer.Export(gone, c, q, transfer.Options{}, &bytes.Buffer{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// Attempts come along, unless they are to be forgotten.
func TestAttempts(t *testing.T) {
	s := queuetest.Redis(t)
	c := open(t, s.URL)
	q := queue.Named("q")
	rpush(t, s, q.Dead, "fails", "never")
	s.Client.HSet(t.Context(), q.MetaKey(), "c6f9be3f7a6bd7bf4e9b7e7b5c6e8c1f00000000", "1 2 not ours")
	s.Client.Eval(t.Context(), `redis.call('HSET', KEYS[1], redis.sha1hex('fails'), '3 1700000000123 boom \255 "x"')`, []string{q.MetaKey()})
	want := keys(t, s)
	delete(want, q.MetaKey())
	_, file := export(t, c, q, transfer.Options{})
	if strings.Count(file, "attempts") != 1 || !strings.Contains(file, `"attempts":3,"first_failed":"2023-11-14T22:13:20.123Z","reason":"boom \\xff \"x\"","reason_b64":`) {
		t.Error(file)
	}
	for _, reset := range []bool{true, false} {
		s.Client.FlushAll(t.Context())
		if _, err := transfer.Import(t.Context(), c, q, strings.NewReader(file), transfer.ImportOptions{ResetAttempts: reset}); err != nil {
			t.Fatal(err)
		}
		got := keys(t, s)
		meta := got[q.MetaKey()]
		delete(got, q.MetaKey())
		same(t, got, want)
		if reset && meta != nil || !reset && (len(meta) != 2 || meta[1] != "3 1700000000123 boom \xff \"x\"") {
			t.Errorf("reset %t: %q", reset, meta)
		}
	}
	// What cannot be read is not known; that costs no message.
	s.Client.Set(t.Context(), q.MetaKey(), "x", 0)
	if r, _ := export(t, c, q, transfer.Options{}); r.Written.Sum() != 2 {
		t.Errorf("%+v", r)
	}
}

// A cut connection does not end an export; a server that stays away does, and the report says how
// far it came.
func TestExportOverABadConnection(t *testing.T) {
	s := queuetest.Redis(t)
	p := queuetest.NewProxy(t, s.Addr)
	c := open(t, p.URL)
	q := queue.Named("q")
	var want []string
	for i := range 8000 {
		want = append(want, fmt.Sprint("m", i))
	}
	rpush(t, s, q.Dead, want...)
	_, file := export(t, c, q, transfer.Options{Progress: func(transfer.Report) { p.Cut() }})
	if n := strings.Count(file, "\n"); n != len(want) {
		t.Errorf("%d lines, want %d", n, len(want))
	}
	var torn bytes.Buffer
	r, err := transfer.Export(t.Context(), c, q, transfer.Options{Progress: func(transfer.Report) {
		p.Refuse(true)
		p.Cut()
	}}, &torn)
	p.Refuse(false)
	if err == nil || r.Written.Sum() >= 8000 || int64(strings.Count(torn.String(), "\n")) != r.Written.Sum() {
		t.Errorf("%+v, %v", r, err)
	}
}
