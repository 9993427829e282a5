package model

import (
	"fmt"
	"slices"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

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
	ActTab5     Action = Action(ConsumersTab)
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
	ActEdit       Action = "edit"
	ActDelete     Action = "delete"
	ActPurge      Action = "purge"
	ActExport     Action = "export"
	ActUndo       Action = "undo"

	ActConsume Action = "consume" // the consumers of this redq, or the form for one
	ActStop    Action = "stop"    // the consumer in front
	ActRestart Action = "restart"
	ActRemove  Action = "remove"
	ActScenes  Action = "scenes" // of the demo
	ActJobs    Action = "jobs"

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
	// Here tells whether the key exists at all; nil means it does. One that does not is
	// neither in the help nor does it say why it does nothing.
	Here func(Model) bool
	// Allowed tells whether the action can be done now, and if not why; nil means always.
	Allowed func(Model) (ok bool, why string)
}

// The groups of the help.
const (
	groupMove    = "Move"
	groupLook    = "Look"
	groupRepair  = "Repair"
	groupConsume = "Consume"
	groupProgram = "Program"
)

// keyMap returns all keys, in the order of the help.
func keyMap() []KeyBinding {
	all := []Screen{OverviewScreen, QueueScreen, MessageScreen, ConsumerScreen}
	lists := []Screen{OverviewScreen, QueueScreen}
	filtered := []Screen{OverviewScreen, QueueScreen, ConsumerScreen}
	elsewhere := []Screen{OverviewScreen, QueueScreen, MessageScreen}
	consumers := []Screen{ConsumerScreen}
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
		tab(ActTab1, "1"), tab(ActTab2, "2"), tab(ActTab3, "3"), tab(ActTab4, "4"), tab(ActTab5, "5"),
		{Action: ActEnter, Binding: bind("enter", "its queue", "enter"), Group: groupMove, Screens: consumers, Allowed: Model.hasConsumer},
		{Action: ActNextTab, Binding: bind("tab", "next consumer", "tab"), Group: groupMove, Screens: consumers, Allowed: Model.hasConsumer},
		{Action: ActPrevTab, Binding: bind("shift+tab", "previous consumer", "shift+tab"), Group: groupMove, Screens: consumers, Allowed: Model.hasConsumer},
		{Action: ActNext, Binding: bind("l →", "next message", "l", "right"), Group: groupMove, Screens: message},
		{Action: ActPrevious, Binding: bind("h ←", "previous message", "h", "left"), Group: groupMove, Screens: message},

		{Action: ActRedrive, Binding: bind("r", "re-drive", "r"), Group: groupRepair, Screens: messages, Writes: true, Hint: true, Allowed: Model.canRedrive},
		{Action: ActDelete, Binding: bind("D", "delete", "D"), Group: groupRepair, Screens: messages, Writes: true, Hint: true, Allowed: Model.canAct},
		{Action: ActEdit, Binding: bind("e", "edit in $EDITOR", "e"), Group: groupRepair, Screens: messages, Writes: true, Allowed: Model.canEdit},
		{Action: ActReschedule, Binding: bind("t", "reschedule", "t"), Group: groupRepair, Screens: messages, Writes: true, Allowed: Model.canReschedule},
		{Action: ActStop, Binding: bind("x", "stop", "x"), Group: groupConsume, Screens: consumers, Hint: true, Allowed: Model.canStop},
		{Action: ActConsume, Binding: bind("c", "consume", "c"), Group: groupConsume, Screens: elsewhere, Writes: true, Hint: true, Allowed: Model.canConsume},
		{Action: ActConsume, Binding: bind("c", "start one more", "c"), Group: groupConsume, Screens: consumers, Writes: true, Hint: true, Allowed: Model.canConsume},
		{Action: ActRestart, Binding: bind("r", "start again", "r"), Group: groupConsume, Screens: consumers, Writes: true, Hint: true, Allowed: Model.canRestart},
		{Action: ActRemove, Binding: bind("D", "take off this page", "D"), Group: groupConsume, Screens: consumers, Hint: true, Allowed: Model.canRemove},
		{Action: ActScenes, Binding: bind("d", "scenes", "d"), Group: groupConsume, Screens: all, Hint: true, Here: Model.hasScenes},

		{Action: ActEnqueue, Binding: bind("n", "enqueue", "n"), Group: groupRepair, Screens: all, Writes: true, Hint: true, Allowed: Model.canEnqueue},
		{Action: ActPurge, Binding: bind("X", "purge the place", "X"), Group: groupRepair, Screens: tabs, Writes: true, Allowed: Model.canPurge},
		{Action: ActUndo, Binding: bind("u", "undo", "u"), Group: groupRepair, Screens: all, Writes: true},
		{Action: ActMark, Binding: bind("space", "mark", " "), Group: groupRepair, Screens: tabs, Hint: true, Allowed: Model.canMark},
		{Action: ActMarkAll, Binding: bind("*", "mark all that match", "*"), Group: groupRepair, Screens: tabs, Allowed: Model.canMark},

		{Action: ActFilter, Binding: bind("/", "filter", "/"), Group: groupLook, Screens: filtered, Hint: true, Allowed: Model.canFilter},
		{Action: ActSort, Binding: bind("s", "sort by next column", "s"), Group: groupLook, Screens: overview},
		{Action: ActReverse, Binding: bind("S", "reverse the sort", "S"), Group: groupLook, Screens: overview},
		{Action: ActTrouble, Binding: bind("z", "only trouble", "z"), Group: groupLook, Screens: overview, Hint: true},
		{Action: ActView, Binding: bind("o", "pretty, raw, hex", "o"), Group: groupLook, Screens: message, Hint: true, Allowed: Model.canView},
		{Action: ActCopy, Binding: bind("y", "copy payload", "y"), Group: groupLook, Screens: messages, Allowed: Model.canCopy},
		{Action: ActExport, Binding: bind("w", "write to a file", "w"), Group: groupLook, Screens: all, Allowed: Model.canExport},
		{Action: ActFreeze, Binding: bind("p", "freeze the view", "p"), Group: groupLook, Screens: elsewhere},
		{Action: ActFreeze, Binding: bind("p", "pause the events", "p"), Group: groupLook, Screens: consumers, Hint: true, Allowed: Model.hasConsumer},
		{Action: ActRefresh, Binding: bind("R", "refresh now", "R"), Group: groupLook, Screens: all},
		{Action: ActFaster, Binding: bind("+", "refresh faster", "+", "="), Group: groupLook, Screens: all},
		{Action: ActSlower, Binding: bind("-", "refresh slower", "-"), Group: groupLook, Screens: all},

		{Action: ActJobs, Binding: bind("J", "jobs", "J"), Group: groupProgram, Screens: all, Hint: true, Here: Model.hasJobs},
		{Action: ActCommand, Binding: bind(":", "command line", ":"), Group: groupProgram, Screens: all},
		{Action: ActQuit, Binding: bind("q", "back, quit", "q"), Group: groupProgram, Screens: all},
		{Action: ActKill, Binding: bind("ctrl+c", "quit", "ctrl+c"), Group: groupProgram, Screens: all},
		{Action: ActSuspend, Binding: bind("ctrl+z", "suspend", "ctrl+z"), Group: groupProgram, Screens: all, Allowed: Model.canSuspend},
		{Action: ActHelp, Binding: bind("?", "help", "?"), Group: groupProgram, Screens: all, Hint: true},
	}
}

// shows reports whether a key is in the help of the screen in front.
func (m Model) shows(k KeyBinding) bool {
	return slices.Contains(k.Screens, m.Screen) && !(k.Writes && m.ReadOnly) && k.exists(m)
}

// exists reports whether there is such a key at all.
func (k KeyBinding) exists(m Model) bool { return k.Here == nil || k.Here(m) }

// binding returns what a key is for: on the screen in front, or else on another one.
func (m Model) binding(k tea.KeyMsg) (KeyBinding, bool) {
	var other KeyBinding
	found := false
	for _, b := range m.keys {
		if !key.Matches(k, b.Binding) || !b.exists(m) {
			continue
		}
		if slices.Contains(b.Screens, m.Screen) {
			return b, true
		}
		if !found {
			other, found = b, true
		}
	}
	return other, found
}

// HelpGroups returns the keys that do something on the screen in front.
func (m Model) HelpGroups() []HelpGroup {
	var groups []HelpGroup
	for _, title := range []string{groupMove, groupLook, groupRepair, groupConsume, groupProgram} {
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
	case slices.Equal(k.Screens, []Screen{ConsumerScreen}):
		return "on the consumers' page (c)"
	case now == ConsumerScreen && slices.Contains(k.Screens, QueueScreen):
		return "on a queue's page (enter)"
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
	if m.onConsumersTab() {
		return m.canEnterConsumer()
	}
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
	if m.onConsumersTab() {
		return false, notMessages
	}
	l := m.Queue.List()
	if l.Gone && l.Marks.Len() == 0 {
		return false, "already gone: the selected message was taken or moved, nothing was done; the cursor is on its neighbour"
	}
	ms, why := l.chosen()
	return len(ms) > 0, why
}

func (m Model) canRedrive() (bool, string) {
	return m.canAct() // in ready already, they can be moved elsewhere
}

func (m Model) canReschedule() (bool, string) {
	if m.Queue.Place != queue.Delayed {
		return false, "only delayed messages have a due time"
	}
	return m.canAct()
}

func (m Model) canMark() (bool, string) {
	if m.onConsumersTab() {
		return false, notMessages
	}
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
	case m.onConsumersTab():
		return false, notMessages
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

func (m Model) hasJobs() bool { return len(m.Jobs) > 0 }

func (m Model) canView() (bool, string) {
	return m.Message.Loaded, "the payload is still being read"
}

func (m Model) canCopy() (bool, string) {
	if m.cfg.Copy == nil {
		return false, "this terminal has no clipboard for redq"
	}
	msg := m.Message.Message
	if m.onConsumersTab() {
		return false, notMessages
	}
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
