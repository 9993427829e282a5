package ui

import (
	"math"
	"strings"

	"redq/styles"
)

// gap stands for a value that is not known: nothing is drawn for it, which is
// not the same as a drawn 0.
var gap = math.NaN()

// sparkline draws values, one a cell, as bars against the largest of them. A
// flat line of something is drawn half high: it is neither empty nor full. The
// highest bar leaves a rim, so that it does not grow into the row above.
func sparkline(g styles.Glyphs, values []float64) string {
	steps := g.Steps[:len(g.Steps)-1]
	top := highest(values)
	flat := top > 0 && lowest(values) == top
	var b strings.Builder
	for _, v := range values {
		switch {
		case math.IsNaN(v):
			b.WriteByte(' ')
		case flat:
			b.WriteString(steps[len(steps)/2])
		default:
			b.WriteString(steps[max(barHeight(v, top, len(steps))-1, 0)])
		}
	}
	return b.String()
}

// bar draws a lying bar for v of top in at most w cells. What is more than 0 is
// always seen.
func bar(g styles.Glyphs, v, top int64, w int) string {
	if v <= 0 || top <= 0 || w <= 0 {
		return ""
	}
	parts := len(g.Eighths)
	n := int(math.Round(float64(v) / float64(top) * float64(w*parts)))
	n = min(max(n, 1), w*parts)
	s := strings.Repeat(g.Eighths[parts-1], n/parts)
	if rest := n % parts; rest > 0 {
		s += g.Eighths[rest-1]
	}
	return s
}

// area draws values, one a column, as a filled curve h lines high whose foot is
// 0 and whose top is top. Each line has the ink of its height. (The charts of
// NimbleMarkets/ntcharts paint cell by cell and take some 40 times as long.)
func area(th styles.Theme, values []float64, top float64, h int) []string {
	if h <= 0 {
		return nil
	}
	steps := th.Glyphs.Steps
	n := len(steps)
	heights := make([]int, len(values))
	for i, v := range values {
		heights[i] = -1
		if !math.IsNaN(v) {
			heights[i] = barHeight(v, top, h*n)
		}
	}
	lines := make([]string, h)
	var b strings.Builder
	for row := range h {
		b.Reset()
		foot := (h - 1 - row) * n // height of this line's lower edge
		for _, height := range heights {
			switch {
			case height >= foot+n:
				b.WriteString(steps[n-1])
			case height > foot:
				b.WriteString(steps[height-foot-1])
			case height == 0 && foot == 0:
				b.WriteString(steps[0])
			default:
				b.WriteByte(' ')
			}
		}
		lines[row] = rampAt(th, h-1-row, h).Paint(b.String())
	}
	return lines
}

// barHeight returns the height of v in steps: at least one for what is more than 0.
func barHeight(v, top float64, steps int) int {
	if v <= 0 || top <= 0 {
		return 0
	}
	return min(max(int(math.Round(v/top*float64(steps))), 1), steps)
}

// rampAt returns the ink for the i-th of n lines, counted from the foot.
func rampAt(th styles.Theme, i, n int) styles.Ink {
	if n <= 1 {
		return th.Ramp[len(th.Ramp)-1]
	}
	return th.Ramp[i*(len(th.Ramp)-1)/(n-1)]
}

func highest(values []float64) float64 {
	top := math.Inf(-1)
	for _, v := range values {
		if v > top {
			top = v
		}
	}
	return top
}

func lowest(values []float64) float64 {
	low := math.Inf(1)
	for _, v := range values {
		if v < low {
			low = v
		}
	}
	return low
}

// niceTop rounds the top of an axis up to a number that is easy to halve and read.
func niceTop(v float64) float64 {
	if v <= 4 {
		return 4
	}
	scale := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10} {
		if top := f * scale; top >= v && top == math.Trunc(top) {
			return top
		}
	}
	return math.Ceil(v)
}
