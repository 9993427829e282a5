package layout

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"redq/queue"
)

var now = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func aList(name string) Key { return Key{Name: name, Type: "list"} }

// aSet has scores that lie around now in the unit.
func aSet(name string, u queue.Unit) Key {
	k := Key{Name: name, Type: "zset"}
	for _, d := range []time.Duration{-time.Minute, 1234567 * time.Microsecond, time.Hour} {
		k.Scores = append(k.Scores, u.Score(now.Add(d)))
	}
	return k
}

func scored(name string, scores ...queue.Score) Key {
	return Key{Name: name, Type: "zset", Scores: scores}
}

func other(name, typ string) Key { return Key{Name: name, Type: typ} }

// show writes queues in a short form: name{ready=… backup=… delayed=…(unit) dead=…}.
func show(qs []queue.Queue) string {
	var all []string
	for _, q := range qs {
		var parts []string
		for _, p := range queue.Places() {
			if q.Has(p) {
				parts = append(parts, fmt.Sprintf("%s=%s", p, strings.Join(q.Keys(p), "+")))
			}
		}
		all = append(all, q.Name+"{"+strings.Join(parts, " ")+"}")
	}
	return strings.Join(all, " ")
}

func TestGroup(t *testing.T) {
	ms := queue.Milliseconds
	for _, c := range []struct {
		name string
		keys []Key
		want string
	}{
		{"nothing", nil, ""},
		{"a list is ready", []Key{aList("q")}, "q{ready=q}"},
		{"all places", []Key{aList("q"), aList("q:backup"), aSet("q:delayed", ms), aList("q:dead")},
			"q{ready=q backup=q:backup delayed=q:delayed dead=q:dead}"},
		{"backup alone names its ready", []Key{aList("q:backup")}, "q{ready=q backup=q:backup}"},
		{"dead alone names its ready", []Key{aList("q:dlq")}, "q{ready=q dead=q:dlq}"},
		{"delayed alone has no ready", []Key{aSet("q:delayed", ms)}, "q{delayed=q:delayed}"},
		{"delayed by its name, whatever its scores", []Key{scored("q:delayed", "1", "2")}, "q{delayed=q:delayed}"},
		{"delayed by its scores", []Key{aSet("q", ms)}, "q{delayed=q}"},
		{"delayed by its scores, and dead", []Key{aSet("q", ms), aList("q:dead")}, "q{delayed=q dead=q:dead}"},
		{"a leaderboard is none", []Key{scored("l", "95", "120", "310")}, ""},
		{"the unread is none", []Key{scored("l")}, ""},
		{"times too long ago", []Key{scored("l", "1000000000", "1100000000")}, ""},
		{"times too far ahead", []Key{scored("l", "32503680000000")}, ""},
		{"some misfits", []Key{{Name: "q", Type: "zset", Scores: append(aSet("", ms).Scores, "-inf", "inf")}}, "q{delayed=q}"},
		{"too many misfits", []Key{{Name: "q", Type: "zset", Scores: append(aSet("", ms).Scores, "1", "2", "3", "4")}}, ""},
		{"hash tags", []Key{aList("{q}"), aList("{q}:backup"), aSet("{q}:delayed", ms), aList("{q}:dead")},
			"{q}{ready={q} backup={q}:backup delayed={q}:delayed dead={q}:dead}"},
		{"hash tags beside the plain list", []Key{aList("q"), aList("{q}:backup"), aList("{q}:dead")}, "q{ready=q backup={q}:backup dead={q}:dead}"},
		{"hash tags without the plain list", []Key{aList("{q}:backup")}, "{q}{ready={q} backup={q}:backup}"},
		{"a tag around the place is another queue", []Key{aList("{q:backup}")}, "{q:backup}{ready={q:backup}}"},
		{"ready beside delayed", []Key{aList("{q}:ready"), aSet("{q}:delayed", ms)}, "{q}{ready={q}:ready delayed={q}:delayed}"},
		{"ready alone keeps its name", []Key{aList("q:ready")}, "q:ready{ready=q:ready}"},
		{"ready beside the list itself", []Key{aList("q"), aList("q:ready"), aList("q:backup")}, "q{ready=q backup=q:backup} q:ready{ready=q:ready}"},
		{"weak words together", []Key{aList("a:{q}:pending"), aList("a:{q}:active")}, "a:{q}{ready=a:{q}:pending backup=a:{q}:active}"},
		{"a weak word alone", []Key{aList("users:active")}, "users:active{ready=users:active}"},
		{"a weak word on a set", []Key{aSet("users:active", ms)}, ""},
		{"retry beside ready", []Key{aList("q"), aSet("q:retry", ms)}, "q{ready=q delayed=q:retry}"},
		{"retry alone", []Key{aSet("q:retry", ms)}, "q:retry{delayed=q:retry}"},
		{"two colons", []Key{aList("rmq::queue::[q]::ready"), aList("rmq::queue::[q]::rejected")},
			"rmq::queue::[q]{ready=rmq::queue::[q]::ready dead=rmq::queue::[q]::rejected}"},
		{"one consumer's backup each", []Key{aList("q"), aList("q:backup:h2-9"), aList("q:backup:h1-7"), aList("q:backup")},
			"q{ready=q backup=q:backup+q:backup:h1-7+q:backup:h2-9}"},
		{"a temporary list of an id is no backup", []Key{aList("app:tmp:17")}, "app:tmp:17{ready=app:tmp:17}"},
		{"several dead lists", []Key{aList("q"), aList("q:failed"), aList("q:dead")}, "q{ready=q dead=q:dead} q:failed{dead=q:failed}"},
		{"several sets", []Key{aSet("q:schedule", ms), aSet("q:delayed", ms)}, "q{delayed=q:delayed} q:schedule{delayed=q:schedule}"},
		{"a dead list that is worked off reliably", []Key{aList("q:dead"), aList("q:dead:backup")},
			"q{ready=q dead=q:dead} q:dead{backup=q:dead:backup}"},
		{"a wrong type beside a queue", []Key{aList("q"), other("q:backup", "hash"), other("q:delayed", "string")},
			"q{ready=q backup=q:backup delayed=q:delayed}"},
		{"a wrong type beside one consumer's backup", []Key{aList("q"), aSet("q:processing:deadlines", ms)}, "q{ready=q}"},
		{"a wrong type alone", []Key{other("q:backup", "hash"), other("config:feature", "string"), other("q:delayed", "stream")}, ""},
		{"a set where a list belongs", []Key{aList("q"), aSet("q:failed", ms)}, "q{ready=q dead=q:failed}"},
		{"a set where a list belongs, alone", []Key{aSet("q:failed", ms)}, ""},
		{"a list where a set belongs, alone", []Key{aList("q:delayed")}, "q:delayed{ready=q:delayed}"},
		{"the right type wins over the wrong", []Key{aList("q:scheduled"), aSet("q:schedule", ms)},
			"q{delayed=q:schedule} q:scheduled{ready=q:scheduled}"},
		{"redq's own keys", []Key{aList("q"), other("q:meta", "hash"), other("q:stats", "hash"), other("q:consumer:h-1", "hash"),
			aList("q:redq-purge:1"), aSet("q:delayed:redq-purge:2", ms), aList("q:backup:redq-purge:3")}, "q{ready=q}"},
		{"no name before the ending", []Key{aList(":backup"), aList("::dead"), aList("backup")}, "::dead{ready=::dead} :backup{ready=:backup} backup{ready=backup}"},
		{"upper case", []Key{aList("Q"), aList("Q_DEAD"), aList("Q:Backup")}, "Q{ready=Q backup=Q:Backup dead=Q_DEAD}"},
		{"any bytes", []Key{aList("a b\n\x1b[2J\xff"), aList("a b\n\x1b[2J\xff:backup")}, "a b\n\x1b[2J\xff{ready=a b\n\x1b[2J\xff backup=a b\n\x1b[2J\xff:backup}"},
		{"the empty key", []Key{aList("")}, ""},
		{"twice the same", []Key{aList("q"), aList("q"), aList("q:backup"), aList("q:backup")}, "q{ready=q backup=q:backup}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := show(Group(c.keys, nil, now)); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// Every rule must hold with its queue's list beside it, as product documents promise.
func TestEveryRule(t *testing.T) {
	for _, r := range rules {
		if r.place == "" || r.place == queue.Ready {
			continue
		}
		for _, base := range []string{"q", "{q}", "app:q", "q-1_x"} {
			key := base + r.suffix
			member := aList(key)
			if r.place == queue.Delayed {
				member = aSet(key, queue.Milliseconds)
			}
			qs := Group([]Key{aList(base), member}, nil, now)
			if len(qs) != 1 || qs[0].Name != base || !slices.Equal(qs[0].Keys(r.place), []string{key}) {
				t.Errorf("%s: got %s", key, show(qs))
			}
		}
	}
}

func TestUnits(t *testing.T) {
	for _, c := range []struct {
		key  Key
		want queue.Unit
	}{
		{aSet("q", queue.Milliseconds), queue.Milliseconds},
		{aSet("q", queue.Seconds), queue.Seconds},
		{aSet("q", queue.FloatSeconds), queue.FloatSeconds},
		{aSet("q", queue.Microseconds), queue.Microseconds},
		{scored("q:delayed", "5", "7"), queue.Milliseconds},
		{scored("q:delayed"), queue.Milliseconds},
		{scored("q:delayed", "32503680000000"), queue.Milliseconds},
		{scored("q", "1777896000", "1777896001", "1777896000000"), queue.Seconds},
		{scored("q", "1777896000", "1777896000000"), queue.Milliseconds},
		{scored("q", "1777896000", "1777896001.5", "1777896002"), queue.FloatSeconds},
	} {
		qs := Group([]Key{c.key}, nil, now)
		if len(qs) != 1 || qs[0].Unit != c.want || qs[0].Guessed&queue.GuessedUnit == 0 {
			t.Errorf("%v: got %+v, want unit %s", c.key.Scores, qs, c.want)
		}
	}
}

func TestPatterns(t *testing.T) {
	bean := aSet("q", queue.Milliseconds)
	bean.Head = []byte(`{"beanName":"sms","queueName":"q","delayTime":17,"msg":"张`)
	other := bean
	other.Head = []byte(`{"id":"beanName","msg":"x"}`)
	for _, c := range []struct {
		keys []Key
		want queue.Pattern
	}{
		{[]Key{aList("q")}, queue.ListPoll},
		{[]Key{aList("q"), aList("q:backup")}, queue.BackupList},
		{[]Key{aList("q"), aList("q:backup"), aSet("q:delayed", 0), aList("q:dead")}, queue.BackupList},
		{[]Key{aList("q"), aList("q:backup:h-1"), aSet("q:delayed", 0)}, queue.Pipeline},
		{[]Key{aList("q"), aSet("q:delayed", 0)}, queue.Pipeline},
		{[]Key{aSet("q", 0)}, queue.ZsetRace},
		{[]Key{bean}, queue.Dispatch},
		{[]Key{other}, queue.ZsetRace},
		{[]Key{aList("q:dead")}, ""},
	} {
		q := Group(c.keys, nil, now)[0]
		if q.Pattern != c.want || (q.Guessed&queue.GuessedPattern != 0) != (c.want != "") {
			t.Errorf("%s: pattern %q (guessed %b), want %q", show([]queue.Queue{q}), q.Pattern, q.Guessed, c.want)
		}
		if q.Push != queue.Left || q.Guessed&(queue.GuessedKeys|queue.GuessedPush) != queue.GuessedKeys|queue.GuessedPush {
			t.Errorf("%s: keys and push side are not marked as guessed", q.Name)
		}
	}
}

func TestGroupNamed(t *testing.T) {
	ms := queue.Milliseconds
	for _, c := range []struct {
		name  string
		named []string
		keys  []Key
		want  string
	}{
		{"stays when its keys are gone", []string{"q"}, nil, "q{ready=q backup=q:backup delayed=q:delayed dead=q:dead}"},
		{"is completed by what is found", []string{"q"}, []Key{aList("q"), aList("q_bak"), aList("q:failed")},
			"q{ready=q backup=q_bak delayed=q:delayed dead=q:failed}"},
		{"a set under the name is its delayed", []string{"q"}, []Key{scored("q", "1", "2")}, "q{backup=q:backup delayed=q dead=q:dead}"},
		{"is no part of another", []string{"image-processing"}, []Key{aList("image-processing"), aList("image")},
			"image{ready=image} image-processing{ready=image-processing backup=image-processing:backup delayed=image-processing:delayed dead=image-processing:dead}"},
		{"keeps a wrong type", []string{"q"}, []Key{other("q:backup", "hash")}, "q{ready=q backup=q:backup delayed=q:delayed dead=q:dead}"},
		{"takes its keys", []string{"mine,ready=a,backup=b:bak,delayed=c:delayed"}, []Key{aList("a"), aList("b"), aList("b:bak"), aSet("c:delayed", ms), aList("c")},
			"b{ready=b} c{ready=c} mine{ready=a backup=b:bak delayed=c:delayed}"},
		{"has no other keys", []string{"q,ready=q"}, []Key{aList("q"), aList("q:backup"), aList("q:dead"), aSet("q:delayed", ms)},
			"q{ready=q} q:backup{backup=q:backup} q:dead{dead=q:dead} q:delayed{delayed=q:delayed}"},
		{"but its consumers' own lists", []string{"mine,ready=q,backup=q:backup"}, []Key{aList("q:backup:h-1"), aList("q:backup")},
			"mine{ready=q backup=q:backup+q:backup:h-1}"},
		{"two of one name", []string{"q,ready=a", "q,ready=b"}, []Key{aList("a")}, "q{ready=a}"},
		{"two that would share a key", []string{"a", "a:dead"}, []Key{aList("a:dead")},
			"a{ready=a backup=a:backup delayed=a:delayed} a:dead{ready=a:dead backup=a:dead:backup delayed=a:dead:delayed dead=a:dead:dead}"},
		{"with a hash tag", []string{"{q}"}, []Key{aList("{q}:backup"), aList("q")},
			"q{ready=q} {q}{ready={q} backup={q}:backup delayed={q}:delayed dead={q}:dead}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var named []queue.Queue
			for _, s := range c.named {
				q, err := ParseNamed(s)
				if err != nil {
					t.Fatal(err)
				}
				named = append(named, q)
			}
			if got := show(Group(c.keys, named, now)); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestNamedIsBelieved(t *testing.T) {
	told, err := ParseNamed("q,delayed=q,unit=s,push=right,stuck=5m")
	if err != nil {
		t.Fatal(err)
	}
	q := Group([]Key{aSet("q", queue.Milliseconds)}, []queue.Queue{told}, now)[0]
	if q.Unit != queue.Seconds || q.Push != queue.Right || q.StuckAfter != 5*time.Minute || !q.Pinned {
		t.Errorf("what was told is changed: %+v", q)
	}
	if q.Guessed != queue.GuessedPattern || q.Pattern != queue.ZsetRace {
		t.Errorf("guessed %b, pattern %q", q.Guessed, q.Pattern)
	}
	untold, err := ParseNamed("q,delayed=q")
	if err != nil {
		t.Fatal(err)
	}
	if q := Group([]Key{aSet("q", queue.Seconds)}, []queue.Queue{untold}, now)[0]; q.Unit != queue.Seconds || q.Guessed&queue.GuessedUnit == 0 {
		t.Errorf("unit %s, guessed %b", q.Unit, q.Guessed)
	}
}

// alphabet makes names that collide: pieces of which rules are made.
var alphabet = []string{"q", "q", "r", "{q}", ":backup", ":backup:7", "_bak", ":delayed", ":schedule", ":dead", ":failed", ":ready", ":active", ":retry", ":", ":meta"}

func randomKeys(r *rand.Rand, n int) []Key {
	keys := make([]Key, n)
	for i := range keys {
		name := ""
		for range 1 + r.IntN(3) {
			name += alphabet[r.IntN(len(alphabet))]
		}
		// One name has one type.
		switch h := len(name)*7 + int(name[len(name)-1]); h % 5 {
		case 0:
			keys[i] = aSet(name, queue.Seconds)
		case 1:
			keys[i] = other(name, "hash")
		default:
			keys[i] = aList(name)
		}
	}
	return keys
}

func TestGroupDependsOnTheSetOnly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		keys := randomKeys(r, 1+r.IntN(12))
		want := Group(keys, nil, now)
		again := append(slices.Clone(keys), keys...)
		r.Shuffle(len(again), func(i, j int) { again[i], again[j] = again[j], again[i] })
		if got := Group(again, nil, now); !reflect.DeepEqual(got, want) {
			t.Fatalf("%v\ngot  %s\nwant %s", again, show(got), show(want))
		}
		checkGrouping(t, keys, want)
	}
}

// checkGrouping fails when a grouping breaks what holds for all.
func checkGrouping(t *testing.T, keys []Key, qs []queue.Queue) {
	t.Helper()
	owner, names := map[string]string{}, map[string]bool{}
	for i, q := range qs {
		if err := q.Validate(); err != nil {
			t.Fatalf("%v: %v", keys, err)
		}
		if names[q.Name] || i > 0 && qs[i-1].Name > q.Name {
			t.Fatalf("%v: names repeat or are not sorted: %s", keys, show(qs))
		}
		names[q.Name] = true
		for _, p := range queue.Places() {
			for _, k := range q.Keys(p) {
				if o, dup := owner[k]; dup {
					t.Fatalf("%v: key %q is part of %q and %q", keys, k, o, q.Name)
				}
				owner[k] = q.Name
			}
		}
	}
	m := newMatcher()
	for _, k := range keys {
		if k.Type == "list" && k.Name != "" && owner[k.Name] == "" && !m.match(k.Name).foreign && !names[k.Name] {
			t.Fatalf("%v: list %q is in no queue: %s", keys, k.Name, show(qs))
		}
	}
}

func FuzzGroup(f *testing.F) {
	f.Add("q\nq:backup\nq:delayed", uint64(2), "q")
	f.Add("{q}:backup\n{q}\nq\n\xff:dead", uint64(0), "{q},ready=x")
	f.Add("a:b:backup:c\n:meta:dead:\na::dead", uint64(77), "")
	f.Fuzz(func(t *testing.T, names string, types uint64, spec string) {
		var keys []Key
		known := map[string]bool{}
		for i, name := range strings.Split(names, "\n") {
			if known[name] {
				continue
			}
			known[name] = true
			switch types >> (2 * (i % 32)) & 3 {
			case 0, 1:
				keys = append(keys, aList(name))
			case 2:
				keys = append(keys, aSet(name, queue.FloatSeconds))
			default:
				keys = append(keys, other(name, "set"))
			}
		}
		var named []queue.Queue
		if q, err := ParseNamed(spec); err == nil {
			named = append(named, q)
		}
		qs := Group(keys, named, now)
		back := slices.Clone(keys)
		slices.Reverse(back)
		if got := Group(back, named, now); !reflect.DeepEqual(got, qs) {
			t.Fatalf("another order gives %s, not %s", show(got), show(qs))
		}
		if len(named) == 0 {
			checkGrouping(t, keys, qs)
			return
		}
		if !slices.ContainsFunc(qs, func(q queue.Queue) bool { return q.Name == named[0].Name }) {
			t.Fatalf("%q is missing in %s", spec, show(qs))
		}
	})
}

func BenchmarkGroup(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		keys := make([]Key, 0, n)
		for i := range n / 4 {
			q := fmt.Sprintf("app:queue:%d", i)
			keys = append(keys, aList(q), aList(q+":backup"), aSet(q+":delayed", queue.Milliseconds), aList(q+":dead"))
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				Group(keys, nil, now)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
		})
	}
}
