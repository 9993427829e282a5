package model

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"redq/model/when"
	"redq/queue"
	"redq/queue/filter"
)

// Scope says which messages of a place an action takes.
type Scope uint8

// The scopes.
const (
	ScopeOne      Scope = iota // the selected message, or the open one
	ScopeMarked                // those that are marked
	ScopeMatching              // all that match the filter
	ScopeAll                   // all of the place
	ScopeQueue                 // all of all its places
)

// Offer is a set of messages that an action can take.
type Offer struct {
	Scope Scope
	Count int64
	More  bool // the search is not at its end: there may be more
}

// String is the offer in a word or two.
func (o Offer) String() string {
	n := Thousands(o.Count)
	if o.More {
		n += "+"
	}
	switch o.Scope {
	case ScopeMarked:
		return n + " marked"
	case ScopeMatching:
		return n + " that match"
	case ScopeAll:
		return "all " + n
	case ScopeQueue:
		return "whole queue"
	}
	return "this one"
}

// Taking is the part of a form that says which messages are taken, and how fast.
type Taking struct {
	Offers []Offer
	Chosen int   // index into Offers
	Limit  int64 // the oldest so many; 0: all
	Rate   Field // messages a second; empty: full speed
	Died   Field // pauses when so many more are dead; empty: never

	one, marked []queue.Message
	filter      filter.Matcher
	watches     bool // the queue has a dead
}

// oneByOne is up to how many messages are dealt with one by one, at once. More are a job.
const oneByOne = 100

// Offer returns the set that is chosen.
func (t Taking) Offer() Offer {
	if t.Chosen < 0 || t.Chosen >= len(t.Offers) {
		return Offer{}
	}
	return t.Offers[t.Chosen]
}

// Messages returns the messages of the set, where they are known one by one.
func (t Taking) Messages() []queue.Message {
	switch t.Offer().Scope {
	case ScopeOne:
		return t.one
	case ScopeMarked:
		return t.marked
	}
	return nil
}

// Many reports whether the set may have more than one message.
func (t Taking) Many() bool { return t.Offer().Count > 1 || t.Offer().More }

// Watches reports whether it can be told when messages die meanwhile.
func (t Taking) Watches() bool { return t.watches && t.Many() }

// atOnce reports whether the set is so small that it needs no job.
func (t Taking) atOnce() bool {
	n := len(t.Messages())
	return n > 0 && n <= oneByOne && t.limit() == 0 && t.text(t.Rate) == "" && t.text(t.Died) == ""
}

// limit is Limit where it means something.
func (t Taking) limit() int64 {
	if !t.Many() {
		return 0
	}
	return t.Limit
}

// text is what was typed into a field of the form, where the field means something.
func (t Taking) text(f Field) string {
	if !t.Many() {
		return ""
	}
	return strings.TrimSpace(f.Text())
}

// titled names a deed and its messages: "Delete 3 marked messages".
func (t Taking) titled(verb string, p queue.Place) string {
	o := t.Offer()
	n := Thousands(o.Count)
	if o.More {
		n += " or more"
	}
	what := "messages"
	if o.Count == 1 && !o.More {
		what = "message"
	}
	limit := ""
	if t.limit() > 0 && t.limit() < o.Count {
		limit = fmt.Sprintf("the oldest %s of ", Thousands(t.limit()))
	}
	switch o.Scope {
	case ScopeMarked:
		return fmt.Sprintf("%s %s%s marked %s", verb, limit, n, what)
	case ScopeMatching:
		return fmt.Sprintf("%s %s%s %s of %s that match", verb, limit, n, what, p)
	case ScopeAll:
		return fmt.Sprintf("%s %sall %s %s of %s", verb, limit, n, what, p)
	}
	return fmt.Sprintf("%s %s %s", verb, n, what)
}

// parts returns what of it can have the focus.
func (t Taking) parts() []Focus {
	var parts []Focus
	if len(t.Offers) > 1 {
		parts = append(parts, FocusTake)
	}
	if t.Many() {
		parts = append(parts, FocusLimit, FocusRate)
	}
	if t.Watches() {
		parts = append(parts, FocusDied)
	}
	return parts
}

// key takes a key that changes a choice.
func (t Taking) key(k tea.KeyMsg, focus Focus) (Taking, bool) {
	by := 1
	switch k.String() {
	case KeyTake:
		focus = FocusTake
	case KeyOldest:
		focus = FocusLimit
	case " ", "right", "l":
	case "left", "h":
		by = -1
	default:
		return t, false
	}
	switch {
	case focus == FocusTake && len(t.Offers) > 1:
		t.Chosen = (t.Chosen + by + len(t.Offers)) % len(t.Offers)
	case focus == FocusLimit && t.Many():
		t.Limit = stepped(limits(), t.Limit, by)
	default:
		return t, false
	}
	return t, true
}

// limits are those that are offered.
func limits() []int64 { return []int64{0, 1, 10, 100} }

// field returns the text field that has the focus.
func (t *Taking) field(focus Focus) *Field {
	switch focus {
	case FocusRate:
		return &t.Rate
	case FocusDied:
		return &t.Died
	}
	return nil
}

// read reads the fields. at is the part that an error is about.
func (t Taking) read() (rate float64, died int64, at Focus, err error) {
	if s := t.text(t.Rate); s != "" {
		if rate, err = when.ParseRate(s); err != nil {
			return 0, 0, FocusRate, fmt.Errorf("rate: %w; empty is full speed", err)
		}
	}
	if t.Watches() && t.text(t.Died) != "" {
		n, err := wholeNumber(t.Died, "pause", 1_000_000)
		if err != nil {
			return 0, 0, FocusDied, fmt.Errorf("%w, or nothing", err)
		}
		died = int64(n)
	}
	return rate, died, FocusYes, nil
}

// taking returns what an action can take: the open message, or of the list in front those
// that are marked, the selected one, all that match and all. What is known one by one is a
// copy: what comes later does not change it.
func (m Model) taking(q queue.Queue, op queue.Op) Taking {
	t := Taking{watches: op == queue.OpRedrive && q.Has(queue.Dead)}
	if m.Screen == MessageScreen {
		t.one = []queue.Message{m.Message.Message}
		t.Offers = []Offer{{Scope: ScopeOne, Count: 1}}
		return t
	}
	l := m.Queue.List()
	if row, ok := l.Selected(); ok && !l.Gone {
		t.one = []queue.Message{row.Message}
		t.Offers = append(t.Offers, Offer{Scope: ScopeOne, Count: 1})
	}
	if n := l.Marks.Len(); n > 0 {
		t.marked = slices.Clone(l.Marks.messages())
		t.Chosen = len(t.Offers)
		t.Offers = append(t.Offers, Offer{Scope: ScopeMarked, Count: int64(n)})
	}
	total := l.Total
	if l.Search.Text != "" {
		t.filter = l.Search.matcher
		total = l.Search.Of
		if n := l.Matched(); n > 0 {
			t.Offers = append(t.Offers, Offer{Scope: ScopeMatching, Count: n, More: l.Search.Running})
		}
	}
	if row, ok := m.Row(q.Name); ok {
		if c := count(row.Sample, m.Queue.Place); c.State == queue.Known {
			total = c.N
		}
	}
	if total > 1 || len(t.Offers) == 0 {
		t.Offers = append(t.Offers, Offer{Scope: ScopeAll, Count: total})
	}
	return t
}
