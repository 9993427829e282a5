package payload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// maxLaidOut bounds what indentation makes of a payload; a larger one is edited as it is.
const maxLaidOut = 64 << 20

// Form is a payload as a text editor is given it, and the way back from the edited
// text to bytes. It is the one part of this package whose bytes go to the wire: JSON
// without blanks is laid out for the editor and brought back to one line token by
// token, so that no digit, escape, order or duplicate key changes; all other text is
// given as it is and taken as it was left.
type Form struct {
	Text []byte // for the editor
	JSON bool   // the payload is a JSON object, array or string

	compact bool   // the payload has no blanks between its tokens: Text is it laid out
	ending  string // the line break the payload ends with, "" when it ends with none
	windows bool   // all line breaks are \r\n
}

// SyntaxError says where edited text is not what it should be.
type SyntaxError struct {
	Line, Column int    // from 1, in characters
	Problem      string // e.g. "expected a comma or }"
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Problem)
}

// FormOf returns the form of a payload. The error says, in one sentence, that it is no
// text, or text that editors change by themselves: other controls than tabs and line
// breaks, or line breaks of several kinds.
func FormOf(b []byte) (Form, error) {
	if err := checkText(b); err != nil {
		return Form{}, err
	}
	f := Form{Text: b, JSON: checkJSON(b) == nil, windows: bytes.Contains(b, []byte("\r\n"))}
	f.ending = lineEnd(b)
	body := b[:len(b)-len(f.ending)]
	if !f.JSON || !isCompact(body) {
		return f, nil
	}
	if laid, err := indentJSON(body, maxLaidOut); err == nil {
		f.Text, f.compact = append(laid, '\n'), true
	}
	return f, nil
}

// Payload returns the bytes that edited text stands for. A line break that the editor
// put at the end, where the payload had none, is taken away. The error is a
// *SyntaxError when the payload was JSON and the text is not, or is no text any more.
func (f Form) Payload(text []byte) ([]byte, error) {
	if at := invalidUTF8(text); at >= 0 {
		return nil, syntaxError(text, at, "not UTF-8")
	}
	if !f.JSON {
		return f.AsLeft(text), nil
	}
	line, err := compactJSON(text)
	switch {
	case err != nil:
		return nil, err
	case f.compact:
		return append(line, f.ending...), nil
	}
	return f.AsLeft(text), nil
}

// AsLeft is Payload for text that is to be taken as the editor left it, JSON or not.
func (f Form) AsLeft(text []byte) []byte {
	if f.ending != "" {
		return text
	}
	if f.windows {
		if without, ok := bytes.CutSuffix(text, []byte("\r\n")); ok {
			return without
		}
	}
	return bytes.TrimSuffix(text, []byte("\n"))
}

// Laid returns another payload laid out as Text is, to be compared with it.
func (f Form) Laid(b []byte) []byte {
	if !f.compact {
		return b
	}
	if checkJSON(b) == nil {
		if laid, err := indentJSON(b, maxLaidOut); err == nil {
			return append(laid, '\n')
		}
	}
	if f.ending == "" {
		return append(bytes.Clone(b), '\n') // as an editor writes it
	}
	return b
}

// lineEnd returns the line break that b ends with.
func lineEnd(b []byte) string {
	for _, end := range []string{"\r\n", "\n"} {
		if bytes.HasSuffix(b, []byte(end)) {
			return end
		}
	}
	return ""
}

// checkText returns nil for text that an editor gives back as it got it.
func checkText(b []byte) error {
	if at := invalidUTF8(b); at >= 0 {
		return fmt.Errorf("it is no text: byte %d is 0x%02x, which is not UTF-8", at, b[at])
	}
	breaks, windows := 0, 0
	for at, r := range string(b) {
		switch {
		case r == '\t':
		case r == '\n':
			breaks++
		case r == '\r' && at+1 < len(b) && b[at+1] == '\n':
			windows++
		case unicode.IsControl(r):
			return fmt.Errorf("byte %d is the control character 0x%02x, which an editor may not keep", at, r)
		case r == '\ufeff' && at == 0:
			return errors.New("it begins with a byte order mark, which an editor may not keep")
		}
	}
	if windows > 0 && windows < breaks {
		return errors.New("its line breaks are of two kinds, which an editor may not keep")
	}
	return nil
}

// invalidUTF8 returns where b stops being UTF-8, -1 when it is throughout.
func invalidUTF8(b []byte) int {
	for at := 0; at < len(b); {
		r, n := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
	return -1
}

// isCompact reports whether JSON has no blanks between its tokens.
func isCompact(b []byte) bool {
	line, err := compactJSON(b)
	return err == nil && len(line) == len(b)
}

// compactJSON returns the tokens of b without the blanks between them.
func compactJSON(b []byte) ([]byte, error) {
	s := jsonScanner{src: b}
	out := make([]byte, 0, len(b))
	for {
		token, err := s.next()
		switch err {
		case nil:
			out = append(out, token...)
		case io.EOF:
			return out, nil
		default:
			at := min(s.pos, len(bytes.TrimRight(b, " \t\r\n"))) // not behind the last line
			return nil, syntaxError(b, at, s.problem(err))
		}
	}
}

// problem says in words what is wrong at the scanner's place.
func (s *jsonScanner) problem(err error) string {
	end := "]"
	if n := len(s.objects); n > 0 && s.objects[n-1] {
		end = "}"
	}
	switch {
	case err == errTooDeep:
		return errTooDeep.Error()
	case s.pos < len(s.src) && s.src[s.pos] == '"' && (s.wantsValue() || s.want == wantKey || s.want == wantFirstKey):
		if err == errCut {
			return "this string is not closed"
		}
		return "this string holds a line break, a control character or an escape that JSON does not have"
	}
	switch s.want {
	case wantFirstValue:
		return "expected a value or ]"
	case wantFirstKey:
		return "expected a name in double quotes or }"
	case wantKey:
		return "expected a name in double quotes"
	case wantColon:
		return "expected a colon"
	case wantCommaOrEnd:
		return "expected a comma or " + end
	case wantNothing:
		return "expected nothing more: the value is whole"
	}
	return "expected a value"
}

// syntaxError names a place in b as an editor counts it.
func syntaxError(b []byte, at int, problem string) *SyntaxError {
	before := b[:at]
	start := bytes.LastIndexByte(before, '\n') + 1
	return &SyntaxError{
		Line:    bytes.Count(before, []byte("\n")) + 1,
		Column:  utf8.RuneCount(before[start:]) + 1,
		Problem: problem,
	}
}
