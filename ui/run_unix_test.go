//go:build unix

package ui

import (
	"syscall"
	"testing"
)

// A closed terminal and a plain kill end the dashboard as its own key does.
func TestRunEndsOnSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			runUntil(t, t.Context(), func() {
				if err := syscall.Kill(syscall.Getpid(), sig); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}
