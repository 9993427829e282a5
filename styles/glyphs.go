package styles

import "strings"

// Glyphs are the signs that are not letters. All are one cell wide, but for the
// boxes of a form, which are three.
type Glyphs struct {
	ASCII bool // the terminal shows nothing else, so all text must be turned into it

	Cursor string // in front of the row under the cursor
	Mark   string // a marked row
	Next   string // the message that runs next

	// Health, told apart by shape as well as by colour.
	Good, Busy, Warn, Bad, Idle, Unknown string

	Absent   string // a value that does not exist
	Ellipsis string // where text was cut
	Sep      string // between parts of a path
	Dot      string // between parts of a line
	AtLeast  string // in front of a lower bound
	Minus    string
	Up, Down string // sort direction, more above and below
	Radio    string // the chosen one of several
	RadioOff string
	Check    string // an option that is on
	CheckOff string

	// Steps are the heights of a bar in one cell, lowest first; the last fills it.
	Steps []string
	// Eighths are the lengths of a lying bar in one cell, shortest first; the last fills it.
	Eighths []string

	Border Border
}

// Border draws boxes, rules and axes.
type Border struct {
	TopLeft, TopRight, BottomLeft, BottomRight string
	Horizontal, Vertical                       string
	Tick, Foot                                 string // of a chart's axis: at a label, in the corner
	Thumb                                      string // the part of a scroll bar that is seen
}

// UnicodeGlyphs are for terminals that show UTF-8.
func UnicodeGlyphs() Glyphs {
	return Glyphs{
		Cursor: "▌", Mark: "*", Next: "▸",
		Good: "●", Busy: "◐", Warn: "▲", Bad: "✗", Idle: "○", Unknown: "?",
		Absent: "–", Ellipsis: "…", Sep: "›", Dot: "·", AtLeast: "≥", Minus: "−",
		Up: "▴", Down: "▾", Radio: "(•)", RadioOff: "( )", Check: "[x]", CheckOff: "[ ]",
		Steps:   []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
		Eighths: []string{"▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"},
		Border: Border{
			TopLeft: "╭", TopRight: "╮", BottomLeft: "╰", BottomRight: "╯",
			Horizontal: "─", Vertical: "│", Tick: "┤", Foot: "└", Thumb: "┃",
		},
	}
}

// ASCIIGlyphs are for terminals and locales that show nothing else.
func ASCIIGlyphs() Glyphs {
	return Glyphs{
		ASCII:  true,
		Cursor: ">", Mark: "*", Next: "n",
		Good: "o", Busy: "~", Warn: "!", Bad: "X", Idle: ".", Unknown: "?",
		Absent: "-", Ellipsis: "~", Sep: ">", Dot: "-", AtLeast: ">", Minus: "-",
		Up: "^", Down: "v", Radio: "(*)", RadioOff: "( )", Check: "[x]", CheckOff: "[ ]",
		Steps:   []string{"_", ".", ":", "-", "=", "+", "*", "#"},
		Eighths: []string{"-", "=", "#"},
		Border: Border{
			TopLeft: "+", TopRight: "+", BottomLeft: "+", BottomRight: "+",
			Horizontal: "-", Vertical: "|", Tick: "|", Foot: "+", Thumb: "#",
		},
	}
}

// DetectGlyphs chooses by the environment, as getenv tells it: plain ASCII on
// the Linux console and dumb terminals, whose fonts have no more, and in
// locales that are not UTF-8.
func DetectGlyphs(getenv func(string) string) Glyphs {
	switch getenv("TERM") {
	case "linux", "dumb":
		return ASCIIGlyphs()
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := getenv(name); v != "" {
			v = strings.ToUpper(v)
			if strings.Contains(v, "UTF-8") || strings.Contains(v, "UTF8") {
				return UnicodeGlyphs()
			}
			return ASCIIGlyphs()
		}
	}
	// No locale at all is usual over SSH and in containers, and says nothing of
	// the terminal at the other end, which nearly always shows UTF-8.
	return UnicodeGlyphs()
}
