package ui

import (
	"fmt"

	"redq/model"
)

// tooSmall is all that is shown on a terminal that no page fits: how large it
// must be, in as many words as there is room for.
func tooSmall(w, h int) []string {
	need := fmt.Sprintf("%dx%d", model.MinWidth, model.MinHeight)
	for _, s := range []string{
		fmt.Sprintf("redq needs a terminal of %s; this one is %dx%d.", need, w, h),
		"needs " + need,
		need,
	} {
		lines := wrap(s, w)
		if len(lines) > h || widest(lines) > w || len(lines) > 1 && w < len(need) {
			continue
		}
		out := make([]string, (h-len(lines))/2, h)
		for _, l := range lines {
			out = append(out, center(l, w))
		}
		return out
	}
	return []string{cut(need, w, "")}
}

func widest(lines []string) int {
	w := 0
	for _, l := range lines {
		w = max(w, width(l))
	}
	return w
}
