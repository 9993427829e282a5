package handler_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"

	"redq/queue"
	"redq/queue/handler"
)

func ExampleMux() {
	mux := handler.NewMux("beanName")
	mux.Handle("mailSender", func(_ context.Context, m queue.Message) error {
		fmt.Printf("mail: %s\n", m.Payload)
		return nil
	})
	// mux.Serve is the Handler of a queue.Consumer.
	for _, text := range []string{
		`{"beanName":"mailSender","msg":"welcome"}`,
		`{"beanName":"faxSender","msg":"welcome"}`,
		`welcome`,
	} {
		if err := mux.Serve(context.Background(), queue.Message{Payload: []byte(text)}); err != nil {
			fmt.Println("dead:", err)
		}
	}
	// Output:
	// mail: {"beanName":"mailSender","msg":"welcome"}
	// dead: no handler for beanName "faxSender"
	// dead: the payload is not JSON: invalid character 'w' looking for beginning of value
}

func ExampleExec() {
	h, err := handler.Exec(handler.ExecOptions{
		Shell:  `grep -q welcome || { echo "not a welcome" >&2; exit 1; }; echo "attempt $REDQ_ATTEMPT is done"`,
		Stdout: os.Stdout,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(h(context.Background(), queue.Message{Payload: []byte("welcome")}))
	fmt.Println(h(context.Background(), queue.Message{Payload: []byte("farewell")}))
	// Output:
	// attempt 1 is done
	// <nil>
	// exit status 1: not a welcome
}

func ExamplePost() {
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Printf("%s, attempt %s: %s\n", r.Header.Get("Content-Type"), r.Header.Get("Redq-Attempt"), body)
		if r.Header.Get("Redq-Attempt") != "1" {
			http.Error(w, "sold out", http.StatusConflict)
		}
	}))
	defer shop.Close()

	h, err := handler.Post(shop.URL, handler.PostOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(h(context.Background(), queue.Message{Payload: []byte(`{"order":1}`)}))
	fmt.Println(h(context.Background(), queue.Message{Payload: []byte(`{"order":1}`), Attempts: 1}))
	// Output:
	// application/json, attempt 1: {"order":1}
	// <nil>
	// application/json, attempt 2: {"order":1}
	// HTTP 409 Conflict: sold out
}

func ExampleLog() {
	h := handler.Log(os.Stdout)
	fmt.Println(h(context.Background(), queue.Message{Payload: []byte("two\nlines \x1b[2J")}))
	// Output:
	// two\nlines \x1b[2J
	// <nil>
}

func ExampleSimulate() {
	h, err := handler.Simulate(handler.Simulation{Fail: 0.5, Seed: 7})
	if err != nil {
		log.Fatal(err)
	}
	failed := 0
	for i := range 1000 {
		if h(context.Background(), queue.Message{Payload: fmt.Append(nil, i)}) != nil {
			failed++
		}
	}
	fmt.Println(failed, "of 1000 failed") // in each run the same ones
	// Output:
	// 537 of 1000 failed
}

func ExampleParseSimulation() {
	s, err := handler.ParseSimulation("fail=0.05, latency=0.05s+-20ms, seed=7")
	fmt.Println(s, err)
	_, err = handler.ParseSimulation("fail=5")
	fmt.Println(err)
	// Output:
	// latency=50ms±20ms fail=5% seed=7 <nil>
	// fail=5: a rate is a share from 0 to 1, or a percentage such as 5%
}

func ExampleSpec() {
	spec := handler.Spec{
		Kind:       handler.KindSimulate,
		Simulation: handler.Simulation{Crash: 1},
	}
	h, err := spec.Build()
	if err != nil {
		log.Fatal(err)
	}
	err = h(context.Background(), queue.Message{Payload: []byte("hello")})
	fmt.Println(spec, errors.Is(err, queue.ErrCrash))
	// Output:
	// simulate crash=100% true
}
