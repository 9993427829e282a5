package queue_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redq/queue"
	"redq/queue/queuetest"
)

// allUnits are the units a delayed queue may have.
func allUnits() []queue.Unit {
	return []queue.Unit{queue.Milliseconds, queue.Seconds, queue.FloatSeconds, queue.Microseconds}
}

// awkwardScores are scores at and around every limit there is.
func awkwardScores(now time.Time) []float64 {
	scores := []float64{
		math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), -1, -1e300, 1e300, 1, 0.5, 1 << 53, 1<<53 + 1,
		math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64,
	}
	for _, u := range allUnits() {
		from, until := u.Range()
		scores = append(scores, from, until, math.Nextafter(from, 0), math.Nextafter(until, 0), math.Nextafter(until, math.Inf(1)))
		for _, d := range []time.Duration{0, time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour, 1000 * time.Hour} {
			for _, at := range []time.Time{now.Add(d), now.Add(-d)} {
				v, _ := u.Score(at).Float()
				scores = append(scores, v)
			}
		}
	}
	return scores
}

func TestDistributionCountsEveryScoreOnce(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		ctx := t.Context()
		scores := awkwardScores(time.Now())
		rnd := rand.New(rand.NewPCG(1, 2))
		for range 500 {
			scores = append(scores, math.Pow(10, rnd.Float64()*20)*float64(rnd.IntN(3)-1)/2)
		}
		for i, score := range scores {
			if err := s.Client.ZAdd(ctx, "orders:delayed", redis.Z{Score: score, Member: fmt.Sprint(i)}).Err(); err != nil {
				t.Fatal(err)
			}
		}
		c := reader(t, s.URL)
		for _, u := range allUnits() {
			q := queue.Named("orders")
			q.Unit = u
			d, err := c.Distribution(ctx, q)
			if err != nil {
				t.Fatal(err)
			}
			var bins, misfits int64
			for _, b := range d.Bins {
				bins += b.N
			}
			for _, m := range d.Misfits {
				misfits += m.N
			}
			if bins+misfits != int64(len(scores)) || d.Total != int64(len(scores)) {
				t.Errorf("%s: %d in bins + %d misfits, total %d; want %d", u, bins, misfits, d.Total, len(scores))
			}
			var fit int64
			for _, score := range scores {
				if u.Fits(score) {
					fit++
				}
			}
			if bins != fit {
				t.Errorf("%s: %d in bins, %d scores fit", u, bins, fit)
			}
		}
	})
}

func TestDistributionPlacesScores(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		ctx := t.Context()
		now := time.Now()
		for _, u := range allUnits() {
			s.Client.Del(ctx, "orders:delayed")
			q := queue.Named("orders")
			q.Unit = u
			// One in the middle of each bin, so that the time the test takes does not matter.
			dues := []time.Duration{
				-48 * time.Hour, -12 * time.Hour, -30 * time.Minute, -5 * time.Minute, -35 * time.Second, -5 * time.Second,
				8 * time.Second, 45 * time.Second, 5 * time.Minute, 30 * time.Minute, 12 * time.Hour, 48 * time.Hour,
			}
			for i, due := range dues {
				v, _ := u.Score(now.Add(due)).Float()
				s.Client.ZAdd(ctx, "orders:delayed", redis.Z{Score: v, Member: fmt.Sprint(i)})
			}
			odd := map[string]float64{"negative": -5, "infinite": math.Inf(1), "too small": 7, "too large": 1e18}
			for _, other := range []queue.Unit{queue.Milliseconds, queue.Seconds, queue.Microseconds} {
				if other.String() != u.String() {
					odd["looks like "+other.String()], _ = other.Score(now).Float()
				}
			}
			for reason, score := range odd {
				s.Client.ZAdd(ctx, "orders:delayed", redis.Z{Score: score, Member: reason})
			}

			d, err := reader(t, s.URL).Distribution(ctx, q)
			if err != nil {
				t.Fatal(err)
			}
			if len(d.Bins) != len(dues) {
				t.Fatalf("%d bins", len(d.Bins))
			}
			for i, b := range d.Bins {
				if b.N != 1 || b.From > dues[i] || b.Until <= dues[i] {
					t.Errorf("%s: bin %v to %v holds %d, want the one due in %v", u, b.From, b.Until, b.N, dues[i])
				}
				if i > 0 && d.Bins[i-1].Until != b.From {
					t.Errorf("%s: a gap before %v", u, b.From)
				}
			}
			if d.Bins[0].From != queue.MinSpan || d.Bins[6].From != 0 || d.Bins[11].Until != queue.MaxSpan {
				t.Errorf("%s: the ends and now are no edges: %+v", u, d.Bins)
			}
			for _, m := range d.Misfits {
				if _, ok := odd[m.Reason]; !ok || m.N != 1 {
					t.Errorf("%s: misfit %+v", u, m)
				}
			}
			if len(d.Misfits) != len(odd) || d.Unit != u {
				t.Errorf("%s: misfits %+v, want %v", u, d.Misfits, odd)
			}
			if next := d.NextDue.Sub(now); next < 7*time.Second || next > 10*time.Second {
				t.Errorf("%s: next due in %v, want 8 s", u, next)
			}
			if d.Overdue < 48*time.Hour-time.Second || d.Overdue > 49*time.Hour {
				t.Errorf("%s: overdue by %v, want 48 h", u, d.Overdue)
			}
		}
	})
}

func TestDistributionErrors(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		rpush(t, s, "orders:delayed", "x")
		c := reader(t, s.URL)
		if _, err := c.Distribution(t.Context(), queue.Named("orders")); !errors.Is(err, queue.ErrWrongType) {
			t.Errorf("%v, want ErrWrongType", err)
		}
		if _, err := c.Distribution(t.Context(), queue.Queue{Name: "q", Ready: "r"}); !errors.Is(err, queue.ErrNoSuchPlace) {
			t.Errorf("%v, want ErrNoSuchPlace", err)
		}
		d, err := c.Distribution(t.Context(), queue.Named("empty"))
		if err != nil || d.Total != 0 || len(d.Bins) != 12 || d.Misfits != nil {
			t.Errorf("of nothing: %+v, %v", d, err)
		}
	})
	t.Run("scripts and time denied", func(t *testing.T) {
		s := queuetest.Redis(t)
		v, _ := queue.Milliseconds.Score(time.Now().Add(time.Hour)).Float()
		s.Client.ZAdd(t.Context(), "orders:delayed", redis.Z{Score: v, Member: "x"})
		c := reader(t, s.User("eve", "pw", "~* +zcount"))
		for range 2 {
			d, err := c.Distribution(t.Context(), queue.Named("orders"))
			if err != nil || d.Total != 1 || !d.NextDue.IsZero() {
				t.Errorf("%+v, %v", d, err)
			}
		}
	})
}

// fill adds n members with scores from a day ago to a day ahead.
func fill(b *testing.B, s *queuetest.Server, key string, n int) {
	b.Helper()
	const step = 10000
	start := time.Now().Add(-24 * time.Hour).UnixMilli()
	for i := 0; i < n; i += step {
		zs := make([]redis.Z, step)
		for j := range zs {
			zs[j] = redis.Z{Score: float64(start + int64(i+j)*172800000/int64(n)), Member: i + j}
		}
		if err := s.Client.ZAdd(b.Context(), key, zs...).Err(); err != nil {
			b.Fatal(err)
		}
	}
}

// large returns 1e6, and 1e7 too when REDQ_BENCH_LARGE=1.
func large() []int {
	if os.Getenv("REDQ_BENCH_LARGE") == "1" {
		return []int{1e6, 1e7}
	}
	return []int{1e6}
}

func BenchmarkDistribution(b *testing.B) {
	for _, n := range large() {
		b.Run(fmt.Sprintf("of=%d", n), func(b *testing.B) {
			s := queuetest.Redis(b)
			fill(b, s, "orders:delayed", n)
			c := reader(b, s.URL)
			cpu := serverCPU(b, s)
			b.ResetTimer()
			for b.Loop() {
				if d, err := c.Distribution(b.Context(), queue.Named("orders")); err != nil || d.Total != int64(n) {
					b.Fatal(d.Total, err)
				}
			}
			reportCPU(b, cpu, serverCPU(b, s))
		})
	}
}
