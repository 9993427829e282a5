package tape

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// word is a part of a line: quoted text, or anything between blanks.
type word struct {
	text   string
	quoted bool
}

// split splits a line at blanks. Text in ", ' or ` keeps them and knows no escapes.
func split(line string) ([]word, error) {
	var words []word
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if strings.ContainsRune("\"'`", rune(line[0])) {
			text, rest, ok := strings.Cut(line[1:], line[:1])
			if !ok {
				return nil, fmt.Errorf("%s is not closed", line)
			}
			words, line = append(words, word{text, true}), rest
			continue
		}
		end := strings.IndexAny(line, " \t")
		if line[0] == '/' { // a pattern may hold blanks
			end = 2 + strings.IndexByte(line[1:], '/')
		}
		if end <= 0 || end == 1 {
			end = len(line)
		}
		words, line = append(words, word{text: line[:end]}), line[end:]
	}
	return words, nil
}

// directive reads a line that does something.
func (p *parser) directive(words []word) error {
	head, args := words[0].text, words[1:]
	if words[0].quoted {
		return fmt.Errorf("%q is no directive", head)
	}
	name, speed, timed := strings.Cut(head, "@")
	var pause time.Duration
	if timed {
		var err error
		if pause, err = duration(speed); err != nil {
			return err
		}
	}
	switch name {
	case "Type":
		return p.typed(args, pause)
	case "Wait", "Wait+Line", "Wait+Screen":
		return p.wait(name, args)
	}
	if key, ok := keyOf(name); ok {
		return p.press(key, args, pause, timed)
	}
	if timed {
		return fmt.Errorf("%s takes no speed", name)
	}
	return p.plain(name, args)
}

// plain reads the directives that take no speed.
func (p *parser) plain(name string, args []word) error {
	switch name {
	case "Hide", "Show":
		if len(args) != 0 {
			return fmt.Errorf("%s takes nothing", name)
		}
		return nil
	case "Set":
		return p.set(args)
	case "Env":
		if len(args) != 2 {
			return errors.New("a name and a value belong behind Env")
		}
		p.tape.Env = append(p.tape.Env, args[0].text+"="+args[1].text)
		return nil
	}
	if len(args) != 1 {
		return fmt.Errorf("%s: unknown, or not with %d arguments", name, len(args))
	}
	text := args[0].text
	switch name {
	case "Output":
		p.tape.Outputs = append(p.tape.Outputs, text)
		return oneOf("Output to", filepath.Ext(text), ".gif", ".mp4", ".webm", ".ascii", ".txt", ".test")
	case "Require":
		p.tape.Requires = append(p.tape.Requires, text)
		return nil
	case "Screenshot":
		p.act(Step{Kind: Screenshot, Text: text})
		return oneOf("Screenshot to", filepath.Ext(text), ".png")
	case "Sleep":
		d, err := duration(text)
		p.act(Step{Kind: Sleep, Time: d})
		return err
	}
	return fmt.Errorf("%s: unknown directive", name)
}

func (p *parser) typed(args []word, pause time.Duration) error {
	if len(args) != 1 || !args[0].quoted || args[0].text == "" {
		return errors.New("one text in quotes belongs behind Type")
	}
	p.act(Step{Kind: Type, Text: args[0].text, Time: pause})
	return nil
}

func (p *parser) press(key string, args []word, pause time.Duration, timed bool) error {
	s := Step{Kind: Press, Key: key, Count: 1, Time: pause}
	combined := strings.Contains(key, "+")
	switch {
	case len(args) > 1, combined && (timed || len(args) > 0):
		return fmt.Errorf("too much behind the key %s", key)
	case len(args) == 1:
		n, err := strconv.Atoi(args[0].text)
		if err != nil || n < 1 {
			return fmt.Errorf("%s is no count", args[0].text)
		}
		s.Count = n
	}
	p.act(s)
	return nil
}

func (p *parser) wait(name string, args []word) error {
	s := Step{Kind: Wait, Screen: name == "Wait+Screen"}
	if len(args) > 1 {
		return errors.New("one /pattern/ belongs behind Wait")
	}
	if len(args) == 1 {
		expr, ok := regexpOf(args[0].text)
		if !ok {
			return fmt.Errorf("%s is no /pattern/", args[0].text)
		}
		var err error
		if s.Pattern, err = regexp.Compile(expr); err != nil {
			return err
		}
	}
	p.act(s)
	return nil
}

// keyOf returns the key of a directive, as uitest.Term.Press names it.
func keyOf(name string) (string, bool) {
	switch name {
	case "Enter", "Tab", "Space", "Backspace", "Delete", "Insert", "Up", "Down", "Left", "Right", "Shift+Tab", "Alt+Enter":
		return strings.ToLower(name), true
	case "Escape":
		return "esc", true
	case "PageUp":
		return "pgup", true
	case "PageDown":
		return "pgdown", true
	}
	letter, ok := strings.CutPrefix(name, "Ctrl+")
	if !ok || len(letter) != 1 || !strings.ContainsAny(letter, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		return "", false
	}
	return "ctrl+" + strings.ToLower(letter), true
}

// set reads a setting. vhs ignores all but TypingSpeed once something happened.
func (p *parser) set(args []word) error {
	if len(args) != 2 {
		return errors.New("a name and a value belong behind Set")
	}
	name, value := args[0].text, args[1].text
	if p.acted && name != "TypingSpeed" {
		return fmt.Errorf("setting %s has no effect here: it belongs before all that happens", name)
	}
	p.tape.Settings[name] = value
	switch name {
	case "FontSize", "Width", "Height", "Padding", "Margin", "BorderRadius", "WindowBarSize", "Framerate":
		if n, err := strconv.Atoi(value); err != nil || n < 0 {
			return fmt.Errorf("setting %s takes a whole number", name)
		}
	case "LineHeight", "LetterSpacing", "PlaybackSpeed", "LoopOffset":
		if _, err := strconv.ParseFloat(strings.TrimSuffix(value, "%"), 64); err != nil {
			return fmt.Errorf("setting %s takes a number", name)
		}
	case "TypingSpeed", "WaitTimeout":
		_, err := duration(value)
		return err
	case "CursorBlink":
		return oneOf("Set CursorBlink", value, "true", "false")
	case "WindowBar":
		return oneOf("Set WindowBar", value, "", "Colorful", "ColorfulRight", "Rings", "RingsRight")
	case "Theme", "FontFamily", "Shell", "MarginFill", "WaitPattern":
	default:
		return fmt.Errorf("there is no setting %s", name)
	}
	return nil
}

// duration reads vhs's times: 500ms, 2s, 1m, and seconds without a unit.
func duration(text string) (time.Duration, error) {
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		text += "s"
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no time", text)
	}
	return d, nil
}

func regexpOf(text string) (expr string, ok bool) {
	if len(text) > 2 && text[0] == '/' && text[len(text)-1] == '/' {
		return text[1 : len(text)-1], true
	}
	return "", false
}

func oneOf(what, got string, allowed ...string) error {
	if slices.Contains(allowed, got) {
		return nil
	}
	return fmt.Errorf("%s %q: it takes one of %q", what, got, allowed)
}
