package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"redq/queue"
)

type consumeFlags struct {
	pattern queue.Pattern // "" for the safest that suits the queue
	handler handlerFlags
	lock    lockFlags

	id                       string
	concurrency, batch       int64
	timeLimit                time.Duration
	retries                  int64
	backoff, backoffMax      time.Duration
	idle                     time.Duration
	spin                     int64
	stopWhenEmpty            bool
	max                      int64
	json, quiet              bool
	hasTimeLimit, hasRetries bool
}

const consumeLong = `Take messages from a queue and handle them, until a signal, --max or
--stop-when-empty ends it. A message is handled by a command, by an HTTP server,
or, without either, by printing it: it is acknowledged then, and gone.

Events go to standard output, one a line, and a summary at the end. INT, TERM or
HUP stops it: what is in hand is finished. INT or TERM again forces it, and what
was in hand stays in backup, or is put back in a pattern without one.

Patterns: list-poll (P1), list-block (P2), zset-race (P3), zset-script (P4),
lock (P5), dispatch (P6), backup-list (P7), pipeline (P8). P5, P7 and P8 keep
what is in hand in a backup list and lose nothing (at least once: a message may
come twice); the others lose what is in hand when they are killed (at most
once). Without --pattern a list is consumed by backup-list or pipeline.

Exit status: 0 stopped in good order; 1 forced, or could not run, or a message
failed for good with --max or --stop-when-empty; 2 wrong usage.`

func (r *run) consume() *cobra.Command {
	var f consumeFlags
	cmd := &cobra.Command{
		Use:   "consume QUEUE",
		Short: "Take messages and handle them: a command, HTTP, or print",
		Long:  consumeLong,
		Example: `  redq consume orders --exec './send-mail --stdin' --stop-when-empty
  redq consume orders --pattern pipeline --post http://localhost:8080/work
  redq consume orders --max 10 --json`,
		Args:              f.handler.queueArg(),
		ValidArgsFunction: r.completeQueue,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.read(cmd); err != nil {
				return err
			}
			if f.handler.log.file != "" {
				r.flags.log = f.handler.log.file
			}
			return r.consumeQueue(cmd.Context(), args[0], f)
		},
	}
	set := cmd.Flags()
	set.Var(&patternFlag{&f.pattern}, "pattern", "take messages by `PATTERN`: P1 to P8, or a name\n(default: the safest that suits the queue)")
	_ = cmd.RegisterFlagCompletionFunc("pattern", completePattern)
	f.handler.define(set)
	set.Var(&countFlag{&f.concurrency, 1}, "concurrency", "handle `N` messages at once (default 10)")
	set.Var(&countFlag{&f.batch, 1}, "batch", "take at most `N` messages in one request")
	set.Var(&durationFlag{&f.timeLimit, 0}, "time-limit", "fail a message that takes longer than `TIME`\n(default 10m, 0s for none)")
	set.Var(&countFlag{&f.retries, 0}, "retries", "try a failed message `N` times more (default 4\nby pipeline, lock and dispatch, else 0)")
	set.Var(&durationFlag{&f.backoff, time.Millisecond}, "backoff", "wait `TIME` before the first retry, and twice\nas long before each further one (default 1s)")
	set.Var(&durationFlag{&f.backoffMax, time.Millisecond}, "backoff-max", "but wait at most this `TIME` (default 10m)")
	set.Var(&durationFlag{&f.idle, time.Millisecond}, "idle", "pause `TIME` between looks that find nothing")
	set.Var(&countFlag{&f.spin, 1}, "spin", "pause after `N` such looks in a row (default\n512 by dispatch, else 1)")
	f.lock.define(cmd)
	set.BoolVar(&f.stopWhenEmpty, "stop-when-empty", false, "end when nothing is ready, due or in hand")
	set.Var(&countFlag{&f.max, 1}, "max", "end when `N` messages were taken and settled")
	set.StringVar(&f.id, "id", "", "this consumer's `NAME` (default: made of host,\nprocess and random letters)")
	set.BoolVar(&f.quiet, "quiet", false, "print the summary only")
	jsonVar(cmd, &f.json)
	return cmd
}

// longestBackoff is the longest wait before a retry unless told otherwise.
const longestBackoff = 10 * time.Minute

// read notes which flags were given, and what does not go together.
func (f *consumeFlags) read(cmd *cobra.Command) error {
	f.hasTimeLimit, f.hasRetries = cmd.Flags().Changed("time-limit"), cmd.Flags().Changed("retries")
	if f.backoffMax > 0 && f.backoffMax < f.backoff {
		return usagef("--backoff-max is shorter than --backoff")
	}
	if err := f.lock.check(); err != nil {
		return err
	}
	return f.handler.check(f.quiet)
}

// consumer puts a consumer together, but for its handler and its events.
func (f consumeFlags) consumer(c connection, use consumed) *queue.Consumer {
	consumer := &queue.Consumer{
		Client: c.Client, Queue: use.Queue, Pattern: use.by,
		ID: f.id, Concurrency: int(f.concurrency), Batch: int(f.batch), TimeLimit: f.timeLimit,
		Retry:         queue.Retry{Base: f.backoff, Max: f.backoffMax},
		Idle:          queue.Idle{Sleep: f.idle, Spin: int(f.spin)},
		Lock:          f.lock.lock(use),
		StopWhenEmpty: f.stopWhenEmpty, Max: f.max,
	}
	if f.hasTimeLimit && f.timeLimit == 0 {
		consumer.TimeLimit = -1
	}
	if f.backoffMax == 0 {
		consumer.Retry.Max = max(f.backoff, longestBackoff)
	}
	if f.hasRetries {
		consumer.Retry.Limit = int(f.retries) + 1
	}
	return consumer
}

func (r *run) consumeQueue(ctx context.Context, name string, f consumeFlags) error {
	signals, deafen := listen()
	defer deafen()
	c, err := r.connectToConsume(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	q, unknown, err := c.findOrName(ctx, name)
	if err != nil {
		return err
	}
	use := consumedBy(q, f.pattern)
	work, err := r.consumption(c, use, f)
	if err != nil {
		return err
	}
	if err := c.types(ctx, use.Queue); err != nil {
		return err
	}
	if unknown != nil {
		note(r.Stderr, "%v; waiting for one with the default keys", unknown)
	}
	for _, text := range use.notes() {
		note(r.Stderr, "%s", text)
	}
	r.log.Info("consume", "queue", q.Name, "pattern", use.by)
	work.signals = signals
	err = work.run(ctx)
	stats := work.Stats()
	r.log.Info("consumed", "queue", q.Name, "taken", stats.Taken, "done", stats.Done, "dead", stats.Dead)
	if !errors.Is(err, errDeserted) {
		_ = work.out.summary(stats, r.Now()) // verdict tells of a failed write
	}
	return work.verdict(err)
}

// connectToConsume opens a client without an undo journal: what a handler did cannot be undone.
func (r *run) connectToConsume(ctx context.Context) (connection, error) {
	s, err := r.settings()
	if err != nil {
		return connection{}, err
	}
	if s.options.ReadOnly {
		return connection{}, queue.ErrReadOnly
	}
	return r.open(ctx, s, false)
}

// consumption puts together the consumer, its handler and where its events go.
func (r *run) consumption(c connection, use consumed, f consumeFlags) (*consumption, error) {
	work := &consumption{
		out: newEventWriter(r.Stdout, use.Queue, f.json), notes: r.Stderr, now: r.Now,
		backup: use.keeps(), recovers: use.keeps() && use.by != queue.BackupList,
		bounded: f.stopWhenEmpty || f.max > 0,
	}
	handle, err := r.handler(f.handler, work.out, f.quiet)
	if err != nil {
		return nil, usagef("%v", err)
	}
	consumer := f.consumer(c, use)
	consumer.Handler = work.counting(handle)
	if !f.quiet {
		consumer.Events = work.out.event
	}
	if err := consumer.Validate(); err != nil {
		return nil, usagef("%v", err)
	}
	work.runner = consumer
	return work, nil
}

// findOrName returns the queue with the name, or one with the default keys when there is
// none, and then who is unknown: Redis keeps no empty queue, and a consumer may be there before the
// first message.
func (c connection) findOrName(ctx context.Context, name string) (q queue.Queue, unknown *unknownQueueError, err error) {
	q, err = c.find(ctx, name)
	if !errors.As(err, &unknown) {
		return q, nil, err
	}
	q = queue.Named(name)
	if err := q.Validate(); err != nil {
		return q, nil, usagef("%v", err)
	}
	return q, unknown, nil
}

// types refuses a queue with a key of a wrong type: a consumer would wait for ever for it to change.
func (c connection) types(ctx context.Context, q queue.Queue) error {
	for _, p := range queue.Places() {
		if !q.Has(p) {
			continue
		}
		if _, err := c.Peek(ctx, q, p, 0, 1); errors.Is(err, queue.ErrWrongType) {
			return failf("%s of %s: %v", p, line(q.Name), err)
		}
	}
	return nil
}
