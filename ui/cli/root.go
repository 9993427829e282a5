package cli

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"redq/model"
	"redq/queue"
	"redq/queue/journal"
)

// Session is what the dashboard is opened with.
type Session struct {
	Client *queue.Client
	// Journal is the undo journal of Client; nil when it is read-only or none is kept.
	Journal *journal.Journal
	// Title is the profile's name; "" means that the server's address is the title.
	Title   string
	Demo    bool          // the server is the embedded one
	Stage   model.Stage   // where its scenes are played; nil elsewhere
	Match   string        // glob that narrows the scan; "" for all keys
	Queues  []queue.Queue // named by hand
	Refresh time.Duration // between two polls; 0 for the default
	Mouse   bool
	Log     *slog.Logger // never nil; never the screen
	LogPath string       // the file it writes to; "" when it drops everything
}

const rootLong = `redq shows the message queues that applications keep in Redis lists and sorted
sets: what waits, what is stuck, what is late. And it puts them right.

Without a command it opens the dashboard, on $REDIS_URL or else on
redis://localhost:6379. A password comes from the URL, $REDIS_PASSWORD or a
prompt; profiles from $XDG_CONFIG_HOME/redq/config.yaml.

Exit status: 0 done; 1 failed, refused or unknown; 2 wrong usage.`

func (r *run) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "redq",
		Short:         "A terminal dashboard for message queues in Redis",
		Long:          rootLong,
		Args:          noArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return r.dashboard(cmd.Context()) },
	}
	root.SetFlagErrorFunc(badFlag)
	root.SetUsageTemplate(usageTemplate)
	r.shared(root)
	root.AddCommand(
		r.demo(), r.ls(), r.peek(), r.enqueue(), r.redrive(), r.delete(), r.reschedule(), r.consume(),
		r.export(), r.importing(), r.undo(), r.version(),
	)
	root.SetHelpCommand(help())
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			wantShell(cmd)
		}
	}
	return root
}

// help is cobra's command, but for a topic that is not there being an error.
func help() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Tell more about a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usagef("there is no command %q (redq --help lists them)", strings.Join(args, " "))
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// wantShell makes cobra's completion command an error without the name of a shell.
func wantShell(completion *cobra.Command) {
	completion.Short = "Print a completion script for a shell"
	completion.Args = cobra.ArbitraryArgs
	completion.RunE = func(*cobra.Command, []string) error {
		return usagef("expected bash, fish, powershell or zsh behind redq completion")
	}
}

// usageTemplate is cobra's, with flags wrapped to 80 columns and the connection
// flags, which every command takes, told once: under redq itself.
const usageTemplate = `Usage:
  {{if .HasAvailableSubCommands}}{{.CommandPath}}{{if not .HasParent}} [command]{{else}} SHELL{{end}} [flags]

Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{else}}{{.UseLine}}{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

"redq --help" lists the connection flags, which every command takes.{{end}}
`

func (r *run) dashboard(ctx context.Context) error {
	s, err := r.settings()
	if err != nil {
		return err
	}
	c, err := r.open(ctx, s, !s.options.ReadOnly)
	var options *queue.BadOptionsError
	switch {
	case err != nil && s.named, errors.As(err, &options):
		return err
	case err != nil:
		return failf("%s: --url says where else to look, redq demo brings a server of its own", explain(err))
	}
	defer c.close()
	return r.show(ctx, c)
}

// show opens the dashboard on a connection.
func (r *run) show(ctx context.Context, c connection) error {
	if _, ok := terminalOf(r.Stdout); !ok {
		return failf("the dashboard needs a terminal (redq ls prints the queues)")
	}
	err := r.Dashboard(ctx, Session{
		Client: c.Client, Journal: c.journal, Title: c.title, Demo: c.demo, Stage: c.stage, Match: c.match, Queues: c.queues,
		Refresh: c.refresh, Mouse: !r.flags.noMouse, Log: r.log.Logger, LogPath: r.flags.log,
	})
	if err != nil {
		return &dashboardError{err}
	}
	return nil
}

func noArgs(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case !cmd.HasParent():
		return usagef("there is no command %q (redq --help lists them)", args[0])
	}
	return usagef("%s takes no arguments, and %q was given", cmd.CommandPath(), args[0])
}

// queueArg asks for a queue and up to more further arguments.
func queueArg(more int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0 || args[0] == "":
			return usagef("%s wants the name of a queue (redq ls lists them)", cmd.CommandPath())
		case len(args) > 1+more:
			return usagef("%s was given %q, which it has no use for", cmd.CommandPath(), args[1+more])
		}
		return nil
	}
}
