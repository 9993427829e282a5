// Package filter reads the filter language of the prompt and the command line
// and tells whether bytes match. It knows nothing of Redis or of a screen.
//
// Plain text is a substring whatever its case, /re/ a regular expression, and
// ! in front negates either.
package filter

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// Matcher decides whether bytes match a filter. The zero value matches everything.
type Matcher struct {
	text   string
	negate bool
	re     *regexp.Regexp
	needle []byte // lower case; empty when re is set or everything matches
	ascii  bool
}

// Error tells what is wrong with a filter and where.
type Error struct {
	Text   string // the whole filter
	At     int    // byte offset into Text of what is wrong
	Len    int    // its length in bytes; 0 when something is missing at At
	Reason string // what is wrong and what was expected
}

func (e *Error) Error() string {
	if e.Len > 0 {
		return fmt.Sprintf("%s at %q", e.Reason, e.Text[e.At:e.At+e.Len])
	}
	return e.Reason
}

// Parse reads a filter. Empty or blank text matches everything. The error is
// an *Error.
func Parse(text string) (Matcher, error) {
	body := strings.TrimSpace(text)
	if body == "" {
		return Matcher{}, nil
	}
	m := Matcher{text: body}
	at := strings.Index(text, body)
	if rest, ok := strings.CutPrefix(body, "!"); ok {
		m.negate = true
		trimmed := strings.TrimLeft(rest, " ")
		at += len(body) - len(trimmed)
		body = trimmed
		if body == "" {
			return Matcher{}, &Error{Text: text, At: at, Reason: "expected text or /re/ after !"}
		}
	}
	if len(body) >= 2 && body[0] == '/' && body[len(body)-1] == '/' {
		return m.regexp(text, body[1:len(body)-1], at+1)
	}
	m.needle = []byte(strings.ToLower(body))
	m.ascii = isASCII(body)
	return m, nil
}

func (m Matcher) regexp(text, pattern string, at int) (Matcher, error) {
	if pattern == "" {
		return Matcher{}, &Error{Text: text, At: at, Reason: "expected a regular expression between the slashes"}
	}
	re, err := regexp.Compile(pattern)
	if err == nil {
		m.re = re
		return m, nil
	}
	e := &Error{Text: text, At: at, Len: len(pattern), Reason: "bad regular expression"}
	if se, ok := err.(*syntax.Error); ok {
		e.Reason = se.Code.String()
		if i := strings.Index(pattern, se.Expr); i >= 0 {
			e.At, e.Len = at+i, len(se.Expr)
		}
	}
	return Matcher{}, e
}

// All reports whether everything matches.
func (m Matcher) All() bool { return m.text == "" }

// String returns the filter as it was written, without surrounding blanks.
func (m Matcher) String() string { return m.text }

// Match reports whether b matches. It does not keep b.
func (m Matcher) Match(b []byte) bool {
	if m.All() {
		return true
	}
	return m.found(b) != m.negate
}

func (m Matcher) found(b []byte) bool {
	switch {
	case m.re != nil:
		return m.re.Match(b)
	case m.ascii:
		return containsFold(b, m.needle)
	}
	return bytes.Contains(bytes.ToLower(b), m.needle)
}

// containsFold looks for an ASCII needle in lower case without copying b: a
// search meets payloads of many megabytes.
func containsFold(b, needle []byte) bool {
	for i := 0; i+len(needle) <= len(b); i++ {
		if lower(b[i]) == needle[0] && equalFold(b[i:i+len(needle)], needle) {
			return true
		}
	}
	return false
}

func equalFold(b, needle []byte) bool {
	for i, c := range b {
		if lower(c) != needle[i] {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
