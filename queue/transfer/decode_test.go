package transfer_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"redq/queue"
	"redq/queue/transfer"
)

func TestDecode(t *testing.T) {
	for text, want := range map[string]transfer.Line{
		`{"place":"ready","payload":""}`:                                 {Place: queue.Ready, Payload: []byte{}},
		` { "place" : "dead" , "payload" : "x" } ` + "\r":                {Place: queue.Dead, Payload: []byte("x")},
		`{"place":"ready","payload_b64":"AP8=","size":2}`:                {Place: queue.Ready, Payload: []byte("\x00\xff")},
		`{"place":"ready","payload":"\ud83d\ude00\u00e9\n\/\\\"\u0000"}`: {Place: queue.Ready, Payload: []byte("😀é\n/\\\"\x00")},
		`{"place":"ready","payload":"` + "\u2028\U0010ffff\ufffd" + `"}`: {Place: queue.Ready, Payload: []byte("\u2028\U0010ffff\ufffd")},
		`{"place":"ready","payload":"\ufffd"}`:                           {Place: queue.Ready, Payload: []byte("\ufffd")},
		`{"queue":"a","queue_b64":"/w==","key_b64":"/g==","key":"b","place":"delayed","score":-0,"payload":"x"}`: {
			Queue: "\xff", Key: "\xfe", Place: queue.Delayed, Score: "-0", Payload: []byte("x")},
		`{"place":"delayed","score":"inf","payload":"x","due":null,"index":null}`: {Place: queue.Delayed, Score: "inf", Payload: []byte("x")},
		`{"place":"delayed","score":1.7976931348623157e+308,"payload":"x"}`:       {Place: queue.Delayed, Score: "1.7976931348623157e+308", Payload: []byte("x")},
		`{"place":"ready","payload":"x","push":"right","attempts":3,"first_failed":"2023-11-14T22:13:20.123Z","reason":"r"}`: {
			Place: queue.Ready, Payload: []byte("x"), Push: queue.Right, Attempts: 3, First: time.UnixMilli(1_700_000_000_123).UTC(), Reason: "r"},
		// What later versions may add.
		`{"v":9,"new":{"a":[1,-2.5e+3,true,false,null,"\u00e9",{}],"place":"x"},"place":"ready","payload":"x","more":[]}`: {
			Place: queue.Ready, Payload: []byte("x")},
	} {
		if got, err := transfer.Decode([]byte(text)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

func TestDecodeSaysWhereALineIsWrong(t *testing.T) {
	const torn = "the line ends too early: it is torn"
	for _, tt := range []struct {
		text   string
		column int
		reason string
	}{
		{``, 1, torn},
		{`x`, 1, "expected a JSON object"},
		{`[]`, 1, "expected a JSON object"},
		{`  {}`, 3, "it has no place"},
		{`{"place":"ready"}`, 1, "it has no payload"},
		{`{"place":"ready","payload":null}`, 1, "it has no payload"},
		{`{"place":"limbo","payload":"x"}`, 10, "is not a place"},
		{`{"place":"delayed","payload":"x"}`, 1, "needs a score"},
		{`{"place":"delayed","score":"x","payload":"x"}`, 28, "not a score"},
		{`{"place":"delayed","score":"nan","payload":"x"}`, 28, "not a score"},
		{`{"place":"delayed","score":1e999,"payload":"x"}`, 28, "not a score"},
		{`{"place":"delayed","score":"0x1p4","payload":"x"}`, 28, "not a score"},
		{`{"place":"delayed","score":01,"payload":"x"}`, 29, "expected a comma"},
		{`{"place":"delayed","score":1.,"payload":"x"}`, 30, "expected a digit"},
		{`{"place":"ready","payload":"x`, 30, torn},
		{`{"place":"ready","payload":"x"`, 31, torn},
		{`{"place":"ready","payload":"x\`, 31, torn},
		{`{"place":"ready","payload":"\u12`, 33, torn},
		{`{"place":"ready","payload":"\u12g4"}`, 33, "hexadecimal digit"},
		{`{"place":"ready","payload":"\x41"}`, 29, "no such escape"},
		{`{"place":"ready","payload":"ab\ud800"}`, 31, "half of a surrogate pair"},
		{`{"place":"ready","payload":"ab\udc00\ud800"}`, 31, "half of a surrogate pair"},
		{`{"place":"ready","payload":"\ud800\u0041"}`, 29, "half of a surrogate pair"},
		{"{\"place\":\"ready\",\"payload\":\"a\xffb\"}", 30, "no valid UTF-8"},
		{"{\"place\":\"ready\",\"payload\":\"a\xed\xa0\x80\"}", 30, "no valid UTF-8"},
		{"{\"place\":\"ready\",\"payload\":\"a\nb\"}", 30, "control character"},
		{`{"place":"ready","payload":"x","payload":"y"}`, 42, "a second time"},
		{`{"place":"ready","payload":"x","payload_b64":"eA=="}`, 46, "a payload already"},
		{`{"place":"ready","payload_b64":"eB=="}`, 32, "not base64"},
		{`{"place":"ready","payload_b64":"eA"}`, 32, "not base64"},
		{`{"place":"ready","size":3,"payload":"xy"}`, 25, "2 bytes, not 3"},
		{`{"place":"ready","size":-1,"payload":"xy"}`, 25, "whole number"},
		{`{"place":"ready","payload":"x","push":"up"}`, 39, "not an end"},
		{`{"place":"ready","payload":"x","first_failed":"now"}`, 47, "a time like"},
		{`{"place":"ready","payload":"x","attempts":99999999999}`, 43, "that often"},
		{`{"place":"ready","payload":"x"} {}`, 33, "end of the line"},
		{`{"place":"ready" "payload":"x"}`, 18, "expected a comma"},
		{`{"place":"ready","payload" "x"}`, 28, "expected a colon"},
		{`{"place":"ready","payload":7}`, 28, "expected a string"},
		{`{"new":nulL,"place":"ready","payload":"x"}`, 8, "expected a JSON value"},
		{`{"new":tru`, 11, torn},
		{`{"new":[1 2]}`, 11, "the end of the array"},
		{`{"new":` + strings.Repeat("[", 500), 109, "nested too deep"},
	} {
		var wrong *transfer.LineError
		_, err := transfer.Decode([]byte(tt.text))
		if !errors.As(err, &wrong) || wrong.Column != tt.column || !strings.Contains(wrong.Reason, tt.reason) {
			t.Errorf("%s: %v, want column %d: %s", tt.text, err, tt.column, tt.reason)
		}
	}
}

// Whatever comes as a line: it does not panic, what it takes is what encoding/json reads, and the
// errors point into the line.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		`{"queue":"q","place":"ready","key":"q","index":3,"push":"left","size":1,"payload":"x"}`,
		`{"place":"delayed","score":1.5e-3,"due":null,"payload_b64":"AP8="}`,
		`{"place":"dead","attempts":3,"first_failed":"2023-11-14T22:13:20.123Z","reason":"r","payload":"\ud83d\ude00\u2028"}`,
		`{"new":[{"a":[null,true,-1e9]}],"place":"ready","payload":"\ud800"}`, `{"place":"ready","payload":"to`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := transfer.Decode(text)
		if err != nil {
			var wrong *transfer.LineError
			if !errors.As(err, &wrong) || wrong.Column < 1 || wrong.Column > len(text)+1 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		var same struct {
			Place   string          `json:"place"`
			Payload *string         `json:"payload"`
			B64     []byte          `json:"payload_b64"`
			Score   json.RawMessage `json:"score"`
		}
		if !utf8.Valid(text) || !json.Valid(text) {
			t.Fatalf("%q was taken, and is no JSON", text)
		}
		if bytes.ContainsAny(text, "PSAQKRYLOECUI") || json.Unmarshal(text, &same) != nil {
			return // encoding/json takes names in capitals too
		}
		payload := same.B64
		if same.Payload != nil {
			payload = []byte(*same.Payload)
		}
		if !bytes.Equal(payload, l.Payload) || !strings.EqualFold(same.Place, string(l.Place)) {
			t.Fatalf("%q: %+v, want %+v", text, l, same)
		}
	})
}

// Any bytes are the same after they were written and read.
func FuzzPayload(f *testing.F) {
	for _, p := range hostile() {
		f.Add([]byte(p))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		text := transfer.EncodeLine(queue.Named("q\xff"), queue.Failed{Message: queue.Message{
			Payload: payload, Size: int64(len(payload)), Place: queue.Ready, Key: string(payload),
		}})
		l, err := transfer.Decode(text)
		if err != nil || !bytes.Equal(l.Payload, payload) || l.Key != string(payload) || l.Queue != "q\xff" {
			t.Fatalf("%q: %s, %v", payload, text, err)
		}
		var other struct {
			Payload *string `json:"payload"`
			B64     string  `json:"payload_b64"`
		}
		if err := json.Unmarshal(text, &other); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got, _ := base64.StdEncoding.DecodeString(other.B64); other.Payload == nil && !bytes.Equal(got, payload) || other.Payload != nil && *other.Payload != string(payload) {
			t.Fatalf("%q: others read it as %+v", payload, other)
		}
		if line := bytes.TrimSuffix(text, []byte("\n")); bytes.ContainsFunc(line, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x202e }) {
			t.Fatalf("%q: what a terminal obeys is in the file: %s", payload, line)
		}
	})
}

func ExampleDecode() {
	l, err := transfer.Decode([]byte(`{"queue":"orders","place":"delayed","key":"orders:delayed","score":1700000000000,"payload":"{\"order\":53}"}`))
	fmt.Printf("%s %s %s %s %v\n", l.Queue, l.Place, l.Score, l.Payload, err)
	_, err = transfer.Decode([]byte(`{"place":"ready","payload":"{\"order`))
	fmt.Println(err)
	// Output:
	// orders delayed 1700000000000 {"order":53} <nil>
	// column 37: the line ends too early: it is torn
}
