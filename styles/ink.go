package styles

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"
)

// reset ends every painted piece of text.
const reset = "\x1b[0m"

// Ink paints text. It is worked out once from a lipgloss style: to paint is
// then to put two strings around the text, where lipgloss would take
// microseconds and a score of allocations for every cell. The zero Ink leaves
// text as it is.
type Ink struct{ open string }

// Paint returns s in this ink. s holds no escape sequences.
func (i Ink) Paint(s string) string {
	if i.open == "" || s == "" {
		return s
	}
	return i.open + s + reset
}

// Over paints a line that may hold painted pieces already: they keep their own
// colours and get this ink's background (or, of a plain line, its foreground).
func (i Ink) Over(line string) string {
	if i.open == "" || line == "" {
		return line
	}
	return i.open + strings.ReplaceAll(line, reset, reset+i.open) + reset
}

// look says how an ink looks before it is known what the terminal can do.
type look struct {
	fg, bg  lipgloss.TerminalColor
	bold    bool
	reverse bool
	// mono is how it looks without colours: attributes only, since a terminal
	// under NO_COLOR still has bold and reverse.
	mono ansi.Style
}

// inkOf turns looks into inks for the terminal that r describes.
func inkOf(r *lipgloss.Renderer, l look) Ink {
	if r.ColorProfile() == termenv.Ascii {
		if len(l.mono) == 0 {
			return Ink{}
		}
		return Ink{open: l.mono.String()}
	}
	s := r.NewStyle().Bold(l.bold).Reverse(l.reverse)
	if l.fg != nil {
		s = s.Foreground(l.fg)
	}
	if l.bg != nil {
		s = s.Background(l.bg)
	}
	open, _, _ := strings.Cut(s.Render("x"), "x")
	return Ink{open: open}
}
