package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"redq/queue"
)

// patternFlag is a pattern by its number or its name.
type patternFlag struct{ value *queue.Pattern }

func (f *patternFlag) Set(s string) (err error) {
	*f.value, err = queue.ParsePattern(s)
	return err
}

func (f *patternFlag) Type() string   { return "pattern" }
func (f *patternFlag) String() string { return string(*f.value) }

func completePattern(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for i, p := range queue.Patterns() {
		names = append(names, fmt.Sprintf("%s\tP%d", p, i+1))
	}
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// consumed is a queue together with the pattern it is consumed by.
type consumed struct {
	queue.Queue
	by queue.Pattern
	// chosen is set when somebody named the pattern.
	chosen bool
}

// consumedBy settles how a queue is consumed: by the pattern, or, when it is "", by
// the safest that suits the queue.
func consumedBy(q queue.Queue, p queue.Pattern) consumed {
	c := consumed{Queue: q, by: p, chosen: p != ""}
	if !c.chosen {
		c.by = safest(q)
	}
	c.complete()
	return c
}

// safest returns the pattern for a queue when nobody said which. Keys alone do not
// tell how careful their programs are, so a plain list is taken from by way of a
// backup list, which disturbs no other program and loses nothing; and a sorted set by
// the script, which takes as those do who race for it, without their waste.
func safest(q queue.Queue) queue.Pattern {
	told := q.Pattern != "" && q.Guessed&queue.GuessedPattern == 0
	switch {
	case told, q.Pattern == queue.Pipeline, q.Pattern == queue.Dispatch, q.Pattern == queue.LockRetry:
		return q.Pattern
	case q.Has(queue.Ready):
		return queue.BackupList
	case q.Has(queue.Delayed):
		return queue.ZsetScript
	}
	return queue.Pipeline // Consumer.Validate says what it lacks
}

// complete gives a queue that was found by its keys those that the pattern uses and
// that are not there now: Redis keeps no empty key. A queue whose keys were given by hand has no others.
func (c *consumed) complete() {
	byName := queue.Named(c.Name)
	for _, place := range c.uses() {
		if !mayHave(c.Queue, place) {
			continue
		}
		key := byName.Keys(place)[0]
		if _, taken := c.PlaceOf(key); taken {
			if c.by != queue.Pipeline {
				continue // a list is not to be made up beside a sorted set
			}
			key = c.Name + ":" + string(place)
		}
		switch place {
		case queue.Ready:
			c.Ready = key
		case queue.Backup:
			c.Backups = []string{key}
		case queue.Delayed:
			c.Delayed = key
		case queue.Dead:
			c.Dead = key
		}
	}
}

// uses returns the places that the pattern takes from, or puts messages into.
func (c *consumed) uses() []queue.Place {
	switch c.by {
	case queue.ListPoll, queue.ListBlock:
		return []queue.Place{queue.Ready, queue.Dead}
	case queue.ZsetRace, queue.ZsetScript, queue.Dispatch:
		return []queue.Place{queue.Delayed, queue.Dead}
	case queue.BackupList:
		return []queue.Place{queue.Ready, queue.Backup}
	case queue.LockRetry:
		if c.Delayed == c.Name { // it is consumed from its sorted set
			return []queue.Place{queue.Delayed, queue.Dead}
		}
	}
	return []queue.Place{queue.Ready, queue.Delayed, queue.Dead}
}

// keeps reports whether what is in hand lies in a backup list. By the lock pattern that
// is so only where it takes from a list.
func (c *consumed) keeps() bool {
	return c.by.AtLeastOnce() && (c.by != queue.LockRetry || c.Has(queue.Ready))
}

// promise says how messages are taken and what becomes of them when something goes wrong.
func (c *consumed) promise() string {
	switch {
	case !c.keeps():
		return "at most once: what is in hand is lost if this consumer dies"
	case c.by == queue.BackupList && c.Has(queue.Backup):
		return fmt.Sprintf("at least once, from the %s end of %s: what fails stays in %s",
			c.PushEnd().Other(), line(c.Ready), line(c.Backups[0]))
	case c.by == queue.BackupList:
		return "at least once: what fails stays in backup"
	}
	return "at least once: what fails is tried again, and then goes to dead"
}

// notes are what somebody should know before the first message is taken.
func (c *consumed) notes() []string {
	var notes []string
	switch {
	case !c.chosen:
		notes = append(notes, fmt.Sprintf("consuming %s by %s, %s (--pattern says otherwise)", line(c.Name), c.by, c.promise()))
	case !c.keeps():
		notes = append(notes, fmt.Sprintf("%s is %s", c.by, c.promise()))
	}
	if slices.Contains(c.uses(), queue.Dead) && !c.Has(queue.Dead) {
		notes = append(notes, fmt.Sprintf("%s has no dead list: a message that failed for the last time is dropped", line(c.Name)))
	}
	return notes
}
