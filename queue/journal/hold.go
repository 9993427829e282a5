package journal

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"redq/queue"
)

const holdInfix = ".hold-"

// idleTime is how long the entry that was answered last is held: between two steps of an
// operation there may be none that waits for an answer.
const idleTime = 10 * time.Second

// hold names the entries that a process is at work on, in a file that it has locked as
// long as it lives, so that no other process drops them to make room. It is read and
// written by those that have locked the journal.
type hold struct {
	path string // of the journal
	file *os.File
	// asked are the messages of each entry for whose answer it waits.
	asked map[string]map[int]struct{}
	idle  string    // the entry that was answered last
	since time.Time // when that was
}

// begin takes in what is about to be asked.
func (h *hold) begin(rs []queue.Record) error {
	more := false
	for _, r := range rs {
		if r.Kind != queue.Intent && r.Kind != queue.UndoIntent {
			continue
		}
		if h.asked == nil {
			h.asked = map[string]map[int]struct{}{}
		}
		if h.asked[r.Entry] == nil {
			h.asked[r.Entry], more = map[int]struct{}{}, true
		}
		h.asked[r.Entry][r.Seq] = struct{}{}
	}
	if !more {
		return nil
	}
	return h.write()
}

// end takes in answers.
func (h *hold) end(rs []queue.Record) error {
	fewer := false
	for _, r := range rs {
		asked := h.asked[r.Entry]
		if r.Kind != queue.Answered && r.Kind != queue.Undone || asked == nil {
			continue
		}
		if delete(asked, r.Seq); len(asked) == 0 {
			delete(h.asked, r.Entry)
			h.idle, h.since, fewer = r.Entry, time.Now(), true
		}
	}
	if !fewer {
		return nil
	}
	return h.write()
}

// withdraw takes back what was not asked after all.
func (h *hold) withdraw(rs []queue.Record) {
	for _, r := range rs {
		if r.Kind == queue.Intent || r.Kind == queue.UndoIntent {
			if delete(h.asked[r.Entry], r.Seq); len(h.asked[r.Entry]) == 0 {
				delete(h.asked, r.Entry)
			}
		}
	}
}

// write writes the entries with the second until which each is held, 0 for no end.
func (h *hold) write() error {
	held := map[string]int64{}
	if h.idle != "" {
		held[h.idle] = h.since.Add(idleTime).Unix()
	}
	for id := range h.asked {
		held[id] = 0
	}
	text, err := json.Marshal(held)
	if err != nil {
		return err
	}
	if h.file == nil {
		if err := h.create(); err != nil {
			return err
		}
	}
	if _, err := h.file.WriteAt(text, 0); err != nil {
		return err
	}
	return h.file.Truncate(int64(len(text)))
}

func (h *hold) create() error {
	if _, err := h.held(); err != nil { // removes what the dead have left
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(h.path), filepath.Base(h.path)+holdInfix+"*")
	if err != nil {
		return err
	}
	if err := lockFile(file, exclusive, 0); err != nil {
		return errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	h.file = file
	return nil
}

func (h *hold) close() error {
	if h.file == nil {
		return nil
	}
	file := h.file
	h.file = nil
	if err := os.Remove(file.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, file.Close())
	}
	return file.Close()
}

// held returns the entries that this process and others are at work on. The files of
// processes that have died are removed.
func (h *hold) held() (map[string]bool, error) {
	all := map[string]bool{}
	for id := range h.asked {
		all[id] = true
	}
	files, err := os.ReadDir(filepath.Dir(h.path))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		path := filepath.Join(filepath.Dir(h.path), f.Name())
		if !strings.HasPrefix(f.Name(), filepath.Base(h.path)+holdInfix) || h.file != nil && path == h.file.Name() {
			continue
		}
		ids, err := readHold(path)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			all[id] = true
		}
	}
	return all, nil
}

// readHold reads the file of another process, or removes it when that has died.
func readHold(path string) ([]string, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it has ended by now
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	switch err := lockFile(file, exclusive, 0); {
	case err == nil:
		return nil, os.Remove(path)
	case !errors.Is(err, ErrBusy):
		return nil, err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	held := map[string]int64{}
	if err := json.Unmarshal(text, &held); err != nil {
		return nil, nil // it has died while it was writing
	}
	var ids []string
	for id, until := range held {
		if until == 0 || time.Now().Unix() <= until {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
