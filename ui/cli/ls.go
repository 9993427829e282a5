package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"redq/model/when"
	"redq/queue"
	"redq/queue/layout"
)

func (r *run) ls() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the queues, one a row",
		Long: `List the queues, one a row, with what lies in each of their places.
"-" stands for a place the queue does not have, "?" for what is not known.

In JSON both are null. A name or key that is not valid UTF-8 stands there as it
is printed, and beside it in base64: name_b64, queue_b64, key_b64, keys_b64.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.list(cmd.Context(), asJSON) },
	}
	jsonVar(cmd, &asJSON)
	return cmd
}

func jsonVar(cmd *cobra.Command, value *bool) {
	cmd.Flags().BoolVar(value, "json", false, "one JSON object a line")
}

func (r *run) list(ctx context.Context, asJSON bool) error {
	c, err := r.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	d, err := c.discover(ctx)
	if err != nil {
		return err
	}
	var poll queue.Poll
	if len(d.queues) > 0 {
		if poll, err = c.NewSampler().Sample(ctx, d.queues); err != nil {
			return err
		}
	}
	write := r.printSamples
	if asJSON {
		write = r.writeSamples
	}
	if err := write(d.queues, poll); err != nil {
		return err
	}
	if err := unread(poll.Samples); err != nil {
		return err
	}
	if len(c.queues) == 0 || !errors.Is(d.partial, layout.ErrScanDenied) {
		return d.partial
	}
	return nil // who named queues by hand knows that others are not found
}

func (r *run) writeSamples(qs []queue.Queue, poll queue.Poll) error {
	for i, s := range poll.Samples {
		if err := writeJSON(r.Stdout, sampleOf(qs[i], s)); err != nil {
			return err
		}
	}
	return nil
}

// unread says which queues could not be read in full.
func unread(samples []queue.Sample) error {
	var first queue.Sample
	n := 0
	for _, s := range samples {
		if s.Err != nil {
			if n++; n == 1 {
				first = s
			}
		}
	}
	switch n {
	case 0:
		return nil
	case 1:
		return failf("%s could not be read in full: %s", line(first.Queue), queue.Explain(first.Err))
	}
	return failf("%d queues could not be read in full, the first is %s: %s", n, line(first.Queue), queue.Explain(first.Err))
}

// sampleJSON is one queue of ls. A number is null where the queue has no such
// place or it could not be read.
type sampleJSON struct {
	Name    string  `json:"name"`
	NameB64 *string `json:"name_b64,omitempty"`
	Ready   *int64  `json:"ready"`
	Backup  *int64  `json:"backup"`
	Delayed *int64  `json:"delayed"`
	Due     *int64  `json:"due"`
	Dead    *int64  `json:"dead"`
	Stuck   *int64  `json:"stuck"`
	NextDue *string `json:"next_due"`
	Unit    *string `json:"unit"`
	// Keys holds a key for each place, and a list for several; KeysB64 those
	// that are no valid UTF-8.
	Keys    map[queue.Place]any `json:"keys"`
	KeysB64 map[queue.Place]any `json:"keys_b64,omitempty"`
	Error   string              `json:"error,omitempty"`
}

func sampleOf(q queue.Queue, s queue.Sample) sampleJSON {
	j := sampleJSON{
		Ready: countJSON(s.Ready), Backup: countJSON(s.Backup), Delayed: countJSON(s.Delayed),
		Due: countJSON(s.Due), Dead: countJSON(s.Dead), Stuck: countJSON(stuck(s)),
		NextDue: timeJSON(s.NextDue), Keys: map[queue.Place]any{},
	}
	j.Name, j.NameB64 = textJSON(q.Name)
	if q.Has(queue.Delayed) {
		unit := q.Unit.String()
		j.Unit = &unit
	}
	for _, p := range queue.Places() {
		j.addKeys(p, q.Keys(p))
	}
	if s.Err != nil {
		j.Error = errorText(s.Err)
	}
	return j
}

func (j *sampleJSON) addKeys(p queue.Place, keys []string) {
	if len(keys) == 0 {
		return
	}
	shown, raw := make([]string, len(keys)), make([]*string, len(keys))
	needed := false
	for i, k := range keys {
		shown[i], raw[i] = textJSON(k)
		needed = needed || raw[i] != nil
	}
	j.Keys[p] = oneOrAll(shown)
	if needed {
		if j.KeysB64 == nil {
			j.KeysB64 = map[queue.Place]any{}
		}
		j.KeysB64[p] = oneOrAll(raw)
	}
}

func oneOrAll[T any](all []T) any {
	if len(all) == 1 {
		return all[0]
	}
	return all
}

// errorText is an error of the server as one line that is safe to print.
func errorText(err error) string { return line(redact(queue.Explain(err))) }

// stuck is a sample's count of stuck messages. One look at a list without times
// proves nothing: "at least 0" is no number.
func stuck(s queue.Sample) queue.Count {
	if s.Stuck.State == queue.AtLeast && s.Stuck.N == 0 {
		return queue.Count{State: queue.Unreadable}
	}
	return s.Stuck
}

func (r *run) printSamples(qs []queue.Queue, poll queue.Poll) error {
	t := r.table("QUEUE", "READY", "BACKUP", "STUCK", "DELAYED", "DUE", "DEAD", "NEXT DUE", "UNIT")
	for i, s := range poll.Samples {
		q := qs[i]
		next, unit := "-", "-"
		if q.Has(queue.Delayed) {
			unit = q.Unit.String()
		}
		if !s.NextDue.IsZero() {
			next = when.Relative(s.NextDue, poll.Now)
		}
		cells := []string{
			line(q.Name), countText(s.Ready), countText(s.Backup), countText(stuck(s)), countText(s.Delayed),
			countText(s.Due), countText(s.Dead), next, unit,
		}
		if s.Err != nil {
			cells = append(cells, errorText(s.Err))
		}
		t.row(cells...)
	}
	return t.flush()
}

func countText(c queue.Count) string {
	switch c.State {
	case queue.Known:
		return strconv.FormatInt(c.N, 10)
	case queue.AtLeast:
		return fmt.Sprintf(">=%d", c.N)
	case queue.Unreadable:
		return "?"
	}
	return "-"
}

// timeText is a time as people at this machine read it, and how far away it is.
func timeText(t, now time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05") + " (" + when.Relative(t, now) + ")"
}
