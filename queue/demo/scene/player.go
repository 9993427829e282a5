package scene

import (
	"context"

	"redq/queue"
)

// player is a consumer of a scene.
type player struct {
	*queue.Consumer
	cancel context.CancelFunc
	ended  chan struct{}
}

// hire sets a consumer to work: its Client is filled in. It works until it is stopped or
// killed, or the scene ends.
func (a *act) hire(c *queue.Consumer) (*player, error) {
	c.Client = a.stage.o.Client
	if err := c.Validate(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &player{Consumer: c, cancel: cancel, ended: make(chan struct{})}
	a.cast = append(a.cast, p)
	go func() {
		defer close(p.ended)
		_ = c.Run(ctx) // it returns ErrAbandoned, or what its events have told
	}()
	return p, nil
}

// stop ends a consumer as it should be ended.
func (p *player) stop() {
	p.cancel()
	<-p.ended
}

// kill ends it as the death of its process would: what is in hand stays in backup, and
// its heartbeat is renewed no more.
func (p *player) kill() {
	p.Abandon()
	p.cancel()
	<-p.ended
}

// dismiss ends all that still work, at once or when they are done with what is in hand.
func (a *act) dismiss(atOnce bool) {
	for _, p := range a.cast {
		if atOnce {
			p.Abandon()
		}
		p.cancel()
	}
	for _, p := range a.cast {
		<-p.ended
	}
}
