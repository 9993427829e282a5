package journal_test

import (
	"fmt"
	"strings"
	"testing"

	"redq/queue"
	"redq/queue/journal"
)

// BenchmarkEntries lists a journal of 100,000 records in 50,000 operations.
func BenchmarkEntries(b *testing.B) {
	j := open(b, temp(b))
	var rs []queue.Record
	for i := range 50_000 {
		id := fmt.Sprintf("%026d", i)
		payload := fmt.Sprintf(`{"order":%d,"sku":"S-31","note":%q}`, i, strings.Repeat("x", 60))
		rs = append(rs, deletion(id, 0, []byte(payload)), answer(queue.Answered, id, 0, queue.Done))
	}
	mustAppend(b, j, rs...)
	b.ReportAllocs()
	for b.Loop() {
		if all, err := j.Entries(50); err != nil || len(all) != 50 {
			b.Fatal(len(all), err)
		}
	}
}

// BenchmarkEntriesLargePayloads shows that memory does not follow the payloads.
func BenchmarkEntriesLargePayloads(b *testing.B) {
	j := open(b, temp(b))
	large := make([]byte, 20<<20)
	for i := range 5 {
		mustAppend(b, j, deletion(fmt.Sprint(i), 0, append(large, 0xff)))
	}
	b.ReportAllocs()
	for b.Loop() {
		if all, err := j.Entries(0); err != nil || len(all) != 5 {
			b.Fatal(len(all), err)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	j, err := journal.Open(temp(b), journal.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	r := deletion("id", 0, []byte(strings.Repeat("x", 200)))
	for b.Loop() {
		mustAppend(b, j, r)
	}
}
