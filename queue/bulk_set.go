package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Set is the messages that a bulk operation takes: fixed when it was selected, by who they
// are. What arrives later is not in it, and what has gone meanwhile is counted as gone.
type Set struct {
	Queue Queue
	Place Place
	Count int64 // messages
	// Looked is how many messages the place had, of which the set is a part.
	Looked int64
	// Unread is how many of those looked at could not be decided, nor be found again to be
	// read whole. They are not in the set.
	Unread int64
	// Samples are the first three.
	Samples []Message

	mark  string // that no message contains
	parts []*setPart
}

// setPart is the messages of one key, in the order they are worked on.
type setPart struct {
	side
	prints []Print
	// steps are the set as it lay in the key. As long as it still does nothing must be read
	// again. nil when the place was moved while it was walked.
	steps []foreseen
	bytes int64    // of the payloads that steps keep
	open  *picking // the last of them, which is not full yet
	// left counts, when prints are sorted, the copies that were not met yet: of equal
	// prints at the first of them. See index.
	left []int32
	rest int64 // sum of left
}

// foreseen is a step that needs no reading.
type foreseen struct {
	messages int
	identity string
	at       []int64 // where they lay, when the set was walked; nil: in a row at the very end
	total    int64   // length of the key then
	scores   []Score
	payloads [][]byte // nil when there are too many bytes to keep: see keepBytes
}

// keepBytes is how many bytes of payloads a set keeps for a deletion, which must write them down.
const keepBytes = 16 << 20

// SelectOptions say which messages of a place a Set takes. The zero value takes all.
type SelectOptions struct {
	// Match decides about a message; nil takes all. When it returns ErrCut it is asked again
	// with the whole payload, which of a large message is not read else.
	Match func(Message) (bool, error)
	// Limit is how many at most, the oldest; 0: all. Of several keys nobody knows whose
	// messages are older, so each gives what lies nearest to its end.
	Limit int64
	// Newest has the operation begin with the newest of the set. A re-drive to the front
	// works so: what is pushed last runs first. Without it the oldest come first.
	Newest bool
	// Progress, when not nil, is called after each page with how many messages were looked
	// at and how many are in the set.
	Progress func(looked, taken int64)
}

// Select walks a place and fixes the set of those messages that are to be taken; beside an
// error the set tells how far it came. It only reads, in pages. Consumers may take and producers add messages meanwhile: what they
// move is noticed as in Search.
func (c *Client) Select(ctx context.Context, q Queue, p Place, o SelectOptions) (*Set, error) {
	keys := q.Keys(p)
	if len(keys) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNoSuchPlace, p)
	}
	set := &Set{Queue: q, Place: p, mark: mark()}
	for _, key := range keys {
		s := side{place: p, key: key, end: workEnd(q, p, o.Newest && o.Limit == 0)}
		if err := c.selectKey(ctx, set, s, o); err != nil {
			return set, err
		}
	}
	if o.Limit > 0 {
		set.balance(o.Limit)
		if o.Newest {
			set.turn()
		}
	}
	return set, nil
}

// turn has the operation begin at the other end of each key. The messages are looked for
// there, and of equal ones those are taken that are met first.
func (s *Set) turn() {
	for _, p := range s.parts {
		p.end, p.steps = p.end.Other(), nil
	}
}

// balance leaves as many messages as the limit allows, those nearest to the end of each key.
func (s *Set) balance(limit int64) {
	most := 0 // of one key
	for left := limit; left > 0; most++ {
		before := left
		for _, p := range s.parts {
			if len(p.prints) > most && left > 0 {
				left--
			}
		}
		if left == before {
			return // there are not as many
		}
	}
	left := limit
	s.Count = 0
	for _, p := range s.parts {
		n := min(len(p.prints), most-1)
		left -= int64(n)
		s.Count += int64(n)
	}
	for _, p := range s.parts { // and what is left over, one each
		n := min(len(p.prints), most-1)
		if len(p.prints) > n && left > 0 {
			n++
			left--
			s.Count++
		}
		if n < len(p.prints) {
			p.prints, p.steps = p.prints[:n], nil
		}
	}
}

// workEnd is the end of a place that a bulk operation works from.
func workEnd(q Queue, p Place, newest bool) End {
	end := Left
	if p != Delayed {
		end = oldestEnd(q, p)
	}
	if newest {
		end = end.Other()
	}
	return end
}

// SetOf makes a set of messages that were read before, as an operator marks them: the
// oldest to the limit. Those that were cut are loaded, and left out when they have gone;
// Looked counts them. Match is not asked.
func (c *Client) SetOf(ctx context.Context, q Queue, ms []Message, o SelectOptions) (*Set, error) {
	set := &Set{Queue: q, mark: mark()}
	byKey := map[string]*setPart{}
	for _, i := range oldestFirst(q, ms) {
		if o.Limit > 0 && set.Looked == o.Limit {
			break
		}
		set.Looked++
		m := ms[i]
		if !m.Complete() {
			whole, err := c.Load(ctx, m)
			if err != nil {
				if resultOf(err).Outcome == Gone {
					continue
				}
				return nil, err
			}
			m = whole
		}
		part := byKey[m.Key]
		if part == nil {
			set.Place = m.Place
			part = &setPart{side: side{place: m.Place, key: m.Key, end: workEnd(q, m.Place, o.Newest)}}
			byKey[m.Key] = part
			set.parts = append(set.parts, part)
		}
		set.take(part, m)
		part.prints = append(part.prints, PrintOf(m.Payload))
	}
	return set, nil
}

// take counts a message.
func (s *Set) take(part *setPart, m Message) {
	s.Count++
	if len(s.Samples) < 3 {
		s.Samples = append(s.Samples, m.cut())
	}
}

// overlap is how many messages of a span are read again with the next one, to see
// whether the place has moved between them.
const overlap = 64

// selectKey walks one key. While a page is looked at the next two are read, for as long as
// nobody moves the place.
func (c *Client) selectKey(ctx context.Context, set *Set, s side, o SelectOptions) error {
	part := &setPart{side: s}
	set.parts = append(set.parts, part)
	r := spanReader{read: func(from int64, n, chunk int) (span, error) {
		return c.readSpanBy(ctx, s, from, n, largePayload, chunk)
	}}
	defer r.end()
	foresee := true
	var last []spanned
	for r.begin(); r.reading(); {
		sp, err := r.next()
		if err != nil {
			return err
		}
		fresh, moved := behind(last, sp.all)
		if moved && r.again() {
			continue
		}
		foresee = foresee && !moved
		at := sp.from + int64(len(sp.all))
		if at < sp.total && (o.Limit == 0 || o.Match != nil || int64(len(part.prints)+len(sp.all)) < o.Limit) {
			r.follow(sp)
		}
		if o.Match == nil {
			set.Looked += int64(len(fresh))
			if o.Limit > 0 {
				fresh = fresh[:min(int64(len(fresh)), o.Limit-int64(len(part.prints)))]
			}
			part.expect(sp.total, o.Limit)
		}
		err = c.include(ctx, set, part, fresh, sp, o)
		if o.Match == nil && len(fresh) > 0 {
			part.steps = append(part.steps, foreseenStep(fresh, sp.total, set.mark))
		}
		if o.Progress != nil {
			o.Progress(set.Looked, set.Count)
		}
		if err != nil {
			return err
		}
		if o.Limit > 0 && int64(len(part.prints)) >= o.Limit || len(fresh) == 0 {
			break
		}
		last = sp.all[max(0, len(sp.all)-overlap):]
	}
	part.endStep()
	if !foresee {
		part.steps = nil
	}
	return nil
}

// spanReader reads pages ahead of those that are looked at.
type spanReader struct {
	read  func(from int64, n, chunk int) (span, error)
	ahead []pendingSpan
	now   pendingSpan // that next has returned
	moves bool        // somebody moves the place: a page is read when the one before it is known
}

// pendingSpan is a page that is being read.
type pendingSpan struct {
	from    int64
	n       int
	guessed bool // when it was asked for the page before it was not there
	answer  <-chan spanRead
}

func (r *spanReader) ask(from int64, n, chunk int, guessed bool) {
	answer := make(chan spanRead, 1)
	go func() {
		sp, err := r.read(from, n, chunk)
		answer <- spanRead{sp, err}
	}()
	r.ahead = append(r.ahead, pendingSpan{from, n, guessed, answer})
}

func (r *spanReader) begin()        { r.ask(0, stepMessages, 1, false) }
func (r *spanReader) reading() bool { return len(r.ahead) > 0 }

// next waits for the next page.
func (r *spanReader) next() (span, error) {
	r.now, r.ahead = r.ahead[0], r.ahead[1:]
	got := <-r.now.answer
	return got.span, got.err
}

// follow has the pages behind one read. Where messages are large nobody knows how many a page
// will have, so that only the next one is.
func (r *spanReader) follow(sp span) {
	if len(sp.all) < r.now.n {
		r.end()
	}
	at := sp.from + int64(len(sp.all))
	if len(r.ahead) == 0 {
		r.ask(at-int64(min(overlap, len(sp.all))), stepMessages+overlap, sp.chunk(), false)
	}
	next := r.ahead[len(r.ahead)-1]
	end := next.from + int64(next.n)
	if !r.moves && len(r.ahead) < 2 && sp.chunk() > 1 && end < sp.total {
		r.ask(end-overlap, stepMessages+overlap, sp.chunk(), true)
	}
}

// again reads the present page once more, if it was asked for before the one in front of it was
// there: the server may have answered them in the other order.
func (r *spanReader) again() bool {
	r.moves = true
	r.end()
	if !r.now.guessed {
		return false
	}
	r.ask(r.now.from, r.now.n, 1, false)
	return true
}

// end waits for what nobody wants any more.
func (r *spanReader) end() {
	for _, p := range r.ahead {
		<-p.answer
	}
	r.ahead = nil
}

// spanRead is a page that was read beside other work.
type spanRead struct {
	span span
	err  error
}

// expect makes room for the prints of a whole key.
func (p *setPart) expect(total, limit int64) {
	if limit > 0 {
		total = min(total, limit)
	}
	if n := int(total) - len(p.prints); n > 0 && p.prints == nil {
		p.prints = slices.Grow(p.prints, n)
	}
}

// include takes those messages of a span that match.
func (c *Client) include(ctx context.Context, set *Set, part *setPart, fresh []spanned, sp span, o SelectOptions) error {
	first := sp.from + int64(len(sp.all)-len(fresh))
	for i, m := range fresh {
		at := first + int64(i)
		if o.Match != nil {
			set.Looked++
		}
		seen := m.message(part.side, at, sp.total)
		if o.Match != nil {
			hit, err := o.Match(seen)
			if errors.Is(err, ErrCut) {
				hit, err = c.matchWhole(ctx, set, part.side, m, at, o)
			}
			if err != nil {
				return err
			}
			if !hit {
				continue
			}
			part.pick(m, at, sp.total, set.mark)
		}
		set.take(part, seen)
		part.prints = append(part.prints, m.print())
		if o.Limit > 0 && int64(len(part.prints)) == o.Limit {
			return nil
		}
	}
	return nil
}

// matchWhole decides about a large message.
func (c *Client) matchWhole(ctx context.Context, set *Set, s side, m spanned, at int64, o SelectOptions) (bool, error) {
	sp, err := c.readSpan(ctx, s, at, 1, math.MaxInt64)
	if err != nil {
		return false, err
	}
	if len(sp.all) == 0 || sp.all[0].print() != m.print() {
		set.Unread++
		return false, nil
	}
	return o.Match(sp.all[0].message(s, at, sp.total))
}

func foreseenStep(ms []spanned, total int64, mark string) foreseen {
	id := newIdentity(mark)
	f := foreseen{messages: len(ms), total: total}
	for _, m := range ms {
		id.add(m)
		if m.score != "" {
			f.scores = append(f.scores, m.score)
		}
	}
	f.identity = id.hex()
	return f
}

// behind returns the messages of a page that come behind last, the end of the page
// before, and whether the place has moved in between.
func behind(last, page []spanned) (fresh []spanned, moved bool) {
	for end := len(last); end > 0; end-- { // what was taken meanwhile leaves fewer in front
		if end > len(page) {
			continue
		}
		same := true
		for i := range end {
			same = same && page[i].same(last[len(last)-end+i])
		}
		if same {
			return page[end:], end < len(last)
		}
	}
	return page[min(len(last), len(page)):], len(last) > 0
}

func (m spanned) same(o spanned) bool {
	return m.size == o.size && m.digest == o.digest && m.score == o.score && bytes.Equal(m.payload, o.payload)
}

// picking is a foreseen step that is not full yet.
type picking struct {
	foreseen
	id   *identity
	size int64
	cost float64
}

// pick adds a message that was picked out to the steps.
func (p *setPart) pick(m spanned, at, total int64, mark string) {
	if p.open == nil {
		p.open = &picking{id: newIdentity(mark)}
	}
	o := p.open
	o.messages++
	o.total = total
	o.id.add(m)
	o.at = append(o.at, at)
	if m.score != "" {
		o.scores = append(o.scores, m.score)
	}
	if p.bytes += m.size; p.bytes <= keepBytes && m.digest == "" {
		o.payloads = append(o.payloads, bytes.Clone(m.payload))
	}
	o.size += m.size
	o.cost += passing * float64(min(at, total-at))
	if o.messages == stepMessages || o.size >= stepBytes || p.place != Delayed && o.cost+reach(o.at[0], at, total) >= stepCost {
		p.endStep()
	}
}

// endStep closes a step of picked messages.
func (p *setPart) endStep() {
	if p.open == nil {
		return
	}
	f := p.open.foreseen
	f.identity = p.open.id.hex()
	if len(f.payloads) < f.messages {
		f.payloads = nil
	}
	p.steps, p.open = append(p.steps, f), nil
}

// index makes the part ready for meets. The order of the messages is forgotten.
func (p *setPart) index() {
	if p.left != nil {
		return
	}
	slices.SortFunc(p.prints, func(a, b Print) int { return bytes.Compare(a[:], b[:]) })
	p.left, p.rest = make([]int32, len(p.prints)), int64(len(p.prints))
	first := 0
	for i := range p.prints {
		if p.prints[i] != p.prints[first] {
			first = i
		}
		p.left[first]++
	}
}

// find returns the place of a print in an indexed part, -1 when no copy of it is left.
func (p *setPart) find(print Print) int {
	i, ok := slices.BinarySearchFunc(p.prints, print, func(a, b Print) int { return bytes.Compare(a[:], b[:]) })
	if !ok || p.left[i] == 0 {
		return -1
	}
	return i
}

// meet takes one copy of the message at a place of an indexed part.
func (p *setPart) meet(at int) {
	p.left[at]--
	p.rest--
}
