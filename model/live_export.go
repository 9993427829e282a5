package model

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"redq/queue"
	"redq/queue/sieve"
	"redq/queue/transfer"
)

// errThere is returned for a file that must not be replaced.
var errThere = errors.New("that file is there already: f replaces it")

// create begins the file of an export.
func (l *Live) create(w ExportWork) (*transfer.File, error) {
	path := w.Path
	if rest, ok := strings.CutPrefix(path, "~/"); ok && l.Home != "" {
		path = filepath.Join(l.Home, rest)
	}
	file, err := transfer.Create(path, w.Replace)
	if errors.Is(err, fs.ErrExist) {
		return nil, errThere
	}
	return file, err
}

// export writes messages to a file, which is there as a whole or not at all.
func (l *Live) export(ctx context.Context, j *liveJob, w ExportWork, file *transfer.File) (queue.BulkReport, error) {
	r, err := l.exportInto(ctx, j, w, file)
	if err == nil {
		err = file.Commit()
	} else {
		file.Discard()
	}
	if err != nil {
		return queue.BulkReport{Queue: w.Queue.Name}, err // nothing is there
	}
	return r, nil
}

func (l *Live) exportInto(ctx context.Context, j *liveJob, w ExportWork, file *transfer.File) (queue.BulkReport, error) {
	r := queue.BulkReport{Queue: w.Queue.Name}
	if w.Messages != nil {
		var whole []queue.Message
		for _, m := range w.Messages {
			loaded, err := l.Load(ctx, m)
			switch {
			case errors.Is(err, queue.ErrGone):
				r.Gone++
				continue
			case err != nil:
				return r, err
			}
			whole = append(whole, loaded)
		}
		r.Done, r.Total = int64(len(whole)), int64(len(w.Messages))
		known, err := l.Failures(ctx, w.Queue, whole)
		if err != nil {
			return r, err
		}
		return r, transfer.Write(w.Queue, known, file)
	}
	first := w.Places
	if first == nil {
		first = queue.Places()
	}
	o := transfer.Options{Places: w.Places}
	sift := sieve.Sieve{Filter: w.Filter, Unit: w.Queue.Unit, Age: l.Age}
	if !w.Filter.All() {
		page, err := l.Client.Peek(ctx, w.Queue, first[0], 0, 0) // for the server's clock
		if err != nil {
			return r, err
		}
		sift.Now = page.Now
		o.Match = func(m queue.Message) (bool, error) { return sift.Match(ctx, m) }
	}
	o.Progress = func(now transfer.Report) {
		j.holding(ctx, queue.BulkReport{Queue: w.Queue.Name, Total: max(now.Total, now.Looked), Done: now.Looked})
	}
	report, err := transfer.Export(ctx, l.Client, w.Queue, o, file)
	j.update(func(n *JobNews) { n.Set.Undecided, n.Set.Reason = sift.Undecided, sift.Reason() })
	r.Done, r.Total = report.Written.Sum(), report.Written.Sum()
	return r, err
}
