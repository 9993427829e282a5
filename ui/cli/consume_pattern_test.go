package cli

import (
	"reflect"
	"strings"
	"testing"

	"redq/queue"
)

func TestSafest(t *testing.T) {
	const guessed = queue.GuessedPattern
	list, set := queue.Queue{Ready: "a"}, queue.Queue{Delayed: "a"}
	for _, c := range []struct {
		name    string
		q       queue.Queue
		pattern queue.Pattern
		guessed queue.Guess
		want    queue.Pattern
	}{
		{"a plain list is not popped for a guess", list, queue.ListPoll, guessed, queue.BackupList},
		{"nor when nothing is known", list, "", 0, queue.BackupList},
		{"it is popped when somebody said so", list, queue.ListPoll, 0, queue.ListPoll},
		{"a list with a backup list", list, queue.BackupList, guessed, queue.BackupList},
		{"one of ours", list, queue.Pipeline, guessed, queue.Pipeline},
		{"a sorted set is not raced for", set, queue.ZsetRace, guessed, queue.ZsetScript},
		{"but for those who said so", set, queue.ZsetRace, 0, queue.ZsetRace},
		{"one that names its handlers", set, queue.Dispatch, guessed, queue.Dispatch},
	} {
		q := c.q
		q.Pattern, q.Guessed = c.pattern, c.guessed
		if got := safest(q); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestConsumedByCompletesWhatWasFound(t *testing.T) {
	const found = queue.GuessedKeys
	for _, c := range []struct {
		name string
		q    queue.Queue
		by   queue.Pattern
		want queue.Queue
	}{
		{"a dead list, so that nothing is dropped",
			queue.Queue{Name: "a", Ready: "a", Guessed: found}, queue.ListPoll,
			queue.Queue{Name: "a", Ready: "a", Dead: "a:dead", Guessed: found}},
		{"a backup list",
			queue.Queue{Name: "a", Ready: "a", Guessed: found}, queue.BackupList,
			queue.Queue{Name: "a", Ready: "a", Backups: []string{"a:backup"}, Guessed: found}},
		{"not in the place of what is there",
			queue.Queue{Name: "a", Ready: "a", Backups: []string{"a_bak"}, Guessed: found}, queue.BackupList,
			queue.Queue{Name: "a", Ready: "a", Backups: []string{"a_bak"}, Guessed: found}},
		{"a queue whose name is its sorted set",
			queue.Queue{Name: "a", Delayed: "a", Guessed: found}, queue.Pipeline,
			queue.Queue{Name: "a", Delayed: "a", Ready: "a:ready", Dead: "a:dead", Guessed: found}},
		{"which is no list to pop from",
			queue.Queue{Name: "a", Delayed: "a", Guessed: found}, queue.ListBlock,
			queue.Queue{Name: "a", Delayed: "a", Dead: "a:dead", Guessed: found}},
		{"with a lock it stays a sorted set",
			queue.Queue{Name: "a", Delayed: "a", Guessed: found}, queue.LockRetry,
			queue.Queue{Name: "a", Delayed: "a", Dead: "a:dead", Guessed: found}},
		{"keys given by hand are all there is",
			queue.Queue{Name: "a", Ready: "a"}, queue.Pipeline,
			queue.Queue{Name: "a", Ready: "a"}},
	} {
		if got := consumedBy(c.q, c.by).Queue; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", c.name, got, c.want)
		}
	}
}

func TestNotes(t *testing.T) {
	byHand, all := queue.Queue{Name: "a", Ready: "a"}, queue.Named("a")
	for _, c := range []struct {
		name string
		q    queue.Queue
		by   queue.Pattern
		want []string // what each note holds
	}{
		{"chosen, and nothing is lost", all, queue.Pipeline, nil},
		{"chosen, and it loses", all, queue.ListPoll, []string{"list-poll is at most once"}},
		{"not chosen", all, "", []string{"consuming a by backup-list, at least once, from the right end of a: what fails stays in a:backup"}},
		{"nowhere to put the dead", byHand, queue.ListBlock, []string{"at most once", "a has no dead list"}},
		{"a lock on a list", all, queue.LockRetry, nil},
		{"a lock on a sorted set", queue.Queue{Name: "a", Delayed: "a", Dead: "b"}, queue.LockRetry, []string{"lock is at most once"}},
	} {
		use := consumedBy(c.q, c.by)
		got := use.notes()
		if len(got) != len(c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], c.want[i]) {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		}
	}
}

func TestLockKey(t *testing.T) {
	use := consumedBy(queue.Named("orders"), queue.Pipeline)
	for _, c := range []struct{ field, payload, want string }{
		{"user", `{"user":"ann"}`, "orders:lock:ann"},
		{".user", `{"user":"ann"}`, "orders:lock:ann"},
		{"msg.user", `{"msg":{"user":130775545883395173}}`, "orders:lock:130775545883395173"},
		{"user", `{"user":""}`, "orders:lock:"},
		{"user", `{"other":1}`, "orders:lock:"},
		{"user.name", `{"user":"ann"}`, "orders:lock:"},
		{"user", `no JSON`, "orders:lock:"},
	} {
		lock := lockFlags{field: c.field}.lock(use)
		if got := lock.Key(message(c.payload)); got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.field, c.payload, got, c.want)
		}
	}
	if lock := (lockFlags{key: "the-lock"}).lock(use); lock.Key(message("x")) != "the-lock" {
		t.Error("--lock-key is not the key")
	}
	if lock := (lockFlags{}).lock(use); lock != nil {
		t.Errorf("a lock that nobody asked for: %+v", lock)
	}
	if lock := (lockFlags{}).lock(consumedBy(queue.Named("orders"), queue.LockRetry)); lock == nil || lock.Key != nil {
		t.Errorf("the lock pattern has no lock for the whole queue: %+v", lock)
	}
}
