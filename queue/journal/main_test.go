package journal_test

import (
	"bufio"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"redq/queue"
	"redq/queue/journal"
)

// The test binary runs itself again as another process that shares a journal.
const (
	envChild = "JOURNAL_TEST_CHILD"
	envPath  = "JOURNAL_TEST_PATH"
	envCount = "JOURNAL_TEST_COUNT"
	envName  = "JOURNAL_TEST_NAME"
	envSize  = "JOURNAL_TEST_SIZE"
	envMost  = "JOURNAL_TEST_SEGMENT"
)

func TestMain(m *testing.M) {
	children := map[string]func() error{"append": childAppends, "file limit": childHitsLimit, "lock": childLocks, "hold": childHolds}
	if child, ok := children[os.Getenv(envChild)]; ok {
		if err := child(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func child(t *testing.T, what, path string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), envChild+"="+what, envPath+"="+path)
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr = os.Stderr
	return cmd
}

// childAppends appends COUNT entries (for ever when it is 0) with payloads of up to
// SIZE bytes and prints the id of each after Append has returned.
func childAppends() error {
	segment, _ := strconv.ParseInt(os.Getenv(envMost), 10, 64) // 0 when it is not given
	j, err := journal.Open(os.Getenv(envPath), journal.Options{SegmentBytes: segment})
	if err != nil {
		return err
	}
	count, err := strconv.Atoi(os.Getenv(envCount))
	if err != nil {
		return err
	}
	size, err := strconv.Atoi(os.Getenv(envSize))
	if err != nil {
		return err
	}
	for i := 0; count == 0 || i < count; i++ {
		id := fmt.Sprintf("%s-%d", os.Getenv(envName), i)
		if err := j.Append(deletion(id, 0, payloadOf(id, size))); err != nil {
			return err
		}
		fmt.Println(id)
	}
	return j.Close()
}

// payloadOf returns bytes that are different for each id, about size at most.
func payloadOf(id string, size int) []byte {
	hash := fnv.New32()
	_, _ = hash.Write([]byte(id)) // never fails
	unit := id + "\x00\xff\n"
	return []byte(strings.Repeat(unit, 1+int(hash.Sum32())%(1+size/len(unit))))
}

// childHitsLimit finds out what is left after a write that the disk had no room for.
func childHitsLimit() error {
	signal.Ignore(unix.SIGXFSZ) // then the write returns an error, as on a full disk
	path := os.Getenv(envPath)
	j, err := journal.Open(path, journal.Options{})
	if err != nil {
		return err
	}
	if err := j.Append(deletion("before", 0, []byte("kept"))); err != nil {
		return err
	}
	before, err := os.ReadFile(path)
	if err != nil {
		return err
	}

	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	full := unix.Rlimit{Cur: uint64(len(before)) + 5000, Max: limit.Max}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &full); err != nil {
		return err
	}
	err = j.Append(deletion("during", 0, []byte("small")), deletion("during", 1, make([]byte, 20_000)))
	if !errors.Is(err, unix.EFBIG) {
		return fmt.Errorf("append beyond the limit: %v", err)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if string(after) != string(before) {
		return fmt.Errorf("the failed append left %d bytes behind", len(after)-len(before))
	}

	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	return j.Append(deletion("after", 0, []byte("kept too")))
}

// childHolds is at work on an entry until its standard input ends.
func childHolds() error {
	j, err := journal.Open(os.Getenv(envPath), journal.Options{})
	if err != nil {
		return err
	}
	if err := j.Append(deletion("held", 0, []byte("x"))); err != nil {
		return err
	}
	fmt.Println("asked")
	if _, err = bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	return j.Append(answer(queue.Answered, "held", 0, queue.Done))
}

// childLocks holds the undo lock until its standard input ends.
func childLocks() error {
	j, err := journal.Open(os.Getenv(envPath), journal.Options{})
	if err != nil {
		return err
	}
	unlock, err := j.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	fmt.Println("locked")
	_, err = bufio.NewReader(os.Stdin).ReadString('\n')
	return err
}

// deletion is the intent to delete one message.
func deletion(entry string, seq int, payload []byte) queue.Record {
	return queue.Record{
		Kind: queue.Intent, Entry: entry, Seq: seq, Time: time.Date(2026, 3, 1, 4, 5, 6, 789, time.UTC),
		Server: "localhost:6379/0", Queue: "orders", Op: queue.OpDelete,
		Message: queue.Message{
			Payload: payload, Size: int64(len(payload)), Place: queue.Dead, Key: "orders:dead", Index: 3, Len: 9,
		},
	}
}

func answer(kind queue.RecordKind, entry string, seq int, o queue.Outcome) queue.Record {
	return queue.Record{Kind: kind, Entry: entry, Seq: seq, Time: time.Date(2026, 3, 1, 4, 5, 7, 0, time.UTC), Outcome: o}
}
