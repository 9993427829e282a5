package journal_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/journal"
)

// BenchmarkLarge lists and loads journals of a gigabyte: of bulk operations with 1,000 payloads
// a line, and of five million lines of single messages. It takes a minute and the disk, so it wants
// REDQ_BENCH_LARGE=1.
func BenchmarkLarge(b *testing.B) {
	if os.Getenv("REDQ_BENCH_LARGE") != "1" {
		b.Skip("REDQ_BENCH_LARGE=1 asks for it")
	}
	for name, write := range map[string]func(testing.TB, string){"bulk": writeBulk, "single": writeSingle, "one-entry": writeOneEntry} {
		b.Run(name, func(b *testing.B) {
			path := temp(b)
			write(b, path)
			b.Run("seal", func(b *testing.B) { // the first reading, which makes the indexes
				for b.Loop() {
					measured(b, func() { list(b, path) })
				}
			})
			b.Run("list", func(b *testing.B) {
				for b.Loop() {
					measured(b, func() { list(b, path) })
				}
			})
			b.Run("last", func(b *testing.B) {
				for b.Loop() {
					measured(b, func() {
						if _, err := fresh(b, path).Last("localhost:6379/0"); err != nil {
							b.Fatal(err)
						}
					})
				}
			})
			b.Run("load", func(b *testing.B) {
				for b.Loop() {
					measured(b, func() {
						if e, err := fresh(b, path).Load("E0000000001"); err != nil || e.Undoable() == 0 {
							b.Fatal(err)
						}
					})
				}
			})
		})
	}
}

// fresh opens the journal as the next process does.
func fresh(b *testing.B, path string) *journal.Journal {
	return openWith(b, path, journal.Options{MaxBytes: 4 << 30})
}

func list(b *testing.B, path string) {
	if all, err := fresh(b, path).Entries(200); err != nil || len(all) == 0 {
		b.Fatal(len(all), err)
	}
}

// measured reports the most memory that do has had in use.
func measured(b *testing.B, do func()) {
	runtime.GC()
	var peak atomic.Uint64
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		var m runtime.MemStats
		for {
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.HeapInuse))
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	do()
	close(done)
	<-watched
	b.ReportMetric(float64(peak.Load())/(1<<20), "peak-MB")
}

// large writes lines until the file has a gigabyte.
func large(b testing.TB, path string, line func(i int) []queue.Record) {
	b.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	out := bufio.NewWriterSize(file, 1<<20)
	var text []byte
	for i, sum := 0, 0; sum < 1<<30; i++ {
		text = text[:0]
		for _, r := range line(i) {
			if text, err = r.AppendJSON(text); err != nil {
				b.Fatal(err)
			}
			text = append(text, '\n')
		}
		sum += len(text)
		if _, err := out.Write(text); err != nil {
			b.Fatal(err)
		}
	}
	if err := out.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := file.Close(); err != nil {
		b.Fatal(err)
	}
}

// writeBulk writes operations of 100,000 messages of 200 bytes.
func writeBulk(b testing.TB, path string) {
	large(b, path, func(i int) []queue.Record {
		r := removal(fmt.Sprintf("E%010d", i/100), i%100*1000, 0)
		for n := range 1000 {
			r.Batch.Payloads = append(r.Batch.Payloads, fmt.Appendf(nil, `{"order":%d,"note":%q}`, n, strings.Repeat("x", 170)))
		}
		return []queue.Record{r, answer(queue.Answered, r.Entry, r.Seq, queue.Done)}
	})
}

// writeSingle writes operations on one message each.
func writeSingle(b testing.TB, path string) {
	large(b, path, func(i int) []queue.Record {
		id := fmt.Sprintf("E%010d", i)
		return []queue.Record{deletion(id, 0, []byte("payload")), answer(queue.Answered, id, 0, queue.Done)}
	})
}

// writeOneEntry writes one operation in the old form, a line a message.
func writeOneEntry(b testing.TB, path string) {
	large(b, path, func(i int) []queue.Record {
		return []queue.Record{deletion("E0000000001", i, []byte("payload")), answer(queue.Answered, "E0000000001", i, queue.Done)}
	})
}
