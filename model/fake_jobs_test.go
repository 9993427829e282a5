package model

import (
	"context"
	"fmt"
	"slices"
	"time"

	"redq/queue"
	"redq/queue/filter"
)

// fakeJobs does the work of a job at once, unless it is told to hold on.
type fakeJobs struct {
	refuse error // of every start
	hold   bool  // a job that was started stays at work until goOn
	looks  bool  // a set that is asked about stays being fixed until goOn
	none   bool  // nothing matches
	all    []*fakeJob
}

type fakeJob struct {
	work Work
	news JobNews
	set  []queue.Message
}

func (f *fake) StartJob(w Work) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls["StartJob"]++
	if f.jobs.refuse != nil {
		return 0, f.jobs.refuse
	}
	j := &fakeJob{work: w, news: JobNews{ID: len(f.jobs.all) + 1, Phase: JobRunning}}
	f.jobs.all = append(f.jobs.all, j)
	switch w := w.(type) {
	case BulkWork:
		if f.jobs.none {
			j.news.Phase = JobEnded
			return j.news.ID, nil
		}
		f.fix(j, w)
		j.news.Phase = JobFixed
		if f.jobs.looks {
			j.news.Phase = JobFixing
		}
		if w.Ask {
			return j.news.ID, nil
		}
	case PurgeWork:
		j.set = f.messages(w.Queue, w.Place)
	}
	f.begin(j)
	return j.news.ID, nil
}

func (f *fake) fix(j *fakeJob, w BulkWork) {
	ms := w.Messages
	if ms == nil {
		for _, m := range f.messages(w.Queue, w.Place) {
			if ok, err := w.Filter.Decide(context.Background(), filter.Subject{Payload: m.Payload, Size: m.Size}); err == nil && ok {
				ms = append(ms, m)
			}
		}
	}
	if w.Limit > 0 && int64(len(ms)) > w.Limit {
		ms = ms[len(ms)-int(w.Limit):] // the tail is the oldest
	}
	j.set = slices.Clone(ms)
	j.news.Set = FixedSet{Looked: 50, Of: 100, Count: int64(len(ms)), Samples: ms[:min(3, len(ms))], Took: 200 * time.Millisecond}
	j.news.Report = queue.BulkReport{Op: w.Bulk.Op, Queue: w.Queue.Name, Total: int64(len(ms))}
}

func (f *fake) begin(j *fakeJob) {
	j.news.Phase = JobRunning
	if len(j.set) > 0 {
		j.news.Report.Total = int64(len(j.set))
	}
	if f.jobs.hold {
		return
	}
	f.finish(j, nil)
}

// finish does what is left of the work.
func (f *fake) finish(j *fakeJob, err error) {
	r := &j.news.Report
	r.Entry = "entry-1"
	switch w := j.work.(type) {
	case UndoWork:
		*r = queue.BulkReport{Op: queue.OpUndo, Entry: w.Entry.ID, Total: int64(w.Entry.Total), Done: int64(w.Entry.Total)}
	case PurgeWork, BulkWork:
		b, bulk := w.(BulkWork)
		for range j.set {
			m := j.set[0]
			if j.set = j.set[1:]; !f.take(m) {
				r.Gone++
				continue
			}
			r.Done++
			if !bulk {
				continue
			}
			switch b.Bulk.Op {
			case queue.OpReschedule:
				f.addDelayed(m.Key, string(m.Payload), b.Queue.Unit.Score(b.Bulk.Due.At.Add(b.Bulk.Due.Shift)))
			case queue.OpRedrive:
				_, key := b.Queue.RedriveTarget()
				if b.Bulk.ToKey != "" {
					key = b.Bulk.ToKey
				}
				if b.Bulk.ToPlace == queue.Delayed {
					f.addDelayed(b.Queue.Delayed, string(m.Payload), b.Queue.Unit.Score(b.Bulk.Due.At))
				} else {
					f.lists[key] = append([]string{string(m.Payload)}, f.lists[key]...)
				}
			}
		}
	}
	j.news.Phase, j.news.Err = JobEnded, err
}

// goOn lets the last job that was started go on as far as it comes.
func (f *fake) goOn() {
	f.mu.Lock()
	defer f.mu.Unlock()
	j := f.jobs.all[len(f.jobs.all)-1]
	if j.news.Phase == JobFixing {
		j.news.Phase = JobFixed
		return
	}
	f.finish(j, nil)
}

func (f *fake) onJob(name string, id int, do func(*fakeJob)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[fmt.Sprintf("%s %d", name, id)]++
	if j := f.jobs.all[id-1]; j.news.Phase != JobEnded {
		do(j)
	}
}

func (f *fake) ConfirmJob(id int) { f.onJob("ConfirmJob", id, f.begin) }

func (f *fake) PauseJob(id int, paused bool) {
	f.onJob("PauseJob", id, func(j *fakeJob) {
		j.news.Paused = ""
		if paused {
			j.news.Paused = "by the operator"
		}
	})
}

func (f *fake) CancelJob(id int) {
	f.onJob("CancelJob", id, func(j *fakeJob) { j.news.Phase, j.news.Err = JobEnded, context.Canceled })
}

func (f *fake) ForgetJob(id int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[fmt.Sprintf("ForgetJob %d", id)]++
}

func (f *fake) WatchJobs() []JobNews {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []JobNews
	for _, j := range f.jobs.all {
		all = append(all, j.news)
	}
	return all
}

func (f *fake) EndJobs(context.Context) {}
