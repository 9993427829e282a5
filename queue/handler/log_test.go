package handler_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"redq/queue"
	"redq/queue/handler"
	"redq/queue/payload/hostile"
)

// calls keeps each call of Write apart.
type calls struct{ texts []string }

func (c *calls) Write(b []byte) (int, error) {
	c.texts = append(c.texts, string(b))
	return len(b), nil
}

func TestLogWritesOneSafeLine(t *testing.T) {
	for _, p := range hostile.Payloads() {
		t.Run(p.Name, func(t *testing.T) {
			var out calls
			if err := handler.Log(&out)(t.Context(), queue.Message{Payload: p.Bytes}); err != nil {
				t.Fatal(err)
			}
			if len(out.texts) != 1 {
				t.Fatalf("%d writes", len(out.texts))
			}
			line, whole := strings.CutSuffix(out.texts[0], "\n")
			if !whole || len(line) > 4<<10 || !utf8.ValidString(line) || strings.ContainsFunc(line, isControl) {
				t.Errorf("%q", out.texts[0])
			}
		})
	}
}

func isControl(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }

func TestLogFromManyGoroutines(t *testing.T) {
	var out bytes.Buffer // the race detector tells when two write at once
	h := handler.Log(&out)
	var wg sync.WaitGroup
	var want []string
	for i := range 100 {
		text := fmt.Sprintf("message %02d", i)
		want = append(want, text)
		wg.Go(func() {
			if err := h(context.Background(), message(text)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got := strings.Split(strings.TrimSpace(out.String()), "\n")
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

type fullDisk struct{}

var errFull = errors.New("no space left on device")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

// What was not written was not handled.
func TestLogThatCannotBeWritten(t *testing.T) {
	err := handler.Log(fullDisk{})(t.Context(), message("hello"))
	wantText(t, err, "the log cannot be written: no space left on device")
	if !errors.Is(err, errFull) {
		t.Error(err)
	}
}
