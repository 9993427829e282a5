package queue

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Result is what became of one message.
type Result struct {
	Outcome Outcome
	Err     error  // nil when Done; ErrGone, *RefusedError, ErrUnknownOutcome …
	Note    string // after an unknown outcome: what a second look found
}

// Report is what became of an operation.
type Report struct {
	Op      Op
	Queue   string
	Entry   string   // the journal's id for it; "" when there is no journal
	Results []Result // one a message, in the order given
}

// Count returns how many messages had the outcome.
func (r Report) Count(o Outcome) int {
	n := 0
	for _, res := range r.Results {
		if res.Outcome == o {
			n++
		}
	}
	return n
}

// Err returns the first error of the results, nil when all were done.
func (r Report) Err() error {
	for _, res := range r.Results {
		if res.Err != nil {
			return res.Err
		}
	}
	return nil
}

// Totals adds the report up. Its Why is that of what was refused or is unknown, else of
// what was gone.
func (r Report) Totals() BulkReport {
	sum := BulkReport{Op: r.Op, Queue: r.Queue, Entry: r.Entry, Total: int64(len(r.Results))}
	var gone error
	for _, res := range r.Results {
		why := res.Err
		if res.Note != "" {
			why = fmt.Errorf("%w: %s", res.Err, res.Note)
		}
		switch res.Outcome {
		case Done:
			sum.Done++
		case Gone:
			sum.Gone++
			gone = cmp.Or(gone, why)
		case Refused:
			sum.Refused++
			sum.Why = cmp.Or(sum.Why, why)
		case Unknown:
			sum.Unknown++
			sum.Why = cmp.Or(sum.Why, why)
		}
	}
	sum.Why = cmp.Or(sum.Why, gone)
	return sum
}

// RedriveOptions say where messages go. The zero value is the back of the queue's own ready.
type RedriveOptions struct {
	Front bool   // where it is popped next
	ToKey string // another list; "" means the queue's ready
}

// Redrive moves messages back to ready: each found by its bytes near where it
// was seen, added, then removed, in one atomic step. Their order is kept at either
// end. A delayed message is moved only if its score is still the one seen ("run now").
//
// A queue without a ready list is consumed from its sorted set: there a message
// from dead becomes a delayed one that is due now, and a delayed one is
// rescheduled to now.
func (c *Client) Redrive(ctx context.Context, q Queue, ms []Message, o RedriveOptions) Report {
	to := o.ToKey
	if to == "" {
		var place Place
		if place, to = q.RedriveTarget(); place == Delayed {
			return c.redriveToDelayed(ctx, q, ms)
		}
	}
	end := q.PushEnd()
	if o.Front {
		end = end.Other()
	}
	order := oldestFirst(q, ms)
	if o.Front {
		slices.Reverse(order)
	}
	return c.run(ctx, OpRedrive, q, ms, order, func(r *Record) (*call, error) {
		switch {
		case to == "":
			return nil, fmt.Errorf("%w: ready", ErrNoSuchPlace)
		case to == r.Message.Key:
			return nil, ErrSameKey
		}
		r.ToPlace, r.ToKey, r.End = Ready, to, end
		return c.moveCall(r.Message, to, Ready, string(end), Message{}, false), c.oneSlot(r.Message.Key, to)
	})
}

// redriveToDelayed makes messages due now in a queue that has no ready list.
func (c *Client) redriveToDelayed(ctx context.Context, q Queue, ms []Message) Report {
	now, err := c.read.Time(ctx).Result()
	if err != nil {
		report := Report{Op: OpRedrive, Queue: q.Name, Results: make([]Result, len(ms))}
		refuse(report.Results, inOrder(ms), fmt.Errorf("%w: %w", ErrNotSent, err)) // only a read has failed
		return report
	}
	score := q.Unit.Score(now)
	return c.run(ctx, OpRedrive, q, ms, oldestFirst(q, ms), func(r *Record) (*call, error) {
		r.ToPlace, r.ToKey, r.ToScore = Delayed, q.Delayed, score
		if r.Message.Key == q.Delayed {
			r.Op = OpReschedule
			return rescheduleCall(q.Delayed, r.Message.Payload, r.Message.Score, score), nil
		}
		return c.moveCall(r.Message, q.Delayed, Delayed, "", Message{Score: score}, false), c.oneSlot(r.Message.Key, q.Delayed)
	})
}

// Delete removes messages after the journal has them.
func (c *Client) Delete(ctx context.Context, q Queue, ms []Message) Report {
	if err := c.mayDelete(); err != nil {
		report := Report{Op: OpDelete, Queue: q.Name, Results: make([]Result, len(ms))}
		refuse(report.Results, inOrder(ms), err)
		return report
	}
	return c.run(ctx, OpDelete, q, ms, oldestFirst(q, ms), func(r *Record) (*call, error) {
		m := r.Message
		return &call{script: scriptRemove, keys: []string{m.Key}, args: []any{
			m.Payload, kind(m.Place), m.Index, m.Len, string(m.Score), mark(), searchLimit,
		}}, nil
	})
}

// Reschedule gives delayed messages the due time, each only if its score is still the one seen.
func (c *Client) Reschedule(ctx context.Context, q Queue, ms []Message, due time.Time) Report {
	score := q.Unit.Score(due)
	return c.run(ctx, OpReschedule, q, ms, inOrder(ms), func(r *Record) (*call, error) {
		if r.Message.Place != Delayed {
			return nil, fmt.Errorf("%w to reschedule in: the message is in %s", ErrNoSuchPlace, r.Message.Place)
		}
		r.ToScore = score
		return rescheduleCall(r.Message.Key, r.Message.Payload, r.Message.Score, score), nil
	})
}

// Edit replaces one message in place, keeping its position or score. Equal bytes
// already in a sorted set are an *AlreadyDelayedError.
func (c *Client) Edit(ctx context.Context, q Queue, m Message, payload []byte) Report {
	ms := []Message{m}
	if err := c.mayDelete(); err != nil { // the old bytes would be lost
		report := Report{Op: OpEdit, Queue: q.Name, Results: make([]Result, 1)}
		refuse(report.Results, inOrder(ms), err)
		return report
	}
	return c.run(ctx, OpEdit, q, ms, inOrder(ms), func(r *Record) (*call, error) {
		r.Payload = payload
		return replaceCall(r.Message, payload), nil
	})
}

const (
	// searchLimit is how many entries a script compares from each end of a list
	// before it looks near the old position only: about 10 ms of the server.
	searchLimit = 1_000_000
	// A batch is one pipeline: its messages are in the journal before any is asked for.
	batchMessages = 100
	batchBytes    = 4 << 20
	// batchSteps bounds how many list entries the server passes to reach the
	// messages of a batch: other clients wait for about 20 ms at most.
	batchSteps = 1_000_000
)

// errNotAsked is the result of the messages behind one whose outcome is unknown.
var errNotAsked = fmt.Errorf("%w: the operation stopped before this message", ErrNotSent)

// run carries out one operation: in batches, each message loaded whole, written
// to the journal, and then asked of the server once.
//
// order lists the positions in ms in the order to work in. build completes the
// record of one message and says what to call.
func (c *Client) run(ctx context.Context, op Op, q Queue, ms []Message, order []int, build func(*Record) (*call, error)) Report {
	report := Report{Op: op, Queue: q.Name, Results: make([]Result, len(ms))}
	if c.opts.ReadOnly {
		refuse(report.Results, order, ErrReadOnly)
		return report
	}
	entry := rand.Text()
	if c.opts.Journal != nil {
		report.Entry = entry
	}
	seq := 0
	c.inBatches(ctx, order, ms, report.Results, Answered, func(_ int, m Message) (step, error) {
		r := &Record{
			Kind: Intent, Entry: entry, Seq: seq, Time: time.Now(),
			Server: c.address, Queue: q.Name, Op: op, Message: m,
		}
		cl, err := build(r)
		if err == nil { // the numbers in the journal have no gap: one would say that something was lost
			seq++
		}
		return step{record: r, call: cl}, err
	})
	return report
}

// inBatches works through ms in order, batch by batch, and fills the results. It
// stops between batches when ctx ends, and after a batch whose answers were lost.
func (c *Client) inBatches(ctx context.Context, order []int, ms []Message, results []Result, answer RecordKind, build buildStep) {
	for len(order) > 0 {
		if ctx.Err() != nil {
			refuse(results, order, fmt.Errorf("%w: cancelled", ErrNotSent))
			return
		}
		var batch []step
		batch, order = c.prepare(ctx, order, ms, results, build)
		lost, err := c.perform(ctx, batch, answer, results)
		if err != nil {
			refuse(results, indexes(batch), err)
			refuse(results, order, err)
			return
		}
		if lost {
			refuse(results, order, errNotAsked)
			return
		}
	}
}

// buildStep makes the step for the message at position i, which is m as a whole.
type buildStep func(i int, m Message) (step, error)

// step is one message of a batch on its way.
type step struct {
	index  int // in the report
	record *Record
	call   *call
}

func indexes(batch []step) []int {
	var at []int
	for _, s := range batch {
		at = append(at, s.index)
	}
	return at
}

// prepare takes the next batch off order. Messages that cannot be asked for get
// their result at once.
func (c *Client) prepare(ctx context.Context, order []int, ms []Message, results []Result, build buildStep) (batch []step, rest []int) {
	bytes, steps := 0, int64(0)
	for n, i := range order {
		if len(batch) == batchMessages || bytes >= batchBytes || steps >= batchSteps {
			return batch, order[n:]
		}
		m := ms[i]
		var err error
		if !m.Complete() {
			m, err = c.Load(ctx, m)
		}
		if err == nil {
			var s step
			if s, err = build(i, m); err == nil {
				s.index = i
				batch = append(batch, s)
				bytes += len(m.Payload)
				if m.Place != Delayed {
					steps += min(m.Index, m.Len-1-m.Index)
				}
				continue
			}
		}
		results[i] = resultOf(err)
	}
	return batch, nil
}

// perform writes a batch to the journal, asks the server, fills the results and
// writes them to the journal. lost is true when an answer did not come: then the
// server should not be asked for more. An error means that nothing was asked.
func (c *Client) perform(ctx context.Context, batch []step, answer RecordKind, results []Result) (lost bool, err error) {
	if len(batch) == 0 {
		return false, nil
	}
	intents := make([]Record, len(batch))
	calls := make([]*call, len(batch))
	for i, s := range batch {
		intents[i], calls[i] = *s.record, s.call
	}
	if err := c.record(intents...); err != nil {
		return false, err
	}
	// An operator who cancels must not make an outcome unknown.
	sending, done := c.bounded(ctx)
	c.runCalls(sending, calls)
	done()

	looking, done := c.bounded(ctx)
	defer done()
	answers := make([]Record, len(batch))
	for i, s := range batch {
		res := s.call.result()
		if res.Outcome == Unknown {
			lost = true
			res.Note = c.secondLook(looking, *s.record)
		}
		if errors.Is(res.Err, ErrNotSent) {
			lost = true
		}
		var moved *RescheduledError
		if errors.As(res.Err, &moved) {
			moved.Old = s.record.Message.Score
		}
		results[s.index] = res
		answers[i] = Record{Kind: answer, Entry: s.record.Entry, Seq: s.record.Seq, Time: time.Now(), Outcome: res.Outcome}
		if res.Outcome == Done && (s.call.script == scriptRemove || s.call.script == scriptMove) {
			answers[i].Message.Index, answers[i].Message.Len = s.call.num(1), s.call.num(2)
		}
	}
	// The answers only spare a later undo some questions: without them it looks itself.
	if err := c.record(answers...); err != nil {
		c.logf("journal: %v", err)
	}
	return lost, nil
}

// record writes to the journal, if there is one.
func (c *Client) record(rs ...Record) error {
	if c.opts.Journal == nil {
		return nil
	}
	if err := c.opts.Journal.Append(rs...); err != nil {
		return fmt.Errorf("the undo journal could not be written, so the server was not asked: %w", err)
	}
	return nil
}

func (c *Client) logf(format string, args ...any) {
	if c.opts.Logf != nil {
		c.opts.Logf(format, args...)
	}
}

// bounded returns a context for one batch, which has its own time and is not
// cancelled with ctx.
func (c *Client) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), c.patience())
}

// patience bounds one batch as a whole.
func (c *Client) patience() time.Duration {
	if c.opts.Timeout > 0 {
		return 2 * c.opts.Timeout
	}
	return 10 * time.Second
}

// result reads the answer of a call that was run.
func (cl *call) result() Result {
	if cl.err != nil {
		return resultOf(cl.err)
	}
	switch cl.status() {
	case "done":
		return Result{Outcome: Done}
	case "gone":
		return resultOf(ErrGone)
	case "back":
		return resultOf(ErrAlreadyBack)
	case "far":
		return resultOf(&RefusedError{Code: "FAR", Text: "not near where it was seen, and the list is too long to search at once: look again and retry"})
	case "type":
		return resultOf(fmt.Errorf("%w: %s holds a %s", ErrWrongType, cl.str(1), cl.str(2)))
	case "exists":
		return resultOf(&AlreadyDelayedError{Key: cl.keys[len(cl.keys)-1], Score: Score(cl.str(1))})
	case "changed":
		return resultOf(&RescheduledError{Now: Score(cl.str(1))})
	}
	return resultOf(&RefusedError{Code: "ERR", Text: "unexpected answer of script " + cl.script.name})
}

// resultOf turns an error into a result.
func resultOf(err error) Result {
	switch {
	case err == nil:
		return Result{Outcome: Done}
	case errors.Is(err, ErrGone), errors.Is(err, ErrAlreadyBack):
		return Result{Outcome: Gone, Err: err}
	case errors.Is(err, ErrUnknownOutcome):
		return Result{Outcome: Unknown, Err: err}
	}
	return Result{Outcome: Refused, Err: err}
}

func refuse(results []Result, at []int, err error) {
	for _, i := range at {
		results[i] = Result{Outcome: Refused, Err: err}
	}
}

// moveCall moves m to another key. where is an end, or head or tail with the
// position and length of old; unlessBack asks for "back" when the target has
// equal bytes already.
func (c *Client) moveCall(m Message, to string, place Place, where string, old Message, unlessBack bool) *call {
	return &call{script: scriptMove, keys: []string{m.Key, to}, args: []any{
		m.Payload, kind(m.Place), m.Index, m.Len, string(m.Score),
		kind(place), where, string(old.Score), mark(), old.Index, old.Len, searchLimit, flag(unlessBack),
	}}
}

func rescheduleCall(key string, payload []byte, from, to Score) *call {
	return &call{script: scriptReschedule, keys: []string{key}, args: []any{payload, string(from), string(to)}}
}

func replaceCall(m Message, payload []byte) *call {
	return &call{script: scriptReplace, keys: []string{m.Key}, args: []any{
		m.Payload, kind(m.Place), m.Index, m.Len, string(m.Score), payload, searchLimit,
	}}
}

// kind is the Redis type of a place.
func kind(p Place) string {
	if p == Delayed {
		return "zset"
	}
	return "list"
}

// mark returns bytes that no message equals.
func mark() string { return "redq-mark:" + rand.Text() }

func flag(on bool) string {
	if on {
		return "1"
	}
	return "0"
}

// oldestFirst returns the positions of ms so that of one key the oldest message
// comes first, or the one due first. Several keys stay in the order they appear in.
func oldestFirst(q Queue, ms []Message) []int {
	keyOrder := map[string]int{}
	for _, m := range ms {
		if _, ok := keyOrder[m.Key]; !ok {
			keyOrder[m.Key] = len(keyOrder)
		}
	}
	order := inOrder(ms)
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := ms[a], ms[b]
		if by := cmp.Compare(keyOrder[x.Key], keyOrder[y.Key]); by != 0 {
			return by
		}
		if x.Place == Delayed {
			return cmp.Compare(x.Index, y.Index)
		}
		if oldestEnd(q, x.Place) == Left {
			return cmp.Compare(x.Index, y.Index)
		}
		return cmp.Compare(y.Index, x.Index)
	})
	return order
}

// oldestEnd is the end of a place's list where the oldest message lies.
func oldestEnd(q Queue, p Place) End {
	if p == Ready {
		return q.PushEnd().Other()
	}
	return Right // backup and dead: newest at the head
}

func inOrder[T any](all []T) []int {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	return order
}
