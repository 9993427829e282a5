package filter

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Parse reads a filter. Empty or blank text matches everything. The error is
// an *Error.
func Parse(text string) (Matcher, error) {
	body := strings.TrimSpace(text)
	start := strings.Index(text, body)
	p := parser{text: text, pos: start, end: start + len(body)}
	m := Matcher{text: body}
	for p.skipBlanks(); p.pos < p.end; p.skipBlanks() {
		t, err := p.term()
		if err != nil {
			return Matcher{}, err
		}
		t.at -= start
		m.terms = append(m.terms, t)
	}
	slices.SortStableFunc(m.terms, func(a, b term) int { return cmp.Compare(a.cost(), b.cost()) })
	return m, nil
}

// parser cuts a filter into its terms.
type parser struct {
	text     string
	pos, end int
}

// rest is what has not been read.
func (p *parser) rest() string { return p.text[p.pos:p.end] }

func (p *parser) skipBlanks() {
	p.pos = p.end - len(strings.TrimLeftFunc(p.rest(), unicode.IsSpace))
}

// word takes what there is up to the next blank.
func (p *parser) word() string {
	s := p.rest()
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		s = s[:i]
	}
	p.pos += len(s)
	return s
}

// wrong is an error about the length bytes from at.
func (p *parser) wrong(at, length int, reason string) error {
	return &Error{Text: p.text, At: at, Len: length, Reason: reason}
}

func (p *parser) term() (t term, err error) {
	start := p.pos
	if strings.HasPrefix(p.rest(), "!") {
		t.negate = true
		p.pos++
		p.skipBlanks()
		if p.pos == p.end {
			return t, p.wrong(p.pos, 0, "expected text, /re/ or another term after !")
		}
	}
	t.condition, err = p.condition()
	t.at, t.n = start, p.pos-start
	return t, err
}

func (p *parser) condition() (condition, error) {
	s := p.rest()
	if name, op := startsProperty(s); name != "" {
		return p.property(name, op)
	}
	switch {
	case s[0] == '.', strings.HasPrefix(s, jqPrefix):
		return p.jq()
	case s[0] == '"':
		if n := quotedLen(s); n > 0 {
			return p.quoted(n)
		}
	case s[0] == '/':
		if n := regexpLen(s); n > 0 {
			return p.regexp(n)
		}
	}
	return newSubstring(p.word()), nil
}

// quotedLen returns the length of the quoted text that s begins with; 0 when it is
// none: what follows the closing quote belongs to the word then.
func quotedLen(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			if endsTerm(s[i+1:]) {
				return i + 1
			}
			return 0
		}
	}
	return 0
}

func (p *parser) quoted(n int) (condition, error) {
	inside := p.text[p.pos+1 : p.pos+n-1]
	if inside == "" {
		return nil, p.wrong(p.pos, n, "expected text between the quotes")
	}
	p.pos += n
	return newSubstring(strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(inside)), nil
}

// regexpLen returns the length of the regular expression that s begins with, with its
// slashes; 0 when none ends it. A slash inside needs no escape unless a blank follows.
func regexpLen(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '/':
			if endsTerm(s[i+1:]) {
				return i + 1
			}
		}
	}
	return 0
}

// endsTerm reports whether a term ends before rest.
func endsTerm(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || unicode.IsSpace(r)
}
