package tape_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"redq/ui/uitest/tape"
)

func TestParse(t *testing.T) {
	got, err := tape.Parse(`# A tape.
Output demo.gif
Require redq
Set FontSize 16
Set Theme "Catppuccin Mocha"
Env NO_COLOR "1"

Hide
Type@50ms 'say "hi"'
Enter
Show
# expect: orders
# expect: /\d+ ready/
# a remark: of no consequence
Down@100ms 3
Ctrl+C
Escape
Sleep 1.5
# gone: orders
Wait+Screen@5s /done/
Set TypingSpeed 20ms
Shift+Tab
Screenshot out.png
`)
	if err != nil {
		t.Fatal(err)
	}
	want := tape.Tape{
		Outputs:  []string{"demo.gif"},
		Requires: []string{"redq"},
		Settings: map[string]string{"FontSize": "16", "Theme": "Catppuccin Mocha", "TypingSpeed": "20ms"},
		Env:      []string{"NO_COLOR=1"},
		Steps: []tape.Step{
			{Line: 9, Kind: tape.Type, Text: `say "hi"`, Time: 50 * time.Millisecond},
			{Line: 10, Kind: tape.Press, Key: "enter", Count: 1},
			{Line: 12, Kind: tape.Expect, Text: "orders"},
			{Line: 13, Kind: tape.Expect, Text: `/\d+ ready/`, Pattern: regexp.MustCompile(`\d+ ready`)},
			{Line: 15, Kind: tape.Press, Key: "down", Count: 3, Time: 100 * time.Millisecond},
			{Line: 16, Kind: tape.Press, Key: "ctrl+c", Count: 1},
			{Line: 17, Kind: tape.Press, Key: "esc", Count: 1},
			{Line: 18, Kind: tape.Sleep, Time: 1500 * time.Millisecond},
			{Line: 19, Kind: tape.Gone, Text: "orders"},
			{Line: 20, Kind: tape.Wait, Screen: true, Pattern: regexp.MustCompile("done")},
			{Line: 22, Kind: tape.Press, Key: "shift+tab", Count: 1},
			{Line: 23, Kind: tape.Screenshot, Text: "out.png"},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ name, line, want string }{
		{"unknown directive", "Jump 3", "Jump"},
		{"unknown word alone", "Jump", "Jump"},
		{"not of this reader", `Source "other.tape"`, "Source"},
		{"text in front", `"redq"`, "no directive"},
		{"bare text", "Type redq", "quotes"},
		{"nothing typed", `Type ""`, "quotes"},
		{"open quote", `Type "redq`, "not closed"},
		{"two texts", `Type "redq" "demo"`, "quotes"},
		{"two directives", `Enter Sleep`, "count"},
		{"no count", "Down x", "count"},
		{"count of nought", "Down 0", "count"},
		{"speed that is none", "Down@fast 2", "time"},
		{"negative speed", "Down@-1s 2", "time"},
		{"speed where there is none", "Sleep@1s 2", "speed"},
		{"sleep of what", "Sleep", "Sleep"},
		{"sleep that is none", "Sleep long", "time"},
		{"unknown setting", "Set FontColour red", "FontColour"},
		{"setting without a value", "Set Width", "value"},
		{"width in words", "Set Width wide", "number"},
		{"blink in words", "Set CursorBlink yes", "CursorBlink"},
		{"late setting", "Enter\nSet Width 100", "no effect"},
		{"output of a kind that is none", "Output demo.doc", ".doc"},
		{"screenshot of a kind that is none", "Screenshot demo.gif", ".gif"},
		{"ctrl of nothing", "Ctrl+", "Ctrl+"},
		{"ctrl twice", "Ctrl+c 2", "too much"},
		{"ctrl of a word", "Ctrl+Delete", "Ctrl+Delete"},
		{"home is no key of vhs", "Home", "Home"},
		{"hide what", "Hide 1", "Hide"},
		{"a pattern that is none", "Wait orders", "pattern"},
		{"a pattern that does not compile", "Wait /(/", "parsing"},
		{"a promise of nothing", "Enter\n# expect:", "of what"},
		{"a promise before all", "# expect: orders", "before"},
		{"a promise that does not compile", "Enter\n# expect: /(/", "parsing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := "Output demo.gif\n" + tt.line + "\nEnter\n"
			_, err := tape.Parse(text)
			if err == nil {
				t.Fatalf("%q was taken", tt.line)
			}
			if !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "line ") {
				t.Errorf("got %q, want a line and %q", err, tt.want)
			}
		})
	}
	for name, text := range map[string]string{
		"empty": "", "comments only": "# nothing\n", "no output": "Enter\n", "no act": "Output a.gif\nSet Width 100\n",
	} {
		if _, err := tape.Parse(text); err == nil {
			t.Errorf("%s: was taken", name)
		}
	}
}
