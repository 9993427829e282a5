package journal_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/journal"
)

// bytesOf adds up the segments.
func bytesOf(t testing.TB, path string) int64 {
	t.Helper()
	var sum int64
	for _, name := range append(segments(t, path), path) {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		sum += info.Size()
	}
	return sum
}

// deleted is an operation that is over.
func deleted(t testing.TB, j *journal.Journal, id string, at time.Time) {
	t.Helper()
	r := deletion(id, 0, bytes.Repeat([]byte("x"), 100))
	r.Time = at
	mustAppend(t, j, r)
	mustAppend(t, j, answer(queue.Answered, id, 0, queue.Done))
}

// The oldest whole segments make room, and it is known what went with them.
func TestOldestAreDropped(t *testing.T) {
	const most = 10_000
	path := temp(t)
	j := openWith(t, path, journal.Options{MaxBytes: most, SegmentBytes: 1000})
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	var sum journal.Dropped
	for i := range 200 {
		deleted(t, j, fmt.Sprint("entry", i), start.Add(time.Duration(i)*time.Hour))
		if n := bytesOf(t, path); n > most {
			t.Fatalf("%d bytes after entry %d", n, i)
		}
		d := j.TakeDropped()
		if d.Entries > 0 && sum.Entries == 0 && !d.Oldest.Equal(start) {
			t.Errorf("the first that went was of %v", d.Oldest)
		}
		if d.Entries > 0 {
			sum = d
		}
	}
	all := entries(t, j)
	first := 200 - len(all)
	for i, s := range all {
		if want := fmt.Sprint("entry", 199-i); s.ID != want || s.Undoable != 1 || s.Lost != 0 {
			t.Fatalf("%+v, want %s", s, want)
		}
		load(t, j, s.ID)
	}
	if len(all) < 15 || len(all) > 60 {
		t.Errorf("%d entries are left", len(all))
	}
	if want := start.Add(time.Duration(first-1) * time.Hour); !sum.Newest.Equal(want) {
		t.Errorf("the last that went was of %v, want %v", sum.Newest, want)
	}
	if n, m := len(segments(t, path)), len(indexes(t, path)); m > n {
		t.Errorf("%d indexes of %d segments", m, n)
	}
	if d := j.TakeDropped(); d != (journal.Dropped{}) {
		t.Errorf("told twice: %+v", d)
	}
}

func TestDroppedAreCounted(t *testing.T) {
	path := temp(t)
	j := openWith(t, path, journal.Options{MaxBytes: 3000, SegmentBytes: 1})
	mustAppend(t, j, removal("a", 0, 7))
	mustAppend(t, j, answer(queue.Answered, "a", 0, queue.Done))
	mustAppend(t, j, removal("b", 0, 3), answer(queue.Answered, "b", 0, queue.Gone)) // nothing to undo in it
	mustAppend(t, j, deletion("c", 0, bytes.Repeat([]byte("x"), 1500)), answer(queue.Answered, "c", 0, queue.Done))
	mustAppend(t, j, deletion("d", 0, bytes.Repeat([]byte("x"), 2000)))
	if d := j.TakeDropped(); d.Entries != 2 || d.Messages != 8 {
		t.Errorf("%+v, want 2 entries of 8 messages", d)
	}
	if got := ids(entries(t, j)); got != "d" {
		t.Errorf("left: %s", got)
	}
}

// An operation that is larger than the journal may be is stopped; its own records are not
// dropped, and the answers and the undo of what it did can be written.
func TestFullOfOneEntry(t *testing.T) {
	path := temp(t)
	j := openWith(t, path, journal.Options{MaxBytes: 5000, SegmentBytes: 500})
	deleted(t, j, "before", time.Now())
	steps := 0
	var err error
	for ; steps < 100; steps++ {
		if err = j.Append(removal("bulk", 10*steps, 10)); err != nil {
			break
		}
		mustAppend(t, j, answer(queue.Answered, "bulk", 10*steps, queue.Done))
	}
	if !errors.Is(err, journal.ErrFull) || steps < 8 {
		t.Fatalf("after %d steps: %v", steps, err)
	}
	if err := j.Append(deletion("other", 0, bytes.Repeat([]byte("x"), 3000))); err != nil { // bulk is over, and may go
		t.Logf("other: %v", err)
	}
	e := load(t, j, "bulk")
	if e.Undoable()+int(e.Lost) != 10*steps {
		t.Errorf("%d of %d are undoable, %d lost", e.Undoable(), 10*steps, e.Lost)
	}
	for i := range e.Batches.Len() {
		it, err := e.Batches.Step(i)
		if err != nil {
			t.Fatal(err)
		}
		mustAppend(t, j, answer(queue.UndoIntent, "bulk", it.Seq, ""))
		mustAppend(t, j, answer(queue.Undone, "bulk", it.Seq, queue.Done))
	}
	if n := load(t, j, "bulk").Undoable(); n != 0 {
		t.Errorf("%d are undoable after the undo", n)
	}
}

// What another process is at work on stays, as long as that lives.
func TestHeldByAnother(t *testing.T) {
	for _, end := range []string{"answered", "killed"} {
		t.Run(end, func(t *testing.T) {
			path := temp(t)
			cmd := child(t, "hold", path)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if !bufio.NewScanner(out).Scan() {
				t.Fatal("the child did not ask")
			}
			j := openWith(t, path, journal.Options{MaxBytes: 2000, SegmentBytes: 1})
			large := deletion("large", 0, bytes.Repeat([]byte("x"), 1600))
			if err := j.Append(large); !errors.Is(err, journal.ErrFull) {
				t.Fatalf("while it is at work: %v", err)
			}
			if got := ids(entries(t, j)); got != "held" {
				t.Fatalf("what there is: %q", got)
			}
			if end == "killed" {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				_ = cmd.Wait() // it was killed
				mustAppend(t, j, large)
				if got := ids(entries(t, j)); got != "large" {
					t.Errorf("afterwards: %q", got)
				}
				if left := glob(t, path, "*.hold-*"); len(left) != 1 { // ours
					t.Errorf("files of the dead: %v", left)
				}
				return
			}
			if _, err := fmt.Fprintln(in); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			if left := glob(t, path, "*.hold-*"); len(left) != 1 { // a process that ends without Close
				t.Errorf("%v", left)
			}
			mustAppend(t, j, large)
		})
	}
}

// An entry of which the beginning was dropped says so, in the list and when it is loaded.
func TestPartlyDropped(t *testing.T) {
	for _, bulk := range []bool{true, false} {
		t.Run(fmt.Sprint(bulk), func(t *testing.T) {
			path := temp(t)
			j := openWith(t, path, journal.Options{SegmentBytes: 1})
			for i := range 6 {
				r := deletion("e", i, []byte("x"))
				if bulk {
					r = removal("e", 4*i, 4)
				}
				mustAppend(t, j, r)
				mustAppend(t, j, answer(queue.Answered, "e", r.Seq, queue.Done))
			}
			mustAppend(t, j, deletion("next", 0, nil))
			each, name := 1, segments(t, path)
			if bulk {
				each = 4
			}
			if s := entries(t, j)[1]; s.Lost != 0 || s.Total != 6*each {
				t.Fatalf("before: %+v", s)
			}
			for i := range 4 { // two intents and their answers
				if err := os.Remove(name[i]); err != nil {
					t.Fatal(err)
				}
			}
			all := entries(t, j)
			if ids(all) != "next e" || all[1].Lost != 2*each || all[1].Total != 4*each || all[1].Undoable != 4*each {
				t.Errorf("listed: %+v", all)
			}
			if e := load(t, j, "e"); e.Lost != int64(2*each) || e.Undoable() != 4*each || e.Op != queue.OpDelete {
				t.Errorf("loaded: %+v", e)
			}
			if e := load(t, j, "next"); e.Lost != 0 {
				t.Errorf("the next has lost %d", e.Lost)
			}
		})
	}
}
