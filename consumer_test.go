package main_test

import (
	"syscall"
	"testing"

	"redq/ui/uitest"
)

// A consumer is started from its form, empties ready, and is drained when the
// operator leaves: what was in backup before stays there.
func TestConsumer(t *testing.T) {
	t.Parallel()
	s, term := opened(t, uitest.Options{W: 120, H: 36})
	openBackup(t, term)
	term.Press("c")
	term.WaitFor("Start a consumer on queueA")
	term.WaitFor("at least once") // the promise of the pattern that was guessed
	term.Confirm("Start a consumer")
	term.WaitMatch(`done +4\b`)
	becomes(t, s, "queueA")
	becomes(t, s, "queueA:backup", "Hello-2", "Hello-1", "Hello-0")

	term.Press("ctrl+c")
	term.Confirm("1 consumer is running")
	leaves(t, term, 0)
	becomes(t, s, "queueA:backup", "Hello-2", "Hello-1", "Hello-0")
}

// A signal drains too, and leaves the terminal as it was.
func TestSignalStopsConsumers(t *testing.T) {
	t.Parallel()
	s, term := opened(t, uitest.Options{W: 120, H: 36})
	openBackup(t, term)
	term.Press("c")
	term.WaitFor("Start a consumer on queueA")
	term.Confirm("Start a consumer")
	term.WaitMatch(`done +4\b`)
	term.Signal(syscall.SIGTERM)
	leaves(t, term, 0)
	becomes(t, s, "queueA:backup", "Hello-2", "Hello-1", "Hello-0")
}
