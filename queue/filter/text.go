package filter

import (
	"bytes"
	"context"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

// substring is text that is looked for whatever its case.
type substring struct {
	needle []byte // in lower case; not empty
	ascii  bool
}

func newSubstring(text string) condition {
	ascii := strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
	return substring{needle: lowered(text), ascii: ascii}
}

// lowered is text in lower case. Unlike strings.ToLower it keeps bytes that are not UTF-8.
func lowered(text string) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && n == 1 {
			out = append(out, text[0])
		} else {
			out = utf8.AppendRune(out, unicode.ToLower(r))
		}
		text = text[n:]
	}
	return out
}

func (s substring) needs() Needs { return Needs{Payload: true} }
func (s substring) cost() int    { return 1 }

func (s substring) ask(_ context.Context, subject Subject) (answer, error) {
	found := false
	if s.ascii {
		found = containsFold(subject.Payload, s.needle)
	} else {
		found = containsFoldUnicode(subject.Payload, s.needle)
	}
	if !found && !subject.complete() {
		return unknown, ErrIncomplete
	}
	return answerOf(found), nil
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

// containsFoldUnicode is containsFold for any needle. Bytes that are not UTF-8 equal
// themselves only.
func containsFoldUnicode(b, needle []byte) bool {
	for i := 0; i < len(b); {
		n := 1
		if c := b[i]; c >= utf8.RuneSelf || lower(c) == needle[0] {
			if hasPrefixFold(b[i:], needle) {
				return true
			}
			_, n = utf8.DecodeRune(b[i:])
		}
		i += n
	}
	return false
}

func hasPrefixFold(b, needle []byte) bool {
	for len(needle) > 0 {
		want, w := utf8.DecodeRune(needle)
		got, n := utf8.DecodeRune(b)
		switch {
		case n == 0:
			return false
		case got == utf8.RuneError || want == utf8.RuneError:
			if !bytes.Equal(b[:n], needle[:w]) {
				return false
			}
		case got != want && unicode.ToLower(got) != want:
			return false
		}
		b, needle = b[n:], needle[w:]
	}
	return true
}

// regular is a regular expression.
type regular struct{ *regexp.Regexp }

// regexp takes a regular expression of n bytes with its slashes.
func (p *parser) regexp(n int) (condition, error) {
	pattern, at := p.text[p.pos+1:p.pos+n-1], p.pos+1
	if pattern == "" {
		return nil, p.wrong(at, 0, "expected a regular expression between the slashes")
	}
	re, err := regexp.Compile(pattern)
	if err == nil {
		p.pos += n
		return regular{re}, nil
	}
	length, reason := len(pattern), "bad regular expression"
	if se, ok := err.(*syntax.Error); ok {
		reason = se.Code.String()
		if i := strings.Index(pattern, se.Expr); i >= 0 {
			at, length = at+i, len(se.Expr)
		}
	}
	return nil, p.wrong(at, length, reason)
}

func (r regular) needs() Needs { return Needs{Payload: true} }
func (r regular) cost() int    { return 2 }

// ask needs the whole payload: $ matches at the end of a head, too.
func (r regular) ask(_ context.Context, s Subject) (answer, error) {
	if !s.complete() {
		return unknown, ErrIncomplete
	}
	return answerOf(r.Match(s.Payload)), nil
}
