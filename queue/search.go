package queue

import (
	"context"
	"errors"
)

const (
	// searchPage is how many messages Search reads at once: enough that a million
	// takes a second, few enough that other clients do not notice.
	searchPage = 500
	// searchOverlap is how many messages of the last page are read again, to see
	// how far the place moved meanwhile.
	searchOverlap = 128
	// searchAnchor is how many messages in a row must be met again to be taken for
	// the end of the last page, and not for others with equal bytes.
	searchAnchor = 8
)

// Search walks a place in pages and calls match with each whole payload; found
// messages come back in the place's order, large payloads cut as in a Page. It
// starts at position from and stops after limit matches (0: no limit), at the
// end, or after maxPages pages (0: all); next is where to go on, -1 at the end.
// No search runs inside the server, and one page of payloads is held at a time.
//
// Consumers may take and producers add messages meanwhile. What moves the place by
// up to 128 messages between two pages is noticed, and nothing skipped or met
// twice; more than that may skip messages or meet some again. Between two calls
// nothing is noticed.
func (c *Client) Search(ctx context.Context, q Queue, p Place, from int64, match func(Message) bool, limit, maxPages int) (found []Message, next int64, err error) {
	pos := max(0, from)
	var last []Message // the end of the page before
	for pages := 0; maxPages <= 0 || pages < maxPages; pages++ {
		start := max(0, pos-int64(len(last)))
		page, err := c.Peek(ctx, q, p, start, searchPage+len(last))
		if err != nil {
			return found, pos, err
		}
		skip := resume(last, page.Messages)
		if skip >= len(page.Messages) {
			return found, -1, nil
		}
		for i, m := range page.Messages[skip:] {
			hit, err := c.matches(ctx, m, match)
			if err != nil {
				return found, start + int64(skip+i), err
			}
			if !hit {
				continue
			}
			if found = append(found, m); limit > 0 && len(found) == limit {
				return found, page.after(start + int64(skip+i) + 1), nil
			}
		}
		if pos = start + int64(len(page.Messages)); page.after(pos) < 0 {
			return found, -1, nil
		}
		last = tailOf(page.Messages, searchOverlap)
	}
	return found, pos, nil
}

// after returns pos, or -1 when it is behind the end of the place.
func (p Page) after(pos int64) int64 {
	if pos >= p.Total {
		return -1
	}
	return pos
}

// matches asks about m with its whole payload. A large message that has gone
// meanwhile, or cannot be found again, matches nothing.
func (c *Client) matches(ctx context.Context, m Message, match func(Message) bool) (bool, error) {
	if m.Complete() {
		return match(m), nil
	}
	whole, err := c.Load(ctx, m)
	var refused *RefusedError
	switch {
	case err == nil:
		return match(whole), nil
	case errors.Is(err, ErrGone), errors.As(err, &refused) && refused.Code == "FAR":
		return false, nil
	}
	return false, err
}

// resume returns how many messages of page were seen already: those up to the end
// of last, wherever that lies in the page now.
func resume(last, page []Message) int {
	if len(last) == 0 {
		return 0
	}
	// The longest run of the end of last that is in the page tells where it went;
	// of equal runs the one that moved least.
	best, bestRun, bestShift := len(last), 0, 0
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
	return best
}

func tailOf(ms []Message, n int) []Message { return ms[max(0, len(ms)-n):] }
