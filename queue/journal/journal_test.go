package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"redq/queue"
	"redq/queue/journal"
	"redq/queue/payload/hostile"
)

func open(t testing.TB, path string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(path, journal.Options{})
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

func temp(t testing.TB) string { return filepath.Join(t.TempDir(), "journal.jsonl") }

func mustAppend(t testing.TB, j *journal.Journal, rs ...queue.Record) {
	t.Helper()
	if err := j.Append(rs...); err != nil {
		t.Fatal(err)
	}
}

func load(t testing.TB, j *journal.Journal, id string) queue.Entry {
	t.Helper()
	e, err := j.Load(id)
	if err != nil {
		t.Fatalf("Load(%q): %v", id, err)
	}
	return e
}

func entries(t testing.TB, j *journal.Journal) []journal.Summary {
	t.Helper()
	all, err := j.Entries(0)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Every byte of a payload comes back as it went in.
func TestHostilePayloadsComeBackByteExact(t *testing.T) {
	for _, p := range hostile.Payloads() {
		t.Run(p.Name, func(t *testing.T) {
			path := temp(t)
			r := deletion("e", 0, p.Bytes)
			if len(p.Bytes) < hostile.Large {
				r.Payload = p.Bytes // as an edit has it
			}
			mustAppend(t, open(t, path), r)

			j := open(t, path) // as the next process reads it
			it := load(t, j, "e").Items[0]
			if !bytes.Equal(it.Message.Payload, p.Bytes) || !it.Message.Complete() {
				t.Error("the payload changed")
			}
			if (it.Payload == nil) != (r.Payload == nil) || !bytes.Equal(it.Payload, r.Payload) {
				t.Error("the new payload changed")
			}
			want := p.Bytes[:min(len(p.Bytes), journal.SampleBytes)]
			if all := entries(t, j); len(all) != 1 || !bytes.Equal(all[0].Sample, want) {
				t.Errorf("listed as %+v, want the sample %q", all, want)
			}
		})
	}
}

func TestHostileKeysComeBackByteExact(t *testing.T) {
	j := open(t, temp(t))
	for i, key := range hostile.Keys() {
		r := deletion(fmt.Sprint("entry", i), 0, nil)
		r.Message.Key, r.ToKey, r.Queue, r.Server = key, key, key, key
		mustAppend(t, j, r)
		e := load(t, j, r.Entry)
		if got := e.Items[0]; got.Message.Key != key || got.ToKey != key || e.Queue != key || e.Server != key {
			t.Errorf("%q came back as %q, %q, %q, %q", key, got.Message.Key, got.ToKey, e.Queue, e.Server)
		}
		s := entries(t, j)[0]
		if s.ID != r.Entry || s.Queue != key || s.Server != key || !reflect.DeepEqual(s.Keys, []string{key}) {
			t.Errorf("%q is listed as %q of %q on %q, keys %q", key, s.ID, s.Queue, s.Server, s.Keys)
		}
	}
}

func TestRecordsComeBackWhole(t *testing.T) {
	j := open(t, temp(t))
	r := deletion("e", 7, []byte("x"))
	r.Op, r.Message.Place, r.Message.Key, r.Message.Score = queue.OpReschedule, queue.Delayed, "d", "1.5e+300"
	r.ToPlace, r.ToKey, r.ToScore, r.End, r.Payload = queue.Ready, "orders", "-inf", queue.Right, []byte{}
	mustAppend(t, j, r)
	if got := load(t, j, "e").Items[0].Record; !reflect.DeepEqual(got, r) {
		t.Errorf("got  %+v\nwant %+v", got, r)
	}
}

// What the records say of an undo, read in both ways.
func TestUndoState(t *testing.T) {
	intents := []queue.Record{deletion("e", 0, []byte("a")), deletion("e", 1, []byte("b")), deletion("e", 2, []byte("c"))}
	tests := []struct {
		name     string
		answers  []queue.Record
		undoable int
		refused  int
	}{
		{"no answer: the process died", nil, 3, 0},
		{"done", []queue.Record{answer(queue.Answered, "e", 0, queue.Done)}, 3, 0},
		{"gone and refused", []queue.Record{
			answer(queue.Answered, "e", 0, queue.Gone), answer(queue.Answered, "e", 2, queue.Refused)}, 1, 1},
		{"unknown may have happened", []queue.Record{answer(queue.Answered, "e", 1, queue.Unknown)}, 3, 0},
		{"undo begun", []queue.Record{answer(queue.UndoIntent, "e", 1, "")}, 3, 0},
		{"undone", []queue.Record{answer(queue.UndoIntent, "e", 1, ""), answer(queue.Undone, "e", 1, queue.Done)}, 2, 0},
		{"was back already", []queue.Record{answer(queue.Undone, "e", 1, queue.Gone)}, 2, 0},
		{"undo refused", []queue.Record{answer(queue.Undone, "e", 1, queue.Refused)}, 3, 0},
		{"refused, then undone", []queue.Record{
			answer(queue.Undone, "e", 1, queue.Refused), answer(queue.UndoIntent, "e", 1, ""),
			answer(queue.Undone, "e", 1, queue.Done)}, 2, 0},
		{"begun again", []queue.Record{answer(queue.Undone, "e", 1, queue.Gone), answer(queue.UndoIntent, "e", 1, "")}, 3, 0},
		{"an answer to nothing", []queue.Record{answer(queue.Undone, "e", 9, queue.Done), answer(queue.Undone, "f", 0, queue.Done)}, 3, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j := open(t, temp(t))
			mustAppend(t, j, intents...)
			mustAppend(t, j, tt.answers...)
			if got := load(t, j, "e").Undoable(); got != tt.undoable {
				t.Errorf("Load: %d undoable, want %d", got, tt.undoable)
			}
			all := entries(t, j)
			if len(all) != 1 || all[0].Undoable != tt.undoable || all[0].Total != 3-tt.refused {
				t.Errorf("Entries: %+v, want %d of %d undoable", all, tt.undoable, 3-tt.refused)
			}
		})
	}
}

func TestUndoBegunIsRemembered(t *testing.T) {
	j := open(t, temp(t))
	mustAppend(t, j, deletion("e", 0, []byte("a")), answer(queue.Answered, "e", 0, queue.Done))
	if it := load(t, j, "e").Items[0]; it.Tried || it.Outcome != queue.Done {
		t.Errorf("before: %+v", it)
	}
	mustAppend(t, j, answer(queue.Undone, "e", 0, queue.Refused), answer(queue.UndoIntent, "e", 0, ""))
	if it := load(t, j, "e").Items[0]; !it.Tried || it.Undone != "" {
		t.Errorf("after: tried %v, undone %q", it.Tried, it.Undone)
	}
}

// A purge that dies between the snapshot and the first message has only its
// private key in the journal: it must be offered all the same.
func TestPurgeCutShort(t *testing.T) {
	j := open(t, temp(t))
	key := deletion("p", -1, nil)
	key.Op, key.ToKey = queue.OpPurge, "redq:purge:p"
	other := key
	other.Seq = -2
	mustAppend(t, j, key, other)
	if s := entries(t, j)[0]; s.Total != 0 || s.Undoable != 2 {
		t.Errorf("only keys: %d of %d", s.Undoable, s.Total)
	}
	message := deletion("p", 0, []byte("first"))
	message.Op = queue.OpPurge
	mustAppend(t, j, message)
	if s := entries(t, j)[0]; s.Total != 1 || s.Undoable != 1 || string(s.Sample) != "first" {
		t.Errorf("with a message: %d of %d, sample %q", s.Undoable, s.Total, s.Sample)
	}
	mustAppend(t, j, answer(queue.Undone, "p", 0, queue.Done), answer(queue.Undone, "p", -1, queue.Gone))
	if s := entries(t, j)[0]; s.Undoable != 1 {
		t.Errorf("one key left: %d undoable", s.Undoable)
	}
	mustAppend(t, j, answer(queue.Undone, "p", -2, queue.Done))
	if s := entries(t, j)[0]; s.Undoable != 0 {
		t.Errorf("all undone: %d undoable", s.Undoable)
	}
}

func TestEntriesAreNewestFirst(t *testing.T) {
	j := open(t, temp(t))
	for _, id := range []string{"1", "2", "3"} {
		mustAppend(t, j, deletion(id, 0, []byte(id)))
	}
	mustAppend(t, j, answer(queue.Undone, "1", 0, queue.Done)) // its time is that of the intent
	for limit, want := range map[int]string{0: "321", 1: "3", 2: "32", 9: "321"} {
		all, err := j.Entries(limit)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, s := range all {
			got += s.ID
		}
		if got != want {
			t.Errorf("Entries(%d): %s, want %s", limit, got, want)
		}
	}
}

func TestLast(t *testing.T) {
	j := open(t, temp(t))
	if _, err := j.Last("localhost:6379/0"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("empty journal: %v", err)
	}
	elsewhere := deletion("elsewhere", 0, []byte("x"))
	elsewhere.Server = "other:6379/0"
	mustAppend(t, j, deletion("old", 0, []byte("x")), deletion("undone", 0, []byte("x")), elsewhere)
	mustAppend(t, j, answer(queue.Undone, "undone", 0, queue.Done))
	for server, want := range map[string]string{"localhost:6379/0": "old", "other:6379/0": "elsewhere"} {
		if s, err := j.Last(server); err != nil || s.ID != want {
			t.Errorf("%s: %q, %v; want %q", server, s.ID, err, want)
		}
	}
	if _, err := j.Last("third:6379/0"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("unknown server: %v", err)
	}
}

func TestLoadOfNothing(t *testing.T) {
	j := open(t, temp(t))
	mustAppend(t, j, deletion("e", 0, nil))
	for _, id := range []string{"", "E", "e ", "none"} {
		if _, err := j.Load(id); !errors.Is(err, journal.ErrNotFound) {
			t.Errorf("Load(%q): %v", id, err)
		}
	}
}

// A message of which only the head was read must not pass for a saved one.
func TestCutMessageIsRefused(t *testing.T) {
	path := temp(t)
	j := open(t, path)
	r := deletion("e", 0, []byte("head"))
	r.Message.Size = 20 << 20
	if err := j.Append(deletion("e", 1, nil), r); err == nil {
		t.Error("a cut message was taken")
	}
	if b, err := os.ReadFile(path); err != nil || len(b) > 0 {
		t.Errorf("file: %q, %v", b, err)
	}
}

func TestMaxBytes(t *testing.T) {
	path := temp(t)
	j, err := journal.Open(path, journal.Options{MaxBytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	mustAppend(t, j, deletion("fits", 0, []byte("x")))
	if err := j.Append(deletion("not", 0, make([]byte, 1000))); !errors.Is(err, journal.ErrFull) {
		t.Errorf("got %v", err)
	}
	mustAppend(t, j, deletion("again", 0, []byte("x")))
	if all := entries(t, j); len(all) != 2 {
		t.Errorf("%d entries", len(all))
	}
}

func TestClosed(t *testing.T) {
	j := open(t, temp(t))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(deletion("e", 0, nil)); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Append: %v", err)
	}
	if _, err := j.Entries(1); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Entries: %v", err)
	}
}

func TestDefaultPath(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	if got, want := journal.DefaultPath(), filepath.Join(dir, "redq", "journal.jsonl"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	t.Setenv("XDG_STATE_HOME", "relative/is/ignored")
	if got := journal.DefaultPath(); !filepath.IsAbs(got) || strings.Contains(got, "ignored") {
		t.Errorf("relative XDG_STATE_HOME: %s", got)
	}
}
