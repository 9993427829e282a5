package journal

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"redq/queue"
)

func intent(entry string, seq int, payload string) queue.Record {
	return queue.Record{
		Kind: queue.Intent, Entry: entry, Seq: seq, Time: time.Unix(0, 0).UTC(), Server: "s", Queue: "q", Op: queue.OpDelete,
		Message: queue.Message{Place: queue.Dead, Key: "k", Payload: []byte(payload), Size: int64(len(payload))},
	}
}

func testJournal(t testing.TB, o Options) *Journal {
	t.Helper()
	j, err := Open(filepath.Join(t.TempDir(), "journal.jsonl"), o)
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

func mustAppend(t testing.TB, j *Journal, rs ...queue.Record) {
	t.Helper()
	if err := j.Append(rs...); err != nil {
		t.Fatal(err)
	}
}

// byMessage is what runs say of each number.
func (rs runs) byMessage() map[int32]fact {
	all := map[int32]fact{}
	for _, r := range rs {
		for i := range r.count {
			all[r.at(i)] = r.fact
		}
	}
	return all
}

func TestRunsJoinLikeFacts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	facts := []fact{{n: 1}, {n: 3}, {n: 1, outcome: 1}, {outcome: 2}, {undone: 1}, {undone: undoBegun}, {n: 1, undone: 3}}
	some := func() (runs, map[int32]fact) {
		var rs runs
		all := map[int32]fact{}
		seq, step := int32(random.IntN(9)-3), int32(1+random.IntN(3))
		for range random.IntN(20) {
			if random.IntN(4) == 0 {
				step = int32(1 + random.IntN(3))
			}
			f := facts[random.IntN(len(facts))]
			for range 1 + random.IntN(4) {
				rs, all[seq] = rs.add(run{seq: seq, step: 1, count: 1, fact: f}), f
				seq += step
			}
		}
		return rs, all
	}
	for range 3000 {
		a, inA := some()
		b, inB := some()
		if !maps.Equal(a.byMessage(), inA) {
			t.Fatalf("%v is %v", inA, a)
		}
		want := maps.Clone(inA)
		for seq, f := range inB {
			want[seq] = want[seq].then(f)
		}
		got := a.then(b)
		if !maps.Equal(got.byMessage(), want) {
			t.Fatalf("%v then %v is %v, want %v", a, b, got.byMessage(), want)
		}
		if !slices.IsSortedFunc(got, func(x, y run) int { return int(x.last()) - int(y.seq) }) {
			t.Fatalf("out of order: %v", got)
		}
	}
}

// A million equal outcomes take no room, whichever way they come together.
func TestRunsStayShort(t *testing.T) {
	var asked, answered runs
	for i := range int32(100_000) {
		asked = asked.add(run{seq: 1000 * i, step: 1, count: 1, fact: fact{n: 1000}})
		answered = answered.add(run{seq: 1000 * i, step: 1, count: 1, fact: fact{outcome: 1}})
	}
	joined := asked.then(answered)
	if len(joined) != 1 || joined[0] != (run{seq: 0, step: 1000, count: 100_000, fact: fact{n: 1000, outcome: 1}}) {
		t.Errorf("%d runs: %v", len(joined), joined[0])
	}
	if all, undoable := joined.messages(); all != 100_000_000 || undoable != all {
		t.Errorf("%d of %d", undoable, all)
	}
	ends := runs{}.add(run{seq: -1 << 31, step: 1, count: 1}).add(run{seq: 1<<31 - 1, step: 1, count: 1})
	if got := ends.then(ends); len(got) != 2 {
		t.Errorf("the ends of the range: %v", got)
	}
}

func exampleTable() table {
	d := newDrafting(100)
	var text []byte
	for i := range 20 {
		for _, r := range []queue.Record{
			intent(fmt.Sprint("entry", i%7), i, "p"), intent("purge", -1-i%2, ""),
			{Kind: queue.Answered, Entry: fmt.Sprint("entry", i%5), Seq: i, Outcome: queue.Done},
			{Kind: queue.UndoIntent, Entry: "elsewhere", Seq: i},
		} {
			r.Message.Key = fmt.Sprint("key", i%3)
			line, err := r.MarshalJSON()
			if err != nil {
				panic(err)
			}
			text = append(append(text, line...), '\n')
		}
	}
	err := scanLines(bytes.NewReader(text), func(l line) error {
		l.offset += 100
		d.add(l)
		return nil
	})
	if err != nil {
		panic(err)
	}
	return d.table()
}

func TestTableComesBack(t *testing.T) {
	for _, want := range []table{exampleTable(), {from: 5, to: 9, entries: []share{}}} {
		b := want.encode(nil)
		got, err := decodeTable(want.from, want.to, b)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
		for cut := range b {
			if got, err := decodeTable(want.from, want.to, b[:cut]); err == nil {
				t.Errorf("cut at %d of %d it is %+v", cut, len(b), got)
			}
		}
	}
}

func FuzzDecodeTable(f *testing.F) {
	example := exampleTable()
	f.Add(example.encode(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := decodeTable(0, 1<<20, b)
		if err != nil {
			return
		}
		for _, s := range got.entries { // as it is used
			s.runs.messages()
			_ = s.runs.then(s.runs)
		}
	})
}

// What an index says is believed only when it is whole and that of the segment as it is.
func TestDamagedIndex(t *testing.T) {
	j := testJournal(t, Options{SegmentBytes: 1500})
	for i := range 20 {
		mustAppend(t, j, intent(fmt.Sprint("e", i), 0, "payload"), queue.Record{Kind: queue.Answered, Entry: fmt.Sprint("e", i), Outcome: queue.Done})
	}
	want, err := j.Entries(0)
	if err != nil {
		t.Fatal(err)
	}
	j.background.Wait()
	path, other := j.names.index(1), j.names.index(2)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	try := func(what string, b []byte) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := j.Entries(0); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %+v, %v", what, got, err)
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, good) {
			t.Fatalf("%s: it was not made anew: %v", what, err)
		}
	}
	for i := range good {
		flipped := bytes.Clone(good)
		flipped[i] ^= 0x40
		try(fmt.Sprint("flipped byte ", i), flipped)
		try(fmt.Sprint("cut at ", i), good[:i])
	}
	foreign, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	try("that of another segment", foreign)
	try("a hole", append(bytes.Clone(good[:headerBytes]), make([]byte, len(good)-headerBytes)...))

	// A segment that somebody has changed is read again.
	text, err := os.ReadFile(j.names.segment(1))
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.ReplaceAll(text, []byte(`"e0"`), []byte(`"E0"`))
	if err := os.WriteFile(j.names.segment(1), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := j.Entries(0); err != nil || got[len(got)-1].ID != "E0" {
		t.Errorf("changed: %+v, %v", got, err)
	}
}

// Where no index can be kept there is none, and all goes on.
func TestIndexThatCannotBeKept(t *testing.T) {
	j := testJournal(t, Options{SegmentBytes: 1})
	if err := os.MkdirAll(filepath.Join(j.names.index(1), "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, j, intent("a", 0, "x"))
	mustAppend(t, j, intent("b", 0, "x"))
	if all, err := j.Entries(0); err != nil || len(all) != 2 {
		t.Errorf("%+v, %v", all, err)
	}
	left, err := filepath.Glob(j.names.index(1) + ".*")
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// blot overwrites the lines of a file from an offset on, and leaves its size and time alone.
func blot(t *testing.T, path string, from, to int64) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt(bytes.Repeat([]byte("#"), int(to-from)), from); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
}

// Lists and loads read the indexes, and of the segments no more than the lines they show.
func TestSegmentsAreNotReadAgain(t *testing.T) {
	j := testJournal(t, Options{SegmentBytes: 40_000})
	mustAppend(t, j, intent("first", 0, "f"))
	mustAppend(t, j, intent("noise", 0, strings.Repeat("n", 20_000)))
	mustAppend(t, j, intent("second", 0, "s"))
	mustAppend(t, j, intent("third", 0, strings.Repeat("t", 30_000))) // in the next segment
	if all, err := j.Entries(0); err != nil || len(all) != 4 {
		t.Fatal(all, err)
	}
	blot(t, j.names.segment(1), 10_000, 15_000)
	// The active one is extended from where it stopped.
	blot(t, j.path, 10_000, 15_000)
	mustAppend(t, j, intent("fourth", 0, "4"))
	all, err := j.Entries(0)
	if err != nil || len(all) != 5 || all[0].ID != "fourth" || all[1].ID != "third" || all[4].ID != "first" {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, id := range []string{"first", "second", "fourth"} {
		if e, err := j.Load(id); err != nil || len(e.Items) != 1 {
			t.Errorf("%s: %+v, %v", id, e, err)
		}
	}
}

// A file has as many tables as its size asks for; they say together what it says.
func TestManyTables(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	j := testJournal(t, Options{})
	filler := strings.Repeat("f", 100_000)
	const n = 300
	for i := range n {
		mustAppend(t, j, intent("long", i, filler), intent(fmt.Sprint("short", i), 0, "s"))
	}
	check := func(when string) {
		t.Helper()
		all, err := j.Entries(0)
		if err != nil || len(all) != n+1 || all[n].ID != "long" || all[n].Total != n || all[0].ID != fmt.Sprint("short", n-1) {
			t.Fatalf("%s: %d entries, %v", when, len(all), err)
		}
		if e, err := j.Load("long"); err != nil || len(e.Items) != n || e.Lost != 0 {
			t.Errorf("%s: %d items, %v", when, len(e.Items), err)
		}
		if e, err := j.Load("short7"); err != nil || len(e.Items) != 1 {
			t.Errorf("%s: %d items, %v", when, len(e.Items), err)
		}
	}
	check("active")
	if got := len(j.active.made.frames); got < 3 {
		t.Errorf("%d tables of the active segment", got)
	}
	if _, err := j.names.seal(); err != nil {
		t.Fatal(err)
	}
	check("sealed")
	check("indexed")
}

// What a crash left of an index in the making goes when the index is made anew.
func TestTemporaryFilesGo(t *testing.T) {
	j := testJournal(t, Options{SegmentBytes: 1})
	stale := j.names.index(1) + ".123" + tempExt
	if err := os.WriteFile(stale, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, j, intent("a", 0, "x"))
	mustAppend(t, j, intent("b", 0, "x"))
	j.background.Wait()
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}

// BenchmarkIndexing reads operations on one message each.
func BenchmarkIndexing(b *testing.B) {
	var text []byte
	for i := range 50_000 {
		id := fmt.Sprintf("E%010d", i)
		text, _ = intent(id, 0, "payload").AppendJSON(text)
		text = append(text, '\n')
		text, _ = queue.Record{Kind: queue.Answered, Entry: id, Outcome: queue.Done}.AppendJSON(text)
		text = append(text, '\n')
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if err := scanLines(bytes.NewReader(text), newIndexing(io.Discard, 0).add); err != nil {
			b.Fatal(err)
		}
	}
}
