package model

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// This file is the router's part for jobs: starting, watching, pausing and ending them.

// watchJobsEvery is how often it is asked how far they are.
const watchJobsEvery = 100 * time.Millisecond

// startJobCmd starts a job.
func (m Model) startJobCmd(gen int, w Work) tea.Cmd {
	b := m.cfg.Backend
	return m.request(m.cfg.Timeout, func(context.Context) tea.Msg {
		id, err := b.StartJob(w)
		return jobStartedMsg{gen: gen, id: id, work: w, err: err}
	})
}

// jobStarted takes the answer to a start.
func (m Model) jobStarted(msg jobStartedMsg) (Model, tea.Cmd) {
	leaving := false
	if m.Dialog != nil && msg.gen == m.writing {
		h := m.Dialog.Head()
		if leaving = h.Leaving; msg.err != nil && !leaving {
			h.Busy, h.Note, h.OpenedAt = false, explain(msg.err), m.Now
			m.Dialog = m.Dialog.withHead(h)
			return m, nil
		}
		m.Dialog = nil
	}
	if msg.err == nil {
		j := Job{ID: msg.id, Work: msg.work, Started: m.Now}
		if _, bulk := msg.work.(BulkWork); !bulk {
			j.News.Phase = JobRunning
		}
		m.Jobs = append(m.Jobs[:len(m.Jobs):len(m.Jobs)], j)
		m = m.afterStart(msg)
	}
	if leaving {
		return m.quit()
	}
	return m.watchJobs()
}

// afterStart shows the set of a job that asks, and takes the marks away that a job has taken up.
func (m Model) afterStart(msg jobStartedMsg) Model {
	b, ok := msg.work.(BulkWork)
	if !ok {
		return m
	}
	if b.Ask {
		h := DialogHead{Server: m.Conn.Address, Queue: b.Queue.Name, Place: b.Place, Keys: b.Takes(), OpenedAt: m.Now, queue: b.Queue}
		j, _ := m.job(msg.id)
		m.Dialog = ReviewDialog{DialogHead: h}.with(j, m.Now)
		return m
	}
	if b.Queue.Name == m.Queue.Name {
		l := m.Queue.lists[placeIndex(b.Place)]
		m.Queue = m.Queue.with(l.unmarked())
	}
	return m
}

// watchJobs asks how far the jobs are; there is one loop of it, which runs as long as one of
// them does.
func (m Model) watchJobs() (Model, tea.Cmd) {
	if !m.working() {
		return m, nil
	}
	m.jobTimer++
	var ok bool
	if m.jobbing, ok = m.jobbing.begin(); !ok {
		return m, nil
	}
	b, gen := m.cfg.Backend, m.jobbing.gen
	return m, m.request(m.cfg.Timeout, func(context.Context) tea.Msg {
		return jobsWatchedMsg{gen: gen, news: b.WatchJobs()}
	})
}

// working reports whether a job has not ended.
func (m Model) working() bool { return len(m.ActiveJobs()) > 0 }

func (m Model) jobsDue(msg jobsDueMsg) (Model, tea.Cmd) {
	if msg.gen != m.jobTimer {
		return m, nil
	}
	return m.watchJobs()
}

// jobsWatched takes how far the jobs are and sets the timer of the next look.
func (m Model) jobsWatched(msg jobsWatchedMsg) (Model, tea.Cmd) {
	if msg.gen != m.jobbing.gen {
		return m, nil
	}
	again := m.jobbing.again
	m.jobbing.running, m.jobbing.again = false, false
	ended := false
	jobs := make([]Job, 0, len(m.Jobs))
	for _, j := range m.Jobs {
		for _, n := range msg.news {
			if n.ID == j.ID && j.Active() {
				j = j.told(n, m.Now)
				ended = ended || !j.Active()
			}
		}
		jobs = append(jobs, j)
	}
	before := m.Jobs
	m.Jobs = jobs
	m = m.withJobs().sayJobsEnded(before)
	var leave, next, poll tea.Cmd
	m, leave = m.drained()
	switch {
	case !m.working():
	case again:
		m, next = m.watchJobs()
	default:
		m.jobTimer++
		next = m.after(watchJobsEvery, jobsDueMsg{m.jobTimer})
	}
	if ended { // what it changed is to be seen
		m.paging = inFlight{gen: m.paging.gen + 1}
		m, poll = m.pollNow(true)
	}
	return m, tea.Batch(leave, next, poll)
}

// withJobs shows the dialogs of jobs how far they are.
func (m Model) withJobs() Model {
	switch d := m.Dialog.(type) {
	case ReviewDialog:
		j, _ := m.job(d.Job.ID)
		m.Dialog = d.with(j, m.Now)
	case JobsDialog:
		m.Dialog = d.with(m.Jobs)
	}
	return m
}

// sayJobsEnded tells of jobs that have ended since. What a dialog shows already is not said
// again.
func (m Model) sayJobsEnded(before []Job) Model {
	for i, j := range m.Jobs {
		if j.Active() || !before[i].Active() {
			continue
		}
		if d, ok := m.Dialog.(ReviewDialog); ok && d.Job.ID == j.ID {
			continue
		}
		m.Status = j.Outcome()
	}
	return m
}

// confirmJob lets a job go on whose set was shown.
func (m Model) confirmJob(id int) (Model, tea.Cmd) {
	m.Dialog = nil
	return m, m.tellJob(func(b Jobs) { b.ConfirmJob(id) })
}

// cancelJob ends a job before its next step.
func (m Model) cancelJob(id int) (Model, tea.Cmd) {
	if d, ok := m.Dialog.(ReviewDialog); ok && d.Job.ID == id {
		m.Dialog = nil
	}
	m = m.changedJob(id, func(j Job) Job {
		j.Cancelling = j.Active()
		return j
	}).withJobs()
	return m, m.tellJob(func(b Jobs) { b.CancelJob(id) })
}

// pauseJob has a job wait, or go on.
func (m Model) pauseJob(id int, paused bool) (Model, tea.Cmd) {
	return m, m.tellJob(func(b Jobs) { b.PauseJob(id, paused) })
}

// forgetJob takes a job that has ended off the list.
func (m Model) forgetJob(id int) (Model, tea.Cmd) {
	var left []Job
	for _, j := range m.Jobs {
		if j.ID != id {
			left = append(left, j)
		}
	}
	m.Jobs = left
	return m.withJobs(), m.tellJob(func(b Jobs) { b.ForgetJob(id) })
}

func (m Model) changedJob(id int, change func(Job) Job) Model {
	jobs := make([]Job, len(m.Jobs))
	for i, j := range m.Jobs {
		if j.ID == id {
			j = change(j)
		}
		jobs[i] = j
	}
	m.Jobs = jobs
	return m
}

// tellJob makes a command of a call about a job. What comes of it is looked at then.
func (m Model) tellJob(tell func(Jobs)) tea.Cmd {
	b := m.cfg.Backend
	return m.request(m.cfg.Timeout, func(context.Context) tea.Msg {
		tell(b)
		return jobToldMsg{}
	})
}

// showJobs opens the list of jobs.
func (m Model) showJobs() (Model, tea.Cmd) {
	if len(m.Jobs) == 0 {
		return m.say(StatusInfo, "no job was started: what takes long becomes one")
	}
	h := DialogHead{Title: "Jobs", Server: m.Conn.Address, OpenedAt: m.Now}
	m.Dialog = JobsDialog{DialogHead: h, Cursor: len(m.Jobs) - 1}.with(m.Jobs)
	return m.watchJobs()
}
