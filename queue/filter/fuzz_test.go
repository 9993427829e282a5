package filter

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "!", "/", "//", "!/a(/", "abc", "! Ünï", "/[/", "\xff/\xff/", `"a b" c`, `"\"`, "due<5m !x", "size>=1.5kib",
		"age > 1w2d", "due<2026-01-01T00:00", ".a == 1", "!.a", "jq:'.a' b", "jq:'", ".a = 1", ". as [$a] | $a", `."\(1)"`,
		"jq:import \"a\" as a;.", "jq:.[] |= 5", "jq:{(.a): 1} | @json", "jq:reduce .[] as $x (0; . + $x)", "a\u00a0b\u2003",
	} {
		f.Add(s, []byte(`{"a":"Some PAYLOAD"}`))
		f.Add(s, []byte("\xff\x00"))
	}
	f.Fuzz(func(t *testing.T, text string, payload []byte) {
		m, err := Parse(text)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.At < 0 || e.Len < 0 || e.At+e.Len > len(text) || e.Error() == "" || e.Pointed() == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		if m.Needs().Decoded && len(text) > 200 {
			return // whatever it is, it is stopped, but takes its time
		}
		subject := Subject{Payload: payload, Size: int64(len(payload)), Due: time.Unix(2e9, 0), Now: time.Unix(1e9, 0), Age: time.Hour}
		got, err := m.Decide(context.Background(), subject)
		if got && err != nil {
			t.Fatalf("%q: matches, and %v", text, err)
		}
		if err != nil && !utf8.ValidString(err.Error()) {
			t.Fatalf("%q: %q", text, err)
		}
		if again, err := Parse(m.String()); err != nil || len(again.terms) != len(m.terms) || !m.Needs().Decoded && again.Match(payload) != m.Match(payload) {
			t.Fatalf("%q read back from %q differs (%v)", text, m.String(), err)
		}
		if word := strings.TrimSpace(text); plainWord(word) && isASCII(string(payload)) {
			if want := bytes.Contains(bytes.ToLower(payload), []byte(strings.ToLower(word))); got != want {
				t.Fatalf("%q on %q is %v", text, payload, got)
			}
		}
	})
}

// plainWord reports ASCII text that is nothing but itself.
func plainWord(s string) bool {
	name, _ := startsProperty(s)
	return s != "" && isASCII(s) && name == "" && !strings.ContainsAny(s[:1], `!/".`) && !strings.HasPrefix(s, "jq:") &&
		strings.IndexFunc(s, unicode.IsSpace) < 0
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// FuzzDocument decodes what pretends to be a payload.
func FuzzDocument(f *testing.F) {
	for _, s := range []string{
		`{"a":1}`, `[1,{"b":null}]`, "\x82\xa1a\x01\xa1b\xc4\x02\x01\x02", "\x81\x01\xd4\x05\x01", "\x81\xc0\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00",
		"\x81\xa1\"\xa3b64", "\x92\xa4ext(\xa2\"]", "\x81\x91\x01\x02", "12", "x", "", "\x1f\x8b\x08",
	} {
		f.Add([]byte(s))
	}
	m, err := Parse(`. == . and (tojson | length) >= 0`)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := document(b); err != nil {
			return
		}
		if !m.Match(b) {
			_, err := m.Decide(context.Background(), Subject{Payload: b, Size: int64(len(b))})
			t.Fatalf("%q: %v", b, err)
		}
	})
}
