package model

import (
	"fmt"
	"math"
	"slices"
	"time"

	"redq/queue"
)

// Job is a job as the screen shows it.
type Job struct {
	ID         int
	Work       Work
	News       JobNews
	Cancelling bool
	Started    time.Time // client's clock
	Ended      time.Time // zero until it has

	points []jobPoint // of the last seconds, oldest first; replaced, never changed
}

// jobPoint is how far a job was at an instant.
type jobPoint struct {
	at   time.Time
	done int64
}

// jobWindow is the time over which the rate of a job is measured.
const jobWindow = 5 * time.Second

// Active reports whether the job has not ended.
func (j Job) Active() bool { return j.News.Phase != JobEnded }

// AtWork reports whether it changes messages, now or once it is no longer paused.
func (j Job) AtWork() bool { return j.News.Phase == JobRunning }

// Settled is how many messages something is known of.
func (j Job) Settled() int64 {
	r := j.News.Report
	return r.Total - r.Left()
}

// Fraction is the part of the work that is done, from 0 to 1; while the set is being
// fixed, of that.
func (j Job) Fraction() float64 {
	n, of := j.Settled(), j.News.Report.Total
	if j.News.Phase == JobFixing {
		n, of = j.News.Set.Looked, j.News.Set.Of
	}
	if of <= 0 {
		return 0
	}
	return min(1, float64(n)/float64(of))
}

// Rate returns how many messages a second were settled over the last seconds.
func (j Job) Rate() Rate {
	n := len(j.points)
	if n < 2 || j.News.Paused != "" {
		return Rate{}
	}
	first, last := j.points[0], j.points[n-1]
	return Rate{PerSecond: float64(last.done-first.done) / last.at.Sub(first.at).Seconds(), OK: true}
}

// Remaining is how long the job will still take at its present rate.
func (j Job) Remaining() (d time.Duration, ok bool) {
	r := j.Rate()
	if !r.OK || r.PerSecond <= 0 || !j.AtWork() {
		return 0, false
	}
	return seconds(float64(j.News.Report.Left()) / r.PerSecond), true
}

// seconds is a duration that may be out of range.
func seconds(s float64) time.Duration {
	return time.Duration(min(s*float64(time.Second), float64(math.MaxInt64/2)))
}

// fullSpeed is how many times as long as fixing its set a job takes at full speed, at the
// most that was measured.
const fullSpeed = 5

// Estimate is how long a job will take whose set is fixed. atMost: at full speed nobody
// knows, but it is likely not more.
func (j Job) Estimate() (d time.Duration, atMost bool) {
	if b, ok := j.Work.(BulkWork); ok && b.Bulk.Rate > 0 {
		return seconds(float64(j.News.Set.Count) / b.Bulk.Rate), false
	}
	return max(time.Second, fullSpeed*j.News.Set.Took), true
}

// told returns the job with what is new of it.
func (j Job) told(n JobNews, now time.Time) Job {
	j.News = n
	if !j.Active() && j.Ended.IsZero() {
		j.Ended = now
	}
	if !j.AtWork() || n.Paused != "" {
		j.points = nil
		return j
	}
	keep := j.points
	for len(keep) > 1 && now.Sub(keep[0].at) > jobWindow {
		keep = keep[1:]
	}
	if len(keep) > 0 && !now.After(keep[len(keep)-1].at) {
		return j
	}
	j.points = append(slices.Clone(keep), jobPoint{now, j.Settled()})
	return j
}

// Trouble is why the job does not get on; "" when it does.
func (j Job) Trouble() string {
	if t := j.News.Report.Trouble; t != nil && j.Active() {
		return explain(t)
	}
	return ""
}

// Outcome says how a job has ended.
func (j Job) Outcome() Status { return j.outcome(j.News.Report.Op != queue.OpUndo) }

// outcome is Outcome, with the key that takes it back where there is a screen for that.
func (j Job) outcome(undoable bool) Status {
	w, n := j.Work.Words(), j.News
	_, bulk := j.Work.(BulkWork)
	_, export := j.Work.(ExportWork)
	if _, purge := j.Work.(PurgeWork); purge && n.Err != nil && n.Report.Total > 0 {
		return Status{Text: explain(n.Err), Kind: StatusError} // it says where the rest lies
	}
	s := reportStatus(n.Report, w.Past, w.Where, undoable)
	left := n.Report.Left()
	switch {
	case bulk && n.Err == nil && n.Report.Total == 0:
		return Status{Text: "nothing matches: " + w.Does + " changed nothing", Kind: StatusWarn}
	case export && n.Err != nil:
		if cancelled(n.Err) {
			return Status{Text: "cancelled: no file was written", Kind: StatusWarn}
		}
		return Status{Text: "no file was written: " + explain(n.Err), Kind: StatusError}
	case export && n.Report.Total == 0:
		return Status{Text: "wrote 0 " + w.Where, Kind: StatusWarn}
	case n.Err == nil && n.Report.Total == 0:
		return Status{Text: "already gone: there was nothing to " + w.Does, Kind: StatusWarn}
	case n.Err == nil && n.Set.Undecided > 0:
		s.Text += fmt.Sprintf(", %s left out that the filter could not decide about: %s", Thousands(n.Set.Undecided), n.Set.Reason)
		s.Kind = max(s.Kind, StatusWarn)
		return s
	case n.Err == nil:
		return s
	case n.Phase == JobEnded && n.Report.Total == 0 && cancelled(n.Err):
		return Status{Text: "cancelled before it began: " + w.Does}
	case n.Report.Done+n.Report.Gone+n.Report.Refused+n.Report.Unknown == 0 && !cancelled(n.Err):
		return Status{Text: "could not " + w.Does + ": " + explain(n.Err), Kind: StatusError}
	}
	if n.Report.Done+n.Report.Gone+n.Report.Refused+n.Report.Unknown == 0 {
		s.Text = w.Past + " 0"
	}
	if cancelled(n.Err) {
		s.Text = "cancelled: " + s.Text
		s.Kind = max(s.Kind, StatusWarn)
	} else if n.Report.Refused == 0 && n.Report.Unknown == 0 {
		s = Status{Text: s.Text + ", then: " + explain(n.Err), Kind: StatusError}
	}
	if left > 0 {
		s.Text += fmt.Sprintf(", %s not asked for", Thousands(left))
	}
	return s
}

// ActiveJobs returns the jobs that have not ended, in the order they were started.
func (m Model) ActiveJobs() []Job {
	return slices.DeleteFunc(slices.Clone(m.Jobs), func(j Job) bool { return !j.Active() })
}

// job returns the job with a number.
func (m Model) job(id int) (Job, bool) {
	i := slices.IndexFunc(m.Jobs, func(j Job) bool { return j.ID == id })
	if i < 0 {
		return Job{}, false
	}
	return m.Jobs[i], true
}
