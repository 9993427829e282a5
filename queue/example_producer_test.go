package queue_test

import (
	"context"
	"fmt"
	"time"

	"redq/queue"
)

func ExampleClient_EnqueueAll() {
	c, stop := exampleClient()
	defer stop()
	ctx := context.Background()

	q := queue.Named("orders")
	q.Stats = q.StatsKey() // count what is enqueued in orders:stats
	all, err := c.EnqueueAll(ctx, q, [][]byte{[]byte("a"), []byte("b"), []byte("c")}, queue.EnqueueOptions{})
	fmt.Println(all.Done, "added,", all.Len, "wait,", err)

	// Delayed messages with equal bytes would be one: the positions of those left out are told.
	all, err = c.EnqueueAll(ctx, q, [][]byte{[]byte("x"), []byte("y"), []byte("x")}, queue.EnqueueOptions{In: time.Minute})
	fmt.Println(all.Done, "added, there already:", all.Already, err)

	// With an id each they stay apart.
	all, err = c.EnqueueAll(ctx, q, [][]byte{[]byte("x"), []byte("x")}, queue.EnqueueOptions{In: time.Minute, Wrap: true})
	fmt.Println(all.Done, "added,", len(all.IDs), "ids,", err)
	// Output:
	// 3 added, 3 wait, <nil>
	// 2 added, there already: [2] <nil>
	// 2 added, 2 ids, <nil>
}

func ExampleClient_Schedule() {
	c, stop := exampleClient()
	defer stop()
	ctx := context.Background()

	q := queue.Named("reminders")
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	sent, err := c.Schedule(ctx, q, []byte("call back"), at)
	fmt.Println(sent.Key, sent.Score, err)
	// Output:
	// reminders:delayed 1893553445000 <nil>
}

func ExampleClient_ScheduleAll() {
	c, stop := exampleClient()
	defer stop()
	ctx := context.Background()

	q := queue.Named("reminders")
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	all, err := c.ScheduleAll(ctx, q, []queue.Scheduled{
		{Payload: []byte("call back"), At: at},
		{Payload: []byte("send the invoice"), At: at.AddDate(0, 0, 14)},
	})
	fmt.Println(all.Done, err)
	// Output:
	// 2 <nil>
}
