package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"redq/queue"
)

// lockFlags say which lock a handler needs.
type lockFlags struct {
	field, key string
	policy     queue.LockConflict
	ttl        time.Duration
}

func (f *lockFlags) define(cmd *cobra.Command) {
	set := cmd.Flags()
	set.StringVar(&f.field, "lock", "", "handle messages that are equal in the JSON\n`FIELD` (user, msg.user) one at a time")
	set.StringVar(&f.key, "lock-key", "", "handle a message only while holding the lock `KEY`")
	set.Var(&lockPolicyFlag{&f.policy}, "lock-policy", "`POLICY` when the lock is taken: fail, sleep or\ndefer (default)")
	set.Var(&durationFlag{&f.ttl, time.Millisecond}, "lock-ttl", "a dead holder keeps the lock for `TIME` (default 30s)")
	_ = cmd.RegisterFlagCompletionFunc("lock-policy", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return lockPolicies(), cobra.ShellCompDirectiveNoFileComp
	})
}

func (f lockFlags) check() error {
	if f.field != "" && f.key != "" {
		return usagef("expected either --lock FIELD or --lock-key KEY, not both")
	}
	return nil
}

// lock returns the lock that was asked for, nil for none. The lock pattern has one for
// the whole queue unless told otherwise.
func (f lockFlags) lock(use consumed) *queue.Lock {
	if f == (lockFlags{}) && use.by != queue.LockRetry {
		return nil
	}
	lock := &queue.Lock{TTL: f.ttl, Conflict: f.policy}
	switch {
	case f.field != "":
		path := strings.Split(strings.TrimPrefix(f.field, "."), ".")
		lock.Key = func(m queue.Message) string { return use.Name + ":lock:" + field(m.Payload, path) }
	case f.key != "":
		lock.Key = func(queue.Message) string { return f.key }
	}
	return lock
}

// field returns the value of a field of a JSON object, a string without its quotes;
// "" when there is none. No digit of a number is changed.
func field(b []byte, path []string) string {
	value := json.RawMessage(b)
	for _, name := range path {
		var object map[string]json.RawMessage
		if json.Unmarshal(value, &object) != nil {
			return ""
		}
		value = object[name]
	}
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// lockPolicyFlag is what to do when somebody else holds the lock.
type lockPolicyFlag struct{ value *queue.LockConflict }

func lockPolicies() []string {
	return []string{string(queue.LockFail), string(queue.LockSleep), string(queue.LockDefer)}
}

func (f *lockPolicyFlag) Set(s string) error {
	for _, name := range lockPolicies() {
		if strings.EqualFold(s, name) {
			*f.value = queue.LockConflict(name)
			return nil
		}
	}
	return fmt.Errorf("expected %s", strings.Join(lockPolicies(), ", "))
}

func (f *lockPolicyFlag) Type() string   { return "policy" }
func (f *lockPolicyFlag) String() string { return string(*f.value) }
