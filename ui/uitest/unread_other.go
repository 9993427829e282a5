//go:build unix && !linux

package uitest

// unread is not known here: the pause between two keys has to do.
func (t *Term) unread() int { return 0 }
