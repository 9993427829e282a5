package payload

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/vmihailenco/msgpack/v5"

	"redq/queue/payload/hostile"
)

const order = `{"order":1712,"sku":"S-31"}`

func compress(t testing.TB, w io.WriteCloser, out *bytes.Buffer, b []byte) []byte {
	t.Helper()
	_, err := w.Write(b)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zlibbed(t testing.TB, b []byte) []byte {
	var out bytes.Buffer
	return compress(t, zlib.NewWriter(&out), &out, b)
}

func zstdded(t testing.TB, b []byte) []byte {
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	return compress(t, w, &out, b)
}

func packed(t testing.TB, v any) []byte {
	b, err := msgpack.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func java(s string) string {
	return "\xac\xed\x00\x05t" + string([]byte{byte(len(s) >> 8), byte(len(s))}) + s
}

func TestDecode(t *testing.T) {
	pretty := "{\n  \"order\": 1712,\n  \"sku\": \"S-31\"\n}"
	b64 := base64.StdEncoding.EncodeToString
	tests := []struct {
		name   string
		in     string
		chain  string
		pretty string
		note   string
	}{
		{"nothing", "", "empty", "", ""},
		{"text", "Hello-3", "text", "Hello-3", ""},
		{"text with an escape sequence", "\x1b[2Jhello", "text", "\x1b[2Jhello", ""},
		{"number", "130775545883395173", "text", "130775545883395173", ""},
		{"word", "true", "text", "true", ""},
		{"object", order, "json", pretty, ""},
		{"array", "[1,[],{}]", "json", "[\n  1,\n  [],\n  {}\n]", ""},
		{"string", `"hello"`, "json", `"hello"`, ""},
		{"spaces", " { \"a\" :\n1 } ", "json", "{\n  \"a\": 1\n}", ""},
		{"not quite", `{"a":1,}`, "text", `{"a":1,}`, ""},
		{"two", `{}{}`, "text", `{}{}`, ""},
		{"latin-1 in JSON", "{\"a\":\"caf\xe9\"}", "json", "{\n  \"a\": \"caf\xe9\"\n}", ""},
		{"cut", `{"a":[1,"b`, "json", "{\n  \"a\": [\n    1,\n    \"b", "JSON that ends too early"},
		{"binary", "\x00\x01\x02", "binary", "", ""},
		{"latin-1", "caf\xe9", "binary", "", ""},
		{"gzip", string(hostile.Gzip([]byte(order))), "gzip json", pretty, ""},
		{"gzip of nothing", string(hostile.Gzip(nil)), "gzip empty", "", ""},
		{"zlib", string(zlibbed(t, []byte(order))), "zlib json", pretty, ""},
		{"zstd", string(zstdded(t, []byte(order))), "zstd json", pretty, ""},
		{"no zlib", "x^2 + y^2", "text", "x^2 + y^2", ""},
		{"gzip cut", string(hostile.Gzip([]byte(order))[:10]), "gzip", "", "gzip is damaged: unexpected EOF"},
		{"gzip and more", string(hostile.Gzip([]byte("hello"))) + "x", "gzip text", "hello", "gzip is damaged: unexpected EOF"},
		{"zstd broken", "\x28\xb5\x2f\xfd\xff\xff\xff\xff", "zstd", "", "zstd is damaged: reserved bit set on frame header"},
		{"base64", b64([]byte(order)), "base64 json", pretty, ""},
		{"base64 without padding", base64.RawURLEncoding.EncodeToString([]byte("what? is that, ~~~?")), "base64 text", "what? is that, ~~~?", ""},
		{"base64 in lines", b64([]byte(order))[:20] + "\r\n" + b64([]byte(order))[20:] + "\n", "base64 json", pretty, ""},
		{"base64 of gzip", b64(hostile.Gzip([]byte(order))), "base64 gzip json", pretty, ""},
		{"a long word", "HelloWorldHelloWorld", "text", "HelloWorldHelloWorld", ""},
		{"hexadecimal", "deadbeefdeadbeefdeadbeefdeadbeef", "text", "deadbeefdeadbeefdeadbeefdeadbeef", ""},
		{"uuid", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "text", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", ""},
		{"java", java(order), "java json", pretty, ""},
		{"java's own UTF-8", java("a\xc0\x80b\xed\xa0\xbd\xed\xb8\x80\xff"), "java binary", "", ""},
		{"java emoji", java("\xed\xa0\xbd\xed\xb8\x80!"), "java text", "😀!", ""},
		{"java cut", java("hello")[:9], "java text", "he", "java is damaged: unexpected EOF"},
		{"java header", "\xac\xed\x00\x05", "java", "", "java is damaged: unexpected EOF"},
		{"java long string", "\xac\xed\x00\x05|\x00\x00\x00\x00\x00\x00\x00\x02hi", "java text", "hi", ""},
		{"java absurd length", "\xac\xed\x00\x05|\xff\xff\xff\xff\xff\xff\xff\xffhi", "java text", "hi", "java is damaged: unexpected EOF"},
		{"java and more", java("hi") + "xyz", "java text", "hi", "java is damaged: 3 bytes follow the string"},
		{"java object", "\xac\xed\x00\x05sr\x00\x04a.\x1bBxx", "java", "",
			`a serialised Java object: only strings can be shown (class a.\x1bB)`},
		{"msgpack", string(packed(t, []any{1, "a\n\"", nil, true})), "msgpack", "[\n  1,\n  \"a\\n\\\"\",\n  null,\n  true\n]", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := Decode([]byte(tt.in), 0)
			if joinNames(d.Chain) != tt.chain || string(d.Pretty) != tt.pretty || d.Note != tt.note {
				t.Errorf("got  %q %q %q\nwant %q %q %q", d.Chain, d.Pretty, d.Note, tt.chain, tt.pretty, tt.note)
			}
			if d.Encoding != d.Chain[0] {
				t.Errorf("encoding %q, chain %q", d.Encoding, d.Chain)
			}
		})
	}
}

func TestDetectHead(t *testing.T) {
	long := "[" + strings.Repeat(`{"a":"é"},`, 5000) + "1]"
	tests := []struct {
		name string
		in   string
		cut  bool
		want Encoding
	}{
		{"half an object", `{"a":[1,`, true, JSON},
		{"half an object and nothing follows", `{"a":[1,`, false, Plain},
		{"half a rune", "注文\xe3\x82", true, Plain},
		{"half a rune and nothing follows", "注文\xe3\x82", false, Binary},
		{"half a word", `[tru`, true, JSON},
		{"half a number", `[-`, true, JSON},
		{"half an escape", `["\u00`, true, JSON},
		{"half a map", string(packed(t, map[string]int{"answer": 70000}))[:6], true, MsgPack},
		{"half a map and nothing follows", string(packed(t, map[string]int{"answer": 70000}))[:6], false, Binary},
		{"half of base64", base64.StdEncoding.EncodeToString([]byte(order))[:21], true, Base64},
		{"long JSON", long, false, JSON},
		{"long text", strings.Repeat("注文 ", 5000), false, Plain},
	}
	for _, tt := range tests {
		if got := Detect([]byte(tt.in), tt.cut); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestMsgPack(t *testing.T) {
	tests := []struct {
		name string
		in   []byte
		want string
	}{
		{"numbers", packed(t, []any{uint64(math.MaxUint64), int64(math.MinInt64), int8(-1), uint8(200), 0.1, float32(0.1), math.Inf(-1), math.NaN()}),
			"[18446744073709551615,-9223372036854775808,-1,200,0.1,0.1,-Infinity,NaN]"},
		{"bytes", packed(t, []any{[]byte{0xff, 0}}), "[b64(/wA=)]"},
		{"time", packed(t, []any{time.Unix(1, 0).UTC()}), "[ext(-1, AAAAAQ==)]"},
		{"order and duplicates", []byte("\x83\xa1b\x01\xa1a\x02\xa1b\x03"), `{"b":1,"a":2,"b":3}`},
		{"keys of other types", []byte("\x82\x01\xc0\x91\x02\xc3"), `{1:null,[2]:true}`},
		{"string", []byte("\xa5hello"), `"hello"`},
		{"bad UTF-8", []byte("\x91\xa2\xff\x1b"), "[\"\xff\\u001b\"]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Detect(tt.in, false); got != MsgPack {
				t.Errorf("taken for %s", got)
			}
			got, err := renderMsgPack(tt.in, 1000, false)
			if err != nil || string(got) != tt.want {
				t.Errorf("%s, %v; want %s", got, err, tt.want)
			}
		})
	}
	for name, in := range map[string]string{
		"huge array":  "\xdd\xff\xff\xff\xff\x01",
		"huge string": "\xdb\xff\xff\xff\xff\x01",
		"huge binary": "\x91\xc6\xff\xff\xff\xff\x01",
		"huge ext":    "\x91\xc9\xff\xff\xff\xff\x01\x01",
		"more":        "\x91\x01\x01",
		"never used":  "\x91\xc1",
		"nested":      strings.Repeat("\x91", 5000) + "\x01",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := Detect([]byte(in), false)
		runtime.ReadMemStats(&after)
		if made := after.TotalAlloc - before.TotalAlloc; got != Binary || made > 8<<20 {
			t.Errorf("%s: taken for %s, %d bytes allocated", name, got, made)
		}
	}
}

// However much a payload would become, no more than the limit is made of it.
func TestDecodeIsBounded(t *testing.T) {
	const limit = 10_000
	letters := bytes.Repeat([]byte("boom "), 1<<20)
	bomb := hostile.Gzip(letters)
	tests := map[string][]byte{
		"gzip":         bomb,
		"gzip in gzip": hostile.Gzip(hostile.Gzip(hostile.Gzip(bomb))),
		"zlib":         zlibbed(t, letters),
		"zstd":         zstdded(t, letters),
		"brackets":     []byte(strings.Repeat("[", 9000) + strings.Repeat("]", 9000)),
		"too deep":     []byte(strings.Repeat("[", 1<<20)),
		"long JSON":    []byte("[" + strings.Repeat("1,", 1<<20) + "1]"),
		"long text":    bytes.Repeat([]byte("注文"), 1<<20),
		"msgpack":      append([]byte("\xdd\x00\x10\x00\x00"), bytes.Repeat([]byte{0xc0}, 1<<20)...),
		"base64":       []byte(strings.Repeat("aGVsbG8gdGhlcmUh", 1<<16)),
		"java":         []byte("\xac\xed\x00\x05|\x00\x00\x00\x00\x00\x10\x00\x00" + strings.Repeat("a", 1<<20)),
	}
	for name, in := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decode(in, limit)
			if len(d.Pretty) > limit || len(d.Pretty) == 0 {
				t.Errorf("%d bytes of %s", len(d.Pretty), joinNames(d.Chain))
			}
			if !strings.Contains(d.Note, "shown up to 9.8 KiB") {
				t.Errorf("note: %q", d.Note)
			}
		})
	}
}

func TestReadUpToReadsNoMore(t *testing.T) {
	in := bytes.NewReader(make([]byte, 10<<20))
	got, err := readUpTo(in, 1000)
	if len(got) != 1000 || !errors.Is(err, errLimit) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if read := 10<<20 - in.Len(); read > 1001 {
		t.Errorf("%d bytes were read", read)
	}
}

// The indentation of deep nesting must not grow with the square of the depth.
func TestDeepNestingIsShownWhole(t *testing.T) {
	in := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	d := Decode([]byte(in), 0)
	if got := strings.Join(strings.Fields(string(d.Pretty)), ""); got != in || d.Note != "" {
		t.Errorf("%d of %d brackets, note %q", len(got), len(in), d.Note)
	}
}

func TestChainIsBounded(t *testing.T) {
	b := []byte(order)
	for range 20 {
		b = hostile.Gzip(b)
	}
	if d := Decode(b, 0); len(d.Chain) != maxChain || d.Pretty != nil {
		t.Errorf("chain %q, pretty %q", d.Chain, d.Pretty)
	}
}

// Where the limit cuts text, it does so between characters.
func TestLongTextIsCutBetweenRunes(t *testing.T) {
	d := Decode([]byte("注文"), 4)
	if string(d.Pretty) != "注" || d.Note == "" {
		t.Errorf("%q, %q", d.Pretty, d.Note)
	}
}

func TestPreview(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty", "", ""},
		{"text", "a\nb", `a\nb`},
		{"JSON", order, order},
		{"binary", "\x00\x01\xff", `binary: \x00\x01\xff`},
		{"gzip", string(hostile.Gzip([]byte(order))), "gzip: " + order},
		{"gzip of binary", string(hostile.Gzip([]byte{0, 1})), `gzip binary: \x00\x01`},
		{"damaged", "\x28\xb5\x2f\xfd\xff\xff\xff\xff", `zstd: (\xb5/\xfd\xff\xff\xff\xff`},
		{"msgpack", "\x92\x01\xa1a", `msgpack: [1,"a"]`},
		{"java", java(order), "java: " + order},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Preview([]byte(tt.in), 60); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestHex(t *testing.T) {
	b := append([]byte("{\"order\":1712,\"s\x1b\xff\x7f"), bytes.Repeat([]byte{0}, 30)...)
	want := []string{
		"00000000  7b 22 6f 72 64 65 72 22  3a 31 37 31 32 2c 22 73  |{\"order\":1712,\"s|",
		"00000010  1b ff 7f 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|",
		"00000020  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|",
		"00000030  00                                                |.|",
	}
	for from := -1; from < 6; from++ {
		for lines := -1; lines < 6; lines++ {
			start := min(max(from, 0), len(want))
			expected := want[start:min(start+max(lines, 0), len(want))]
			if got := Hex(b, from, lines); !slices.Equal(got, expected) {
				t.Errorf("Hex(%d, %d):\n got %q\nwant %q", from, lines, got, expected)
			}
		}
	}
	if got := HexLines(len(b)); got != len(want) {
		t.Errorf("HexLines: %d", got)
	}
	if got := Hex(b, math.MaxInt, math.MaxInt); got != nil {
		t.Errorf("far beyond the end: %q", got)
	}
}

// What is indented is the same JSON: taking the space away gives the same bytes.
func FuzzDecode(f *testing.F) {
	for _, p := range hostile.Payloads() {
		if len(p.Bytes) < 20_000 {
			f.Add(p.Bytes)
		}
	}
	for _, s := range []string{`{"a":01}`, `[1.]`, `[-]`, `[1e]`, `["\x"]`, `["\u00g0"]`, `[tru]`, `{"a"}`, `{,}`, `[1 2]`, "[\"\x1f\"]", `}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		const limit = 1 << 16
		d := Decode(b, limit)
		if len(d.Pretty) > limit {
			t.Errorf("%d bytes", len(d.Pretty))
		}
		wantSafe(t, Line(d.Pretty, 100), 100, false)
		wantSafe(t, Preview(b, 60), 60, false)
		Detect(b, true)

		err := checkJSON(b)
		trimmed := bytes.TrimLeft(b, " \t\r\n")
		container := len(trimmed) > 0 && strings.IndexByte(`{["`, trimmed[0]) >= 0
		if valid := container && json.Valid(b); valid != (err == nil) {
			t.Fatalf("checkJSON(%q) says %v, json.Valid %v", b, err, valid)
		}
		if err == nil {
			wantSameJSON(t, b)
			for cut := range min(len(b), 500) {
				if err := checkJSON(b[:cut]); !errors.Is(err, errCut) && len(bytes.TrimLeft(b[:cut], " \t\r\n")) > 0 &&
					len(bytes.TrimRight(b[:cut], " \t\r\n")) < len(bytes.TrimRight(b, " \t\r\n")) {
					t.Fatalf("the head %q of %q: %v", b[:cut], b, err)
				}
			}
		}
	})
}

func wantSameJSON(t *testing.T, b []byte) {
	t.Helper()
	pretty, err := indentJSON(b, math.MaxInt)
	if err != nil {
		t.Fatalf("indenting %q: %v", b, err)
	}
	var before, after bytes.Buffer
	if err := errors.Join(json.Compact(&before, b), json.Compact(&after, pretty)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before.Bytes(), after.Bytes()) {
		t.Errorf("%q became %q", before.Bytes(), after.Bytes())
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, p := range hostile.Payloads() {
		switch p.Name {
		case "20-MB-json", "json-digits", "gzip", "msgpack":
			b.Run(p.Name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Decode(p.Bytes, 0)
				}
			})
		}
	}
}
