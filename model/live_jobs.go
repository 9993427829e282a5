package model

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"redq/queue"
	"redq/queue/sieve"
)

// deadEvery is how often a job looks whether messages die.
const deadEvery = 200 * time.Millisecond

// liveJob is a job that Live runs, from its start until it is forgotten.
type liveJob struct {
	takes     []string // keys
	cancel    context.CancelFunc
	confirmed func()        // closes go
	going     chan struct{} // closed when it may change something
	ended     chan struct{} // closed when the last news are there

	mu      sync.Mutex // guards what follows
	news    JobNews
	resumed chan struct{} // not nil while it is paused; closed when it goes on
}

// StartJob starts a job, unless another one takes messages from the same key.
func (l *Live) StartJob(w Work) (int, error) {
	if l.Client.ReadOnly() && len(w.Takes()) > 0 {
		return 0, queue.ErrReadOnly
	}
	l.starting.Lock()
	defer l.starting.Unlock()
	if err := l.refuseSecond(w); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	j := &liveJob{takes: w.Takes(), cancel: cancel, going: make(chan struct{}), ended: make(chan struct{})}
	j.confirmed = sync.OnceFunc(func() { close(j.going) })
	j.news.Phase = JobRunning
	if b, ok := w.(BulkWork); ok {
		j.news.Phase = JobFixing
		if !b.Ask {
			j.confirmed()
		}
	}
	do := l.doing(j, w)
	if e, ok := w.(ExportWork); ok {
		file, err := l.create(e)
		if err != nil {
			cancel()
			return 0, err
		}
		do = func(ctx context.Context) (queue.BulkReport, error) { return l.export(ctx, j, e, file) }
	}
	go j.run(ctx, do)
	return l.jobs.add(j), nil
}

// refuseSecond tells which job is at work on the same messages.
func (l *Live) refuseSecond(w Work) error {
	ids, all := l.jobs.list()
	for i, j := range all {
		if j.isOver() {
			continue
		}
		for _, key := range w.Takes() {
			if slices.Contains(j.takes, key) {
				return fmt.Errorf("job %d is at work on %s already: J shows it", ids[i], shown(key))
			}
		}
	}
	return nil
}

func (j *liveJob) isOver() bool {
	select {
	case <-j.ended:
		return true
	default:
		return false
	}
}

// doing returns what changes messages.
func (l *Live) doing(j *liveJob, w Work) func(context.Context) (queue.BulkReport, error) {
	return func(ctx context.Context) (queue.BulkReport, error) {
		switch w := w.(type) {
		case BulkWork:
			return l.bulk(ctx, j, w)
		case PurgeWork:
			return l.purge(ctx, j, w)
		case UndoWork:
			return l.undo(ctx, w.Entry.ID, func(r queue.BulkReport) { j.holding(ctx, r) })
		}
		return queue.BulkReport{}, fmt.Errorf("%T is no work for a job", w)
	}
}

// run does the work. A panic in it would leave the terminal raw.
func (j *liveJob) run(ctx context.Context, do func(context.Context) (queue.BulkReport, error)) {
	var err error
	defer close(j.ended)
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the job broke, which is a fault of redq: %v\n%s", v, debug.Stack())
		}
		j.update(func(n *JobNews) { n.Phase, n.Err, n.Paused = JobEnded, err, "" })
		j.cancel()
	}()
	var report queue.BulkReport
	report, err = do(ctx)
	j.update(func(n *JobNews) { n.Report = report })
}

func (j *liveJob) update(change func(*JobNews)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change(&j.news)
}

// held waits while the job is paused, at most until ctx ends.
func (j *liveJob) held(ctx context.Context) error {
	for {
		j.mu.Lock()
		resumed := j.resumed
		j.mu.Unlock()
		if resumed == nil {
			return ctx.Err()
		}
		select {
		case <-resumed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// holding notes how far the job is and waits while it is paused: where an operation has no
// gate, its progress is one.
func (j *liveJob) holding(ctx context.Context, r queue.BulkReport) {
	j.update(func(n *JobNews) { n.Report = r })
	_ = j.held(ctx) // the operation looks at ctx itself
}

// pause stops the job before its next step.
func (j *liveJob) pause(why string) {
	j.update(func(n *JobNews) {
		n.Paused = why
		if j.resumed == nil {
			j.resumed = make(chan struct{})
		}
	})
}

func (j *liveJob) resume() {
	j.update(func(n *JobNews) {
		n.Paused = ""
		if j.resumed != nil {
			close(j.resumed)
			j.resumed = nil
		}
	})
}

// bulk fixes a set, waits for the word to go on and does what is to be done with it.
func (l *Live) bulk(ctx context.Context, j *liveJob, w BulkWork) (queue.BulkReport, error) {
	none := queue.BulkReport{Op: w.Bulk.Op, Queue: w.Queue.Name}
	set, err := l.fix(ctx, j, w)
	if err != nil {
		return none, err
	}
	j.update(func(n *JobNews) {
		none.Gone, none.Total = n.Set.Gone, set.Count+n.Set.Gone
		n.Report, n.Phase = none, JobFixed
	})
	if set.Count == 0 {
		return none, nil
	}
	select {
	case <-j.going:
	case <-ctx.Done():
		return none, ctx.Err()
	}
	j.update(func(n *JobNews) { n.Phase = JobRunning })
	b := w.Bulk
	counted := func(r queue.BulkReport) queue.BulkReport {
		r.Gone, r.Total = r.Gone+none.Gone, r.Total+none.Gone
		return r
	}
	var done atomic.Int64
	b.Progress = func(r queue.BulkReport) {
		done.Store(r.Done)
		j.update(func(n *JobNews) { n.Report = counted(r) })
	}
	b.Gate = j.held
	if w.PauseOnDead > 0 {
		rise, err := l.NewDeadRise(w.Queue, w.Place)
		if err != nil {
			return none, err
		}
		watch := deadWatch{rise: rise, most: w.PauseOnDead}
		b.Gate = func(ctx context.Context) error { return watch.gate(ctx, j, done.Load()) }
	}
	report, err := l.RunBulk(ctx, set, b)
	return counted(report), err
}

// deadWatch pauses a job when messages die.
type deadWatch struct {
	rise *queue.DeadRise
	most int64
	last time.Time
}

// gate is called before each step.
func (w *deadWatch) gate(ctx context.Context, j *liveJob, done int64) error {
	if time.Since(w.last) >= deadEvery {
		w.last = time.Now()
		n, err := w.rise.Count(ctx, done)
		if err == nil && n >= w.most { // of an error the operation itself finds out, and waits
			j.pause(Thousands(n) + " more are dead")
			w.rise.Again()
			w.last = time.Time{}
		}
	}
	return j.held(ctx)
}

// fix finds out which messages a bulk operation is about.
func (l *Live) fix(ctx context.Context, j *liveJob, w BulkWork) (*queue.Set, error) {
	started := time.Now()
	page, err := l.Client.Peek(ctx, w.Queue, w.Place, 0, 0) // for the server's clock
	if err != nil {
		return nil, err
	}
	o := queue.SelectOptions{Limit: w.Limit, Newest: w.Bulk.Front}
	if w.Messages != nil {
		set, err := l.SetOf(ctx, w.Queue, w.Messages, o)
		if err == nil {
			j.update(func(n *JobNews) {
				n.Set = FixedSet{Looked: set.Looked, Of: set.Looked, Count: set.Count, Gone: set.Looked - set.Count, Samples: set.Samples, Took: time.Since(started)}
			})
		}
		return set, err
	}
	sift := sieve.Sieve{Filter: w.Filter, Unit: w.Queue.Unit, Now: page.Now, Age: l.Age}
	if !w.Filter.All() {
		o.Match = func(m queue.Message) (bool, error) { return sift.Match(ctx, m) }
	}
	tell := func(looked, taken int64) {
		j.update(func(n *JobNews) {
			n.Set.Looked, n.Set.Count = looked, taken
			n.Set.Of = max(page.Total, looked)
			n.Set.Undecided, n.Set.Reason = sift.Undecided, sift.Reason()
		})
	}
	o.Progress = tell
	set, err := l.Select(ctx, w.Queue, w.Place, o)
	if err != nil {
		return nil, err
	}
	sift.Unread(set.Unread)
	tell(set.Looked, set.Count)
	j.update(func(n *JobNews) { n.Set.Samples, n.Set.Took = set.Samples, time.Since(started) })
	return set, nil
}

// purge empties a place.
func (l *Live) purge(ctx context.Context, j *liveJob, w PurgeWork) (queue.BulkReport, error) {
	report := func(p queue.Purged) queue.BulkReport {
		return queue.BulkReport{Op: queue.OpPurge, Queue: w.Queue.Name, Entry: p.Entry, Total: p.Taken, Done: p.Freed}
	}
	p, err := l.Client.Purge(ctx, w.Queue, w.Place, func(p queue.Purged) { j.holding(ctx, report(p)) })
	return report(p), err
}

// ConfirmJob lets a job go on whose set is fixed.
func (l *Live) ConfirmJob(id int) {
	if j, ok := l.jobs.get(id); ok {
		j.confirmed()
	}
}

// PauseJob has a job wait before its next step, or go on.
func (l *Live) PauseJob(id int, paused bool) {
	j, ok := l.jobs.get(id)
	switch {
	case !ok || j.isOver():
	case paused:
		j.pause("by the operator")
	default:
		j.resume()
	}
}

// CancelJob ends a job before its next step.
func (l *Live) CancelJob(id int) {
	if j, ok := l.jobs.get(id); ok {
		j.cancel()
	}
}

// ForgetJob drops what is kept of a job that has ended.
func (l *Live) ForgetJob(id int) {
	if j, ok := l.jobs.get(id); ok && j.isOver() {
		l.jobs.drop(id)
	}
}

// WatchJobs returns how far each job is.
func (l *Live) WatchJobs() []JobNews {
	ids, all := l.jobs.list()
	news := make([]JobNews, len(all))
	for i, j := range all {
		j.mu.Lock()
		news[i] = j.news
		j.mu.Unlock()
		news[i].ID = ids[i]
	}
	return news
}

// EndJobs cancels all jobs and waits for them.
func (l *Live) EndJobs(ctx context.Context) {
	_, all := l.jobs.list()
	for _, j := range all {
		j.cancel()
	}
	for _, j := range all {
		select {
		case <-j.ended:
		case <-ctx.Done():
			return
		}
	}
}

// cancelled reports whether a job ended because that was asked for.
func cancelled(err error) bool { return errors.Is(err, context.Canceled) }
