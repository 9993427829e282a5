package transfer

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
)

// longest is how long a line may be: the largest payload that Redis takes, every byte of
// it escaped.
const longest = 6*(512<<20) + 64<<10

// reader reads lines and counts them.
type reader struct {
	from *bufio.Reader
	line int64 // number of the last one, from 1
	long []byte
}

func newReader(r io.Reader) *reader { return &reader{from: bufio.NewReaderSize(r, 256<<10)} }

// next returns the next line that is not blank; io.EOF at the end. It is valid until the next call.
func (r *reader) next() ([]byte, error) {
	for {
		text, err := r.raw()
		if err != nil {
			return nil, err
		}
		if text = bytes.TrimRight(text, "\r\n"); len(bytes.TrimSpace(text)) > 0 {
			return text, nil
		}
	}
}

// raw returns the next line.
func (r *reader) raw() ([]byte, error) {
	r.long = r.long[:0]
	for {
		piece, err := r.from.ReadSlice('\n')
		switch {
		case err == nil && len(r.long) == 0:
			r.line++
			return piece, nil
		case len(r.long)+len(piece) > longest:
			return nil, &LineError{Line: r.line + 1, Column: longest, Reason: "the line is longer than any message"}
		}
		if free := cap(r.long) - len(r.long); free < len(piece) {
			r.long = slices.Grow(r.long, max(len(r.long), len(piece))) // append would grow a long line more often
		}
		r.long = append(r.long, piece...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil, errors.Is(err, io.EOF) && len(r.long) > 0:
			r.line++
			return r.long, nil
		default:
			return nil, err
		}
	}
}

// message returns the next message and the number of its line, at or behind line from.
func (r *reader) message(from int64) (Line, error) {
	for {
		text, err := r.next()
		switch {
		case err != nil:
			return Line{}, err
		case r.line < from:
			continue
		}
		l, err := Decode(text)
		var wrong *LineError
		if errors.As(err, &wrong) {
			wrong.Line = r.line
		}
		return l, err
	}
}
