package queue

import (
	"context"
	"crypto/sha1"
	"embed"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed scripts/*.lua
var scriptFiles embed.FS

// script is one Lua primitive. Its contract (KEYS, ARGV, returns) heads its file.
type script struct {
	name string
	src  string
	sha  string
}

var (
	scriptEnqueue    = loadScriptWith("enqueue", "prelude", "due")
	scriptMove       = loadScript("move")
	scriptRemove     = loadScript("remove")
	scriptReplace    = loadScript("replace")
	scriptReschedule = loadScript("reschedule")
	scriptRestore    = loadScript("restore")
	scriptSnapshot   = loadScript("snapshot")
	scriptTrim       = loadScript("trim")
	scriptRejoin     = loadScript("rejoin")

	scriptStep    = loadScriptWith("step")
	scriptSettle  = loadScriptWith("settle", "prelude", "due", "failure")
	scriptClaim   = loadScriptWith("claim", "due")
	scriptPromote = loadScriptWith("promote", "due")
	scriptRecover = loadScriptWith("recover", "prelude", "due", "failure")
	scriptBeat    = loadScriptWith("beat", "due")
	scriptLock    = loadScriptWith("lock")
	scriptUnlock  = loadScriptWith("unlock")
)

// loadScript reads an embedded script and puts the prelude in front of it.
func loadScript(name string) *script { return loadScriptWith(name, "prelude") }

// loadScriptWith reads an embedded script and puts other files in front of it, which
// define what it uses. A missing file is a fault of the build, which every test would hit.
func loadScriptWith(name string, heads ...string) *script {
	var src strings.Builder
	for _, file := range append(heads, name) {
		text, err := scriptFiles.ReadFile("scripts/" + file + ".lua")
		if err != nil {
			panic(err)
		}
		src.Write(text)
	}
	sum := sha1.Sum([]byte(src.String()))
	return &script{name: name, src: src.String(), sha: hex.EncodeToString(sum[:])}
}

func isNoScript(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT")
}

// eval runs a script by its digest, and by its text where the server does not
// know it. NOSCRIPT means that nothing ran, so asking again is no second copy.
func (c *Client) eval(ctx context.Context, rdb redis.UniversalClient, s *script, keys []string, args ...any) (any, error) {
	v, err := rdb.EvalSha(ctx, s.sha, keys, args...).Result()
	if isNoScript(err) {
		v, err = rdb.Eval(ctx, s.src, keys, args...).Result()
	}
	return v, err
}

// queueScript adds a script to a pipeline; see runCalls for what a NOSCRIPT needs.
func queueScript(ctx context.Context, pipe redis.Pipeliner, s *script, keys []string, args ...any) *redis.Cmd {
	return pipe.EvalSha(ctx, s.sha, keys, args...)
}

// call is one run of a script and its answer.
type call struct {
	script *script
	keys   []string
	args   []any

	reply []any // status first
	err   error // classified
}

// redirects is how often a call that a cluster answered with MOVED or TRYAGAIN is
// asked again. Such an answer means that nothing ran.
const redirects = 5

// runCalls sends all calls once, in one pipeline in order, over the write client.
// Only calls that the server answered with "did not run" (NOSCRIPT, MOVED,
// TRYAGAIN) are sent again.
func (c *Client) runCalls(ctx context.Context, calls []*call) {
	todo := calls
	for round := 0; len(todo) > 0; round++ {
		c.sendCalls(ctx, todo, round > 0)
		var again []*call
		for _, cl := range todo {
			switch {
			case round >= redirects || ctx.Err() != nil:
			case isNoScript(cl.err):
				again = append(again, cl)
			case isRedirect(cl.err):
				again = append(again, cl)
			}
		}
		if len(again) > 0 && isRedirect(again[0].err) {
			c.awaitRedirect(ctx, round)
		}
		todo = again
	}
	for _, cl := range calls {
		cl.err = classify(cl.err)
	}
}

// sendCalls sends each call once. withText sends the first call of each script
// as its text, which makes the server know it for those behind it.
func (c *Client) sendCalls(ctx context.Context, calls []*call, withText bool) {
	pipe := c.write.Pipeline()
	cmds := make([]*redis.Cmd, len(calls))
	sent := map[*script]bool{}
	for i, cl := range calls {
		if withText && !sent[cl.script] {
			cmds[i] = pipe.Eval(ctx, cl.script.src, cl.keys, cl.args...)
			sent[cl.script] = true
		} else {
			cmds[i] = queueScript(ctx, pipe, cl.script, cl.keys, cl.args...)
		}
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	for i, cl := range calls {
		v, err := cmds[i].Result()
		cl.reply, cl.err = nil, err
		if err != nil {
			continue
		}
		reply, ok := v.([]any)
		if !ok || len(reply) == 0 {
			cl.err = errors.New("ERR unexpected answer of script " + cl.script.name)
			continue
		}
		cl.reply = reply
	}
}

// awaitRedirect learns where the keys are now and waits a little, longer with each round.
func (c *Client) awaitRedirect(ctx context.Context, round int) {
	if cc, ok := c.write.(*redis.ClusterClient); ok {
		cc.ReloadState(ctx)
	}
	time.Sleep(time.Duration(round+1) * 20 * time.Millisecond)
}

func isRedirect(err error) bool {
	if err == nil {
		return false
	}
	text := err.Error()
	return strings.HasPrefix(text, "MOVED ") || strings.HasPrefix(text, "TRYAGAIN")
}

// status returns the first element of the answer.
func (cl *call) status() string { return cl.str(0) }

func (cl *call) str(i int) string {
	if i < len(cl.reply) {
		if s, ok := cl.reply[i].(string); ok {
			return s
		}
	}
	return ""
}

func (cl *call) num(i int) int64 {
	if i < len(cl.reply) {
		if n, ok := cl.reply[i].(int64); ok {
			return n
		}
	}
	return 0
}
