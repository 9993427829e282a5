package model

import (
	"slices"
	"strings"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"
)

// Field is a text field: what was typed, exactly, and where the cursor is.
// (The fields of bubbles turn tabs into spaces and bring their own look; what is
// typed here may become the bytes of a message.)
type Field struct {
	text      []rune
	cursor    int  // index of the rune the cursor is before
	multiline bool // keeps line breaks
}

// newField returns a field with text, the cursor behind it.
func newField(text string) Field {
	r := []rune(text)
	return Field{text: r, cursor: len(r)}
}

// Text returns what was typed.
func (f Field) Text() string { return string(f.text) }

// Cursor returns the text before and from the cursor on.
func (f Field) Cursor() (before, after string) {
	return string(f.text[:f.cursor]), string(f.text[f.cursor:])
}

// Multiline reports whether line breaks can be typed.
func (f Field) Multiline() bool { return f.multiline }

// update takes a key. It reports whether the key meant anything to the field.
func (f Field) update(k tea.KeyMsg) (Field, bool) {
	if k.Type == tea.KeyRunes || k.Type == tea.KeySpace {
		if k.Alt && !k.Paste {
			return f.altKey(k)
		}
		return f.insert(k.Runes), true
	}
	switch k.Type {
	case tea.KeyLeft, tea.KeyCtrlB:
		return f.to(f.cursor - 1), true
	case tea.KeyRight, tea.KeyCtrlF:
		return f.to(f.cursor + 1), true
	case tea.KeyCtrlLeft:
		return f.to(f.wordLeft()), true
	case tea.KeyCtrlRight:
		return f.to(f.wordRight()), true
	case tea.KeyHome, tea.KeyCtrlA:
		return f.to(f.lineStart()), true
	case tea.KeyEnd, tea.KeyCtrlE:
		return f.to(f.lineEnd()), true
	case tea.KeyBackspace:
		return f.cut(f.cursor-1, f.cursor), true
	case tea.KeyDelete, tea.KeyCtrlD:
		return f.cut(f.cursor, f.cursor+1), true
	case tea.KeyCtrlW:
		return f.cut(f.wordLeft(), f.cursor), true
	case tea.KeyCtrlU:
		return f.cut(f.lineStart(), f.cursor), true
	case tea.KeyCtrlK:
		return f.cut(f.cursor, f.lineEnd()), true
	}
	if f.multiline {
		return f.lineKey(k)
	}
	return f, false
}

func (f Field) altKey(k tea.KeyMsg) (Field, bool) {
	switch string(k.Runes) {
	case "b":
		return f.to(f.wordLeft()), true
	case "f":
		return f.to(f.wordRight()), true
	}
	return f, false
}

// lineKey takes the keys that only a field of many lines has. Enter belongs to
// the form, so a line break is alt+enter or ctrl+j.
func (f Field) lineKey(k tea.KeyMsg) (Field, bool) {
	switch {
	case k.Type == tea.KeyCtrlJ, k.Type == tea.KeyEnter && k.Alt:
		return f.insert([]rune{'\n'}), true
	case k.Type == tea.KeyUp:
		start := f.lineStart()
		if start == 0 {
			return f, false
		}
		column, above := f.cursor-start, f.to(start-1)
		return f.to(min(above.lineStart()+column, start-1)), true
	case k.Type == tea.KeyDown:
		end := f.lineEnd()
		if end == len(f.text) {
			return f, false
		}
		column, below := f.cursor-f.lineStart(), f.to(end+1)
		return f.to(min(end+1+column, below.lineEnd())), true
	}
	return f, false
}

// insert puts runes at the cursor. Terminals paste line ends as a carriage
// return; a field of one line turns them into blanks.
func (f Field) insert(runes []rune) Field {
	s := strings.ReplaceAll(strings.ReplaceAll(string(runes), "\r\n", "\n"), "\r", "\n")
	if !f.multiline {
		s = strings.ReplaceAll(s, "\n", " ")
	}
	add := []rune(s)
	f.text = slices.Concat(f.text[:f.cursor], add, f.text[f.cursor:])
	f.cursor += len(add)
	return f
}

func (f Field) cut(from, until int) Field {
	from, until = max(0, from), min(until, len(f.text))
	if from >= until {
		return f
	}
	f.text = slices.Concat(f.text[:from], f.text[until:])
	f.cursor = from
	return f
}

func (f Field) to(cursor int) Field {
	f.cursor = max(0, min(cursor, len(f.text)))
	return f
}

func (f Field) lineStart() int {
	i := f.cursor
	for i > 0 && f.text[i-1] != '\n' {
		i--
	}
	return i
}

func (f Field) lineEnd() int {
	i := f.cursor
	for i < len(f.text) && f.text[i] != '\n' {
		i++
	}
	return i
}

func (f Field) wordLeft() int {
	i := f.cursor
	for i > 0 && unicode.IsSpace(f.text[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(f.text[i-1]) {
		i--
	}
	return i
}

func (f Field) wordRight() int {
	i := f.cursor
	for i < len(f.text) && unicode.IsSpace(f.text[i]) {
		i++
	}
	for i < len(f.text) && !unicode.IsSpace(f.text[i]) {
		i++
	}
	return i
}
