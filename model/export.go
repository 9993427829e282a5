package model

import (
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
	"redq/queue/filter"
)

// ExportWork writes messages to a file, as redq export does.
type ExportWork struct {
	Queue  queue.Queue
	Places []queue.Place // nil: all that the queue has
	// Messages are those that were marked, or selected; nil means those of Places that match
	// Filter, of which the zero value is all.
	Messages []queue.Message
	Filter   filter.Matcher
	Path     string // as typed; ~/ is the user's own directory
	Replace  bool   // a file that is there
}

// Takes implements Work: it takes nothing.
func (w ExportWork) Takes() []string { return nil }

// Words implements Work.
func (w ExportWork) Words() Words {
	what := shown(w.Queue.Name)
	if len(w.Places) == 1 {
		what = fmt.Sprintf("%s of %s", w.Places[0], what)
	}
	file := shown(w.Path)
	return Words{Does: fmt.Sprintf("write %s to %s", what, file), Brief: "write " + what, Past: "wrote", Where: "to " + file}
}

// ExportDialog asks which messages are written, and to which file.
type ExportDialog struct {
	DialogHead
	Taking
	Path    Field
	Replace bool  // a file that is there
	Focus   Focus // FocusName, FocusTake, FocusReplace, FocusNo, FocusYes
}

// newExportDialog offers what can be marked or matches, the place in front, and the whole queue.
func (m Model) newExportDialog(h DialogHead, q queue.Queue) ExportDialog {
	d := ExportDialog{DialogHead: h, Focus: FocusName}
	if m.Screen != OverviewScreen && m.Screen != ConsumerScreen {
		d.Taking = m.taking(q, "")
		for i, o := range d.Offers { // a place is what is meant mostly
			if o.Scope == ScopeMatching || o.Scope == ScopeAll && d.Offer().Scope == ScopeOne {
				d.Chosen = i
			}
		}
	}
	if row, ok := m.Row(q.Name); ok && m.Screen != MessageScreen {
		whole := Offer{Scope: ScopeQueue}
		for _, p := range queue.Places() {
			whole.Count += count(row.Sample, p).N
		}
		d.Offers = append(d.Offers, whole)
	}
	d.Path = newField(d.fileName(m.Now))
	return d.described()
}

// fileName is the name that is offered.
func (d ExportDialog) fileName(now time.Time) string {
	name := d.Queue
	if d.Place != "" {
		name += "-" + string(d.Place)
	}
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '_'
	}, name)
	return strings.TrimLeft(plain[:min(len(plain), 80)], ".-") + now.Format("-20060102-150405") + ".jsonl"
}

func (d ExportDialog) described() ExportDialog {
	if d.Offer().Scope == ScopeQueue {
		d.Title = fmt.Sprintf("Write the whole queue, %s messages, to a file", Thousands(d.Offer().Count))
	} else {
		d.Title = d.titled("Write", d.Place) + " to a file"
	}
	return d
}

func (d ExportDialog) withHead(h DialogHead) Dialog {
	d.DialogHead = h
	return d
}

func (d ExportDialog) typing() bool { return d.Focus == FocusName }

func (d ExportDialog) parts() []Focus {
	parts := []Focus{FocusName}
	if len(d.Offers) > 1 {
		parts = append(parts, FocusTake)
	}
	return append(parts, FocusReplace, FocusNo, FocusYes)
}

func (d ExportDialog) key(k tea.KeyMsg, _ time.Time) (Dialog, Intent) {
	if d.typing() {
		return d.nameKey(k)
	}
	var ok bool
	if d.Taking, ok = d.Taking.key(k, d.Focus); ok {
		return d.described(), nil
	}
	s := k.String()
	if s == KeyReplace || d.Focus == FocusReplace && (s == " " || s == "l" || s == "h") {
		d.Replace = !d.Replace
		return d, nil
	}
	var v verdict
	switch d.Focus, v = answer(k, d.Focus, d.parts()...); v {
	case verdictYes:
		return d.submitted()
	case verdictNo:
		return d, closeIt{}
	case verdictOther:
		return noted(d, noteOther), nil
	}
	return d, nil
}

func (d ExportDialog) nameKey(k tea.KeyMsg) (Dialog, Intent) {
	switch {
	case k.Type == tea.KeyEsc:
		return d, closeIt{}
	case k.Type == tea.KeyEnter && !k.Paste:
		d.Focus = FocusYes
	case k.Type == tea.KeyTab, k.Type == tea.KeyDown:
		d.Focus = stepFocus(d.Focus, 1, d.parts())
	case k.Type == tea.KeyShiftTab, k.Type == tea.KeyUp:
		d.Focus = stepFocus(d.Focus, -1, d.parts())
	default:
		d.Path, _ = d.Path.update(k)
	}
	return d, nil
}

func (d ExportDialog) submitted() (Dialog, Intent) {
	path := strings.TrimSpace(d.Path.Text())
	if path == "" {
		d.Focus = FocusName
		return noted(d, "say which file"), nil
	}
	w := ExportWork{Queue: d.queue, Places: []queue.Place{d.Place}, Messages: d.Messages(), Path: path, Replace: d.Replace}
	switch d.Offer().Scope {
	case ScopeMatching:
		w.Filter = d.filter
	case ScopeQueue:
		w.Places = nil
	}
	return d, startJob{w}
}

func (m Model) canExport() (bool, string) {
	q, ok := m.selectedQueue()
	switch {
	case !ok:
		return false, "no queue to write"
	case m.Screen == MessageScreen && m.Message.Gone:
		return false, "already gone: this message left " + string(m.Message.Message.Place)
	case m.Screen == ConsumerScreen && q.Name == "":
		return false, "no queue to write"
	}
	return true, ""
}
