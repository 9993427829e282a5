package cli

import (
	"strings"
	"testing"

	"redq/queue"
)

func TestPick(t *testing.T) {
	qs := []queue.Queue{queue.Named("orders"), queue.Named("orders-eu"), queue.Named("a\x00"), queue.Named(`a\x00`), queue.Named("b\xff"), queue.Named("b\nc"), queue.Named("b\rc")}
	for name, want := range map[string]string{
		"orders": "orders",
		`a\x00`:  `a\x00`, // the exact name wins over an escaped one
		"a\x00":  "a\x00",
		`b\xff`:  "b\xff",
		`b\nc`:   "b\nc",
	} {
		if q, err := pick(qs, name); err != nil || q.Name != want {
			t.Errorf("pick(%q) = %q, %v; want %q", name, q.Name, err, want)
		}
	}
	for name, want := range map[string]string{
		"order":      "did you mean orders or orders-eu?",
		"oders":      "did you mean orders?",
		"ORDERS":     "did you mean orders or orders-eu?",
		"zebra":      "(redq ls lists them)",
		"orders\x1b": `there is no queue orders\x1b: did you mean orders?`,
	} {
		if _, err := pick(qs, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("pick(%q): %v, want %q", name, err, want)
		}
	}
}

func TestTwoNamesThatArePrintedAlike(t *testing.T) {
	qs := []queue.Queue{queue.Named("a\xff"), queue.Named("a\u00ff"), queue.Named("x\u202e"), queue.Named("x\\u202e")}
	if q, err := pick(qs, `x\u202e`); err != nil || q.Name != `x\u202e` {
		t.Errorf("the exact name: %q, %v", q.Name, err)
	}
	if q, err := pick(qs, "a\u00ff"); err != nil || q.Name != "a\u00ff" {
		t.Errorf("got %q, %v", q.Name, err)
	}
}

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"dial redis://:s3cret@host:1: refused":    "dial redis://…@host:1: refused",
		`redis://:a"b/c'd@host`:                   "redis://…@host",
		"rediss://user:p@ss@host":                 "rediss://…@host",
		"a redis://u:p@h and redis://u:q@h too":   "a redis://…@h and redis://…@h too",
		"redis://host/0 mail a@b":                 "redis://host/0 mail a@b",
		`"redis://:s3cret@h","redis://:s3cret@i"`: `"redis://…@i"`,
	} {
		if got := redact(in); got != want {
			t.Errorf("redact(%q) = %q, want %q", in, got, want)
		}
	}
}
