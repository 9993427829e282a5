package handler_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"go.uber.org/goleak"

	"redq/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// message is one as a consumer hands it over.
func message(payload string) queue.Message {
	return queue.Message{Payload: []byte(payload), Size: int64(len(payload)), Place: queue.Ready, Key: "orders"}
}

// must returns what a constructor made.
func must(h queue.Handler, err error) func(testing.TB) queue.Handler {
	return func(t testing.TB) queue.Handler {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
}

func wantText(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// wantDeferred fails unless err puts the message off by d.
func wantDeferred(t *testing.T, err error, d time.Duration) {
	t.Helper()
	if want := queue.Defer(d, errors.Unwrap(err)); !reflect.DeepEqual(err, want) {
		t.Errorf("%#v does not put the message off by %s", err, d)
	}
}

// wantDead fails unless err puts the message into dead because of reason.
func wantDead(t *testing.T, err, reason error) {
	t.Helper()
	if want := queue.DeadLetter(errors.Unwrap(err)); !reflect.DeepEqual(err, want) {
		t.Errorf("%#v does not put the message into dead", err)
	}
	if !errors.Is(err, reason) {
		t.Errorf("%v, want %v", err, reason)
	}
}

// wantPlain fails unless err only fails the message.
func wantPlain(t *testing.T, err error) {
	t.Helper()
	why := errors.Unwrap(err)
	for _, verdict := range []error{queue.Defer(0, why), queue.DeadLetter(why)} {
		if reflect.TypeOf(err) == reflect.TypeOf(verdict) {
			t.Errorf("%#v does more than fail the message", err)
		}
	}
}

// causes are the reasons why a consumer ends the context of a handler.
func causes() []error { return []error{queue.ErrTimeLimit, queue.ErrNotOurs, queue.ErrAbandoned} }

// ended returns a context that has ended because of cause.
func ended(cause error) context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	return ctx
}
