// Package config reads redq's configuration file: named profiles of servers and
// of queues. It knows YAML and what a queue is, and connects to nothing.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"github.com/dustin/go-humanize"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"redq/model/when"
	"redq/queue"
)

// File is the whole configuration file. The zero value is a missing file.
type File struct {
	// Default names the profile used when neither a flag nor the environment says where to connect.
	Default  string             `yaml:"default"`
	Profiles map[string]Profile `yaml:"profiles"`
	// JournalMax is how large the undo journal may become, on this machine.
	JournalMax Size `yaml:"journal_max"`
}

// Profile is one server and what to look at there. Zero values mean "as without a profile".
type Profile struct {
	URL      string `yaml:"url"`
	Username string `yaml:"username"`
	// PasswordEnv names the environment variable that holds the password.
	PasswordEnv    string   `yaml:"password_env"`
	Cluster        bool     `yaml:"cluster"`
	SentinelMaster string   `yaml:"sentinel_master"`
	TLSCA          string   `yaml:"tls_ca"`
	TLSCert        string   `yaml:"tls_cert"`
	TLSKey         string   `yaml:"tls_key"`
	ReadOnly       bool     `yaml:"read_only"`
	Refresh        Duration `yaml:"refresh"`
	Match          string   `yaml:"match"`
	Queues         []Queue  `yaml:"queues"`
}

// Queue names a queue's keys by hand. When no key is given, the queue has the
// default keys for its name.
type Queue struct {
	Name    string   `yaml:"name"`
	Ready   string   `yaml:"ready"`
	Backup  Keys     `yaml:"backup"`
	Delayed string   `yaml:"delayed"`
	Dead    string   `yaml:"dead"`
	Unit    Unit     `yaml:"unit"`
	Push    Push     `yaml:"push"`
	Stuck   Duration `yaml:"stuck"`
}

// Path returns where the file is looked for: $XDG_CONFIG_HOME/redq/config.yaml,
// or its counterpart on systems that have another place for such files.
func Path(env func(string) string) string {
	home := env("XDG_CONFIG_HOME")
	if home == "" {
		home = xdg.ConfigHome
	}
	return filepath.Join(home, "redq", "config.yaml")
}

// Load reads the file at path; a missing one is the zero File. An error names
// file and line and never quotes the file, which may hold passwords.
func Load(path string) (File, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, nil
	}
	if err != nil {
		return File{}, err
	}
	var f File
	if err := yaml.UnmarshalWithOptions(text, &f, yaml.Strict()); err != nil {
		return File{}, explain(path, err)
	}
	return f, f.check(path)
}

// explain turns an error of the YAML library, which quotes the source, into file:line and a sentence.
func explain(path string, err error) error {
	var located yaml.Error
	if !errors.As(err, &located) || located.GetToken() == nil {
		return fmt.Errorf("%s: it is not valid YAML", path)
	}
	return fmt.Errorf("%s:%d: %s", path, located.GetToken().Position.Line, located.GetMessage())
}

// check finds what is well written and still makes no sense.
func (f File) check(path string) error {
	if f.Default != "" {
		if _, err := f.Profile(f.Default); err != nil {
			return fmt.Errorf("%s: default: %w", path, err)
		}
	}
	for _, name := range f.Names() {
		for _, q := range f.Profiles[name].Queues {
			if err := q.Queue().Validate(); err != nil {
				return fmt.Errorf("%s: profile %q: %w", path, name, err)
			}
		}
	}
	return nil
}

// Names returns the names of all profiles, sorted.
func (f File) Names() []string { return slices.Sorted(maps.Keys(f.Profiles)) }

// Profile returns the profile with the name; its error tells the known names.
func (f File) Profile(name string) (Profile, error) {
	if p, ok := f.Profiles[name]; ok {
		return p, nil
	}
	if len(f.Profiles) == 0 {
		return Profile{}, fmt.Errorf("there is no profile %q: no profile is configured", name)
	}
	return Profile{}, fmt.Errorf("there is no profile %q: expected one of %s", name, strings.Join(f.Names(), ", "))
}

// Queue returns the queue that is described. What was not said is marked as
// guessed, as layout.ParseNamed does.
func (q Queue) Queue() queue.Queue {
	named := queue.Queue{
		Name: q.Name, Ready: q.Ready, Backups: q.Backup, Delayed: q.Delayed, Dead: q.Dead,
		Unit: q.Unit.Unit, Push: queue.End(q.Push), StuckAfter: time.Duration(q.Stuck),
		Guessed: queue.GuessedPattern, Pinned: true,
	}
	if q.Ready == "" && len(q.Backup) == 0 && q.Delayed == "" && q.Dead == "" && q.Name != "" {
		byName := queue.Named(q.Name)
		named.Ready, named.Backups, named.Delayed, named.Dead = byName.Ready, byName.Backups, byName.Delayed, byName.Dead
		named.Guessed |= queue.GuessedKeys
	}
	if !q.Unit.given {
		named.Guessed |= queue.GuessedUnit
	}
	if named.Push == "" {
		named.Push = queue.Left
		named.Guessed |= queue.GuessedPush
	}
	return named
}

// Keys is one key or a list of them.
type Keys []string

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (k *Keys) UnmarshalYAML(node ast.Node) error {
	if node.Type() != ast.SequenceType {
		var one string
		if err := yaml.NodeToValue(node, &one); err != nil {
			return err
		}
		*k = Keys{one}
		return nil
	}
	var several []string
	err := yaml.NodeToValue(node, &several)
	*k = several
	return err
}

// Duration is written like 5m, 1h30m or 2d.
type Duration time.Duration

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (d *Duration) UnmarshalYAML(node ast.Node) error {
	return scalar(node, func(s string) error {
		v, err := when.ParseDuration(s)
		if err == nil && v == 0 {
			err = errors.New("expected a duration above 0")
		}
		*d = Duration(v)
		return err
	})
}

// Size is a number of bytes, written like 500MB, 2GiB or 1G; the zero value is that nobody
// has given one.
type Size struct {
	Bytes int64
	Given bool
}

// ParseSize reads a size. KB, MB and GB, or K, M and G, are powers of 1000; KiB, MiB and GiB those of 1024.
func ParseSize(s string) (Size, error) {
	n, err := humanize.ParseBytes(s)
	if err != nil || n > math.MaxInt64 {
		return Size{}, errors.New("expected a size like 500MB or 2GiB")
	}
	return Size{int64(n), true}, nil
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (s *Size) UnmarshalYAML(node ast.Node) error {
	return scalar(node, func(text string) (err error) {
		*s, err = ParseSize(text)
		return err
	})
}

// Unit is a unit of scores as queue.ParseUnit reads it.
type Unit struct {
	queue.Unit
	given bool // milliseconds are the zero value of queue.Unit
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (u *Unit) UnmarshalYAML(node ast.Node) error {
	return scalar(node, func(s string) (err error) {
		u.Unit, err = queue.ParseUnit(s)
		u.given = true
		return err
	})
}

// Push is the end of ready that producers push to, left or right.
type Push queue.End

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (p *Push) UnmarshalYAML(node ast.Node) error {
	return scalar(node, func(s string) error {
		end, err := queue.ParseEnd(s)
		*p = Push(end)
		return err
	})
}

// scalar reads a node's text, and puts the node's line into parse's error.
func scalar(node ast.Node, parse func(string) error) error {
	var s string
	err := yaml.NodeToValue(node, &s)
	if err == nil {
		if err = parse(s); err == nil {
			return nil
		}
		err = &yaml.SyntaxError{Message: err.Error(), Token: node.GetToken()}
	}
	return err
}
