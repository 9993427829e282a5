package handler

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"redq/queue"
	"redq/queue/payload"
)

// What is wrong with a message that a Mux puts into dead.
var (
	// ErrNotJSON is the reason when the payload is not JSON, as far as it was read.
	ErrNotJSON = errors.New("the payload is not JSON")
	// ErrNoField is the reason when the payload is JSON and has no such field, or the
	// field is neither a text nor a number.
	ErrNoField = errors.New("nothing to dispatch by")
	// ErrNoHandler is the reason when no handler has the name in the field.
	ErrNoHandler = errors.New("no handler")
)

// maxName bounds the foreign text in the reason of ErrNoHandler.
const maxName = 200

// Mux chooses the handler of a message by a field of its JSON payload, as pattern P6
// does by beanName. Its Serve method is the queue.Handler.
//
// The payload is read only up to the field: what follows need not even be JSON, and of
// several fields of that name the first counts. The handler gets the message untouched.
type Mux struct {
	field    string
	path     []string
	handlers map[string]queue.Handler
	fallback queue.Handler
}

// NewMux returns a Mux without handlers. field is the name of the field, with a dot
// between the names of nested objects, e.g. msg.type; names that hold a dot themselves
// cannot be reached. An empty name panics, like all misuse of a Mux.
func NewMux(field string) *Mux {
	path := strings.Split(field, ".")
	for _, name := range path {
		if name == "" {
			panic(fmt.Sprintf("handler: %q is not a path of field names", field))
		}
	}
	return &Mux{field: field, path: path, handlers: map[string]queue.Handler{}}
}

// Handle registers the handler of the messages whose field is name: a text without its
// quotes and escapes, or a number exactly as it is written. It must not be called once
// messages are served, and panics when the name is taken.
func (x *Mux) Handle(name string, h queue.Handler) {
	if h == nil {
		panic("handler: nil handler for " + name)
	}
	if _, taken := x.handlers[name]; taken {
		panic("handler: two handlers for " + name)
	}
	x.handlers[name] = h
}

// Default registers the handler of the messages whose name has none. Without it they go to
// dead with ErrNoHandler. It must not be called once messages are served.
func (x *Mux) Default(h queue.Handler) { x.fallback = h }

// Serve gives m to its handler. A message that has no name goes to dead at once, with
// ErrNotJSON or ErrNoField as the reason: another attempt would not change its bytes.
func (x *Mux) Serve(ctx context.Context, m queue.Message) error {
	name, err := x.name(m.Payload)
	if err != nil {
		return queue.DeadLetter(err)
	}
	if h, ok := x.handlers[name]; ok {
		return h(ctx, m)
	}
	if x.fallback != nil {
		return x.fallback(ctx, m)
	}
	return queue.DeadLetter(fmt.Errorf(`%w for %s "%s"`, ErrNoHandler, x.field, payload.LineString(name, maxName)))
}

// name reads the field.
func (x *Mux) name(b []byte) (string, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	for depth := range x.path {
		found, err := enter(d, x.path[depth])
		if err != nil {
			return "", notJSON(err)
		}
		if !found {
			return "", fmt.Errorf("%w: the message has no field %s", ErrNoField, strings.Join(x.path[:depth+1], "."))
		}
	}
	value, err := d.Token()
	if err != nil {
		return "", notJSON(err)
	}
	switch v := value.(type) {
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	}
	return "", fmt.Errorf("%w: field %s is neither a text nor a number", ErrNoField, x.field)
}

// enter reads into the object that comes next, up to the value of one of its fields. It
// tells whether there is one.
func enter(d *json.Decoder, field string) (found bool, err error) {
	if start, err := d.Token(); start != json.Delim('{') {
		return false, err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return false, err
		}
		if key == field {
			return true, nil
		}
		if err := d.Decode(&skipped{}); err != nil {
			return false, err
		}
	}
	// What ended the object may be its end or the end of the bytes.
	_, err = d.Token()
	return false, err
}

// skipped is a JSON value that is passed over and not built.
type skipped struct{}

func (*skipped) UnmarshalJSON([]byte) error { return nil }

func notJSON(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%w: %w", ErrNotJSON, err)
}
