package queue_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/alicebob/miniredis/v2"

	"redq/queue"
)

// exampleServer stands for a Redis of your own.
func exampleServer() (url string, stop func()) {
	s, err := miniredis.Run()
	if err != nil {
		log.Fatal(err)
	}
	return "redis://" + s.Addr(), s.Close
}

func Example() {
	url, stop := exampleServer()
	defer stop()
	ctx := context.Background()
	c, err := queue.Open(ctx, queue.Options{URL: url})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	q := queue.Named("orders")
	for _, order := range []string{`{"order":1}`, `{"order":2}`} {
		if _, err := c.Enqueue(ctx, q, []byte(order), queue.EnqueueOptions{}); err != nil {
			log.Fatal(err)
		}
	}
	page, err := c.Peek(ctx, q, queue.Ready, 0, 10)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range page.Messages {
		fmt.Printf("%d %s\n", m.Index, m.Payload)
	}
	// Output:
	// 0 {"order":2}
	// 1 {"order":1}
}

func ExampleClient_Enqueue_delayed() {
	c, stop := exampleClient()
	defer stop()
	ctx := context.Background()

	q := queue.Queue{Name: "reminders", Delayed: "reminders", Unit: queue.Seconds}
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	sent, err := c.Enqueue(ctx, q, []byte("call back"), queue.EnqueueOptions{At: at})
	fmt.Println(sent.Score, err)

	// A sorted set holds equal bytes once: a second copy would move the first.
	_, err = c.Enqueue(ctx, q, []byte("call back"), queue.EnqueueOptions{In: time.Minute})
	var present *queue.AlreadyDelayedError
	fmt.Println(errors.As(err, &present), present.Due.UTC())
	// Output:
	// 1893553445 <nil>
	// true 2030-01-02 03:04:05 +0000 UTC
}

func ExampleClient_Redrive() {
	c, stop := exampleClient()
	defer stop()
	ctx := context.Background()

	// A consumer has taken this message and died.
	work := queue.Queue{Name: "orders", Ready: "orders:backup"}
	if _, err := c.Enqueue(ctx, work, []byte("stuck"), queue.EnqueueOptions{}); err != nil {
		log.Fatal(err)
	}

	q := queue.Named("orders")
	page, err := c.Peek(ctx, q, queue.Backup, 0, 50)
	if err != nil {
		log.Fatal(err)
	}
	report := c.Redrive(ctx, q, page.Messages, queue.RedriveOptions{Front: true})
	fmt.Println("done", report.Count(queue.Done))

	// Asking again is safe: the message is found to be gone.
	report = c.Redrive(ctx, q, page.Messages, queue.RedriveOptions{Front: true})
	fmt.Println("done", report.Count(queue.Done), "gone", report.Count(queue.Gone), report.Err())
	// Output:
	// done 1
	// done 0 gone 1 already gone
}

func ExampleSampler_Sample() {
	url, stop := exampleServer()
	defer stop()
	ctx := context.Background()
	c, err := queue.Open(ctx, queue.Options{URL: url, ReadOnly: true})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	q := queue.Queue{Name: "orders", Ready: "orders", Dead: "orders:dead"}
	poll, err := c.NewSampler().Sample(ctx, []queue.Queue{q})
	if err != nil {
		log.Fatal(err)
	}
	s := poll.Samples[0]
	fmt.Println(s.Ready.N, s.Ready.OK(), s.Delayed.OK())
	_, err = c.Enqueue(ctx, q, []byte("x"), queue.EnqueueOptions{})
	fmt.Println(errors.Is(err, queue.ErrReadOnly))
	// Output:
	// 0 true false
	// true
}
