//go:build unix

package handler

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// ownGroup makes cmd the leader of a process group of its own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup tells the group that leader leads to end, kills it when it has not after the
// grace, and returns when it has gone. It returns false, and does nothing, when the leader
// had ended by itself.
func endGroup(leader *os.Process, grace time.Duration) bool {
	const poll = 10 * time.Millisecond
	if errors.Is(leader.Signal(syscall.Signal(0)), os.ErrProcessDone) {
		return false
	}
	group := -leader.Pid                     // which no other process gets while one of the group lives
	_ = syscall.Kill(group, syscall.SIGTERM) // fails only when it has gone

	patience := time.NewTimer(grace)
	defer patience.Stop()
	look := time.NewTicker(poll)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			if syscall.Kill(group, 0) != nil {
				return true
			}
		case <-patience.C:
			_ = syscall.Kill(group, syscall.SIGKILL)
			return true
		}
	}
}
