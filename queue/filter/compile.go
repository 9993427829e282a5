package filter

import (
	"errors"
	"strings"

	"github.com/itchyny/gojq"
)

// sourceError tells what is wrong with a jq expression.
type sourceError struct {
	at, len int // bytes of the expression
	reason  string
}

// compile reads a jq expression.
func compile(source string) (_ *program, wrong *sourceError) {
	defer func() {
		if recover() != nil { // gojq takes some of its parser's outcomes for impossible
			wrong = &sourceError{0, len(source), "jq: the expression cannot be read"}
		}
	}()
	query, err := gojq.Parse(source)
	if err != nil {
		return nil, syntaxError(source, err)
	}
	if scalar(query) && len(query.FuncDefs) == 0 {
		return nil, &sourceError{0, len(source), "jq: this is the same for each payload: expected a condition (text in quotes is looked for)"}
	}
	f := fence{}
	f.enclose(query)
	if f.refused != "" {
		at, n := locate(source, f.refused)
		return nil, &sourceError{at, n, f.why}
	}
	code, err := gojq.Compile(query, f.functions()...)
	if err != nil {
		return nil, compileError(source, err)
	}
	p := &program{code: code}
	if f.slow {
		p.slow = make(chan struct{}, maxSlow)
	}
	return p, nil
}

// syntaxError finds the token that could not be read.
func syntaxError(source string, err error) *sourceError {
	var at *gojq.ParseError
	if !errors.As(err, &at) || at.Token == "" {
		return &sourceError{len(source), 0, "jq: the expression ends too early"}
	}
	end := max(1, min(at.Offset, len(source)))
	n := 1 // of a byte that is not UTF-8 the token tells another
	if strings.HasSuffix(source[:end], at.Token) {
		n = len(at.Token)
	}
	e := &sourceError{end - n, n, "jq: not expected"}
	if strings.Trim(source[:e.at], " \t\n") != "" {
		e.reason = "jq: not expected (an expression goes on to the end, or between jq:' and ')"
	}
	return e
}

// compileError points at a name that does not exist.
func compileError(source string, err error) *sourceError {
	text := err.Error()
	name := text[strings.LastIndexByte(text, ' ')+1:]
	name, _, _ = strings.Cut(name, "/")
	at, n := locate(source, name)
	return &sourceError{at, n, "jq: " + text}
}

// locate finds a name or an operator in an expression, outside of its strings where
// it can; else it is all of the expression.
func locate(source, what string) (at, n int) {
	if what != "" {
		for _, s := range []string{blanked(source), source} {
			for i := 0; i+len(what) <= len(s); i++ {
				if s[i:i+len(what)] == what && !joined(s[:i], what) && !joined(what, s[i+len(what):]) {
					return i, len(what)
				}
			}
		}
	}
	return 0, len(source)
}

// joined reports whether the last byte of a and the first of b belong to one name or
// operator.
func joined(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	class := func(c byte) int {
		switch {
		case 'a' <= lower(c) && lower(c) <= 'z', '0' <= c && c <= '9', c == '_', c == '$':
			return 1
		case strings.IndexByte("=<>!|+-*/%", c) >= 0:
			return 2
		}
		return 0
	}
	x, y := class(a[len(a)-1]), class(b[0])
	return x != 0 && x == y
}

// blanked is source with blanks for what is in its strings.
func blanked(source string) string {
	b := []byte(source)
	inside := false
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '"':
			inside = !inside
		case inside && b[i] == '\\':
			b[i] = ' '
			if i++; i < len(b) {
				b[i] = ' '
			}
		case inside:
			b[i] = ' '
		}
	}
	return string(b)
}
