package cli

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"redq/queue/demo"
)

func (r *run) demo() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Open the dashboard on an embedded server full of failing queues",
		Long: `Open the dashboard on an embedded server, with queues of every pattern and
programs that feed and drain them, badly at times. Scenes (d) play the classic
faults before your eyes: a crash, a poison message, a lock, a race, a burst. It
listens on a free port of this machine, which redis-cli can join: the address is
in the header.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range []string{"url", "user", "cluster", "sentinel-master", "tls-ca", "tls-cert", "tls-key", "profile"} {
				if r.flags.given(name) {
					return usagef("redq demo brings its own server, so --%s has no use", name)
				}
			}
			return r.runDemo(cmd.Context())
		},
	}
}

func (r *run) runDemo(ctx context.Context) error {
	if err := r.openLog(); err != nil {
		return err
	}
	d, err := demo.Start(ctx, demo.Options{Logf: r.log.printf})
	if err != nil {
		return failf("%v", err)
	}
	defer d.Close()
	if r.flags.journal == "" {
		// The server's messages end with it, and so does what could be undone there.
		dir, err := os.MkdirTemp("", "redq-demo")
		if err != nil {
			return failf("%v", err)
		}
		defer os.RemoveAll(dir)
		r.flags.journal = filepath.Join(dir, "journal.jsonl")
	}
	s := settings{title: "demo", demo: true, stage: d.Stage(), refresh: r.flags.refresh, match: r.flags.match, queues: r.flags.queues}
	s.options.URL, s.options.ReadOnly = "redis://"+d.Addr(), r.flags.readOnly
	for _, q := range d.Queues() {
		q.Pinned = true
		s.queues = append(s.queues, q)
	}
	c, err := r.open(ctx, s, !s.options.ReadOnly)
	if err != nil {
		return err
	}
	defer c.close()
	return r.show(ctx, c)
}
