package model

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
)

// Edit replaces a message where it is; equal bytes in a sorted set are refused.
func (f *fake) Edit(_ context.Context, q queue.Queue, m queue.Message, payload []byte) queue.Report {
	if f.find(queue.Message{Place: m.Place, Key: m.Key, Payload: payload}) >= 0 && m.Place == queue.Delayed {
		err := &queue.AlreadyDelayedError{Key: m.Key, Score: "1"}
		return queue.Report{Op: queue.OpEdit, Results: []queue.Result{{Outcome: queue.Refused, Err: err}}}
	}
	return f.write(queue.OpEdit, q, []queue.Message{m}, func(m queue.Message) bool {
		i := f.find(m)
		switch {
		case i < 0:
			return false
		case m.Place == queue.Delayed:
			f.zsets[m.Key][i].payload = string(payload)
		default:
			f.lists[m.Key][i] = string(payload)
		}
		return true
	})
}

// pen is an editor: it does to the text what the test says.
type pen struct {
	write  func(text string) string // nil leaves it alone
	err    error
	noFile bool
	opened []string // the texts it was given
	ext    string
}

func (p *pen) edit(text []byte, ext string, done func([]byte, error) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		p.opened, p.ext = append(p.opened, string(text)), ext
		left := string(text)
		if p.write != nil {
			left = p.write(left)
		}
		if p.noFile {
			return done(nil, p.err)
		}
		return done([]byte(left), p.err)
	}
}

func (p *pen) replaces(old, new string) {
	p.write = func(s string) string { return strings.ReplaceAll(s, old, new) + "\n" }
}

// scribble is an editor of which nobody knows what it leaves.
func scribble(rng *rand.Rand) EditText {
	return func(text []byte, _ string, done func([]byte, error) tea.Msg) tea.Cmd {
		left := [][]byte{text, nil, {}, append(bytes.Clone(text), "x\n"...), []byte("{"), []byte("\xff\x1b[2J"), bytes.Repeat([]byte("line\n"), 100)}[rng.IntN(7)]
		err := []error{nil, nil, errDown}[rng.IntN(3)]
		return func() tea.Msg { return done(left, err) }
	}
}

const order = `{"n":12345678901234567890.10,"m":1e400,"a":1,"a":2}`

// withPen opens a place of orders that holds one message, with an editor at hand.
func withPen(t *testing.T, place queue.Place, payload string) (*driver, *fake, *pen) {
	t.Helper()
	f, p := seeded(), &pen{}
	q := queue.Named("orders")
	switch place {
	case queue.Delayed:
		f.zsets[q.Delayed] = nil
		f.addDelayed(q.Delayed, payload, queue.Milliseconds.Score(epoch.Add(3600e9)))
	default:
		f.lists[q.Keys(place)[0]] = []string{payload}
	}
	d := start(t, f, func(c *Config) { c.Edit = p.edit })
	d.press(":")
	d.typed("orders")
	d.press("enter " + string(rune('0'+TabNumber(place))))
	if d.selected() != payload {
		t.Fatalf("selected %q", d.selected())
	}
	return d, f, p
}

func (d *driver) editDialog() EditDialog {
	d.t.Helper()
	e, ok := d.m.Dialog.(EditDialog)
	if !ok {
		d.t.Fatalf("dialog %T, status %q", d.m.Dialog, d.m.Status.Text)
	}
	return e
}

func TestEditReplacesInPlace(t *testing.T) {
	d, f, p := withPen(t, queue.Dead, order)
	f.lists["orders:dead"] = []string{"before", order, "after"}
	d.press("R")
	p.replaces(".10", ".11")
	d.press("e")
	want := "{\n  \"n\": 12345678901234567890.10,\n  \"m\": 1e400,\n  \"a\": 1,\n  \"a\": 2\n}\n"
	if len(p.opened) != 1 || p.opened[0] != want || p.ext != "json" {
		t.Fatalf("the editor got %q, .%s", p.opened, p.ext)
	}
	e := d.editDialog()
	if e.Stage != EditReview || e.Focus != FocusNo || e.Way != EditReplace || e.Server != "fake:1/0" ||
		e.Queue != "orders" || e.To != "orders:dead" || e.Diff.Removed != 1 || e.Diff.Added != 1 {
		t.Fatalf("dialog %+v", e)
	}
	d.press("y")
	d.wantStatus("edited 1 in orders:dead (u undoes)")
	edited := strings.Replace(order, ".10", ".11", 1)
	if got := f.lists["orders:dead"]; !slices.Equal(got, []string{"before", edited, "after"}) {
		t.Fatalf("dead holds %q", got)
	}
	if d.m.Dialog != nil || d.selected() != edited || d.m.Queue.List().Gone || f.calls["edit"] != 1 {
		t.Fatalf("selected %q, gone %v, edits %d", d.selected(), d.m.Queue.List().Gone, f.calls["edit"])
	}
}

func TestEditStartsOnNo(t *testing.T) {
	for _, no := range []string{"enter", "n", "esc", "q"} {
		d, f, p := withPen(t, queue.Dead, order)
		p.replaces("1e400", "2e400")
		d.press("e " + no)
		if d.m.Dialog != nil || f.calls["edit"]+f.calls["Enqueue"] > 0 || f.lists["orders:dead"][0] != order {
			t.Errorf("%s does something", no)
		}
	}
	d, f, p := withPen(t, queue.Dead, order)
	p.replaces("1e400", "2e400")
	d.press("e x")
	if note := d.editDialog().Note; !strings.Contains(note, noteOther) {
		t.Errorf("x is answered by %q", note)
	}
	d.press("tab enter")
	if f.calls["edit"] != 1 {
		t.Error("tab enter does nothing")
	}
}

// What was typed in the editor's last moments is no answer to a question that was not
// on screen yet.
func TestEditIgnoresWhatWasTypedBefore(t *testing.T) {
	d, f, p := withPen(t, queue.Dead, order)
	p.write = func(s string) string {
		d.clock = d.clock.Add(time.Minute) // as an edit takes
		return strings.Replace(s, "1e400", "2e400", 1)
	}
	d.press("e")
	d.send(keyMsg("y"))
	if f.calls["edit"] > 0 || !strings.Contains(d.editDialog().Note, "before") {
		t.Fatalf("an early y was taken: note %q", d.editDialog().Note)
	}
}

func TestEditInAnOpenMessage(t *testing.T) {
	d, f, p := withPen(t, queue.Delayed, order)
	d.press("enter")
	p.replaces("1e400", "2e400")
	d.press("e y")
	d.wantStatus("edited 1 in orders:delayed")
	edited := strings.Replace(order, "1e400", "2e400", 1)
	page := d.m.Message
	if d.m.Screen != MessageScreen || page.Gone || string(page.Message.Payload) != edited || !page.Loaded {
		t.Fatalf("the page shows %q, gone %v", page.Message.Payload, page.Gone)
	}
	if z := f.zsets["orders:delayed"]; len(z) != 1 || z[0].payload != edited || z[0].score != queue.Milliseconds.Score(epoch.Add(3600e9)) {
		t.Fatalf("delayed holds %q", z)
	}
	d.advance(5e9)
	if d.m.Message.Gone {
		t.Error("the next poll says that it has gone")
	}
}

// Marks are no matter to an edit, and stay: that of the edited message too.
func TestEditKeepsMarks(t *testing.T) {
	d, f, p := withPen(t, queue.Dead, "one")
	f.lists["orders:dead"] = []string{"one", "two", "three"}
	d.press("R space space g")
	p.replaces("one", "ONE")
	d.press("e y")
	if ms := d.m.Queue.List().Marks.messages(); len(ms) != 2 || string(ms[0].Payload) != "ONE" || string(ms[1].Payload) != "two" {
		t.Fatalf("marked: %+v", ms)
	}
	if f.lists["orders:dead"][0] != "ONE" || p.ext != "txt" {
		t.Fatalf("dead holds %q, edited as %s", f.lists["orders:dead"], p.ext)
	}
}

func TestEditRedrives(t *testing.T) {
	edited := strings.Replace(order, "1e400", "2e400", 1)
	for name, c := range map[string]struct {
		second  queue.Outcome // of the re-drive
		status  string
		dead    []string
		ready   int
		mayTake bool
	}{
		"both":           {"", "edited and re-driven 1 to orders (u twice undoes both)", nil, 3, false},
		"second refused": {queue.Refused, "edited 1 in orders:dead, where it still is: the re-drive was refused: no room", []string{edited}, 2, false},
		"second unknown": {queue.Unknown, "whether it was re-driven is unknown: no room", []string{edited}, 2, false},
		"taken between":  {"", "gone before it could be re-driven", nil, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			d, f, p := withPen(t, queue.Dead, order)
			p.replaces("1e400", "2e400")
			second := secondStep{fake: f, outcome: c.second, take: c.mayTake}
			d.m.cfg.Backend = second
			d.press("e space")
			if e := d.editDialog(); e.Way != EditRedrive || e.To != "orders" {
				t.Fatalf("way %v to %s", e.Way, e.To)
			}
			d.press("y")
			d.wantStatus(c.status)
			if !slices.Equal(f.lists["orders:dead"], c.dead) || len(f.lists["orders"]) != c.ready {
				t.Fatalf("dead %q, ready %q", f.lists["orders:dead"], f.lists["orders"])
			}
			if c.ready == 3 && f.lists["orders"][0] != edited {
				t.Fatalf("ready holds %q", f.lists["orders"])
			}
			if c.dead != nil && (d.selected() != edited || d.m.Queue.List().Gone) {
				t.Fatalf("selected %q", d.selected())
			}
		})
	}
}

// secondStep is a server that changes its mind between the edit and the re-drive.
type secondStep struct {
	*fake
	outcome queue.Outcome
	take    bool
}

func (s secondStep) Redrive(ctx context.Context, q queue.Queue, ms []queue.Message, o queue.RedriveOptions) queue.Report {
	s.fake.outcome, s.note = s.outcome, "no room"
	defer func() { s.fake.outcome = "" }()
	if s.take {
		s.lists[ms[0].Key] = nil
	}
	return s.fake.Redrive(ctx, q, ms, o)
}

func TestEditEnqueues(t *testing.T) {
	edited := strings.Replace(order, "1e400", "2e400", 1)
	d, f, p := withPen(t, queue.Dead, order)
	p.replaces("1e400", "2e400")
	d.press("e space space y")
	d.wantStatus("enqueued 1 to orders")
	if f.lists["orders"][0] != edited || f.lists["orders:dead"][0] != order {
		t.Fatalf("ready %q, dead %q", f.lists["orders"], f.lists["orders:dead"])
	}

	d, f, p = withPen(t, queue.Delayed, order)
	p.replaces("1e400", "2e400")
	d.press("e space space")
	if e := d.editDialog(); e.Way != EditEnqueue || e.To != "orders:delayed" || !e.Due().Equal(epoch.Add(3600e9)) {
		t.Fatalf("way %v to %s, due %s", e.Way, e.To, e.Due())
	}
	d.press("y")
	if z := f.zsets["orders:delayed"]; len(z) != 2 || z[0].score != z[1].score {
		t.Fatalf("delayed holds %q", z)
	}
}

func TestEditWays(t *testing.T) {
	full := queue.Named("q")
	for name, c := range map[string]struct {
		q     queue.Queue
		place queue.Place
		want  []EditWay
	}{
		"ready":         {full, queue.Ready, []EditWay{EditReplace, EditEnqueue}},
		"dead":          {full, queue.Dead, []EditWay{EditReplace, EditRedrive, EditEnqueue}},
		"delayed alone": {queue.Queue{Name: "z", Delayed: "z"}, queue.Delayed, []EditWay{EditReplace, EditRedrive, EditEnqueue}},
		"dead alone":    {queue.Queue{Name: "z", Dead: "z"}, queue.Dead, []EditWay{EditReplace}},
	} {
		if got := waysOf(c.q, c.place); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Somebody took the message while it was edited: nothing is changed, and the edit is
// not lost.
func TestEditOfAMessageThatHasGone(t *testing.T) {
	d, f, p := withPen(t, queue.Dead, order)
	p.replaces("1e400", "2e400")
	d.press("e")
	f.lists["orders:dead"] = nil
	d.press("y")
	e := d.editDialog()
	if !strings.Contains(e.Note, "already gone") || !strings.Contains(e.Note, "nothing was changed") ||
		!strings.Contains(e.Note, "enqueued as a new one") || e.Way != EditEnqueue || len(e.Ways) != 1 || e.Focus != FocusNo {
		t.Fatalf("dialog %+v", e)
	}
	if len(f.lists["orders:dead"])+len(f.lists["orders"]) != 2 {
		t.Fatal("something was changed")
	}
	d.press("y")
	d.wantStatus("enqueued 1 to orders")
	if f.lists["orders"][0] != strings.Replace(order, "1e400", "2e400", 1) {
		t.Fatalf("ready holds %q", f.lists["orders"])
	}
}

func TestEditOfAMessageThatHadGone(t *testing.T) {
	d, f, p := withPen(t, queue.Dead, order)
	f.lists["orders:dead"] = nil
	d.press("e")
	if len(p.opened) > 0 || d.m.Dialog != nil {
		t.Fatalf("the editor got %q", p.opened)
	}
	d.wantStatus("already gone")
}

func TestEditWhereEqualBytesAreDelayed(t *testing.T) {
	d, f, p := withPen(t, queue.Delayed, "one")
	f.addDelayed("orders:delayed", "two", "1")
	d.press("R")
	for d.selected() != "one" {
		d.press("j")
	}
	p.replaces("one", "two")
	d.press("e y")
	if note := d.editDialog().Note; !strings.Contains(note, "equal bytes are delayed already") || !strings.Contains(note, "nothing was changed") {
		t.Fatalf("note %q", note)
	}
	d.press("space space y") // as a new one it is refused too
	if note := d.editDialog().Note; !strings.Contains(note, "equal bytes are delayed already") {
		t.Fatalf("note %q", note)
	}
	if len(f.zsets["orders:delayed"]) != 2 || f.calls["edit"] > 0 {
		t.Fatal("something was changed")
	}
}

func TestEditWhoseOutcomeIsUnknown(t *testing.T) {
	for _, keys := range []string{"e y", "e space y"} {
		d, f, p := withPen(t, queue.Dead, order)
		p.replaces("1e400", "2e400")
		f.outcome, f.note = queue.Unknown, "the old one is still there"
		d.press(keys)
		d.wantStatus("1 outcome unknown: the old one is still there")
		if d.m.Dialog != nil || f.calls["redrive"] > 0 {
			t.Fatalf("%s: dialog %T, re-drives %d", keys, d.m.Dialog, f.calls["redrive"])
		}
	}
}

func TestEditThatIsRefused(t *testing.T) {
	d, f, p := withPen(t, queue.Dead, order)
	p.replaces("1e400", "2e400")
	f.outcome, f.note = queue.Refused, "the server has no memory left"
	d.press("e y")
	if note := d.editDialog().Note; note != "the server has no memory left: nothing was changed" {
		t.Fatalf("note %q", note)
	}
	f.outcome = ""
	d.press("y")
	d.wantStatus("edited 1")
}
