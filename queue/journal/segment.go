package journal

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (o Options) segmentSize() int64 {
	const usual, enough = 64 << 20, 16
	switch {
	case o.SegmentBytes > 0:
		return o.SegmentBytes
	case o.MaxBytes > 0: // what is dropped at a time should be a small part of all
		return max(1, min(usual, o.MaxBytes/enough))
	}
	return usual
}

// segment is a sealed file of the journal: nothing is written to it any more.
type segment struct {
	number   int // from 1, in the order of their records
	path     string
	size     int64
	modified time.Time
}

// names are those of the files of the journal at a path.
type names string

// cut splits the path into what comes before the number of a segment and behind it.
func (n names) cut() (stem, ext string) {
	ext = filepath.Ext(string(n))
	return strings.TrimSuffix(string(n), ext), ext
}

func (n names) segment(number int) string {
	stem, ext := n.cut()
	return fmt.Sprintf("%s-%06d%s", stem, number, ext)
}

func (n names) index(number int) string {
	stem, _ := n.cut()
	return fmt.Sprintf("%s-%06d%s", stem, number, indexExt)
}

// sealed lists the sealed segments, the oldest first.
func (n names) sealed() ([]segment, error) {
	stem, ext := n.cut()
	files, err := os.ReadDir(filepath.Dir(stem))
	if err != nil {
		return nil, err
	}
	var all []segment
	for _, f := range files {
		number, ok := numberIn(f.Name(), filepath.Base(stem), ext)
		if !ok {
			continue
		}
		info, err := f.Info()
		if err != nil {
			return nil, err
		}
		all = append(all, segment{number: number, path: n.segment(number), size: info.Size(), modified: info.ModTime()})
	}
	slices.SortFunc(all, func(a, b segment) int { return cmp.Compare(a.number, b.number) })
	return all, nil
}

// numberIn reads the number out of the name of a file.
func numberIn(name, stem, ext string) (int, bool) {
	digits, ok := strings.CutPrefix(name, stem+"-")
	if !ok {
		return 0, false
	}
	if digits, ok = strings.CutSuffix(digits, ext); !ok || len(digits) < 6 {
		return 0, false
	}
	number, err := strconv.Atoi(digits)
	return number, err == nil && number > 0 && fmt.Sprintf("%06d", number) == digits
}

// seal ends the active segment, which the caller has locked: from now on it is a numbered
// file, and whoever writes next finds that there is none at the path and makes a new one.
func (n names) seal() (segment, error) {
	all, err := n.sealed()
	if err != nil {
		return segment{}, err
	}
	number := 1
	if len(all) > 0 {
		number = all[len(all)-1].number + 1
	}
	s := segment{number: number, path: n.segment(number)}
	if err := os.Rename(string(n), s.path); err != nil {
		return s, err
	}
	if err := syncDir(filepath.Dir(s.path)); err != nil {
		return s, err
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return s, err
	}
	s.size, s.modified = info.Size(), info.ModTime()
	return s, nil
}

// open opens a segment for reading. One that is not the file it was is as good as gone.
func (s segment) open() (*os.File, error) {
	file, err := os.Open(s.path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !s.is(info) {
		err = fmt.Errorf("%s was replaced: %w", s.path, os.ErrNotExist)
	}
	if err != nil {
		_ = file.Close() // nothing was written
		return nil, err
	}
	return file, nil
}

func (s segment) is(info os.FileInfo) bool {
	return info.Size() == s.size && info.ModTime().Equal(s.modified)
}
