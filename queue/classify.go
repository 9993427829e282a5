package queue

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"

	"github.com/redis/go-redis/v9"
)

// inScript finds the server's own words inside the error of a script on servers
// before 7.0: "ERR Error running script (call to f_…): @user_script:3: @user_script: 3: -OOM command …".
var inScript = regexp.MustCompile(`@user_script: ?\d+: (?:@user_script: ?\d+: )?-?([A-Z]+ .*)$`)

// behindScript is what 7.0 and later put behind such an error.
var behindScript = regexp.MustCompile(`,? script: [0-9a-f]{40},? on @user_script:\d+\.?$`)

// replyWords says in plain words what a server's refusal means.
var replyWords = map[string]string{
	"OOM":         "the server is out of memory (maxmemory) and takes no more",
	"READONLY":    "the server is a read-only replica",
	"MISCONF":     "the server refuses writes because it cannot save to disk (MISCONF)",
	"LOADING":     "the server is still loading its data",
	"BUSY":        "the server is busy with a script",
	"NOREPLICAS":  "the server refuses writes because too few replicas follow it",
	"MASTERDOWN":  "the replica has lost its master",
	"CLUSTERDOWN": "the cluster is down",
	"TRYAGAIN":    "the cluster is moving these keys: try again",
	"ASK":         "the cluster is moving these keys: try again",
	"MOVED":       "the cluster moved these keys: try again",
	"CROSSSLOT":   ErrCrossSlot.Error(),
	"NOAUTH":      "the server wants a password",
	"WRONGPASS":   "wrong user name or password",
	"DOUBLED":     "the message is now in both places: it was added to the target, but the server let it neither be removed from the source nor taken back",
}

// classify turns what go-redis returned for a request into the errors of this
// package. A reply of the server, whatever it says, means that nothing was
// changed; a dial that failed means that nothing was sent; any other end of a
// request leaves its outcome unknown.
func classify(err error) error {
	if err == nil || errors.Is(err, redis.Nil) {
		return nil
	}
	var known *RefusedError
	if errors.As(err, &known) {
		return err
	}
	for _, own := range []error{ErrUnknownOutcome, ErrNotSent, ErrWrongType, ErrNoScripts, ErrReadOnly, ErrCrossSlot} {
		if errors.Is(err, own) {
			return err
		}
	}
	var reply redis.Error
	if errors.As(err, &reply) && !errors.Is(err, redis.ErrClosed) {
		return classifyReply(err.Error())
	}
	var dial *net.OpError
	switch {
	case errors.As(err, &dial) && dial.Op == "dial",
		errors.Is(err, redis.ErrPoolTimeout), errors.Is(err, redis.ErrPoolExhausted), errors.Is(err, redis.ErrClosed):
		return fmt.Errorf("%w: %w", ErrNotSent, err)
	case strings.HasPrefix(err.Error(), "ERR "):
		return classifyReply(err.Error())
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: no answer in time", ErrUnknownOutcome)
	}
	return fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
}

// classifyReply reads an error reply of the server.
func classifyReply(text string) error {
	if m := inScript.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	text = behindScript.ReplaceAllString(text, "")
	code, rest, _ := strings.Cut(strings.TrimPrefix(text, "-"), " ")
	switch {
	case code == "WRONGTYPE":
		return ErrWrongType
	case code == "NOPERM" && strings.Contains(strings.ToLower(rest), "'eval"):
		return ErrNoScripts
	case code == "ERR" && strings.HasPrefix(rest, "The user executing the script can't"):
		// 7.0 drops the NOPERM of a command inside a script.
		return &RefusedError{Code: "NOPERM", Text: "no permission: " + rest}
	case code == "NOPERM":
		return &RefusedError{Code: code, Text: "no permission: " + rest}
	case code == "ERR" && strings.HasPrefix(rest, "unknown command") && strings.Contains(strings.ToLower(rest), "eval"):
		return ErrNoScripts
	}
	if words, ok := replyWords[code]; ok {
		return &RefusedError{Code: code, Text: words}
	}
	return &RefusedError{Code: code, Text: "the server says: " + text}
}
