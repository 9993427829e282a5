package ui

import (
	"fmt"

	"redq/model"
)

// searchTitle says in w cells what a filter has found and how far it has looked; "" when
// there is none. The counts come first: they are shortened, the filter is cut.
func (p painter) searchTitle(list model.List, w int) string {
	s := list.Search
	if s.Text == "" {
		return ""
	}
	counts := p.searchCounts(list, fullDigits) + p.searchKept(list, fullDigits)
	if width(counts) > w {
		counts = p.searchCounts(list, fewDigits) + p.searchKept(list, fewDigits)
	}
	if width(counts) > w {
		counts = p.searchCounts(list, fewDigits)
	}
	room := w - width(counts) - filterGap
	if room < leastFilter {
		return cut(counts, w, p.Glyphs.Ellipsis)
	}
	return p.Accent.Paint(cut("/"+name(s.Text), room, p.Glyphs.Ellipsis)) + blanks(filterGap) + counts
}

// Sizes of the title of a search, in cells.
const (
	fullDigits  = 26 // of a number with all its digits
	fewDigits   = 5
	leastFilter = 4 // a filter that would be cut to less is not shown
	filterGap   = 2
)

// searchCounts are the numbers of a search, in at most digits cells each.
func (p painter) searchCounts(list model.List, digits int) string {
	s := list.Search
	n := func(n int64) string { return shortNumber(n, digits) }
	var text string
	switch {
	case s.GaveUp && digits < fullDigits:
		text = p.Bad.Paint("gave up at " + n(s.Searched) + " of " + n(s.Of))
	case s.GaveUp:
		text = p.Bad.Paint("gave up at "+n(s.Searched)+" of "+n(s.Of)) + ", " + n(list.Matched()) + " match"
	case s.Err != "":
		text = p.Bad.Paint("stopped at "+percent(s.Searched, s.Of)) + ", " + n(list.Matched()) + " match"
	case s.Running && digits < fullDigits:
		text = n(list.Matched()) + " match at " + percent(s.Searched, s.Of)
	case s.Running:
		text = n(list.Matched()) + " match, " + percent(s.Searched, s.Of) + " of " + n(s.Of) + " searched"
	default:
		text = n(list.Matched()) + " of " + n(s.Searched) + " match"
	}
	if s.Undecided > 0 {
		text += ", " + p.Warn.Paint(n(s.Undecided)+" undecided")
	}
	return text
}

// searchKept is how many of the matches are kept for showing, unless all are.
func (p painter) searchKept(list model.List, digits int) string {
	if list.Search.Beyond == 0 {
		return ""
	}
	return p.Muted.Paint(", " + shortNumber(list.Total, digits) + " shown")
}

// percent is how much n is of all, rounded down so that it is 100 only at the end.
func percent(n, all int64) string {
	if all <= 0 {
		return "0%"
	}
	return fmt.Sprintf("%d%%", 100*min(n, all)/all)
}

// nothingFound says that no message matches, or none so far.
func (p painter) nothingFound(s model.Search) []string {
	ink, text := p.Muted, ""
	switch {
	case s.Err != "":
		ink, text = p.Bad, s.Err
	case s.Running:
		text = fmt.Sprintf("Searching%s %s of %s looked at. esc cancels.", p.Glyphs.Ellipsis, number(s.Searched), number(s.Of))
	default:
		text = fmt.Sprintf("None of %s matches. esc clears the filter.", plural(s.Searched, "message", "messages"))
	}
	lines := []string{""}
	add := func(text string) {
		for _, line := range wrap(name(text), p.l.List.W-flagsWidth-len(edge)) {
			lines = append(lines, blanks(flagsWidth)+ink.Paint(line))
		}
	}
	add(text)
	if s.Undecided > 0 && !s.GaveUp {
		ink = p.Warn
		add(fmt.Sprintf("%s undecided: %s", number(s.Undecided), s.Reason()))
	}
	return lines
}
