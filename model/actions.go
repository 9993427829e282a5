package model

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
)

// key takes a key: who reads it depends on the mode.
func (m Model) key(k tea.KeyMsg) (Model, tea.Cmd) {
	m.Status = Status{}
	if k.Type == tea.KeyCtrlC {
		return m.interrupted()
	}
	switch m.Mode() {
	case HelpMode:
		return m.helpKey(k), nil
	case DialogMode:
		return m.dialogKey(k)
	case PromptMode:
		return m.promptKey(k)
	}
	if notOneKey(k) {
		return m.burst(k)
	}
	if b, ok := m.binding(k); ok {
		return m.press(b)
	}
	return m, nil
}

// burst takes several keys that came in one read: typed ahead of a busy program,
// or over a slow line. The filter and the command line may open and take the
// rest as text, which changes nothing; all else is ignored, and so is a paste.
func (m Model) burst(k tea.KeyMsg) (Model, tea.Cmd) {
	first, rest := k, k
	first.Runes, rest.Runes = k.Runes[:1], k.Runes[1:]
	if b, ok := m.binding(first); ok && !k.Paste && (b.Action == ActFilter || b.Action == ActCommand) {
		m, open := m.press(b)
		if m.Mode() != PromptMode {
			return m, open
		}
		m, typed := m.promptKey(rest)
		return m, tea.Batch(open, typed)
	}
	return m.say(StatusInfo, "ignored: several keys at once, and no text field is open")
}

// press does what a key is for, or says why not.
func (m Model) press(b KeyBinding) (Model, tea.Cmd) {
	if why := m.refusal(b); why != "" {
		m = m.settleGone()
		return m.say(StatusWarn, why)
	}
	return m.act(b.Action)
}

// settleGone accepts the neighbour as the selected message, once it was said
// that the one that was selected has gone.
func (m Model) settleGone() Model {
	if l := m.Queue.List(); m.Screen == QueueScreen && l.Gone {
		l.Gone = false
		m.Queue = m.Queue.with(l)
	}
	return m
}

// act does what an action is for on the screen in front.
func (m Model) act(a Action) (Model, tea.Cmd) {
	switch a {
	case ActRedrive, ActDelete, ActReschedule, ActEnqueue, ActPurge, ActUndo, ActExport, ActScenes:
		return m.openDialog(a)
	case ActEdit:
		return m.edit()
	case ActNext:
		return m.stepMessage(1)
	case ActPrevious:
		return m.stepMessage(-1)
	case ActCopy:
		return m.copy()
	case ActBack:
		return m.back()
	case ActQuit:
		if m.Screen == OverviewScreen {
			return m.quit()
		}
		return m.leave()
	case ActKill:
		return m.quit()
	case ActConsume:
		return m.consume()
	case ActStop:
		return m.stopSelected()
	case ActRestart:
		return m.restartSelected()
	case ActRemove:
		return m.removeSelected()
	case ActJobs:
		return m.showJobs()
	case ActSuspend:
		return m, tea.Suspend
	case ActHelp:
		m.HelpOpen, m.HelpTop = true, 0
	case ActFilter:
		m.Prompt = openPrompt(FilterPrompt, m.filterText())
	case ActCommand:
		m.Prompt = openPrompt(CommandPrompt, "").offering(m.completions(""))
	case ActFreeze:
		if m.Screen == ConsumerScreen {
			return m.pageAct(a)
		}
		return m.freeze()
	case ActRefresh:
		return m.refresh()
	case ActFaster:
		return m.stepRefresh(-1)
	case ActSlower:
		return m.stepRefresh(1)
	default:
		return m.pageAct(a)
	}
	return m, nil
}

// pageAct hands an action to the page in front.
func (m Model) pageAct(a Action) (Model, tea.Cmd) {
	var in Intent
	switch m.Screen {
	case OverviewScreen:
		m.Overview, in = m.Overview.act(a, m.tableHeight())
	case QueueScreen:
		if m.onConsumersTab() && !isTab(a) {
			return m.consumersAct(a)
		}
		tab := m.Queue.Place
		m.Queue, in = m.Queue.act(a, m.listHeight())
		if m.Queue.Place != tab {
			return m.arrived()
		}
	case MessageScreen:
		m.Message, in = m.Message.act(a, m.Layout().Doc)
	case ConsumerScreen:
		m.Consumer, in = m.Consumer.act(a, m.logHeight())
	}
	return m.do(in)
}

// do does what a page, a dialog or the command line asks for.
func (m Model) do(in Intent) (Model, tea.Cmd) {
	switch in := in.(type) {
	case openQueue:
		return m.openQueue(in.name)
	case openMessage:
		return m.openMessage()
	case wantPage:
		return m.needPage(false)
	case wantDist:
		return m.needDistribution()
	case setFilter:
		return m.setFilter(in.text)
	case correct:
		return m.corrected(in)
	case setRefresh:
		return m.refreshEvery(in.every)
	case goTo:
		return m.goTo(in.position)
	case sortBy:
		m.Overview = m.Overview.sortedBy(in.column, m.tableHeight())
		return m.say(StatusInfo, "sorted by "+in.column.String())
	case speak:
		m.Status = in.status
	case press:
		return m.pressAction(in.action)
	case closeIt:
		m.Dialog = nil
	case stay:
		return m.stay(), nil
	case leaveAll:
		return m.drain()
	case consume:
		return m.consumeNamed(in.name)
	case showConsumers:
		return m.showConsumers()
	case startConsumer:
		return m.submit(in)
	case abandonConsumer:
		m.Dialog = nil
		return m.abandon(in.id)
	case playScene:
		return m.playScene(in.name)
	case openEditor, reviewEdit, doEdit:
		return m.editIntent(in)
	case doRedrive, doDelete, doReschedule, doEnqueue, doUndo, startJob:
		return m.submit(in)
	case confirmJob:
		return m.confirmJob(in.id)
	case cancelJob:
		return m.cancelJob(in.id)
	case pauseJob:
		return m.pauseJob(in.id, in.paused)
	case forgetJob:
		return m.forgetJob(in.id)
	case showJobs:
		return m.showJobs()
	}
	return m, nil
}

// goTo puts the cursor on a position of the list in front and says what that
// costs: a sorted set finds a rank at once, a list is passed from its nearer end.
func (m Model) goTo(position int64) (Model, tea.Cmd) {
	var in Intent
	m.Queue, in = m.Queue.move(position, m.listHeight())
	l := m.Queue.List()
	text := fmt.Sprintf("at %s of %s", Thousands(max(0, l.Cursor)), Thousands(l.Total))
	if passed := min(l.Cursor, l.Total-1-l.Cursor); l.Place != queue.Delayed && passed >= farIntoList {
		text += fmt.Sprintf(": each page here makes the server pass %s messages, about %s ms",
			Thousands(passed), strconv.FormatFloat(float64(passed)/passedPerMs, 'f', 2, 64))
	}
	m.Status = Status{Text: text}
	return m.do(in)
}

// A list is passed over at about 6 million messages a millisecond (measured on
// small messages; see README); below farIntoList nobody can tell.
const (
	farIntoList = 100_000
	passedPerMs = 6e6
)

// pressAction does what the action's key would.
func (m Model) pressAction(a Action) (Model, tea.Cmd) {
	here := func(b KeyBinding) bool { return b.Action == a && slices.Contains(b.Screens, m.Screen) }
	i := slices.IndexFunc(m.keys, here)
	if i < 0 {
		i = slices.IndexFunc(m.keys, func(b KeyBinding) bool { return b.Action == a })
	}
	return m.press(m.keys[i])
}

// submit asks the server for what the open dialog decided. The dialog waits.
func (m Model) submit(in Intent) (Model, tea.Cmd) {
	h := m.Dialog.Head()
	h.Busy = true
	m.Dialog = m.Dialog.withHead(h)
	m.writing++
	return m, m.writeCmd(m.writing, in, h.queue)
}

// actionDone takes the answer to a write: the dialog closes, except for a form
// that can be put right.
func (m Model) actionDone(msg actionDoneMsg) (Model, tea.Cmd) {
	if msg.gen != m.writing || m.Dialog == nil {
		return m, nil
	}
	if m.Dialog.Head().Leaving {
		if msg.status.Kind != StatusDone {
			m.Fatal = errors.New(msg.status.Text)
		}
		m.Dialog = nil
		return m.quit()
	}
	if msg.failed {
		return m.reopened(msg), nil
	}
	h := m.Dialog.Head()
	m.Dialog, m.Status = nil, msg.status
	m.paging = inFlight{gen: m.paging.gen + 1} // a page that was asked for before shows what was there before
	var reopen tea.Cmd
	if msg.replaced != nil && h.Queue == m.Queue.Name {
		m, reopen = m.withReplaced(h.Place, *msg.replaced)
	}
	if len(msg.moved) > 0 && h.Queue == m.Queue.Name {
		m = m.withoutMoved(h.Place, msg.moved)
	}
	m, poll := m.pollNow(true)
	return m, tea.Batch(reopen, poll)
}

// reopened lets the form be changed after nothing was done.
func (m Model) reopened(msg actionDoneMsg) Model {
	h := m.Dialog.Head()
	h.Busy, h.Note, h.OpenedAt = false, msg.status.Text, m.Now
	m.Dialog = m.Dialog.withHead(h)
	if d, ok := m.Dialog.(EditDialog); ok {
		m.Dialog = d.refused(msg.gone)
	}
	if d, ok := m.Dialog.(EnqueueDialog); ok {
		d.Already = msg.already
		if d.Already != nil {
			d.Note = ""
		}
		m.Dialog = d
	}
	return m
}

// withoutMoved takes messages off the screen that an action moved away.
func (m Model) withoutMoved(place queue.Place, moved []queue.Message) Model {
	l := m.Queue.lists[placeIndex(place)]
	l.Marks = Marks{}
	m.Queue = m.Queue.with(l.without(moved, m.listHeight()))
	if m.Screen == MessageScreen {
		m.Message = m.Message.gone(m.Now)
	}
	return m
}

// listUndo reads the journal for the undo dialog.
func (m Model) listUndo() (Model, tea.Cmd) {
	m.writing++
	return m, m.undoListCmd(m.writing)
}

func (m Model) undoListed(msg undoListedMsg) Model {
	d, ok := m.Dialog.(UndoDialog)
	if !ok || msg.gen != m.writing {
		return m
	}
	if msg.err != nil {
		d.Loading, d.Err = false, explain(msg.err)
	} else {
		d = d.listed(msg.entries)
	}
	d.OpenedAt = m.Now // nothing could be answered before
	m.Dialog = d
	return m
}

// back clears the filter, else goes back a page. It never quits.
func (m Model) back() (Model, tea.Cmd) {
	switch {
	case m.Banner.Scene != "":
		return m.withoutBanner(), nil
	case m.Screen != MessageScreen && m.filterText() != "":
		return m.setFilter("")
	case m.Screen == OverviewScreen && m.Overview.TroubleOnly:
		return m.pageAct(ActTrouble)
	case m.Screen == OverviewScreen:
		return m.say(StatusInfo, "q quits")
	}
	return m.leave()
}

// filterText is the filter of the page in front, as typed.
func (m Model) filterText() string {
	switch m.Screen {
	case OverviewScreen:
		return m.Overview.FilterText
	case ConsumerScreen:
		return m.Consumer.FilterText
	}
	return m.Queue.List().Search.Text
}

func (m Model) copy() (Model, tea.Cmd) {
	ms := m.Message.Message
	if m.Screen == QueueScreen {
		row, _ := m.Queue.List().Selected()
		ms = row.Message
	}
	return m, m.copyCmd(ms)
}

// refresh polls at once; a payload that could not be read is asked for again.
func (m Model) refresh() (Model, tea.Cmd) {
	var load, poll tea.Cmd
	if p := m.Message; m.Screen == MessageScreen && p.Err != "" && !p.Gone {
		m.loading++
		m.Message.gen, m.Message.Err = m.loading, ""
		load = m.loadCmd(m.loading, p.Message)
	}
	m, poll = m.pollNow(true)
	return m, tea.Batch(load, poll)
}

func (m Model) freeze() (Model, tea.Cmd) {
	m.Frozen = !m.Frozen
	if m.Frozen {
		return m.say(StatusInfo, "frozen: p goes on, R reads once")
	}
	return m.pollNow(false)
}

func (m Model) stepRefresh(by int) (Model, tea.Cmd) {
	steps := refreshSteps()
	i, exact := slices.BinarySearch(steps, m.Refresh)
	if !exact && by > 0 {
		i-- // between two steps: the next is the one above
	}
	return m.refreshEvery(steps[max(0, min(i+by, len(steps)-1))])
}

func (m Model) refreshEvery(d time.Duration) (Model, tea.Cmd) {
	m.Refresh = d
	m, _ = m.say(StatusInfo, fmt.Sprintf("refresh every %s", d))
	if m.poll.running || m.Conn.Down != nil {
		return m, nil
	}
	return m.nextPoll(d)
}

// helpKey takes a key while the help is open.
func (m Model) helpKey(k tea.KeyMsg) Model {
	page := max(1, m.Layout().Help.H-2)
	switch k.String() {
	case "?", "esc", "q", "enter":
		m.HelpOpen = false
	case "j", "down":
		m.HelpTop++
	case "k", "up":
		m.HelpTop--
	case "pgdown", "ctrl+f", " ":
		m.HelpTop += page
	case "pgup", "ctrl+b":
		m.HelpTop -= page
	case "g", "home":
		m.HelpTop = 0
	}
	lines := 0
	for _, g := range m.HelpGroups() {
		lines += len(g.Bindings) + 2
	}
	m.HelpTop = max(0, min(m.HelpTop, lines-page))
	return m
}

func isGone(err error) bool { return errors.Is(err, queue.ErrGone) }

// text says what a correction changes.
func (c correction) text() string {
	var parts []string
	if c.unit != nil {
		parts = append(parts, "scores are in "+c.unit.String())
	}
	if c.push != "" {
		parts = append(parts, "pushed at the "+string(c.push))
	}
	if c.stuck > 0 {
		parts = append(parts, "stuck after "+c.stuck.String())
	}
	return strings.Join(parts, ", ")
}
