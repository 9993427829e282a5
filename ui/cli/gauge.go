package cli

import (
	"fmt"
	"io"
	"time"
)

// gauge is a line on standard error that tells a person how far something is. Where
// nobody watches it tells nothing.
type gauge struct {
	to    io.Writer // nil: nobody watches
	there bool      // the line is
	shown time.Time // when it was written last
}

// gaugeEvery is how often the line changes.
const gaugeEvery = 200 * time.Millisecond

// clearLine takes back what stands on the line of a terminal.
const clearLine = "\r\x1b[K"

func (r *run) newGauge() *gauge {
	if f, ok := terminalOf(r.Stderr); ok {
		return &gauge{to: f}
	}
	return &gauge{}
}

func (g *gauge) show(format string, args ...any) {
	if g.to == nil || g.there && time.Since(g.shown) < gaugeEvery {
		return
	}
	if g.there {
		fmt.Fprint(g.to, clearLine)
	}
	g.there, g.shown = true, time.Now()
	fmt.Fprintf(g.to, format, args...)
}

// clear takes the line away.
func (g *gauge) clear() {
	if g.there {
		fmt.Fprint(g.to, clearLine)
	}
	g.there = false
}
