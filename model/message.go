package model

import (
	"fmt"
	"strings"
	"time"

	"redq/queue"
	"redq/queue/payload"
)

// ViewKind is a way to show a payload.
type ViewKind uint8

// The views, in the order `o` steps through them.
const (
	ViewPretty ViewKind = iota
	ViewRaw
	ViewHex
	viewCount
)

// String names the view.
func (v ViewKind) String() string {
	return [...]string{"pretty", "raw", "hex"}[v%viewCount]
}

// prettyLimit is how much of a payload the pretty view decodes; the raw view and
// the dump always show all of it.
const prettyLimit = 4 << 20

// MessagePage is the page of one message.
type MessagePage struct {
	Queue   string
	Message queue.Message // as last seen; complete once Loaded
	Loaded  bool
	Err     string    // why it could not be loaded
	Gone    bool      // it left its place after it was opened; what is shown is kept
	GoneAt  time.Time // when that was noticed, client's clock

	Age    time.Duration // as in MessageRow
	Due    time.Time     // as in MessageRow
	Misfit string        // as in MessageRow
	Next   bool          // as in MessageRow

	Copies     int64 // identical ones in the same key, this one included; 0 not known yet
	CopiesMore bool  // the key is longer than what was looked at: "at least"

	// Failed is what its queue's consumers tell of failed attempts: none when Attempts is 0.
	Failed queue.Failed

	View     ViewKind
	Encoding string // the chain of encodings, e.g. "gzip, json"; "" until loaded
	Problem  string // what the pretty view does not show and why; "" when it shows all
	Doc      Document

	gen    int // of the request under way: answers of others are dropped
	pretty []byte
}

// loadedMessage is a message made ready for the page.
type loadedMessage struct {
	message queue.Message
	decoded payload.Decoded
	copies  int64
	more    bool
	failed  queue.Failed
}

// openMessagePage shows a row; its payload is still to be loaded.
func openMessagePage(queueName string, r MessageRow, view ViewKind, gen int) MessagePage {
	return MessagePage{Queue: queueName, View: view, gen: gen}.seen(r)
}

// seen takes what the list knows of the message now.
func (p MessagePage) seen(r MessageRow) MessagePage {
	m := r.Message
	if p.Loaded {
		m.Payload, m.Tail = p.Message.Payload, nil
	}
	p.Message, p.Age, p.Due, p.Misfit, p.Next = m, r.Age, r.Due, r.Misfit, r.Next
	return p
}

// loaded takes the whole payload.
func (p MessagePage) loaded(l loadedMessage, width int) MessagePage {
	p.Message.Payload, p.Message.Tail, p.Message.Size = l.message.Payload, nil, l.message.Size
	p.Loaded, p.Err = true, ""
	p.Copies, p.CopiesMore, p.Failed = l.copies, l.more, l.failed
	p.pretty, p.Problem = l.decoded.Pretty, l.decoded.Note
	names := make([]string, len(l.decoded.Chain))
	for i, e := range l.decoded.Chain {
		names[i] = string(e)
	}
	p.Encoding = strings.Join(names, ", ")
	return p.viewed(p.View, width)
}

// viewed shows the payload another way, from its start.
func (p MessagePage) viewed(v ViewKind, width int) MessagePage {
	p.View = v
	switch {
	case v == ViewHex || v == ViewPretty && p.pretty == nil && len(p.Message.Payload) > 0:
		p.Doc = newDocument(p.Message.Payload, true, width)
	case v == ViewPretty:
		p.Doc = newDocument(p.pretty, false, width)
	default:
		p.Doc = newDocument(p.Message.Payload, false, width)
	}
	return p
}

// failed takes the reason why the payload could not be loaded.
func (p MessagePage) failed(err error) MessagePage {
	p.Err = explain(err)
	return p
}

// gone notices that the message left its place.
func (p MessagePage) gone(at time.Time) MessagePage {
	if !p.Gone {
		p.Gone, p.GoneAt = true, at
	}
	return p
}

// act takes a key's action. size is that of the document on screen.
func (p MessagePage) act(a Action, size Rect) (MessagePage, Intent) {
	h := size.H
	switch a {
	case ActUp:
		p.Doc = p.Doc.up(1)
	case ActDown:
		p.Doc = p.Doc.down(1, h)
	case ActPageUp:
		p.Doc = p.Doc.up(max(1, h-1))
	case ActPageDown:
		p.Doc = p.Doc.down(max(1, h-1), h)
	case ActTop:
		p.Doc = p.Doc.home()
	case ActBottom:
		p.Doc = p.Doc.end(h)
	case ActView:
		p = p.viewed((p.View+1)%viewCount, size.W)
		return p, say(StatusInfo, p.View.String()+" view")
	}
	return p, nil
}

// maxCopy is the largest payload that goes to the clipboard: terminals cut or
// refuse longer sequences without a word.
const maxCopy = 100_000

// copyRefusal tells why a payload of a size cannot be copied; "" when it can.
func copyRefusal(size int64) string {
	if size <= maxCopy {
		return ""
	}
	return fmt.Sprintf("%s bytes are more than a terminal's clipboard takes (%s)", Thousands(size), Thousands(maxCopy))
}
