package queue_test

import (
	"bufio"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/queuetest"
)

// A server that cannot save refuses writes: nothing is lost, looking goes on, and
// when it can save again so does the work.
func TestAServerThatCannotSave(t *testing.T) {
	s := queuetest.Redis(t, "--save", "3600", "1")
	c, _ := open(t, s)
	q := orders()
	push(t, s, "orders:backup", "a", "b")
	dir := s.Client.ConfigGet(t.Context(), "dir").Val()["dir"]
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	s.Client.BgSave(t.Context())
	saved := func(status string) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); !strings.Contains(s.Client.Info(t.Context(), "persistence").Val(), "rdb_last_bgsave_status:"+status); {
			if time.Now().After(deadline) {
				t.Fatalf("the save did not end %s", status)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	saved("err")
	ms := peek(t, c, q, queue.Backup)
	for _, r := range []queue.Report{c.Redrive(t.Context(), q, ms, queue.RedriveOptions{}), c.Delete(t.Context(), q, ms)} {
		wantAll(t, r, queue.Refused)
		var refused *queue.RefusedError
		if !errors.As(r.Err(), &refused) || refused.Code != "MISCONF" {
			t.Errorf("%s: %v", r.Op, r.Err())
		}
	}
	if _, err := c.Enqueue(t.Context(), q, []byte("x"), queue.EnqueueOptions{}); err == nil || !strings.Contains(err.Error(), "cannot save") {
		t.Errorf("enqueue: %v", err)
	}
	wantList(t, s, "orders:backup", "a", "b")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.Client.ConfigSet(t.Context(), "stop-writes-on-bgsave-error", "no")
	wantAll(t, c.Redrive(t.Context(), q, ms, queue.RedriveOptions{}), queue.Done)
}

// loadingServer answers everything as a server does that reads its data.
func loadingServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for r := bufio.NewReader(conn); ; {
					line, err := r.ReadString('\n')
					if err != nil {
						return
					}
					if line[0] == '*' { // the head of each command
						_, _ = conn.Write([]byte("-LOADING Redis is loading the dataset in memory\r\n"))
					}
				}
			}()
		}
	}()
	return "redis://" + l.Addr().String()
}

func TestAServerThatIsLoading(t *testing.T) {
	c, err := queue.Open(t.Context(), queue.Options{URL: loadingServer(t)})
	if err != nil {
		t.Fatalf("a server that is loading will be there soon: %v", err)
	}
	defer c.Close()
	q := orders()
	m := queue.Message{Payload: []byte("a"), Size: 1, Place: queue.Backup, Key: "orders:backup", Len: 1}
	r := c.Redrive(t.Context(), q, []queue.Message{m}, queue.RedriveOptions{})
	wantAll(t, r, queue.Refused)
	if !strings.Contains(r.Err().Error(), "still loading") {
		t.Errorf("got %v", r.Err())
	}
	if poll, err := c.NewSampler().Sample(t.Context(), []queue.Queue{q}); err == nil {
		if s := poll.Samples[0]; s.Ready.OK() || s.Err == nil {
			t.Errorf("a number without an answer: %+v", s)
		}
	} else if says := queue.Explain(err); !strings.Contains(says, "loading") {
		t.Errorf("says %q", says)
	}
}
