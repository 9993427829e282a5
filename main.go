// Command redq is a terminal dashboard for the message queues that applications
// keep in Redis lists and sorted sets. This file wires its parts together and
// knows nothing else.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"redq/model"
	"redq/queue/layout"
	"redq/ui"
	"redq/ui/cli"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	defer stop()
	// The first signal asks for an end in good order; a second one ends at once.
	context.AfterFunc(ctx, stop)

	program := cli.Program{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Env: os.Getenv, Now: time.Now, Version: version(),
		Dashboard: dashboard,
	}
	return program.Run(ctx, os.Args[1:])
}

// endings are the signals that ask for an end, but for those that nohup or a shell has
// had ignored.
func endings() []os.Signal {
	return slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
}

// secondSignal returns a context that ends when an end was asked for twice.
func secondSignal() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	asked := make(chan os.Signal, 2)
	signal.Notify(asked, endings()...)
	go func() {
		defer cancel()
		defer signal.Stop(asked)
		for range cap(asked) {
			select {
			case <-asked:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, cancel
}

// dashboard shows a session until somebody leaves it.
func dashboard(ctx context.Context, s cli.Session) error {
	cfg := model.Config{
		Backend:  model.NewLive(s.Client, s.Journal, layout.Options{Match: s.Match, Named: s.Queues}),
		Stage:    s.Stage,
		Address:  s.Client.Address(),
		Profile:  s.Title,
		ReadOnly: s.Client.ReadOnly(),
		Refresh:  s.Refresh,
		Pinned:   s.Queues,
		Match:    s.Match,
	}
	if s.Demo {
		cfg.Demo, cfg.Profile = s.Client.Address(), ""
	}
	hurry, done := secondSignal()
	defer done()
	return ui.Run(ctx, ui.Options{
		Model:   cfg,
		Hurry:   hurry,
		NoMouse: !s.Mouse,
		Logf:    func(format string, args ...any) { s.Log.Error(fmt.Sprintf(format, args...)) },
		Log:     s.LogPath,
	})
}

// version is what the Go toolchain knows of this build.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(unknown version)"
	}
	return info.Main.Version
}
