package cli

import "golang.org/x/sys/unix"

// The requests that read and set the state of a terminal.
const (
	readTerminal = unix.TCGETS
	setTerminal  = unix.TCSETS
)
