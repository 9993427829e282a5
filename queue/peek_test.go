package queue_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"redq/queue"
	"redq/queue/queuetest"
)

// payloads returns a page's payloads.
func payloads(ms []queue.Message) []string {
	var all []string
	for _, m := range ms {
		all = append(all, string(m.Payload))
	}
	return all
}

func numbered(from, until int) []string {
	var all []string
	for i := from; i < until; i++ {
		all = append(all, fmt.Sprintf("m%05d", i))
	}
	return all
}

// restricted returns clients of a server: one with all rights, and on a real
// server one of a user who may run no scripts.
func restricted(t *testing.T, s *queuetest.Server) map[string]*queue.Client {
	clients := map[string]*queue.Client{"scripts": reader(t, s.URL)}
	if s.Mini == nil {
		clients["no scripts"] = reader(t, s.User("eve", "pw", "~* +@all -@scripting"))
		clients["resp3"] = reader(t, s.URL+"?protocol=3")
		clients["resp3, no scripts"] = reader(t, "redis://eve:pw@"+s.Addr+"?protocol=3")
	}
	return clients
}

func TestPeekWindows(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		rpush(t, s, "orders", numbered(0, 100)...)
		for name, c := range restricted(t, s) {
			for _, tt := range []struct {
				from int64
				n    int
				want []string
			}{
				{0, 3, numbered(0, 3)},
				{40, 30, numbered(40, 70)},
				{97, 10, numbered(97, 100)},
				{100, 5, nil},
				{1000, 5, nil},
				{-5, 2, numbered(0, 2)},
				{0, 0, nil},
				{0, 200, numbered(0, 100)},
			} {
				page, err := c.Peek(t.Context(), queue.Named("orders"), queue.Ready, tt.from, tt.n)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if got := payloads(page.Messages); !slices.Equal(got, tt.want) {
					t.Errorf("%s: from %d n %d: got %v, want %v", name, tt.from, tt.n, got, tt.want)
				}
				if page.Total != 100 || page.Now.IsZero() || page.From < 0 || page.From > 100 {
					t.Errorf("%s: page %+v", name, page)
				}
				for i, m := range page.Messages {
					if m.Index != page.From+int64(i) || m.Len != 100 || m.Key != "orders" || m.Place != queue.Ready || !m.Complete() {
						t.Errorf("%s: message %+v", name, m)
					}
				}
			}
		}
	})
}

func TestPeekShowsScoresAsTheServerHasThem(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		scores := []float64{math.Inf(-1), -3, 0, 1.5, 1754000000.123456, 9007199254740993, math.Inf(1)}
		for i, score := range scores {
			s.Client.ZAdd(t.Context(), "orders:delayed", redis.Z{Score: score, Member: fmt.Sprint(i)})
		}
		for name, c := range restricted(t, s) {
			page, err := c.Peek(t.Context(), queue.Named("orders"), queue.Delayed, 0, 100)
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Messages) != len(scores) {
				t.Fatalf("%s: %d messages, want %d", name, len(page.Messages), len(scores))
			}
			for i, m := range page.Messages {
				if v, ok := m.Score.Float(); !ok || v != scores[i] || string(m.Payload) != fmt.Sprint(i) {
					t.Errorf("%s: %s has score %s, want %v", name, m.Payload, m.Score, scores[i])
				}
			}
			if s.Mini == nil {
				if m := page.Messages[5]; m.Score != "9007199254740992" {
					t.Errorf("%s: score %s, want the server's own text", name, m.Score)
				}
			}
		}
	})
}

func TestPeekKeepsBytes(t *testing.T) {
	hostile := []string{"", "\x00\xff\xfe", "a\r\nb", "\x1b]52;c;x\a", "\xc3\x28", "日本語", strings.Repeat("é", 5000)}
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		key := "k \n\xff\x1b[31m"
		rpush(t, s, key, hostile...)
		q := queue.Queue{Name: "q", Ready: key}
		for name, c := range restricted(t, s) {
			page, err := c.Peek(t.Context(), q, queue.Ready, 0, 100)
			if err != nil {
				t.Fatal(err)
			}
			if got := payloads(page.Messages); !slices.Equal(got, hostile) {
				t.Errorf("%s: got %q", name, got)
			}
		}
	})
}

func TestPeekCutsLargePayloadsOnTheServer(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	const size = 20 << 20
	s := queuetest.Redis(t)
	big := make([]byte, size)
	for i := range big {
		big[i] = byte(i * 7)
	}
	copy(big[size-8:], "the end.")
	ctx := t.Context()
	s.Client.RPush(ctx, "orders", "small", big, "other")
	s.Client.ZAdd(ctx, "orders:delayed", redis.Z{Score: 1, Member: big})
	p := queuetest.NewProxy(t, s.Addr)
	c := reader(t, p.URL)
	q := queue.Named("orders")
	sampler := c.NewSampler()

	before := p.ToClient()
	page, err := c.Peek(ctx, q, queue.Ready, 0, 50)
	if err != nil {
		t.Fatal(err)
	}
	delayed, err := c.Peek(ctx, q, queue.Delayed, 0, 50)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := sampler.Sample(ctx, []queue.Queue{q}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Distribution(ctx, q); err != nil {
		t.Fatal(err)
	}
	if n := p.ToClient() - before; n > 1<<20 {
		t.Errorf("%d bytes travelled for pages, polls and a distribution", n)
	}

	for _, m := range []queue.Message{page.Messages[1], delayed.Messages[0]} {
		if m.Size != size || m.Complete() || len(m.Payload) != queue.HeadBytes || !bytes.HasSuffix(m.Tail, []byte("the end.")) {
			t.Errorf("size %d, head %d bytes, tail %q", m.Size, len(m.Payload), m.Tail)
		}
		whole, err := c.Load(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(whole.Payload, big) || whole.Tail != nil || !whole.Complete() {
			t.Error("Load returned other bytes")
		}
	}
	if got := payloads(page.Messages); got[0] != "small" || got[2] != "other" {
		t.Errorf("neighbours %q and %q", got[0], got[2])
	}
}

func TestPeekReadsManyHugePayloadsInSteps(t *testing.T) {
	t.Parallel()
	s := queuetest.Redis(t)
	huge := strings.Repeat("x", 7<<20)
	var want []string
	for i := range 5 {
		s.Client.RPush(t.Context(), "orders", fmt.Sprint(i)+huge)
		want = append(want, fmt.Sprint(i))
	}
	page, err := reader(t, s.URL).Peek(t.Context(), queue.Named("orders"), queue.Ready, 0, 50)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, m := range page.Messages {
		got = append(got, string(m.Payload[:1]))
		if m.Index != int64(i) {
			t.Errorf("message %d has index %d", i, m.Index)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestPeekOverSeveralBackups(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		q := queue.Queue{Name: "q", Backups: []string{"b:1", "b:gone", "b:2", "b:wrong", "b:3"}}
		rpush(t, s, "b:1", "a", "b")
		rpush(t, s, "b:2", "c")
		rpush(t, s, "b:3", "d", "e", "f")
		s.Client.Set(t.Context(), "b:wrong", "x", 0)
		c := reader(t, s.URL)
		for _, tt := range []struct {
			from int64
			n    int
			want string
		}{{0, 10, "abcdef"}, {1, 3, "bcd"}, {2, 1, "c"}, {3, 2, "de"}, {5, 9, "f"}, {6, 9, ""}} {
			page, err := c.Peek(t.Context(), q, queue.Backup, tt.from, tt.n)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(payloads(page.Messages), ""); got != tt.want || page.Total != 6 || page.From != tt.from {
				t.Errorf("from %d n %d: %q of %d from %d, want %q of 6", tt.from, tt.n, got, page.Total, page.From, tt.want)
			}
		}
		page, _ := c.Peek(t.Context(), q, queue.Backup, 4, 1)
		if m := page.Messages[0]; m.Key != "b:3" || m.Index != 1 || m.Len != 3 {
			t.Errorf("place of a message in its own key: %+v", m)
		}
	})
}

func TestPeekErrors(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		s.Client.Set(t.Context(), "orders", "x", 0)
		rpush(t, s, "orders:delayed", "x")
		for name, c := range restricted(t, s) {
			for _, p := range []queue.Place{queue.Ready, queue.Delayed} {
				if _, err := c.Peek(t.Context(), queue.Named("orders"), p, 0, 10); !errors.Is(err, queue.ErrWrongType) {
					t.Errorf("%s: %s: %v, want ErrWrongType", name, p, err)
				}
			}
			if _, err := c.Peek(t.Context(), queue.Queue{Name: "q", Ready: "r"}, queue.Dead, 0, 10); !errors.Is(err, queue.ErrNoSuchPlace) {
				t.Errorf("%s: %v, want ErrNoSuchPlace", name, err)
			}
			page, err := c.Peek(t.Context(), queue.Queue{Name: "q", Ready: "missing"}, queue.Ready, 0, 10)
			if err != nil || page.Total != 0 || page.Messages != nil {
				t.Errorf("%s: a missing key: %+v, %v", name, page, err)
			}
		}
	})
	t.Run("denied key", func(t *testing.T) {
		s := queuetest.Redis(t)
		c := reader(t, s.User("eve", "pw", "~other +@all"))
		_, err := c.Peek(t.Context(), queue.Named("orders"), queue.Ready, 0, 10)
		var refused *queue.RefusedError
		if !errors.As(err, &refused) || refused.Code != "NOPERM" {
			t.Errorf("%v, want a refusal", err)
		}
	})
	t.Run("outage", func(t *testing.T) {
		s := queuetest.Redis(t)
		c := reader(t, s.URL)
		s.Stop()
		_, err := c.Peek(t.Context(), queue.Named("orders"), queue.Ready, 0, 10)
		if got := queue.Explain(err); got != "nobody listens at "+s.Addr {
			t.Errorf("Explain: %q", got)
		}
		s.Start()
		rpush(t, s, "orders", "a")
		if page, err := c.Peek(t.Context(), queue.Named("orders"), queue.Ready, 0, 10); err != nil || page.Total != 1 {
			t.Errorf("after the restart: %+v, %v", page, err)
		}
	})
}

func TestPeekOnAReplica(t *testing.T) {
	master := queuetest.Redis(t, "--repl-diskless-sync-delay", "0")
	rpush(t, master, "orders", "a", "b")
	host, port, _ := strings.Cut(master.Addr, ":")
	replica := queuetest.Redis(t, "--replicaof", host, port)
	eventually(t, func() bool { return replica.Client.LLen(t.Context(), "orders").Val() == 2 })
	page, err := reader(t, replica.URL).Peek(t.Context(), queue.Named("orders"), queue.Ready, 0, 10)
	if err != nil || !slices.Equal(payloads(page.Messages), []string{"a", "b"}) {
		t.Errorf("%v, %v", page, err)
	}
}

func TestLoadFindsTheMessageAgain(t *testing.T) {
	long := strings.Repeat("z", queue.HeadBytes+1)
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		for name, c := range restricted(t, s) {
			for _, payload := range []string{"short", "A" + long + "A"} {
				ctx := t.Context()
				s.Client.Del(ctx, "orders", "orders:delayed")
				rpush(t, s, "orders", "before", payload, "A"+long+"B", "B"+long+"A")
				s.Client.ZAdd(ctx, "orders:delayed", redis.Z{Score: 5, Member: payload}, redis.Z{Score: 5, Member: "A" + long + "C"})
				list, err := c.Peek(ctx, queue.Named("orders"), queue.Ready, 1, 1)
				if err != nil {
					t.Fatal(err)
				}
				m := list.Messages[0]

				s.Client.LPush(ctx, "orders", "x1", "x2") // it moves to 3
				got, err := c.Load(ctx, m)
				if err != nil || string(got.Payload) != payload || got.Index != 3 || got.Len != 6 {
					t.Errorf("%s: after a push: index %d of %d, %v", name, got.Index, got.Len, err)
				}
				s.Client.LRem(ctx, "orders", 1, payload)
				if _, err := c.Load(ctx, m); !errors.Is(err, queue.ErrGone) {
					t.Errorf("%s: after it was taken: %v, want ErrGone", name, err)
				}

				set, err := c.Peek(ctx, queue.Named("orders"), queue.Delayed, 0, 10)
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range set.Messages {
					if strings.HasPrefix(string(m.Tail), "z") && strings.HasSuffix(string(m.Tail), "C") {
						continue
					}
					s.Client.ZAdd(ctx, "orders:delayed", redis.Z{Score: 1, Member: "earlier"})
					got, err := c.Load(ctx, m)
					if err != nil || string(got.Payload) != payload || got.Score != "5" {
						t.Errorf("%s: in a set: score %s, %v", name, got.Score, err)
					}
					s.Client.ZRem(ctx, "orders:delayed", payload)
					if _, err := c.Load(ctx, m); !errors.Is(err, queue.ErrGone) {
						t.Errorf("%s: in a set, after it was taken: %v, want ErrGone", name, err)
					}
				}
			}
		}
	})
}

func TestCopies(t *testing.T) {
	long := strings.Repeat("z", queue.HeadBytes+1)
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		clients := restricted(t, s)
		if s.Mini == nil {
			clients["no LPOS"] = reader(t, s.User("old", "pw", "~* +@all -lpos"))
		}
		var entries []string
		for i := range 30 {
			entries = append(entries, fmt.Sprint(i))
			if i%10 == 5 {
				entries = append(entries, "dup", long)
			}
		}
		rpush(t, s, "orders", entries...) // dup at 6, 18, 30 of 36
		s.Client.ZAdd(t.Context(), "orders:delayed", redis.Z{Score: 1, Member: "dup"})
		message := func(payload string) queue.Message {
			return queue.Message{Place: queue.Ready, Key: "orders", Payload: []byte(payload), Size: int64(len(payload)), Len: 36}
		}
		cut := message(long)
		cut.Payload, cut.Tail = cut.Payload[:queue.HeadBytes], cut.Payload[len(long)-queue.TailBytes:]
		set := message("dup")
		set.Place, set.Key = queue.Delayed, "orders:delayed"
		none := set
		none.Payload = []byte("other")
		for name, c := range clients {
			for _, tt := range []struct {
				m     queue.Message
				limit int64
				n     int64
				more  bool
			}{
				{message("dup"), 100, 3, false},
				{message("dup"), 18, 3, false},
				{message("dup"), 20, 3, false}, // both ends' windows overlap: none twice
				{message("dup"), 10, 2, true},
				{message("dup"), 3, 0, true},
				{message("other"), 100, 0, false},
				{cut, 100, 3, false},
				{set, 100, 1, false},
				{none, 100, 0, false},
			} {
				n, more, err := c.Copies(t.Context(), tt.m, tt.limit)
				if err != nil || n != tt.n || more != tt.more {
					t.Errorf("%s: %.10s within %d: %d, more %v, %v; want %d, %v", name, tt.m.Payload, tt.limit, n, more, err, tt.n, tt.more)
				}
			}
			wrong := message("dup")
			wrong.Key = "orders:delayed"
			if _, _, err := c.Copies(t.Context(), wrong, 10); !errors.Is(err, queue.ErrWrongType) {
				t.Errorf("%s: %v, want ErrWrongType", name, err)
			}
		}
	})
}
