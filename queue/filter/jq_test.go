package filter

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/itchyny/gojq"
	"github.com/klauspost/compress/zstd"
	"github.com/vmihailenco/msgpack/v5"
)

func TestJQ(t *testing.T) {
	const order = `{"id":130775545883395173,"msg":{"user":42,"name":"Bob \"B\"","tags":["a","b"]},` +
		`"huge":123456789012345678901234567890,"price":19.99,"try":3,"ok":false,"none":null,"id":130775545883395174}`
	for _, c := range []struct {
		filter, payload string
		want            bool
	}{
		{".msg.user == 42", order, true},
		{"!.msg.user == 42", order, false},
		{".msg.user == 43", order, false},
		{"!.msg.user == 43", order, true},
		{".id == 130775545883395174", order, true}, // the last of two, as in jq
		{".id == 130775545883395173", order, false},
		{".id == 130775545883395173", `{"id":130775545883395173}`, true},
		{".id == 130775545883395172", `{"id":130775545883395173}`, false},
		{".huge == 123456789012345678901234567890", order, true},
		{".huge == 123456789012345678901234567891", order, false},
		{".huge + 1 == 123456789012345678901234567891", order, true},
		{".huge > 123456789012345678901234567889", order, true},
		{".price == 19.99", order, true},
		{".price > 19.9 and .try < 4", order, true},
		{".ok", order, false},
		{"!.ok", order, true},
		{".none", order, false},
		{".try", order, true},
		{".try, false", order, true},
		{"jq:false, .try", order, false},
		{".msg.tags[]", order, true},
		{".msg.tags | length > 5", order, false},
		{"jq:empty", order, false},
		{"!jq:empty", order, true},
		{".. | strings | select(test(\"^Bob\"))", order, true},
		{".msg.tags | contains([\"b\"])", order, true},
		{".msg.name == \"Bob \\\"B\\\"\"", order, true},
		{"jq:.msg.user==42", order, true},
		{"jq: \"\\(.msg.user)\" == \"42\"", order, true},
		{"jq: [.try, .price] | add > 22", order, true},
		{".msg | has(\"user\")", order, true},
		{".msg.tags == [\"a\", \"b\"]", order, true},
		{".msg.tags | sort_by(.) | first == \"a\"", order, true},
		{".msg.tags | join(\",\") == \"a,b\"", order, true},
		{".msg | del(.user) | keys == [\"name\", \"tags\"]", order, true},
		{".msg | with_entries(select(.value == 42)) == {user: 42}", order, true},
		{".try * 2 == 6", order, true},
		{".try | tostring == \"3\"", order, true},
		{".[\"try\"] == 3", order, true},
		{". as {$try} | $try == 3", order, true},
		{"jq:'.try == 3' bob", order, true},
		{"!jq:'.try == 3' bob", order, false},
		{"jq:'.try == 3' alice", order, false},
		{"bob size>10 .try == 3", order, true},
		{"! jq: .try == 4", order, true},
		{"jq: fromjson | .a == 1", `"{\"a\":1}"`, true},
		{".a?", `"text"`, false},
		{"jq:. == 42", "42", true},
		{"jq:. == -0.5e1", " -5 ", true},
		{"jq:.", "true", true},
		{"jq:.", "null", false},
		{".a == 1e400", `{"a":1e400}`, true},
		{".a == \"\ufffd\"", "{\"a\":\"\xff\"}", true},
		{".a | test(\"x\")", `{"a":"` + strings.Repeat("y", 1<<20) + `x"}`, true},
		{".n", `{"n":"` + strings.Repeat("7", 5000) + `"}`, true},
	} {
		got, err := decide(parse(t, c.filter), c.payload)
		if err != nil || got != c.want {
			t.Errorf("%q on %.80q is %v, %v; want %v", c.filter, c.payload, got, err, c.want)
		}
	}
}

// What stands before the functions of gojq does not change what they answer.
func TestTheFenceChangesNothing(t *testing.T) {
	var doc any
	dec := json.NewDecoder(strings.NewReader(`{"a":{"b":[3,1,2,{"c":null}]},"s":"x-y-z","n":7,"big":98765432109876543210,"t":[["k",1],["l",2]]}`))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{
		".a == .a", ".a.b < .t", ".n * 3 + .n - .n / 7", ".n * .n", "{a: 1} * {b: {c: 2}} * .a", ".big * .big", ".big - .n, .big % .n",
		"(1, 2) + (10, 20)", "(1, 2) * (10, 20)", "(1, 2) - (10, 20)", "((1, 2) == (2, 1))", ".s + .s", ".t + [1]", ".a + {d: 1}",
		`"\(.n)-\(.a)-\("x\(.s)")"`, `@base64 "a\(.s)b"`, "@json", ".a | @text", `.s | @uri, @html, @base64, (@base64 | @base64d)`,
		"tojson", "tojson | fromjson == .", ".n | tostring | tonumber", `.s | split("-") | join("+")`, `.s / "-"`, `.s | split("-"; null)`,
		".a.b[:3] | sort, min, max, add, unique, reverse, (sort_by(-.) | first), group_by(. > 1), flatten(1)",
		".t | map({(.[0]): .[1]}) | add", `.t | INDEX(.[0])`, `.n | IN(1, 7)`, `.a.b | index(1), indices(2), contains([3]), (map(tostring) | inside(["3"]))`,
		"[paths]", "[path(..)] | length", `[path(getpath(["a", "b"]))]`, `getpath(["a", "b", 0])`, "[paths(type == \"number\")]", "del(.a.b[] | select(. == 3))",
		"delpaths([[\"a\"], [\"n\"]])", "del(.a, .t[0])", "to_entries, with_entries(select(.key != \"a\"))", "walk(if type == \"number\" then . + 1 else . end)",
		`.s | test("Y"; "i"), [match("[a-z]"; "g").string], capture("(?<first>.)"), [scan(".")], gsub("-"; "_"), sub("(?<l>.)"; "\(.l)\(.l)")`,
		"reduce .a.b[:3][] as $x (0; . + $x)", "[foreach (1, 2, 3) as $x (0; . + $x; [$x, .])]", "[limit(3; repeat(1))]", "def f($x; g): $x + g; f(1; 2)",
		"def sort: 5; [2, 1] | sort", "[.[\"s\", \"n\"]]", ". as {$n, (\"s\"): $y} | [$n, $y]", ". as [$x] ?// {$n} | $n", ".a?.b?[0]?", "try error(\"x\") catch .",
		"try (.n | keys) catch .", ".a.b[1:] | .[0], first, last", "label $out | 1, break $out, 2", "[.. | numbers] | length", "tostream", "[splits(\"a\")?]",
		"if .n == .n then \"y\" else \"z\" end", ".n as $n | .a.b | map(numbers | . == $n) | any", ".t | map(first) | @csv, @tsv, @sh",
		"[.a.b[] | numbers] | bsearch(3), min_by(-.), max_by(-.), unique_by(. % 2)", "ltrimstr(\"a\")?", ".s | explode | implode | ascii_upcase | ascii_downcase",
	} {
		query, err := gojq.Parse(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		plain, err := gojq.Compile(query)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		fenced, wrong := compile("[" + source + "]")
		if wrong != nil {
			t.Errorf("%s: %+v", source, wrong)
			continue
		}
		want, got := []any{}, fenced.code.Run(doc)
		outputs := plain.Run(doc)
		for v, ok := outputs.Next(); ok; v, ok = outputs.Next() {
			want = append(want, v)
		}
		if v, _ := got.Next(); gojq.Compare(v, want) != 0 {
			t.Errorf("%s: %v, want %v", source, v, want)
		}
	}
}

func TestJQReadsEveryEncoding(t *testing.T) {
	type message struct {
		ID   uint64         `msgpack:"id"`
		Data []byte         `msgpack:"data"`
		Nums map[int]string `msgpack:"nums"`
		NaN  float64        `msgpack:"nan"`
		When time.Time      `msgpack:"when"` // an extension
	}
	packed, err := msgpack.Marshal(message{ID: 1<<64 - 1, Data: []byte{1, 2}, Nums: map[int]string{7: "x,\"]"}, NaN: math.NaN(), When: time.Unix(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(`{"id":18446744073709551615,"data":"AQI=","nums":{"7":"x,\"]"}}`)
	zip := func(b []byte) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, _ = w.Write(b)
		_ = w.Close()
		return out.Bytes()
	}
	deflate := func(b []byte) []byte {
		var out bytes.Buffer
		w := zlib.NewWriter(&out)
		_, _ = w.Write(b)
		_ = w.Close()
		return out.Bytes()
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	m := parse(t, `.id == 18446744073709551615 and .data == "AQI=" and .nums["7"] == "x,\"]" and .nan == null`)
	for name, b := range map[string][]byte{
		"json":         text,
		"msgpack":      packed,
		"gzip":         zip(text),
		"gzip msgpack": zip(packed),
		"zlib":         deflate(text),
		"zstd":         enc.EncodeAll(text, nil),
		"zstd msgpack": enc.EncodeAll(packed, nil),
		"base64":       []byte(base64.StdEncoding.EncodeToString(text)),
		"gzip base64":  zip([]byte(base64.StdEncoding.EncodeToString(text))),
	} {
		ok, err := decide(m, string(b))
		if err != nil || !ok {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
}

func TestJQIsUndecidedOnWhatItCannotRead(t *testing.T) {
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	for range 20 {
		_, _ = w.Write(append([]byte(`"`), bytes.Repeat([]byte("a"), 1<<20)...))
	}
	_ = w.Close()
	for name, c := range map[string]struct{ filter, payload, want string }{
		"text":          {".a", "hello", "not JSON"},
		"empty":         {".a", "", "empty, not JSON"},
		"binary":        {".a", "\x00\x01\x02\xff\xfe", "binary, not JSON"},
		"cut":           {".a", `{"a":1,"b":`, "not JSON"},
		"two":           {".a", `{"a":1}{"a":2}`, "not JSON"},
		"escape":        {".a", "{\x1b[2J}", `\`},
		"wrong type":    {".a", `[1]`, "jq: "},
		"iterate":       {".[]", `5`, "cannot iterate"},
		"error":         {".a | error", `{"a":"boom\u001b[2J"}`, "boom"},
		"big error":     {". | error", `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, "..."},
		"null error":    {". | error(null)", `{}`, "null"},
		"bomb":          {".a", bomb.String(), "shown up to"},
		"damaged":       {".a", bomb.String()[:100], "damaged"},
		"deep":          {".a", strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), "depth"},
		"deep object":   {".a", strings.Repeat(`{"a":`, 50_000) + "1" + strings.Repeat("}", 50_000), "depth"},
		"large":         {".a", `{"a":"` + strings.Repeat("x", 20<<20) + `"}`, "longer than 8 MiB"},
		"many":          {".a", "[" + strings.Repeat("[],", 2<<20) + "1]", "values"},
		"long number":   {".a == 1", `{"a":` + strings.Repeat("7", 1<<20) + `}`, "digits"},
		"long integer":  {"jq: tonumber == 1", `"` + strings.Repeat("7", 1<<20) + `"`, "too long"},
		"long inside":   {"jq: fromjson == 1", `"` + strings.Repeat("7", 1<<20) + `"`, "too large"},
		"repeated text": {".price * .n > 100", `{"price":"` + strings.Repeat("x", 100) + `","n":1e8}`, "multiplied"},
		"joined":        {".a | join(.[0]) == \"\"", `{"a":["` + strings.Repeat("x", 1<<20) + `",2]}`, "too long"},
	} {
		for _, text := range []string{c.filter, "!" + c.filter} {
			ok, err := decide(parse(t, text), c.payload)
			if ok || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %q gives %v, %v; want %q", name, text, ok, err, c.want)
			}
			if err != nil && (len(err.Error()) > 300 || strings.ContainsRune(err.Error(), 0x1b)) {
				t.Errorf("%s: not safe to print: %q", name, err)
			}
		}
	}
}

func TestJQIsStopped(t *testing.T) {
	before := heap()
	for name, filter := range map[string]string{
		"loop":          "jq: def f: f; f",
		"deep":          "jq: def f: [f]; f",
		"collect":       "jq: [range(1e9)]",
		"repeat":        "jq: last(repeat(1))",
		"never":         "jq: first(repeat(empty))",
		"until":         "jq: until(false; . + 1)",
		"caught":        "jq: def f: try f catch f; f",
		"recurse":       "jq: [recurse([., .])] | length",
		"combine":       "jq: [range(1e5)] | [., ., ., .] | [combinations] | length",
		"texts":         `jq: [range(1e6) | "\(.)xxxxxxxxxxxxxxxxxxxxxxxx"] | length`,
		"squares":       "jq: 1234567 | until(false; . * .)",
		"doubled text":  `jq: "ab" | until(false; . + .)`,
		"doubled array": `jq: [1, 2] | until(false; . + .)`,
		"kept texts":    `jq: (reduce range(19) as $i ("xx"; . + .)) as $x | [range(1e9) | $x + "y"]`,
		"laughs shown":  "jq: reduce range(60) as $i (1; [., .]) | tojson",
		"laughs equal":  "jq: reduce range(60) as $i (1; [., .]) | . == [.[0], .[1]]",
		"laughs sorted": "jq: reduce range(60) as $i (1; [., .]) | sort",
		"laughs inside": `jq: reduce range(60) as $i (1; [., .]) | "\(.)"`,
		"laughs thrown": "jq: reduce range(60) as $i (1; [., .]) | error",
		"laughs added":  "jq: reduce range(60) as $i ({}; {a: ., b: .}) | . * .",
		"repeated":      `jq: "x" * 1e9`,
		"deep printed":  "jq: reduce range(1e5) as $i (1; [.]) | tojson",
		"index":         "jq: (.[1e9] | not) and ([limit(3; repeat(1))] | flatten(1e9) | length) == 4 | error",
	} {
		start := time.Now()
		ok, err := decide(parse(t, filter), "{}")
		if ok || err == nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
		t.Logf("%s: %v after %v", name, err, time.Since(start))
	}
	if grown := heap() - before; grown > 64<<20 {
		t.Errorf("%d MiB are still in use", grown>>20)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A function of gojq cannot be interrupted: it is left to itself.
func TestJQDoesNotWaitForAFunction(t *testing.T) {
	// Each match counts the characters in front of it.
	b := `"` + strings.Repeat("a ", 20_000) + `"`
	m := parse(t, `jq: [scan("a")] | length == 5`)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		time.Sleep(10 * time.Millisecond)
		cancel()
	}()
	ok, err := m.Decide(ctx, Subject{Payload: []byte(b), Size: int64(len(b))})
	if ok || err == nil {
		t.Fatalf("%v, %v", ok, err)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
	// What was left to itself has to end before the others count goroutines.
	slow := m.terms[0].condition.(*program).slow
	for range maxSlow {
		slow <- struct{}{}
	}
}

func TestJQHeedsTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, text := range []string{"jq: def f: f; f", `jq: def f: f; f | test("a")`} {
		if _, err := parse(t, text).Decide(ctx, Subject{Payload: []byte("{}"), Size: 2}); !errors.Is(err, context.Canceled) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestJQIsUsedByManyAtOnce(t *testing.T) {
	m := parse(t, `.a | test("^x+$") and (. | length) == 3`)
	errs := make(chan error, 16)
	for range cap(errs) {
		go func() {
			var err error
			for range 50 {
				ok, e := decide(m, `{"a":"xxx"}`)
				if e == nil && !ok {
					e = errors.New("no match")
				}
				err = errors.Join(err, e)
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func TestStoppedIsTold(t *testing.T) {
	_, err := decide(parse(t, "jq: def f: f; f"), "1")
	if !errors.Is(err, ErrStopped) {
		t.Error(err)
	}
}
