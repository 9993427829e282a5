package model

// This file tells when the keys that are about consumers can be used.

// notMessages is said to an action on messages where there are none.
const notMessages = "these are consumers, not messages: 1 to 4 show the messages"

func (m Model) hasScenes() bool { return len(m.Scenes()) > 0 }

func (m Model) hasConsumer() (bool, string) {
	_, ok := m.Consumer.Selected()
	return ok, "no consumer runs here: c starts one"
}

func (m Model) canConsume() (bool, string) {
	_, ok := m.selectedQueue()
	return ok, "no queue to consume: select one first"
}

func (m Model) canStop() (bool, string) {
	if ok, why := m.hasConsumer(); !ok {
		return false, why
	}
	switch c, _ := m.Consumer.Selected(); {
	case c.State == RunAbandoning:
		return false, "this consumer was abandoned: it ends in a moment"
	case c.State.Ended():
		return false, "this consumer has " + endedWord(c.State) + ": r starts it again, D takes it off this page"
	}
	return true, ""
}

func endedWord(s RunState) string {
	if s == RunStopped {
		return "ended"
	}
	return "ended (" + s.String() + ")"
}

func (m Model) canRestart() (bool, string) {
	if ok, why := m.hasConsumer(); !ok {
		return false, why
	}
	c, _ := m.Consumer.Selected()
	return c.State.Ended(), "this consumer still runs: x stops it, c starts one more"
}

func (m Model) canRemove() (bool, string) {
	if ok, why := m.hasConsumer(); !ok {
		return false, why
	}
	c, _ := m.Consumer.Selected()
	return c.State.Ended(), "this consumer still runs: x stops it first"
}

// canEnterConsumer tells whether the selected line of the consumers tab has a page.
func (m Model) canEnterConsumer() (bool, string) {
	row, ok := m.SelectedConsumer()
	switch {
	case !ok:
		return false, "nobody to open"
	case row.Own.ID == 0:
		return false, "this one runs elsewhere: only the consumers of this redq have a page"
	}
	return true, ""
}

func (m Model) canFilter() (bool, string) {
	if m.Screen == MessageScreen {
		return false, "a message cannot be filtered"
	}
	return !m.onConsumersTab(), "consumers are not filtered: 1 to 4 show the messages"
}

// canSuspend refuses to stop the process in the middle of work: its consumers
// would be taken for dead, and what they hold would be handled twice.
func (m Model) canSuspend() (bool, string) {
	return !m.Consumer.busy(), "suspend would freeze the consumers in the middle of their work: stop them first (c, x)"
}
