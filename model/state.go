package model

import (
	"time"
)

// Screen names a page.
type Screen uint8

// The pages.
const (
	OverviewScreen Screen = iota
	QueueScreen
	MessageScreen
	ConsumerScreen // the consumers that this redq runs
)

// Mode says who reads the keys.
type Mode uint8

// The modes, in rising order of precedence.
const (
	NormalMode Mode = iota // keys are actions
	PromptMode             // keys are text of the filter or the command line
	DialogMode             // keys belong to the dialog
	HelpMode               // keys scroll or close the help
)

// Mode tells who reads the keys.
func (m Model) Mode() Mode {
	switch {
	case m.HelpOpen:
		return HelpMode
	case m.Dialog != nil:
		return DialogMode
	case m.Prompt.Kind != NoPrompt:
		return PromptMode
	}
	return NormalMode
}

// onQueue reports whether a queue's page, or a message of it, is in front.
func (m Model) onQueue() bool { return m.Screen == QueueScreen || m.Screen == MessageScreen }

// ServerNow is the server's clock at the last message, as far as is known.
func (m Model) ServerNow() time.Time { return m.Now.Add(m.Conn.Offset) }

// Row returns what is known of a queue.
func (m Model) Row(name string) (Row, bool) {
	for _, r := range m.Overview.Rows {
		if r.Queue.Name == name {
			return r, true
		}
	}
	return Row{}, false
}

// Stale reports whether the numbers on screen are old: the server does not
// answer, or the view is frozen. age is how old they are.
func (m Model) Stale() (age time.Duration, stale bool) {
	if m.Cost.At.IsZero() || (m.Conn.Down == nil && !m.Frozen) {
		return 0, false
	}
	return m.Now.Sub(m.Cost.At), true
}
