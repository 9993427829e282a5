package handler_test

import (
	"bytes"
	"net/http"
	"testing"

	"redq/queue"
	"redq/queue/handler"
)

func TestSpecBuildsEachKind(t *testing.T) {
	var queueName string
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { queueName = r.Header.Get("Redq-Queue") })
	var out bytes.Buffer
	specs := map[handler.Kind]handler.Spec{
		handler.KindLog:      {},
		handler.KindExec:     {Command: `echo "$REDQ_QUEUE"; cat`},
		handler.KindPost:     {URL: s.URL},
		handler.KindSimulate: {Simulation: handler.Simulation{Crash: 1}},
	}
	written := map[handler.Kind]string{handler.KindLog: "hello\n", handler.KindExec: "orders\nhello"}
	for _, kind := range handler.Kinds() {
		spec := specs[kind]
		for _, loud := range []bool{true, false} {
			spec.Kind, spec.Queue = kind, "orders"
			if spec.Output = nil; loud {
				spec.Output = &out
			}
			out.Reset()
			err := must(spec.Build())(t)(t.Context(), message("hello"))
			if kind == handler.KindSimulate {
				if err != queue.ErrCrash {
					t.Errorf("%s: %v", kind, err)
				}
				continue
			}
			want := written[kind]
			if !loud {
				want = ""
			}
			if err != nil || out.String() != want {
				t.Errorf("%s: %q, %v; want %q", kind, &out, err, want)
			}
		}
	}
	if queueName != "orders" {
		t.Errorf("the server was told %q", queueName)
	}
}

func TestSpecTellsWhatIsWrong(t *testing.T) {
	tests := []struct {
		spec handler.Spec
		want string
	}{
		{handler.Spec{}, `"" is no kind of handler: expected log, exec, post or simulate`},
		{handler.Spec{Kind: "mail"}, `"mail" is no kind of handler: expected log, exec, post or simulate`},
		{handler.Spec{Kind: handler.KindExec}, "exec: no command given"},
		{handler.Spec{Kind: handler.KindPost, URL: "example.com"}, "post: expected a URL that begins with http:// or https:// and a host"},
		{handler.Spec{Kind: handler.KindSimulate, Simulation: handler.Simulation{Fail: 2}}, "fail=2: a rate is a share from 0 to 1, or a percentage such as 5%"},
	}
	for _, tt := range tests {
		_, err := tt.spec.Build()
		wantText(t, err, tt.want)
	}
}

func TestSpecInAFewWords(t *testing.T) {
	for want, spec := range map[string]handler.Spec{
		"log":                    {Kind: handler.KindLog, Command: "true"},
		"exec ./work.sh --fast":  {Kind: handler.KindExec, Command: "./work.sh --fast"},
		"post http://shop:80/in": {Kind: handler.KindPost, URL: "http://user:secret@shop:80/in?token=secret#top"},
		"post":                   {Kind: handler.KindPost, URL: "http://user:sec/ret@shop"},
		"simulate":               {Kind: handler.KindSimulate},
		"simulate fail=5%":       {Kind: handler.KindSimulate, Simulation: handler.Simulation{Fail: 0.05}},
	} {
		if got := spec.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
