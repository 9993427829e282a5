package ui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/exp/teatest"
	"github.com/muesli/termenv"

	"redq/model"
	"redq/queue"
)

// A burst of messages draws one frame at once and one at its end, not one each.
func TestABurstOfMessagesDrawsTwoFrames(t *testing.T) {
	d := plain(t, normalServer())
	d.resize(80, 24)
	now := epoch
	d.app.now, d.app.least = func() time.Time { return now }, frameTime
	d.app.drawn = now.Add(-time.Second)
	frames, last := 0, d.frame()
	for i := range 5000 {
		d.app.Update(tea.WindowSizeMsg{Width: 81 + i, Height: 25})
		if d.frame() != last {
			frames, last = frames+1, d.frame()
		}
	}
	if frames != 1 || !d.app.due {
		t.Errorf("%d frames for 5,000 messages, want 1 and a redraw that is due", frames)
	}
	d.send(redrawMsg{})
	if d.app.due {
		t.Error("another redraw is due")
	}
	checkFrame(t, d.frame(), 5080, 25)
}

func TestAPanicWhileDrawingEndsTheProgramInGoodOrder(t *testing.T) {
	d := plain(t, normalServer())
	var logged strings.Builder
	d.app.logf = func(format string, _ ...any) { logged.WriteString(format) }
	d.app.theme.Ramp = nil // charts index into it
	d.resize(120, 36)
	if !d.quit || d.app.fault == nil || logged.Len() == 0 {
		t.Fatalf("quit %v, fault %v, logged %q", d.quit, d.app.fault, logged.String())
	}
	err := d.app.farewell(t.Context(), nil, "/tmp/redq.log")
	var fault *FaultError
	if !errors.As(err, &fault) || !strings.Contains(err.Error(), "/tmp/redq.log") {
		t.Errorf("the farewell is %v", err)
	}
	if err := d.app.farewell(t.Context(), nil, ""); !strings.Contains(err.Error(), "goroutine") {
		t.Errorf("without a log the stack is lost: %v", err)
	}
}

func TestFarewellSaysNothingWhenAskedToLeave(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		ctx context.Context
		err error
	}{
		"quit":            {t.Context(), nil},
		"context ended":   {cancelled, tea.ErrProgramKilled},
		"terminal closed": {t.Context(), syscall.EIO},
	} {
		d := plain(t, emptyServer())
		if err := d.app.farewell(tt.ctx, tt.err, ""); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheMouseIsBackAfterASuspension(t *testing.T) {
	for _, mouse := range []bool{true, false} {
		d := newDashboard(t, emptyServer(), testTheme(termenv.Ascii, true), func(c *model.Config) { c.Mouse = mouse })
		asked := false
		_, cmd := d.app.Update(tea.ResumeMsg{})
		if batch, ok := cmd().(tea.BatchMsg); ok {
			for _, c := range batch {
				asked = asked || c != nil && c() == tea.EnableMouseCellMotion()
			}
		}
		if asked != mouse {
			t.Errorf("with the mouse %v, asked for it: %v", mouse, asked)
		}
	}
}

func TestTheTitleHoldsNoControlCharacters(t *testing.T) {
	d := newDashboard(t, emptyServer(), testTheme(termenv.Ascii, true), func(c *model.Config) { c.Address = "host\x1b]52;c;x\x07:1/0" })
	batch, ok := d.app.Init()().(tea.BatchMsg)
	if !ok {
		t.Fatal("Init does not set a title beside the model's own commands")
	}
	title := fmt.Sprint(batch[0]())
	if strings.ContainsAny(title, "\x1b\x07") || !strings.HasPrefix(title, "redq host") {
		t.Errorf("title %q", title)
	}
}

// config is what the program is started with: without timers, it polls once.
func config(f *fake) model.Config {
	return model.Config{Backend: f, Address: address, After: func(wait time.Duration, due tea.Msg) tea.Cmd {
		if wait > 0 {
			return nil
		}
		return func() tea.Msg { return due }
	}}
}

// program starts the whole program on a terminal of 100x30.
func program(t *testing.T, f *fake) *teatest.TestModel {
	t.Helper()
	return started(t, config(f))
}

func started(t *testing.T, cfg model.Config) *teatest.TestModel {
	t.Helper()
	m, err := model.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	app := NewApp(m, testTheme(termenv.Ascii, true))
	app.least = 0
	return teatest.NewTestModel(t, app, teatest.WithInitialTermSize(100, 30))
}

// shows waits until text is written, and takes away what was written until then.
func shows(t *testing.T, tm *teatest.TestModel, text string) {
	t.Helper()
	teatest.WaitFor(t, tm.Output(), func(b []byte) bool { return bytes.Contains(b, []byte(text)) },
		teatest.WithDuration(10*time.Second), teatest.WithCheckInterval(5*time.Millisecond))
}

// finalFrame leaves the program and returns the last frame.
func finalFrame(t *testing.T, tm *teatest.TestModel) string {
	t.Helper()
	tm.Send(tea.KeyMsg{Type: tea.KeyCtrlC})
	frame := tm.FinalModel(t, teatest.WithFinalTimeout(10*time.Second)).View()
	checkFrame(t, frame, 100, 30)
	return frame
}

func TestProgramOpensAQueue(t *testing.T) {
	f := emptyServer()
	f.queues = []queue.Queue{queue.Named("orders")}
	f.push("orders", 3, `{"order":%d}`)
	tm := program(t, f)
	shows(t, tm, "orders")
	tm.Send(keyMsg("enter"))
	shows(t, tm, `{"order":1798}`)
	if frame := finalFrame(t, tm); !strings.Contains(frame, `{"order":1800}`) {
		t.Errorf("the first message is missing:\n%s", frame)
	}
}

func TestProgramTypesAFilter(t *testing.T) {
	tm := program(t, normalServer())
	shows(t, tm, "mail-batch")
	tm.Type("/demo")
	shows(t, tm, "1 of 6")
	tm.Send(keyMsg("enter"))
	if frame := finalFrame(t, tm); strings.Contains(frame, "mail-batch") {
		t.Errorf("the filter lets everything through:\n%s", frame)
	}
}

// A consumer is started, watched and, on the way out, stopped.
func TestProgramRunsAConsumer(t *testing.T) {
	f := normalServer()
	f.engine.light = true
	cfg := config(f)
	cfg.After = func(wait time.Duration, due tea.Msg) tea.Cmd { // quick, so that none outlives the program
		if wait >= time.Second {
			return nil
		}
		return func() tea.Msg {
			time.Sleep(time.Millisecond)
			return due
		}
	}
	ticks := 0
	cfg.Now = func() time.Time { // every message finds the dialogs long open
		ticks++
		return epoch.Add(time.Duration(ticks) * 200 * time.Millisecond)
	}
	tm := started(t, cfg)
	shows(t, tm, "mail-batch")
	tm.Type(":consume orders")
	tm.Send(keyMsg("enter"))
	shows(t, tm, "It takes messages away from orders on "+address)
	tm.Type("y")
	shows(t, tm, "a second, over 5s")
	shows(t, tm, "retried")
	tm.Send(tea.KeyMsg{Type: tea.KeyCtrlC})
	shows(t, tm, "1 consumer is running")
	tm.Send(tea.KeyMsg{Type: tea.KeyCtrlC})
	tm.WaitFinished(t, teatest.WithFinalTimeout(10*time.Second))
}

func TestProgramShowsTheHelp(t *testing.T) {
	tm := program(t, normalServer())
	shows(t, tm, "mail-batch")
	tm.Type("?")
	shows(t, tm, "refresh slower")
	if frame := finalFrame(t, tm); !strings.Contains(frame, "Keys") {
		t.Errorf("no help:\n%s", frame)
	}
}

// Run ends when its context does, and leaves the terminal as it was.
func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	runUntil(t, ctx, cancel)
}

// runUntil runs the dashboard, ends it once it has drawn something, and checks that
// it leaves without an error and gives the terminal back.
func runUntil(t *testing.T, ctx context.Context, end func()) {
	t.Helper()
	screen := &screenBuffer{seen: make(chan struct{})}
	renderer := lipgloss.NewRenderer(io.Discard)
	renderer.SetColorProfile(termenv.Ascii)
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{
			Model:    config(normalServer()),
			Input:    &bytes.Buffer{},
			Output:   screen,
			Renderer: renderer,
			Getenv:   func(string) string { return "" },
		})
	}()
	<-screen.seen
	end()
	if err := <-ended; err != nil {
		t.Errorf("Run returned %v", err)
	}
	out := screen.String()
	for name, sequences := range map[string][2]string{
		"the alternate screen": {"\x1b[?1049h", "\x1b[?1049l"},
		"the cursor":           {"\x1b[?25l", "\x1b[?25h"},
		"the mouse":            {"\x1b[?1002h", "\x1b[?1002l"},
		"bracketed paste":      {"\x1b[?2004h", "\x1b[?2004l"},
	} {
		if strings.LastIndex(out, sequences[1]) <= strings.LastIndex(out, sequences[0]) {
			t.Errorf("%s is not given back in %q", name, out)
		}
	}
}

// screenBuffer takes what is written to the terminal; seen is closed with the first of it.
type screenBuffer struct {
	mu   sync.Mutex
	b    bytes.Buffer
	once sync.Once
	seen chan struct{}
}

func (s *screenBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.once.Do(func() { close(s.seen) })
	return s.b.Write(p)
}

func (s *screenBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
