package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"redq/queue"
	"redq/queue/filter"
	"redq/queue/payload"
)

type peekFlags struct {
	place  queue.Place // "" for the first that the queue has
	from   int64
	count  int64
	filter filter.Matcher
	json   bool
}

func (r *run) peek() *cobra.Command {
	f := peekFlags{count: 10}
	cmd := &cobra.Command{
		Use:   "peek QUEUE",
		Short: "Look at messages without taking them",
		Long: `Look at messages without taking them: those of a list from its head, those of a
sorted set from the lowest score. JSON holds each payload whole, as a string or,
when it is not valid UTF-8, as payload_b64.`,
		Example: `  redq peek orders --in dead --filter timeout
  redq peek orders --json | jq -r .payload`,
		Args:              queueArg(0),
		ValidArgsFunction: r.completeQueue,
		RunE:              func(cmd *cobra.Command, args []string) error { return r.peekInto(cmd.Context(), args[0], f) },
	}
	placeVar(cmd, &f.place, "`PLACE`: ready, backup, delayed or dead (default: the\nfirst of them the queue has)")
	cmd.Flags().Var(&countFlag{&f.from, 0}, "from", "position `N` to start at (default 0)")
	cmd.Flags().VarP(&countFlag{&f.count, 1}, "count", "n", "at most `N` messages (default 10)")
	filterVar(cmd.Flags(), &f.filter)
	jsonVar(cmd, &f.json)
	return cmd
}

func (r *run) peekInto(ctx context.Context, name string, f peekFlags) error {
	c, err := r.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	q, err := c.find(ctx, name)
	if err != nil {
		return err
	}
	if f.place == "" {
		f.place = firstPlace(q)
	}
	switch {
	case !q.Has(f.place) && !mayHave(q, f.place):
		return failf("%s", missing(q, f.place))
	case f.json && !q.Has(f.place):
		return nil
	case f.json:
		return r.peekJSON(ctx, c, q, f)
	case !q.Has(f.place):
		_, err := fmt.Fprintln(r.Stdout, missing(q, f.place))
		return err
	}
	return r.peekText(ctx, c, q, f)
}

func firstPlace(q queue.Queue) queue.Place {
	for _, p := range queue.Places() {
		if q.Has(p) {
			return p
		}
	}
	return queue.Ready
}

// pageSize is how many messages are read at a time.
const pageSize = 500

// pages hands the messages that were asked for to show, a page at a time. Their
// payloads may be heads.
func (c connection) pages(ctx context.Context, q queue.Queue, f peekFlags, show func(queue.Message, time.Time) error) error {
	from, left := f.from, f.count
	for left > 0 && from >= 0 {
		page, err := c.page(ctx, q, f, &from, left)
		if err != nil {
			return err
		}
		for _, m := range page.Messages {
			if err := show(m, page.Now); err != nil {
				return err
			}
		}
		left -= int64(len(page.Messages))
	}
	return nil
}

// page reads the next messages and moves from behind them, to -1 at the end.
func (c connection) page(ctx context.Context, q queue.Queue, f peekFlags, from *int64, left int64) (queue.Page, error) {
	n := int(min(left, pageSize))
	if f.filter.All() {
		page, err := c.Peek(ctx, q, f.place, *from, n)
		if *from += int64(len(page.Messages)); len(page.Messages) < n {
			*from = -1
		}
		return page, err
	}
	page, err := c.Peek(ctx, q, f.place, 0, 1) // for the server's clock
	if err != nil {
		return page, err
	}
	match := func(m queue.Message) bool { return f.filter.Match(m.Payload) }
	page.Messages, *from, err = c.Search(ctx, q, f.place, *from, match, n, searchPages)
	return page, err
}

func (r *run) peekText(ctx context.Context, c connection, q queue.Queue, f peekFlags) error {
	heads := []string{"INDEX", "SIZE", "ENCODING", "PAYLOAD"}
	if f.place == queue.Delayed {
		heads = []string{"SCORE", "DUE", "SIZE", "ENCODING", "PAYLOAD"}
	}
	several := len(q.Keys(f.place)) > 1
	if several {
		heads = append([]string{"KEY"}, heads...)
	}
	t := r.table(heads...)
	err := c.pages(ctx, q, f, func(m queue.Message, now time.Time) error {
		t.row(messageCells(q, m, now, several)...)
		return t.err
	})
	return errors.Join(err, t.flush())
}

// shownBytes is how much of a payload text output shows.
const shownBytes = 4 << 10

func messageCells(q queue.Queue, m queue.Message, now time.Time, withKey bool) []string {
	var cells []string
	if withKey {
		cells = append(cells, line(m.Key))
	}
	if m.Place == queue.Delayed {
		due, _ := q.Unit.Time(m.Score)
		cells = append(cells, line(string(m.Score)), timeText(due, now))
	} else {
		cells = append(cells, strconv.FormatInt(m.Index, 10))
	}
	return append(cells, strconv.FormatInt(m.Size, 10),
		string(payload.Detect(m.Payload, !m.Complete())), payload.Preview(m.Payload, shownBytes))
}

// copiesLimit is how many entries from each end are compared to count copies.
const copiesLimit = 1000

func (r *run) peekJSON(ctx context.Context, c connection, q queue.Queue, f peekFlags) error {
	return c.pages(ctx, q, f, func(m queue.Message, _ time.Time) error {
		if !m.Complete() {
			var err error
			if m, err = c.Load(ctx, m); errors.Is(err, queue.ErrGone) {
				return nil // a consumer took it between the page and now
			} else if err != nil {
				return err
			}
		}
		copies, more, err := c.Copies(ctx, m, copiesLimit)
		if err != nil {
			return err
		}
		j := messageOf(q, m)
		j.Copies, j.CopiesPartial = &copies, more
		return writeJSON(r.Stdout, j)
	})
}
