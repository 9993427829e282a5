package journal

import (
	"strconv"
	"time"

	"redq/queue"
)

// stub is the part of a record that a list needs, as it stands in the file.
type stub struct {
	kind    queue.RecordKind
	entry   []byte
	seq     int32
	time    []byte
	op      []byte
	n       int32 // messages of a batch; 0 for a record of one message
	count   int64
	outcome outcomeCode
	server  value
	queue   value
	key     value
}

// parseStub reads the head of a line; false for one that is torn or no record.
func parseStub(l line) (stub, bool) {
	if !l.whole {
		return stub{}, false
	}
	var s stub
	valid := true
	eachField(l.head, func(name []byte, v value) {
		switch string(name) {
		case "kind":
			s.kind = kindOf(v.text())
		case "entry":
			s.entry = v.text()
		case "seq":
			n, err := strconv.ParseInt(string(v.json), 10, 32)
			s.seq, valid = int32(n), valid && err == nil
		case "time":
			s.time = v.text()
		case "op":
			s.op = v.text()
		case "n":
			n, err := strconv.ParseInt(string(v.json), 10, 32)
			s.n, valid = int32(n), valid && err == nil && n > 0
		case "count":
			n, err := strconv.ParseInt(string(v.json), 10, 64)
			s.count, valid = n, valid && err == nil
		case "outcome":
			s.outcome = outcomeOf(v.text())
		case "server":
			s.server = v
		case "queue":
			s.queue = v
		case "key":
			s.key = v
		}
	})
	return s, valid && s.kind != "" && len(s.entry) > 0
}

func kindOf(b []byte) queue.RecordKind {
	for _, k := range []queue.RecordKind{queue.Intent, queue.Answered, queue.UndoIntent, queue.Undone} {
		if string(b) == string(k) {
			return k
		}
	}
	return ""
}

func outcomeOf(b []byte) outcomeCode {
	for i, o := range outcomes() {
		if string(b) == string(o) {
			return outcomeCode(i)
		}
	}
	return 0
}

func (s stub) when() time.Time {
	t, err := time.Parse(time.RFC3339Nano, string(s.time))
	if err != nil {
		return time.Time{} // a list shows that it does not know
	}
	return t
}
