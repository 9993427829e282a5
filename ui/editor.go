package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

const (
	// editorEnds is how long an editor that was told to end may take.
	editorEnds = 3 * time.Second
	// lentAfter is how long after an editor ctrl+c still counts as meant for it: a
	// signal that ended it reaches redq at the same time, and may be read later.
	lentAfter = 200 * time.Millisecond
	// maxLeft is the largest file that is taken back.
	maxLeft = 64 << 20
)

// editor runs the operator's editor, with the terminal to itself.
type editor struct {
	getenv func(string) string
	ctx    context.Context // when it ends the editor is told to end
	ends   time.Duration   // how long it may then take
	hurry  context.Context // when it ends the editor is killed
	lend   func() (back func())
}

// open implements model.EditText.
func (e editor) open(text []byte, ext string, done func(left []byte, err error) tea.Msg) tea.Cmd {
	s := &editSession{editor: e, text: text, name: "message." + ext}
	return tea.Exec(s, func(err error) tea.Msg { return s.answer(done, err) })
}

// answer is what the program is told when it has the terminal again.
func (s *editSession) answer(done func(left []byte, err error) tea.Msg, err error) tea.BatchMsg {
	return tea.BatchMsg{
		func() tea.Msg { return mouseAgainMsg{} },
		func() tea.Msg { return done(s.left, err) },
	}
}

// mouseAgainMsg asks for the mouse after another program had the terminal.
type mouseAgainMsg struct{}

// editSession is one run of the editor, as Bubble Tea runs other programs: nothing is
// drawn and no key is read until Run returns.
type editSession struct {
	editor
	text []byte
	name string
	left []byte // what the file held afterwards; nil when it could not be read

	in       io.Reader
	out, err io.Writer
}

var _ tea.ExecCommand = (*editSession)(nil)

func (s *editSession) SetStdin(r io.Reader)  { s.in = r }
func (s *editSession) SetStdout(w io.Writer) { s.out = w }
func (s *editSession) SetStderr(w io.Writer) { s.err = w }

// Run writes the text to a file that nobody else can read, in a folder that nobody
// else can enter, runs the editor on it and reads it back. The folder goes in every
// case, with what the editor put beside the file.
func (s *editSession) Run() (err error) {
	dir, err := os.MkdirTemp("", "redq-edit-")
	if err != nil {
		return fmt.Errorf("no place for the file to edit: %w", err)
	}
	defer func() {
		if e := os.RemoveAll(dir); e != nil && err == nil {
			err = fmt.Errorf("the edited file is still there: %w", e)
		}
	}()
	file := filepath.Join(dir, s.name)
	if err := os.WriteFile(file, s.text, 0o600); err != nil {
		return fmt.Errorf("the file to edit could not be written: %w", err)
	}
	if err := s.run(file); err != nil {
		s.left, _ = readLeft(file) // an editor may fail after it has saved
		return err
	}
	s.left, err = readLeft(file)
	return err
}

// run waits for the editor to end. Until then ctrl+c is the editor's.
func (s *editSession) run(file string) error {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	cmd, name, err := s.command(ctx, file)
	if err != nil {
		return err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.in, s.out, s.err
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = s.ends
	back := s.lend()
	defer time.AfterFunc(lentAfter, back)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("the editor %s could not be started: %w", name, errors.Unwrap(err))
	}
	stop := context.AfterFunc(s.hurry, func() { _ = cmd.Process.Kill() })
	defer stop()
	err = cmd.Wait()
	var ended *exec.ExitError
	switch {
	case err == nil:
		return nil
	case s.ctx.Err() != nil:
		return fmt.Errorf("the editor %s was told to end", name)
	case errors.As(err, &ended):
		return fmt.Errorf("the editor %s ended with %s", name, ended.ProcessState)
	}
	return fmt.Errorf("the editor %s: %w", name, err)
}

// shellSigns are what a shell makes something of, as git has them.
const shellSigns = "|&;<>()$`\\\"'*?[#~=%"

// command returns how the editor is run on a file, and what to call it. $VISUAL and
// $EDITOR are command lines: with quotes and the like they are the shell's to read,
// which then gets the file's name as an argument and not as text.
func (s *editSession) command(ctx context.Context, file string) (cmd *exec.Cmd, name string, err error) {
	for _, variable := range []string{"VISUAL", "EDITOR"} {
		line := strings.TrimSpace(s.getenv(variable))
		if line == "" {
			continue
		}
		if strings.ContainsAny(line, shellSigns) {
			return exec.CommandContext(ctx, "/bin/sh", "-c", line+` "$@"`, line, file), line, nil
		}
		words := strings.Fields(line)
		path, err := exec.LookPath(words[0])
		if err != nil {
			return nil, "", fmt.Errorf("the editor %s of $%s cannot be run: %w", words[0], variable, errors.Unwrap(err))
		}
		return exec.CommandContext(ctx, path, append(words[1:], file)...), filepath.Base(path), nil
	}
	for _, usual := range []string{"vi", "nano"} {
		if path, err := exec.LookPath(usual); err == nil {
			return exec.CommandContext(ctx, path, file), usual, nil
		}
	}
	return nil, "", errors.New("no editor was found: set $EDITOR")
}

// readLeft reads what the editor left.
func readLeft(file string) ([]byte, error) {
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errors.New("the editor left no file")
	}
	if err != nil {
		return nil, fmt.Errorf("the edited file could not be read: %w", err)
	}
	defer f.Close()
	left, err := io.ReadAll(io.LimitReader(f, maxLeft+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the edited file could not be read: %w", err)
	case len(left) > maxLeft:
		return nil, fmt.Errorf("the edited file is larger than %s", size(maxLeft))
	}
	return left, nil
}
