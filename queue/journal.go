package queue

import (
	"crypto/sha1"
	"encoding/json"
	"fmt"
	"time"
)

// Op names what an operator did.
type Op string

// The operations.
const (
	OpEnqueue    Op = "enqueue"
	OpRedrive    Op = "redrive"
	OpDelete     Op = "delete"
	OpReschedule Op = "reschedule"
	OpEdit       Op = "edit"
	OpPurge      Op = "purge"
	OpUndo       Op = "undo"
)

// Outcome is what became of one message of an operation.
type Outcome string

// The outcomes.
const (
	Done    Outcome = "done"
	Gone    Outcome = "gone"    // not there any more, or (undo) already back; nothing changed
	Refused Outcome = "refused" // the server or redq said no; nothing changed
	Unknown Outcome = "unknown" // sent, and the answer never came
)

// RecordKind says what a journal record reports.
type RecordKind string

// The kinds of record, in the order they appear for one entry.
const (
	Intent     RecordKind = "intent"  // about to be asked: written and synced before the server is
	Answered   RecordKind = "outcome" // what the server said
	UndoIntent RecordKind = "undo"    // an undo is about to be asked
	Undone     RecordKind = "undone"  // what the server said to the undo
)

// Record is one line of the undo journal: one message of one operation. The
// lines of an operation share Entry. Its JSON form is redq's own.
type Record struct {
	Kind  RecordKind
	Entry string // id of the operation
	// Seq is the number of the message in the operation, from 0. A purge has one
	// more record a key, with a negative Seq and no message: its ToKey is the
	// private key that holds what was not freed yet.
	Seq    int
	Time   time.Time // the client's clock
	Server string    // host:port/db, without a password
	Queue  string

	Op      Op      // Intent only, like all that follows but Outcome
	Message Message // where it was: place, key, index, length, score, bytes
	ToPlace Place   // redrive: where it went
	ToKey   string
	ToScore Score // reschedule, and moves into delayed: the new score
	// End is, for redrive, the end of the target it was pushed to, and for purge
	// the end of the list where the oldest message lay.
	End     End
	Payload []byte // edit: the new bytes

	// Batch is what a bulk operation did in one step; nil in the record of one message.
	// Seq is then the number of its first message, and Message only says in which
	// place and key they lay and how long a list was (Len).
	Batch *Batch

	// Outcome is for Answered and Undone only. An Answered record of a list may also
	// say in Message.Index and Len where the message really was when it was taken. That of a
	// batch is Done for all of its messages, or for none.
	Outcome Outcome
	// Count is, in an Undone record of a batch, how many of its messages came back in
	// this undo; the others were gone.
	Count int64
}

// Batch is the messages that a bulk operation changes in one atomic step: all in one
// key, oldest first. Its slices have one element a message, or are nil.
type Batch struct {
	Prints   []Print  // who they are; of messages that only move, whose bytes stay on the server
	Payloads [][]byte // their bytes; of messages that are removed
	Index    []int64  // their positions in a list from the head, before the step
	Scores   []Score  // their scores in a sorted set
	ToScores []Score  // the scores they get
}

// Len returns how many messages it has.
func (b *Batch) Len() int { return max(len(b.Prints), len(b.Payloads)) }

// Print is a fingerprint of a payload: the first 16 bytes of its SHA-1, which the server can
// make too.
type Print [16]byte

// PrintOf returns the fingerprint of a payload.
func PrintOf(payload []byte) Print {
	sum := sha1.Sum(payload)
	return Print(sum[:])
}

// Journal keeps what is needed to undo. Append returns only when all records
// will survive a crash of the machine; an error means that nothing may be asked
// of the server. Implementations are safe for concurrent use, also by several processes.
type Journal interface {
	Append(records ...Record) error
}

// Entry is one operation put together from its records.
type Entry struct {
	ID     string
	Time   time.Time
	Op     Op
	Server string
	Queue  string
	Items  []Item
	// Batches are the steps of a bulk operation, which has no Items; else nil.
	Batches Batches
	// Lost is how many more messages there were before the first of these: the journal has
	// dropped what it knew of them, and they cannot be put back.
	Lost int64
}

// Batches gives the steps of one bulk operation in the order they were asked for. One step
// is held in memory at a time.
type Batches interface {
	// Len returns how many there are.
	Len() int
	// Messages returns how many messages those have that were not refused, and of how many an
	// undo could still change anything.
	Messages() (all, undoable int64)
	// Step reads one: its record, with Batch, and what became of it.
	Step(i int) (Item, error)
}

// Item is one message of an entry, or one step of a bulk operation.
type Item struct {
	Record          // the intent
	Outcome Outcome // "" when no answer was recorded: the process died in between
	Tried   bool    // an undo was begun
	Undone  Outcome // "" when no answer to an undo was recorded
	Back    int64   // messages of a step that undos have brought back so far
}

// Undoable reports whether an undo of the item could change anything.
func (i Item) Undoable() bool {
	if i.Outcome == Gone || i.Outcome == Refused {
		return false
	}
	return i.Undone != Done && i.Undone != Gone
}

// Unsure reports whether nobody knows if the operation (or a former undo)
// happened to the item: the process died, or the answer was lost.
func (i Item) Unsure() bool {
	return i.Outcome == "" || i.Outcome == Unknown || i.Tried && i.Undone != Done && i.Undone != Gone
}

// Undoable returns how many items of the entry could still be undone.
func (e Entry) Undoable() int {
	if e.Batches != nil {
		_, n := e.Batches.Messages()
		return int(n)
	}
	n := 0
	for _, it := range e.Items {
		if it.Undoable() {
			n++
		}
	}
	return n
}

// record is the wire form of Record, which Record.AppendJSON writes. Bytes that are valid UTF-8 stay
// readable, others are base64, so that the journal can be read with a pager and grep.
type record struct {
	Kind     RecordKind `json:"kind"`
	Entry    string     `json:"entry"`
	Seq      int        `json:"seq"`
	Time     time.Time  `json:"time"`
	Server   *text      `json:"server"`
	Queue    *text      `json:"queue"`
	Op       Op         `json:"op"`
	N        int        `json:"n"`
	Count    int64      `json:"count"`
	Place    Place      `json:"place"`
	Key      *text      `json:"key"`
	Index    int64      `json:"index"`
	Len      int64      `json:"len"`
	Score    Score      `json:"score"`
	Payload  *text      `json:"payload"`
	ToPlace  Place      `json:"to_place"`
	ToKey    *text      `json:"to_key"`
	ToScore  Score      `json:"to_score"`
	End      End        `json:"end"`
	NewBytes *text      `json:"new_payload"`
	Prints   []byte     `json:"prints"`
	At       []int64    `json:"at"`
	Scores   []Score    `json:"scores"`
	ToScores []Score    `json:"to_scores"`
	Payloads []text     `json:"payloads"`
	Outcome  Outcome    `json:"outcome"`
}

// text is bytes as JSON: a string, or {"b64": …} when they are not valid UTF-8.
type text []byte

func (t *text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		var s string
		err := json.Unmarshal(b, &s)
		*t = text(s)
		return err
	}
	var o struct {
		B64 []byte `json:"b64"`
	}
	err := json.Unmarshal(b, &o)
	*t = text(o.B64)
	return err
}

func (t *text) string() string {
	if t == nil {
		return ""
	}
	return string(*t)
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *Record) UnmarshalJSON(b []byte) error {
	var w record
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*r = Record{
		Kind: w.Kind, Entry: w.Entry, Seq: w.Seq, Time: w.Time,
		Server: w.Server.string(), Queue: w.Queue.string(), Op: w.Op, Outcome: w.Outcome,
		Message: Message{Place: w.Place, Key: w.Key.string(), Index: w.Index, Len: w.Len, Score: w.Score},
		ToPlace: w.ToPlace, ToKey: w.ToKey.string(), ToScore: w.ToScore, End: w.End,
	}
	if w.Payload != nil {
		r.Message.Payload = []byte(*w.Payload)
		r.Message.Size = int64(len(r.Message.Payload))
	}
	if w.NewBytes != nil {
		r.Payload = []byte(*w.NewBytes)
	}
	r.Count = w.Count
	if w.N > 0 {
		return r.readBatch(w)
	}
	return nil
}

// readBatch takes the batch out of a wire form. One whose parts do not fit each other is damaged.
func (r *Record) readBatch(w record) error {
	b := &Batch{Index: w.At, Scores: w.Scores, ToScores: w.ToScores}
	for rest := w.Prints; len(rest) >= len(Print{}); rest = rest[len(Print{}):] {
		b.Prints = append(b.Prints, Print(rest[:len(Print{})]))
	}
	for _, p := range w.Payloads {
		b.Payloads = append(b.Payloads, p)
	}
	for _, n := range []int{len(b.Prints), len(b.Payloads), len(b.Index), len(b.Scores), len(b.ToScores)} {
		if n != 0 && n != w.N {
			return fmt.Errorf("a batch of %d has %d of something", w.N, n)
		}
	}
	if b.Len() != w.N {
		return fmt.Errorf("a batch of %d has %d messages", w.N, b.Len())
	}
	r.Batch = b
	return nil
}
