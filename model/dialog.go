package model

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
)

// dialogGuard is how long after it opened a dialog takes no answer: what comes
// sooner was typed before its question could be read.
const dialogGuard = 100 * time.Millisecond

// Dialog is a form over the page: one of RepairDialog, ReviewDialog, JobsDialog, ExportDialog,
// PurgeDialog, EditDialog, EnqueueDialog, UndoDialog, ConsumerDialog, AbandonDialog, LeaveDialog and
// SceneDialog, as values.
type Dialog interface {
	Head() DialogHead
	// withHead returns the dialog with another head.
	withHead(DialogHead) Dialog
	// typing reports whether the focus is on a text field.
	typing() bool
	// key takes a key and returns what is asked of the router.
	key(k tea.KeyMsg, serverNow time.Time) (Dialog, Intent)
}

// DialogHead is what all dialogs have in common.
type DialogHead struct {
	Title    string
	Server   string // address
	Queue    string
	Place    queue.Place
	Keys     []string  // that will be changed, source first
	OpenedAt time.Time // client's clock: keys typed before are no answer
	Busy     bool      // the server was asked; keys wait
	Leaving  bool      // ctrl+c was pressed while busy: the answer ends the program
	Note     string    // why the last key did nothing, or what is wrong with the form

	queue queue.Queue // as it was when the dialog opened
}

// Head implements Dialog.
func (h DialogHead) Head() DialogHead { return h }

// Focus is the part of a dialog that reads the keys.
type Focus uint8

// The parts of dialogs. Each dialog has some of them.
const (
	FocusNo Focus = iota
	FocusYes
	FocusFront
	FocusWrap
	FocusPayload
	FocusWhen
	FocusName
	FocusList
	FocusPattern
	FocusKind
	FocusDetail
	FocusWorkers
	FocusAttempts
	FocusConflict
	FocusWay
	FocusTake
	FocusLimit
	FocusRate
	FocusDied
	FocusTo
	FocusSpread
	FocusJitter
	FocusReset
	FocusReplace
)

// verdict is what a key means to a question.
type verdict uint8

const (
	verdictNone verdict = iota // it moved the focus
	verdictYes
	verdictNo
	verdictOther // nothing a question knows
)

// answer reads a key that does not belong to a text field: y and n answer from
// anywhere, enter says what has the focus, tab and the arrows move it around parts.
func answer(k tea.KeyMsg, focus Focus, parts ...Focus) (Focus, verdict) {
	switch k.String() {
	case "y":
		return focus, verdictYes
	case "n", "q", "esc":
		return focus, verdictNo
	case "tab", "right", "down", "l", "j":
		return stepFocus(focus, 1, parts), verdictNone
	case "shift+tab", "left", "up", "h", "k":
		return stepFocus(focus, -1, parts), verdictNone
	case "enter":
		switch focus {
		case FocusYes:
			return focus, verdictYes
		case FocusNo:
			return focus, verdictNo
		}
		return stepFocus(focus, 1, parts), verdictNone
	}
	return focus, verdictOther
}

func stepFocus(focus Focus, by int, parts []Focus) Focus {
	i := max(0, slices.Index(parts, focus))
	return parts[(i+by+len(parts))%len(parts)]
}

// noteOther is what a question says to a key it does not know.
const noteOther = "y does it, n does not"

// dialogKey takes a key while a dialog is open.
func (m Model) dialogKey(k tea.KeyMsg) (Model, tea.Cmd) {
	h := m.Dialog.Head()
	switch {
	case h.Busy:
		h.Note = "the server was asked: its answer closes this"
	case !m.Dialog.typing() && notOneKey(k):
		h.Note = "ignored: several keys at once are no answer"
	case !m.Dialog.typing() && isAnswer(k) && m.Now.Sub(h.OpenedAt) < dialogGuard:
		h.Note = "ignored: that key was typed before this opened"
	default:
		h.Note = ""
		d, in := m.Dialog.withHead(h).key(k, m.ServerNow())
		m.Dialog = d
		return m.do(in)
	}
	m.Dialog = m.Dialog.withHead(h)
	return m, nil
}

// isAnswer reports whether a key could confirm.
func isAnswer(k tea.KeyMsg) bool { return k.Type == tea.KeyEnter || k.Type == tea.KeyRunes }

// notOneKey reports a paste, or several keys read at once: actions ignore both.
func notOneKey(k tea.KeyMsg) bool { return k.Paste || len(k.Runes) > 1 }

// noted sets the dialog's note.
func noted(d Dialog, note string) Dialog {
	h := d.Head()
	h.Note = note
	return d.withHead(h)
}

// openDialog opens the dialog that an action asks for.
func (m Model) openDialog(a Action) (Model, tea.Cmd) {
	q, _ := m.selectedQueue()
	h := DialogHead{Server: m.Conn.Address, Queue: q.Name, OpenedAt: m.Now, queue: q}
	if m.onQueue() {
		h.Place = m.Queue.Place
	}
	switch a {
	case ActRedrive:
		m.Dialog = m.newRepairDialog(h, queue.OpRedrive, q)
	case ActDelete:
		m.Dialog = m.newRepairDialog(h, queue.OpDelete, q)
	case ActReschedule:
		m.Dialog = m.newRepairDialog(h, queue.OpReschedule, q)
	case ActEnqueue:
		m.Dialog = newEnqueueDialog(h, q)
	case ActExport:
		m.Dialog = m.newExportDialog(h, q)
	case ActPurge:
		row, _ := m.Row(q.Name)
		m.Dialog = newPurgeDialog(h, q, count(row.Sample, h.Place))
	case ActUndo:
		m.Dialog = newUndoDialog(h)
		return m.listUndo()
	case ActScenes:
		m.Dialog = newSceneDialog(h, m.Scenes())
	}
	return m, nil
}

// keysOf returns the keys that messages lie in, each once.
func keysOf(ms []queue.Message) []string {
	var keys []string
	for _, m := range ms {
		if !slices.Contains(keys, m.Key) {
			keys = append(keys, m.Key)
		}
	}
	return keys
}
