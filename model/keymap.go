package model

import (
	"fmt"
	"slices"

	"github.com/charmbracelet/bubbles/key"

	"redq/queue"
)

// Action is what a key does.
type Action string

// The actions. Those of the tabs are named as the places are.
const (
	ActUp       Action = "up"
	ActDown     Action = "down"
	ActTop      Action = "top"
	ActBottom   Action = "bottom"
	ActPageDown Action = "page down"
	ActPageUp   Action = "page up"
	ActEnter    Action = "enter"
	ActBack     Action = "back"
	ActNextTab  Action = "next tab"
	ActPrevTab  Action = "previous tab"
	ActTab1     Action = Action(queue.Ready)
	ActTab2     Action = Action(queue.Backup)
	ActTab3     Action = Action(queue.Delayed)
	ActTab4     Action = Action(queue.Dead)
	ActPrevious Action = "previous message"
	ActNext     Action = "next message"

	ActFilter  Action = "filter"
	ActCommand Action = "command"
	ActHelp    Action = "help"
	ActSort    Action = "sort"
	ActReverse Action = "reverse"
	ActTrouble Action = "trouble"
	ActFreeze  Action = "freeze"
	ActRefresh Action = "refresh"
	ActFaster  Action = "faster"
	ActSlower  Action = "slower"
	ActView    Action = "view"
	ActCopy    Action = "copy"

	ActMark       Action = "mark"
	ActMarkAll    Action = "mark all"
	ActRedrive    Action = "redrive"
	ActEnqueue    Action = "enqueue"
	ActReschedule Action = "reschedule"
	ActDelete     Action = "delete"
	ActPurge      Action = "purge"
	ActUndo       Action = "undo"

	ActQuit    Action = "quit"    // back, and on the overview quit
	ActKill    Action = "kill"    // quit from anywhere
	ActSuspend Action = "suspend" // to the shell's job control
)

// KeyBinding is one action with its keys, as data: what the router looks up and
// what the help shows.
type KeyBinding struct {
	Action  Action
	Binding key.Binding
	Group   string   // title in the help
	Screens []Screen // where it works
	Writes  bool     // refused and not shown when read-only
	Hint    bool     // on the footer, where there is room
	// Allowed tells whether the action can be done now, and if not why; nil means always.
	Allowed func(Model) (ok bool, why string)
}

// The groups of the help.
const (
	groupMove    = "Move"
	groupLook    = "Look"
	groupRepair  = "Repair"
	groupProgram = "Program"
)

// keyMap returns all keys, in the order of the help.
func keyMap() []KeyBinding {
	all := []Screen{OverviewScreen, QueueScreen, MessageScreen}
	lists := []Screen{OverviewScreen, QueueScreen}
	overview := []Screen{OverviewScreen}
	tabs := []Screen{QueueScreen}
	messages := []Screen{QueueScreen, MessageScreen}
	message := []Screen{MessageScreen}
	bind := func(help, does string, keys ...string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, does))
	}
	tab := func(a Action, n string) KeyBinding {
		return KeyBinding{Action: a, Binding: bind(n, string(a), n), Group: groupMove, Screens: tabs}
	}
	return []KeyBinding{
		{Action: ActDown, Binding: bind("j ↓", "down", "j", "down"), Group: groupMove, Screens: all},
		{Action: ActUp, Binding: bind("k ↑", "up", "k", "up"), Group: groupMove, Screens: all},
		{Action: ActTop, Binding: bind("g", "first", "g", "home"), Group: groupMove, Screens: all},
		{Action: ActBottom, Binding: bind("G", "last", "G", "end"), Group: groupMove, Screens: all},
		{Action: ActPageDown, Binding: bind("ctrl+f", "page down", "ctrl+f", "pgdown"), Group: groupMove, Screens: all},
		{Action: ActPageUp, Binding: bind("ctrl+b", "page up", "ctrl+b", "pgup"), Group: groupMove, Screens: all},
		{Action: ActEnter, Binding: bind("enter", "open", "enter"), Group: groupMove, Screens: lists, Hint: true, Allowed: Model.canEnter},
		{Action: ActBack, Binding: bind("esc", "back, clear the filter", "esc"), Group: groupMove, Screens: all},
		{Action: ActNextTab, Binding: bind("tab", "next tab", "tab"), Group: groupMove, Screens: tabs},
		{Action: ActPrevTab, Binding: bind("shift+tab", "previous tab", "shift+tab"), Group: groupMove, Screens: tabs},
		tab(ActTab1, "1"), tab(ActTab2, "2"), tab(ActTab3, "3"), tab(ActTab4, "4"),
		{Action: ActNext, Binding: bind("l →", "next message", "l", "right"), Group: groupMove, Screens: message},
		{Action: ActPrevious, Binding: bind("h ←", "previous message", "h", "left"), Group: groupMove, Screens: message},

		{Action: ActRedrive, Binding: bind("r", "re-drive", "r"), Group: groupRepair, Screens: messages, Writes: true, Hint: true, Allowed: Model.canRedrive},
		{Action: ActDelete, Binding: bind("D", "delete", "D"), Group: groupRepair, Screens: messages, Writes: true, Hint: true, Allowed: Model.canAct},
		{Action: ActReschedule, Binding: bind("t", "reschedule", "t"), Group: groupRepair, Screens: messages, Writes: true, Allowed: Model.canReschedule},
		{Action: ActEnqueue, Binding: bind("n", "enqueue", "n"), Group: groupRepair, Screens: all, Writes: true, Hint: true, Allowed: Model.canEnqueue},
		{Action: ActPurge, Binding: bind("X", "purge the place", "X"), Group: groupRepair, Screens: tabs, Writes: true, Allowed: Model.canPurge},
		{Action: ActUndo, Binding: bind("u", "undo", "u"), Group: groupRepair, Screens: all, Writes: true},
		{Action: ActMark, Binding: bind("space", "mark", " "), Group: groupRepair, Screens: tabs, Hint: true, Allowed: Model.canMark},
		{Action: ActMarkAll, Binding: bind("*", "mark all that match", "*"), Group: groupRepair, Screens: tabs, Allowed: Model.canMark},

		{Action: ActFilter, Binding: bind("/", "filter", "/"), Group: groupLook, Screens: lists, Hint: true},
		{Action: ActSort, Binding: bind("s", "sort by next column", "s"), Group: groupLook, Screens: overview},
		{Action: ActReverse, Binding: bind("S", "reverse the sort", "S"), Group: groupLook, Screens: overview},
		{Action: ActTrouble, Binding: bind("z", "only trouble", "z"), Group: groupLook, Screens: overview, Hint: true},
		{Action: ActView, Binding: bind("o", "pretty, raw, hex", "o"), Group: groupLook, Screens: message, Hint: true, Allowed: Model.canView},
		{Action: ActCopy, Binding: bind("y", "copy payload", "y"), Group: groupLook, Screens: messages, Allowed: Model.canCopy},
		{Action: ActFreeze, Binding: bind("p", "freeze the view", "p"), Group: groupLook, Screens: all},
		{Action: ActRefresh, Binding: bind("R", "refresh now", "R"), Group: groupLook, Screens: all},
		{Action: ActFaster, Binding: bind("+", "refresh faster", "+", "="), Group: groupLook, Screens: all},
		{Action: ActSlower, Binding: bind("-", "refresh slower", "-"), Group: groupLook, Screens: all},

		{Action: ActCommand, Binding: bind(":", "command line", ":"), Group: groupProgram, Screens: all},
		{Action: ActQuit, Binding: bind("q", "back, quit", "q"), Group: groupProgram, Screens: all},
		{Action: ActKill, Binding: bind("ctrl+c", "quit", "ctrl+c"), Group: groupProgram, Screens: all},
		{Action: ActSuspend, Binding: bind("ctrl+z", "suspend", "ctrl+z"), Group: groupProgram, Screens: all},
		{Action: ActHelp, Binding: bind("?", "help", "?"), Group: groupProgram, Screens: all, Hint: true},
	}
}

// shows reports whether a key is in the help of the screen in front.
func (m Model) shows(k KeyBinding) bool {
	return slices.Contains(k.Screens, m.Screen) && !(k.Writes && m.ReadOnly)
}

// HelpGroups returns the keys that do something on the screen in front.
func (m Model) HelpGroups() []HelpGroup {
	var groups []HelpGroup
	for _, title := range []string{groupMove, groupLook, groupRepair, groupProgram} {
		g := HelpGroup{Title: title}
		for _, k := range m.keys {
			if k.Group == title && m.shows(k) {
				g.Bindings = append(g.Bindings, k.Binding)
			}
		}
		if len(g.Bindings) > 0 {
			groups = append(groups, g)
		}
	}
	return groups
}

// HelpGroup is one group of the help.
type HelpGroup struct {
	Title    string
	Bindings []key.Binding
}

// Hints returns the keys for the footer: those that can be used now, the help last.
func (m Model) Hints() []key.Binding {
	var hints []key.Binding
	for _, k := range m.keys {
		if k.Hint && m.shows(k) && m.refusal(k) == "" {
			hints = append(hints, k.Binding)
		}
	}
	return hints
}

// refusal tells why an action cannot be done now; "" when it can.
func (m Model) refusal(k KeyBinding) string {
	does := k.Binding.Help().Desc
	switch {
	case k.Writes && m.ReadOnly:
		return fmt.Sprintf("%s is off: read-only", does)
	case !slices.Contains(k.Screens, m.Screen):
		return fmt.Sprintf("%s %s: %s", k.Binding.Help().Key, does, elsewhere(k, m.Screen))
	}
	if k.Allowed == nil {
		return ""
	}
	if ok, why := k.Allowed(m); !ok {
		return why
	}
	return ""
}

// elsewhere tells where a key works that does not on the screen in front.
func elsewhere(k KeyBinding, now Screen) string {
	switch {
	case now == OverviewScreen && slices.Contains(k.Screens, QueueScreen):
		return "open a queue first (enter)"
	case slices.Contains(k.Screens, MessageScreen):
		return "open a message first (enter)"
	case slices.Contains(k.Screens, QueueScreen):
		return "on the queue's page (esc)"
	}
	return "on the overview (esc)"
}

func (m Model) canEnter() (bool, string) {
	if m.Screen == OverviewScreen {
		if _, ok := m.Overview.Selected(); ok {
			return true, ""
		}
		return false, "no queue to open"
	}
	if _, ok := m.Queue.List().Selected(); ok {
		return true, ""
	}
	_, why := m.Queue.List().chosen()
	return false, why
}

// canAct tells whether there are messages for an action.
func (m Model) canAct() (bool, string) {
	if m.Screen == MessageScreen {
		if m.Message.Gone {
			return false, "already gone: this message left " + string(m.Message.Message.Place) + ", nothing was done"
		}
		return true, ""
	}
	l := m.Queue.List()
	if l.Gone && l.Marks.Len() == 0 {
		return false, "already gone: the selected message was taken or moved, nothing was done; the cursor is on its neighbour"
	}
	ms, why := l.chosen()
	return len(ms) > 0, why
}

func (m Model) canRedrive() (bool, string) {
	if m.Queue.Place == queue.Ready {
		return false, "these messages are in ready already: re-drive is for backup, delayed and dead"
	}
	if _, to := m.Queue.Queue.RedriveTarget(); to == "" {
		return false, "this queue has no ready list to re-drive to"
	}
	return m.canAct()
}

func (m Model) canReschedule() (bool, string) {
	if m.Queue.Place != queue.Delayed {
		return false, "only delayed messages have a due time"
	}
	return m.canAct()
}

func (m Model) canMark() (bool, string) {
	l := m.Queue.List()
	if _, ok := l.Selected(); ok {
		return true, ""
	}
	_, why := l.chosen()
	return false, why
}

func (m Model) canPurge() (bool, string) {
	l := m.Queue.List()
	switch {
	case l.Loaded && l.Total == 0 && l.Search.Text == "":
		return false, fmt.Sprintf("no message in %s", l.Place)
	case l.Search.Text != "":
		return false, "purge takes the whole place: clear the filter first (esc), or mark all that match (*) and delete"
	}
	return true, ""
}

func (m Model) canEnqueue() (bool, string) {
	q, ok := m.selectedQueue()
	if !ok {
		return false, "no queue to enqueue to"
	}
	if !q.Has(queue.Ready) && !q.Has(queue.Delayed) {
		return false, "this queue has neither a ready list nor a delayed set"
	}
	return true, ""
}

func (m Model) canView() (bool, string) {
	return m.Message.Loaded, "the payload is still being read"
}

func (m Model) canCopy() (bool, string) {
	if m.cfg.Copy == nil {
		return false, "this terminal has no clipboard for redq"
	}
	msg := m.Message.Message
	if m.Screen == QueueScreen {
		row, ok := m.Queue.List().Selected()
		if !ok {
			_, why := m.Queue.List().chosen()
			return false, why
		}
		msg = row.Message
	}
	why := copyRefusal(msg.Size)
	return why == "", why
}
