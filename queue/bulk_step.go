package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// bulkStampKey names the key that remembers which steps of an operation have happened: a
// hash with a field for each, the number of its first message.
func bulkStampKey(key, entry string) string {
	const infix = ":redq-bulk:"
	name := key + infix + entry
	if slotOf(name) != slotOf(key) {
		name = "{" + key + "}" + infix + entry
	}
	return name
}

// bulkStep is one step on its way: some messages of a key.
type bulkStep struct {
	part     *setPart
	at       []int64 // their positions; nil: the first n from the end
	n        int
	total    int64 // length of the key when it was read, as far as known
	prints   []Print
	payloads [][]byte // when they are removed
	scores   []Score
	toScores []Score
	messages []spanned // when they were read for it
	identity string
	record   Record // its intent, once that is in the journal
	refused  []int  // by the answer: which of them have equal bytes in the target
	found    []int  // their places in the part's prints, where that is indexed
}

// positions returns where the i-th message was when it was read.
func (s *bulkStep) positions(i int) int64 {
	if s.at == nil {
		return int64(i)
	}
	return s.at[i]
}

// finish makes a step ready to be asked for.
func (s *bulkStep) finish(mark string) {
	id := newIdentity(mark)
	inRow := true
	for i, m := range s.messages {
		id.add(m)
		inRow = inRow && s.at[i] == int64(i)
	}
	s.identity = id.hex()
	if inRow {
		s.at = nil // from the very end: the server need not look for each
	}
}

// intent is what the journal gets before the server is asked.
func (r *bulkRun) intent(s *bulkStep) Record {
	batch := &Batch{Prints: s.prints, Scores: s.scores, ToScores: s.toScores}
	if r.target == "none" {
		batch.Prints, batch.Payloads = nil, s.payloads
	}
	fromHead := func(at int64) int64 {
		if s.part.end == Right {
			return s.total - 1 - at
		}
		return at
	}
	if s.part.place != Delayed && s.at != nil {
		batch.Index = make([]int64, len(s.at))
		for i, at := range s.at {
			batch.Index[i] = fromHead(at)
		}
	}
	rec := Record{
		Kind: Intent, Entry: r.entry, Seq: r.seq, Time: time.Now(), Server: r.c.address, Queue: r.set.Queue.Name, Op: r.Op,
		Message: Message{Place: s.part.place, Key: s.part.key, Index: fromHead(s.positions(0)), Len: s.total}, Batch: batch,
		ToPlace: r.ToPlace, ToKey: r.to,
	}
	if r.target == "list" {
		rec.End = r.pushTo
	}
	r.seq += s.n
	return rec
}

// stepLog is told of each step before the server is asked, and what became of it.
type stepLog interface {
	intent(s *bulkStep) error
	answer(s *bulkStep, o Outcome)
	// flush is told when the operation has ended.
	flush() error
}

// bulkJournal is the stepLog of an operation. What became of a step is written with the next one: a
// step costs one wait for the disk.
type bulkJournal struct {
	run     *bulkRun
	answers []Record
}

func (j *bulkJournal) intent(s *bulkStep) error {
	s.record = j.run.intent(s)
	if err := j.run.c.record(append(slices.Clip(j.answers), s.record)...); err != nil {
		return err // the answers are for flush to write, or else the server keeps them
	}
	j.answers = nil
	return nil
}

func (j *bulkJournal) answer(s *bulkStep, o Outcome) {
	j.answers = append(j.answers, Record{Kind: Answered, Entry: j.run.entry, Seq: s.record.Seq, Time: time.Now(), Outcome: o})
}

func (j *bulkJournal) flush() error {
	if len(j.answers) == 0 {
		return nil
	}
	answers := j.answers
	j.answers = nil
	return j.run.c.record(answers...)
}

// prepare has a step logged when its turn has come.
func (r *bulkRun) prepare(ctx context.Context, s *bulkStep) error {
	if err := r.gate(ctx, s.n); err != nil {
		return err
	}
	return r.log.intent(s)
}

// took counts a step that is done. found are its places in an indexed part.
func (r *bulkRun) took(s *bulkStep, found []int) {
	s.found = found
	r.log.answer(s, Done)
	r.report.Done += int64(s.n)
	r.tell()
}

// refused counts messages that cannot go.
func (r *bulkRun) refused(n int64, why error) {
	r.report.Refused += n
	r.report.Why = cmp.Or(r.report.Why, why)
}

// failed notes that a step was not done, or that nobody knows.
func (r *bulkRun) failed(s *bulkStep, err error) {
	switch {
	case errors.Is(err, errUnseen):
		r.unseen = true
		r.log.answer(s, Unknown)
	case errors.Is(err, ErrUnknownOutcome):
		r.unseen = true
		r.log.answer(s, Unknown)
		r.report.Unknown += int64(s.n)
		r.report.Why = cmp.Or(r.report.Why, err)
	default:
		r.log.answer(s, Refused)
	}
}

// errMoved is the answer for a step whose messages are not where they were any more.
var errMoved = errors.New("the messages have moved")

// errUnseen is an errMoved of a step whose answer was lost and of which the server has no stamp.
var errUnseen = fmt.Errorf("%w, or the step has happened without leaving a stamp", errMoved)

// errPresent is the answer for a step of which some have equal bytes in the target; see refused.
var errPresent = errors.New("equal bytes are delayed already")

// call makes the call of a step.
func (r *bulkRun) call(s *bulkStep) *call {
	q := r.set.Queue
	to := r.to
	if to == "" {
		to = s.part.key
	}
	n := s.n
	if s.at != nil {
		n = 0
	}
	args := make([]any, 0, 12+len(s.at)+len(s.toScores))
	args = append(args, kind(s.part.place), string(s.part.end), r.target, string(r.pushTo), s.identity, largePayload, r.set.mark,
		s.record.Seq, stampLife.Milliseconds(), flag(r.ResetAttempts), n, len(s.at))
	for _, at := range s.at {
		args = append(args, at)
	}
	for _, score := range s.toScores {
		args = append(args, string(score))
	}
	return &call{script: scriptBulk, keys: []string{s.part.key, to, r.stampKey(s.part.key), q.MetaKey()}, args: args}
}

// ask has the server carry out a prepared step. nil: it is done.
func (r *bulkRun) ask(ctx context.Context, s *bulkStep) error {
	cl := r.call(s)
	for {
		sending, done := r.c.bounded(ctx) // an operator who cancels must not make an outcome unknown
		r.c.runCalls(sending, []*call{cl})
		done()
		if errors.Is(cl.err, ErrUnknownOutcome) {
			return r.resolve(ctx, s, cl.err)
		}
		if !isAway(cl.err) {
			break
		}
		ping := func(ctx context.Context) error { return r.c.write.Ping(ctx).Err() }
		if err := r.await(ctx, cl.err, ping); err != nil {
			return err
		}
		cl.err, cl.reply = nil, nil // it was not carried out: once more
	}
	if cl.err != nil {
		return cl.err
	}
	switch cl.status() {
	case "done":
		return nil
	case "changed":
		return errMoved
	case "exists":
		for i := 1; i < len(cl.reply); i++ {
			s.refused = append(s.refused, int(cl.num(i))-1)
		}
		return errPresent
	}
	return cl.result().Err
}

// resolve finds out what became of a step whose answer was lost, as soon as the server
// answers again. errUnseen: its messages are to be looked for anew.
func (r *bulkRun) resolve(ctx context.Context, s *bulkStep, lost error) error {
	err := r.await(ctx, lost, func(ctx context.Context) error {
		there, err := r.c.write.HExists(ctx, r.stampKey(s.part.key), strconv.Itoa(s.record.Seq)).Result()
		if err == nil && !there {
			return errUnseen
		}
		return err
	})
	if err != nil && !errors.Is(err, errMoved) {
		return fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
	}
	return err
}

// await asks until the server answers, longer and longer between two attempts.
func (r *bulkRun) await(ctx context.Context, why error, ask func(context.Context) error) error {
	defer func() { r.report.Trouble = nil }()
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		r.report.Trouble = why
		r.tell()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		asking, done := r.c.bounded(ctx)
		err := ask(asking)
		done()
		if !isAway(err) {
			return err
		}
		why = err
	}
}

// isAway reports whether a server could not be reached, or says that it cannot answer yet.
func isAway(err error) bool {
	if err == nil || errors.Is(err, errMoved) {
		return false
	}
	var refused *RefusedError
	if err = classify(err); errors.As(err, &refused) {
		return refused.Code == "LOADING"
	}
	return errors.Is(err, ErrNotSent) || errors.Is(err, ErrUnknownOutcome)
}
