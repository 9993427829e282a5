package layout

import (
	"cmp"
	"slices"
	"time"

	"redq/queue"
)

// The types of key, as TYPE names them, that a place can have.
const (
	list = "list"
	zset = "zset"
)

// Key is one key of a server as far as the grouping needs it.
type Key struct {
	Name string
	Type string // as TYPE says: list, zset, or another, which fits no place
	// Scores are samples of a sorted set's scores; none when they could not be read.
	Scores []queue.Score
	// Head is the beginning of one member of a sorted set.
	Head []byte
}

// Group puts keys together to queues, sorted by name. Queues in named win over
// guesses and take their keys; where a named queue says that something is guessed
// (see ParseNamed) it is completed by what is found. The result depends on the set
// of keys only, not on their order or repetition. No key is in two guessed queues.
func Group(keys []Key, named []queue.Queue, now time.Time) []queue.Queue {
	g := newGrouper(keys, named, now)
	for _, k := range g.keys {
		g.place(k)
	}
	g.resolveAll()
	g.queues = append(g.queues, g.fixed...)
	for i := range g.queues {
		g.guess(&g.queues[i])
	}
	slices.SortFunc(g.queues, func(a, b queue.Queue) int { return cmp.Compare(a.Name, b.Name) })
	return g.queues
}

// candidate is a key that may be part of a queue.
type candidate struct {
	*Key
	match
	fits bool // of the type its place needs
}

// family is what may become one queue: the key that is called like it and those
// whose names say that they belong to it.
type family struct {
	base    string
	self    *candidate
	kin     []candidate
	bare    *queue.Queue // named by hand, without keys
	claimed bool         // named by hand with keys: nothing is added to it
}

type grouper struct {
	now      time.Time
	matcher  *matcher
	keys     map[string]*Key
	families map[string]*family
	owned    map[string]bool // keys that are part of a queue
	fixed    []queue.Queue   // queues whose keys were given by hand
	queues   []queue.Queue
}

func newGrouper(keys []Key, named []queue.Queue, now time.Time) *grouper {
	g := &grouper{
		now: now, matcher: newMatcher(),
		keys:     make(map[string]*Key, len(keys)),
		families: make(map[string]*family, len(keys)),
		owned:    make(map[string]bool, len(keys)),
	}
	for i := range keys {
		g.keys[keys[i].Name] = &keys[i]
	}
	for _, q := range named {
		f := g.family(q.Name)
		if f.bare != nil || f.claimed {
			continue // named twice: the first counts
		}
		if q.Guessed&queue.GuessedKeys != 0 {
			f.bare = &q
			continue
		}
		f.claimed = true
		q.Backups = slices.Clone(q.Backups)
		g.own(q)
		g.fixed = append(g.fixed, q)
	}
	return g
}

func (g *grouper) family(base string) *family {
	f := g.families[base]
	if f == nil {
		f = &family{base: base}
		g.families[base] = f
	}
	return f
}

func (g *grouper) own(q queue.Queue) {
	for _, p := range queue.Places() {
		for _, k := range q.Keys(p) {
			g.owned[k] = true
		}
	}
}

// place puts a key into its family.
func (g *grouper) place(k *Key) {
	if g.owned[k.Name] {
		return
	}
	c := candidate{Key: k, match: g.matcher.match(k.Name)}
	if f := g.families[k.Name]; f != nil && f.bare != nil {
		c.match = match{base: k.Name, rule: -1} // what is named by hand is part of nothing else
	}
	switch {
	case c.foreign:
	case c.rule < 0:
		f := g.family(k.Name)
		f.self = g.alone(c)
		if f.bare != nil && k.Type == zset {
			f.self.match.place, f.self.fits = queue.Delayed, true // whatever its scores
		}
	case c.consumer && g.joinFixed(c):
	default:
		c.fits = k.Type == typeOf(c.match.place)
		f := g.family(g.resolveTag(c.base))
		f.kin = append(f.kin, c)
	}
}

// joinFixed adds one consumer's list to a queue given by hand whose backup list it extends.
func (g *grouper) joinFixed(c candidate) bool {
	if c.Type != list {
		return false
	}
	shared := c.Name[:len(c.base)+len(rules[c.rule].suffix)]
	for i := range g.fixed {
		if slices.Contains(g.fixed[i].Backups, shared) {
			g.fixed[i].Backups = append(g.fixed[i].Backups, c.Name)
			g.owned[c.Name] = true
			return true
		}
	}
	return false
}

// resolveTag returns the family that a base with a hash tag belongs to.
func (g *grouper) resolveTag(base string) string {
	plain, ok := untagged(base)
	if !ok || g.keys[base] != nil {
		return base
	}
	if f := g.families[base]; f != nil && (f.bare != nil || f.claimed) {
		return base
	}
	if f := g.families[plain]; f != nil && f.bare != nil {
		return plain
	}
	if k := g.keys[plain]; k != nil && !g.owned[plain] && g.matcher.match(plain).rule < 0 && g.alone(candidate{Key: k}).fits {
		return plain
	}
	return base
}

// alone decides what a key is without regard to its name: a list is the ready
// list of its own queue, a sorted set is delayed if its scores are times.
func (g *grouper) alone(c candidate) *candidate {
	switch {
	case c.Type == list:
		c.match.place, c.fits = queue.Ready, true
	case c.Type == zset && areTimes(c.Scores, g.now):
		c.match.place, c.fits = queue.Delayed, true
	}
	return &c
}

func typeOf(p queue.Place) string {
	if p == queue.Delayed {
		return zset
	}
	return list
}

// resolveAll turns the families into queues, shorter names first: what one family
// has no use for may be a queue by itself, and its name is always longer.
func (g *grouper) resolveAll() {
	bases := make([]string, 0, len(g.families))
	for b := range g.families {
		bases = append(bases, b)
	}
	shorter := func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	}
	slices.SortFunc(bases, shorter)
	var late []string // families that came up meanwhile: of one key each, so none comes of them
	for _, b := range bases {
		late = append(late, g.resolve(g.families[b])...)
	}
	slices.SortFunc(late, shorter)
	for _, b := range late {
		g.resolve(g.families[b])
	}
}

// resolve makes a queue of one family, and returns the families it founded for
// the keys it had no use for.
func (g *grouper) resolve(f *family) (founded []string) {
	slices.SortFunc(f.kin, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rule, b.rule), cmp.Compare(a.Name, b.Name))
	})
	q := queue.Queue{Name: f.base, Guessed: queue.GuessedKeys | queue.GuessedUnit | queue.GuessedPush | queue.GuessedPattern}
	rest := f.kin
	if !f.claimed {
		rest = f.gather(&q)
	}
	for _, c := range rest {
		if b, ok := g.found(c); ok {
			founded = append(founded, b)
		}
	}
	g.finish(f, &q)
	return founded
}

// gather moves the keys of a family into q and returns those left over.
func (f *family) gather(q *queue.Queue) (rest []candidate) {
	if f.self != nil && f.self.fits {
		add(q, f.self.match.place, f.self.Name)
	}
	var wrong []candidate
	for _, c := range f.kin {
		switch {
		case !c.fits && !c.weak && !c.consumer:
			wrong = append(wrong, c)
		case !c.fits || c.weak && !f.beside(c) || !add(q, c.match.place, c.Name):
			rest = append(rest, c)
		}
	}
	// A key of a wrong type under a queue's name is kept, so that the queue can
	// say so; but it makes no queue by itself.
	certain := f.bare != nil || hasKeys(*q)
	for _, c := range wrong {
		if !certain || !add(q, c.match.place, c.Name) {
			rest = append(rest, c)
		}
	}
	return rest
}

// beside reports whether the family has a key for another place than c's.
func (f *family) beside(c candidate) bool {
	if f.self != nil && f.self.fits && f.self.match.place != c.match.place {
		return true
	}
	return slices.ContainsFunc(f.kin, func(o candidate) bool {
		return o.fits && o.match.place != c.match.place
	})
}

// add gives q a key for a place; false when the place is taken.
func add(q *queue.Queue, p queue.Place, key string) bool {
	one := func(field *string) bool {
		if *field != "" {
			return false
		}
		*field = key
		return true
	}
	switch p {
	case queue.Ready:
		return one(&q.Ready)
	case queue.Delayed:
		return one(&q.Delayed)
	case queue.Dead:
		return one(&q.Dead)
	case queue.Backup:
		q.Backups = append(q.Backups, key)
		return true
	}
	return false
}

// found makes a left-over key the head of a family of its own, where it can be one.
func (g *grouper) found(c candidate) (base string, ok bool) {
	named := c.fits && !c.weak && c.match.place != queue.Delayed
	switch {
	case named: // a second dead list, or what a queue named by hand did not take: stays what it is
	case c.Type == list, c.Type == zset && c.match.place == queue.Delayed:
		c = *g.alone(c)
	default:
		return "", false
	}
	if !c.fits {
		return "", false
	}
	_, known := g.families[c.Name]
	g.family(c.Name).self = &c
	return c.Name, !known
}

// finish completes q by what can be inferred from its keys and keeps it, if it is a queue.
func (g *grouper) finish(f *family, q *queue.Queue) {
	slices.Sort(q.Backups)
	if f.claimed {
		return
	}
	if q.Ready == "" && (len(q.Backups) > 0 || q.Dead != "") {
		g.infer(q, queue.Ready, f.base) // so that a re-drive has a target
	}
	if f.bare != nil {
		g.complete(f, q)
	}
	if q.Validate() != nil {
		return
	}
	g.own(*q)
	g.queues = append(g.queues, *q)
}

// complete gives a queue that was named by hand the default keys for the places
// where nothing was found, and what else was said of it.
func (g *grouper) complete(f *family, q *queue.Queue) {
	found, d := *q, queue.Named(f.base)
	*q = *f.bare
	q.Ready, q.Backups, q.Delayed, q.Dead = found.Ready, found.Backups, found.Delayed, found.Dead
	for _, p := range queue.Places() {
		if !q.Has(p) {
			g.infer(q, p, d.Keys(p)[0])
		}
	}
}

// infer gives q a key that its name suggests, unless the key is another queue's.
func (g *grouper) infer(q *queue.Queue, p queue.Place, key string) {
	if _, dup := q.PlaceOf(key); dup || g.owned[key] {
		return
	}
	if f := g.families[key]; f != nil && key != q.Name && (f.self != nil || f.bare != nil) {
		return
	}
	add(q, p, key)
}
