package styles

import "github.com/charmbracelet/lipgloss"

// palette names every colour redq uses. Each is given for true colour, for 256
// and for 16 colours: the automatic fall-back picks the nearest, which among 16
// is often not a legible one.
type palette struct {
	muted, stale, faint, accent, good, warn, bad, later, trend lipgloss.CompleteColor

	// selection lies under the row of the cursor, so every colour above must be
	// legible on it.
	selection lipgloss.CompleteColor

	// onBadge is written on a badge, whose ground is one of the colours above.
	onBadge lipgloss.CompleteColor
}

func colour(trueColor, ansi256, ansi string) lipgloss.CompleteColor {
	return lipgloss.CompleteColor{TrueColor: trueColor, ANSI256: ansi256, ANSI: ansi}
}

// darkPalette is for light text on a dark ground.
func darkPalette() palette {
	return palette{
		muted:     colour("#9aa5b8", "247", "7"),
		stale:     colour("#7f8a9e", "244", "8"),
		faint:     colour("#5c677d", "241", "8"),
		accent:    colour("#6cb8ff", "75", "14"),
		good:      colour("#5fd38d", "78", "10"),
		warn:      colour("#f2b84b", "215", "11"),
		bad:       colour("#ff6f6f", "203", "9"),
		later:     colour("#b79bff", "141", "13"),
		trend:     colour("#5b8fc4", "68", "12"),
		selection: colour("#253349", "236", "4"),
		onBadge:   colour("#11151c", "233", "0"),
	}
}

// lightPalette is for dark text on a light ground.
func lightPalette() palette {
	return palette{
		muted:     colour("#566072", "241", "8"),
		stale:     colour("#76808f", "244", "8"),
		faint:     colour("#8f99aa", "247", "8"),
		accent:    colour("#0a5fc2", "26", "4"),
		good:      colour("#187a38", "28", "2"),
		warn:      colour("#8f5b00", "94", "3"),
		bad:       colour("#c3221c", "160", "1"),
		later:     colour("#6e3cc4", "92", "5"),
		trend:     colour("#5a8fd0", "68", "12"),
		selection: colour("#dce8f8", "254", "7"),
		onBadge:   colour("#ffffff", "231", "15"),
	}
}
