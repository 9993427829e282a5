//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package cli

import "golang.org/x/sys/unix"

// The requests that read and set the state of a terminal.
const (
	readTerminal = unix.TIOCGETA
	setTerminal  = unix.TIOCSETA
)
