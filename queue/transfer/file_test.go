package transfer_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"redq/queue/transfer"
)

// left are the names of all files in a directory.
func left(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.jsonl")
	write := func(text string, replace bool) error {
		f, err := transfer.Create(path, replace)
		if err != nil {
			return err
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); text == "one" && !errors.Is(err, fs.ErrNotExist) {
			t.Error("it is there before it is whole")
		}
		return f.Commit()
	}
	if err := write("one", false); err != nil {
		t.Fatal(err)
	}
	if err := write("two", false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "one" {
		t.Errorf("%q", got)
	}
	if err := write("three", true); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 || info.Size() != 5 {
		t.Errorf("%v, %v", info, err)
	}

	f, err := transfer.Create(filepath.Join(dir, "other"), false)
	if err != nil {
		t.Fatal(err)
	}
	f.Discard()
	f, err = transfer.Create(filepath.Join(dir, "raced"), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "raced"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v", err)
	}
	f.Discard()
	if err := os.Symlink(path, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, odd := range []string{dir, filepath.Join(dir, "link"), os.DevNull} {
		if _, err := transfer.Create(odd, true); err == nil {
			t.Errorf("%s would be replaced", odd)
		}
	}
	if names := left(t, dir); len(names) != 3 {
		t.Errorf("%q", names)
	}
}
