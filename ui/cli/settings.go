package cli

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"redq/model"
	"redq/queue"
	"redq/ui/cli/config"
)

// settings are what flags, profile and environment together say about a connection.
type settings struct {
	title   string      // the profile's name; "" without one
	demo    bool        // the server is the embedded one
	stage   model.Stage // of the embedded server; nil elsewhere
	options queue.Options
	named   bool // somebody said where to connect
	refresh time.Duration
	match   string
	queues  []queue.Queue // named by hand

	journalMax int64 // bytes; 0 for no limit
}

// settings puts flags, configuration file and environment together: a flag
// comes before the profile it was given with, an explicit URL or profile before
// $REDIS_URL, and that before the file's default profile. A profile counts whole
// or not at all, so that its credentials never go to another server by accident.
func (r *run) settings() (settings, error) {
	file, err := config.Load(config.Path(r.Env))
	if err != nil {
		return settings{}, usagef("%v", err)
	}
	name := r.flags.profile
	if name == "" && r.flags.url == "" && r.Env("REDIS_URL") == "" {
		name = file.Default
	}
	var p config.Profile
	if name != "" {
		if p, err = file.Profile(name); err != nil {
			return settings{}, usagef("%v", err)
		}
	}
	s := r.merge(name, p)
	s.journalMax = cmp.Or(r.flags.journalMax, file.JournalMax, config.Size{Bytes: usualJournal, Given: true}).Bytes
	return s, nil
}

// usualJournal is how many bytes the undo journal may have unless somebody has said so.
const usualJournal = 1_000_000_000

func (r *run) merge(name string, p config.Profile) settings {
	f := r.flags
	s := settings{
		title:   name,
		refresh: cmp.Or(f.refresh, time.Duration(p.Refresh)),
		match:   cmp.Or(f.match, p.Match),
		queues:  slices.Clone(f.queues),
		options: queue.Options{
			URL:            cmp.Or(f.url, p.URL),
			Username:       cmp.Or(f.user, p.Username),
			SentinelMaster: cmp.Or(f.sentinelMaster, p.SentinelMaster),
			Cluster:        f.cluster || p.Cluster,
			TLSCA:          cmp.Or(f.tlsCA, p.TLSCA),
			TLSCert:        cmp.Or(f.tlsCert, p.TLSCert),
			TLSKey:         cmp.Or(f.tlsKey, p.TLSKey),
			ReadOnly:       f.readOnly || p.ReadOnly,
		},
	}
	if s.options.URL == "" {
		s.options.URL = r.Env("REDIS_URL")
	}
	s.named = s.options.URL != ""
	s.options.Password = r.password(s.options.URL, p)
	for _, q := range p.Queues {
		named := q.Queue()
		if !slices.ContainsFunc(s.queues, func(o queue.Queue) bool { return o.Name == named.Name }) {
			s.queues = append(s.queues, named)
		}
	}
	return s
}

// password returns the password to use beside the URL: the profile's own, else
// $REDIS_PASSWORD, and none when the URL brings one.
func (r *run) password(address string, p config.Profile) string {
	if p.PasswordEnv != "" {
		return r.Env(p.PasswordEnv)
	}
	first, _, _ := strings.Cut(address, ",")
	if u, err := url.Parse(first); err == nil && u.User != nil {
		if _, has := u.User.Password(); has {
			return ""
		}
	}
	return r.Env("REDIS_PASSWORD")
}
