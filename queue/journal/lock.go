//go:build unix

package journal

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lockKind is whom a file lock keeps out.
type lockKind int

const (
	shared    lockKind = unix.LOCK_SH // writers
	exclusive lockKind = unix.LOCK_EX // all
)

// lockFile locks the open file for this process, or gives up with ErrBusy. The
// kernel drops the lock when the process dies. It asks again and again instead
// of blocking, since a process that was suspended while it held the lock would
// otherwise suspend all others.
func lockFile(file *os.File, how lockKind, patience time.Duration) error {
	const pause = 2 * time.Millisecond
	deadline := time.Now().Add(patience)
	for {
		err := unix.Flock(int(file.Fd()), int(how)|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
			continue
		case !errors.Is(err, unix.EWOULDBLOCK):
			return os.NewSyscallError("flock", err)
		case !time.Now().Before(deadline):
			return ErrBusy
		}
		time.Sleep(pause)
	}
}

func unlockFile(file *os.File) error {
	return os.NewSyscallError("flock", unix.Flock(int(file.Fd()), unix.LOCK_UN))
}
