package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/model/when"
	"redq/queue"
	"redq/queue/filter"
)

// RepairDialog asks how messages are re-driven, moved, deleted or rescheduled.
type RepairDialog struct {
	DialogHead
	Taking
	Op   queue.Op // OpRedrive, OpDelete or OpReschedule
	Unit queue.Unit

	// Of a re-drive: where to.
	Targets []Target
	To      int   // index into Targets
	List    Field // key or queue that ToList leads to
	Front   bool  // runs next; else back
	Reset   bool  // forgets how often they have failed

	// Of a reschedule, and of a re-drive into delayed: when they are due.
	When    Field
	Preview Preview
	Shift   time.Duration // in place of Preview.Due; 0 when a time was typed
	Spread  Field         // over so much time from then on
	Jitter  Field         // each later by up to so much, at random

	Focus Focus

	queues map[string]queue.Queue // with a ready list, by name and by the key of that
}

// The keys that change the form from anywhere but a text field; those of the rate, of dying
// messages and of the time lead to their field.
const (
	KeyTake     = "s"
	KeyOldest   = "o"
	KeyRate     = "r"
	KeyDied     = "p"
	KeyTo       = "t"
	KeyWhen     = "w"
	KeyAttempts = "a"
	KeyFront    = "f"
	KeyReplace  = "f" // of an export
)

// TargetKind is a kind of place that messages are re-driven to.
type TargetKind uint8

// The kinds of target.
const (
	ToReady   TargetKind = iota // the queue's own
	ToDelayed                   // its own
	ToList                      // another list
)

// Target is where messages can be re-driven to.
type Target struct {
	Kind TargetKind
	Key  string // "" of ToList: it is typed
}

func (m Model) newRepairDialog(h DialogHead, op queue.Op, q queue.Queue) RepairDialog {
	d := RepairDialog{DialogHead: h, Op: op, Taking: m.taking(q, op), Unit: q.Unit}
	switch op {
	case queue.OpReschedule:
		d.Focus = FocusWhen
	case queue.OpRedrive:
		d.Targets = targets(q, h.Place)
		d.queues = map[string]queue.Queue{}
		for _, r := range m.Overview.Rows {
			if r.Queue.Ready != "" {
				d.queues[r.Queue.Ready] = r.Queue
			}
		}
		for _, r := range m.Overview.Rows {
			if r.Queue.Ready != "" {
				d.queues[r.Queue.Name] = r.Queue
			}
		}
	}
	return d.described()
}

// targets returns where messages of a place can go, what is meant mostly first.
func targets(q queue.Queue, p queue.Place) []Target {
	var all []Target
	if q.Ready != "" && p != queue.Ready {
		all = append(all, Target{ToReady, q.Ready})
	}
	if q.Delayed != "" && (p != queue.Delayed || q.Ready == "") {
		all = append(all, Target{ToDelayed, q.Delayed})
	}
	return append(all, Target{Kind: ToList})
}

// described names the deed and the keys as the form stands.
func (d RepairDialog) described() RepairDialog {
	verb := map[queue.Op]string{queue.OpRedrive: "Re-drive", queue.OpDelete: "Delete", queue.OpReschedule: "Reschedule"}[d.Op]
	if d.Op == queue.OpRedrive && d.Place == queue.Ready {
		verb = "Move"
	}
	d.Title = d.titled(verb, d.Place)
	if ms := d.Messages(); ms != nil {
		d.Keys = keysOf(ms)
	} else {
		d.Keys = d.queue.Keys(d.Place)
	}
	if to, _ := d.toKey(); d.Op == queue.OpRedrive && to != "" {
		d.Keys = append(d.Keys[:len(d.Keys):len(d.Keys)], to)
	}
	return d
}

// Target returns where the messages go.
func (d RepairDialog) Target() Target {
	if len(d.Targets) == 0 {
		return Target{}
	}
	return d.Targets[d.To]
}

// toKey returns the key that the messages go to and the end that its producers push to.
func (d RepairDialog) toKey() (string, queue.End) {
	t := d.Target()
	if t.Kind != ToList {
		return t.Key, d.queue.PushEnd()
	}
	key := d.List.Text()
	if q, ok := d.queues[key]; ok {
		return q.Ready, q.PushEnd()
	}
	return key, d.queue.PushEnd()
}

// ListKey is the key that what was typed for another list stands for.
func (d RepairDialog) ListKey() string {
	key, _ := d.toKey()
	return key
}

// Timed reports whether the form asks when messages are due.
func (d RepairDialog) Timed() bool {
	return d.Op == queue.OpReschedule || d.Op == queue.OpRedrive && d.Target().Kind == ToDelayed
}

// Ended reports whether the target has two ends.
func (d RepairDialog) Ended() bool { return d.Op == queue.OpRedrive && d.Target().Kind != ToDelayed }

func (d RepairDialog) withHead(h DialogHead) Dialog {
	d.DialogHead = h
	return d
}

func (d RepairDialog) typing() bool { return d.field() != nil }

// field returns the text field that has the focus.
func (d *RepairDialog) field() *Field {
	switch d.Focus {
	case FocusName:
		return &d.List
	case FocusWhen:
		return &d.When
	case FocusSpread:
		return &d.Spread
	case FocusJitter:
		return &d.Jitter
	}
	return d.Taking.field(d.Focus)
}

// parts returns what can have the focus.
func (d RepairDialog) parts() []Focus {
	parts := d.Taking.parts()
	if d.Op == queue.OpRedrive {
		if len(d.Targets) > 1 {
			parts = append(parts, FocusTo)
		}
		if d.Target().Kind == ToList {
			parts = append(parts, FocusName)
		}
	}
	if d.Timed() {
		parts = append(parts, FocusWhen)
		if d.Many() {
			parts = append(parts, FocusSpread, FocusJitter)
		}
	}
	if d.Op == queue.OpRedrive {
		parts = append(parts, FocusReset)
	}
	if d.Ended() {
		parts = append(parts, FocusFront)
	}
	return append(parts, FocusNo, FocusYes)
}

func (d RepairDialog) key(k tea.KeyMsg, now time.Time) (Dialog, Intent) {
	d = d.timed(now)
	if d.typing() {
		return d.fieldKey(k, now)
	}
	if changed, ok := d.choiceKey(k); ok {
		return changed.described(), nil
	}
	var v verdict
	switch d.Focus, v = answer(k, d.Focus, d.parts()...); v {
	case verdictYes:
		return d.submitted(now)
	case verdictNo:
		return d, closeIt{}
	case verdictOther:
		return noted(d, noteOther), nil
	}
	return d, nil
}

// choiceKey takes a key that changes a choice.
func (d RepairDialog) choiceKey(k tea.KeyMsg) (RepairDialog, bool) {
	var ok bool
	if d.Taking, ok = d.Taking.key(k, d.Focus); ok {
		return d, true
	}
	s := k.String()
	step := 0
	switch s {
	case " ", "right", "l":
		step = 1
	case "left", "h":
		step = -1
	}
	switch {
	case d.Ended() && (s == KeyFront || step != 0 && d.Focus == FocusFront):
		d.Front = !d.Front
	case d.Op == queue.OpRedrive && (s == KeyAttempts || step != 0 && d.Focus == FocusReset):
		d.Reset = !d.Reset
	case d.Op == queue.OpRedrive && s == KeyTo:
		d.To = (d.To + 1) % len(d.Targets)
	case step != 0 && d.Focus == FocusTo:
		d.To = (d.To + step + len(d.Targets)) % len(d.Targets)
	default:
		return d.jumped(s)
	}
	return d, true
}

// jumped moves the focus to the text field that a key leads to.
func (d RepairDialog) jumped(key string) (RepairDialog, bool) {
	to, ok := map[string]Focus{KeyRate: FocusRate, KeyDied: FocusDied, KeyWhen: FocusWhen}[key]
	if !ok || !slices.Contains(d.parts(), to) {
		return d, false
	}
	d.Focus = to
	return d, true
}

// timed reads again when the messages shall be due.
func (d RepairDialog) timed(now time.Time) RepairDialog {
	text := strings.TrimSpace(d.When.Text())
	d.Shift = 0
	if by, ok := strings.CutPrefix(text, "by "); ok && d.Op == queue.OpReschedule {
		d.Preview = Preview{}
		var err error
		if d.Shift, err = signedDuration(by); err != nil || d.Shift == 0 {
			d.Preview.Err = "expected by 10m, or by -1h30m"
		}
		return d
	}
	d.Preview = preview(text, now, d.Unit)
	return d
}

// signedDuration reads a duration that may be negative.
func signedDuration(s string) (time.Duration, error) {
	text, back := strings.CutPrefix(strings.TrimPrefix(strings.TrimSpace(s), "+"), "-")
	span, err := when.ParseDuration(text)
	if back {
		span = -span
	}
	return span, err
}

const whenMissing = "say when first: 5m, now, 15:04, or by 10m …"

func (d RepairDialog) fieldKey(k tea.KeyMsg, now time.Time) (Dialog, Intent) {
	wanting := d.Focus == FocusWhen && d.Op == queue.OpReschedule && d.Preview.Due.IsZero() && d.Shift == 0
	switch {
	case k.Type == tea.KeyEsc:
		return d, closeIt{}
	case k.Type == tea.KeyEnter && !k.Paste && wanting:
		return noted(d, whenMissing), nil
	case k.Type == tea.KeyEnter && !k.Paste && d.Focus == FocusWhen && d.Op == queue.OpReschedule:
		d.Focus = FocusYes
	case k.Type == tea.KeyTab, k.Type == tea.KeyDown, k.Type == tea.KeyEnter && !k.Paste:
		d.Focus = stepFocus(d.Focus, 1, d.parts())
	case k.Type == tea.KeyShiftTab, k.Type == tea.KeyUp:
		d.Focus = stepFocus(d.Focus, -1, d.parts())
	default:
		field := d.field()
		*field, _ = field.update(k)
		d = d.timed(now).described()
	}
	return d, nil
}

// submitted asks for what the form says, if it is filled in.
func (d RepairDialog) submitted(now time.Time) (Dialog, Intent) {
	w, at, err := d.work(now)
	if err != nil {
		d.Focus = at
		return noted(d, err.Error()), nil
	}
	if !d.atOnce() {
		return d, startJob{w}
	}
	b := w.Bulk
	timed := b.Due.Spread != 0 || b.Due.Jitter != 0 || b.Due.Shift != 0
	switch {
	case d.Op == queue.OpDelete:
		return d, doDelete{w.Messages}
	case d.Op == queue.OpReschedule && !timed:
		return d, doReschedule{w.Messages, b.Due.At}
	case d.Op == queue.OpRedrive && d.runsNow() && !timed && !b.ResetAttempts && b.ToKey == "":
		return d, doRedrive{w.Messages, queue.RedriveOptions{Front: b.Front}}
	}
	return d, startJob{w}
}

// runsNow reports whether a re-drive leads to where the queue's consumers take next.
func (d RepairDialog) runsNow() bool {
	return d.Target().Kind == ToReady || d.queue.Ready == "" && d.Target().Kind == ToDelayed && d.When.Text() == ""
}

// work reads the form. at is the part that an error is about.
func (d RepairDialog) work(now time.Time) (w BulkWork, at Focus, err error) {
	w = BulkWork{
		Queue: d.queue, Place: d.Place, Messages: d.Messages(), Filter: d.filter, Limit: d.limit(),
		Bulk: queue.Bulk{Op: d.Op}, Ask: d.Messages() == nil,
	}
	if d.Offer().Scope == ScopeAll {
		w.Filter = filter.Matcher{}
	}
	if d.Offer().Count == 0 && !d.Offer().More {
		return w, FocusTake, errors.New("there is no message to take")
	}
	if w.Bulk.Rate, w.PauseOnDead, at, err = d.read(); err != nil {
		return w, at, err
	}
	if d.Timed() {
		if w.Bulk.Due, at, err = d.due(now); err != nil {
			return w, at, err
		}
	}
	if d.Op != queue.OpRedrive {
		return w, FocusYes, nil
	}
	w.Bulk.ResetAttempts = d.Reset
	w.Bulk.Front = d.Front && d.Ended()
	switch t := d.Target(); t.Kind {
	case ToDelayed:
		w.Bulk.ToPlace = queue.Delayed
	case ToList:
		w.Bulk.ToKey, w.Bulk.Push = d.toKey()
		if err := d.listRefusal(w.Bulk.ToKey); err != nil {
			return w, FocusName, err
		}
	}
	return w, FocusYes, nil
}

func (d RepairDialog) listRefusal(key string) error {
	if key == "" {
		return errors.New("say which list: a queue's name, or a key")
	}
	for _, from := range d.queue.Keys(d.Place) {
		if key == from {
			return fmt.Errorf("%s is where they are", shown(key))
		}
	}
	return nil
}

// due reads when messages shall be due.
func (d RepairDialog) due(now time.Time) (due queue.Due, at Focus, err error) {
	due = queue.Due{At: d.Preview.Due, Shift: d.Shift}
	switch {
	case d.Preview.Err != "":
		return due, FocusWhen, errors.New(d.Preview.Err)
	case due.At.IsZero() && due.Shift == 0 && d.Op == queue.OpReschedule:
		return due, FocusWhen, errors.New(whenMissing)
	case due.At.IsZero() && due.Shift == 0:
		due.At = now
	}
	for _, part := range []struct {
		field Field
		focus Focus
		value *time.Duration
	}{{d.Spread, FocusSpread, &due.Spread}, {d.Jitter, FocusJitter, &due.Jitter}} {
		text := d.text(part.field)
		if text == "" {
			continue
		}
		if *part.value, err = when.ParseDuration(text); err != nil {
			return due, part.focus, errors.New("expected a duration like 10m, or nothing")
		}
	}
	return due, FocusYes, nil
}
