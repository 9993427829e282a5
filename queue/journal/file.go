package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// openFile opens the journal's file, making it and its directories as needed,
// and makes sure that its name survives a crash too.
func openFile(path string) (*os.File, error) {
	dir := filepath.Dir(path)
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if err := checkFile(file); err != nil {
		_ = file.Close() // nothing was written
		return nil, err
	}
	// Whoever made the file may have died before this.
	if err := syncDir(dir); err != nil {
		_ = file.Close() // nothing was written
		return nil, err
	}
	return file, nil
}

// checkFile refuses what cannot keep anything, such as /dev/null.
func checkFile(file *os.File) error {
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", file.Name())
	}
	return err
}

// makeDir makes dir and its missing parents for the user only, each synced into
// the directory above it.
func makeDir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := makeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(parent)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
