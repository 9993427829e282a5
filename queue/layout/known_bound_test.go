package layout

import (
	"fmt"
	"testing"

	"redq/queue"
)

func TestConsumersThatComeAndGoDoNotPileUp(t *testing.T) {
	known := []queue.Queue{{Name: "orders", Ready: "orders", Guessed: queue.GuessedKeys}}
	for round := range 50 {
		found := queue.Queue{Name: "orders", Ready: "orders", Guessed: queue.GuessedKeys}
		for i := range 10 {
			found.Backups = append(found.Backups, fmt.Sprintf("orders:backup:%d-%d", round, i))
		}
		known = keepKnown(known, []queue.Queue{found})
	}
	if n := len(known[0].Backups); n < 10 || n > keptEmpty+10 {
		t.Errorf("%d backup lists are polled", n)
	}
	for i := range 10 {
		if _, there := known[0].PlaceOf(fmt.Sprintf("orders:backup:49-%d", i)); !there {
			t.Error("a list that is there was dropped")
		}
	}
}
