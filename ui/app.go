package ui

import (
	"fmt"
	"runtime/debug"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/model"
	"redq/styles"
)

// frameTime is the shortest time between two drawings: a burst of messages must
// not draw one for each. It is half of what Bubble Tea waits between two writes
// to the terminal, so that the two waits do not add up.
const frameTime = 8 * time.Millisecond

// App is the program as Bubble Tea runs it: the model, and how it is drawn. It
// draws when the state changes, at most once in frameTime; View only hands out
// what was drawn.
type App struct {
	model model.Model
	theme styles.Theme
	cache *previews
	now   func() time.Time
	least time.Duration // between two frames

	frame string
	drawn time.Time
	due   bool // a redraw was asked for and has not come

	fault *FaultError // what ended the program
	logf  func(format string, args ...any)
}

// NewApp returns the program around a state.
func NewApp(m model.Model, th styles.Theme) *App {
	return &App{
		model: m, theme: th, cache: newPreviews(),
		now: time.Now, least: frameTime,
		logf: func(string, ...any) {},
	}
}

// Model returns the present state.
func (a *App) Model() model.Model { return a.model }

// FaultError reports a panic in redq itself. The terminal was restored.
type FaultError struct {
	Value any
	Stack []byte
	Log   string // the file that has the stack; "" when there is none
}

func (e *FaultError) Error() string {
	s := fmt.Sprintf("redq stopped because of a fault in itself: %v", e.Value)
	if e.Log != "" {
		return s + "\nthe details are in " + e.Log
	}
	return s + "\n" + string(e.Stack)
}

// redrawMsg comes when a frame that was put off is due.
type redrawMsg struct{}

// Init implements tea.Model.
func (a *App) Init() tea.Cmd {
	title := tea.SetWindowTitle("redq " + name(a.model.Conn.Address))
	return tea.Batch(title, a.model.Init())
}

// Update implements tea.Model. A panic in it ends the program in good order: the
// terminal is restored and the error says where the details are. (Panics in
// commands, which run in goroutines of their own, the model turns into messages.)
func (a *App) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	defer func() {
		if r := recover(); r != nil {
			cmd = a.failed(&FaultError{Value: r, Stack: debug.Stack()})
		}
	}()
	if _, ok := msg.(redrawMsg); ok {
		a.draw()
		return a, nil
	}
	a.model, cmd = a.model.Update(msg)
	return a, tea.Batch(a.mouseBack(msg), cmd, a.drawSoon())
}

// mouseBack asks for the mouse again after the program was suspended, or an editor had
// the terminal: Bubble Tea 1.3 gives all other modes of the terminal back by itself.
func (a *App) mouseBack(msg tea.Msg) tea.Cmd {
	_, resumed := msg.(tea.ResumeMsg)
	_, edited := msg.(mouseAgainMsg)
	if !(resumed || edited) || !a.model.Mouse {
		return nil
	}
	return tea.EnableMouseCellMotion
}

// View implements tea.Model.
func (a *App) View() string { return a.frame }

// drawSoon draws now, or asks for a redraw when the last frame is too young.
func (a *App) drawSoon() tea.Cmd {
	if a.due {
		return nil
	}
	wait := a.least - a.now().Sub(a.drawn)
	if wait <= 0 {
		a.draw()
		return nil
	}
	a.due = true
	return tea.Tick(wait, func(time.Time) tea.Msg { return redrawMsg{} })
}

func (a *App) draw() {
	a.frame, a.due = draw(a.theme, a.model, a.cache), false
	if a.model.Width > 0 { // nothing was drawn before the size is known
		a.drawn = a.now()
	}
}

// failed remembers what ends the program, and ends it.
func (a *App) failed(f *FaultError) tea.Cmd {
	if a.fault == nil {
		a.fault = f
		a.logf("fault: %v\n%s", f.Value, f.Stack)
	}
	return tea.Quit
}
