package journal

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const indexExt = ".idx"

// An index file is a header and a frame for each table of the segment, in order. All
// numbers are little-endian, the checksums CRC-32C:
//
//	header  magic, size of the segment, its time of modification in ns, checksum
//	frame   the stretch (from, to), length of the table, checksum of all of it, the table
const (
	indexMagic  = "redqidx1"
	headerBytes = 8 + 8 + 8 + 4
	frameBytes  = 8 + 8 + 4 + 4
)

// index is the index of a file: its tables, in the order of the file.
type index struct {
	in     io.ReaderAt
	file   *os.File // to be closed; nil when there is none
	frames []frame
}

// frame is where a table lies in an index.
type frame struct {
	from, to int64 // the stretch of the segment
	at       int64 // of the frame in the index
	length   int   // of the table
}

func (ix *index) close() {
	if ix.file != nil {
		_ = ix.file.Close() // only read
	}
}

// body returns a table as it was written.
func (ix *index) body(i int) ([]byte, error) {
	f := ix.frames[i]
	b := make([]byte, frameBytes+f.length)
	if _, err := ix.in.ReadAt(b, f.at); err != nil {
		return nil, err
	}
	if checksum(b) != binary.LittleEndian.Uint32(b[20:]) {
		return nil, errDamagedIndex
	}
	return b[frameBytes:], nil
}

// checksum is that of a frame, which has its own checksum within.
func checksum(frame []byte) uint32 {
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(frame[:20], castagnoli), castagnoli, frame[frameBytes:])
}

func encodeFrame(t table) []byte {
	b := make([]byte, frameBytes)
	b = t.encode(b)
	binary.LittleEndian.PutUint64(b, uint64(t.from))
	binary.LittleEndian.PutUint64(b[8:], uint64(t.to))
	binary.LittleEndian.PutUint32(b[16:], uint32(len(b)-frameBytes))
	binary.LittleEndian.PutUint32(b[20:], checksum(b))
	return b
}

func encodeHeader(s segment) []byte {
	b := append(make([]byte, 0, headerBytes), indexMagic...)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.size))
	b = binary.LittleEndian.AppendUint64(b, uint64(s.modified.UnixNano()))
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// openIndex opens the index of a segment that was written before, if it is whole and that
// of the segment as it is.
func openIndex(path string, s segment) (*index, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	ix := &index{in: file, file: file}
	info, err := file.Stat()
	if err == nil {
		err = ix.check(s, info.Size())
	}
	if err != nil {
		ix.close()
		return nil, err
	}
	return ix, nil
}

// check reads all of an index of size bytes once, to see that it can be trusted.
func (ix *index) check(s segment, size int64) error {
	header := make([]byte, headerBytes)
	if _, err := ix.in.ReadAt(header, 0); err != nil || !bytes.Equal(header, encodeHeader(s)) {
		return errDamagedIndex
	}
	at, end := int64(headerBytes), int64(0)
	for end < s.size {
		var b [frameBytes]byte
		if _, err := ix.in.ReadAt(b[:], at); err != nil {
			return errDamagedIndex
		}
		f := frame{at: at, length: int(binary.LittleEndian.Uint32(b[16:]))}
		f.from, f.to = int64(binary.LittleEndian.Uint64(b[:])), int64(binary.LittleEndian.Uint64(b[8:]))
		if f.from != end || f.to <= f.from || at+frameBytes+int64(f.length) > size {
			return errDamagedIndex
		}
		ix.frames = append(ix.frames, f)
		if _, err := ix.body(len(ix.frames) - 1); err != nil {
			return errDamagedIndex
		}
		at, end = at+frameBytes+int64(f.length), f.to
	}
	return nil
}

// indexing makes an index while the lines of a file go by.
type indexing struct {
	out    io.Writer // gets the frames
	at     int64     // of the next frame in out
	frames []frame
	draft  *drafting // of the last stretch
}

func newIndexing(out io.Writer, at int64) *indexing {
	return &indexing{out: out, at: at, draft: newDrafting(0)}
}

func (x *indexing) add(l line) error {
	x.draft.add(l)
	if x.draft.to-x.draft.from < tableBytes {
		return nil
	}
	return x.flush()
}

// flush ends the stretch.
func (x *indexing) flush() error {
	t := x.draft.table()
	b := encodeFrame(t)
	if _, err := x.out.Write(b); err != nil {
		return err
	}
	x.frames = append(x.frames, frame{from: t.from, to: t.to, at: x.at, length: len(b) - frameBytes})
	x.at += int64(len(b))
	x.draft = newDrafting(t.to)
	return nil
}

// indexOf opens the index of a sealed segment, and makes it when there is none that can
// be trusted.
func (n names) indexOf(s segment) (*index, error) {
	if ix, err := openIndex(n.index(s.number), s); err == nil {
		return ix, nil
	}
	file, err := s.open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if ix, err := n.newIndex(s, file); err == nil {
		return ix, nil
	}
	// On a full disk it is made anew each time.
	var memory bytes.Buffer
	frames, err := writeIndex(&memory, s, file)
	return &index{in: bytes.NewReader(memory.Bytes()), frames: frames}, err
}

// newIndex makes the index of a segment and keeps it.
func (n names) newIndex(s segment, file io.ReaderAt) (*index, error) {
	kept, err := n.createIndex(s.number)
	if err != nil {
		return nil, err
	}
	frames, err := writeIndex(kept, s, file)
	if err == nil {
		err = n.keepIndex(kept, s)
	}
	if err != nil {
		return nil, errors.Join(err, kept.Close(), os.Remove(kept.Name()))
	}
	return &index{in: kept, file: kept, frames: frames}, nil
}

// createIndex makes a file of which keepIndex makes the index. What others have left of
// such files is removed: one that is still at work on it has an index all the same.
func (n names) createIndex(number int) (*os.File, error) {
	path := n.index(number)
	if err := n.removeTemporary(filepath.Base(path)); err != nil {
		return nil, err
	}
	return os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+tempExt)
}

const tempExt = ".tmp"

// keepIndex puts a finished file in the place of the index. It does not wait for the disk: what a
// crash of the machine leaves of an index is not trusted.
func (n names) keepIndex(file *os.File, s segment) error {
	path := n.index(s.number)
	if err := os.Rename(file.Name(), path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(s.path); errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(path) // the segment was dropped meanwhile
	}
	return nil
}

// writeIndex writes the index of a segment.
func writeIndex(w io.Writer, s segment, file io.ReaderAt) ([]frame, error) {
	out := bufio.NewWriterSize(w, 256<<10)
	if _, err := out.Write(encodeHeader(s)); err != nil {
		return nil, err
	}
	x := newIndexing(out, headerBytes)
	if err := scanLines(io.NewSectionReader(file, 0, s.size), x.add); err != nil {
		return nil, err
	}
	// The last line may have no end.
	if x.draft.to = min(x.draft.to, s.size); x.draft.to > x.draft.from {
		if err := x.flush(); err != nil {
			return nil, err
		}
	}
	if n := len(x.frames); n > 0 && x.frames[n-1].to != s.size {
		return nil, fmt.Errorf("%s ended at %d bytes of %d", s.path, x.frames[n-1].to, s.size)
	}
	return x.frames, out.Flush()
}
