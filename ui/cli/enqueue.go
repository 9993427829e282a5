package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"redq/queue"
)

type enqueueFlags struct {
	due
	front, wrap, create, json bool
}

func (r *run) enqueue() *cobra.Command {
	var f enqueueFlags
	cmd := &cobra.Command{
		Use:   "enqueue QUEUE [PAYLOAD]",
		Short: "Put one message into a queue, now or delayed",
		Long: `Put one message into a queue: its bytes are those of PAYLOAD, or those of
standard input, every one of them (printf, not echo, leaves the newline out).`,
		Example: `  redq enqueue orders '{"order":53}'
  redq enqueue orders --in 1h30m < message.bin`,
		Args:              queueArg(1),
		ValidArgsFunction: r.completeQueue,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.read(cmd); err != nil {
				return err
			}
			if f.front && f.given() {
				return usagef("--front is an end of ready: expected either it or --in or --at")
			}
			if f.create {
				if err := (queue.Named(args[0])).Validate(); err != nil {
					return usagef("%v", err)
				}
			}
			payload, err := r.payload(cmd.Context(), args[1:])
			if err != nil {
				return err
			}
			return r.enqueueTo(cmd.Context(), args[0], payload, f)
		},
	}
	f.define(cmd, r.Now)
	cmd.Flags().BoolVar(&f.front, "front", false, "to the end that runs next, instead of the back")
	cmd.Flags().BoolVar(&f.wrap, "wrap", false, `send {"id":"<random>","msg":PAYLOAD}, so that equal payloads stay apart`)
	cmd.Flags().BoolVar(&f.create, "create", false, "also to a queue that does not exist yet, with the default keys")
	jsonVar(cmd, &f.json)
	return cmd
}

// maxPayload is the largest string a Redis server takes by default.
const maxPayload = 512 << 20

// payload returns the message's bytes: the argument, else standard input.
func (r *run) payload(ctx context.Context, args []string) ([]byte, error) {
	if len(args) > 0 {
		return []byte(args[0]), nil
	}
	if _, ok := terminalOf(r.Stdin); ok {
		return nil, usagef("expected the payload as an argument, or on standard input from a pipe or file")
	}
	b, err := wait(ctx, func() ([]byte, error) { return io.ReadAll(io.LimitReader(r.Stdin, maxPayload+1)) })
	switch {
	case err != nil:
		return nil, failf("cannot read the payload from standard input: %v", err)
	case len(b) == 0:
		// More often a program that failed in front of the pipe than a wish.
		return nil, failf("standard input is empty: an empty message is sent by the argument ''")
	case len(b) > maxPayload:
		return nil, failf("the payload is larger than Redis takes (512 MB)")
	}
	return b, nil
}

func (r *run) enqueueTo(ctx context.Context, name string, payload []byte, f enqueueFlags) error {
	c, err := r.connectToChange(ctx, false)
	if err != nil {
		return err
	}
	defer c.close()
	q, err := c.find(ctx, name)
	var unknown *unknownQueueError
	switch {
	case errors.As(err, &unknown) && f.create:
		q = queue.Named(name)
	case errors.As(err, &unknown):
		return failf("%v; --create makes one with the default keys", err)
	case err != nil:
		return err
	}
	delayed := f.given()
	switch {
	case delayed && !q.Has(queue.Delayed):
		return failf("%s has no delayed messages: without --in and --at the message goes to ready", line(q.Name))
	case !delayed && !q.Has(queue.Ready):
		return failf("%s has no ready list: --in or --at enqueues a delayed message", line(q.Name))
	}
	if delayed {
		// This machine's clock is near enough to the server's to tell the year.
		if err := fits(q.Unit, f.from(r.Now())); err != nil {
			return err
		}
	}
	sent, err := c.Enqueue(ctx, q, payload, queue.EnqueueOptions{
		Front: f.front, In: f.in, At: f.at, Delay: delayed, Wrap: f.wrap,
	})
	r.log.Info("enqueue", "queue", q.Name, "place", sent.Place, "id", sent.ID, "ok", err == nil)
	if printErr := r.printEnqueued(q, sent, err, f); printErr != nil {
		return printErr
	}
	return enqueueTrouble(sent, err)
}

func (r *run) printEnqueued(q queue.Queue, sent queue.Enqueued, err error, f enqueueFlags) error {
	if f.json {
		j := operationOf(queue.Report{Op: queue.OpEnqueue, Queue: q.Name, Results: []queue.Result{{Outcome: outcomeOf(err)}}}.Totals())
		if sent.Key != "" {
			j.enqueuedJSON = &enqueuedJSON{Place: sent.Place, Due: timeJSON(sent.Due), ID: sent.ID}
			j.Key, j.KeyB64 = textJSON(sent.Key)
			if sent.Score != "" {
				j.Score = scoreJSON(sent.Score)
			}
		}
		return writeJSON(r.Stdout, j)
	}
	if err != nil {
		return nil
	}
	what := fmt.Sprintf("enqueued to %s (%s) of %s", sent.Place, line(sent.Key), line(q.Name))
	switch {
	case sent.Place == queue.Delayed:
		what += fmt.Sprintf(", due %s, score %s", timeText(sent.Due, r.Now()), sent.Score)
	case f.front:
		what += ", runs next"
	}
	if sent.ID != "" {
		what += ", id " + sent.ID
	}
	_, err = fmt.Fprintf(r.Stdout, "%s; %d there now\n", what, sent.Len)
	return err
}

func outcomeOf(err error) queue.Outcome {
	switch {
	case err == nil:
		return queue.Done
	case errors.Is(err, queue.ErrUnknownOutcome):
		return queue.Unknown
	}
	return queue.Refused
}

// enqueueTrouble adds to an error what can be done about it.
func enqueueTrouble(sent queue.Enqueued, err error) error {
	var present *queue.AlreadyDelayedError
	switch {
	case errors.As(err, &present):
		return failf("%v: redq reschedule gives that one another time, --wrap sends this one with an id of its own", present)
	case sent.Note != "":
		return failf("%s: %s", queue.Explain(err), sent.Note)
	}
	return err
}
