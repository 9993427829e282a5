package styles

import (
	"github.com/charmbracelet/lipgloss"
	"github.com/lucasb-eyer/go-colorful"
)

// rampSteps is how many shades a chart has from foot to top.
const rampSteps = 8

// blend returns n inks from one colour to another. Colours that cannot be read
// give the first alone: a chart in one colour is better than none.
func blend(r *lipgloss.Renderer, from, to lipgloss.CompleteColor, n int) []Ink {
	a, errA := colorful.Hex(from.TrueColor)
	b, errB := colorful.Hex(to.TrueColor)
	if errA != nil || errB != nil {
		return []Ink{inkOf(r, look{fg: from})}
	}
	inks := make([]Ink, n)
	for i := range inks {
		shade := a.BlendLuv(b, float64(i)/float64(n-1)).Clamped().Hex()
		inks[i] = inkOf(r, look{fg: lipgloss.Color(shade)})
	}
	return inks
}
