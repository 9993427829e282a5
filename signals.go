package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"sync/atomic"
	"syscall"
)

// endings are the signals that ask for an end, but for those that nohup or a shell has
// had ignored.
func endings() []os.Signal {
	return slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
}

// keyboard tells for whom ctrl+c and ctrl+\ are: while an editor has the terminal they
// reach redq too, and are not meant for it.
type keyboard struct{ lent atomic.Bool }

// lend gives the keyboard to another program, until back is called.
func (k *keyboard) lend() (back func()) {
	k.lent.Store(true)
	quits := make(chan os.Signal, 1) // nobody reads it: that they are caught is enough
	signal.Notify(quits, syscall.SIGQUIT)
	return func() {
		signal.Stop(quits)
		k.lent.Store(false)
	}
}

// asked returns a context that ends when an end was asked for n times.
func (k *keyboard) asked(n int) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, endings()...)
	go func() {
		defer cancel()
		defer signal.Stop(signals)
		for n > 0 {
			select {
			case s := <-signals:
				if s != os.Interrupt || !k.lent.Load() {
					n--
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, cancel
}
