package model

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// ReviewDialog shows the set of a job before it changes anything, once it is fixed: how many,
// the first ones and how long it will take. Without a yes nothing happens.
type ReviewDialog struct {
	DialogHead
	Job   Job
	Focus Focus // FocusNo, FocusYes

	shownAt time.Time // when the set was there to be read
}

// with takes how far the job is.
func (d ReviewDialog) with(j Job, now time.Time) ReviewDialog {
	d.Job = j
	n := j.News
	does := j.Work.Words().Does
	switch {
	case !j.Active():
		d.Title = "Not done: " + does
	case n.Phase == JobFixing:
		d.Title = "Looking: " + does
	default:
		d.Title = strings.ToUpper(does[:1]) + does[1:] + "?"
	}
	if n.Phase != JobFixing && d.shownAt.IsZero() {
		d.shownAt, d.OpenedAt = now, now // nothing could be answered before
	}
	return d
}

// Fixed reports whether the set is there, and waits for an answer.
func (d ReviewDialog) Fixed() bool { return d.Job.News.Phase == JobFixed }

func (d ReviewDialog) withHead(h DialogHead) Dialog {
	d.DialogHead = h
	return d
}

func (d ReviewDialog) typing() bool { return false }

func (d ReviewDialog) key(k tea.KeyMsg, _ time.Time) (Dialog, Intent) {
	if !d.Job.Active() {
		return d, closeIt{}
	}
	parts := []Focus{FocusNo, FocusYes}
	if !d.Fixed() {
		parts = parts[:1]
	}
	var v verdict
	switch d.Focus, v = answer(k, d.Focus, parts...); v {
	case verdictYes:
		if !d.Fixed() {
			return noted(d, "still looking for them: esc ends that"), nil
		}
		return d, confirmJob{d.Job.ID}
	case verdictNo:
		return d, cancelJob{d.Job.ID}
	case verdictOther:
		return noted(d, noteOther), nil
	}
	return d, nil
}

// JobsDialog lists the jobs of this redq, in the order they were started.
type JobsDialog struct {
	DialogHead
	Jobs   []Job
	Cursor int
}

// with takes how far the jobs are.
func (d JobsDialog) with(jobs []Job) JobsDialog {
	d.Jobs = jobs
	d.Cursor = max(0, min(d.Cursor, len(jobs)-1))
	return d
}

// Selected returns the job under the cursor.
func (d JobsDialog) Selected() (Job, bool) {
	if d.Cursor >= len(d.Jobs) {
		return Job{}, false
	}
	return d.Jobs[d.Cursor], true
}

func (d JobsDialog) withHead(h DialogHead) Dialog {
	d.DialogHead = h
	return d
}

func (d JobsDialog) typing() bool { return false }

func (d JobsDialog) key(k tea.KeyMsg, _ time.Time) (Dialog, Intent) {
	j, ok := d.Selected()
	switch s := k.String(); s {
	case "j", "down":
		return d.moved(1), nil
	case "k", "up":
		return d.moved(-1), nil
	case "esc", "q", "enter", "n", "J":
		return d, closeIt{}
	case "p", " ":
		switch {
		case !ok || !j.Active():
			return noted(d, "it has ended"), nil
		case !j.AtWork():
			return noted(d, "it has not begun to change anything"), nil
		}
		return d, pauseJob{j.ID, j.News.Paused == ""}
	case "x":
		if !ok || !j.Active() {
			return noted(d, "it has ended: D takes it off this list"), nil
		}
		return d, cancelJob{j.ID}
	case "D":
		if !ok || j.Active() {
			return noted(d, "it has not ended: x cancels it"), nil
		}
		return d, forgetJob{j.ID}
	}
	return noted(d, "p pauses, x cancels, D takes one that has ended off this list"), nil
}

func (d JobsDialog) moved(by int) JobsDialog {
	d.Cursor = max(0, min(d.Cursor+by, len(d.Jobs)-1))
	return d
}
