// Package hostile holds payloads and keys that broke other programs, for the
// tests of everything that shows or moves them. It knows no Redis and no screen.
package hostile

import (
	"bytes"
	"compress/gzip"
	"strings"

	"github.com/vmihailenco/msgpack/v5"
)

// Payload is one hostile payload.
type Payload struct {
	Name  string // fit for t.Run
	Bytes []byte
}

// Large is the size of the largest payload.
const Large = 20 << 20

// Payloads returns fresh copies of all payloads, the largest of 20 MB.
func Payloads() []Payload {
	texts := []struct{ name, text string }{
		{"empty", ""},
		{"space", " "},
		{"osc-52", "\x1b]52;c;cm0gLXJmIH4K\x07copied"},
		{"osc-8-link", "\x1b]8;;http://example.com\x1b\\click\x1b]8;;\x1b\\"},
		{"title", "\x1b]0;owned\x07"},
		{"clear-screen", "\x1b[2J\x1b[Hgone"},
		{"alternate-screen", "\x1b[?1049l\x1b[?25h"},
		{"c1-csi", "\u009b2Jgone"},
		{"c1-bytes", "\x9b2J\x90q\x9c"},
		{"carriage-return", "{\"amount\":9999}\r{\"amount\":1}"},
		{"backspace", "rm -rf /\b\b\b\b\b\b\b\bok      "},
		{"newlines", "one\ntwo\r\nthree\u2028four\u2029five\u0085six\vseven\feight"},
		{"tab", "a\tb"},
		{"nul", "before\x00after"},
		{"delete", "a\x7fb"},
		{"binary", "\x00\x01\x02\xfe\xff\x80\x81PNG\r\n\x1a\n"},
		{"cjk", "注文を確認しました。订单已确认　주문이 확인되었습니다"},
		{"emoji", "ok 👍🏽 👨‍👩‍👧‍👦 🏳️‍🌈 🇩🇪🇯🇵 1️⃣ ❤️"},
		{"right-to-left", "سلام עולם hello"},
		{"bidi-override", "invoice\u202efdp.exe\u202c \u2066x\u2069 \u200f\u061c"},
		{"zero-width", "or\u200bders \ufeff so\u00adft no\u2060break a\u200db"},
		{"tag-characters", "hi\U000e0041\U000e0042"},
		{"variation", "a\ufe00b\U000e0100"},
		{"combining-flood", "z" + strings.Repeat("\u0301\u0489", 200) + "algo"},
		{"leading-combining", "\u0301\u20e3x"},
		{"private-use", "\ue000\uf8ff\U000f0000\uffff\U0010ffff"},
		{"invalid-utf8", "caf\xe9 \xc3\x28 \xed\xa0\x80 \xf8\x88\x80\x80\x80 \xc0\xaf \xe2\x82"},
		{"replacement", "real \ufffd replacement"},
		{"backslashes", `C:\new\x1b \u202e "quoted" 'single'`},
		{"markup", `<script>&amp;</script>` + "\u2028"},
		{"json-digits", `{"id":12345678901234567890,"pi":3.14159265358979323846264338327950288,"e":1E+400,"zero":-0.0}`},
		{"json-duplicates", `{"a":1,"b":2,"a":3,"":{},"c":[]}`},
		{"json-escapes", `{"k\u0065y":"\ud83d\ude00\/\u0000\ud800","b":"\b\f\n\r\t"}`},
		{"json-spaces", " \t\r\n{ \"a\" : [ 1 , 2 ] , \"b\" : { } }\n"},
		{"json-broken", `{"a":1,"b":[1,2,`},
		{"json-escape-sequence", "{\"a\":\"\x7f\u009b2J\u202e\"}"},
		{"number", "130775545883395173"},
		{"long-line", strings.Repeat("0123456789abcdef", 8<<10)},
		{"deep-nesting", strings.Repeat("[", 5000) + strings.Repeat("]", 5000)},
		{"deeper-nesting", strings.Repeat(`{"a":[`, 100_000)},
		{"java-string", "\xac\xed\x00\x05t\x00\x0d{\"order\":1712"},
		{"java-object", "\xac\xed\x00\x05sr\x00\x11java.util.HashMap\x05\x07\xda\xc1\xc3\x16`\xd1"},
		{"base64", "eyJvcmRlciI6MTcxMiwic2t1IjoiUy0zMSJ9"},
		{"zlib-cut", "\x78\x9c\xab\x56\xca"},
		{"zstd-broken", "\x28\xb5\x2f\xfd\xff\xff\xff\xff"},
	}
	var all []Payload
	for _, t := range texts {
		all = append(all, Payload{t.name, []byte(t.text)})
	}
	return append(all,
		Payload{"every-byte", everyByte()},
		Payload{"gzip", Gzip([]byte(`{"order":1712}`))},
		Payload{"gzip-bomb", Gzip(make([]byte, 4<<20))},
		Payload{"gzip-cut", Gzip(bytes.Repeat([]byte("payload "), 100))[:20]},
		Payload{"msgpack", MsgPack()},
		Payload{"msgpack-huge-length", []byte("\xdd\xff\xff\xff\xff\xdb\xff\xff\xff\xff")},
		Payload{"20-MB-json", largeJSON()},
		Payload{"20-MB-binary", bytes.Repeat([]byte{0, 0x1b, 0x9b, 0xff}, Large/4)},
	)
}

// Keys returns names that Redis allows and programs choke on.
func Keys() []string {
	return []string{
		"with space", " ", "new\nline", "tab\t", "\x1b[2Jkey", "\xff\xfe", "nul\x00key", "注文:delayed",
		"\u202egnihton", "a{b}c", "*?[x]", `quote"'\`, "or\u200bders", "👨‍👩‍👧‍👦", strings.Repeat("long", 300),
	}
}

// Gzip compresses b.
func Gzip(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	// A bytes.Buffer takes everything.
	_, _ = w.Write(b)
	_ = w.Close()
	return out.Bytes()
}

// MsgPack returns a map with a number that no double holds and with bytes.
func MsgPack() []byte {
	b, err := msgpack.Marshal(map[string]any{"id": uint64(1<<63 + 1), "raw": []byte{0xff, 0}, "text": "\x1b[2J"})
	if err != nil {
		panic(err) // the value is fixed
	}
	return b
}

func everyByte() []byte {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

func largeJSON() []byte {
	element := []byte(`{"id":12345678901234567890,"note":"\u202e \"\\"},`)
	b := append([]byte("["), bytes.Repeat(element, Large/len(element)+1)...)
	b[len(b)-1] = ']'
	return b
}
