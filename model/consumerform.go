package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
	"redq/queue/handler"
)

// ConsumerDialog is the form for a consumer that redq itself shall run.
type ConsumerDialog struct {
	DialogHead
	Patterns []PatternChoice
	Chosen   int  // index into Patterns
	Guessed  bool // the queue's own pattern is a guess, and chosen
	Kind     handler.Kind
	Command  Field // of exec
	URL      Field // of post
	Rates    Field // of simulate
	Workers  Field // messages handled at once
	Attempts Field // in all; "" is the pattern's default
	Conflict queue.LockConflict
	Focus    Focus // FocusPattern, FocusKind, FocusDetail, FocusWorkers, FocusAttempts, FocusConflict, FocusNo, FocusYes
}

// PatternChoice is a pattern as the form offers it.
type PatternChoice struct {
	Pattern queue.Pattern
	Number  string // P1 to P8
	About   string // how it takes messages
	Refusal string // why this queue cannot be consumed so; "" when it can
}

// about says how a pattern takes messages.
func about(p queue.Pattern) string {
	switch p {
	case queue.ListPoll:
		return "plain list, looked at every second"
	case queue.ListBlock:
		return "plain list, blocking pop"
	case queue.ZsetRace:
		return "sorted set, several race for each message"
	case queue.ZsetScript:
		return "sorted set, one script finds and removes"
	case queue.LockRetry:
		return "a lock for the handler, else later"
	case queue.Dispatch:
		return "sorted set by type, put back when it fails"
	case queue.BackupList:
		return "list into a backup list"
	case queue.Pipeline:
		return "all together: delays, retries, recovery"
	}
	return ""
}

// Defaults of the form.
const (
	defaultWorkers = "10"
	defaultRates   = "latency=50ms±20ms fail=5%"
	mostWorkers    = 1000
	mostAttempts   = 1000
)

// newConsumerDialog offers the patterns; refusal tells why one does not suit the queue.
func newConsumerDialog(h DialogHead, q queue.Queue, refusal func(queue.Pattern) string) ConsumerDialog {
	h.Title = "Start a consumer on " + shown(q.Name)
	d := ConsumerDialog{
		DialogHead: h, Kind: handler.KindLog, Rates: newField(defaultRates), Workers: newField(defaultWorkers),
		Conflict: queue.LockDefer, Focus: FocusPattern,
	}
	for i, p := range queue.Patterns() {
		d.Patterns = append(d.Patterns, PatternChoice{p, fmt.Sprintf("P%d", i+1), about(p), refusal(p)})
	}
	d.Chosen = d.suited(q)
	d.Guessed = q.Guessed&queue.GuessedPattern != 0 && d.pattern() == q.Pattern
	return d
}

// suited returns the queue's own pattern, or else the one that loses least of
// those that can be.
func (d ConsumerDialog) suited(q queue.Queue) int {
	for _, p := range []queue.Pattern{q.Pattern, queue.BackupList, queue.Pipeline, queue.ZsetScript} {
		for i, c := range d.Patterns {
			if c.Pattern == p && c.Refusal == "" {
				return i
			}
		}
	}
	return 0
}

// again returns the form filled in as a consumer was started before.
func (d ConsumerDialog) again(s ConsumerSettings) ConsumerDialog {
	d.Title = "Start again on " + shown(s.Queue.Name)
	d.Chosen = max(0, slices.IndexFunc(d.Patterns, func(c PatternChoice) bool { return c.Pattern == s.Pattern }))
	d.Guessed, d.Focus = false, FocusNo
	d.Kind, d.Command, d.URL = s.Handler.Kind, newField(s.Handler.Command), newField(s.Handler.URL)
	if s.Handler.Kind == handler.KindSimulate {
		d.Rates = newField(s.Handler.Simulation.String())
	}
	d.Workers, d.Attempts = newField(strconv.Itoa(s.Concurrency)), newField("")
	if s.Attempts > 0 {
		d.Attempts = newField(strconv.Itoa(s.Attempts))
	}
	if s.Conflict != "" {
		d.Conflict = s.Conflict
	}
	return d
}

func (d ConsumerDialog) pattern() queue.Pattern { return d.Patterns[d.Chosen].Pattern }

// Promise says in one line how often a message is handled, and what is lost when.
func (d ConsumerDialog) Promise() string {
	switch {
	case d.pattern() == queue.BackupList:
		return "at least once; a message that fails stays in backup"
	case d.pattern().AtLeastOnce():
		return "at least once; a message may come twice when a worker dies"
	}
	return "at most once; what is in hand is lost when redq is killed"
}

// Consequence says what the handler does with the messages of a live system.
func (d ConsumerDialog) Consequence() string {
	switch d.Kind {
	case handler.KindLog:
		return "Each message is shown in the event log, acknowledged, and gone from the queue."
	case handler.KindExec:
		return "Each message goes to the command's input; exit 0 acknowledges it: it is gone then."
	case handler.KindPost:
		return "Each message is posted to the URL; a 2xx acknowledges it: it is gone then."
	}
	return "Nothing is done with a message but to acknowledge it: it is gone then."
}

// Retries reports whether the pattern tries a failed message again.
func (d ConsumerDialog) Retries() bool { return d.pattern() != queue.BackupList }

// DefaultAttempts is how many attempts a message has when the field is left empty.
func (d ConsumerDialog) DefaultAttempts() int {
	switch d.pattern() {
	case queue.Pipeline, queue.LockRetry, queue.Dispatch:
		return 5
	}
	return 1
}

// Locks reports whether the pattern needs a lock.
func (d ConsumerDialog) Locks() bool { return d.pattern() == queue.LockRetry }

func (d ConsumerDialog) withHead(h DialogHead) Dialog {
	d.DialogHead = h
	return d
}

func (d ConsumerDialog) typing() bool {
	switch d.Focus {
	case FocusDetail, FocusWorkers, FocusAttempts:
		return true
	}
	return false
}

// parts returns what can have the focus.
func (d ConsumerDialog) parts() []Focus {
	parts := []Focus{FocusPattern, FocusKind}
	if d.Kind != handler.KindLog {
		parts = append(parts, FocusDetail)
	}
	parts = append(parts, FocusWorkers)
	if d.Retries() {
		parts = append(parts, FocusAttempts)
	}
	if d.Locks() {
		parts = append(parts, FocusConflict)
	}
	return append(parts, FocusNo, FocusYes)
}

// Detail returns the text that the chosen kind of handler needs.
func (d ConsumerDialog) Detail() Field { return *d.detail() }

func (d *ConsumerDialog) detail() *Field {
	switch d.Kind {
	case handler.KindExec:
		return &d.Command
	case handler.KindPost:
		return &d.URL
	}
	return &d.Rates
}

func (d ConsumerDialog) key(k tea.KeyMsg, _ time.Time) (Dialog, Intent) {
	if d.typing() {
		return d.fieldKey(k)
	}
	if changed, ok := d.choiceKey(k); ok {
		return changed, nil
	}
	var v verdict
	switch d.Focus, v = answer(k, d.Focus, d.parts()...); v {
	case verdictYes:
		return d.submitted()
	case verdictNo:
		return d, closeIt{}
	case verdictOther:
		return noted(d, "y starts it, n does not, 1 to 8 choose the pattern"), nil
	}
	return d, nil
}

// choiceKey takes a key that changes what the focus is on.
func (d ConsumerDialog) choiceKey(k tea.KeyMsg) (ConsumerDialog, bool) {
	s := k.String()
	if len(s) == 1 && s >= "1" && s <= "8" {
		return d.choosing(int(s[0] - '1')), true
	}
	by := 0
	switch s {
	case "down", "j", "right", "l", " ":
		by = 1
	case "up", "k", "left", "h":
		by = -1
	}
	vertical := s == "down" || s == "up" || s == "j" || s == "k"
	switch {
	case by == 0:
		return d, false
	case d.Focus == FocusPattern && vertical:
		return d.choosing(d.Chosen + by), true
	case d.Focus == FocusKind && !vertical:
		d.Kind = stepped(handler.Kinds(), d.Kind, by)
		return d, true
	case d.Focus == FocusConflict && !vertical:
		d.Conflict = stepped([]queue.LockConflict{queue.LockFail, queue.LockSleep, queue.LockDefer}, d.Conflict, by)
		return d, true
	}
	return d, false
}

// choosing chooses a pattern; one that does not suit the queue is only looked at.
func (d ConsumerDialog) choosing(i int) ConsumerDialog {
	d.Chosen, d.Guessed = max(0, min(i, len(d.Patterns)-1)), false
	return d
}

func stepped[T comparable](all []T, now T, by int) T {
	i := max(0, slices.Index(all, now))
	return all[(i+by+len(all))%len(all)]
}

func (d ConsumerDialog) fieldKey(k tea.KeyMsg) (Dialog, Intent) {
	field := d.detail()
	switch d.Focus {
	case FocusWorkers:
		field = &d.Workers
	case FocusAttempts:
		field = &d.Attempts
	}
	switch {
	case k.Type == tea.KeyEsc:
		return d, closeIt{}
	case k.Type == tea.KeyTab, k.Type == tea.KeyDown, k.Type == tea.KeyEnter && !k.Paste:
		d.Focus = stepFocus(d.Focus, 1, d.parts())
	case k.Type == tea.KeyShiftTab, k.Type == tea.KeyUp:
		d.Focus = stepFocus(d.Focus, -1, d.parts())
	case d.Focus != FocusDetail && !digits(k):
		return noted(d, "a number is expected here"), nil
	default:
		*field, _ = field.update(k)
	}
	return d, nil
}

// digits reports whether a key types nothing but digits, or types nothing.
func digits(k tea.KeyMsg) bool {
	return k.Type != tea.KeySpace &&
		(k.Type != tea.KeyRunes || !slices.ContainsFunc(k.Runes, func(r rune) bool { return r < '0' || r > '9' }))
}

// submitted asks to start the consumer, if the form is filled in.
func (d ConsumerDialog) submitted() (Dialog, Intent) {
	if why := d.Patterns[d.Chosen].Refusal; why != "" {
		d.Focus = FocusPattern
		return noted(d, why), nil
	}
	s, at, err := d.settings()
	if err != nil {
		d.Focus = at
		return noted(d, err.Error()), nil
	}
	return d, startConsumer{s}
}

// settings reads the form. at is the part that an error is about.
func (d ConsumerDialog) settings() (s ConsumerSettings, at Focus, err error) {
	s = ConsumerSettings{Queue: d.queue, Pattern: d.pattern()}
	s.Handler = handler.Spec{Kind: d.Kind, Command: d.Command.Text(), URL: strings.TrimSpace(d.URL.Text()), Queue: d.Queue}
	if d.Kind == handler.KindSimulate {
		if s.Handler.Simulation, err = handler.ParseSimulation(d.Rates.Text()); err != nil {
			return s, FocusDetail, err
		}
	}
	if _, err := s.Handler.Build(); err != nil {
		return s, FocusDetail, err
	}
	if s.Concurrency, err = wholeNumber(d.Workers, "workers", mostWorkers); err != nil {
		return s, FocusWorkers, err
	}
	if d.Retries() && strings.TrimSpace(d.Attempts.Text()) != "" {
		if s.Attempts, err = wholeNumber(d.Attempts, "attempts", mostAttempts); err != nil {
			return s, FocusAttempts, err
		}
	}
	if d.Locks() {
		s.Conflict = d.Conflict
	}
	return s, FocusYes, nil
}

func wholeNumber(f Field, what string, most int) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(f.Text()))
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%s: expected a number from 1 to %s", what, Thousands(int64(most)))
	}
	return n, nil
}
