//go:build unix && !linux

package uitest

import "errors"

// Usage is known on Linux only.
func (t *Term) Usage() (Usage, error) { return Usage{}, errors.ErrUnsupported }
