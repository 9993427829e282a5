package scene

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"redq/queue"
)

// Options say where and how scenes are played. Client and Redis must be set.
type Options struct {
	Client *queue.Client         // of the consumers and producers
	Redis  redis.UniversalClient // to the same server, for what no program of the scene would do: clearing up
	Speed  int                   // all times are so many times shorter; 0 means 1
	// Told receives each new line, in order; nil drops them.
	Told func(Line)
}

// Stage is where scenes are played, one at a time. It is safe for concurrent use.
type Stage struct {
	o Options

	turn sync.Mutex // held while one scene makes room for another
	act  *act       // the last one that began; guarded by turn

	mu   sync.Mutex
	line Line
}

// NewStage returns a stage without a scene on it.
func NewStage(o Options) *Stage {
	o.Speed = max(o.Speed, 1)
	return &Stage{o: o}
}

// Scenes returns what can be played, in the order it is best looked at.
func (s *Stage) Scenes() []Scene { return scenes() }

// Line returns what is to be seen now. It does not block.
func (s *Stage) Line() Line {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.line
}

// Play starts a scene and returns once it plays. One that plays already is ended first,
// which may take a second; what the last scenes have left on the server is deleted. The scene ends by itself after half a
// minute at most. An error means that nothing plays: there is no such scene, or the server did not answer.
func (s *Stage) Play(ctx context.Context, name string) error {
	at := slices.IndexFunc(scenes(), func(c Scene) bool { return c.Name == name })
	if at < 0 {
		return fmt.Errorf("%q is not a scene", name)
	}
	s.turn.Lock()
	defer s.turn.Unlock()
	s.end()
	if err := s.clear(ctx); err != nil {
		return fmt.Errorf("clearing the stage: %w", err)
	}
	s.act = s.begin(scenes()[at])
	return nil
}

// Close ends the scene that plays. What it has left on the server stays there.
func (s *Stage) Close() {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.end()
}

// end ends the scene that plays, if one does.
func (s *Stage) end() {
	if s.act != nil {
		s.act.stop()
		<-s.act.over
		s.act = nil
	}
}

// clear deletes what scenes have made.
func (s *Stage) clear(ctx context.Context) error {
	keys := s.o.Redis.Scan(ctx, 0, Prefix+"*", 1000).Iterator()
	for keys.Next(ctx) {
		if err := s.o.Redis.Del(ctx, keys.Val()).Err(); err != nil {
			return err
		}
	}
	return keys.Err()
}

// begin lets a scene play.
func (s *Stage) begin(c Scene) *act {
	ctx, stop := context.WithCancel(context.Background())
	a := &act{stage: s, scene: c.Name, stop: stop, over: make(chan struct{})}
	a.tell("%s", c.Explain)
	go func() {
		defer close(a.over)
		defer stop()
		err := c.play(ctx, a)
		a.dismiss(err != nil)
		if err != nil && ctx.Err() == nil {
			a.tell("The scene broke off: %s", queue.Explain(err))
		}
		a.end()
	}()
	return a
}

// act is a scene while it plays.
type act struct {
	stage *Stage
	scene string
	stop  context.CancelFunc
	over  chan struct{} // closed when all its programs have ended
	cast  []*player     // of the goroutine that plays
}

// tell says what is to be seen now.
func (a *act) tell(format string, args ...any) {
	a.say(Line{Scene: a.scene, Text: fmt.Sprintf(format, args...)})
}

// end says that the last line was the last.
func (a *act) end() {
	line := a.stage.Line()
	line.Done = true
	a.say(line)
}

func (a *act) say(line Line) {
	a.stage.mu.Lock()
	a.stage.line = line
	a.stage.mu.Unlock()
	if a.stage.o.Told != nil {
		a.stage.o.Told(line)
	}
}

// scaled is how long something takes that takes d at the speed of 1.
func (a *act) scaled(d time.Duration) time.Duration { return d / time.Duration(a.stage.o.Speed) }

// heartbeat is scaled, and not shorter than a consumer bears.
func (a *act) heartbeat(d time.Duration) time.Duration {
	return max(a.scaled(d), 50*time.Millisecond)
}

// pause waits, and returns why when ctx ends first.
func (a *act) pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(a.scaled(d))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// glance is how often a scene looks whether something has happened, and counts anew.
const glance = 250 * time.Millisecond

// until looks until it has seen what must come. Nothing in a scene takes longer than patience.
func (a *act) until(ctx context.Context, seen func() (bool, error)) error {
	deadline := time.Now().Add(patience)
	for {
		ok, err := seen()
		if ok || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return errors.New("what must happen next does not happen")
		}
		if err := a.pause(ctx, glance); err != nil {
			return err
		}
	}
}

// patience is generous, and not shorter at a higher speed.
const patience = time.Minute

// enqueue adds messages that are ready at once.
func (a *act) enqueue(ctx context.Context, q queue.Queue, payloads ...string) error {
	all := make([][]byte, len(payloads))
	for i, p := range payloads {
		all[i] = []byte(p)
	}
	_, err := a.stage.o.Client.EnqueueAll(ctx, q, all, queue.EnqueueOptions{})
	return err
}

// schedule adds messages that are due at an instant.
func (a *act) schedule(ctx context.Context, q queue.Queue, due time.Time, payloads []string) error {
	all := make([]queue.Scheduled, len(payloads))
	for i, p := range payloads {
		all[i] = queue.Scheduled{Payload: []byte(p), At: due}
	}
	_, err := a.stage.o.Client.ScheduleAll(ctx, q, all)
	return err
}

// length asks how long a list is.
func (a *act) length(ctx context.Context, key string) (int64, error) {
	return a.stage.o.Redis.LLen(ctx, key).Result()
}
