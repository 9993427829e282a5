package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"redq/model"
	"redq/queue"
)

func (f *fake) Edit(context.Context, queue.Queue, queue.Message, []byte) queue.Report {
	return queue.Report{Op: queue.OpEdit, Results: []queue.Result{{Outcome: queue.Gone, Err: queue.ErrGone}}}
}

// edits is an editor that does to every text what write does.
func edits(write func(string) string, err error) option {
	return func(c *model.Config) {
		c.Edit = func(text []byte, _ string, done func([]byte, error) tea.Msg) tea.Cmd {
			return func() tea.Msg { return done([]byte(write(string(text))), err) }
		}
	}
}

// editScenes are the dialogs of an edit, each on the first message of a place.
func editScenes() map[string]struct {
	write func(string) string
	err   error
	keys  string
} {
	replace := strings.NewReplacer("12.50", "12.05", "timeout", "retry, since the bank was away").Replace
	return map[string]struct {
		write func(string) string
		err   error
		keys  string
	}{
		"review":  {replace, nil, "enter 2 e"},
		"redrive": {replace, nil, "enter 2 e space tab"},
		"delayed": {func(s string) string { return s + "\nand more\n" }, nil, "enter 3 e space space"},
		"gone":    {replace, nil, "enter 2 e y"},
		"broken":  {func(s string) string { return strings.Replace(s, ",", "", 1) }, nil, "enter 2 enter e"},
		"failed":  {replace, errors.New("the editor vim ended with exit status 1"), "enter 2 e"},
		"hostile": {func(string) string { return "\x1b[2J\x1b]52;c;aGk=\x07\r\u202e\xff\x9b\n\t注文\n" }, nil, "enter 2 e a G"},
		"long": {func(s string) string {
			return strings.Replace(s, `"b"`, `"b"`+strings.Repeat(",\n      \"注文-and-a-rather-long-element-of-the-list-of-tags\"", 40), 1)
		}, nil, "enter 2 e j j j"},
		"long-line": {func(s string) string {
			return strings.Replace(s, "timeout", strings.Repeat("a very long reason ", 20), 1)
		}, nil, "enter 2 e"},
	}
}

func TestEditFrames(t *testing.T) {
	for name, s := range editScenes() {
		for _, size := range [][2]int{{80, 24}, {120, 36}} {
			t.Run(fmt.Sprintf("%s/%dx%d", name, size[0], size[1]), func(t *testing.T) {
				d := plain(t, normalServer(), edits(s.write, s.err))
				d.resize(size[0], size[1])
				d.press(s.keys)
				requireFrame(t, d.frame(), size[0], size[1])
			})
		}
	}
}

// Every size: the frame is whole, and nothing that the editor left reaches the terminal.
func TestEditAtEverySize(t *testing.T) {
	for name, s := range editScenes() {
		d := plain(t, normalServer(), edits(s.write, s.err))
		d.press(s.keys)
		for w := 60; w < 170; w += 7 {
			for h := 18; h < 60; h += 5 {
				d.resize(w, h)
				checkFrame(t, d.frame(), w, h)
				if t.Failed() {
					t.Fatalf("%s at %dx%d", name, w, h)
				}
			}
		}
	}
}

// Lines that were removed and added differ in colour beside their sign.
func TestEditColours(t *testing.T) {
	theme := testTheme(termenv.TrueColor, true)
	d := open(t, normalServer(), theme, edits(editScenes()["review"].write, nil))
	d.resize(80, 24)
	d.press("enter 2 e")
	frame := d.frame()
	for _, want := range []string{
		theme.Bad.Paint(`-     "amount": 12.50,`), theme.Good.Paint(`+     "amount": 12.05,`),
	} {
		if !strings.Contains(frame, want) {
			t.Errorf("%q is not in\n%s", want, frame)
		}
	}
}
