package layout_test

import (
	"fmt"
	"time"

	"redq/queue"
	"redq/queue/layout"
)

func ExampleGroup() {
	now := time.UnixMilli(1_777_896_000_000)
	keys := []layout.Key{
		{Name: "orders", Type: "list"},
		{Name: "orders:backup", Type: "list"},
		{Name: "reminders", Type: "zset", Scores: []queue.Score{"1777896005", "1777899600"}},
		{Name: "leaderboard", Type: "zset", Scores: []queue.Score{"95", "310"}},
	}
	for _, q := range layout.Group(keys, nil, now) {
		fmt.Println(q.Name, q.Pattern, q.Unit)
	}
	// Output:
	// orders backup-list ms
	// reminders zset-race s
}

func ExampleParseNamed() {
	q, err := layout.ParseNamed("mail,ready=mail:todo,backup=mail:w1,backup=mail:w2,stuck=5m")
	fmt.Println(q.Name, q.Ready, q.Backups, q.Stuck(), err)
	_, err = layout.ParseNamed("mail,unit=hours")
	fmt.Println(err)
	// Output:
	// mail mail:todo [mail:w1 mail:w2] 5m0s <nil>
	// queue "mail": "hours" is not a unit: expected s, float, ms or us
}
