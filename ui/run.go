package ui

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"redq/model"
	"redq/styles"
)

// Options are what the dashboard is run with. Only Model.Backend is needed.
type Options struct {
	Model model.Config
	// NoMouse leaves the mouse to the terminal, so that it can select text.
	NoMouse bool

	// Input and Output are the terminal; nil means standard input and output.
	Input  io.Reader
	Output io.Writer
	// Renderer tells the terminal's colours; nil means lipgloss's own, which
	// has asked the terminal already.
	Renderer *lipgloss.Renderer
	// Getenv tells the environment; nil means os.Getenv.
	Getenv func(string) string
	// Lend is called before an editor gets the terminal: until back is called ctrl+c is
	// the editor's and asks redq for nothing. nil does nothing.
	Lend func() (back func())
	// Hurry ends when the program shall not wait any longer for what its consumers have
	// in hand: a second signal. nil never does.
	Hurry context.Context

	// Logf is told of faults in redq itself; nil drops them. Log names the file
	// that it writes to, for the sentence at the end.
	Logf func(format string, args ...any)
	Log  string
}

// Run shows the dashboard until the user leaves it or ctx ends: the caller turns
// signals (SIGINT, SIGTERM, SIGHUP of a closed terminal) into that. Consumers that
// run in it finish what they have in hand first. The terminal is restored in every case. The error is for the user's eyes: nil when there is
// nothing to say.
func Run(ctx context.Context, o Options) error {
	o = o.withDefaults(ctx)
	m, err := model.New(o.Model)
	if err != nil {
		return err
	}
	app := NewApp(m, styles.New(o.Renderer, styles.DetectGlyphs(o.Getenv)))
	app.logf = o.Logf

	p := tea.NewProgram(app, o.program()...)
	// Not tea.WithContext: that ends a program in the middle of a frame, and its
	// consumers in the middle of their work.
	stop := context.AfterFunc(ctx, func() { p.Send(model.LeaveMsg{}) })
	hurry := context.AfterFunc(o.Hurry, func() { p.Send(model.LeaveMsg{AtOnce: true}) })
	_, err = p.Run()
	stop()
	hurry()
	app.finish(o.Hurry)
	return app.farewell(ctx, err, o.Log)
}

// finishWithin is how long consumers may take to finish what they have in hand when the
// program ended without waiting for them: its terminal has gone, or it is broken.
const finishWithin = 5 * time.Second

// finish ends what still runs once nothing is drawn any more.
func (a *App) finish(hurry context.Context) {
	ctx, cancel := context.WithTimeout(hurry, finishWithin)
	defer cancel()
	a.model.Finish(ctx)
}

func (o Options) withDefaults(ctx context.Context) Options {
	if o.Output == nil {
		o.Output = os.Stdout
	}
	if o.Renderer == nil {
		o.Renderer = lipgloss.DefaultRenderer()
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Hurry == nil {
		o.Hurry = context.Background()
	}
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	if o.Model.Copy == nil {
		o.Model.Copy = clipboard(o.Output)
	}
	if o.Lend == nil {
		o.Lend = func() func() { return func() {} }
	}
	if o.Model.Edit == nil {
		o.Model.Edit = editor{getenv: o.Getenv, ctx: ctx, ends: editorEnds, hurry: o.Hurry, lend: o.Lend}.open
	}
	o.Model.Mouse = !o.NoMouse
	return o
}

func (o Options) program() []tea.ProgramOption {
	opts := []tea.ProgramOption{
		tea.WithAltScreen(),
		tea.WithOutput(o.Output),
		tea.WithoutSignalHandler(), // it knows no SIGHUP: the caller does
	}
	if o.Input != nil {
		opts = append(opts, tea.WithInput(o.Input))
	}
	if !o.NoMouse {
		opts = append(opts, tea.WithMouseCellMotion())
	}
	return opts
}

// clipboard writes to the terminal's clipboard by OSC 52, in one piece, so that
// it falls between two frames.
func clipboard(w io.Writer) func(string) error {
	return func(text string) error {
		_, err := io.WriteString(w, ansi.SetSystemClipboard(text))
		return err
	}
}

// farewell turns the end of the program into what is to be said about it.
func (a *App) farewell(ctx context.Context, err error, log string) error {
	switch {
	case a.fault != nil:
		a.fault.Log = log
		return a.fault
	case a.model.Fatal != nil:
		a.logf("%v", a.model.Fatal)
		return a.model.Fatal
	case ctx.Err() != nil, errors.Is(err, syscall.EIO):
		return nil // asked to end, or the terminal has gone
	case errors.Is(err, tea.ErrProgramPanic):
		return errors.New("redq stopped because of a fault in itself, see above")
	}
	return err
}
