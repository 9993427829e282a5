// Package styles holds the colours, glyphs and the theme of the dashboard. It
// knows terminals (how many colours, dark or light, which characters) and
// nothing of queues or of what is drawn with it.
//
// It has three layers: tokens (which colours there are, tokens.go), inks (how a
// colour becomes an escape sequence, ink.go) and the theme (which ink means
// what, theme.go).
package styles
