package cli_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"redq/queue/queuetest"
	"redq/ui/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"redq": redq})
}

// redq is the program as main wires it, but for the dashboard.
func redq() {
	os.Exit(cli.Program{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Env: os.Getenv, Now: time.Now, Version: "v0.0.0-test",
		Dashboard: func(_ context.Context, s cli.Session) error {
			fmt.Printf("dashboard %q %s: %d queues named, journal %t, mouse %t, refresh %v, match %q\n",
				s.Title, s.Client.Address(), len(s.Queues), s.Journal != nil, s.Mouse, s.Refresh, s.Match)
			return nil
		},
	}.Run(context.Background(), os.Args[1:]))
}

// TestScripts runs the scripts in testdata/script, each against a redis-server of
// its own at $REDIS_URL.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setUp,
		Condition:           condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"seed":      seed,
			"redis":     redisCommand,
			"server":    serverCommand,
			"lose":      loseReply,
			"user":      addUser,
			"exits":     exits,
			"json":      jsonFields,
			"lines":     countLines,
			"narrow":    narrow,
			"bytes":     writeBytes,
			"expand":    expand,
			"snapshot":  snapshot,
			"unchanged": unchanged,
		},
	})
}

// condition knows [localredis]: something listens on Redis's port of this machine.
func condition(name string) (bool, error) {
	if name != "localredis" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	c, err := net.Dial("tcp", "localhost:6379")
	if err != nil {
		return false, nil
	}
	return true, c.Close()
}

func setUp(env *testscript.Env) error {
	tb := env.T().(testing.TB)
	server := queuetest.Redis(tb)
	proxy := queuetest.NewProxy(tb, server.Addr)
	env.Values["proxy"] = proxy
	env.Setenv("PROXY", proxy.Addr)
	env.Values["tb"], env.Values["server"], env.Values["before"] = tb, server, map[string]string{}
	env.Setenv("REDIS_URL", server.URL)
	env.Setenv("ADDR", server.Addr)
	env.Setenv("SOCK", server.Sock)
	env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
	env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
	env.Setenv("TZ", "UTC")
	return nil
}
