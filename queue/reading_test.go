package queue_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"redq/queue"
	"redq/queue/queuetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reader connects to a test server.
func reader(t testing.TB, url string) *queue.Client {
	t.Helper()
	c, err := queue.Open(t.Context(), queue.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// rpush appends to a list: the first payload ends up nearest to the head.
func rpush(t testing.TB, s *queuetest.Server, key string, payloads ...string) {
	t.Helper()
	pipe := s.Client.Pipeline()
	for _, p := range payloads {
		pipe.RPush(t.Context(), key, p)
	}
	if _, err := pipe.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// eventually waits until ok, and fails the test when it never comes.
func eventually(t testing.TB, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatal("it did not happen")
}

// serverCPU returns the processor time that a real server has used.
func serverCPU(t testing.TB, s *queuetest.Server) time.Duration {
	t.Helper()
	var total float64
	for line := range strings.Lines(s.Client.Info(t.Context(), "cpu").Val()) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name == "used_cpu_sys_main_thread" || name == "used_cpu_user_main_thread" {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			total += v
		}
	}
	return time.Duration(total * float64(time.Second))
}
