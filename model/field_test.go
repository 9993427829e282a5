package model

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
)

func edit(f Field, keys string) Field {
	for _, k := range strings.Fields(keys) {
		f, _ = f.update(keyMsg(k))
	}
	return f
}

func TestFieldEditing(t *testing.T) {
	for _, c := range []struct {
		text, keys string
		want       string // with | for the cursor
	}{
		{"hello", "", "hello|"},
		{"hello", "left left X", "helX|lo"},
		{"hello", "home X end Y", "XhelloY|"},
		{"hello", "backspace backspace", "hel|"},
		{"hello", "home backspace delete", "|ello"},
		{"one two", "ctrl+w", "one |"},
		{"one two", "ctrl+u", "|"},
		{"one two", "home right ctrl+k", "o|"},
		{"a张b", "left backspace", "a|b"},
		{"", "backspace delete left right home end ctrl+w ctrl+u ctrl+k", "|"},
	} {
		f := edit(newField(c.text), c.keys)
		if before, after := f.Cursor(); before+"|"+after != c.want {
			t.Errorf("%q, %s: %q, want %q", c.text, c.keys, before+"|"+after, c.want)
		}
	}
}

func TestFieldOfManyLines(t *testing.T) {
	f := Field{multiline: true}
	f, _ = f.update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("one\ttab\nline two\nx"), Paste: true})
	for _, c := range []struct{ keys, want string }{
		{"up", "one\ttab\nl|ine two\nx"},
		{"up", "o|ne\ttab\nline two\nx"},
		{"end down end", "one\ttab\nline two|\nx"},
		{"down", "one\ttab\nline two\nx|"},
		{"ctrl+j Z", "one\ttab\nline two\nx\nZ|"},
		{"ctrl+u", "one\ttab\nline two\nx\n|"},
	} {
		f = edit(f, c.keys)
		if before, after := f.Cursor(); before+"|"+after != c.want {
			t.Fatalf("%s: %q, want %q", c.keys, before+"|"+after, c.want)
		}
	}
}

func TestFieldsDoNotShareText(t *testing.T) {
	a := newField("abc")
	b := edit(a, "left X")
	c := edit(a, "left Y")
	if a.Text() != "abc" || b.Text() != "abXc" || c.Text() != "abYc" {
		t.Fatalf("%q, %q, %q", a.Text(), b.Text(), c.Text())
	}
}

func FuzzField(f *testing.F) {
	f.Add("text", []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
	keys := strings.Fields("left right home end backspace delete ctrl+w ctrl+u ctrl+k up down ctrl+j a ü 张 space")
	f.Fuzz(func(t *testing.T, text string, steps []byte) {
		fd := newField(strings.ToValidUTF8(text, ""))
		fd.multiline = true
		for _, s := range steps {
			fd, _ = fd.update(keyMsg(keys[int(s)%len(keys)]))
			before, after := fd.Cursor()
			if before+after != fd.Text() || !utf8.ValidString(fd.Text()) {
				t.Fatalf("cursor splits %q into %q and %q", fd.Text(), before, after)
			}
		}
	})
}

func TestWhen(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"5m":                        now.Add(5 * time.Minute),
		"in 5m":                     now.Add(5 * time.Minute),
		"1h 30m":                    now.Add(90 * time.Minute),
		"-10s":                      now.Add(-10 * time.Second),
		"now":                       now,
		" NOW ":                     now,
		"15:04":                     time.Date(2026, 3, 1, 15, 4, 0, 0, time.UTC),
		"09:00":                     time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC),
		"12:00:00":                  time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC),
		"2026-12-24 18:00":          time.Date(2026, 12, 24, 18, 0, 0, 0, time.UTC),
		"2026-12-24T18:00:00+02:00": time.Date(2026, 12, 24, 16, 0, 0, 0, time.UTC),
	} {
		if got, _, err := parseWhen(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q is %s (%v), want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"soon", "5", "25:00", "2026-13-01 10:00", "in", "5 parsecs", "\x1b"} {
		if _, _, err := parseWhen(text, now); err == nil {
			t.Errorf("%q is taken for a time", text)
		}
	}
}

func TestPreview(t *testing.T) {
	now := epoch
	if p := preview("1m", now, queue.Seconds); p.Score != "1772366460" || p.In != time.Minute || !p.Relative {
		t.Errorf("1m in seconds: %+v", p)
	}
	if p := preview("  ", now, queue.Seconds); p.Err != "" || !p.Due.IsZero() {
		t.Errorf("blank: %+v", p)
	}
	for _, text := range []string{"1999-01-01", "-500000h", "soon"} {
		if p := preview(text, now, queue.Milliseconds); p.Err == "" || !p.Due.IsZero() {
			t.Errorf("%q: %+v", text, p)
		}
	}
}
