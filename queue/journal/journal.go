// Package journal keeps the undo journal in files: what redq is about to change
// on a server is in it, and on the disk, before the server is asked. It knows the
// files and their records; what an undo does to a server is package queue's business.
//
// # Format
//
// The journal is JSON lines, only ever appended to. A line is one [queue.Record], in
// redq's own form:
//
//	kind         intent (about to be asked), outcome (what the server said), undo
//	             (an undo is about to be asked), undone (what the server said to it)
//	entry        id of the operation; its lines share it
//	seq          number of the message in the operation from 0, of the first one of a
//	             batch; negative for the private key of a purge
//	time         RFC 3339, the clock of the machine redq ran on
//	server       host:port/db, never a password
//	queue        its name
//	op           delete, redrive, reschedule, edit, purge
//	n            messages of a batch, which is one step of a bulk operation
//	count        how many of a batch an undo has brought back
//	place, key   where the message lay
//	index, len   its position from the head and the length of the key
//	score        its score, as the server printed it
//	payload      its bytes
//	to_place, to_key, to_score, end, new_payload
//	             where it went, or what it became
//	prints, at, scores, to_scores, payloads
//	             of each message of a batch: 16 bytes of its SHA-1 (all of them in one
//	             base64), its position, its score before and after, its bytes
//	outcome      done, gone, refused, unknown (kinds outcome and undone)
//
// queue, key, payload, to_key, new_payload and payloads are bytes: a JSON string when they
// are valid UTF-8, else {"b64":"…"}. Fields that are empty are left out, fields that
// are unknown are skipped. A line that does not end as a JSON object was
// torn by a crash; it is skipped, and the next record starts on a line of its own.
//
// # Files
//
// A journal at journal.jsonl has these, all of them mode 0600:
//
//	journal.jsonl             the active segment: records are appended to it
//	journal-000001.jsonl …    sealed segments, in their order: nothing is written to them. The active
//	                          one is renamed when it is full. The oldest are removed to make room
//	journal-000001.idx …      what each sealed segment says of each entry, so that lists and
//	                          loads need not read it. Made from the segment when it is not there,
//	                          damaged, or of another size or time; it may be removed at any time
//	journal.jsonl.hold-*      the entries that a process is at work on, and that no other may drop
//	journal.jsonl.lock        locked by the process that is undoing
//
// Whoever writes locks the active segment with flock, and finds under the lock whether the file is still
// the one at the path; a journal of one file alone, as it was before there were segments, is an active
// segment. The records of one operation may lie in several segments. When the oldest
// of these was dropped, the number of the first message that is left tells how many are lost.
package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/adrg/xdg"

	"redq/queue"
)

var (
	// ErrNotFound is returned when the journal has no such entry.
	ErrNotFound = errors.New("no such entry in the undo journal")

	// ErrUndoing is returned by Lock while another process, or another caller in
	// this one, holds the lock.
	ErrUndoing = errors.New("another redq is undoing")

	// ErrFull is returned by Append when the journal would grow beyond Options.MaxBytes, and what
	// is oldest in it belongs to operations that are under way.
	ErrFull = errors.New("the undo journal is full")

	// ErrBusy is returned when another process holds the file for long: it was
	// stopped in the middle of writing.
	ErrBusy = errors.New("another process has been holding the undo journal too long")
)

// patience is how long to wait for another process to finish its append.
const patience = 10 * time.Second

// Options say how a journal is kept. The zero value is a journal without limit.
type Options struct {
	// MaxBytes is what all segments together may have, without their indexes; 0 means no
	// limit. The oldest are dropped to make room.
	MaxBytes int64
	// SegmentBytes is the size at which a segment is sealed and the next one begun; 0 for 64 MiB, or
	// a sixteenth of MaxBytes where that is less.
	SegmentBytes int64
}

// Journal is an undo journal on disk. It is safe for concurrent use, and several
// processes may share its files.
type Journal struct {
	path         string // of the active segment
	names        names
	maxBytes     int64
	segmentBytes int64
	patience     time.Duration

	mu          sync.Mutex // also guards the file lock, which belongs to the descriptor
	file        *os.File   // nil when closed
	generation  int        // counts the files that were the active segment
	sealedBytes int64      // of the sealed segments, or more
	hold        hold
	dropped     Dropped

	indexed sync.Mutex // guards active
	active  active

	background sync.WaitGroup // indexes what was sealed
}

var _ queue.Journal = (*Journal)(nil)

// DefaultPath returns where the journal lies unless told otherwise:
// redq/journal.jsonl in $XDG_STATE_HOME or the system's directory for such data.
func DefaultPath() string {
	home := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(home) { // as the XDG specification demands
		home = xdg.StateHome
	}
	return filepath.Join(home, "redq", "journal.jsonl")
}

// Open opens the journal at path and makes it, for the user's eyes only, if it
// is not there. Its directories are made too.
func Open(path string, o Options) (*Journal, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("undo journal: %w", err)
	}
	file, err := openFile(path)
	if err != nil {
		return nil, fmt.Errorf("undo journal: %w", err)
	}
	j := &Journal{
		path: path, names: names(path), maxBytes: o.MaxBytes, segmentBytes: o.segmentSize(),
		patience: patience, file: file, sealedBytes: math.MaxInt64 / 2, hold: hold{path: path},
	}
	return j, nil
}

// Path returns the journal's file, the active segment; the sealed ones are beside it.
func (j *Journal) Path() string { return j.path }

// Close closes the file.
func (j *Journal) Close() error {
	j.mu.Lock()
	if j.file == nil {
		j.mu.Unlock()
		return nil
	}
	err := errors.Join(j.hold.close(), j.file.Close())
	j.file = nil
	j.mu.Unlock()
	j.background.Wait()
	return err
}

// Append writes records in one piece and returns when they are on the disk. On
// an error none of them is in the journal, or the disk failed so badly that
// even that could not be had; then some may be.
//
// When the journal has no room, its oldest segments are dropped, see TakeDropped. The error is
// ErrFull when the records are too many, or only entries that are under way could be dropped.
func (j *Journal) Append(records ...queue.Record) error {
	if len(records) == 0 {
		return nil
	}
	lines, err := encode(records)
	if err != nil {
		return fmt.Errorf("undo journal: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.append(records, lines); err != nil {
		return fmt.Errorf("undo journal: %w", err)
	}
	return nil
}

func (j *Journal) append(records []queue.Record, lines []byte) error {
	if j.file == nil {
		return fs.ErrClosed
	}
	if j.maxBytes > 0 && int64(len(lines)) > j.maxBytes {
		return fmt.Errorf("%w: %s may have %d bytes, and %d are to be written at once", ErrFull, j.path, j.maxBytes, len(lines))
	}
	for {
		full := false
		err := j.locked(exclusive, func(size int64) error {
			if full = size > 0 && size+int64(len(lines)) > j.segmentBytes; full {
				return j.seal()
			}
			return j.store(records, lines, size)
		})
		if err != nil || !full {
			return err
		}
	}
}

// seal makes the active segment, which the caller has locked, a numbered one. Its index is made while the
// caller goes on; should that fail, whoever needs it makes it.
func (j *Journal) seal() error {
	s, err := j.names.seal()
	if err != nil {
		return err
	}
	j.background.Go(func() {
		if ix, err := j.names.indexOf(s); err == nil {
			ix.close()
		}
	})
	return nil
}

// store writes records to the active segment, which has size bytes.
func (j *Journal) store(records []queue.Record, lines []byte, size int64) error {
	err := j.makeRoom(size, int64(len(lines)), records)
	if err == nil {
		err = j.hold.begin(records)
	}
	if err == nil {
		err = j.write(lines, size)
	}
	if err != nil {
		j.hold.withdraw(records)
	}
	// What was answered is over, written down or not. Should that fail, others keep it longer.
	_ = j.hold.end(records)
	return err
}

func encode(records []queue.Record) ([]byte, error) {
	var lines []byte
	for _, r := range records {
		if r.Kind == queue.Intent && !r.Message.Complete() {
			return nil, fmt.Errorf("message %d of %d bytes has only %d: it could not be put back",
				r.Seq, r.Message.Size, len(r.Message.Payload))
		}
		var err error
		if lines, err = r.AppendJSON(lines); err != nil {
			return nil, err
		}
		lines = append(lines, '\n')
	}
	return lines, nil
}

// write appends to a file of the given size, or leaves it as it was.
func (j *Journal) write(lines []byte, size int64) error {
	torn, err := endsTorn(j.file, size)
	if err != nil {
		return err
	}
	if torn {
		lines = append([]byte("\n"), lines...)
	}
	_, err = j.file.Write(lines)
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		// The half that was written would claim what was never asked of the server.
		return errors.Join(err, j.file.Truncate(size))
	}
	return nil
}

// endsTorn reports whether the last line has no end: its writer died.
func endsTorn(file io.ReaderAt, size int64) (bool, error) {
	if size == 0 {
		return false, nil
	}
	var last [1]byte
	if _, err := file.ReadAt(last[:], size-1); err != nil {
		return false, err
	}
	return last[0] != '\n', nil
}

// locked calls do with the size of the file, under a lock that all processes
// keep. When the file at path is no longer the one that was opened (it was
// moved away or removed), the present one is used: records in a file that
// nobody finds would save nothing.
func (j *Journal) locked(how lockKind, do func(size int64) error) error {
	if j.file == nil {
		return fs.ErrClosed
	}
	for {
		if err := lockFile(j.file, how, j.patience); err != nil {
			return err
		}
		info, err := j.file.Stat()
		if err == nil && isAt(info, j.path) {
			err = do(info.Size())
			return errors.Join(err, unlockFile(j.file))
		}
		if err := j.reopen(); err != nil {
			return err
		}
	}
}

func isAt(info fs.FileInfo, path string) bool {
	present, err := os.Stat(path)
	return err == nil && os.SameFile(info, present)
}

func (j *Journal) reopen() error {
	file, err := openFile(j.path)
	if err != nil {
		return errors.Join(err, unlockFile(j.file))
	}
	// Closing drops the lock; nothing was written that the close could lose.
	_ = j.file.Close()
	j.file = file
	j.generation++
	j.sealedBytes = math.MaxInt64 / 2 // nobody knows
	return nil
}

// Lock keeps all others that ask for it from undoing until unlock is called, so
// that no entry is undone twice at once. It does not wait: the error is
// ErrUndoing when the lock is held.
func (j *Journal) Lock() (unlock func(), err error) {
	file, err := os.OpenFile(j.path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("undo journal: %w", err)
	}
	if err := lockFile(file, exclusive, 0); err != nil {
		_ = file.Close() // nothing was written
		if errors.Is(err, ErrBusy) {
			return nil, ErrUndoing
		}
		return nil, fmt.Errorf("undo journal: %w", err)
	}
	// The file stays: removing it would let a third process lock a new one.
	return sync.OnceFunc(func() { _ = file.Close() }), nil
}
