package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"redq/queue"
)

func scan(t testing.TB, text []byte) []line {
	t.Helper()
	var all []line
	err := scanLines(bytes.NewReader(text), func(l line) error {
		l.head = bytes.Clone(l.head)
		all = append(all, l)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestScanLines(t *testing.T) {
	long := `{"payload":"` + strings.Repeat(`a\"}`, 100_000) + `"}`
	tests := []struct {
		name, text string
		whole      []bool
	}{
		{"empty", "", nil},
		{"one", `{"a":1}` + "\n", []bool{true}},
		{"without an end", `{"a":1}`, []bool{true}},
		{"spaces", " { \"a\" : {} } \r\n", []bool{true}},
		{"brace in a string", `{"a":"}`, []bool{false}},
		{"escaped quote", `{"a":"\"}`, []bool{false}},
		{"escaped backslash", `{"a":"\\"}`, []bool{true}},
		{"torn, then whole", "{\"a\":\"x}\n{}\n", []bool{false, true}},
		{"two on a line", "{}{}\n", []bool{false}},
		{"not an object", "[]\n1\n\"{}\"\n\n", []bool{false, false, false, false}},
		{"longer than any buffer", long + "\n" + long[:len(long)-1] + "\n" + long, []bool{true, false, true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lines := scan(t, []byte(tt.text))
			if len(lines) != len(tt.whole) {
				t.Fatalf("%d lines, want %d", len(lines), len(tt.whole))
			}
			for i, l := range lines {
				if l.whole != tt.whole[i] {
					t.Errorf("line %d: whole is %v", i, l.whole)
				}
				if len(l.head) > headBytes {
					t.Errorf("line %d: a head of %d bytes", i, len(l.head))
				}
			}
		})
	}
}

func TestCutValues(t *testing.T) {
	for _, payload := range []string{"plain text", `{"a":"b\\c"}`, "é\u2028\x00\n", "\U0001f600\U0001f600", "\xff\xfe\xfd\xfc"} {
		r := queue.Record{Kind: queue.Intent, Entry: "e", Message: queue.Message{Payload: []byte(payload)}}
		text, err := r.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		for cut := range text {
			eachField(text[:cut], func(name []byte, v value) {
				// A rune may be cut in two: then its place is taken by U+FFFD.
				got := bytes.TrimRight(v.bytes(), "\ufffd")
				if string(name) == "payload" && !strings.HasPrefix(payload, string(got)) {
					t.Errorf("%q cut at %d: %q", payload, cut, got)
				}
			})
		}
	}
}

// A process that was stopped while it wrote does not hang all others.
func TestHeldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	other, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := lockFile(other, exclusive, 0); err != nil {
		t.Fatal(err)
	}
	j.patience = 5 * time.Millisecond
	r := queue.Record{Kind: queue.Intent, Entry: "e"}
	if err := j.Append(r); !errors.Is(err, ErrBusy) {
		t.Errorf("Append: %v", err)
	}
	if _, err := j.Entries(1); !errors.Is(err, ErrBusy) {
		t.Errorf("Entries: %v", err)
	}
	if err := unlockFile(other); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(r); err != nil {
		t.Errorf("after it went on: %v", err)
	}
}

// The short reading of a line agrees with the whole one.
func FuzzRecord(f *testing.F) {
	f.Add("entry", 0, "localhost:6379/0", "orders", "orders:dead", []byte(`{"a":"\"}"}`), uint8(0))
	f.Add("entry", -1, "/run/\xff.sock", "\u2028", "\x00{\"", []byte("\xff\x00"), uint8(3))
	f.Fuzz(func(t *testing.T, entry string, seq int, server, name, key string, payload []byte, kind uint8) {
		kinds := []queue.RecordKind{queue.Intent, queue.Answered, queue.UndoIntent, queue.Undone}
		r := queue.Record{
			Kind: kinds[int(kind)%len(kinds)], Entry: "e" + entry, Seq: int(int32(seq)), Server: server, Queue: name,
			Op: queue.OpDelete, Outcome: queue.Outcome([]string{"", "done", "gone"}[int(kind)%3]),
			Message: queue.Message{Key: key, Payload: payload},
		}
		text, err := r.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var full queue.Record
		if err := full.UnmarshalJSON(text); err != nil {
			t.Fatal(err)
		}
		lines := scan(t, append(text, '\n'))
		if len(lines) != 1 || !lines[0].whole {
			t.Fatalf("%s\nis not one whole line: %+v", text, lines)
		}
		s, ok := parseStub(lines[0])
		if len(name)+len(key)+len(entry)+len(server) > headBytes/10 {
			return // the head may end before the last of them
		}
		if !ok || s.kind != full.Kind || string(s.entry) != full.Entry || int(s.seq) != full.Seq ||
			string(s.server.bytes()) != server || string(s.queue.bytes()) != name ||
			outcomes()[s.outcome] != full.Outcome || string(s.key.bytes()) != full.Message.Key {
			t.Errorf("%s\nread as %+v", text, s)
		}
		for cut := range text {
			var torn object
			if torn.feed(text[:cut]); torn.whole() {
				t.Fatalf("torn at %d it passes for whole: %s", cut, text[:cut])
			}
		}
	})
}

// Any bytes at all can stand in the file.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{\"kind\":\"intent\",\"entry\":\"e\",\"payload\":\"\\ud8\n{\"b64\":"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var sum int64
		for _, l := range scan(t, text) {
			if l.offset != sum {
				t.Fatalf("a line begins at %d, want %d", l.offset, sum)
			}
			sum += l.size + 1
			if json.Valid(l.head) && int64(len(l.head)) == l.size && bytes.HasPrefix(bytes.TrimSpace(l.head), []byte("{")) && !l.whole {
				t.Errorf("%q is an object", l.head)
			}
			parseStub(l)
			eachField(l.head, func(_ []byte, v value) { v.bytes() })
		}
		if n := int64(len(text)); sum != n && sum != n+1 {
			t.Errorf("lines of %d bytes in all, want %d", sum, n)
		}
	})
}
