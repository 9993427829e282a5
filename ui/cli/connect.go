package cli

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"redq/model"
	"redq/queue"
	"redq/queue/journal"
)

// connection is an open client with what belongs to it.
type connection struct {
	*queue.Client
	settings
	// journal is nil for a command that changes nothing, and with --no-journal.
	journal *journal.Journal
	// note tells the person something beside the results.
	note func(format string, args ...any)
}

// server names the server for a person: the profile and the address.
func (c connection) server() string {
	if c.title != "" {
		return c.title + " (" + c.Address() + ")"
	}
	return c.Address()
}

func (c connection) close() {
	if c.Client != nil {
		_ = c.Close() // all answers are in
	}
	if c.journal != nil {
		if d := c.journal.TakeDropped(); d.Messages > 0 {
			c.note("%s", model.DroppedText(d, time.Now()))
		}
		_ = c.journal.Close() // every record is on the disk already
	}
}

// connect opens a client for a command that changes nothing.
func (r *run) connect(ctx context.Context) (connection, error) {
	s, err := r.settings()
	if err != nil {
		return connection{}, err
	}
	return r.open(ctx, s, false)
}

// connectToChange opens a client with an undo journal. Only a dry run goes
// together with --read-only.
func (r *run) connectToChange(ctx context.Context, dryRun bool) (connection, error) {
	s, err := r.settings()
	if err != nil {
		return connection{}, err
	}
	if s.options.ReadOnly && !dryRun {
		return connection{}, queue.ErrReadOnly
	}
	return r.open(ctx, s, true)
}

// open opens the log, the undo journal if it is needed, and a client.
func (r *run) open(ctx context.Context, s settings, journaled bool) (connection, error) {
	if err := r.openLog(); err != nil {
		return connection{}, err
	}
	var j *journal.Journal
	s.options.NoDelete = !r.flags.force
	if journaled && !r.flags.noJournal {
		var err error
		if j, err = r.openJournal(s.journalMax); err != nil {
			return connection{}, err
		}
		s.options.Journal = j
	}
	client, err := r.dial(ctx, s.options)
	c := connection{client, s, j, r.note}
	if err != nil {
		c.close()
		return connection{}, err
	}
	r.log.Info("connected", "server", c.Address(), "profile", s.title, "read_only", c.ReadOnly())
	return c, nil
}

// dial opens a client. A password is asked for when the server wants one, none
// was given and somebody sits at a terminal.
func (r *run) dial(ctx context.Context, o queue.Options) (*queue.Client, error) {
	o.Logf = r.log.printf
	c, err := queue.Open(ctx, o)
	if _, ok := r.terminal(); !ok || !wantsPassword(err) || o.Password != "" {
		return c, err
	}
	if o.Password, err = r.askPassword(ctx, o.URL); err != nil {
		return nil, err
	}
	return queue.Open(ctx, o)
}

func wantsPassword(err error) bool { return err != nil && redis.HasErrorPrefix(err, "NOAUTH") }

// openLog starts the log, once.
func (r *run) openLog() error {
	if r.log.file != nil {
		return nil
	}
	l, err := openLog(r.flags.log)
	if err != nil {
		return err
	}
	r.log = l
	return nil
}

// openJournal opens the undo journal, which may grow to so many bytes; 0 for no limit.
func (r *run) openJournal(maxBytes int64) (*journal.Journal, error) {
	path := r.flags.journal
	if path == "" {
		path = journal.DefaultPath()
	}
	j, err := journal.Open(path, journal.Options{MaxBytes: maxBytes})
	if err != nil {
		return nil, failf("%v (--journal says where else to keep it, --read-only needs none)", err)
	}
	return j, nil
}
