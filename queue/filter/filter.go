// Package filter reads the filter language of the screen's prompt and the command
// line, and tells whether a message, or a line of text, matches. It knows payloads
// as bytes, and nothing of Redis, queues or a screen.
//
// A filter is terms with blanks between them; a message matches when all do:
//
//	filter   = { blank } [ term { blank { blank } term } ] { blank }
//	term     = [ "!" { blank } ] ( property | quoted | regexp | jq | word )
//	property = ( "due" | "age" | "size" ) { blank } op { blank } value
//	op       = "<" | "<=" | ">" | ">=" | "=" | "!="
//	quoted   = '"' { any | '\"' | '\\' } '"'
//	regexp   = "/" { any | '\/' } "/"
//	jq       = ( "." | "jq:" ) everything to the end of the filter
//	         | "jq:'" everything to the next "'" "'"
//	word     = everything to the next blank
//
// A word, or a text in quotes, is looked for in the payload whatever its case; a
// regexp has Go's syntax and heeds case unless it begins with (?i). What ends a
// quoted term or a regexp must be followed by a blank or the end, else the term is a
// word: "user":42 is looked for as it stands, and so are /etc/passwd and /timeout.
//
// A jq expression runs on the decoded payload, be it JSON, MessagePack or either in
// gzip, zlib, zstd or base64, and matches unless its first output is false or null or
// there is none. It holds blanks and so runs to the end: it is the last term, or stands
// between jq:' and '. It sees the payload alone, changes nothing (a = for == is refused)
// and is stopped when it takes long; a payload it fails on is undecided and does not
// match, negated or not.
//
//	timeout                     the payload holds timeout, TIMEOUT …
//	timeout !"no retry"         and does not hold: no retry
//	/^\{"id":1[0-9]+,/          matches the regular expression
//	.msg.user == 42             its member msg has a member user that is 42
//	timeout size>1k !.a         holds timeout, is larger than 1 KiB, and .a is null or false
//	jq:'.try > 3' due<10m       is due within ten minutes, or overdue, and .try is above 3
//	due<-5m                     has been due for more than five minutes
//	age>2d                      has been seen for more than two days at least
//
// due takes a duration from now or a time as in 2006-01-02T15:04 (local) or RFC 3339,
// age a duration: 250ms, 90s, 5m, 1h30m, 2d, 1w. An age is what is known of it: the
// message may be older. size takes bytes, or with k, m, g or t (kb and kib are the same)
// units of 1024. Only a size can be asked for with = and !=.
//
// A message without a due time matches no due term, and one that nobody knows the age
// of no age term: negated or not.
package filter

import (
	"context"
	"errors"
	"time"
)

// Subject is what a filter is asked about.
type Subject struct {
	// Payload is the exact bytes, or, when Size is larger than len(Payload), only
	// the first of them.
	Payload []byte
	Size    int64 // bytes of the whole payload
	// Due is when the message is due; zero when it has no due time or none that is
	// known.
	Due time.Time
	// Age is how long the message has been there at least; 0 when that is not known.
	Age time.Duration
	Now time.Time // the server's clock, for Due
}

func (s Subject) complete() bool { return int64(len(s.Payload)) >= s.Size }

// Needs tells what of a Subject a filter looks at; the rest need not be loaded.
type Needs struct {
	Payload bool // the whole of it, unless another term or its head decides
	Decoded bool // a jq expression decodes it
	Due     bool // and Now
	Age     bool
}

// Reasons for which it can be undecided whether a subject matches; others tell what is
// wrong with its payload.
var (
	// ErrIncomplete is returned when only the whole payload decides.
	ErrIncomplete = errors.New("only the beginning of the payload is known")
	// ErrStopped is wrapped when a jq expression was stopped because it took too long
	// or too much memory.
	ErrStopped = errors.New("the jq expression was stopped")
)

// Matcher decides what matches a filter. The zero value matches everything. It may
// be used by several goroutines at once.
type Matcher struct {
	text  string
	terms []term // the cheap ones first
}

// term is a condition, perhaps negated.
type term struct {
	condition
	negate bool
	at, n  int // where it stands in the text, and its length
}

// condition is what one term asks.
type condition interface {
	// ask returns yes, no or unknown. The error says why it cannot be told.
	ask(ctx context.Context, s Subject) (answer, error)
	needs() Needs
	// cost ranks conditions: cheap ones are asked first.
	cost() int
}

// answer is what a condition says of a subject. An unknown one cannot be negated.
type answer uint8

const (
	unknown answer = iota
	no
	yes
)

func answerOf(b bool) answer {
	if b {
		return yes
	}
	return no
}

// All reports whether everything matches.
func (m Matcher) All() bool { return len(m.terms) == 0 }

// String returns the filter as it was written, without surrounding blanks.
func (m Matcher) String() string { return m.text }

// Needs returns what the filter looks at.
func (m Matcher) Needs() Needs {
	var all Needs
	for _, t := range m.terms {
		n := t.needs()
		all.Payload = all.Payload || n.Payload
		all.Decoded = all.Decoded || n.Decoded
		all.Due = all.Due || n.Due
		all.Age = all.Age || n.Age
	}
	return all
}

// ParseText reads a filter that is asked about text alone: the error points at a term
// that only messages could answer.
func ParseText(text string) (Matcher, error) {
	m, err := Parse(text)
	if err == nil {
		err = m.TextOnly()
	}
	if err != nil {
		return Matcher{}, err
	}
	return m, nil
}

// TextOnly returns nil when the filter can be asked about a line of text, as a queue's
// name is one; else an *Error at a term that only messages can answer.
func (m Matcher) TextOnly() error {
	for _, t := range m.terms {
		switch t.condition.(type) {
		case substring, regular:
		default:
			return &Error{Text: m.text, At: t.at, Len: t.n, Reason: "jq, due, age and size are not asked here: expected text or /re/"}
		}
	}
	return nil
}

// Match reports whether the filter matches text that is whole and has neither due
// time nor age. It does not keep text. What cannot be decided does not match.
func (m Matcher) Match(text []byte) bool {
	ok, err := m.Decide(context.Background(), Subject{Payload: text, Size: int64(len(text))})
	return ok && err == nil
}

// Decide reports whether s matches. With an error it is undecided, and so no match,
// negated or not: of a jq expression that fails on the payload or was stopped, of a
// payload that is not whole. Text in the error is safe to print. Decide does not keep
// the payload; only a jq expression heeds ctx.
//
// A jq expression is stopped after a number of steps, which take about 100 ms: the same
// payloads are undecided each time. Time and memory stop it only when its steps are slow.
func (m Matcher) Decide(ctx context.Context, s Subject) (bool, error) {
	for _, t := range m.terms {
		a, err := t.ask(ctx, s)
		if err != nil {
			return false, err
		}
		if a == unknown || (a == yes) == t.negate {
			return false, nil
		}
	}
	return true, nil
}
