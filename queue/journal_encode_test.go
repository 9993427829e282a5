package queue

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"redq/queue/payload/hostile"
)

// reflected is the record as encoding/json would write it, which is the wire form.
func reflected(t testing.TB, r Record) []byte {
	t.Helper()
	fields := map[string]any{"kind": r.Kind, "entry": r.Entry, "seq": r.Seq, "time": r.Time}
	put := func(name string, v any) {
		if !reflect.ValueOf(v).IsZero() {
			fields[name] = v
		}
	}
	text := func(b []byte) any {
		if utf8.Valid(b) {
			return string(b)
		}
		return map[string]string{"b64": base64.StdEncoding.EncodeToString(b)}
	}
	name := func(field, v string) {
		if v != "" {
			fields[field] = text([]byte(v))
		}
	}
	name("server", r.Server)
	name("queue", r.Queue)
	put("op", r.Op)
	put("count", r.Count)
	put("index", r.Message.Index)
	put("len", r.Message.Len)
	put("outcome", r.Outcome)
	if r.Kind == Intent {
		put("place", r.Message.Place)
		name("key", r.Message.Key)
		put("score", r.Message.Score)
		put("to_place", r.ToPlace)
		name("to_key", r.ToKey)
		put("to_score", r.ToScore)
		put("end", r.End)
		if r.Payload != nil {
			fields["new_payload"] = text(r.Payload)
		}
		if b := r.Batch; b == nil {
			fields["payload"] = text(r.Message.Payload)
		} else {
			fields["n"] = b.Len()
			var prints []byte
			for _, p := range b.Prints {
				prints = append(prints, p[:]...)
			}
			var payloads []any
			for _, p := range b.Payloads {
				payloads = append(payloads, text(p))
			}
			put("prints", prints)
			put("at", b.Index)
			put("scores", b.Scores)
			put("to_scores", b.ToScores)
			put("payloads", payloads)
		}
	}
	b, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// wantEncoded wants the record to say what encoding/json would say, and to come back.
func wantEncoded(t testing.TB, r Record) {
	t.Helper()
	got, err := r.AppendJSON([]byte("before "))
	if err != nil {
		t.Fatal(err)
	}
	got, ok := bytes.CutPrefix(got, []byte("before "))
	if !ok || bytes.IndexByte(got, '\n') >= 0 || !utf8.Valid(got) {
		t.Fatalf("not one line of UTF-8 behind what was there: %q", got)
	}
	var a, b map[string]any
	if err := json.Unmarshal(got, &a); err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	if err := json.Unmarshal(reflected(t, r), &b); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("got  %s\nwant %s", got, reflected(t, r))
	}
	var back Record
	if err := json.Unmarshal(got, &back); err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	if again, err := back.AppendJSON(nil); err != nil || !bytes.Equal(again, got) {
		t.Errorf("it came back as %s, was %s (%v)", again, got, err)
	}
	if r.Batch != nil && r.Kind == Intent && !sameBatch(r.Batch, back.Batch) {
		t.Errorf("got %+v, want %+v", back.Batch, r.Batch)
	}
}

func sameBatch(a, b *Batch) bool {
	if b == nil || len(a.Payloads) != len(b.Payloads) {
		return false
	}
	for i := range a.Payloads {
		if !bytes.Equal(a.Payloads[i], b.Payloads[i]) {
			return false
		}
	}
	return fmt.Sprint(a.Prints, a.Index, a.Scores, a.ToScores) == fmt.Sprint(b.Prints, b.Index, b.Scores, b.ToScores)
}

// full is an intent with something in every field.
func full(payloads ...[]byte) Record {
	r := Record{
		Kind: Intent, Entry: "E", Seq: 3, Time: time.Date(2026, 3, 1, 4, 5, 6, 7, time.FixedZone("", 3600)), Server: "localhost:6379/0",
		Queue: "orders", Op: OpReschedule, ToPlace: Ready, ToKey: "to", ToScore: "-inf", End: Right, Count: 4, Payload: []byte{},
		Message: Message{Place: Delayed, Key: "orders:delayed", Index: 9, Len: 10, Score: "1.5e+300"},
	}
	if len(payloads) > 0 {
		r.Batch = &Batch{Payloads: payloads}
		for i := range payloads {
			r.Batch.Prints = append(r.Batch.Prints, PrintOf(payloads[i]))
			r.Batch.Index = append(r.Batch.Index, int64(-i))
			r.Batch.Scores = append(r.Batch.Scores, Score(fmt.Sprint(i)))
			r.Batch.ToScores = append(r.Batch.ToScores, "+inf")
		}
	}
	return r
}

func TestAppendJSON(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	var payloads [][]byte
	for _, p := range hostile.Payloads() {
		payloads = append(payloads, p.Bytes)
	}
	moved := full(payloads[:3]...)
	moved.Batch.Payloads = nil
	single := full()
	single.Message.Payload, single.Payload = []byte("\x00\xff"), []byte("\u2028<&>\x7f")
	outcome := Record{Kind: Undone, Entry: "E", Seq: -1, Outcome: Done, Count: 9}
	for _, r := range []Record{full(), full(payloads...), full(nil, []byte{}), moved, single, outcome, {Kind: Intent}, {}} {
		wantEncoded(t, r)
	}
	for _, key := range hostile.Keys() {
		r := full()
		r.Server, r.Queue, r.ToKey, r.Message.Key = key, key, key, key
		wantEncoded(t, r)
	}
	late := full()
	late.Time = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
	if b, err := late.AppendJSON(nil); err == nil {
		t.Errorf("a year that cannot be written: %s", b)
	}
}

func FuzzAppendJSON(f *testing.F) {
	f.Add("id", "orders", []byte(`{"a":"\"}`), []byte("\xff\n\\"), 1)
	f.Fuzz(func(t *testing.T, entry, key string, a, b []byte, seq int) {
		r := full(a, b)
		r.Entry, r.Message.Key, r.Queue, r.Seq = strings.ToValidUTF8(entry, "?"), key, key, int(int32(seq))
		wantEncoded(t, r)
		r.Batch, r.Message.Payload, r.Payload = nil, a, b
		wantEncoded(t, r)
	})
}

func BenchmarkRecordJSON(b *testing.B) {
	text := make([][]byte, 1000)
	for i := range text {
		text[i] = fmt.Appendf(nil, `{"order":%d,"sku":"S-31","note":%q}`, i, strings.Repeat("x", 160))
	}
	removed, moved := full(text...), full(text...)
	removed.Batch.Prints, removed.Batch.ToScores, moved.Batch.Payloads = nil, nil, nil
	for name, r := range map[string]Record{"removed": removed, "moved": moved} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				line, err := r.MarshalJSON()
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(line)))
			}
		})
	}
}
