// Package uitest runs a program in a pseudo-terminal, types at it as a person
// does and reads its screen through a terminal emulator. It knows terminals and
// processes, and nothing of queues.
package uitest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Program is a built binary.
type Program struct {
	Path string
}

// Build compiles the main package in folder pkg to a binary called name in dir,
// with flags for go build.
func Build(ctx context.Context, pkg, dir, name string, flags ...string) (Program, error) {
	p := Program{Path: filepath.Join(dir, name)}
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-o", p.Path}, flags...)...)
	cmd.Dir = pkg
	if out, err := cmd.CombinedOutput(); err != nil {
		return Program{}, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return p, nil
}

// Options say what runs in which terminal. The zero value is the program
// without arguments in 80x24.
type Options struct {
	Args []string
	// Env is added to a small environment of its own (TERM=xterm-256color, a
	// home of its own); later entries win.
	Env []string
	// W and H are the size in cells; 0 means 80 and 24.
	W, H int
	// Home is where the program keeps its files; "" means a new folder.
	Home string
	// Light gives the terminal a white background.
	Light bool
	// Mute makes the terminal answer no queries, as a bare serial line does.
	Mute bool
	// Shell runs an interactive shell that finds the program on PATH, in place
	// of the program. Its standard error is the terminal.
	Shell bool
}

// environment is what the program sees: nothing of the environment of the tests
// but where programs lie, so that no server, profile or journal of the person
// who runs them is touched.
func (p Program) environment(o Options, home string) []string {
	return append([]string{
		"PATH=" + filepath.Dir(p.Path) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + home,
		"XDG_CONFIG_HOME=" + filepath.Join(home, "config"),
		"XDG_STATE_HOME=" + filepath.Join(home, "state"),
		"XDG_DATA_HOME=" + filepath.Join(home, "data"),
		"XDG_CACHE_HOME=" + filepath.Join(home, "cache"),
		"TERM=xterm-256color",
		"COLORTERM=truecolor",
		"LANG=C.UTF-8",
		"PS1=$ ",
	}, o.Env...)
}
