package layout

import (
	"strings"
	"testing"
	"time"

	"redq/queue"
)

func TestParseNamed(t *testing.T) {
	guessed := queue.GuessedUnit | queue.GuessedPush | queue.GuessedPattern
	for _, c := range []struct {
		in   string
		want queue.Queue
	}{
		{"q", queue.Queue{Name: "q", Ready: "q", Backups: []string{"q:backup"}, Delayed: "q:delayed", Dead: "q:dead",
			Push: queue.Left, Guessed: guessed | queue.GuessedKeys}},
		{"q,unit=s,stuck=5m", queue.Queue{Name: "q", Ready: "q", Backups: []string{"q:backup"}, Delayed: "q:delayed", Dead: "q:dead",
			Unit: queue.Seconds, Push: queue.Left, StuckAfter: 5 * time.Minute, Guessed: guessed&^queue.GuessedUnit | queue.GuessedKeys}},
		{"q,ready=a=b", queue.Queue{Name: "q", Ready: "a=b", Push: queue.Left, Guessed: guessed}},
		{"q,backup=a,backup=b,push=right", queue.Queue{Name: "q", Backups: []string{"a", "b"}, Push: queue.Right, Guessed: guessed &^ queue.GuessedPush}},
		{`a\,b,dead=c\,d\\e`, queue.Queue{Name: "a,b", Dead: `c,d\e`, Push: queue.Left, Guessed: guessed}},
		{"\xff \n,delayed=\xfe", queue.Queue{Name: "\xff \n", Delayed: "\xfe", Push: queue.Left, Guessed: guessed}},
	} {
		c.want.Pinned = true
		got, err := ParseNamed(c.in)
		if err != nil || show([]queue.Queue{got}) != show([]queue.Queue{c.want}) || got.Unit != c.want.Unit ||
			got.Push != c.want.Push || got.StuckAfter != c.want.StuckAfter || got.Guessed != c.want.Guessed || !got.Pinned {
			t.Errorf("%q:\ngot  %+v, %v\nwant %+v", c.in, got, err, c.want)
		}
	}
}

func TestParseNamedSaysWhatItExpected(t *testing.T) {
	for in, want := range map[string]string{
		"":                      "expected NAME",
		",ready=a":              "expected NAME",
		"q,ready":               "expected NAME[,ready=KEY]",
		"q,ready=":              "expected NAME[,ready=KEY]",
		"q,rdy=a":               "expected ready, backup, delayed, dead, unit, push or stuck",
		"q,unit=h":              "expected s, float, ms or us",
		"q,push=top":            "expected left or right",
		"q,stuck=1":             "expected a duration above 0",
		"q,stuck=-5s":           "expected a duration above 0",
		"q,ready=a,ready=b":     "ready= was given twice",
		"q,ready=a,dead=a":      "is both ready and dead",
		"q,backup=a,backup=a":   "is both backup and backup",
		"q,delayed=a,delayed=b": "delayed= was given twice",
	} {
		if q, err := ParseNamed(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %+v, error %v; want one with %q", in, q, err, want)
		}
	}
}

func FuzzParseNamed(f *testing.F) {
	for _, s := range []string{"q", "q,ready=a,backup=b,backup=c,delayed=d,dead=e,unit=float,push=right,stuck=60s", `a\`, `\,`, "q,,", "q,unit="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := ParseNamed(s)
		if err != nil {
			if q.Name != "" && q.Validate() == nil {
				t.Fatalf("a good queue %+v beside the error %v", q, err)
			}
			return
		}
		if err := q.Validate(); err != nil {
			t.Fatal(err)
		}
		// What was read can be written and read again.
		escape := strings.NewReplacer(`\`, `\\`, ",", `\,`)
		again := escape.Replace(q.Name)
		if q.Guessed&queue.GuessedKeys == 0 {
			for _, p := range queue.Places() {
				for _, k := range q.Keys(p) {
					again += "," + string(p) + "=" + escape.Replace(k)
				}
			}
		}
		r, err := ParseNamed(again)
		if err != nil || show([]queue.Queue{r}) != show([]queue.Queue{q}) {
			t.Fatalf("%q gives %+v, and written as %q %+v, %v", s, q, again, r, err)
		}
	})
}
