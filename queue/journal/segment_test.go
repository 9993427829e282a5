package journal_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"redq/queue"
	"redq/queue/journal"
)

func openWith(t testing.TB, path string, o journal.Options) *journal.Journal {
	t.Helper()
	j, err := journal.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

// glob lists files beside a journal.
func glob(t testing.TB, path, pattern string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(filepath.Dir(path), pattern))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func segments(t testing.TB, path string) []string { return glob(t, path, "journal-*.jsonl") }
func indexes(t testing.TB, path string) []string  { return glob(t, path, "journal-*.idx") }

// removal is the intent to delete some messages in one step.
func removal(entry string, seq, n int) queue.Record {
	r := deletion(entry, seq, nil)
	r.Batch = &queue.Batch{}
	for i := range n {
		r.Batch.Payloads = append(r.Batch.Payloads, fmt.Appendf(nil, "%s/%d", entry, seq+i))
	}
	return r
}

// history returns appends of many operations that overlap, some of them cut short, undone, or both.
func history(random *rand.Rand, operations int) [][]queue.Record {
	type going struct {
		id         string
		bulk       bool
		seq, steps int
		asked      []int // seqs that wait for an answer or an undo
	}
	var all [][]queue.Record
	var now []*going
	for n := 0; n < operations || len(now) > 0; {
		if n < operations && (len(now) == 0 || random.IntN(3) == 0) {
			id := fmt.Sprintf("%s%d", strings.Repeat("id", random.IntN(8)), n)
			g := &going{id: id, bulk: random.IntN(2) == 0, steps: 1 + random.IntN(9)}
			now = append(now, g)
			n++
		}
		i := random.IntN(len(now))
		g := now[i]
		size := 1
		if g.bulk {
			size = 1 + random.IntN(3)
		}
		var rs []queue.Record
		switch what := random.IntN(10); {
		case what < 6 && g.steps > 0:
			r := deletion(g.id, g.seq, []byte(strings.Repeat("p", random.IntN(50))))
			if g.bulk {
				r = removal(g.id, g.seq, size)
			}
			r.Message.Key = fmt.Sprintf("key%d", random.IntN(3))
			r.Server = fmt.Sprintf("server%d", len(g.id)%2)
			rs = append(rs, r)
			g.asked = append(g.asked, g.seq)
			g.seq += size
			g.steps--
		case what < 8 && len(g.asked) > 0:
			kinds := []queue.RecordKind{queue.Answered, queue.UndoIntent, queue.Undone}
			outcomes := []queue.Outcome{queue.Done, queue.Gone, queue.Refused, queue.Unknown}
			for range 1 + random.IntN(3) {
				kind, o := kinds[random.IntN(3)], outcomes[random.IntN(4)]
				if kind == queue.UndoIntent {
					o = ""
				}
				rs = append(rs, answer(kind, g.id, g.asked[random.IntN(len(g.asked))], o))
			}
		case g.seq > 0:
			now = append(now[:i], now[i+1:]...)
			continue
		default:
			continue
		}
		all = append(all, rs)
	}
	return all
}

// wantSame wants two journals to say the same of everything.
func wantSame(t *testing.T, a, b *journal.Journal) {
	t.Helper()
	all, want := entries(t, a), entries(t, b)
	if !reflect.DeepEqual(all, want) {
		t.Fatalf("listed %d entries, want %d:\n%+v\n%+v", len(all), len(want), all, want)
	}
	for _, server := range []string{"server0", "server1", "none"} {
		x, err := a.Last(server)
		y, wantErr := b.Last(server)
		if !reflect.DeepEqual(x, y) || errors.Is(err, journal.ErrNotFound) != errors.Is(wantErr, journal.ErrNotFound) {
			t.Errorf("last on %s: %+v, %v; want %+v, %v", server, x, err, y, wantErr)
		}
	}
	for _, s := range want {
		x, y := load(t, a, s.ID), load(t, b, s.ID)
		if got, want := steps(t, x), steps(t, y); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: got %+v, want %+v", s.ID, got, want)
		}
		if x.Undoable() != s.Undoable {
			t.Errorf("%s: %d are undoable, and %d are listed so", s.ID, x.Undoable(), s.Undoable)
		}
		x.Batches, y.Batches = nil, nil
		if !reflect.DeepEqual(x, y) {
			t.Errorf("%s: got %+v, want %+v", s.ID, x, y)
		}
	}
}

func steps(t testing.TB, e queue.Entry) []queue.Item {
	t.Helper()
	var all []queue.Item
	if e.Batches == nil {
		return all
	}
	for i := range e.Batches.Len() {
		it, err := e.Batches.Step(i)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, it)
	}
	return all
}

// However the records are spread over segments, and whether there were indexes or not, they
// say the same as in one file.
func TestSegmentsSayWhatOneFileSays(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			whole := open(t, temp(t))
			path := temp(t)
			size := []int64{1, 700, 2500}[seed%3]
			cut := openWith(t, path, journal.Options{SegmentBytes: size})
			for _, rs := range history(random, 25) {
				mustAppend(t, whole, rs...)
				mustAppend(t, cut, rs...)
				if random.IntN(20) == 0 {
					entries(t, cut) // so that its index is extended
				}
			}
			if n := len(segments(t, path)); n < 3 {
				t.Fatalf("only %d segments", n)
			}
			wantSame(t, cut, whole)
			fresh := openWith(t, path, journal.Options{SegmentBytes: size})
			wantSame(t, fresh, whole)
			for _, index := range indexes(t, path) {
				if err := os.Remove(index); err != nil {
					t.Fatal(err)
				}
			}
			wantSame(t, fresh, whole)
			if n, m := len(indexes(t, path)), len(segments(t, path)); n != m {
				t.Errorf("%d indexes of %d segments", n, m)
			}
		})
	}
}

// A journal that was written before there were segments is one: the active one. When it is
// far too large for that it is sealed as it is.
func TestOneFileJournal(t *testing.T) {
	path := temp(t)
	whole := open(t, path)
	for _, rs := range history(rand.New(rand.NewPCG(7, 7)), 30) {
		mustAppend(t, whole, rs...)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old := temp(t)
	if err := os.WriteFile(old, text, 0o600); err != nil {
		t.Fatal(err)
	}
	wantSame(t, open(t, old), whole)
	if n := len(segments(t, old)); n != 0 {
		t.Fatalf("%d segments", n)
	}
	small := openWith(t, old, journal.Options{SegmentBytes: 1000})
	wantSame(t, small, whole)
	if got, err := os.ReadFile(segments(t, old)[0]); err != nil || string(got) != string(text) {
		t.Errorf("what was sealed is not what there was: %v", err)
	}
	mustAppend(t, small, deletion("next", 0, nil))
	if all := entries(t, small); all[0].ID != "next" || len(all) != len(entries(t, whole))+1 {
		t.Errorf("after the next: %s", ids(all))
	}
}

// Every file is the user's alone.
func TestOnlyTheUserCanReadSegments(t *testing.T) {
	path := filepath.Join(t.TempDir(), "redq", "journal.jsonl")
	j := openWith(t, path, journal.Options{SegmentBytes: 200}) // less than two records
	for i := range 4 {
		mustAppend(t, j, deletion(fmt.Sprint(i), 0, nil))
	}
	entries(t, j)
	unlock, err := j.Lock()
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	kinds := map[string]int{}
	for _, name := range glob(t, path, "*") {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("%s: %o", name, got)
		}
		kinds[filepath.Ext(name)]++
	}
	if kinds[".jsonl"] != 4 || kinds[".idx"] != 3 || kinds[".lock"] != 1 || len(kinds) != 4 { // the fourth names what is under way
		t.Errorf("files: %v", kinds)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if left := glob(t, path, "*.hold-*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// What an undo has loaded stays readable while its segments are sealed and dropped.
func TestLoadedStepsOutliveTheirSegments(t *testing.T) {
	path := temp(t)
	j := openWith(t, path, journal.Options{SegmentBytes: 400})
	for i := range 10 {
		mustAppend(t, j, removal("bulk", 3*i, 3))
	}
	e := load(t, j, "bulk")
	want := steps(t, e)
	mustAppend(t, j, deletion("next", 0, make([]byte, 500)))
	for _, name := range segments(t, path) {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if got := steps(t, e); len(got) != 10 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if _, err := j.Load("bulk"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("removed by hand: %v", err)
	}
}

// Reading goes on while others append, seal and drop.
func TestReadingBesideDropping(t *testing.T) {
	path := temp(t)
	var all sync.WaitGroup
	done := make(chan struct{})
	for w := range 2 {
		j := openWith(t, path, journal.Options{MaxBytes: 200_000, SegmentBytes: 10_000})
		all.Go(func() {
			defer func() { done <- struct{}{} }()
			defer j.Close() // else it holds its last entry for a while
			for i := range 150 {
				id := fmt.Sprintf("w%d-%d", w, i)
				if err := j.Append(removal(id, 0, 50)); err != nil {
					t.Error(err)
				}
				if err := j.Append(answer(queue.Answered, id, 0, queue.Done)); err != nil {
					t.Error(err)
				}
				if e, err := j.Load(id); err != nil || e.Undoable() != 50 {
					t.Errorf("%s: %d, %v", id, e.Undoable(), err)
				}
			}
		})
	}
	reader := openWith(t, path, journal.Options{})
	for running := 2; running > 0; {
		select {
		case <-done:
			running--
		default:
		}
		list, err := reader.Entries(0)
		if err != nil {
			t.Error(err)
		}
		seen := map[string]bool{}
		for _, s := range list {
			if seen[s.ID] || s.ID == "" {
				t.Errorf("%q is listed twice", s.ID)
			}
			seen[s.ID] = true
		}
	}
	all.Wait()
	wantWholeLines(t, path)
}
