package queue

import (
	"context"
	"errors"
	"slices"
	"time"
)

const (
	// searchPage is how many messages Search reads at once: enough that a million
	// takes a few seconds, few enough that other clients do not notice.
	searchPage = 500
	// searchFirst is how many it reads at first. Who looks long at each message and
	// stops soon does not have more read than that.
	searchFirst = 64
	// searchOverlap is how many messages of the last page are read again, to see
	// how far the place moved meanwhile.
	searchOverlap = 128
	// searchAnchor is how many messages in a row must be met again to be taken for
	// the end of the last page, and not for others with equal bytes.
	searchAnchor = 8
)

// ErrCut is returned by a SearchOptions.Match that cannot decide without the whole payload.
var ErrCut = errors.New("only the beginning of the payload is known")

// SearchOptions say what Search looks for, and how far one call goes.
type SearchOptions struct {
	// Match decides about a message, of which a large payload is cut as in a Page; nil
	// matches all. When it returns ErrCut it is asked again with the whole payload: what
	// it can decide without is not loaded. Any other error ends the search before the
	// message. It must not keep a whole payload.
	Match func(Message) (bool, error)
	// Limit is after how many matches the search stops; 0: it does not.
	Limit int
	// Within is how long it may take: it stops behind the message at which that time is
	// over. 0: it goes on to the end of the place.
	Within time.Duration
}

// Spot is where in a place a search goes on. The zero value is the head of the place.
type Spot struct {
	at   int64
	last []Message // the messages before it, as they were seen
}

// At returns the spot at a position of a place.
func At(position int64) Spot { return Spot{at: max(0, position)} }

// Position is where the spot was when it was last seen.
func (s Spot) Position() int64 { return s.at }

// Found is what one call of Search has found.
type Found struct {
	// Messages are those that match, in the place's order, large payloads cut as in a Page.
	Messages []Message
	Next     Spot  // where to go on
	Done     bool  // the end of the place was reached
	Looked   int64 // messages that were looked at
	Total    int64 // messages in the place when it was last read
	// Unread is how many of those looked at could not be decided, nor be found again to
	// be read whole. They do not match.
	Unread int64
}

// Search walks a place from a spot in pages and returns the messages that match. It stops
// as its options say, or at the end. Beside an error Found tells how far it came. No
// search runs inside the server, and one page of payloads is held at a time.
//
// Consumers may take and producers add messages meanwhile, also between two calls. What
// moves the place by up to 128 messages between two pages is noticed, and nothing skipped
// or met twice; more than that may skip messages or meet some again.
func (c *Client) Search(ctx context.Context, q Queue, p Place, from Spot, o SearchOptions) (Found, error) {
	s := search{SearchOptions: o, c: c, started: time.Now()}
	s.Next = from
	for n := searchFirst; !s.Done && !s.full(); n = min(2*n, searchPage) {
		start := max(0, s.Next.at-int64(len(s.Next.last)))
		asked := min(n, s.wanted()) + len(s.Next.last)
		page, err := c.Peek(ctx, q, p, start, asked)
		if err != nil {
			return s.Found, err
		}
		s.Total = page.Total
		if err := s.look(ctx, page, start, asked); err != nil {
			return s.Found, err
		}
	}
	return s.Found, nil
}

// search is one call of Search under way.
type search struct {
	SearchOptions
	Found
	c       *Client
	started time.Time
}

// full reports whether the search is to stop, though there may be more to find.
func (s *search) full() bool {
	return s.Limit > 0 && len(s.Messages) >= s.Limit || s.Within > 0 && s.Looked > 0 && time.Since(s.started) >= s.Within
}

// wanted is how many more messages are looked at, at most.
func (s *search) wanted() int {
	if s.Match == nil && s.Limit > 0 {
		return s.Limit - len(s.Messages)
	}
	return searchPage
}

// look asks about the messages of a page that were not seen before. The page begins at
// start, and may have as many messages as were asked for.
func (s *search) look(ctx context.Context, page Page, start int64, asked int) error {
	seen := resume(s.Next.last, page.Messages)
	at := seen
	defer func() {
		s.Next = Spot{start + int64(at), tailOf(page.Messages[:at], searchOverlap)}
	}()
	for ; at < len(page.Messages); at++ {
		if at > seen && s.full() {
			return nil
		}
		hit, err := s.matches(ctx, page.Messages[at])
		if err != nil {
			return err
		}
		s.Looked++
		if hit {
			s.Messages = append(s.Messages, page.Messages[at])
		}
	}
	// Of a page that was seen already only a short one is the last.
	short := at == seen && len(page.Messages) < asked
	s.Done = short || start+int64(at) >= page.Total
	return nil
}

// matches asks about m. A large message that must be read whole and has gone meanwhile
// matches nothing.
func (s *search) matches(ctx context.Context, m Message) (bool, error) {
	if s.Match == nil {
		return true, nil
	}
	hit, err := s.Match(m)
	if !errors.Is(err, ErrCut) || m.Complete() {
		return hit, err
	}
	whole, err := s.c.Load(ctx, m)
	var refused *RefusedError
	switch {
	case err == nil:
		return s.Match(whole)
	case errors.Is(err, ErrGone):
		return false, nil
	case errors.As(err, &refused) && refused.Code == "FAR":
		s.Unread++
		return false, nil
	}
	return false, err
}

// resume returns how many messages of page were seen already: those up to the end
// of last, wherever that lies in the page now.
func resume(last, page []Message) int {
	if at, ok := rejoined(last, page); ok {
		return at
	}
	return min(len(last), len(page))
}

// rejoined returns how many messages of page there are up to the end of last, and whether
// that was found in it.
func rejoined(last, page []Message) (at int, ok bool) {
	// The longest run of the end of last that is in the page tells where it went;
	// of equal runs the one that moved least.
	best, bestRun, bestShift := 0, 0, 0
	for end := 1; end <= len(page); end++ {
		run := 0
		for run < len(last) && run < end && page[end-1-run].Same(last[len(last)-1-run]) {
			run++
		}
		if run < min(end, len(last), searchAnchor) {
			continue
		}
		shift := max(end-len(last), len(last)-end)
		if run > bestRun || run == bestRun && run > 0 && shift < bestShift {
			best, bestRun, bestShift = end, run, shift
		}
	}
	return best, bestRun > 0
}

// tailOf returns the last n messages, without those before them being kept.
func tailOf(ms []Message, n int) []Message { return slices.Clone(ms[max(0, len(ms)-n):]) }
