package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// engine is a consumer at work. Its parts:
//
//   - lanes make round trips: each acknowledges what was handled and takes what comes next;
//   - workers call the handler; where messages are taken one at a time a lane is its own worker;
//   - the keeper ends handlers that take too long;
//   - the promoter (P8) moves due messages to ready, the beat says that the consumer lives
//     and recovers those that do not.
//
// Everything in hand is in hands until it is settled, so that a stop knows what is left.
type engine struct {
	settings
	conns  *conns
	source source
	clock  serverClock
	feed   *feed
	count  counters
	tally  tally
	lates  lateness

	calls    context.Context // of requests: not ended by a stop
	base     context.Context // of handlers
	cutBase  context.CancelCauseFunc
	stopping context.Context // ends when nothing more is to be taken
	stop     context.CancelFunc

	lanes   int
	window  int           // messages in hand at most, however fast they are handled
	over    chan struct{} // closed when all is settled, or abandoned
	wake    chan struct{} // a producer has scheduled an earlier message
	ended   chan struct{} // closed by the last lane
	started time.Time

	noBLMove atomic.Bool
	failures atomic.Bool  // the meta hash may have entries
	numbers  atomic.Int64 // of lanes
	rank     atomic.Int64 // among the living consumers of the queue; 0 promotes

	// steps is held for reading during round trips that change the backup list, and for
	// writing by who compares the list with what is in hand.
	steps sync.RWMutex

	mu        sync.Mutex
	cond      *sync.Cond // lanes wait on it
	jobs      *sync.Cond // workers wait on it
	line      []*hand    // waits for a worker
	hands     hands
	acks      []*hand
	fallen    int            // crashed ones among hands
	live      int            // lanes that have not ended
	flying    int            // lanes on a round trip
	asking    int            // how many messages these may bring
	settlings map[int64]bool // places of the stamps in use
	laden     bool           // one of them carries acknowledgements
	loads     int64
	resting   bool // a lane waits for messages: there were none
	empties   int  // looks in a row that found nothing
	idleTold  bool // since the last message
	doubt     bool // some answer was lost: hands and backup list must be compared
	recheck   int  // heartbeats at which they are compared once more
	abandoned bool
	dismissed bool // the workers
	lastTaken time.Time
	pace      pace
	ripe      bool // acknowledgements have waited long enough
	ripening  *time.Timer
	troubles  int       // failed requests in a row
	since     time.Time // when they began
	asked     time.Time // when a stop was asked
	lost      error     // what could not be told to the server in the end
}

// newEngine makes ready what Run needs.
func newEngine(ctx context.Context, s settings) (*engine, error) {
	e := &engine{settings: s, settlings: map[int64]bool{}, over: make(chan struct{}), ended: make(chan struct{}), wake: make(chan struct{}, 1)}
	e.loads = rand.Int64N(1 << 50) // not those of an earlier life of the same id
	e.cond = sync.NewCond(&e.mu)
	e.ripening = time.AfterFunc(time.Hour, e.ripened)
	e.lanes, e.window = 2, s.concurrency+4*s.batch
	if e.inline() {
		e.lanes, e.window = s.concurrency, s.concurrency
	}
	var err error
	if e.conns, err = s.client.newConns(s.id, e.lanes); err != nil {
		return nil, err
	}
	e.calls = context.WithoutCancel(ctx)
	e.base, e.cutBase = context.WithCancelCause(e.calls)
	e.stopping, e.stop = context.WithCancel(ctx)
	e.jobs = sync.NewCond(&e.mu)
	e.feed = newFeed(s.events, &e.count.overflow)
	e.source = e.newSource()
	return e, nil
}

// inline reports whether each lane handles what it takes itself, one message at a time.
func (e *engine) inline() bool { return e.batch == 1 }

// promotes reports whether the pattern moves due messages from delayed to ready.
func (e *engine) promotes() bool {
	return e.own && e.queue.Delayed != ""
}

// close frees what newEngine made, for a Run that does not begin.
func (e *engine) close() {
	e.stop()
	e.ripening.Stop()
	e.cutBase(nil)
	e.conns.close()
	e.feed.close()
}

// run is the consumer's life.
func (e *engine) run(ctx context.Context) error {
	defer e.close()
	e.begin()
	e.feed.tell(Event{Kind: EventStarted, Note: string(e.pattern)})

	var aides sync.WaitGroup // they live until all is settled
	aiding, dismiss := context.WithCancel(e.calls)
	defer dismiss()
	aides.Go(func() { e.keeper(aiding) })
	aides.Go(func() { e.beats(aiding) })
	if e.wakes() {
		aides.Go(func() { e.listen(aiding) })
	}
	if e.promotes() {
		aides.Go(func() { e.promoter() })
	}
	aides.Go(func() {
		<-e.stopping.Done()
		e.halt()
	})

	e.live = e.lanes
	for range e.lanes {
		go e.lane()
	}
	if !e.inline() {
		for range e.concurrency {
			go e.worker()
		}
	}
	select {
	case <-e.ended:
	case <-e.base.Done(): // abandoned: handlers and round trips are not waited for
	}
	e.stop()
	close(e.over)
	dismiss()
	e.mu.Lock()
	e.dismissed = true
	e.jobs.Broadcast()
	e.mu.Unlock()
	if e.forsaken() && e.backup != "" {
		e.conns.close() // nothing more is to be told: no answer is waited for
	}
	aides.Wait()
	return e.end()
}

// begin asks the server for its time and takes over what an earlier life of the same id has left.
func (e *engine) begin() {
	e.mu.Lock()
	e.started = time.Now()
	e.lastTaken = e.started
	e.mu.Unlock()
	for e.stopping.Err() == nil {
		err := e.greet()
		if err == nil {
			return
		}
		e.trouble(classify(err))
	}
}

func (e *engine) greet() error {
	now, err := e.conns.work.Time(e.calls).Result()
	if err != nil {
		return err
	}
	e.clock.setTime(now)
	e.lookForFailures(e.calls)
	if err := e.inherit(e.calls); err != nil {
		return err
	}
	_, err = e.beat(e.calls)
	return err
}

// end settles what a run leaves over, and says what is left.
func (e *engine) end() error {
	e.mu.Lock()
	abandoned, lost := e.abandoned, e.lost
	e.mu.Unlock()
	if abandoned {
		if e.backup == "" {
			e.steps.Lock() // what a round trip still brings is to be given back too
			back := e.takeBack(unfinished)
			e.steps.Unlock()
			e.putBack(back)
		}
		e.feed.tell(Event{Kind: EventStopped, Note: "abandoned", Count: e.left()})
		return ErrAbandoned
	}
	if lost == nil {
		e.farewell()
	}
	e.feed.tell(Event{Kind: EventStopped, Err: lost})
	return lost
}

func (e *engine) left() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.hands.n
}

// halt is called once when a stop was asked: it wakes everything that waits.
func (e *engine) halt() {
	e.mu.Lock()
	e.asked = time.Now()
	inHand := e.hands.n
	e.cond.Broadcast()
	e.mu.Unlock()
	e.feed.tell(Event{Kind: EventStopping, Count: inHand})
	for e.rests() { // a pop that is still on its way to the server is not blocked yet
		e.conns.unblock()
		e.pause(e.calls, 10*time.Millisecond)
	}
}

func (e *engine) rests() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.resting
}

// abandon ends all at once.
func (e *engine) abandon() {
	e.mu.Lock()
	e.abandoned = true
	e.cond.Broadcast()
	e.mu.Unlock()
	e.stop()
	e.cutBase(ErrAbandoned)
}

// trouble takes note of a failed request and waits before the next one, about as long as
// the trouble lasts already: many lanes that fail at once do not make it longer.
func (e *engine) trouble(err error) {
	lasts := e.complain(err)
	wait := min(5*time.Second, max(30*time.Millisecond, lasts))
	wait = wait/2 + rand.N(wait)
	if e.stopping.Err() != nil {
		time.Sleep(min(wait, 200*time.Millisecond))
		return
	}
	e.pause(e.stopping, wait)
}

// leastPatience is how long a consumer that was asked to stop waits for a server that is
// away, however short the time limits are: go-redis looks only once a second for a server that has refused several connections.
const leastPatience = 2 * time.Second

// complain takes note of a failed request, and returns for how long nothing has gone well.
func (e *engine) complain(err error) time.Duration {
	e.count.errors.Add(1)
	e.mu.Lock()
	e.recheck = beatsMissed // what was given up may still arrive
	e.troubles++
	n := e.troubles
	if n == 1 {
		e.since = time.Now()
	}
	lasts := time.Since(e.since)
	if patience := max(e.client.patience(), leastPatience); !e.asked.IsZero() && min(lasts, time.Since(e.asked)) > patience && !e.busy() {
		e.lost = lostError(e.hands.n, err)
		e.cond.Broadcast()
	}
	e.mu.Unlock()
	e.feed.tell(Event{Kind: EventError, Err: err, Count: n})
	return lasts
}

// lostError says what a consumer that ends could not tell the server.
func lostError(inHand int, err error) error {
	if inHand == 0 {
		return fmt.Errorf("stopped without knowing whether the last request has taken messages: %w", err)
	}
	return fmt.Errorf("stopped with %d messages whose end could not be told to the server: %w", inHand, err)
}

// busy reports whether a handler runs. The mutex is held.
func (e *engine) busy() bool {
	for h := range e.hands.all() {
		if h.state == running {
			return true
		}
	}
	return false
}

// pause waits for d, or until ctx ends.
func (e *engine) pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// call runs a script once and returns its answer.
func (e *engine) call(ctx context.Context, s *script, keys []string, args ...any) ([]any, error) {
	v, err := e.client.eval(ctx, e.conns.work, s, keys, args...)
	if err != nil {
		if isRedirect(err) {
			e.conns.reload(ctx)
		}
		return nil, err
	}
	reply, ok := v.([]any)
	if !ok || len(reply) == 0 {
		return nil, errors.New("ERR unexpected answer of script " + s.name)
	}
	return reply, nil
}
