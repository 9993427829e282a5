package uitest

import "golang.org/x/sys/unix"

// unread returns how many bytes of what was typed the program has not read yet.
func (t *Term) unread() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := unix.IoctlGetInt(int(t.tty.Fd()), unix.TIOCINQ)
	if err != nil { // closed: nobody will read
		return 0
	}
	return n
}
