package queue_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"redq/queue"
)

// exampleClient is a client on a Redis of your own.
func exampleClient() (c *queue.Client, stop func()) {
	url, stopServer := exampleServer()
	c, err := queue.Open(context.Background(), queue.Options{URL: url})
	if err != nil {
		log.Fatal(err)
	}
	return c, func() {
		_ = c.Close()
		stopServer()
	}
}

// enqueue adds messages to ready.
func enqueue(c *queue.Client, q queue.Queue, payloads ...string) {
	for _, p := range payloads {
		if _, err := c.Enqueue(context.Background(), q, []byte(p), queue.EnqueueOptions{}); err != nil {
			log.Fatal(err)
		}
	}
}

// schedule adds messages that have just become due, one after the other.
func schedule(c *queue.Client, q queue.Queue, payloads ...string) {
	at := time.Now().Add(-time.Second)
	for i, p := range payloads {
		if _, err := c.Schedule(context.Background(), q, []byte(p), at.Add(time.Duration(i)*time.Millisecond)); err != nil {
			log.Fatal(err)
		}
	}
}

// The pipeline (P8) does all that a queue needs: here a message fails once, and is handled
// again after a pause.
func ExampleConsumer() {
	c, stop := exampleClient()
	defer stop()
	q := queue.Named("orders")
	enqueue(c, q, "order 1")

	con := &queue.Consumer{
		Client: c, Queue: q, Pattern: queue.Pipeline,
		Retry: queue.Retry{Limit: 3, Base: 10 * time.Millisecond},
		Max:   2, // for the example: a service runs until its context ends
		Handler: func(_ context.Context, m queue.Message) error {
			fmt.Printf("%s, %d failed before\n", m.Payload, m.Attempts)
			if m.Attempts == 0 {
				return errors.New("the bank does not answer")
			}
			return nil
		},
	}
	if err := con.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
	// Output:
	// order 1, 0 failed before
	// order 1, 1 failed before
}

// P1: pops from a plain list and sleeps when it is empty. At most once.
func ExampleConsumer_listPoll() {
	c, stop := exampleClient()
	defer stop()
	q := queue.Queue{Name: "notify", Ready: "notify"}
	enqueue(c, q, "apple", "banana")
	runPrinting(c, q, queue.ListPoll)
	// Output:
	// apple
	// banana
}

// P2: blocks on a plain list. At most once.
func ExampleConsumer_listBlock() {
	c, stop := exampleClient()
	defer stop()
	q := queue.Queue{Name: "mail", Ready: "mail"}
	enqueue(c, q, "letter 1", "letter 2")
	runPrinting(c, q, queue.ListBlock)
	// Output:
	// letter 1
	// letter 2
}

// P3: looks for due messages, and owns one only if it was the one to remove it. At most once.
func ExampleConsumer_zsetRace() {
	c, stop := exampleClient()
	defer stop()
	q := queue.Queue{Name: "reminders", Delayed: "reminders"}
	schedule(c, q, "call back", "pay rent")
	runPrinting(c, q, queue.ZsetRace)
	// Output:
	// call back
	// pay rent
}

// P4: one script finds and removes due messages, in batches. At most once.
func ExampleConsumer_zsetScript() {
	c, stop := exampleClient()
	defer stop()
	q := queue.Queue{Name: "invoices", Delayed: "invoices"}
	schedule(c, q, "invoice 1", "invoice 2")
	runPrinting(c, q, queue.ZsetScript)
	// Output:
	// invoice 1
	// invoice 2
}

// P5: a message is handled only while its lock is held; one whose lock somebody else
// holds is deferred for a minute. At least once.
func ExampleConsumer_lock() {
	c, stop := exampleClient()
	defer stop()
	q := queue.Named("stock")
	enqueue(c, q, "article 7")

	con := &queue.Consumer{
		Client: c, Queue: q, Pattern: queue.LockRetry, Max: 1,
		Lock: &queue.Lock{
			Key:      func(m queue.Message) string { return "lock:" + string(m.Payload) },
			Conflict: queue.LockDefer, Wait: time.Minute,
		},
		Handler: func(_ context.Context, m queue.Message) error {
			fmt.Printf("%s is mine\n", m.Payload)
			return nil
		},
	}
	if err := con.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(con.Stats().Done, "done,", con.Stats().Deferred, "deferred")
	// Output:
	// article 7 is mine
	// 1 done, 0 deferred
}

// P6: the handler is chosen by a field of the payload (package handler has a mux for
// that); what fails is put back, and dead after its last attempt. At most once.
func ExampleConsumer_dispatch() {
	c, stop := exampleClient()
	defer stop()
	q := queue.Queue{Name: "jobs", Delayed: "jobs", Dead: "jobs:dead"}
	schedule(c, q, `{"beanName":"sms"}`, `{"beanName":"fax"}`)

	con := &queue.Consumer{
		Client: c, Queue: q, Pattern: queue.Dispatch, Concurrency: 1, StopWhenEmpty: true,
		Retry: queue.Retry{Limit: 1},
		Handler: func(_ context.Context, m queue.Message) error {
			if string(m.Payload) == `{"beanName":"sms"}` {
				return nil
			}
			return errors.New("no such bean")
		},
	}
	if err := con.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(con.Stats().Done, "done,", con.Stats().Dead, "dead")
	// Output:
	// 1 done, 1 dead
}

// P7: takes into a shared backup list and removes from it what was done, beside other
// programs on the same keys. What fails stays in backup. At least once.
func ExampleConsumer_backupList() {
	c, stop := exampleClient()
	defer stop()
	q := queue.Queue{Name: "queueA", Ready: "queueA", Backups: []string{"queueA:backup"}}
	enqueue(c, q, "Hello-1", "Hello-2")
	runPrinting(c, q, queue.BackupList)
	page, err := c.Peek(context.Background(), q, queue.Backup, 0, 10)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(page.Total, "in backup")
	// Output:
	// Hello-1
	// Hello-2
	// 0 in backup
}

// Defer puts a message off without using an attempt.
func ExampleDefer() {
	c, stop := exampleClient()
	defer stop()
	q := queue.Named("orders")
	enqueue(c, q, "order 1")
	con := &queue.Consumer{
		Client: c, Queue: q, Max: 1,
		Handler: func(context.Context, queue.Message) error {
			return queue.Defer(time.Hour, errors.New("the shop is closed"))
		},
	}
	if err := con.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
	page, err := c.Peek(context.Background(), q, queue.Delayed, 0, 10)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(con.Stats().Deferred, "deferred,", page.Total, "delayed")
	// Output:
	// 1 deferred, 1 delayed
}

// runPrinting handles what is there, one message at a time.
func runPrinting(c *queue.Client, q queue.Queue, p queue.Pattern) {
	con := &queue.Consumer{
		Client: c, Queue: q, Pattern: p, Concurrency: 1, StopWhenEmpty: true,
		Handler: func(_ context.Context, m queue.Message) error {
			fmt.Printf("%s\n", m.Payload)
			return nil
		},
	}
	if err := con.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
