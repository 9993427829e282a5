// Command redq is a terminal dashboard for the message queues that applications
// keep in Redis lists and sorted sets. This file wires its parts together and
// knows nothing else.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"redq/model"
	"redq/queue/layout"
	"redq/ui"
	"redq/ui/cli"
)

func main() { os.Exit(run()) }

func run() int {
	keys := &keyboard{}
	// The first signal asks for an end in good order; a second one ends at once.
	ctx, stop := keys.asked(1)
	defer stop()
	program := cli.Program{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Env: os.Getenv, Now: time.Now, Version: version(),
		Dashboard: func(ctx context.Context, s cli.Session) error { return dashboard(ctx, s, keys) },
	}
	return program.Run(ctx, os.Args[1:])
}

// dashboard shows a session until somebody leaves it.
func dashboard(ctx context.Context, s cli.Session, keys *keyboard) error {
	live := model.NewLive(s.Client, s.Journal, layout.Options{Match: s.Match, Named: s.Queues})
	live.Home, _ = os.UserHomeDir() // without one ~/ is a name like any other
	cfg := model.Config{
		Backend:  live,
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
	hurry, done := keys.asked(2)
	defer done()
	return ui.Run(ctx, ui.Options{
		Model:   cfg,
		Hurry:   hurry,
		Lend:    keys.lend,
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
