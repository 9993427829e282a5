package cli

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"redq/model/when"
	"redq/queue"
	"redq/queue/filter"
	"redq/queue/layout"
	"redq/ui/cli/config"
)

// flags are those that every command takes.
type flags struct {
	url, user              string
	cluster                bool
	sentinelMaster         string
	tlsCA, tlsCert, tlsKey string
	profile                string
	readOnly               bool
	refresh                time.Duration
	log                    string
	noMouse                bool
	match                  string
	queues                 queueFlag
	journal                string
	journalMax             config.Size
	noJournal, force       bool
	given                  func(name string) bool
}

// shared defines the flags that every command takes.
func (r *run) shared(root *cobra.Command) {
	f, set := &r.flags, root.PersistentFlags()
	f.given = set.Changed
	set.SortFlags = false
	set.StringVar(&f.url, "url", "", "the server: a redis://, rediss:// or unix:// `URL`")
	set.StringVar(&f.user, "user", "", "log in as this ACL user `NAME`")
	set.BoolVar(&f.cluster, "cluster", false, "the URL names nodes of a Redis Cluster")
	set.StringVar(&f.sentinelMaster, "sentinel-master", "", "the URL names Sentinels; connect to master `NAME`")
	set.StringVar(&f.tlsCA, "tls-ca", "", "trust the authority in this PEM `FILE`")
	set.StringVar(&f.tlsCert, "tls-cert", "", "the client's certificate, a PEM `FILE`")
	set.StringVar(&f.tlsKey, "tls-key", "", "its key, a PEM `FILE`")
	set.StringVar(&f.profile, "profile", "", "take what is not given here from profile `NAME`")
	set.BoolVar(&f.readOnly, "read-only", false, "refuse everything that changes the server")
	set.StringVar(&f.match, "match", "", "look only at keys like this `GLOB`")
	set.Var(&f.queues, "queue", "name a queue by hand (repeatable):\n`NAME`[,ready=KEY][,backup=KEY][,delayed=KEY]\n"+
		"[,dead=KEY][,unit=s|ms][,push=left|right]\n[,stuck=60s]")
	set.StringVar(&f.journal, "journal", "", "keep the undo journal in this `FILE`")
	set.Var(&sizeFlag{&f.journalMax}, "journal-max", "drop its oldest part beyond this `SIZE`, like 500MB or 2GiB;\n0 for no limit (default 1GB)")
	set.BoolVar(&f.noJournal, "no-journal", false, "keep no undo journal: nothing can be undone, nor deleted")
	set.BoolVar(&f.force, "force", false, "delete all the same")
	set.StringVar(&f.log, "log", "", "append a log to this `FILE`")
	set.Var(&durationFlag{&f.refresh, minRefresh}, "refresh", "poll once in this `TIME` (dashboard; default 1s)")
	set.BoolVar(&f.noMouse, "no-mouse", false, "leave the mouse to the terminal (dashboard)")
}

// minRefresh keeps a slip of the finger from becoming a busy loop.
const minRefresh = 250 * time.Millisecond

// queueFlag collects queues named by hand.
type queueFlag []queue.Queue

func (q *queueFlag) Set(s string) error {
	named, err := layout.ParseNamed(s)
	if err != nil {
		return err
	}
	same := func(other queue.Queue) bool { return other.Name == named.Name }
	if slices.ContainsFunc(*q, same) {
		return errors.New("this queue is named twice")
	}
	*q = append(*q, named)
	return nil
}

func (q *queueFlag) Type() string { return "queue" }

func (q *queueFlag) String() string {
	var names []string
	for _, named := range *q {
		names = append(names, named.Name)
	}
	return strings.Join(names, " ")
}

// durationFlag is a duration of at least min.
type durationFlag struct {
	value *time.Duration
	min   time.Duration
}

func (d *durationFlag) Set(s string) error {
	v, err := when.ParseDuration(s)
	if err != nil {
		return err
	}
	if v < d.min {
		return errors.New("expected at least " + d.min.String())
	}
	*d.value = v
	return nil
}

func (d *durationFlag) Type() string   { return "duration" }
func (d *durationFlag) String() string { return "" }

// timeFlag is a point in time; a bare 15:04 is the next one after now.
type timeFlag struct {
	value *time.Time
	now   func() time.Time
}

func (t *timeFlag) Set(s string) (err error) {
	*t.value, err = when.ParseTime(s, t.now())
	return err
}

func (t *timeFlag) Type() string   { return "time" }
func (t *timeFlag) String() string { return "" }

// countFlag is a whole number of at least min.
type countFlag struct {
	value *int64
	min   int64
}

func (c *countFlag) Set(s string) error {
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || v < c.min {
		return errors.New("expected a whole number of " + strconv.FormatInt(c.min, 10) + " or more")
	}
	*c.value = v
	return nil
}

func (c *countFlag) Type() string   { return "count" }
func (c *countFlag) String() string { return "" }

// sizeFlag is a number of bytes.
type sizeFlag struct{ value *config.Size }

func (f *sizeFlag) Set(s string) (err error) {
	*f.value, err = config.ParseSize(s)
	return err
}

func (f *sizeFlag) Type() string   { return "size" }
func (f *sizeFlag) String() string { return "" }

// placeFlag is one of a queue's places.
type placeFlag struct{ value *queue.Place }

func (p *placeFlag) Set(s string) (err error) {
	*p.value, err = queue.ParsePlace(s)
	return err
}

func (p *placeFlag) Type() string   { return "place" }
func (p *placeFlag) String() string { return string(*p.value) }

// filterFlag is a filter that says something: an empty one, perhaps an unset
// variable of a script, would match everything.
type filterFlag struct{ value *filter.Matcher }

func (f *filterFlag) Set(s string) error {
	m, err := filter.Parse(s)
	if err != nil {
		return err
	}
	if m.All() {
		return errors.New("expected text, /re/, .jq, due<10m, age>5m or size>1k")
	}
	*f.value = m
	return nil
}

func (f *filterFlag) Type() string   { return "filter" }
func (f *filterFlag) String() string { return f.value.String() }

// placeVar defines --in for a place and completes its value.
func placeVar(cmd *cobra.Command, value *queue.Place, usage string) {
	cmd.Flags().Var(&placeFlag{value}, "in", usage)
	_ = cmd.RegisterFlagCompletionFunc("in", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, p := range queue.Places() {
			names = append(names, string(p))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
}

func filterVar(set *pflag.FlagSet, value *filter.Matcher) {
	set.Var(&filterFlag{value}, "filter", "only messages like `EXPR`")
}

// filterHelp tells what a filter is, below what a command does.
const filterHelp = `

EXPR is terms with blanks between them; a message matches when all do:
  text          its payload holds it, whatever the case; "in quotes" with blanks
  /regex/       its payload matches; (?i) in front ignores case
  .user == 42   jq on the decoded payload is neither false nor null; it runs to
                the end of EXPR, or stands between jq:' and '
  due<10m       it is due within 10 minutes or overdue; due<-5m: for 5 minutes
  age>5m        it has been seen for longer, where redq has watched it
  size>1k       its payload is larger than 1 KiB
  !term         the term is not so`
