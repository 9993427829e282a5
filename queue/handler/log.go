package handler

import (
	"context"
	"fmt"
	"io"
	"sync"

	"redq/queue"
	"redq/queue/payload"
)

// logBytes bounds a line of Log.
const logBytes = 4 << 10

// Log returns a handler that writes each payload to w as one line that is safe to print
// (see payload.Line) of at most 4 KiB, and is done. Each line is one call of Write, and
// there is one at a time. A message whose line could not be written fails.
func Log(w io.Writer) queue.Handler {
	var mu sync.Mutex
	return func(_ context.Context, m queue.Message) error {
		line := payload.Line(m.Payload, logBytes) + "\n"
		mu.Lock()
		defer mu.Unlock()
		if _, err := io.WriteString(w, line); err != nil {
			return fmt.Errorf("the log cannot be written: %w", err)
		}
		return nil
	}
}
