package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"redq/queue"
)

// fakeRunner runs until its context ends and what is in hand was released, or until it is abandoned.
type fakeRunner struct {
	stats     queue.ConsumerStats
	stopped   chan struct{} // closed when the stop arrived
	release   chan struct{}
	abandoned chan struct{}
}

func newFakeRunner(stats queue.ConsumerStats) *fakeRunner {
	return &fakeRunner{stats, make(chan struct{}), make(chan struct{}), make(chan struct{})}
}

func (f *fakeRunner) Run(ctx context.Context) error {
	<-ctx.Done()
	close(f.stopped)
	select {
	case <-f.release:
		return nil
	case <-f.abandoned:
		return queue.ErrAbandoned
	}
}

func (f *fakeRunner) Abandon()                   { close(f.abandoned) }
func (f *fakeRunner) Stats() queue.ConsumerStats { return f.stats }

// clock is a clock that moves on by step with each look.
func clock(step time.Duration) func() time.Time {
	now := eventTime()
	return func() time.Time {
		now = now.Add(step)
		return now
	}
}

func TestSignals(t *testing.T) {
	const hup, intr, term = syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM
	for _, c := range []struct {
		name    string
		backup  bool
		inHand  int
		signals []os.Signal
		apart   time.Duration
		want    string // of the error; "" for none
		says    string
	}{
		{"one", true, 3, []os.Signal{intr}, time.Second, "", "redq: stopping: finishing 3 in hand (again to force: they stay in backup)\n"},
		{"nothing in hand", true, 0, []os.Signal{term}, time.Second, "", "redq: stopping\n"},
		{"without a backup list", false, 1, []os.Signal{hup}, time.Second, "", "redq: stopping: finishing 1 in hand (again to force: they are put back, as far as the server answers)\n"},
		{"two", true, 3, []os.Signal{term, intr}, time.Second, "forced to stop with messages in hand: they stay in backup", ""},
		{"an echo of the first", true, 3, []os.Signal{term, term, intr}, 100 * time.Millisecond, "", ""},
		{"hang-ups do not force", true, 3, []os.Signal{hup, hup, hup}, time.Second, "", ""},
		{"hung up, then forced", false, 3, []os.Signal{hup, hup, term}, time.Second, "forced to stop with messages in hand: they are put back, as far as the server answers", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			runner := newFakeRunner(queue.ConsumerStats{InHand: c.inHand})
			signals := make(chan os.Signal)
			var notes bytes.Buffer
			work := &consumption{runner: runner, out: newEventWriter(io.Discard, queue.Named("q"), false), notes: &notes, now: clock(c.apart), signals: signals, backup: c.backup}
			ended := make(chan error)
			go func() { ended <- work.run(t.Context()) }()
			for _, s := range c.signals {
				signals <- s
			}
			<-runner.stopped
			if c.want == "" {
				close(runner.release)
			}
			err := work.verdict(<-ended)
			if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
				t.Errorf("it ends with %v, want %q", err, c.want)
			}
			if c.says != "" && notes.String() != c.says {
				t.Errorf("it says %q, want %q", notes.String(), c.says)
			}
		})
	}
}

// A forced end that does not come is left by a third signal: what reads the output may
// have stopped to.
func TestAThirdSignalWaitsForNothing(t *testing.T) {
	runner := newFakeRunner(queue.ConsumerStats{InHand: 1})
	signals := make(chan os.Signal)
	work := &consumption{runner: deaf{runner}, out: newEventWriter(io.Discard, queue.Named("q"), false), notes: io.Discard, now: clock(time.Second), signals: signals}
	ended := make(chan error)
	go func() { ended <- work.run(t.Context()) }()
	for range 3 {
		signals <- syscall.SIGINT
	}
	if err := <-ended; err != errDeserted || work.verdict(err) == nil {
		t.Errorf("it ends with %v", err)
	}
	close(runner.release)
}

// deaf is a runner that cannot be abandoned.
type deaf struct{ *fakeRunner }

func (deaf) Abandon() {}

// Handlers of an abandoned consumer are given the time to end what they have begun.
func TestAForcedEndWaitsForItsHandlers(t *testing.T) {
	runner := newFakeRunner(queue.ConsumerStats{InHand: 1})
	signals, inHandler, release := make(chan os.Signal), make(chan struct{}), make(chan struct{})
	work := &consumption{runner: runner, out: newEventWriter(io.Discard, queue.Named("q"), false), notes: io.Discard, now: clock(time.Second), signals: signals}
	handle := work.counting(func(context.Context, queue.Message) error {
		close(inHandler)
		<-release
		return nil
	})
	go func() { _ = handle(t.Context(), message("x")) }()
	<-inHandler
	ended := make(chan error)
	go func() { ended <- work.run(t.Context()) }()
	signals <- syscall.SIGINT
	signals <- syscall.SIGINT
	<-runner.abandoned
	select {
	case err := <-ended:
		t.Errorf("it ended before its handler: %v", err)
	case signals <- syscall.SIGHUP: // is taken, and counts for nothing
	}
	close(release)
	if err := <-ended; !errors.Is(err, queue.ErrAbandoned) {
		t.Errorf("it ends with %v", err)
	}
}

// The end of the context is no signal: one more signal does not force anything.
func TestTheContextIsNoSignal(t *testing.T) {
	runner := newFakeRunner(queue.ConsumerStats{})
	signals := make(chan os.Signal)
	ctx, cancel := context.WithCancel(t.Context())
	work := &consumption{runner: runner, out: newEventWriter(io.Discard, queue.Named("q"), false), notes: io.Discard, now: clock(time.Second), signals: signals}
	ended := make(chan error)
	go func() { ended <- work.run(ctx) }()
	cancel()
	<-runner.stopped
	signals <- syscall.SIGINT
	close(runner.release)
	if err := <-ended; err != nil {
		t.Errorf("it ends with %v", err)
	}
}

func TestAClosedOutputStops(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}, ""},
		{syscall.EIO, ""}, // a terminal that is gone
		{syscall.ENOSPC, "standard output cannot be written"},
	} {
		runner := newFakeRunner(queue.ConsumerStats{})
		close(runner.release)
		out := newEventWriter(failingWriter{c.err}, queue.Named("q"), false)
		work := &consumption{runner: runner, out: out, notes: io.Discard}
		ended := make(chan error)
		go func() { ended <- work.run(t.Context()) }()
		out.event(queue.Event{Kind: queue.EventStarted})
		err := work.verdict(<-ended)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("after %v it ends with %v", c.err, err)
		}
	}
}

// Only a consumer that ends by itself is judged by what failed for good.
func TestVerdict(t *testing.T) {
	dead := queue.ConsumerStats{Taken: 3, Done: 2, Dead: 1}
	refused := errors.New("refused")
	for _, c := range []struct {
		name    string
		stats   queue.ConsumerStats
		bounded bool
		err     error
		want    string
	}{
		{"all done", queue.ConsumerStats{Taken: 3, Done: 3}, true, nil, ""},
		{"to be tried again", queue.ConsumerStats{Taken: 3, Done: 1, Retried: 1, Deferred: 1}, true, nil, ""},
		{"dead", dead, true, nil, "1 of 3 messages failed for good: 1 dead"},
		{"dead, and stopped by a signal", dead, false, nil, ""},
		{"the consumer's error", dead, true, refused, "refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			runner := newFakeRunner(c.stats)
			work := &consumption{runner: runner, out: newEventWriter(io.Discard, queue.Named("q"), false), notes: io.Discard, bounded: c.bounded}
			err := work.verdict(c.err)
			if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
				t.Errorf("it ends with %v, want %q", err, c.want)
			}
		})
	}
}
