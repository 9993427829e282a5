// Package model is the dashboard's state and how it changes: Init, Update,
// messages and commands in the Elm architecture. It knows queues and nothing of
// how anything looks; clock, clipboard and server are what it was given.
package model

import (
	"context"
	"errors"
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
	"redq/queue/payload"
)

// Config is what the dashboard is started with. Only Backend is needed.
type Config struct {
	Backend Backend
	Now     func() time.Time // nil means time.Now
	// After makes a command that returns due after d; nil means a tea.Tick.
	After func(d time.Duration, due tea.Msg) tea.Cmd
	// Copy puts text on the terminal's clipboard (OSC 52); nil turns `y` off.
	Copy func(text string) error
	// Edit opens the operator's editor; nil turns `e` off.
	Edit EditText
	// Stage plays scenes; nil outside the demo.
	Stage Stage

	Address  string        // of the server, without a password; also what the journal names it
	Profile  string        // the profile's name, for the screen only; "" without one
	Demo     string        // address of the embedded demo server; "" outside the demo
	ReadOnly bool          // writing keys are off and not in the help
	Refresh  time.Duration // between polls; 0 means 1 s, the least is 250 ms
	Mouse    bool          // clicks and the wheel are read
	Pinned   []queue.Queue // named by hand: polled before anything is discovered
	Match    string        // the glob that narrows discovery, for the screen only
	Timeout  time.Duration // of one request; 0 means 5 s
}

// Bounds and defaults of Config.
const (
	minRefresh     = 250 * time.Millisecond
	defaultRefresh = time.Second
	defaultTimeout = 5 * time.Second
)

// refreshSteps are the intervals that + and - step through.
func refreshSteps() []time.Duration {
	return []time.Duration{minRefresh, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second}
}

// Model is the whole state. It is a value: Update returns the next one.
type Model struct {
	Width, Height int
	Now           time.Time // client's clock at the last message

	Screen   Screen
	Overview Overview
	Queue    QueuePage
	Message  MessagePage
	Consumer ConsumerPage
	Jobs     []Job // of this redq, in the order they were started; replaced, never changed

	Banner   Banner // the scene that plays, in the demo
	Prompt   Prompt
	Dialog   Dialog // nil when none is open
	HelpOpen bool
	HelpTop  int // first line of the help on screen
	Status   Status

	Conn      Connection
	Cost      PollCost
	Discovery Discovery // how far the first scan came, and later what the last one found
	Scanning  bool      // the first scan has not come to its end yet
	Frozen    bool
	Refresh   time.Duration
	ReadOnly  bool
	Mouse     bool
	Match     string

	// Fatal is why the program must end; it is to be printed after the terminal was restored.
	Fatal error

	cfg         Config
	keys        []KeyBinding
	parked      map[string]QueuePage  // pages of queues that are not in front; replaced, never changed
	corrections map[string]correction // by queue; replaced, never changed
	attendance  map[string]Attendance // by queue; replaced, never changed

	poll     pollLoop
	scan     int      // generation of the discovery loop
	serving  int      // generation of the last request for the server's state
	paging   inFlight // pages of the list in front
	charting inFlight // the distribution
	loading  int      // generation of the last message that was opened
	writing  int      // generation of the last write, or reading of the journal
	clock    int      // generation of the countdown

	attending  inFlight // who consumes a queue
	watching   inFlight // what is new of our consumers
	watchTimer int      // generation of the valid timer of watching
	jobbing    inFlight // how far the jobs are
	jobTimer   int      // generation of the valid timer of jobbing
	staging    int      // generation of the scene that plays
}

// inFlight is a kind of request of which one at a time is under way.
type inFlight struct {
	gen     int
	running bool
	again   bool // asked for meanwhile: to be made when the answer is there
	retried bool // a follow-up of its own was made: the next one waits for the poll
}

// begin asks whether a request can be made now; if not it will be made again.
func (f inFlight) begin() (inFlight, bool) {
	if f.running {
		f.again = true
		return f, false
	}
	f.gen++
	f.running, f.again = true, false
	return f, true
}

// New returns the state before the first message. Its error tells what is wrong
// with the Config.
func New(cfg Config) (Model, error) {
	if cfg.Backend == nil {
		return Model{}, errors.New("model: a Backend is needed")
	}
	if cfg.Refresh == 0 {
		cfg.Refresh = defaultRefresh
	}
	if cfg.Refresh < minRefresh {
		return Model{}, fmt.Errorf("refresh %s is too short: expected at least %s", cfg.Refresh, minRefresh)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.After == nil {
		cfg.After = tick
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	m := Model{
		cfg: cfg, keys: keyMap(), Now: cfg.Now(), Scanning: true,
		Refresh: cfg.Refresh, ReadOnly: cfg.ReadOnly, Mouse: cfg.Mouse, Match: cfg.Match,
		Conn: Connection{Address: cfg.Address, Profile: cfg.Profile, Demo: cfg.Demo},
		scan: 1, serving: 1,
	}
	for _, q := range cfg.Pinned {
		if err := q.Validate(); err != nil {
			return Model{}, err
		}
	}
	return m.withQueues(cfg.Pinned), nil
}

// Init starts the first requests, all at once: the first frame waits for none.
func (m Model) Init() tea.Cmd {
	return tea.Batch(m.serverCmd(m.serving), m.discoverCmd(m.scan, false), m.after(0, pollDueMsg{m.poll.timer}))
}

// Update takes one message and returns the next state and what is to be done.
func (m Model) Update(msg tea.Msg) (Model, tea.Cmd) {
	m.Now = m.cfg.Now()
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		return m.resized(msg.Width, msg.Height)
	case tea.KeyMsg:
		return m.key(msg)
	case tea.MouseMsg:
		return m.mouse(msg)
	case tea.ResumeMsg:
		return m.pollNow(false)

	case pollDueMsg:
		return m.pollDue(msg)
	case queuesSampledMsg:
		return m.sampled(msg)
	case clockDueMsg:
		return m.clockDue(msg)
	case serverSeenMsg:
		return m.serverSeen(msg), nil
	case discoverDueMsg:
		return m.discoverDue(msg)
	case queuesDiscoveredMsg:
		return m.discovered(msg)

	case pagePeekedMsg:
		return m.peeked(msg)
	case placeSearchedMsg:
		return m.searched(msg)
	case distributionReadMsg:
		return m.distributed(msg)
	case messageLoadedMsg:
		return m.loaded(msg), nil

	case payloadCopiedMsg:
		return m.copied(msg), nil
	case actionDoneMsg:
		return m.actionDone(msg)
	case undoListedMsg:
		return m.undoListed(msg), nil
	case messageToEditMsg:
		return m.messageToEdit(msg)
	case editorClosedMsg:
		return m.editorClosed(msg)

	case consumerStartedMsg:
		return m.consumerStarted(msg)
	case watchDueMsg:
		return m.watchDue(msg)
	case consumersWatchedMsg:
		return m.watched(msg)
	case jobStartedMsg:
		return m.jobStarted(msg)
	case jobToldMsg:
		return m.watchJobs()
	case jobsDueMsg:
		return m.jobsDue(msg)
	case jobsWatchedMsg:
		return m.jobsWatched(msg)
	case consumersReadMsg:
		return m.attended(msg)
	case scenePlayedMsg:
		return m.scenePlayed(msg)
	case sceneDueMsg:
		return m.sceneDue(msg)

	case LeaveMsg:
		return m.leaveFor(msg)
	case leaveDueMsg:
		return m.leaveDue()
	case commandPanickedMsg:
		return m.panicked(msg)
	}
	return m, nil
}

// resized takes the terminal's size.
func (m Model) resized(w, h int) (Model, tea.Cmd) {
	m.Width, m.Height = w, h
	m.Overview = m.Overview.bounded(m.tableHeight())
	m.Queue = m.Queue.with(m.Queue.List().settled(m.listHeight()))
	m.Queue = m.Queue.consumersBounded(len(m.ConsumerRows()), m.listHeight())
	m.Message.Doc = m.Message.Doc.resized(m.Layout().Doc.W)
	m = m.editSized()
	if m.onQueue() && !m.Queue.List().covers(m.listHeight()) {
		return m.needPage(false)
	}
	return m, nil
}

// tableHeight is the number of queues on screen, listHeight that of messages,
// also while another page is in front.
func (m Model) tableHeight() int {
	m.Screen = OverviewScreen
	return max(1, m.Layout().Table.H)
}

func (m Model) listHeight() int {
	m.Screen = QueueScreen
	return max(1, m.Layout().List.H)
}

// logHeight is the number of events on screen, also while another page is in front.
func (m Model) logHeight() int {
	m.Screen = ConsumerScreen
	return max(1, m.Layout().Log.H)
}

// Finish ends what the program still runs, however it came to its end: jobs end before their
// next step, and consumers get until ctx ends to finish what is in hand. It is to be called
// after the last Update.
func (m Model) Finish(ctx context.Context) {
	m.cfg.Backend.EndJobs(ctx)
	m.cfg.Backend.EndConsumers(ctx)
}

// panicked ends the program: what a broken command left behind is not to be trusted.
func (m Model) panicked(msg commandPanickedMsg) (Model, tea.Cmd) {
	m.Fatal = fmt.Errorf("redq is broken, which is a fault of its own: %v\n%s", msg.value, msg.stack)
	return m, tea.Quit
}

// selectedQueue returns the queue in front: the one of the page, that of the
// consumer in front, or the one under the overview's cursor.
func (m Model) selectedQueue() (queue.Queue, bool) {
	switch m.Screen {
	case QueueScreen, MessageScreen:
		return m.Queue.Queue, true
	case ConsumerScreen:
		q := m.Consumer.Queue()
		return q, q.Name != ""
	}
	r, ok := m.Overview.Selected()
	return r.Queue, ok
}

// copied says what became of a copy.
func (m Model) copied(msg payloadCopiedMsg) Model {
	if msg.err != nil {
		m.Status = Status{Text: "not copied: " + explain(msg.err), Kind: StatusError}
		return m
	}
	m.Status = Status{Text: fmt.Sprintf("copied %s bytes", Thousands(int64(msg.size))), Kind: StatusDone}
	return m
}

// say sets the status line.
func (m Model) say(kind StatusKind, text string) (Model, tea.Cmd) {
	m.Status = Status{Text: payload.LineString(text, statusBytes), Kind: kind}
	return m, nil
}

// statusBytes is the most the status line holds.
const statusBytes = 1000
