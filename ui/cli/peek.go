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
when it is not valid UTF-8, as payload_b64.` + filterHelp,
		Example: `  redq peek orders --in dead --filter 'timeout .attempts > 3'
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
	case !q.Has(f.place):
		_, err := fmt.Fprintln(r.Stdout, missing(q, f.place))
		return err
	}
	s, err := r.newSift(ctx, c, q, f.place, f.filter, f.from)
	if err != nil {
		return err
	}
	show := r.peekText
	if f.json {
		show = r.peekJSON
	}
	if err := show(ctx, s, f.count); err != nil {
		return err
	}
	r.conclude(s.sieve, s.looked, s.matched)
	return nil
}

func firstPlace(q queue.Queue) queue.Place {
	for _, p := range queue.Places() {
		if q.Has(p) {
			return p
		}
	}
	return queue.Ready
}

func (r *run) peekText(ctx context.Context, s *sift, count int64) error {
	heads := []string{"INDEX", "SIZE", "ENCODING", "PAYLOAD"}
	if s.place == queue.Delayed {
		heads = []string{"SCORE", "DUE", "SIZE", "ENCODING", "PAYLOAD"}
	}
	several := len(s.queue.Keys(s.place)) > 1
	if several {
		heads = append([]string{"KEY"}, heads...)
	}
	t := r.table(heads...)
	err := s.each(ctx, count, func(m queue.Message) error {
		t.row(messageCells(s.queue, m, s.sieve.Now, several)...)
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

func (r *run) peekJSON(ctx context.Context, s *sift, count int64) error {
	return s.each(ctx, count, func(m queue.Message) error {
		if !m.Complete() {
			var err error
			if m, err = s.c.Load(ctx, m); errors.Is(err, queue.ErrGone) {
				return nil // a consumer took it between the page and now
			} else if err != nil {
				return err
			}
		}
		copies, more, err := s.c.Copies(ctx, m, copiesLimit)
		if err != nil {
			return err
		}
		j := messageOf(s.queue, m)
		j.Copies, j.CopiesPartial = &copies, more
		return writeJSON(r.Stdout, j)
	})
}
