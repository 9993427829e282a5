package layout

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"redq/queue"
)

// ErrScanDenied is returned by Step when the user may not run SCAN. Queues named
// by hand are in the Progress all the same.
var ErrScanDenied = errors.New("this user may not run SCAN, so queues are not found by themselves: name them with --queue")

// Options say what a Scan looks for. The zero value looks at the whole keyspace.
type Options struct {
	// Match is a glob that keys must match; "" means all. Keys of queues named by
	// hand, and the default keys beside a key that matches, are looked at in any case.
	Match string
	// MaxKeys is how many keys are looked at before the scan gives up; 0 means 1,000,000.
	MaxKeys int
	// MaxFound is how many lists and sorted sets are kept before the scan gives
	// up; 0 means 50,000. It bounds memory where every user has a list of their own.
	MaxFound int
	// Count is how many keys one SCAN looks at, as a hint to the server; 0 means 1,000.
	Count int

	// Named are the queues named by hand: always there, with their own keys.
	Named []queue.Queue
	// Known are the queues that an earlier scan found. They stay, with the keys
	// they had: Redis deletes a key as it becomes empty, which ends no queue.
	Known []queue.Queue
}

func (o Options) withDefaults() Options {
	if o.MaxKeys <= 0 {
		o.MaxKeys = 1_000_000
	}
	if o.MaxFound <= 0 {
		o.MaxFound = 50_000
	}
	if o.Count <= 0 {
		o.Count = 1000
	}
	return o
}

// Progress is how far a Scan has come.
type Progress struct {
	Scanned   int64 // keys looked at so far, nearly: SCAN tells no exact number
	DBSize    int64 // keys in the database when the scan began; -1 when the server would not say
	Done      bool  // there is nothing left to do
	Truncated bool  // the scan gave up at MaxKeys or MaxFound

	// Queues are those found so far, named by hand, or known before; sorted by name.
	Queues []queue.Queue
}

// How much one Step does at most.
const (
	scansPerStep  = 4   // round trips of SCAN
	probesPerStep = 200 // sorted sets looked into
	typesPerStep  = 1000
)

// Scan finds the queues of a server in bounded steps. It is for one goroutine; a
// later scan for what is new starts with a new Scan and the queues known.
type Scan struct {
	rdb redis.UniversalClient
	o   Options

	started   bool
	nodes     []*node
	untyped   bool // SCAN knows no TYPE here (before 6.0)
	noScripts bool // see probe
	truncated bool
	denied    bool

	seen    map[string]bool // lists and sorted sets that SCAN brought: it repeats keys
	unread  []string        // sorted sets whose scores are still to be sampled
	keys    []Key
	beside  []string // default keys whose type is still to be asked
	besides bool     // beside has been filled

	grouped int // len(keys) when queues was made
	queues  []queue.Queue
}

// node is one server of a cluster, or the only one.
type node struct {
	rdb     redis.Cmdable
	size    int64 // keys; -1 unknown
	looked  int64
	cursors []cursor
}

// cursor is the state of one iteration over a node's keys.
type cursor struct {
	only string // the type asked for; "" for all
	at   uint64
	done bool
}

func (n *node) done() bool {
	for _, c := range n.cursors {
		if !c.done {
			return false
		}
	}
	return true
}

// NewScan returns a scan that has asked the server nothing yet.
func NewScan(c *queue.Client, o Options) *Scan { return newScan(c.Reader(), o) }

func newScan(rdb redis.UniversalClient, o Options) *Scan {
	return &Scan{rdb: rdb, o: o.withDefaults(), seen: map[string]bool{}, grouped: -1}
}

// Step goes on with the scan by a bounded piece of work: a handful of round
// trips. The Progress is good also beside an error, after which Step can be
// called again: the scan goes on where it was. After Done it does nothing.
func (s *Scan) Step(ctx context.Context) (Progress, error) {
	err := s.step(ctx)
	return s.progress(), err
}

func (s *Scan) step(ctx context.Context) error {
	if !s.started {
		if err := s.start(ctx); err != nil {
			return err
		}
	}
	for range scansPerStep {
		n := s.next()
		if n == nil || len(s.unread) >= probesPerStep {
			break
		}
		if err := s.walk(ctx, n); err != nil {
			return s.setBack(err)
		}
	}
	if len(s.unread) > 0 {
		return s.readSome(ctx)
	}
	if s.next() == nil {
		return s.lookBeside(ctx)
	}
	return nil
}

// start finds the servers to walk over and looks at the keys named by hand.
func (s *Scan) start(ctx context.Context) error {
	nodes, err := masters(ctx, s.rdb)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if n.size, err = n.rdb.DBSize(ctx).Result(); err != nil {
			if !isRefusal(err) {
				return err
			}
			n.size = -1
		}
		n.cursors = []cursor{{only: list}, {only: zset}}
	}
	var named []string
	for _, q := range s.o.Named {
		for _, p := range queue.Places() {
			named = append(named, q.Keys(p)...)
		}
	}
	if err := s.ask(ctx, named, anyType); err != nil {
		return err
	}
	s.nodes, s.started = nodes, true
	return nil
}

// next returns the node to walk on, nil when all are done or the scan gave up.
func (s *Scan) next() *node {
	if s.denied || s.truncated {
		return nil
	}
	for _, n := range s.nodes {
		if !n.done() {
			return n
		}
	}
	return nil
}

// walk asks a node for the next keys, of all types that are looked for in one round trip.
func (s *Scan) walk(ctx context.Context, n *node) error {
	if s.untyped && len(n.cursors) > 1 {
		n.cursors = []cursor{{}}
	}
	pipe := n.rdb.Pipeline()
	asked := make([]*redis.ScanCmd, len(n.cursors))
	for i, c := range n.cursors {
		switch {
		case c.done:
		case c.only == "":
			asked[i] = pipe.Scan(ctx, c.at, s.o.Match, int64(s.o.Count))
		default:
			asked[i] = pipe.ScanType(ctx, c.at, s.o.Match, int64(s.o.Count), c.only)
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		if !s.untyped && redis.HasErrorPrefix(err, "syntax error") {
			s.untyped = true
			return s.walk(ctx, n)
		}
		return err
	}
	for i, cmd := range asked {
		if cmd == nil {
			continue
		}
		names, at := cmd.Val()
		if err := s.take(ctx, n.cursors[i].only, names); err != nil {
			return err
		}
		n.cursors[i].at, n.cursors[i].done = at, at == 0
	}
	n.looked += int64(s.o.Count)
	s.truncated = !s.walked() && (s.scanned() >= int64(s.o.MaxKeys) || len(s.seen) >= s.o.MaxFound)
	return nil
}

// take keeps the keys that a SCAN brought, of the type it was asked for.
func (s *Scan) take(ctx context.Context, only string, names []string) error {
	if only == "" {
		return s.ask(ctx, names, isPlace)
	}
	for _, name := range names {
		s.keep(name, only)
	}
	return nil
}

// keep adds a list, or notes a sorted set to be looked into. Keys of other types
// are of interest only where a queue's name points to them.
func (s *Scan) keep(name, typ string) {
	if s.seen[name] {
		return
	}
	s.seen[name] = true
	if typ == zset {
		s.unread = append(s.unread, name)
		return
	}
	s.keys = append(s.keys, Key{Name: name, Type: typ})
}

func anyType(string) bool     { return true }
func isPlace(typ string) bool { return typ == list || typ == zset }

// ask finds out the types of keys by name and keeps those that are wanted.
func (s *Scan) ask(ctx context.Context, names []string, wanted func(typ string) bool) error {
	if len(names) == 0 {
		return nil
	}
	pipe := s.rdb.Pipeline()
	types := make([]*redis.StatusCmd, len(names))
	for i, name := range names {
		types[i] = pipe.Type(ctx, name)
	}
	// A single refused key must not hide the others.
	if _, err := pipe.Exec(ctx); err != nil && !isRefusal(err) {
		return err
	}
	for i, name := range names {
		if typ, err := types[i].Result(); err == nil && typ != "none" && wanted(typ) {
			s.keep(name, typ)
		}
	}
	return nil
}

// lookBeside asks for the default keys of the queues found, in pieces: SCAN was
// asked for lists and sorted sets, and a key of a wrong type is worth a word too.
func (s *Scan) lookBeside(ctx context.Context) error {
	if !s.besides {
		s.besides = true
		for _, q := range s.group() {
			for _, suffix := range defaultSuffixes {
				if key := q.Name + suffix; !s.seen[key] && q.Guessed&queue.GuessedKeys != 0 {
					s.beside = append(s.beside, key)
				}
			}
		}
	}
	n := min(len(s.beside), typesPerStep)
	if err := s.ask(ctx, s.beside[:n], anyType); err != nil {
		return err
	}
	s.beside = s.beside[n:]
	return nil
}

// setBack decides what a failed SCAN means. Another node goes first next time, so
// that one that is down does not hide the rest.
func (s *Scan) setBack(err error) error {
	if isRefusal(err) {
		s.denied = true
		return ErrScanDenied
	}
	s.nodes = append(s.nodes[1:], s.nodes[0])
	return err
}

// walked reports whether every key has been looked at.
func (s *Scan) walked() bool {
	for _, n := range s.nodes {
		if !n.done() {
			return false
		}
	}
	return s.started
}

func (s *Scan) scanned() (sum int64) {
	for _, n := range s.nodes {
		switch {
		case n.size < 0:
			sum += n.looked
		case n.done():
			sum += n.size
		default:
			sum += min(n.looked, n.size)
		}
	}
	return sum
}

func (s *Scan) progress() Progress {
	p := Progress{Scanned: s.scanned(), Truncated: s.truncated}
	for _, n := range s.nodes {
		if n.size < 0 {
			p.DBSize = -1
			break
		}
		p.DBSize += n.size
	}
	p.Done = s.started && s.next() == nil && len(s.unread) == 0 && s.besides && len(s.beside) == 0
	// Grouping costs the more the more there is, and a first sight may lag a
	// little behind: regroup when half as much has come on top, and at the end.
	if p.Done || s.grouped < 0 || len(s.keys) > s.grouped+s.grouped/2 {
		s.group()
	}
	p.Queues = s.queues
	return p
}

func (s *Scan) group() []queue.Queue {
	if s.grouped != len(s.keys) {
		s.queues = keepKnown(s.o.Known, Group(s.keys, s.o.Named, time.Now()))
		s.grouped = len(s.keys)
	}
	return s.queues
}
