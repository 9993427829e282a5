package ui

import (
	"context"
	"errors"
	"time"

	"redq/model"
	"redq/queue"
)

// fakeJobs pretends to do the work of jobs: each gets on by 1,000 messages a second.
type fakeJobs struct {
	looks bool // sets stay being fixed
	none  bool // nothing matches
	died  bool // jobs pause at once
	all   []*fakeJob
}

type fakeJob struct {
	work    model.Work
	news    model.JobNews
	started time.Time
}

func (f *fake) StartJob(w model.Work) (int, error) {
	j := &fakeJob{work: w, started: f.now, news: model.JobNews{ID: len(f.jobs.all) + 1, Phase: model.JobRunning}}
	f.jobs.all = append(f.jobs.all, j)
	switch w := w.(type) {
	case model.BulkWork:
		j.fix(f, w)
	case model.PurgeWork:
		j.news.Report = queue.BulkReport{Op: queue.OpPurge, Total: 5_000_000, Done: 1_234_000}
	case model.UndoWork:
		j.news.Report = queue.BulkReport{Op: queue.OpUndo, Total: 40_120, Done: 4_000, Gone: 12}
	}
	return j.news.ID, nil
}

func (j *fakeJob) fix(f *fake, w model.BulkWork) {
	set := model.FixedSet{Looked: 40_120, Of: 40_120, Count: 40_120, Took: 300 * time.Millisecond, Undecided: 3, Reason: "the payload is no JSON"}
	for _, p := range f.lists["orders:backup"][:3] {
		set.Samples = append(set.Samples, queue.Message{Payload: p, Size: int64(len(p))})
	}
	j.news.Report = queue.BulkReport{Op: w.Bulk.Op, Total: set.Count}
	switch {
	case f.jobs.none:
		set.Count, j.news.Report.Total, j.news.Phase = 0, 0, model.JobEnded
	case f.jobs.looks:
		set.Looked, set.Count, j.news.Phase = 12_000, 381, model.JobFixing
	case w.Ask:
		j.news.Phase = model.JobFixed
	}
	j.news.Set = set
}

func (f *fake) ConfirmJob(id int) {
	j := f.jobs.all[id-1]
	j.news.Phase, j.started = model.JobRunning, f.now
	if f.jobs.died {
		j.news.Paused = "12 more are dead"
	}
}

func (f *fake) PauseJob(id int, paused bool) {
	f.jobs.all[id-1].news.Paused = ""
	if paused {
		f.jobs.all[id-1].news.Paused = "by the operator"
	}
}

func (f *fake) CancelJob(id int) {
	f.jobs.all[id-1].news.Phase, f.jobs.all[id-1].news.Err = model.JobEnded, context.Canceled
}

func (f *fake) ForgetJob(int) {}

func (f *fake) WatchJobs() []model.JobNews {
	var all []model.JobNews
	for _, j := range f.jobs.all {
		r := &j.news.Report
		if j.news.Phase == model.JobRunning && j.news.Paused == "" {
			r.Done = max(r.Done, min(r.Total-r.Gone, int64(f.now.Sub(j.started).Seconds()*1000)))
		}
		r.Trouble = nil
		if f.down != nil {
			r.Trouble = errors.New("connection refused")
		}
		all = append(all, j.news)
	}
	return all
}

func (f *fake) EndJobs(context.Context) {}
