//go:build unix

package uitest

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Term is a program in a terminal, for as long as a test runs.
type Term struct {
	t     testing.TB
	cmd   *exec.Cmd
	ptmx  *os.File
	tty   *os.File
	start time.Time
	done  chan struct{} // closed when the process has ended and all was read
	reply sync.WaitGroup

	stderr buffer

	mu      sync.Mutex
	emu     *vt.Emulator
	raw     []byte
	modes   map[ansi.Mode]bool
	changed chan struct{} // closed and replaced whenever there was output

	before, after *term.State // of the line discipline; after is set when done
	closed        bool
}

// Start runs the program. It is ended with the test.
func (p Program) Start(t testing.TB, o Options) *Term {
	t.Helper()
	if o.W == 0 {
		o.W, o.H = 80, 24
	}
	home := o.Home
	if home == "" {
		home = t.TempDir()
	}
	term := &Term{
		t: t, emu: vt.NewEmulator(o.W, o.H), modes: map[ansi.Mode]bool{},
		changed: make(chan struct{}), done: make(chan struct{}),
	}
	term.watchModes()
	if o.Light {
		term.emu.SetDefaultBackgroundColor(color.White)
	}
	t.Cleanup(term.Close)
	if err := term.open(o.W, o.H); err != nil {
		t.Fatalf("opening a pseudo-terminal: %v", err)
	}
	term.cmd = exec.Command(p.Path, o.Args...)
	if o.Shell {
		term.cmd = exec.Command("/bin/sh", "-i")
	}
	term.cmd.Env = p.environment(o, home)
	term.cmd.Dir = home
	if err := term.run(o); err != nil {
		t.Fatalf("starting %s: %v", term.cmd, err)
	}
	return term
}

func (t *Term) open(w, h int) (err error) {
	var ptmx *os.File
	if ptmx, t.tty, err = pty.Open(); err != nil {
		return err
	}
	if t.ptmx, err = nonBlocking(ptmx); err != nil {
		return err
	}
	if t.before, err = term.GetState(int(t.tty.Fd())); err != nil {
		return err
	}
	return t.setSize(w, h)
}

// nonBlocking takes f over as a file whose reads end when it is closed; one in
// blocking mode, as package pty returns it, would stay open until then.
func nonBlocking(f *os.File) (*os.File, error) {
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// setSize tells the program's side of the terminal: asking ptmx for its
// descriptor would make it blocking again.
func (t *Term) setSize(w, h int) error {
	return pty.Setsize(t.tty, &pty.Winsize{Cols: uint16(w), Rows: uint16(h)})
}

func (t *Term) run(o Options) error {
	t.cmd.Stdin, t.cmd.Stdout, t.cmd.Stderr = t.tty, t.tty, &t.stderr
	if o.Shell {
		t.cmd.Stderr = t.tty
	}
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	t.cmd.WaitDelay = limit
	t.start = time.Now()
	if err := t.cmd.Start(); err != nil {
		return err
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		t.read()
	}()
	t.reply.Go(func() { t.answer(o.Mute) })
	go func() {
		defer close(t.done)
		_ = t.cmd.Wait() // the state of the process is asked for later
		t.hangUpAfterExit()
		<-drained
	}()
	return nil
}

// hangUpAfterExit notes how the program left the terminal and closes our own
// end of it, so that reading ends when all is read.
func (t *Term) hangUpAfterExit() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.after = t.lineState()
	_ = t.tty.Close()
}

// lineState returns the state of the line discipline, nil when it is closed.
func (t *Term) lineState() *term.State {
	state, err := term.GetState(int(t.tty.Fd()))
	if err != nil {
		return nil
	}
	return state
}

// read feeds the emulator with what the program writes.
func (t *Term) read() {
	buf := make([]byte, 64<<10)
	for {
		n, err := t.ptmx.Read(buf)
		if n > 0 {
			t.mu.Lock()
			t.raw = append(t.raw, buf[:n]...)
			_, _ = t.emu.Write(buf[:n]) // fails only when closed, and it is not
			close(t.changed)
			t.changed = make(chan struct{})
			t.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

// answer sends back what the emulator says to queries.
func (t *Term) answer(mute bool) {
	to := io.Writer(t.ptmx)
	if mute {
		to = io.Discard
	}
	_, _ = io.Copy(to, t.emu) // ends with the terminal
}

// watchModes keeps the modes that the program turned on; the emulator tells of
// changes only.
func (t *Term) watchModes() {
	t.emu.SetCallbacks(vt.Callbacks{
		EnableMode:  func(m ansi.Mode) { t.modes[m] = true },
		DisableMode: func(m ansi.Mode) { t.modes[m] = false },
	})
}

// Close ends the program at once, if it still runs, and closes the terminal.
// Further calls do nothing.
func (t *Term) Close() {
	if t.closed || t.ptmx == nil {
		return
	}
	t.closed = true
	if t.cmd != nil && t.cmd.Process != nil {
		if !t.ended() {
			_ = syscall.Kill(-t.cmd.Process.Pid, syscall.SIGKILL)
		}
		_ = t.ptmx.Close()
		<-t.done
	}
	_ = t.ptmx.Close()
	_ = t.tty.Close() // no goroutine uses it any more
	_ = t.emu.InputPipe().(io.Closer).Close()
	t.reply.Wait()
}

func (t *Term) ended() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// Hangup closes the terminal under the program, as a lost connection does.
func (t *Term) Hangup() {
	_ = t.ptmx.Close()
}

// Signal sends a signal to the program.
func (t *Term) Signal(sig syscall.Signal) {
	t.t.Helper()
	if err := t.cmd.Process.Signal(sig); err != nil {
		t.t.Fatalf("sending %v: %v", sig, err)
	}
}

// Pid returns the program's process id.
func (t *Term) Pid() int { return t.cmd.Process.Pid }

// Age returns how long ago the program was started.
func (t *Term) Age() time.Duration { return time.Since(t.start) }

// Wait waits for the end of the program and returns its exit status, 128 and
// the signal's number when one ended it.
func (t *Term) Wait() int {
	t.t.Helper()
	select {
	case <-t.done:
	case <-time.After(limit):
		t.t.Fatalf("the program did not end\n%s", t.report())
	}
	if ws, ok := t.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return t.cmd.ProcessState.ExitCode()
}

// Stderr returns what the program wrote to standard error so far.
func (t *Term) Stderr() string { return t.stderr.String() }

// Raw returns all bytes that the program wrote to the terminal so far.
func (t *Term) Raw() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.raw)
}

// Resize changes the size of the terminal.
func (t *Term) Resize(w, h int) {
	t.t.Helper()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.emu.Resize(w, h)
	if err := t.setSize(w, h); err != nil {
		t.t.Fatalf("resizing to %dx%d: %v", w, h, err)
	}
}

// Modes are what a program changes in a terminal and has to put back.
type Modes struct {
	AltScreen, CursorHidden, Mouse, BracketedPaste bool
	// Raw is true when the line discipline is not as it was at the start.
	Raw bool
}

// Modes returns the present modes of the terminal.
func (t *Term) Modes() Modes {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := Modes{
		AltScreen:      t.emu.IsAltScreen(),
		CursorHidden:   t.emu.CursorHidden(),
		Mouse:          t.mouseOn(),
		BracketedPaste: t.modes[ansi.ModeBracketedPaste],
	}
	state := t.after
	if state == nil {
		state = t.lineState()
	}
	m.Raw = state == nil || *state != *t.before
	return m
}

// mouseOn reports whether the terminal tells the program of clicks.
func (t *Term) mouseOn() bool {
	return t.modes[ansi.ModeMouseX10] || t.modes[ansi.ModeMouseNormal] ||
		t.modes[ansi.ModeMouseButtonEvent] || t.modes[ansi.ModeMouseAnyEvent]
}

// report is what a failing test shows.
func (t *Term) report() string {
	s := "the screen:\n" + framed(t.Screen())
	if e := t.Stderr(); e != "" {
		s += "\nstandard error:\n" + e
	}
	if t.ended() {
		s += fmt.Sprintf("\nthe program has ended: %v", t.cmd.ProcessState)
	}
	return s
}

// buffer is a bytes.Buffer that is written and read at the same time.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
