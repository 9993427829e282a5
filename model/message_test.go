package model

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"redq/queue"
)

// onMessage opens the first of some backup messages.
func onMessage(t *testing.T, payloads ...string) (*driver, *fake) {
	t.Helper()
	d, f := onBackup(t, payloads)
	d.press("enter")
	if d.m.Screen != MessageScreen || !d.m.Message.Loaded {
		t.Fatalf("screen %d, loaded %v", d.m.Screen, d.m.Message.Loaded)
	}
	return d, f
}

func TestMessageIsDecoded(t *testing.T) {
	d, _ := onMessage(t, `{"n":130775545883395173,"a":[]}`)
	p := d.m.Message
	if p.Encoding != "json" || p.Copies != 2 || !p.CopiesMore || p.Age != 3*time.Second {
		t.Fatalf("page %+v", p)
	}
	text := strings.Join(p.Doc.Lines(20), "\n")
	if !strings.Contains(text, `"n": 130775545883395173`) {
		t.Fatalf("pretty is %q", text)
	}
}

func TestViewsOfAPayload(t *testing.T) {
	d, _ := onMessage(t, `{"a":1}`)
	var views []string
	for range 3 {
		views = append(views, d.m.Message.View.String()+": "+d.m.Message.Doc.Lines(9)[0])
		d.press("o")
	}
	if views[1] != `raw: {"a":1}` || !strings.HasPrefix(views[0], "pretty: {") || !strings.HasPrefix(views[2], "hex: 00000000") {
		t.Fatalf("views %q", views)
	}
	if d.m.Message.View != ViewPretty {
		t.Fatal("o does not come round")
	}
}

func TestHostilePayloadsAreSafeInEachView(t *testing.T) {
	for _, s := range []string{"", "\x1b]52;c;aGk=\a", "\x1b[2J\r\n\x9b31m", "\xff\xfe\x00", "\u202eevil", "张三 🏳️‍🌈", strings.Repeat("\x1b[31m", 5000)} {
		d, _ := onMessage(t, s, "other")
		for range 3 {
			for _, line := range d.m.Message.Doc.Lines(1000) {
				if !utf8.ValidString(line) || strings.ContainsAny(line, "\x1b\x07\r\n\u009b\u202e\x00") {
					t.Fatalf("payload %q: the %s view prints %q", s, d.m.Message.View, line)
				}
			}
			d.press("G ctrl+b g ctrl+f j k o")
		}
	}
}

func TestNextAndPreviousMessage(t *testing.T) {
	d, _ := onMessage(t, numbered("m", 400)...)
	d.press("l l right h left l")
	if got := string(d.m.Message.Message.Payload); got != "m2" || !d.m.Message.Loaded {
		t.Fatalf("on %q, loaded %v, want m2", got, d.m.Message.Loaded)
	}
	for range 300 {
		d.press("l")
	}
	if got := string(d.m.Message.Message.Payload); got != "m302" {
		t.Fatalf("on %q, want m302", got)
	}
	d.press("esc")
	if d.selected() != "m302" {
		t.Fatalf("back in the list on %q", d.selected())
	}
}

func TestGoneMessageStaysOnScreenAndSaysSo(t *testing.T) {
	d, f := onMessage(t, "a", "b", "c")
	f.lists["queueA:backup"] = []string{"b", "c"}
	d.advance(2 * time.Second)
	p := d.m.Message
	if !p.Gone || p.GoneAt.IsZero() || string(p.Message.Payload) != "a" {
		t.Fatalf("gone %v, payload %q", p.Gone, p.Message.Payload)
	}
	for _, k := range []string{"r", "D"} {
		d.press(k)
		d.wantStatus("already gone")
	}
	d.press("l")
	if got := string(d.m.Message.Message.Payload); got != "b" || d.m.Message.Gone {
		t.Fatalf("next is %q, gone %v", got, d.m.Message.Gone)
	}
}

func TestMessageGoneBeforeItIsLoaded(t *testing.T) {
	d, f := onBackup(t, []string{"a", "b"})
	f.lists["queueA:backup"] = []string{"b"}
	d.press("enter")
	if p := d.m.Message; !p.Gone || p.Err == "" || p.Loaded {
		t.Fatalf("page %+v", p)
	}
	d.press("j G o y")
}

func TestRedriveFromTheMessagePage(t *testing.T) {
	d, f := onMessage(t, "a", "b")
	d.press("r y")
	d.wantStatus("re-driven 1 to queueA")
	if !d.m.Message.Gone || !slices.Equal(f.lists["queueA:backup"], []string{"b"}) {
		t.Fatalf("gone %v, left %q", d.m.Message.Gone, f.lists["queueA:backup"])
	}
	d.press("esc")
	if d.m.Screen != QueueScreen || d.selected() != "b" {
		t.Fatalf("back on %q", d.selected())
	}
}

func TestMessageFollowsItsPosition(t *testing.T) {
	d, f := onMessage(t, "a", "b")
	f.lists["queueA:backup"] = []string{"x", "y", "a", "b"}
	d.advance(2 * time.Second)
	if p := d.m.Message; p.Gone || p.Message.Index != 2 || !p.Loaded {
		t.Fatalf("index %d, gone %v", p.Message.Index, p.Gone)
	}
}

func TestCopy(t *testing.T) {
	binary := "\x00\xff raw \x1b bytes"
	d, _ := onMessage(t, binary)
	d.press("y")
	if d.copied != binary {
		t.Fatalf("copied %q", d.copied)
	}
	d.wantStatus("copied")
	d, _ = onBackup(t, []string{"from the list"})
	d.press("y")
	if d.copied != "from the list" {
		t.Fatalf("copied %q", d.copied)
	}
	d, _ = onMessage(t, strings.Repeat("x", maxCopy+1))
	d.press("y")
	d.wantStatus("more than a terminal's clipboard takes")
	if d.copied != "" {
		t.Fatal("copied all the same")
	}
	d = start(t, seeded(), func(c *Config) { c.Copy = nil })
	d.commanded("queueA")
	d.press("y")
	d.wantStatus("clipboard")
}

func TestDueTimesAndMisfits(t *testing.T) {
	d, _ := onOrders(t, "3")
	rows := d.m.Queue.List().Rows
	got := map[string]MessageRow{}
	for _, r := range rows {
		got[string(r.Message.Payload)] = r
	}
	if !got["late"].Due.Equal(epoch.Add(-time.Minute)) || got["late"].Misfit != "" {
		t.Errorf("late: %+v", got["late"])
	}
	if !got["odd"].Due.IsZero() || got["odd"].Misfit != "too small" || !got["odd"].Next {
		t.Errorf("odd: %+v", got["odd"])
	}
}

func TestMisfits(t *testing.T) {
	for score, want := range map[queue.Score]string{
		"inf": "infinite", "-inf": "infinite", "-5": "negative", "1772366400": "looks like s",
		"1772366400.5": "looks like s", "1772366400000000": "looks like us", "12": "too small",
		"9007199254740993000": "too large", "x": "not a number", "": "not a number",
	} {
		if got := misfit(score, queue.Milliseconds); got != want {
			t.Errorf("%q in ms: %q, want %q", score, got, want)
		}
	}
}

func TestWhatRunsNextIsMarked(t *testing.T) {
	next := func(q queue.Queue, p queue.Place) string {
		page := queue.Page{Place: p, Total: 3}
		for i := range 3 {
			page.Messages = append(page.Messages, queue.Message{Payload: []byte(fmt.Sprint(i)), Place: p})
		}
		var s string
		for _, r := range readyRows(q, page, func(queue.Message) time.Duration { return 0 }).rows {
			if r.Next {
				s += string(r.Message.Payload)
			}
		}
		return s
	}
	left, right := queue.Named("q"), queue.Named("q")
	right.Push = queue.Right
	if a, b, c, e := next(left, queue.Ready), next(right, queue.Ready), next(left, queue.Delayed), next(left, queue.Backup); a != "2" || b != "0" || c != "0" || e != "" {
		t.Fatalf("pushed left %q, pushed right %q, delayed %q, backup %q", a, b, c, e)
	}
}

func TestPayloadThatCouldNotBeReadIsReadAgain(t *testing.T) {
	d, f := onBackup(t, []string{"a"})
	f.err = errDown
	d.press("enter")
	if p := d.m.Message; p.Err == "" || p.Gone {
		t.Fatalf("page %+v", p)
	}
	f.err = nil
	d.press("R")
	if p := d.m.Message; !p.Loaded || p.Err != "" {
		t.Fatalf("page %+v", p)
	}
}
