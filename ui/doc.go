// Package ui shows the state of redq/model on a terminal: functions from the
// state to text, and the one tea.Model that wraps it. It knows how things look
// and never what they mean: it changes no state, asks no server and reads no
// clock but the one the state was given.
//
// A page is drawn into the rectangles that the model laid out; every frame is
// exactly as many lines of exactly as many cells as the terminal has.
package ui
