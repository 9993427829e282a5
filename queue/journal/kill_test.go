package journal_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/journal"
)

// kill -9 at any moment of appending, sealing and indexing: every record whose Append has
// returned is in the journal, and all of it can be read, also while another process goes on.
func TestKilledWhileSealing(t *testing.T) {
	rounds := 50
	if testing.Short() {
		rounds = 8
	}
	const size, segment = 3000, 20_000
	path := temp(t)
	segmented := fmt.Sprintf("%s=%d", envMost, segment)
	start := func(name string) (want func() []string, kill func()) {
		cmd := child(t, "append", path, envName+"="+name, envCount+"=0", fmt.Sprintf("%s=%d", envSize, size), segmented)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		var all []string
		for range 1 + rand.IntN(5) {
			if !lines.Scan() {
				t.Fatalf("%s ended by itself", name)
			}
			all = append(all, lines.Text())
		}
		kill = func() {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			for lines.Scan() {
				all = append(all, lines.Text())
			}
			if err := cmd.Wait(); err == nil {
				t.Fatal("the child was not killed")
			}
		}
		return func() []string { return all }, kill
	}

	var want []string
	reader := openWith(t, path, journal.Options{SegmentBytes: segment})
	for round := range rounds {
		first, killFirst := start(fmt.Sprintf("round%d.a", round))
		second, killSecond := start(fmt.Sprintf("round%d.b", round))
		time.Sleep(rand.N(4 * time.Millisecond))
		var listing sync.WaitGroup
		listing.Go(func() { // writes indexes, too
			if _, err := reader.Entries(0); err != nil {
				t.Error(err)
			}
		})
		killFirst()
		time.Sleep(rand.N(2 * time.Millisecond))
		killSecond()
		listing.Wait()
		want = append(append(want, first()...), second()...)
	}
	rand.Shuffle(len(want), func(i, k int) { want[i], want[k] = want[k], want[i] })
	wantSaved(t, path, want[:min(len(want), 200)], size)
	wantWritten(t, append(segments(t, path), path), want, size)

	listed := map[string]bool{}
	for _, s := range entries(t, openWith(t, path, journal.Options{SegmentBytes: segment})) {
		if listed[s.ID] {
			t.Errorf("%s is listed twice", s.ID)
		}
		listed[s.ID] = true
	}
	for _, id := range want {
		if !listed[id] {
			t.Errorf("%s is not listed", id)
		}
	}
	all := segments(t, path)
	if len(all) < rounds/5 {
		t.Errorf("only %d segments", len(all))
	}
	for _, name := range append(all, path) {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %o", name, info.Mode().Perm())
		}
	}
	if left := glob(t, path, "*.hold-*"); len(left) > 2 {
		t.Errorf("%d processes that have died have left files", len(left))
	}
	t.Logf("%d records in %d segments, %d indexes, %d files in all", len(want), len(all), len(indexes(t, path)), len(glob(t, path, "*")))
}

// wantWritten wants the entries in the files, byte for byte.
func wantWritten(t *testing.T, files, want []string, size int) {
	t.Helper()
	missing := map[string]bool{}
	for _, id := range want {
		missing[id] = true
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			var r queue.Record
			if r.UnmarshalJSON(line) == nil && bytes.Equal(r.Message.Payload, payloadOf(r.Entry, size)) {
				delete(missing, r.Entry)
			}
		}
	}
	if len(missing) > 0 {
		t.Errorf("%d of %d records are missing or damaged", len(missing), len(want))
	}
}

// Processes that append and seal at the same time lose and mix nothing.
func TestManySealers(t *testing.T) {
	const each, size = 40, 2000
	path := temp(t)
	var all sync.WaitGroup
	var want []string
	for w := range 3 {
		name := fmt.Sprintf("process%d", w)
		cmd := child(t, "append", path, envName+"="+name, fmt.Sprintf("%s=%d", envCount, each), fmt.Sprintf("%s=%d", envSize, size), envMost+"=3000")
		all.Go(func() {
			if out, err := cmd.Output(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
		for i := range each {
			want = append(want, fmt.Sprintf("%s-%d", name, i))
		}
	}
	all.Wait()
	for _, name := range append(segments(t, path), path) {
		wantWholeLines(t, name)
	}
	wantSaved(t, path, want, size)
	if n := len(entries(t, open(t, path))); n != len(want) {
		t.Errorf("%d entries, want %d", n, len(want))
	}
}
