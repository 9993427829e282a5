package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/redis/go-redis/v9"
	"github.com/rogpeppe/go-internal/testscript"

	"redq/queue/queuetest"
)

func serverOf(ts *testscript.TestScript) *queuetest.Server {
	return ts.Value("server").(*queuetest.Server)
}

// seed lays down the seeds.
func seed(ts *testscript.TestScript, _ bool, _ []string) {
	queuetest.Seed(ts.Value("tb").(testing.TB), serverOf(ts))
}

// serverCommand does something to the server: "server stop", "server start".
func serverCommand(ts *testscript.TestScript, _ bool, args []string) {
	switch s := serverOf(ts); args[0] {
	case "stop":
		s.Stop()
	case "start":
		s.Start()
	default:
		ts.Fatalf("server stop or start, not %s", args[0])
	}
}

// loseReply makes the proxy at $PROXY cut the connection in place of the reply to
// the next request that holds a text: "lose TEXT".
func loseReply(ts *testscript.TestScript, _ bool, args []string) {
	ts.Value("proxy").(*queuetest.Proxy).CutAfterRequest(args[0])
}

// addUser adds an ACL user with the password s3cret and logs in as it:
// "user NAME RULE…".
func addUser(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv("REDIS_URL", serverOf(ts).User(args[0], "s3cret", strings.Join(args[1:], " ")))
}

// redisCommand runs one command and prints the reply, one element a line:
// "redis LPUSH key 'a\x00b'". Backslashes in arguments are those of a Go string.
func redisCommand(ts *testscript.TestScript, neg bool, args []string) {
	words := make([]any, len(args))
	for i, a := range args {
		words[i] = unquote(ts, a)
	}
	reply, err := serverOf(ts).Client.Do(context.Background(), words...).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		if !neg {
			ts.Fatalf("%v", err)
		}
		return
	}
	elements, several := reply.([]any)
	if !several {
		elements = []any{reply}
	}
	for _, e := range elements {
		text := fmt.Sprint(e)
		if !utf8.ValidString(text) {
			text = strconv.Quote(text)
		}
		fmt.Fprintln(ts.Stdout(), text)
	}
}

func unquote(ts *testscript.TestScript, s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
	ts.Check(err)
	return text
}

// writeBytes writes a file: "bytes FILE 'a\x00b'".
func writeBytes(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(unquote(ts, args[1])), 0o600))
}

// exits runs a program that must end with a status: "exits 2 redq ls extra". One
// that fails must say why in one line, below which a filter may be pointed at, and never
// shows the password s3cret.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	stderr := ts.ReadFile("stderr")
	if got != want {
		ts.Fatalf("exit status %d, want %d; standard error: %s", got, want, stderr)
	}
	if sentence, pointed, _ := strings.Cut(stderr, "\n"); want != 0 && (!strings.HasPrefix(sentence, "redq: ") || pointed != "" && !strings.HasPrefix(pointed, "  ")) {
		ts.Fatalf("want one line on standard error, got:\n%s", stderr)
	}
	if want == 0 && stderr != "" {
		ts.Fatalf("want nothing on standard error, got:\n%s", stderr)
	}
	if strings.Contains(stderr+ts.ReadFile("stdout"), "s3cret") {
		ts.Fatalf("the password is shown")
	}
}

// jsonFields checks one of the objects on standard output, picked by its line
// number or a field: "json 1 FIELD=VALUE…", "json name=queueA ready=4 keys.dead=absent".
// A value is JSON, else a string; absent means that there is no such field.
func jsonFields(ts *testscript.TestScript, _ bool, args []string) {
	object := pick(ts, args[0])
	for _, check := range args[1:] {
		path, want, _ := strings.Cut(check, "=")
		got, there := lookUp(object, strings.Split(path, "."))
		switch {
		case want == "absent" && !there:
		case want == "present" && there:
		case !there || !reflect.DeepEqual(got, value(want)):
			text, _ := json.Marshal(got)
			ts.Fatalf("%s is %s (there: %t), want %s", path, text, there, want)
		}
	}
}

func pick(ts *testscript.TestScript, which string) map[string]any {
	field, want, byField := strings.Cut(which, "=")
	for i, text := range strings.Split(strings.TrimSuffix(ts.ReadFile("stdout"), "\n"), "\n") {
		var object map[string]any
		if err := json.Unmarshal([]byte(text), &object); err != nil {
			ts.Fatalf("line %d is no JSON object: %v: %s", i+1, err, text)
		}
		if byField && reflect.DeepEqual(object[field], value(want)) || which == strconv.Itoa(i+1) {
			return object
		}
	}
	ts.Fatalf("there is no object %s", which)
	return nil
}

func lookUp(v any, path []string) (any, bool) {
	for _, step := range path {
		switch in := v.(type) {
		case map[string]any:
			inner, ok := in[step]
			if !ok {
				return nil, false
			}
			v = inner
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(in) {
				return nil, false
			}
			v = in[i]
		default:
			return nil, false
		}
	}
	return v, true
}

func value(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return v
}

// countLines checks how many lines standard output has: "lines 3".
func countLines(ts *testscript.TestScript, _ bool, args []string) {
	if got := strconv.Itoa(strings.Count(ts.ReadFile("stdout"), "\n")); got != args[0] {
		ts.Fatalf("%s lines, want %s", got, args[0])
	}
}

// narrow checks that standard output fits a terminal of 80 columns.
func narrow(ts *testscript.TestScript, _ bool, _ []string) {
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
			ts.Fatalf("%d columns: %s", n, line)
		}
	}
}

// snapshot remembers all keys of the server for unchanged.
func snapshot(ts *testscript.TestScript, _ bool, _ []string) {
	before := ts.Value("before").(map[string]string)
	clear(before)
	maps.Copy(before, dump(ts))
}

// unchanged checks that no key is other than at the snapshot.
func unchanged(ts *testscript.TestScript, _ bool, _ []string) {
	if before := ts.Value("before").(map[string]string); !maps.Equal(before, dump(ts)) {
		ts.Fatalf("the server's keys changed")
	}
}

func dump(ts *testscript.TestScript) map[string]string {
	ctx, rdb := context.Background(), serverOf(ts).Client
	keys, err := rdb.Keys(ctx, "*").Result()
	ts.Check(err)
	all := map[string]string{}
	for _, k := range keys {
		all[k], err = rdb.Dump(ctx, k).Result()
		ts.Check(err)
	}
	return all
}

// expand writes a file with $NAME replaced by the script's variables: "expand FROM TO".
func expand(ts *testscript.TestScript, _ bool, args []string) {
	text := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}
