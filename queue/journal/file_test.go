package journal_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/journal"
)

func TestOnlyTheUserCanRead(t *testing.T) {
	top := t.TempDir()
	if err := os.Chmod(top, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(top, "state", "redq", "journal.jsonl")
	mustAppend(t, open(t, path), deletion("e", 0, nil))
	for name, want := range map[string]os.FileMode{
		top: 0o755, filepath.Join(top, "state"): 0o700, filepath.Dir(path): 0o700, path: 0o600,
	} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s: %o, want %o", name, got, want)
		}
	}
}

func TestWhatIsNoFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, os.DevNull, filepath.Join(plain, "below")} {
		if j, err := journal.Open(path, journal.Options{}); err == nil {
			j.Close()
			t.Errorf("%s was opened", path)
		}
	}
}

// Whatever a crash left of the last line, what comes next can be read, and what
// came before too.
func TestTornLastLine(t *testing.T) {
	whole := temp(t)
	j := open(t, whole)
	mustAppend(t, j, deletion("first", 0, []byte("kept")))
	kept, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	// The payload's end looks like the end of a record.
	mustAppend(t, j, deletion("torn", 0, []byte(`{"a":{"b":"}"}}`)))
	all, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for cut := len(kept); cut < len(all); cut += 3 {
		path := filepath.Join(dir, fmt.Sprint(cut))
		if err := os.WriteFile(path, all[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		j := open(t, path)
		if got := ids(entries(t, j)); got != "first" && cut < len(all)-1 {
			t.Fatalf("cut at %d: %s", cut, got)
		}
		mustAppend(t, j, deletion("next", 0, []byte("new")), deletion("next", 1, []byte("newer")))
		if got := ids(entries(t, j)); got != "next first" && cut < len(all)-1 {
			t.Fatalf("cut at %d, after the next append: %s", cut, got)
		}
		if got := load(t, j, "next").Items; len(got) != 2 || string(got[1].Message.Payload) != "newer" {
			t.Fatalf("cut at %d: %+v", cut, got)
		}
	}
}

func ids(all []journal.Summary) string {
	var names []string
	for _, s := range all {
		names = append(names, s.ID)
	}
	return strings.Join(names, " ")
}

// A line with a fault inside hurts its own entry only.
func TestDamagedLine(t *testing.T) {
	path := temp(t)
	j := open(t, path)
	mustAppend(t, j, deletion("good", 0, []byte("a")), deletion("bad", 0, []byte{0xff}), deletion("later", 0, []byte("c")))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`{"b64":"/w=="}`), []byte(`{"b64":"/w=!"}`), 1)
	text = append([]byte("garbage\n\n[]\n{}\nnull\n{\"kind\":\"intent\",\"entry\":\"x\",\"seq\":1e99}\n"), text...)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ids(entries(t, j)); got != "later bad good" {
		t.Errorf("entries: %s", got)
	}
	load(t, j, "good")
	load(t, j, "later")
	if _, err := j.Load("bad"); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("the damaged record was loaded: %v", err)
	}
}

// When somebody moves the file away, records do not go where nobody looks.
func TestFileMovedAway(t *testing.T) {
	path := temp(t)
	j := open(t, path)
	mustAppend(t, j, deletion("old", 0, nil))
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, j, deletion("new", 0, nil))
	if got := ids(entries(t, open(t, path))); got != "new" {
		t.Errorf("at the path: %q", got)
	}
	if got := ids(entries(t, open(t, path+".1"))); got != "old" {
		t.Errorf("moved away: %q", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := ids(entries(t, j)); got != "" {
		t.Errorf("removed: %q", got)
	}
}

func TestFullDisk(t *testing.T) {
	path := temp(t)
	if out, err := child(t, "file limit", path).Output(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	j := open(t, path)
	if got := ids(entries(t, j)); got != "after before" {
		t.Errorf("entries: %s", got)
	}
	wantWholeLines(t, path)
}

func wantWholeLines(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		var r queue.Record
		if err := r.UnmarshalJSON(line); err != nil {
			t.Errorf("line %d: %v", i, err)
		}
	}
}

// Handles and processes that write at once do not mix or lose their lines.
func TestManyWriters(t *testing.T) {
	const each, size = 25, 10_000
	path := temp(t)
	var all sync.WaitGroup
	var want []string
	for w := range 2 {
		name := fmt.Sprintf("process%d", w)
		cmd := child(t, "append", path, envName+"="+name, fmt.Sprintf("%s=%d", envCount, each), fmt.Sprintf("%s=%d", envSize, size))
		all.Go(func() {
			if out, err := cmd.Output(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
		for i := range each {
			want = append(want, fmt.Sprintf("%s-%d", name, i))
		}
	}
	for w := range 2 {
		j := open(t, path)
		for g := range 2 {
			name := fmt.Sprintf("handle%d.%d", w, g)
			all.Go(func() {
				for i := range each {
					id := fmt.Sprintf("%s-%d", name, i)
					if err := j.Append(deletion(id, 0, payloadOf(id, size))); err != nil {
						t.Error(err)
					}
					if _, err := j.Load(id); err != nil { // reading disturbs nobody
						t.Error(err)
					}
				}
			})
			for i := range each {
				want = append(want, fmt.Sprintf("%s-%d", name, i))
			}
		}
	}
	all.Wait()
	wantWholeLines(t, path)
	wantSaved(t, path, want, size)
}

func wantSaved(t *testing.T, path string, want []string, size int) {
	t.Helper()
	j := open(t, path)
	for _, id := range want {
		e, err := j.Load(id)
		if err != nil {
			t.Fatalf("Load(%q): %v", id, err)
		}
		if len(e.Items) != 1 || !bytes.Equal(e.Items[0].Message.Payload, payloadOf(id, size)) {
			t.Fatalf("%s came back damaged", id)
		}
	}
}

// kill -9 at any moment: every record whose Append returned is in the journal.
func TestKilledInTheMiddle(t *testing.T) {
	// Large payloads make a kill fall into the middle of a write.
	const rounds, size = 20, 300_000
	path := temp(t)
	var want []string
	for round := range rounds {
		cmd := child(t, "append", path, fmt.Sprintf("%s=round%d", envName, round), envCount+"=0", fmt.Sprintf("%s=%d", envSize, size))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range 1 + rand.IntN(4) {
			if !lines.Scan() {
				t.Fatalf("round %d: the child ended by itself", round)
			}
			want = append(want, lines.Text())
		}
		time.Sleep(rand.N(4 * time.Millisecond))
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			want = append(want, lines.Text())
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the child was not killed")
		}
	}
	wantSaved(t, path, want, size)

	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d records in %d lines and %d MB", len(want), bytes.Count(text, []byte("\n")), len(text)>>20)
}

func TestUndoLock(t *testing.T) {
	path := temp(t)
	j := open(t, path)
	unlock, err := j.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Lock(); !errors.Is(err, journal.ErrUndoing) {
		t.Errorf("the same handle: %v", err)
	}
	if _, err := open(t, path).Lock(); !errors.Is(err, journal.ErrUndoing) {
		t.Errorf("another handle: %v", err)
	}
	mustAppend(t, j, deletion("e", 0, nil)) // an undo writes
	unlock()
	unlock() // twice is harmless

	cmd := child(t, "lock", path)
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
		t.Fatal("the child did not lock")
	}
	if _, err := j.Lock(); !errors.Is(err, journal.ErrUndoing) {
		t.Errorf("another process: %v", err)
	}
	if _, err := fmt.Fprintln(in); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	unlock, err = j.Lock()
	if err != nil {
		t.Fatalf("after the other process: %v", err)
	}
	unlock()
}
