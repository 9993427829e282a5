package model

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redq/queue"
)

// One poll of a thousand queues, as the state takes it.
func BenchmarkPollOfAThousandQueues(b *testing.B) {
	var qs []queue.Queue
	var poll queue.Poll
	for i := range 1000 {
		q := queue.Named(fmt.Sprintf("queue-%d", i))
		qs = append(qs, q)
		n := queue.Count{N: int64(i), State: queue.Known}
		poll.Samples = append(poll.Samples, queue.Sample{Queue: q.Name, Ready: n, Backup: n, Delayed: n, Due: n, Dead: n})
	}
	m, err := New(Config{Backend: newFake(), Pinned: qs})
	if err != nil {
		b.Fatal(err)
	}
	m, _ = m.resized(200, 50)
	at := epoch
	b.ReportAllocs()
	for b.Loop() {
		at = at.Add(time.Second)
		m.Overview = m.Overview.polled(poll, at, m.unattended, 30)
	}
}

// A page of messages that moved, as a list takes it.
func BenchmarkPageThatMoved(b *testing.B) {
	q := queue.Named("q")
	read := func(from int) page {
		p := queue.Page{Place: queue.Backup, Total: 10_000}
		for i := range maxPage {
			payload := []byte(fmt.Sprintf(`{"order":%d,"sku":"S-22","step":"pay","error":"timeout"}`, from+i))
			p.Messages = append(p.Messages, queue.Message{Payload: payload, Size: int64(len(payload)), Place: queue.Backup, Key: "q:backup"})
		}
		return readyRows(q, p, func(queue.Message) time.Duration { return 0 })
	}
	pages := []page{read(0), read(5)}
	var l List
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		l = l.paged(pages[i%2], 50)
		i++
	}
}

// A screen at the end of a payload of 20 MB.
func BenchmarkHugeDocument(b *testing.B) {
	for name, text := range map[string]string{
		"one line": strings.Repeat("x", 20<<20),
		"json":     strings.Repeat("  {\"a\": 1},\n", 20<<20/12),
		"wide":     strings.Repeat("张三", 20<<20/6),
	} {
		b.Run(name, func(b *testing.B) {
			d := newDocument([]byte(text), false, 120)
			for b.Loop() {
				if len(d.end(40).up(3).down(1, 40).Lines(40)) != 40 {
					b.Fatal("not a screen")
				}
			}
		})
	}
}
