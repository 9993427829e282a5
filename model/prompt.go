package model

import (
	"errors"
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"redq/queue/filter"
)

// PromptKind says what the text of the prompt is for.
type PromptKind uint8

// The prompts.
const (
	NoPrompt PromptKind = iota
	FilterPrompt
	CommandPrompt
)

// Prompt is the line at the bottom in which a filter or a command is typed.
type Prompt struct {
	Kind  PromptKind
	Field Field
	Err   string // what is wrong with the text so far
	ErrAt int    // byte of the text at which Err points; -1 nowhere
	ErrTo int    // where what is wrong ends; at ErrAt when something is missing there

	Completions []string // what tab would make of the text, best first
	Completed   int      // index of the completion in the field; -1 none yet

	before string // the filter as it was: esc brings it back
}

// openPrompt starts typing; text is what is there already.
func openPrompt(kind PromptKind, text string) Prompt {
	return Prompt{Kind: kind, Field: newField(text), ErrAt: -1, Completed: -1, before: text}
}

// typed takes a key that is text.
func (p Prompt) typed(k tea.KeyMsg) Prompt {
	field, ok := p.Field.update(k)
	if !ok {
		return p
	}
	p.Field, p.Err, p.ErrAt, p.Completed = field, "", -1, -1
	return p
}

// failed shows what is wrong with the text.
func (p Prompt) failed(err error) Prompt {
	p.Err, p.ErrAt = err.Error(), -1
	var at *filter.Error
	if !errors.As(err, &at) {
		return p
	}
	// The filter is the end of what was typed, perhaps without blanks around it.
	if start := strings.LastIndex(p.Field.Text(), at.Text); start >= 0 {
		p.Err, p.ErrAt = at.Reason, start+at.At
		p.ErrTo = p.ErrAt + at.Len
	}
	return p
}

// FilterTerms returns what a filter on the page in front is made of, for the help: its
// keys are examples, the important ones first. A page that cannot be filtered has none.
func (m Model) FilterTerms() HelpGroup {
	term := func(example, means string) key.Binding { return key.NewBinding(key.WithHelp(example, means)) }
	g := HelpGroup{Title: "Filter: all terms must match", Bindings: []key.Binding{
		term("text", "it is in there"),
		term(`"two words"`, "with the blank"),
		term("/regex/", "matches"),
		term("!text", "not so, of any term"),
	}}
	if ok, _ := m.canFilter(); !ok {
		return HelpGroup{}
	}
	if m.Screen != QueueScreen {
		return g
	}
	g.Bindings = append(g.Bindings,
		term(".user == 42", "jq, to the end"),
		term("due<10m", "due by then, or late"),
		term("age>5m", "seen here for longer"),
		term("size>1k", "larger than 1 KiB"),
		term("due<-5m", "late for longer"),
		term("jq:'.a' text", "jq, then more terms"),
	)
	return g
}

// completed puts the next or previous completion into the field.
func (p Prompt) completed(by int) Prompt {
	n := len(p.Completions)
	if n == 0 {
		return p
	}
	if p.Completed < 0 && by < 0 {
		p.Completed = 0
	}
	p.Completed = (p.Completed + by + n) % n
	p.Field = newField(p.Completions[p.Completed])
	return p
}

// offering sets the completions, unless one of them is in the field.
func (p Prompt) offering(completions []string) Prompt {
	if p.Completed < 0 {
		p.Completions = slices.Clone(completions)
	}
	return p
}

// promptKey takes a key while the prompt is open.
func (m Model) promptKey(k tea.KeyMsg) (Model, tea.Cmd) {
	switch {
	case k.Type == tea.KeyEsc:
		return m.cancelPrompt()
	case k.Type == tea.KeyEnter && !k.Paste:
		return m.enterPrompt()
	case k.Type == tea.KeyTab:
		m.Prompt = m.Prompt.completed(1)
	case k.Type == tea.KeyShiftTab:
		m.Prompt = m.Prompt.completed(-1)
	case k.Type == tea.KeyBackspace && m.Prompt.Field.Text() == "":
		return m.cancelPrompt()
	default:
		m.Prompt = m.Prompt.typed(k)
		return m.promptTyped()
	}
	return m, nil
}

// promptTyped acts on text that is still being typed: names are filtered as one
// types; messages only on enter, since that asks the server.
func (m Model) promptTyped() (Model, tea.Cmd) {
	text := m.Prompt.Field.Text()
	if m.Prompt.Kind == CommandPrompt {
		m.Prompt = m.Prompt.offering(m.completions(text))
		return m, nil
	}
	match, err := m.parseFilter(text)
	if err != nil {
		m.Prompt = m.Prompt.failed(err)
		return m, nil
	}
	switch m.Screen {
	case OverviewScreen:
		m.Overview = m.Overview.filtered(text, match, m.Layout().Table.H)
		return m.needDistribution()
	case ConsumerScreen:
		m.Consumer = m.Consumer.filtered(text, match, m.logHeight())
	}
	return m, nil
}

// cancelPrompt closes the prompt; a filter is as it was before.
func (m Model) cancelPrompt() (Model, tea.Cmd) {
	p := m.Prompt
	m.Prompt = Prompt{}
	if p.Kind == FilterPrompt && (m.Screen == OverviewScreen || m.Screen == ConsumerScreen) {
		return m.do(setFilter{p.before})
	}
	return m, nil
}

// enterPrompt runs what was typed. What cannot be read keeps the prompt open.
func (m Model) enterPrompt() (Model, tea.Cmd) {
	p := m.Prompt
	text := p.Field.Text()
	var in Intent = setFilter{text}
	var err error
	if p.Kind == CommandPrompt {
		in, err = m.command(text)
	} else {
		_, err = m.parseFilter(text)
	}
	if err != nil {
		m.Prompt = p.failed(err)
		return m, nil
	}
	m.Prompt = Prompt{}
	return m.do(in)
}
