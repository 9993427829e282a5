package filter

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func parse(t *testing.T, text string) Matcher {
	t.Helper()
	m, err := Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return m
}

func decide(m Matcher, text string) (bool, error) {
	return m.Decide(context.Background(), Subject{Payload: []byte(text), Size: int64(len(text))})
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		filter, payload string
		want            bool
	}{
		{"", "anything", true},
		{"   ", "anything", true},
		{"hello", "Say HELLO there", true},
		{"HELLO", "hello", true},
		{"hello", "hell o", false},
		{"ÄRGER", "viel ärger", true},
		{"ärger", "viel ÄRGER", true},
		{"张三", "msg:张三-1", true},
		{"张三", "msg:张", false},
		{"\ufffd", "a\xffb", false},
		{"k", "K", true},
		{"!hello", "hello", false},
		{"! hello", "bye", true},
		{"!!", "a", true},
		{"!!", "a!", false},
		{"\x00\xff", "a\x00\xffb", true},
		{"\x00\xff", "a\x00\xfeb", false},
		{"x", "", false},
		{"!x", "", true},

		{"/^a.c$/", "abc", true},
		{"/^a.c$/", "ABC", false},
		{"/(?i)abc/", "ABC", true},
		{"/timeout", "at /timeout", true},
		{"/", "a/b", true},
		{"!/^a/", "abc", false},
		{"!/^a/", "xyz", true},
		{"/a b/", "a b", true},
		{"/a b/", "a/b", false},
		{"/usr/lib/", "at usr/lib", true},
		{"/usr/lib", "at usr/lib", false},
		{"/usr/lib", "at /usr/lib", true},
		{`/a\/ b/`, "a/ b", true},
		{"/^a/ /b$/", "a-b", true},
		{"/^a/ /b$/", "b-a", false},
		{"/a b", "b /A", true},

		{"two words", "Two Words!", true},
		{"two words", "words, two", true},
		{"two words", "two", false},
		{"two !words", "two", true},
		{"two !words", "two words", false},
		{"two\u00a0words\ttoo", "too: two words", true},
		{`"two words"`, "Two Words!", true},
		{`"two words"`, "words, two", false},
		{`!"two words" two`, "words, two", true},
		{`"say \"hi\" \\o/"`, `Say "Hi" \o/`, true},
		{`"user":42`, `{"user":42}`, true},
		{`"user":42`, `{"user": 42}`, false},
		{`"user":"bob"`, `{"user":"bob"}`, true},
		{`"user":"bob"`, `{"superuser":"bob"}`, false},
		{`"two wo`, `wo "two`, true},
		{`".env"`, "the .env file", true},
		{`"size>1k"`, "if size>1k", true},
		{"due", "due date", true},
		{"due !date", "due date", false},
		{"dues>1", "dues>1", true},
		{"user=5", "user=5", true},
		{"a.b", "a.b", true},

		{"size>3", "four", true},
		{"size>4", "four", false},
		{"due<10m", "any", false},
		{"!due<10m", "any", false},
		{"age>5m", "any", false},
		{"!age>5m", "any", false},
	} {
		m := parse(t, c.filter)
		if got := m.Match([]byte(c.payload)); got != c.want {
			t.Errorf("%q on %q is %v, want %v", c.filter, c.payload, got, c.want)
		}
	}
}

func TestProperties(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	in := func(d time.Duration) Subject { return Subject{Due: now.Add(d), Now: now} }
	old := func(d time.Duration) Subject { return Subject{Age: d, Now: now} }
	large := func(n int64) Subject { return Subject{Size: n} }
	for _, c := range []struct {
		filter  string
		subject Subject
		want    bool
	}{
		{"due<10m", in(9 * time.Minute), true},
		{"due<10m", in(10 * time.Minute), false},
		{"due<=10m", in(10 * time.Minute), true},
		{"due<10m", in(-time.Hour), true},
		{"due>1h", in(time.Hour), false},
		{"due>1h", in(61 * time.Minute), true},
		{"due>=1h", in(time.Hour), true},
		{"!due>1h", in(time.Hour), true},
		{"due<-5m", in(-6 * time.Minute), true},
		{"due<-5m", in(-4 * time.Minute), false},
		{"due>-5m", in(-4 * time.Minute), true},
		{"due<0s", in(-time.Second), true},
		{"Due < 1w", in(6 * 24 * time.Hour), true},
		{"due < 1d12h", in(37 * time.Hour), false},
		{"due>10m due<20m", in(15 * time.Minute), true},
		{"due>10m due<20m", in(25 * time.Minute), false},
		{"due<2026-03-01T12:30:00Z", in(29 * time.Minute), true},
		{"due<2026-03-01T12:30:00Z", in(30 * time.Minute), false},
		{"due>2026-03-01T14:30:00+02:00", in(31 * time.Minute), true},
		{"due>2025-01-01", in(0), true},
		{"due<2025-01-01T00:00", in(0), false},
		{"due<9999h", Subject{Due: now}, false}, // from when?
		{"due<2999-01-01", Subject{Now: now}, false},
		{"!due<2999-01-01", Subject{Now: now}, false},

		{"age>5m", old(6 * time.Minute), true},
		{"age>5m", old(5 * time.Minute), false},
		{"!age>5m", old(5 * time.Minute), true},
		{"age<=1.5d", old(36 * time.Hour), true},
		{"age<5m", old(0), false},
		{"!age<5m", old(0), false},

		{"size>1k", large(1025), true},
		{"size>1k", large(1024), false},
		{"size>=1kb", large(1024), true},
		{"size>=1KiB", large(1023), false},
		{"size=1.5M", large(3 << 19), true},
		{"size==10", large(10), true},
		{"size!=10", large(10), false},
		{"!size!=10b", large(10), true},
		{"size<2g", large(1 << 31), false},
		{"size<1t", large(1 << 31), true},
		{"size = 0", large(0), true},
	} {
		got, err := parse(t, c.filter).Decide(context.Background(), c.subject)
		if err != nil || got != c.want {
			t.Errorf("%q on %+v is %v, %v; want %v", c.filter, c.subject, got, err, c.want)
		}
	}
}

func TestErrorsPointAtWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ text, at string }{ // at: the wrong part and all after it
		{"!", ""},
		{" ! ", " "},
		{"timeout !", ""},
		{"//", "/"},
		{"/a(b/", "a(b/"},
		{"!/x[z-a]/", "z-a]/"},
		{"/ok)/", "ok)/"},
		{"/a**/", "**/"},
		{"  /\\q/  ", "\\q/  "},
		{"/(?P<n>x(/", "(?P<n>x(/"},
		{"a /b**/ c", "**/ c"},
		{`a "" b`, `"" b`},
		{"size>big", "big"},
		{"size>1x", "1x"},
		{"size>", ""},
		{"size>-1", "-1"},
		{"size=>5 a", "=>5 a"},
		{"size<>5", "<>5"},
		{"size>1kk", "1kk"},
		{"age>5", "5"},
		{"age>-5m", "-5m"},
		{"age=30", "=30"},
		{"x age != 5m", "!= 5m"},
		{"due<soon", "soon"},
		{"due<5 m", "5 m"},
		{"due<--5m", "--5m"},
		{"due<1d-1h", "1d-1h"},
		{"due<99999999d", "99999999d"},
		{"due==5m", "==5m"},
		{"jq:", ""},
		{"jq:  ", "  "},
		{"jq:''", "''"[1:]},
		{"jq:'.a", "'.a"},
		{"jq:'.a'b", "b"},
		{".a ==", ""},
		{".a == timeout", "timeout"},
		{".a timeout", "timeout"},
		{".a == 1 !b", "!b"},
		{"x .a == \"b", ""},
		{"jq:'.a ]' b", "]' b"},
		{".a | nope", "nope"},
		{".a | nope(1; 2)", "nope(1; 2)"},
		{`. == "nope" | nope`, "nope"},
		{".a == $b", "$b"},
		{".user = 42", "= 42"},
		{".a == 1 | .b |= 2", "|= 2"},
		{".a += 1", "+= 1"},
		{". as $x | $ENV.HOME", "$ENV.HOME"},
		{"jq: env.HOME", "env.HOME"},
		{".a, input", "input"},
		{".a | debug", "debug"},
		{". | halt", "halt"},
		{"jq:import \"a\" as a; .", "import \"a\" as a; ."},
		{"jq:include \"a\"; .", "include \"a\"; ."},
		{". | setpath([1e8]; 1)", "setpath([1e8]; 1)"},
		{".5", ".5"},
		{"jq:'true' a", "true' a"},
		{".é", "é"},
		{".\xff", "\xff"},
	} {
		_, err := Parse(c.text)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: error %v", c.text, err)
			continue
		}
		if e.Reason == "" || e.Text != c.text || c.text[e.At:] != c.at {
			t.Errorf("%q: %+v points at %q, want %q", c.text, e, c.text[e.At:], c.at)
		}
	}
}

func TestPointed(t *testing.T) {
	_, err := Parse("timeout size>b\x1bg .a")
	var e *Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	want := "timeout size>b\\x1bg .a\n" +
		"             ^^^^^^"
	if got := e.Pointed(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	_, err = Parse("a !")
	if !errors.As(err, &e) || e.Pointed() != "a !\n   ^" {
		t.Errorf("%v\n%s", err, e.Pointed())
	}
}

func TestZeroMatchesAll(t *testing.T) {
	var m Matcher
	if !m.All() || !m.Match(nil) || m.String() != "" || m.Needs() != (Needs{}) || m.TextOnly() != nil {
		t.Error("the zero Matcher must match everything")
	}
	if m := parse(t, " ! abc "); m.String() != "! abc" || m.All() {
		t.Errorf("String is %q", m.String())
	}
}

func TestNeedsAndTextOnly(t *testing.T) {
	for text, want := range map[string]Needs{
		"a /b/":          {Payload: true},
		"size>1k":        {},
		"due<1m !size>5": {Due: true},
		"age>1m a":       {Age: true, Payload: true},
		"due<1m .a":      {Due: true, Payload: true, Decoded: true},
	} {
		if got := parse(t, text).Needs(); got != want {
			t.Errorf("%q needs %+v, want %+v", text, got, want)
		}
	}
	for text, wrong := range map[string]string{
		"":                "",
		"orders !/x/":     "",
		`"due<1m"`:        "",
		" orders .name ":  ".name",
		"!size>1k orders": "!size>1k",
		"a jq:'.b' c":     "jq:'.b'",
	} {
		err := parse(t, text).TextOnly()
		var e *Error
		switch {
		case wrong == "" && err == nil:
		case !errors.As(err, &e), e.Text[e.At:e.At+e.Len] != wrong:
			t.Errorf("%q: %v, want one at %q", text, err, wrong)
		}
	}
}

func TestAHeadDecidesWhatItCan(t *testing.T) {
	s := Subject{Payload: []byte(`{"a":"head`), Size: 100_000}
	for text, want := range map[string]struct {
		match bool
		err   error
	}{
		"head":            {match: true},
		"!head":           {},
		"tail":            {err: ErrIncomplete},
		"!tail":           {err: ErrIncomplete},
		"/^{/":            {err: ErrIncomplete},
		".a":              {err: ErrIncomplete},
		"size<1k tail":    {},
		"size>1k head":    {match: true},
		"jq:'.a' !head":   {},
		"/head$/ size<1k": {},
	} {
		got, err := parse(t, text).Decide(context.Background(), s)
		if got != want.match || err != want.err {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestSubstringsAllocateNothing(t *testing.T) {
	b := []byte(strings.Repeat(`{"order":1841,"step":"Ändern"}`, 100))
	for _, text := range []string{"not there", "nicht ändernd", "!here size>1 due<1m"} {
		m := parse(t, text)
		if n := testing.AllocsPerRun(100, func() { m.Match(b) }); n > 0 {
			t.Errorf("%q: %v allocations", text, n)
		}
	}
}
