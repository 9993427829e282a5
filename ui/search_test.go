package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"redq/model"
	"redq/queue/sieve"
)

func TestSearchTitle(t *testing.T) {
	p := painter{Theme: testTheme(termenv.Ascii, true)}
	search := func(s model.Search, searched, of, beyond, undecided int64) model.Search {
		s.Text = ".msg.user == 42"
		s.Scan = model.Scan{Searched: searched, Of: of, Beyond: beyond, Tally: sieve.Tally{Undecided: undecided}}
		return s
	}
	for _, tt := range []struct {
		search model.Search
		total  int64
		w      int
		want   string
	}{
		{model.Search{}, 5, 80, ""},
		{search(model.Search{Running: true}, 70_000, 1_000_000, 0, 0), 1234, 80, "/.msg.user == 42  1,234 match, 7% of 1,000,000 searched"},
		{search(model.Search{Running: true}, 999_999, 1_000_000, 0, 0), 1234, 80, "/.msg.user == 42  1,234 match, 99% of 1,000,000 searched"},
		{search(model.Search{Running: true}, 0, 0, 0, 0), 0, 80, "/.msg.user == 42  0 match, 0% of 0 searched"},
		{search(model.Search{Running: true}, 70_000, 1_000_000, 0, 33), 1234, 34, "1,234 match at 7%, 33 undecided"},
		{search(model.Search{}, 40_120, 40_000, 0, 0), 412, 80, "/.msg.user == 42  412 of 40,120 match"},
		{search(model.Search{}, 40_120, 40_000, 0, 0), 412, 29, "/.msg.u…  412 of 40,120 match"},
		{search(model.Search{}, 40_120, 40_000, 0, 0), 412, 22, "412 of 40,120 match"},
		{search(model.Search{}, 1_000_000, 1_000_000, 402_345, 3), 10_000, 80, "/.msg.user == 42  412,345 of 1,000,000 match, 3 undecided, 10,000 shown"},
		{search(model.Search{}, 1_000_000, 1_000_000, 402_345, 3), 10_000, 40, "/.msg.…  412k of 1.0M match, 3 undecided"},
		{search(model.Search{GaveUp: true, Err: "x"}, 1240, 40_000, 0, 20), 2, 80, "/.msg.user == 42  gave up at 1,240 of 40,000, 2 match, 20 undecided"},
		{search(model.Search{GaveUp: true, Err: "x"}, 1240, 40_000, 0, 20), 2, 40, "gave up at 1,240 of 40000, 20 undecided"},
		{search(model.Search{Err: "x"}, 10_000, 40_000, 0, 0), 2, 80, "/.msg.user == 42  stopped at 25%, 2 match"},
	} {
		got := ansi.Strip(p.searchTitle(model.List{Total: tt.total, Search: tt.search}, tt.w))
		if got != tt.want {
			t.Errorf("%d cells: %q, want %q", tt.w, got, tt.want)
		}
		for w := range 90 {
			if got := p.searchTitle(model.List{Total: tt.total, Search: tt.search}, w); width(got) > w {
				t.Fatalf("%q is wider than %d cells", got, w)
			}
		}
	}
}

func TestNothingFoundSaysWhy(t *testing.T) {
	p := painter{Theme: testTheme(termenv.Ascii, true), l: model.Layout{List: model.Rect{W: 80, H: 10}}}
	undecided := model.Scan{Searched: 7, Of: 10, Tally: sieve.Tally{Undecided: 3, Why: errors.New("the payload is text")}}
	for _, tt := range []struct {
		search model.Search
		want   []string
	}{
		{model.Search{Text: "a", Scan: model.Scan{Searched: 40_120}}, []string{"None of 40,120 messages matches", "esc clears"}},
		{model.Search{Text: "a", Scan: undecided}, []string{"None of 7 messages", "3 undecided: the payload is text"}},
		{model.Search{Text: "a", Scan: undecided, Running: true}, []string{"7 of 10 looked at", "esc cancels", "3 undecided"}},
		{model.Search{Text: "a", Scan: undecided, GaveUp: true, Err: "gave up: too slow"}, []string{"gave up: too slow"}},
	} {
		text := strings.Join(p.nothingFound(tt.search), "\n")
		for _, want := range tt.want {
			if !strings.Contains(text, want) {
				t.Errorf("%+v: %q does not say %q", tt.search, text, want)
			}
		}
	}
}

// Carets stand under what is wrong, however long or wide the text before it is.
func TestPromptPoints(t *testing.T) {
	for _, text := range []string{
		"size>big", "a b c size>big", "日本語 size>big", "\x1b[31m size>big", strings.Repeat("word ", 30) + "size>big",
	} {
		for w := 80; w < 140; w += 7 {
			d := plain(t, normalServer())
			d.resize(w, 30)
			d.press("enter 2 /")
			d.typed(strings.ReplaceAll(text, "\x1b", "")) // which no key sends
			lines := strings.Split(ansi.Strip(d.frame()), "\n")
			checkFrame(t, d.frame(), w, 30)
			above, below := lines[28], lines[29]
			if !strings.Contains(below, "^") { // the reason had to go into a line of its own
				above, below = lines[27], lines[28]
			}
			at, caret := strings.Index(above, "big"), strings.Index(below, "^^^")
			if at < 0 || caret < 0 || ansi.StringWidth(above[:at]) != ansi.StringWidth(below[:caret]) {
				t.Errorf("%d cells:\n%s\n%s", w, above, below)
			}
			if !strings.Contains(lines[28]+lines[29], "expected a size like 500, 10k or 1.5m") {
				t.Errorf("%d cells: no reason:\n%s\n%s", w, lines[28], lines[29])
			}
		}
	}
}

func TestHelpTellsTheTermsOfAFilter(t *testing.T) {
	for keys, terms := range map[string][]string{
		"?":         {"/regex/", "!text"},
		"enter 2 ?": {"/regex/", "!text", ".user == 42", "due<10m", "age>5m", "size>1k"},
	} {
		d := plain(t, normalServer())
		d.resize(120, 50)
		d.press(keys)
		frame := ansi.Strip(d.frame())
		for _, term := range terms {
			if !strings.Contains(frame, term) {
				t.Errorf("%s: the help does not tell of %s", keys, term)
			}
		}
		if fits := strings.Contains(frame, "size>1k"); fits != (len(terms) > 2) {
			t.Errorf("%s: size is told: %v", keys, fits)
		}
	}
}

// However many lines the prompt has, the frame stays as it is.
func TestPromptKeepsTheFrame(t *testing.T) {
	d := plain(t, normalServer())
	d.press("enter 2 /")
	d.typed(".nested.amount == 12.5 timeout")
	for w := 80; w < 200; w += 11 {
		for h := 24; h < 60; h += 7 {
			t.Run(fmt.Sprintf("%dx%d", w, h), func(t *testing.T) {
				d.resize(w, h)
				checkFrame(t, d.frame(), w, h)
			})
		}
	}
}
