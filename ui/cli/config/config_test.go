package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"redq/queue"
)

func load(t *testing.T, text string) (File, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(path)
}

func TestLoad(t *testing.T) {
	f, err := load(t, `
default: prod
profiles:
  prod:
    url: rediss://10.0.3.7:6379/2
    username: ops
    password_env: PROD_PW
    sentinel_master: main
    tls_ca: ca.pem
    tls_cert: cert.pem
    tls_key: key.pem
    read_only: true
    refresh: 2s
    match: app:*
    queues:
      - name: orders
      - name: mail
        ready: mail:in
        backup: [mail:w1, mail:w2]
        delayed: mail:later
        dead: mail:failed
        unit: float
        push: right
        stuck: 1d
      - {name: one, backup: one:tmp}
  local: {cluster: true}
`)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := f.Names(), []string{"local", "prod"}; !reflect.DeepEqual(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
	p, err := f.Profile(f.Default)
	if err != nil {
		t.Fatal(err)
	}
	var got []queue.Queue
	for _, q := range p.Queues {
		got = append(got, q.Queue())
	}
	bare := queue.Named("orders")
	bare.Pinned = true
	bare.Guessed = queue.GuessedKeys | queue.GuessedUnit | queue.GuessedPush | queue.GuessedPattern
	want := []queue.Queue{
		bare,
		{
			Name: "mail", Ready: "mail:in", Backups: []string{"mail:w1", "mail:w2"}, Delayed: "mail:later", Dead: "mail:failed",
			Unit: queue.FloatSeconds, Push: queue.Right, StuckAfter: 24 * time.Hour, Pinned: true, Guessed: queue.GuessedPattern,
		},
		{
			Name: "one", Backups: []string{"one:tmp"}, Push: queue.Left, Pinned: true,
			Guessed: queue.GuessedUnit | queue.GuessedPush | queue.GuessedPattern,
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("queues\n got %+v\nwant %+v", got, want)
	}
	p.Queues = nil
	if want := (Profile{
		URL: "rediss://10.0.3.7:6379/2", Username: "ops", PasswordEnv: "PROD_PW", SentinelMaster: "main",
		TLSCA: "ca.pem", TLSCert: "cert.pem", TLSKey: "key.pem", ReadOnly: true, Refresh: Duration(2 * time.Second), Match: "app:*",
	}); !reflect.DeepEqual(p, want) {
		t.Errorf("profile %+v, want %+v", p, want)
	}
}

func TestLoadOfNothing(t *testing.T) {
	for _, text := range []string{"", "# only a comment\n"} {
		if f, err := load(t, text); err != nil || len(f.Names()) != 0 {
			t.Errorf("Load of %q = %+v, %v", text, f, err)
		}
	}
	if f, err := Load(filepath.Join(t.TempDir(), "missing.yaml")); err != nil || len(f.Names()) != 0 {
		t.Errorf("Load of a missing file = %+v, %v", f, err)
	}
	if _, err := Load(t.TempDir()); err == nil {
		t.Error("Load of a directory: want an error")
	}
}

func TestMistakesAreToldWithTheirLine(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown field", "profiles:\n  a:\n    colour: red\n", ":3: "},
		{"unknown top field", "profile:\n  a: {}\n", ":1: "},
		{"not YAML", "profiles:\n  a: [\n", ":2: "},
		{"wrong type", "profiles:\n  a:\n    read_only: perhaps\n", ":3: "},
		{"same profile twice", "profiles:\n  a: {}\n  a: {}\n", ":3: "},
		{"bad unit", "profiles:\n  a:\n    queues:\n      - name: q\n        unit: parsec\n", `:5: "parsec" is not a unit`},
		{"bad end", "profiles:\n  a:\n    queues:\n      - name: q\n        push: up\n", ":5: "},
		{"bad duration", "profiles:\n  a:\n    refresh: soon\n", ":3: expected a duration"},
		{"no duration", "profiles:\n  a:\n    refresh: 0s\n", ":3: expected a duration above 0"},
		{"bad keys", "profiles:\n  a:\n    queues:\n      - name: q\n        backup: {a: b}\n", ":5: "},
		{"no name", "profiles:\n  a:\n    queues:\n      - ready: q\n", `profile "a": a queue needs a name`},
		{"one key twice", "profiles:\n  a:\n    queues:\n      - {name: q, ready: x, dead: x}\n", `is both`},
		{"no such default", "default: b\nprofiles:\n  a: {}\n", `default: there is no profile "b": expected one of a`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := load(t, c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line with %q", err, c.want)
			}
		})
	}
}

func TestMistakesQuoteNoPassword(t *testing.T) {
	_, err := load(t, "profiles:\n  a:\n    url: redis://:s3cret@host\n    colour: red\n")
	if err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v", err)
	}
}

func TestPath(t *testing.T) {
	env := func(name string) string { return map[string]string{"XDG_CONFIG_HOME": "/c"}[name] }
	if got, want := Path(env), filepath.Join("/c", "redq", "config.yaml"); got != want {
		t.Errorf("Path = %q, want %q", got, want)
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1, "500MB": 500_000_000, "2GiB": 2 << 30, "1G": 1_000_000_000, "1.5 kb": 1500, "64m": 64_000_000,
	} {
		if got, err := ParseSize(text); err != nil || got.Bytes != want || !got.Given {
			t.Errorf("%q: %+v, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MB", "-1", "1e9", "12 parsecs", "9EiB", "99999999999999999999"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
