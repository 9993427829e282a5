package cli

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
)

// logFile is the program's log. Without --log it drops everything: the screen
// belongs to the dashboard, and standard error to the one sentence of a failure.
type logFile struct {
	*slog.Logger
	file *os.File // nil without --log
}

func discardLog() *logFile { return &logFile{Logger: slog.New(slog.DiscardHandler)} }

// openLog opens the file for appending; "" drops the log.
func openLog(path string) (*logFile, error) {
	if path == "" {
		return discardLog(), nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, failf("cannot write the log: %v", err)
	}
	handler := slog.NewTextHandler(redactor{f}, &slog.HandlerOptions{Level: slog.LevelDebug})
	return &logFile{slog.New(handler), f}, nil
}

// printf is where go-redis logs.
func (l *logFile) printf(format string, args ...any) {
	l.Warn(fmt.Sprintf(format, args...))
}

func (l *logFile) close() {
	if l.file != nil {
		_ = l.file.Close() // there is nobody left to tell
	}
}

// redactor takes secrets out of what is written. Each write is one whole record.
type redactor struct{ w io.Writer }

func (r redactor) Write(b []byte) (int, error) {
	if _, err := io.WriteString(r.w, redact(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// credentials finds user and password in a URL, wherever it stands in a text. A
// password may hold any character that somebody forgot to escape: the last @ of
// the word ends it, and too much is taken out rather than too little.
var credentials = regexp.MustCompile(`(://)\S*@`)

// redact returns text without the credentials of the URLs in it.
func redact(text string) string {
	return credentials.ReplaceAllString(text, "${1}…@")
}
