package handler_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"redq/queue"
	"redq/queue/handler"
)

// namer returns a Mux whose handlers tell that they were called.
func namer(field string, called *string, names ...string) *handler.Mux {
	mux := handler.NewMux(field)
	for _, name := range names {
		mux.Handle(name, func(context.Context, queue.Message) error {
			*called = name
			return nil
		})
	}
	return mux
}

func TestMuxFindsTheHandler(t *testing.T) {
	tests := []struct{ name, field, payload, want string }{
		{"first field", "beanName", `{"beanName":"mail","msg":{}}`, "mail"},
		{"last field", "beanName", `{"msg":{"beanName":"sms"},"n":[1,{"beanName":"sms"}],"s":"x","t":true,"z":null,"beanName":"mail"}`, "mail"},
		{"space", "beanName", " {\n\"beanName\" :\t\"mail\" }", "mail"},
		{"escapes", "beanName", `{"be\u0061nName":"m\u0061il"}`, "mail"},
		{"nested", "msg.type", `{"type":"sms","msg":{"id":1,"type":"mail"}}`, "mail"},
		{"deeper", "a.b.c", `{"a":{"b":{"c":"mail"}}}`, "mail"},
		{"a number keeps its digits", "type", `{"type":130775545883395173}`, "130775545883395173"},
		{"a number as it is written", "type", `{"type":1.0e1}`, "1.0e1"},
		{"the first of two", "beanName", `{"beanName":"mail","beanName":"sms"}`, "mail"},
		{"no name", "beanName", `{"beanName":""}`, ""},
		{"what follows is not read", "beanName", `{"beanName":"mail", and so on`, "mail"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			called := "nobody"
			mux := namer(tt.field, &called, "mail", "sms", "130775545883395173", "1.0e1", "")
			if err := mux.Serve(t.Context(), message(tt.payload)); err != nil || called != tt.want {
				t.Errorf("%s was called, %v; want %s", called, err, tt.want)
			}
		})
	}
}

func TestMuxTellsWhatIsWrong(t *testing.T) {
	tests := []struct {
		name, payload string
		want          error
		text          string
	}{
		{"nothing", "", handler.ErrNotJSON, "the payload is not JSON: unexpected EOF"},
		{"text", "hello", handler.ErrNotJSON, "the payload is not JSON: invalid character 'h' looking for beginning of value"},
		{"cut in the field", `{"msg":{"type":"ma`, handler.ErrNotJSON, "the payload is not JSON: unexpected EOF"},
		{"cut before the field", `{"msg":{"id":[1,2`, handler.ErrNotJSON, "the payload is not JSON: unexpected EOF"},
		{"cut between", `{"msg":{"id":1`, handler.ErrNotJSON, "the payload is not JSON: unexpected EOF"},
		{"broken before the field", `{"id":01,"msg":{"type":"mail"}}`, handler.ErrNotJSON,
			"the payload is not JSON: invalid character '1' after object key:value pair"},
		{"an escape sequence", "\x1b[2J", handler.ErrNotJSON, `the payload is not JSON: invalid character '\x1b' looking for beginning of value`},
		{"nested too deep", `{"id":` + strings.Repeat("[", 1<<20), handler.ErrNotJSON, "the payload is not JSON: invalid character '[' exceeded max depth"},
		{"array", `[{"msg":{"type":"mail"}}]`, handler.ErrNoField, "nothing to dispatch by: the message has no field msg"},
		{"string", `"msg"`, handler.ErrNoField, "nothing to dispatch by: the message has no field msg"},
		{"no object", `{"type":"mail"}`, handler.ErrNoField, "nothing to dispatch by: the message has no field msg"},
		{"another kind of object", `{"msg":"mail"}`, handler.ErrNoField, "nothing to dispatch by: the message has no field msg.type"},
		{"no field", `{"msg":{},"type":"mail"}`, handler.ErrNoField, "nothing to dispatch by: the message has no field msg.type"},
		{"null", `{"msg":{"type":null}}`, handler.ErrNoField, "nothing to dispatch by: field msg.type is neither a text nor a number"},
		{"an object as the name", `{"msg":{"type":{"a":1}}}`, handler.ErrNoField, "nothing to dispatch by: field msg.type is neither a text nor a number"},
		{"true", `{"msg":{"type":true}}`, handler.ErrNoField, "nothing to dispatch by: field msg.type is neither a text nor a number"},
		{"unknown", `{"msg":{"type":"fax"}}`, handler.ErrNoHandler, `no handler for msg.type "fax"`},
		{"unknown and hostile", `{"msg":{"type":"\u001b[2J"}}`, handler.ErrNoHandler, `no handler for msg.type "\x1b[2J"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			called := "nobody"
			err := namer("msg.type", &called, "mail").Serve(t.Context(), message(tt.payload))
			wantDead(t, err, tt.want)
			wantText(t, err, tt.text)
			if called != "nobody" {
				t.Error(called, "was called")
			}
		})
	}
}

func TestMuxBoundsTheReason(t *testing.T) {
	err := handler.NewMux("type").Serve(t.Context(), message(`{"type":"`+strings.Repeat("x", 1<<20)+`"}`))
	wantDead(t, err, handler.ErrNoHandler)
	if len(err.Error()) > 300 {
		t.Errorf("%d bytes", len(err.Error()))
	}
}

// Default is for names that nobody knows, not for messages without one.
func TestMuxDefault(t *testing.T) {
	failure := errors.New("from the default")
	mux := handler.NewMux("type")
	mux.Default(func(context.Context, queue.Message) error { return failure })
	if err := mux.Serve(t.Context(), message(`{"type":"fax"}`)); err != failure {
		t.Error("unknown name:", err)
	}
	wantDead(t, mux.Serve(t.Context(), message(`{}`)), handler.ErrNoField)
	wantDead(t, mux.Serve(t.Context(), message(`hello`)), handler.ErrNotJSON)
}

func TestMuxHandsOnTheMessageUntouched(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "this one")
	failure := errors.New("from the handler")
	sent := message(`{ "type":"mail", "big":130775545883395173, "list":[] }`)
	sent.Attempts = 3
	mux := handler.NewMux("type")
	mux.Handle("mail", func(ctx context.Context, m queue.Message) error {
		if &m.Payload[0] != &sent.Payload[0] || !m.Same(sent) || m.Attempts != 3 || ctx.Value(key{}) != "this one" {
			t.Errorf("got %+v", m)
		}
		return failure
	})
	if err := mux.Serve(ctx, sent); err != failure {
		t.Error(err)
	}
}

func TestMuxMisuse(t *testing.T) {
	nop := func(context.Context, queue.Message) error { return nil }
	tests := map[string]func(){
		"no field":      func() { handler.NewMux("") },
		"half a path":   func() { handler.NewMux("msg.") },
		"nil":           func() { handler.NewMux("type").Handle("mail", nil) },
		"the same name": func() { x := handler.NewMux("type"); x.Handle("mail", nop); x.Handle("mail", nop) },
	}
	for name, misuse := range tests {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			misuse()
		})
	}
}

// Nothing makes it panic, and no JSON is taken for something else.
func FuzzMux(f *testing.F) {
	for _, s := range []string{`{"a":{"b":"c"}}`, `{"a":1}`, `[]`, `{"x":"\ud800","a":{"b":1e400}}`, `{"a":{"b"`, `{,}`, `{"a" "b"}`, "\xff", `{"a":{}}{`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		err := handler.NewMux("a.b").Serve(context.Background(), queue.Message{Payload: b})
		if err == nil {
			t.Fatal("a mux without handlers is done")
		}
		if json.Valid(b) && errors.Is(err, handler.ErrNotJSON) {
			t.Errorf("%q: %v", b, err)
		}
	})
}

func BenchmarkMux(b *testing.B) {
	called := ""
	mux := namer("beanName", &called, "mail")
	for name, text := range map[string]string{
		"first":       `{"beanName":"mail","msg":{"order":1712,"sku":"S-31"},"delayTime":1767323045000}`,
		"after 1 MiB": `{"msg":"` + strings.Repeat("x", 1<<20) + `","beanName":"mail"}`,
	} {
		b.Run(name, func(b *testing.B) {
			m := message(text)
			b.ReportAllocs()
			for b.Loop() {
				if err := mux.Serve(b.Context(), m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
