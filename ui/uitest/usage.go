package uitest

import "time"

// Usage is what a process has used.
type Usage struct {
	CPU      time.Duration // user and system, since its start
	Resident int64         // bytes of memory, now
}
