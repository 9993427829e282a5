package ui

import (
	"strings"

	"redq/styles"
)

// highlight colours lines of indented JSON: names, strings, numbers and words
// apart. Each line is looked at by itself; one that is not like JSON stays as it is.
func (p painter) highlight(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = p.highlightLine(line)
	}
	return out
}

func (p painter) highlightLine(line string) string {
	text := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(text)]
	key := ""
	if end := stringEnd(text); end > 0 && strings.HasPrefix(text[end:], ": ") {
		key = p.Accent.Paint(text[:end]) + p.Faint.Paint(":") + " "
		text = text[end+2:]
	} else if indent == "" {
		return line
	}
	value := strings.TrimSuffix(text, ",")
	ink, ok := p.valueInk(value)
	if !ok {
		return indent + key + text
	}
	return indent + key + ink.Paint(value) + text[len(value):]
}

// valueInk is the ink of a whole JSON value that is not an object or array.
func (p painter) valueInk(v string) (ink styles.Ink, ok bool) {
	switch {
	case v == "true" || v == "false" || v == "null":
		return p.Warn, true
	case v != "" && stringEnd(v) == len(v):
		return p.Good, true
	case v != "" && strings.Trim(v, "+-.0123456789eE") == "":
		return p.Later, true
	}
	return styles.Ink{}, false
}

// stringEnd returns the length of the JSON string that s begins with, 0 when
// it does not begin with a whole one.
func stringEnd(s string) int {
	if s == "" || s[0] != '"' {
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}
