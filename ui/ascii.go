package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// asciiOnly returns the line for a terminal that shows nothing but ASCII: signs
// become their nearest, other characters as many question marks as they take cells.
func asciiOnly(line string) string {
	if isASCII(line) {
		return line
	}
	var b strings.Builder
	for i := 0; i < len(line); {
		if line[i] < 0x80 {
			b.WriteByte(line[i])
			i++
			continue
		}
		cluster, cells := ansi.FirstGraphemeCluster(line[i:], ansi.GraphemeWidth)
		b.WriteString(nearestASCII(cluster, cells))
		i += len(cluster)
	}
	return b.String()
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// nearestASCII stands for a character that takes some cells.
func nearestASCII(cluster string, cells int) string {
	switch cluster {
	case "−", "–":
		return "-"
	case "≥", "→", "›":
		return ">"
	case "←":
		return "<"
	case "↑":
		return "^"
	case "↓":
		return "v"
	case "…":
		return "~"
	case "·":
		return "."
	case "×":
		return "x"
	case "±":
		return "~"
	}
	return strings.Repeat("?", cells)
}
