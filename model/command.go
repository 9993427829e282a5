package model

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"redq/queue"
)

// commandSpec is one command of the command line.
type commandSpec struct {
	name  string
	about string // what its argument is, for errors
	run   func(m Model, args []string, rest string) (Intent, error)
	// options are the arguments that tab offers.
	options []string
	// offers are more of them, which depend on the state; nil means none.
	offers func(Model) []string
	// here tells whether there is such a command at all; nil means there is.
	here func(Model) bool
}

// commands returns all commands, in the order they are offered.
func commands() []commandSpec {
	pressing := func(a Action) func(Model, []string, string) (Intent, error) {
		return func(Model, []string, string) (Intent, error) { return press{a}, nil }
	}
	sorts := make([]string, columnCount)
	for c := range columnCount {
		sorts[c] = c.String()
	}
	return []commandSpec{
		{name: "q", run: pressing(ActKill)},
		{name: "quit", run: pressing(ActKill)},
		{name: "help", run: pressing(ActHelp)},
		{name: "sort", about: "one of " + strings.Join(sorts, ", "), options: sorts, run: runSort},
		{name: "filter", about: "text, /re/, on messages .jq, due<10m, age>5m, size>1k, ! in front; nothing clears it", run: runFilter},
		{name: "refresh", about: "a duration such as 2s, at least 250ms", options: []string{"250ms", "500ms", "1s", "2s", "5s", "10s", "30s"}, run: runRefresh},
		{name: "goto", about: "a position from 0 on a queue's page", run: runGoTo},
		{name: "trouble", run: pressing(ActTrouble)},
		{name: "freeze", run: pressing(ActFreeze)},
		{name: "undo", run: pressing(ActUndo)},
		{name: "unit", about: "s, float, ms or us, after a queue's name if it is not this one's", options: []string{"s", "float", "ms", "us"}, run: runUnit},
		{name: "push", about: "left or right", options: []string{"left", "right"}, run: runPush},
		{name: "stuck", about: "a duration such as 30s", options: []string{"30s", "60s", "5m"}, run: runStuck},
		{name: "readonly", run: runReadOnly},
		{name: "consume", about: "a queue's name if it is not this one's", run: runConsume, offers: Model.queueNames},
		{name: "consumers", run: func(Model, []string, string) (Intent, error) { return showConsumers{}, nil }},
		// A queue of that name is what is meant: J shows the jobs then.
		{name: "jobs", run: func(Model, []string, string) (Intent, error) { return showJobs{}, nil }, here: Model.noQueueNamedJobs},
		{name: "scene", run: runScene, here: Model.hasScenes, offers: Model.sceneNames},
	}
}

// commandsHere returns the commands there are now.
func (m Model) commandsHere() []commandSpec {
	return slices.DeleteFunc(commands(), func(c commandSpec) bool { return c.here != nil && !c.here(m) })
}

// command reads a line of the command line. Its error says what was expected.
func (m Model) command(line string) (Intent, error) {
	line = strings.TrimSpace(line)
	if line == "" {
		return nil, nil
	}
	word, rest, _ := strings.Cut(line, " ")
	for _, c := range m.commandsHere() {
		if c.name == word {
			in, err := c.run(m, strings.Fields(rest), strings.TrimSpace(rest))
			if err != nil && c.about != "" {
				err = fmt.Errorf("%w: expected %s", err, c.about)
			}
			return in, err
		}
	}
	name, err := m.queueNamed(line)
	if err != nil {
		return nil, err
	}
	return openQueue{name}, nil
}

// queueNamed finds the queue that is meant: by its name, its only start, or its
// only part.
func (m Model) queueNamed(text string) (string, error) {
	var starts, parts []string
	for _, r := range m.Overview.Rows {
		name := r.Queue.Name
		switch {
		case name == text:
			return name, nil
		case strings.HasPrefix(strings.ToLower(name), strings.ToLower(text)):
			starts = append(starts, name)
		case strings.Contains(strings.ToLower(name), strings.ToLower(text)):
			parts = append(parts, name)
		}
	}
	for _, found := range [][]string{starts, parts} {
		if len(found) == 1 {
			return found[0], nil
		}
		if len(found) > 1 {
			return "", fmt.Errorf("%d queues have %s in their name: expected one, such as %s", len(found), shown(text), shown(slices.Min(found)))
		}
	}
	return "", fmt.Errorf("%s is neither a queue nor a command: expected a queue's name or one of %s", shown(text), m.commandNames())
}

func (m Model) commandNames() string {
	var names []string
	for _, c := range m.commandsHere() {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

// completions returns what a line may become: commands and queues, or the
// arguments of a command.
func (m Model) completions(line string) []string {
	word, rest, spaced := strings.Cut(line, " ")
	var all []string
	for _, c := range m.commandsHere() {
		if spaced && c.name == word {
			options := c.options
			if c.offers != nil {
				options = c.offers(m)
			}
			for _, o := range options {
				if strings.HasPrefix(o, rest) {
					all = append(all, word+" "+o)
				}
			}
			return all
		}
		if !spaced && strings.HasPrefix(c.name, word) {
			all = append(all, c.name)
		}
	}
	for _, name := range m.queueNames() {
		if strings.HasPrefix(strings.ToLower(name), strings.ToLower(line)) {
			all = append(all, name)
		}
	}
	return all
}

// queueNames returns the names of all queues, sorted.
func (m Model) queueNames() []string {
	names := make([]string, len(m.Overview.Rows))
	for i, r := range m.Overview.Rows {
		names[i] = r.Queue.Name
	}
	slices.Sort(names)
	return names
}

// sceneNames returns the names of the scenes, in their own order.
func (m Model) sceneNames() []string {
	var names []string
	for _, s := range m.Scenes() {
		names = append(names, s.Name)
	}
	return names
}

// runConsume opens the form for a consumer.
func runConsume(m Model, args []string, rest string) (Intent, error) {
	var named []string
	if len(args) > 0 {
		named = []string{rest}
	}
	name, err := m.meant(named)
	return consume{name}, err
}

func runSort(_ Model, args []string, _ string) (Intent, error) {
	for c := range columnCount {
		if len(args) == 1 && args[0] == c.String() {
			return sortBy{c}, nil
		}
	}
	return nil, errors.New("no such column")
}

func runFilter(m Model, _ []string, rest string) (Intent, error) {
	if ok, why := m.canFilter(); !ok {
		return nil, errors.New(why)
	}
	if _, err := m.parseFilter(rest); err != nil {
		return nil, err
	}
	return setFilter{rest}, nil
}

func runRefresh(_ Model, args []string, rest string) (Intent, error) {
	d, err := time.ParseDuration(rest)
	if len(args) != 1 || err != nil || d < minRefresh || d > time.Hour {
		return nil, errors.New("not a refresh interval")
	}
	return setRefresh{d}, nil
}

func runGoTo(m Model, args []string, rest string) (Intent, error) {
	position, err := strconv.ParseInt(strings.ReplaceAll(rest, ",", ""), 10, 64)
	if err != nil || len(args) != 1 || position < 0 || m.Screen != QueueScreen {
		return nil, errors.New("nowhere to go")
	}
	return goTo{position}, nil
}

func runUnit(m Model, args []string, _ string) (Intent, error) {
	if len(args) == 0 || len(args) > 2 {
		return nil, errors.New("no unit")
	}
	unit, err := queue.ParseUnit(args[len(args)-1])
	if err != nil {
		return nil, errors.New(shown(args[len(args)-1]) + " is not a unit")
	}
	name, err := m.meant(args[:len(args)-1])
	return correct{name, correction{unit: &unit}}, err
}

func runPush(m Model, args []string, rest string) (Intent, error) {
	end, err := queue.ParseEnd(rest)
	if err != nil || len(args) != 1 {
		return nil, errors.New("not an end of a list")
	}
	name, err := m.meant(nil)
	return correct{name, correction{push: end}}, err
}

func runStuck(m Model, args []string, rest string) (Intent, error) {
	d, err := time.ParseDuration(rest)
	if err != nil || d <= 0 || len(args) != 1 {
		return nil, errors.New("not a duration")
	}
	name, err := m.meant(nil)
	return correct{name, correction{stuck: d}}, err
}

func runReadOnly(m Model, _ []string, _ string) (Intent, error) {
	if m.ReadOnly {
		return say(StatusInfo, "read-only: redq was started with --read-only and changes nothing"), nil
	}
	return say(StatusInfo, "not read-only: start redq with --read-only for that"), nil
}

// meant returns the queue a command is for: the one named, else the one in front.
func (m Model) meant(args []string) (string, error) {
	if len(args) > 0 {
		return m.queueNamed(args[0])
	}
	q, ok := m.selectedQueue()
	if !ok {
		return "", errors.New("no queue is selected")
	}
	return q.Name, nil
}

func (m Model) noQueueNamedJobs() bool {
	_, ok := m.Row("jobs")
	return !ok
}
