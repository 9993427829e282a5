package uitest

import "github.com/charmbracelet/x/ansi"

// Sequences returns all escape sequences and control characters in what a
// program wrote, in order.
func Sequences(raw []byte) []string {
	var all []string
	p := ansi.NewParser()
	var state byte
	for len(raw) > 0 {
		seq, width, n, next := ansi.DecodeSequence(raw, state, p)
		if width == 0 && n > 0 && (seq[0] < 0x20 || seq[0] >= 0x7f && seq[0] < 0xa0) {
			all = append(all, string(seq))
		}
		state, raw = next, raw[n:]
	}
	return all
}
