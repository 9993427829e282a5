package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"redq/queue"
)

// runner is what is asked of a queue.Consumer.
type runner interface {
	Run(ctx context.Context) error
	Abandon()
	Stats() queue.ConsumerStats
}

// consumption is a consumer that runs until its work, a signal or a closed output ends it.
type consumption struct {
	runner
	out   *eventWriter
	notes io.Writer
	now   func() time.Time
	// signals may be nil. The first asks for an end in good order, a second one for the end.
	signals <-chan os.Signal
	asked   time.Time // when the last signal that counted came
	// backup says that messages abandoned in hand stay in a backup list.
	backup bool
	// recovers says that the consumer takes up again what its crashed workers left.
	recovers bool
	// running is how many handlers run.
	running atomic.Int64
	// bounded is set when the consumer ends by itself: what failed for good then fails the command.
	bounded bool
}

// errDeserted is returned when a third signal came before a forced end was over: what
// reads standard output may have stopped to, and then nothing can be written.
var errDeserted = errors.New("forced to stop")

// run returns when the consumer has ended; its error is the consumer's, or errDeserted.
func (c *consumption) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()

	stopping, broken := ctx.Done(), c.out.broken
	for signals := 0; ; {
		select {
		case err := <-ended:
			if errors.Is(err, queue.ErrAbandoned) && !c.waitForHandlers() {
				return errDeserted
			}
			return err
		case <-stopping:
			stopping = nil
			c.note("%s", c.stopping())
		case <-broken:
			broken = nil
			stop()
		case s := <-c.signals:
			if !c.counts(s) {
				continue
			}
			switch signals++; signals {
			case 1:
				stop()
			case 2:
				c.Abandon()
			default:
				return errDeserted
			}
		}
	}
}

// echo is how long a signal may be a copy of the one before: timeout(1) sends its own twice, and
// wrappers pass on a ctrl+c that the terminal has sent already.
const echo = 500 * time.Millisecond

// counts reports whether somebody has asked (again) to stop. A terminal that closes may
// hang up more than once: that is nobody's impatience.
func (c *consumption) counts(s os.Signal) bool {
	now := c.now()
	if !c.asked.IsZero() && (s == syscall.SIGHUP || now.Sub(c.asked) < echo) {
		return false
	}
	c.asked = now
	return true
}

// waitForHandlers waits for the handlers of an abandoned consumer, which were told to end: no
// command should be left to run alone. It returns false when a signal was faster.
func (c *consumption) waitForHandlers() bool {
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	enough := time.After(handlersEnd)
	for c.running.Load() > 0 {
		select {
		case <-look.C:
		case <-enough:
			return true
		case s := <-c.signals:
			if c.counts(s) {
				return false
			}
		}
	}
	return true
}

// handlersEnd is how long handlers that were told to end are waited for: longer than
// handler.Exec lets a command take until it kills it.
const handlersEnd = 8 * time.Second

// counting returns a handler that counts those that run.
func (c *consumption) counting(h queue.Handler) queue.Handler {
	return func(ctx context.Context, m queue.Message) error {
		c.running.Add(1)
		defer c.running.Add(-1)
		return h(ctx, m)
	}
}

func (c *consumption) note(format string, args ...any) { note(c.notes, format, args...) }

// note tells something beside the results; who does not listen misses it.
func note(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(w, "redq: "+format+"\n", args...)
}

func (c *consumption) stopping() string {
	n := c.Stats().InHand
	if n == 0 {
		return "stopping"
	}
	return fmt.Sprintf("stopping: finishing %d in hand (again to force: %s)", n, c.abandoned())
}

// abandoned says where a forced end leaves the messages in hand.
func (c *consumption) abandoned() string {
	if c.backup {
		return "they stay in backup"
	}
	return "they are put back, as far as the server answers"
}

// verdict is the command's error, from how the consumer ended.
func (c *consumption) verdict(err error) error {
	switch {
	case errors.Is(err, queue.ErrAbandoned), errors.Is(err, errDeserted):
		return failf("forced to stop with messages in hand: %s", c.abandoned())
	case err != nil:
		return failf("%v", err)
	}
	written, lost := c.out.failure(), gaveUp(c.Stats(), c.recovers)
	switch {
	case written != nil && !isHangup(written):
		return failf("stopped, since standard output cannot be written: %v", written)
	case c.bounded && lost != "":
		return failf("%s", lost)
	}
	return nil
}

// isHangup reports whether who read the output has gone, as head does when it has enough.
func isHangup(err error) bool { return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.EIO) }

// listen returns the signals that ask a consumer to stop, until the function is called. What
// the program was started to ignore (nohup does so with HUP) does not stop it.
//
// It also keeps SIGPIPE from ending the program with messages in hand: a write to a
// closed pipe then fails as any other. (Ignoring it would do the same to every command that is run.)
func listen() (<-chan os.Signal, func()) {
	stops, pipe := make(chan os.Signal, 4), make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(stops, s)
		}
	}
	signal.Notify(pipe, syscall.SIGPIPE)
	return stops, func() {
		signal.Stop(stops)
		signal.Stop(pipe)
	}
}
