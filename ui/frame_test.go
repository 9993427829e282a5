package ui

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"redq/model"
	"redq/queue"
	"redq/styles"
)

// Every frame is exactly as large as the terminal and holds no control byte but
// colours: all scenes, on a friendly and on a hostile server, at hundreds of sizes.
func TestEveryFrameIsExact(t *testing.T) {
	servers := map[string]func() *fake{"normal": normalServer, "hostile": hostileServer}
	for name, server := range servers {
		for _, s := range scenes() {
			t.Run(name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				d := open(t, server(), testTheme(termenv.TrueColor, true), demo, staged)
				d.live(10)
				d.resize(120, 36)
				s.setup(d)
				for _, size := range someSizes() {
					d.resize(size[0], size[1])
					checkFrame(t, d.frame(), size[0], size[1])
				}
				d.goDown()
				for _, size := range [][2]int{{1, 1}, {80, 24}, {97, 31}, {250, 70}} {
					d.resize(size[0], size[1])
					checkFrame(t, d.frame(), size[0], size[1])
				}
			})
		}
	}
}

// someSizes are all small sizes where layouts break, and a net over the others.
func someSizes() [][2]int {
	var all [][2]int
	for w := 1; w <= 250; w += 9 {
		for h := 1; h <= 70; h += 6 {
			all = append(all, [2]int{w, h})
		}
	}
	for w := model.MinWidth - 2; w <= model.MinWidth+12; w++ {
		all = append(all, [2]int{w, model.MinHeight})
	}
	for h := model.MinHeight - 2; h <= model.MinHeight+12; h++ {
		all = append(all, [2]int{model.MinWidth, h})
	}
	return all
}

// Each hostile payload, alone on the message page, in each view.
func TestHostilePayloadsStayOnTheScreen(t *testing.T) {
	for i, p := range hostilePayloads() {
		t.Run(p.Name, func(t *testing.T) {
			d := open(t, hostileServer(), testTheme(termenv.TrueColor, true))
			d.resize(100, 30)
			d.press("enter 2" + strings.Repeat(" j", i) + " enter")
			if got := d.app.Model().Message.Message.Size; got != int64(len(p.Bytes)) {
				t.Fatalf("another message is in front: %d bytes", got)
			}
			for range 3 {
				for _, size := range [][2]int{{100, 30}, {80, 24}, {201, 40}} {
					d.resize(size[0], size[1])
					checkFrame(t, d.frame(), size[0], size[1])
				}
				d.press("G")
				checkFrame(t, d.frame(), 201, 40)
				d.press("o")
			}
		})
	}
}

// Random keys never break a frame.
func TestRandomKeysNeverBreakAFrame(t *testing.T) {
	keys := strings.Fields("j k g G enter esc tab 1 2 3 4 / : ? r n t D X u space * s S z p R + - o y a x left home q")
	r := rand.New(rand.NewPCG(7, 8))
	for run := range 8 {
		d := open(t, hostileServer(), testTheme(termenv.TrueColor, true))
		d.resize(90, 26)
		var pressed []string
		for range 150 {
			k := keys[r.IntN(len(keys))]
			pressed = append(pressed, k)
			d.press(k)
			w, h := 80+r.IntN(90), 24+r.IntN(30)
			d.resize(w, h)
			if d.app.fault != nil {
				t.Fatalf("run %d, keys %v: %v\n%s", run, pressed, d.app.fault.Value, d.app.fault.Stack)
			}
			checkFrame(t, d.frame(), w, h)
		}
	}
}

func TestWithoutColoursThereAreNone(t *testing.T) {
	colour := regexp.MustCompile(`\x1b\[[0-9;]*(3[0-9]|4[0-9]|9[0-7]|10[0-7])[;m]`)
	for _, s := range scenes() {
		d := plain(t, normalServer())
		d.resize(120, 36)
		s.setup(d)
		if found := colour.FindString(d.frame()); found != "" {
			t.Errorf("%s has the colour %q", s.name, found)
		}
	}
}

// On the Linux console and in other locales every sign is ASCII.
func TestASCIIGlyphs(t *testing.T) {
	th := testTheme(termenv.ANSI, true)
	th.Glyphs = styles.ASCIIGlyphs()
	for _, s := range scenes() {
		d := open(t, normalServer(), th)
		d.live(20)
		d.resize(120, 36)
		s.setup(d)
		for _, line := range strings.Split(ansi.Strip(d.frame()), "\n") {
			if !isPrintableASCII(line) {
				t.Errorf("%s: %q is not ASCII", s.name, line)
			}
		}
	}
}

// An unknown number is never 0, and the numbers of a server that went away stay.
func TestWhatIsNotKnownIsNotZero(t *testing.T) {
	d := plain(t, normalServer())
	d.resize(120, 36)
	line := lineWith(t, d.frame(), "wrong-type")
	if !strings.Contains(line, "?") || regexp.MustCompile(`\b0\b`).MatchString(line) {
		t.Errorf("a key that cannot be read: %q", line)
	}
	before := lineWith(t, d.frame(), "orders")
	d.goDown()
	frame := ansi.Strip(d.frame())
	if after := lineWith(t, frame, " orders"); after[:60] != ansi.Strip(before)[:60] {
		t.Errorf("the numbers changed:\n%q\n%q", ansi.Strip(before), after)
	}
	if !strings.Contains(frame, "next try in") {
		t.Error("no countdown")
	}
}

func lineWith(t *testing.T, frame, text string) string {
	t.Helper()
	for _, line := range strings.Split(ansi.Strip(frame), "\n") {
		if strings.Contains(line, text) {
			return line
		}
	}
	t.Fatalf("no line with %q in\n%s", text, ansi.Strip(frame))
	return ""
}

// The row under the cursor keeps its colours and gets a ground.
func TestTheCursorsRowKeepsItsColours(t *testing.T) {
	th := testTheme(termenv.TrueColor, true)
	d := open(t, normalServer(), th)
	d.resize(120, 36)
	row, ok := d.app.Model().Overview.Selected()
	if !ok {
		t.Fatal("nothing is selected")
	}
	for _, line := range strings.Split(d.frame(), "\n") {
		if strings.Contains(line, th.Glyphs.Cursor) && strings.Contains(line, row.Queue.Name) {
			for _, ink := range []styles.Ink{th.Selection, th.Bad} {
				if open, _, _ := strings.Cut(ink.Paint("|"), "|"); !strings.Contains(line, open) {
					t.Errorf("%q is missing in %q", open, line)
				}
			}
			return
		}
	}
	t.Error("no row has the cursor")
}

func TestMergeBins(t *testing.T) {
	var bins []queue.Bin
	cuts := []time.Duration{queue.MinSpan, -time.Hour, -10 * time.Minute, -time.Minute, 0, time.Minute, 10 * time.Minute, time.Hour, queue.MaxSpan}
	for i := range cuts[1:] {
		bins = append(bins, queue.Bin{From: cuts[i], Until: cuts[i+1], N: 1})
	}
	for room := 0; room < 10; room++ {
		merged := mergeBins(bins, room)
		if len(merged) > max(room, 2) {
			t.Errorf("room for %d, got %d", room, len(merged))
		}
		sum, edge := int64(0), queue.MinSpan
		now := false
		for _, b := range merged {
			if b.From != edge {
				t.Errorf("room %d: a gap before %v", room, b.From)
			}
			edge, sum = b.Until, sum+b.N
			now = now || b.From == 0
		}
		if sum != 8 || edge != queue.MaxSpan || !now {
			t.Errorf("room %d: %d messages up to %v, now is an edge: %v", room, sum, edge, now)
		}
	}
}
