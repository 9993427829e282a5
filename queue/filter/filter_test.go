package filter

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

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
		{"two words", "Two Words!", true},
		{"ÄRGER", "viel ärger", true},
		{"张三", "msg:张三-1", true},
		{"k", "K", true},
		{"/^a.c$/", "abc", true},
		{"/^a.c$/", "ABC", false},
		{"/(?i)abc/", "ABC", true},
		{"/timeout", "at /timeout", true},
		{"/", "a/b", true},
		{"!hello", "hello", false},
		{"! hello", "bye", true},
		{"!/^a/", "abc", false},
		{"!/^a/", "xyz", true},
		{"!!", "a", true},
		{"!!", "a!", false},
		{"\x00\xff", "a\x00\xffb", true},
		{"x", "", false},
		{"!x", "", true},
	} {
		m, err := Parse(c.filter)
		if err != nil {
			t.Errorf("%q: %v", c.filter, err)
			continue
		}
		if got := m.Match([]byte(c.payload)); got != c.want {
			t.Errorf("%q on %q is %v, want %v", c.filter, c.payload, got, c.want)
		}
	}
}

func TestErrorsPointAtWhatIsWrong(t *testing.T) {
	for text, at := range map[string]string{
		"!":          "",
		" ! ":        "",
		"//":         "/",
		"/a(b/":      "a(b",
		"!/x[z-a]/":  "z-a",
		"/ok)/":      "ok)",
		"/a**/":      "**",
		"  /\\q/  ":  "\\q",
		"/(?P<n>x(/": "(?P<n>x(",
	} {
		_, err := Parse(text)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: error %v", text, err)
			continue
		}
		if e.Reason == "" || e.Text != text || !strings.HasPrefix(text[e.At:], at) {
			t.Errorf("%q: %+v points at %q, want %q", text, e, text[e.At:], at)
		}
	}
}

func TestZeroMatchesAll(t *testing.T) {
	var m Matcher
	if !m.All() || !m.Match(nil) || m.String() != "" {
		t.Error("the zero Matcher must match everything")
	}
	if m, _ := Parse(" ! abc "); m.String() != "! abc" || m.All() {
		t.Errorf("String is %q", m.String())
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "!", "/", "//", "!/a(/", "abc", "! Ünï", "/[/", "\xff/\xff/"} {
		f.Add(s, []byte("Some PAYLOAD \xff"))
	}
	f.Fuzz(func(t *testing.T, text string, payload []byte) {
		m, err := Parse(text)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.At < 0 || e.Len < 0 || e.At+e.Len > len(text) || e.Error() == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		got := m.Match(payload)
		if again, err := Parse(m.String()); err != nil || again.Match(payload) != got {
			t.Fatalf("%q read back from %q differs (%v)", text, m.String(), err)
		}
		if body := strings.TrimSpace(text); !m.All() && body[0] != '!' && !strings.HasPrefix(body, "/") && utf8.ValidString(body) {
			if want := bytes.Contains(bytes.ToLower(payload), []byte(strings.ToLower(body))); isASCII(body) && isASCII(string(payload)) && got != want {
				t.Fatalf("%q on %q is %v", text, payload, got)
			}
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	payload := bytes.Repeat([]byte(`{"order":1841,"sku":"S-22","step":"pay"}`), 25_000)
	m, err := Parse("not in there")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(payload)))
	for b.Loop() {
		if m.Match(payload) {
			b.Fatal("it is")
		}
	}
}
