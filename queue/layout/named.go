package layout

import (
	"fmt"
	"strings"
	"time"

	"redq/queue"
)

// NamedGrammar is what ParseNamed reads, for usage texts.
const NamedGrammar = "NAME[,ready=KEY][,backup=KEY]…[,delayed=KEY][,dead=KEY][,unit=s|float|ms|us][,push=left|right][,stuck=60s]"

// ParseNamed reads a queue named by hand, in the form of NamedGrammar. A backslash
// makes the next byte part of a name or key, whatever it is. Without any key the queue
// has the default keys of its name, marked as guessed, and Group completes them by
// what it finds; with one, it has the keys given and no others. What was not said
// is marked as guessed too.
func ParseNamed(s string) (queue.Queue, error) {
	fields := splitFields(s)
	q := queue.Queue{
		Name:    fields[0],
		Guessed: queue.GuessedUnit | queue.GuessedPush | queue.GuessedPattern,
		Push:    queue.Left,
		Pinned:  true,
	}
	if q.Name == "" {
		return queue.Queue{}, fmt.Errorf("%q names no queue: expected %s", s, NamedGrammar)
	}
	for _, f := range fields[1:] {
		if err := setField(&q, f); err != nil {
			return queue.Queue{}, fmt.Errorf("queue %q: %w", q.Name, err)
		}
	}
	if !hasKeys(q) {
		d := queue.Named(q.Name)
		q.Ready, q.Backups, q.Delayed, q.Dead = d.Ready, d.Backups, d.Delayed, d.Dead
		q.Guessed |= queue.GuessedKeys
	}
	return q, q.Validate()
}

func hasKeys(q queue.Queue) bool {
	for _, p := range queue.Places() {
		if q.Has(p) {
			return true
		}
	}
	return false
}

// splitFields cuts at commas that no backslash protects, and takes the backslashes off.
func splitFields(s string) []string {
	var fields []string
	var field strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == ',':
			fields = append(fields, field.String())
			field.Reset()
			continue
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		field.WriteByte(s[i])
	}
	return append(fields, field.String())
}

func setField(q *queue.Queue, field string) (err error) {
	name, value, ok := strings.Cut(field, "=")
	if !ok || value == "" {
		return fmt.Errorf("%q: expected %s", field, NamedGrammar)
	}
	switch name {
	case "unit":
		q.Unit, err = queue.ParseUnit(value)
		q.Guessed &^= queue.GuessedUnit
		return err
	case "push":
		q.Push, err = queue.ParseEnd(value)
		q.Guessed &^= queue.GuessedPush
		return err
	case "stuck":
		q.StuckAfter, err = time.ParseDuration(value)
		if err != nil || q.StuckAfter <= 0 {
			return fmt.Errorf("stuck=%s: expected a duration above 0, such as 60s or 5m", value)
		}
		return nil
	}
	p, err := queue.ParsePlace(name)
	if err != nil {
		return fmt.Errorf("%q is not a property: expected ready, backup, delayed, dead, unit, push or stuck", name)
	}
	if !add(q, p, value) {
		return fmt.Errorf("%s= was given twice: a queue has one %s key", name, name)
	}
	return nil
}
