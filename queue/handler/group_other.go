//go:build !unix

package handler

import (
	"os"
	"os/exec"
	"time"
)

// There are no process groups here, and nothing to tell a process but to die.

func ownGroup(*exec.Cmd) {}

func endGroup(leader *os.Process, _ time.Duration) bool { return leader.Kill() == nil }
