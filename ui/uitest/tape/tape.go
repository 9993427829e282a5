// Package tape reads tapes of charmbracelet/vhs. It knows their language, and
// nothing of programs or terminals.
//
// It is stricter than vhs, which takes an empty tape and ignores a setting that
// comes too late: one directive a line, and everything that has no effect is an
// error. To vhs's language it adds promises, which are comments to vhs:
//
//	# expect: text     text comes to be on the screen, on one line
//	# expect: /re/     the same for a regular expression
//	# gone: text       text is not on the screen any more
//
// vhs's language is described by `vhs manual`. Copy, Paste and Source are not read.
package tape

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Tape is what a tape says.
type Tape struct {
	Outputs  []string          // files to record to
	Requires []string          // programs that must be on PATH
	Settings map[string]string // by name, as written
	Env      []string          // KEY=value
	Steps    []Step            // in order; Hide and Show are not kept
}

// Kind is what a step does.
type Kind string

// The kinds of steps.
const (
	Type       Kind = "Type"       // presses a key for each character of Text
	Press      Kind = "Press"      // presses Key, Count times
	Sleep      Kind = "Sleep"      // lets the viewer look, for Time
	Wait       Kind = "Wait"       // waits until Pattern matches
	Screenshot Kind = "Screenshot" // writes a picture to the file Text
	Expect     Kind = "Expect"     // promises Text or, when not nil, a match of Pattern
	Gone       Kind = "Gone"       // promises that Text is not there
)

// Step is one act, or one promise.
type Step struct {
	Line    int // in the file, from 1
	Kind    Kind
	Text    string
	Key     string // as uitest.Term.Press names it
	Count   int
	Time    time.Duration  // of Sleep, and between the keys of Type and Press; 0 for the tape's speed
	Screen  bool           // Wait looks at the whole screen, else at the line of the cursor
	Pattern *regexp.Regexp // of Wait nil means the prompt
}

// Parse reads a tape. The error names the line.
func Parse(text string) (Tape, error) {
	p := parser{tape: Tape{Settings: map[string]string{}}}
	for line := range strings.Lines(text) {
		p.line++
		if err := p.read(strings.TrimSpace(line)); err != nil {
			return Tape{}, fmt.Errorf("line %d: %w", p.line, err)
		}
	}
	switch {
	case len(p.tape.Outputs) == 0:
		return Tape{}, fmt.Errorf("no Output says where to record to")
	case !p.acted:
		return Tape{}, fmt.Errorf("nothing happens")
	}
	return p.tape, nil
}

type parser struct {
	tape  Tape
	line  int
	acted bool // a step that is no promise was read
}

func (p *parser) read(line string) error {
	if line == "" {
		return nil
	}
	if comment, ok := strings.CutPrefix(line, "#"); ok {
		return p.comment(strings.TrimSpace(comment))
	}
	words, err := split(line)
	if err != nil {
		return err
	}
	return p.directive(words)
}

// comment reads a promise; all other comments are for people.
func (p *parser) comment(text string) error {
	kind, rest, ok := strings.Cut(text, ":")
	rest = strings.TrimSpace(rest)
	if !ok || kind != "expect" && kind != "gone" {
		return nil
	}
	switch {
	case rest == "":
		return fmt.Errorf("%s: of what", kind)
	case !p.acted:
		return fmt.Errorf("%s: before anything happens", kind)
	case kind == "gone":
		p.add(Step{Kind: Gone, Text: rest})
		return nil
	}
	s := Step{Kind: Expect, Text: rest}
	if expr, ok := regexpOf(rest); ok {
		var err error
		if s.Pattern, err = regexp.Compile(expr); err != nil {
			return err
		}
	}
	p.add(s)
	return nil
}

func (p *parser) add(s Step) {
	s.Line = p.line
	p.tape.Steps = append(p.tape.Steps, s)
}

func (p *parser) act(s Step) {
	p.add(s)
	p.acted = true
}
