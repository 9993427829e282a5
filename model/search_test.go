package model

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/redis/go-redis/v9"

	"redq/queue"
	"redq/queue/queuetest"
	"redq/queue/sieve"
)

// step runs the commands that were held, but not those that follow from them.
func (d *driver) step() {
	held := d.held
	d.held = nil
	for _, c := range held {
		switch msg := c().(type) {
		case tea.BatchMsg:
			d.held = append(d.held, msg...)
		case timerMsg:
			d.timers = append(d.timers, timer(msg))
		case nil:
		default:
			d.send(msg)
		}
	}
}

// filtered types a filter on the page in front.
func (d *driver) filtered(text string) {
	d.press("/ ctrl+u")
	d.typed(text)
	d.press("enter")
}

func TestFilterOfMessages(t *testing.T) {
	payloads := []string{`{"user":42,"note":"Timeout"}`, `{"user":7,"note":"timeout"}`, "plain timeout", `{"user":42}`}
	for text, want := range map[string][]int{
		"timeout":                     {0, 1, 2},
		"/[T]imeout/":                 {0},
		"!timeout":                    {3},
		"timeout .user == 42":         {0},
		"jq:'.user == 42' !timeout":   {3},
		"size<14":                     {2, 3},
		"age>5m":                      {1},
		"age<5m":                      {2},
		"age<5m timeout":              {2},
		"timeout age>5m .user == 7":   {1},
		"due<10m":                     nil,
		`"in timeout"`:                {2},
		"size>1 !/plain/ .note":       {0, 1},
		"!.user":                      nil,
		"jq:'type == \"object\"' 42":  {0, 3},
		"/^plain/ age>1s size>1 !due": {2},
	} {
		d, f := onBackup(t, payloads)
		f.ages = map[string]time.Duration{payloads[1]: time.Hour, payloads[2]: time.Minute}
		d.filtered(text)
		var all []string
		for _, i := range want {
			all = append(all, payloads[i])
		}
		if l := d.m.Queue.List(); !slices.Equal(d.rows(), all) || l.Search.Running || l.Search.Searched != 4 || l.Matched() != int64(len(want)) {
			t.Errorf("%s: %q of %d, want %q", text, d.rows(), l.Search.Searched, all)
		}
	}
}

func TestDueIsByTheServersClock(t *testing.T) {
	f := seeded()
	f.now = epoch.Add(time.Hour) // the server's clock is ahead
	d := start(t, f)
	d.commanded("orders")
	d.press("3")
	for text, want := range map[string][]string{
		"due<10m": {"late", "later"}, "due<-30m": {"late"}, "due>10m": nil, "!due<-30m": {"later"}, "later due<10m": {"later"},
	} {
		d.filtered(text)
		if !slices.Equal(d.rows(), want) || d.m.Queue.List().Search.Undecided != 0 {
			t.Errorf("%s: %q, want %q", text, d.rows(), want)
		}
	}
}

func TestFilterErrorsPoint(t *testing.T) {
	for _, tt := range []struct{ text, at string }{
		{"a size>big", "big"},
		{"a .user ==", ""},
		{" .user = 42", "="},
		{"é /a(b/ c", "a(b"},
		{"!", ""},
	} {
		d, f := onBackup(t, numbered("m", 3))
		d.press("/")
		d.typed(tt.text)
		for _, when := range []string{"while typing", "on enter"} {
			p := d.m.Prompt
			if p.Kind != FilterPrompt || p.Err == "" || p.ErrAt < 0 || p.Field.Text()[p.ErrAt:p.ErrTo] != tt.at {
				t.Errorf("%q %s: %+v", tt.text, when, p)
			}
			d.press("enter")
		}
		if f.calls["Search"] > 0 {
			t.Errorf("%q was searched for", tt.text)
		}
		d.press("esc")
		d.commanded("filter " + tt.text)
		if p := d.m.Prompt; p.Err == "" || p.ErrAt < len("filter ") || p.Field.Text()[p.ErrAt:p.ErrTo] != tt.at {
			t.Errorf(":filter %s: %+v", tt.text, p)
		}
	}
}

// Names and events are text: terms that ask a message are refused at their place.
func TestNamesAreFilteredByText(t *testing.T) {
	d := start(t, seeded())
	d.press("/")
	d.typed("queue size>1k")
	if p := d.m.Prompt; p.ErrAt < 0 || p.Field.Text()[p.ErrAt:p.ErrTo] != "size>1k" {
		t.Fatalf("%+v", p)
	}
	if n := len(d.m.FilterTerms().Bindings); n == 0 || n >= 10 {
		t.Errorf("%d terms are offered for names", n)
	}
	d.press("esc")
	d.commanded("queueA")
	if n := len(d.m.FilterTerms().Bindings); n < 10 {
		t.Errorf("%d terms are offered for messages", n)
	}
	d.press("5")
	if g := d.m.FilterTerms(); len(g.Bindings) > 0 {
		t.Errorf("the terms of a filter are told where there is none")
	}
}

// Of a million matches some are kept, and the others counted.
func TestMatchesKeptAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	d, f := onBackup(t, numbered("m", 25_000))
	f.stride = 997
	d.filtered("m")
	l := d.m.Queue.List()
	if len(l.Rows) != maxRows || l.Total != maxRows || l.Matched() != 25_000 || l.Search.Beyond != 15_000 || l.Search.Searched != 25_000 {
		t.Fatalf("%d rows, %d of %d match, searched %d", len(l.Rows), l.Matched(), l.Search.Of, l.Search.Searched)
	}
	d.press("G")
	if d.selected() != "m9999" {
		t.Errorf("the last one that is shown is %q", d.selected())
	}
	d.press("*")
	d.wantStatus("marked 10,000 of 25,000 that match")
}

func TestBytesKeptAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	payloads := make([]string, 1500)
	for i := range payloads {
		payloads[i] = fmt.Sprintf("%d%s", i, strings.Repeat("x", 40<<10))
	}
	d, f := onBackup(t, payloads)
	f.stride, f.headBytes = 100, queue.HeadBytes
	d.filtered("x")
	l := d.m.Queue.List()
	most := maxRowBytes/(queue.HeadBytes+queue.TailBytes) + 1
	if l.Total != int64(most) || l.Matched() != 1500 {
		t.Errorf("%d rows are kept, want %d; %d match", l.Total, most, l.Matched())
	}
}

func TestUndecidedIsToldOnce(t *testing.T) {
	d, f := onBackup(t, []string{`{"a":1}`, "text", `{"a":"x"}`, "more text"})
	d.filtered(".a + 1 == 2")
	if l := d.m.Queue.List(); l.Matched() != 1 || l.Search.Undecided != 3 || l.Search.Searched != 4 {
		t.Fatalf("%d match, %+v", l.Matched(), l.Search.Scan)
	}
	d.wantStatus("3 undecided: ")
	d.press("j")
	f.lists["queueA:backup"] = append(f.lists["queueA:backup"], "even more")
	d.advance(time.Second)
	if s := d.m.Queue.List().Search; s.Undecided != 4 || d.m.Status.Text != "" {
		t.Errorf("repeated: %d undecided, status %q", s.Undecided, d.m.Status.Text)
	}
}

// A program that never ends is given up, and not tried again by itself.
func TestEndlessProgramIsGivenUp(t *testing.T) {
	payloads := make([]string, 100)
	for i := range payloads {
		payloads[i] = fmt.Sprintf(`{"n":%d}`, i)
	}
	d, f := onBackup(t, payloads)
	f.stride = 1
	d.press("/")
	d.typed("jq: .n < 2 or last(range(1e12))")
	d.hold = true
	d.send(keyMsg("enter"))
	l := d.m.Queue.List()
	l.Search.Undecided, l.Search.Stopped = sieve.MaxStopped-2, sieve.MaxStopped-2 // each takes a while
	d.m.Queue = d.m.Queue.with(l)
	d.held = []tea.Cmd{d.m.searchCmd(d.m.Queue.Queue, l)}
	d.release()
	l = d.m.Queue.List()
	if s := l.Search; !s.GaveUp || s.Running || s.Searched != 4 || s.Undecided != sieve.MaxStopped || l.Matched() != 2 {
		t.Fatalf("search %+v, %d match", s, l.Matched())
	}
	d.wantStatus("gave up after 20 messages")
	before := f.calls["Search"]
	f.lists["queueA:backup"] = append(f.lists["queueA:backup"], "new")
	d.advance(10 * time.Second)
	if f.calls["Search"] != before {
		t.Error("it is tried again by itself")
	}
	d.filtered("new")
	if l := d.m.Queue.List(); l.Matched() != 1 || l.Search.GaveUp || l.Search.Err != "" || l.Search.Undecided != 0 {
		t.Errorf("another filter: %+v", l.Search)
	}
}

// A search that the server's failure stopped goes on where it was.
func TestSearchResumes(t *testing.T) {
	d, f := onBackup(t, numbered("m", 95))
	d.press("/")
	d.typed("m9")
	d.hold = true
	d.send(keyMsg("enter"))
	for range 9 {
		d.step()
	}
	f.err = errDown
	d.release()
	l := d.m.Queue.List()
	if l.Search.Err == "" || l.Search.Running || l.Search.Searched != 90 || !slices.Equal(d.rows(), []string{"m9"}) {
		t.Fatalf("search %+v with %q", l.Search, d.rows())
	}
	f.err = nil
	before := f.calls["Search"]
	d.advance(15 * time.Second)
	if l := d.m.Queue.List(); l.Search.Err != "" || l.Search.Searched != 95 || !slices.Equal(d.rows(), []string{"m9", "m90", "m91", "m92", "m93", "m94"}) {
		t.Fatalf("search %+v with %q", l.Search, d.rows())
	}
	if n := f.calls["Search"] - before; n != 1 {
		t.Errorf("%d steps for what was left", n)
	}
}

// While a search is made again the numbers of the last one stay.
func TestRepeatedSearchIsShownWhenItIsDone(t *testing.T) {
	d, f := onBackup(t, numbered("m", 95))
	d.filtered("m")
	f.lists["queueA:backup"] = numbered("m", 35)
	d.hold = true
	d.send(keyMsg("R"))
	for range 100 {
		l := d.m.Queue.List()
		if !l.Search.Running && l.Matched() == 35 {
			break
		}
		if l.Matched() != 95 || l.Search.Searched != 95 || l.Search.Of != 95 {
			t.Fatalf("half-way %d of %d match, searched %d", l.Matched(), l.Search.Of, l.Search.Searched)
		}
		d.step()
	}
	if l := d.m.Queue.List(); l.Matched() != 35 || l.Search.Searched != 35 || l.Search.Running {
		t.Fatalf("in the end %d of %d match", l.Matched(), l.Search.Of)
	}
}

// hasty ends each step of a search soon, however fast the machine is.
type hasty struct{ Backend }

func (b hasty) Search(ctx context.Context, q queue.Queue, p queue.Place, from queue.Spot, o queue.SearchOptions) (queue.Found, error) {
	o.Within = 5 * time.Millisecond
	return b.Backend.Search(ctx, q, p, from, o)
}

// Fifty thousand messages on a server: matches are on screen long before the end, the
// server is asked a page at a time, and esc ends it.
func TestSearchOnAServer(t *testing.T) {
	s := queuetest.Redis(t)
	const all = 50_000
	for from := 0; from < all; from += 5000 {
		vs := make([]any, 5000)
		for i := range vs {
			vs[i] = fmt.Sprintf(`{"order":%d,"msg":{"user":%d}}`, from+i, (from+i)%100)
		}
		if err := s.Client.RPush(t.Context(), "orders:dead", vs...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	s.Client.RPush(t.Context(), "orders", "a")
	d := live(t, s)
	d.m.cfg.Backend = hasty{d.m.cfg.Backend}
	d.commanded("orders")
	d.press("4 /")
	d.typed("order .msg.user == 42")
	d.hold = true
	d.send(keyMsg("enter"))
	pages := scriptCalls(t, s.Client)
	early, steps := false, 0
	for d.m.Queue.List().Search.Running {
		l := d.m.Queue.List()
		early = early || l.Matched() > 0 && l.Search.Searched < all/2
		d.step()
		steps++
	}
	l := d.m.Queue.List()
	if l.Matched() != all/100 || l.Search.Searched != all || l.Search.Of != all || l.Search.Undecided != 0 || l.Search.Err != "" {
		t.Fatalf("%d match, search %+v", l.Matched(), l.Search)
	}
	if !early || steps < 3 {
		t.Errorf("%d steps, and nothing on screen before the half", steps)
	}
	if n := scriptCalls(t, s.Client) - pages; n < all/1000 {
		t.Errorf("%d messages were read in %d calls", all, n)
	}

	d.hold = false
	d.press("/")
	d.typed(" or true")
	d.hold = true
	d.send(keyMsg("enter"))
	d.send(keyMsg("esc"))
	d.release()
	if l := d.m.Queue.List(); l.Search.Text != "" || l.Total != all {
		t.Errorf("esc leaves %+v over %d rows", l.Search, l.Total)
	}
}

// scriptCalls is how many scripts the server has run.
func scriptCalls(t *testing.T, rdb *redis.Client) int {
	t.Helper()
	info := rdb.Info(context.Background(), "commandstats").Val()
	_, rest, _ := strings.Cut(info, "cmdstat_evalsha:calls=")
	digits, _, _ := strings.Cut(rest, ",")
	n, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatalf("no count of scripts: %v", err)
	}
	return n
}
