package transfer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file that is there as a whole or not at all: what is written goes to another one
// beside it, which takes its name in the end. Only its owner may read it.
type File struct {
	path    string
	replace bool
	temp    *os.File
}

// Create begins a file. Without replace, one that is there already is an error that is fs.ErrExist; what is no
// plain file is never replaced.
func Create(path string, replace bool) (*File, error) {
	f := &File{path: path, replace: replace}
	if err := f.free(); err != nil {
		return nil, err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // with mode 0600
	if err != nil {
		return nil, err
	}
	f.temp = temp
	return f, nil
}

// free checks that the name can be taken.
func (f *File) free() error {
	info, err := os.Lstat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no plain file", f.path)
	case !f.replace:
		return &fs.PathError{Op: "create", Path: f.path, Err: fs.ErrExist}
	}
	return nil
}

func (f *File) Write(b []byte) (int, error) { return f.temp.Write(b) }

// Commit gives the file its name, when all of it is on the disk.
func (f *File) Commit() error {
	err := f.temp.Sync()
	if closed := f.temp.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = f.free() // it took a while
	}
	if err == nil {
		err = os.Rename(f.temp.Name(), f.path)
	}
	if err != nil {
		_ = os.Remove(f.temp.Name())
	}
	return err
}

// Discard takes the file away again, unless it was committed.
func (f *File) Discard() {
	if f.temp.Close() == nil {
		_ = os.Remove(f.temp.Name())
	}
}
