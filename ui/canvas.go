package ui

import (
	"strings"

	"redq/model"
)

// put draws lines into r.
func (p painter) put(r model.Rect, lines ...string) {
	for i := range lines {
		lines[i] = p.Base.Over(lines[i])
	}
	p.canvas.put(r, lines...)
}

// canvas is a screen under construction. Pieces are put into rectangles that do
// not overlap, left before right; what is not covered stays blank.
type canvas struct {
	w, h int
	rows [][]piece
}

type piece struct {
	x, w int
	text string
}

// piecesPerRow is how many rectangles lie beside each other at most.
const piecesPerRow = 3

func newCanvas(w, h int) *canvas {
	c := &canvas{w: w, h: h, rows: make([][]piece, h)}
	pieces := make([]piece, h*piecesPerRow)
	for i := range c.rows {
		c.rows[i] = pieces[i*piecesPerRow : i*piecesPerRow : (i+1)*piecesPerRow]
	}
	return c
}

// put draws lines into r: each is cut or filled to the width of r, and no more
// of them are drawn than r is high.
func (c *canvas) put(r model.Rect, lines ...string) {
	for i := range min(r.H, len(lines)) {
		y, w := r.Y+i, min(r.W, c.w-r.X)
		if y < 0 || y >= c.h || r.X < 0 || w <= 0 {
			continue
		}
		c.rows[y] = append(c.rows[y], piece{x: r.X, w: w, text: lines[i]})
	}
}

// lines returns the rows of the screen. Each piece is cut and filled to its width,
// but for the last of a row: frame does that.
func (c *canvas) lines() []string {
	out := make([]string, c.h)
	var b strings.Builder
	for y, row := range c.rows {
		if len(row) == 1 && row[0].x == 0 && row[0].w == c.w {
			out[y] = row[0].text
			continue
		}
		b.Reset()
		b.Grow(2 * c.w)
		x := 0
		for _, p := range row {
			if p.x < x {
				continue
			}
			b.WriteString(blanks(p.x - x))
			x = p.x + p.w
			if x == c.w {
				b.WriteString(p.text)
				break
			}
			text := cut(p.text, p.w, "")
			b.WriteString(text)
			b.WriteString(blanks(p.w - width(text)))
		}
		out[y] = b.String()
	}
	return out
}
