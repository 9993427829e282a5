package queue

import (
	"bytes"
	"context"
	"fmt"
	"slices"
)

// Set is the messages that a bulk operation takes: fixed when it was selected, by who they
// are. What arrives later is not in it, and what has gone meanwhile is counted as gone.
type Set struct {
	Queue Queue
	Place Place
	Count int64 // messages
	Bytes int64 // of their payloads
	// Looked is how many messages the place had, of which the set is a part.
	Looked int64
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
	// Match decides about a message; nil takes all. It is called with whole payloads.
	Match func(Message) (bool, error)
	Limit int64 // the first so many, 0: all
	// Newest takes them from the newest on. A re-drive to the front works so: what is
	// pushed last runs first. Without it the oldest come first.
	Newest bool
	// Progress, when not nil, is called after each page with how many messages were looked
	// at and how many are in the set.
	Progress func(looked, taken int64)
}

// Select walks a place and fixes the set of those messages that are to be taken. It only
// reads, in pages. Consumers may take and producers add messages meanwhile: what they
// move is noticed as in Search.
func (c *Client) Select(ctx context.Context, q Queue, p Place, o SelectOptions) (*Set, error) {
	keys := q.Keys(p)
	if len(keys) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNoSuchPlace, p)
	}
	set := &Set{Queue: q, Place: p, mark: mark()}
	for _, key := range keys {
		if o.Limit > 0 && set.Count >= o.Limit {
			break
		}
		s := side{place: p, key: key, end: workEnd(q, p, o.Newest)}
		if err := c.selectKey(ctx, set, s, o); err != nil {
			return nil, err
		}
	}
	return set, nil
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

// SetOf makes a set of messages that were read before, as an operator marks them.
// Those that were cut are loaded; those that are gone are left out.
func (c *Client) SetOf(ctx context.Context, q Queue, ms []Message, newest bool) (*Set, error) {
	set := &Set{Queue: q, mark: mark()}
	byKey := map[string]*setPart{}
	for _, i := range oldestFirst(q, ms) {
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
			part = &setPart{side: side{place: m.Place, key: m.Key, end: workEnd(q, m.Place, newest)}}
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
	s.Bytes += m.Size
	if len(s.Samples) < 3 {
		s.Samples = append(s.Samples, m.cut())
	}
}

// overlap is how many messages of a span are read again with the next one, to see
// whether the place has moved between them.
const overlap = 64

// selectKey walks one key. While a page is looked at the next one is read.
func (c *Client) selectKey(ctx context.Context, set *Set, s side, o SelectOptions) error {
	part := &setPart{side: s}
	set.parts = append(set.parts, part)
	large := int64(largePayload)
	if o.Match != nil {
		large = 1 << 62 // it sees all of it
	}
	read := func(from int64, n, chunk int) <-chan spanRead {
		answer := make(chan spanRead, 1)
		go func() {
			sp, err := c.readSpanBy(ctx, s, from, n, large, chunk)
			answer <- spanRead{sp, err}
		}()
		return answer
	}
	foresee := true
	var last []spanned
	for page := read(0, stepMessages, 1); page != nil; {
		got := <-page
		if page = nil; got.err != nil {
			return got.err
		}
		sp := got.span
		at := sp.from + int64(len(sp.all))
		if at < sp.total && (o.Limit == 0 || o.Match != nil || set.Count+int64(len(sp.all)) < o.Limit) {
			page = read(at-int64(min(overlap, len(sp.all))), stepMessages+overlap, sp.chunk())
		}
		fresh, moved := behind(last, sp.all)
		foresee = foresee && !moved
		set.Looked += int64(len(fresh))
		if o.Match == nil {
			if o.Limit > 0 {
				fresh = fresh[:min(int64(len(fresh)), o.Limit-set.Count)]
			}
			part.expect(sp.total, o.Limit)
		}
		err := set.include(part, fresh, sp, o)
		if o.Match == nil && len(fresh) > 0 {
			part.steps = append(part.steps, foreseenStep(fresh, sp.total, set.mark))
		}
		if o.Progress != nil {
			o.Progress(set.Looked, set.Count)
		}
		if err != nil || o.Limit > 0 && set.Count >= o.Limit || len(fresh) == 0 {
			if page != nil {
				<-page
			}
			page = nil
		}
		if err != nil {
			return err
		}
		last = sp.all[max(0, len(sp.all)-overlap):]
	}
	part.endStep()
	if !foresee {
		part.steps = nil
	}
	return nil
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
func (s *Set) include(part *setPart, fresh []spanned, sp span, o SelectOptions) error {
	first := sp.from + int64(len(sp.all)-len(fresh))
	for i, m := range fresh {
		seen := m.message(part.side, first+int64(i), sp.total)
		if o.Match != nil {
			hit, err := o.Match(seen)
			if err != nil {
				return err
			}
			if !hit {
				continue
			}
		}
		s.take(part, seen)
		part.prints = append(part.prints, m.print())
		if o.Match != nil {
			part.pick(m, first+int64(i), sp.total, s.mark)
		}
		if o.Limit > 0 && s.Count == o.Limit {
			return nil
		}
	}
	return nil
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
