package payload

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// What an editor is given, and that leaving it alone changes no byte.
func TestFormOf(t *testing.T) {
	for name, c := range map[string]struct{ payload, text string }{
		"compact JSON":        {`{"a":[1,2],"b":{}}`, "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}\n"},
		"digits":              {`[12345678901234567890.10,1e400,-0.0,1E+2,0.10]`, "[\n  12345678901234567890.10,\n  1e400,\n  -0.0,\n  1E+2,\n  0.10\n]\n"},
		"duplicate keys":      {`{"a":1,"a":2,"":3}`, "{\n  \"a\": 1,\n  \"a\": 2,\n  \"\": 3\n}\n"},
		"escapes":             {`["\u00e9\/\u2028<>&","é"]`, "[\n  \"\\u00e9\\/\\u2028<>&\",\n  \"é\"\n]\n"},
		"JSON and line break": {"{\"a\":1}\n", "{\n  \"a\": 1\n}\n"},
		"JSON string":         {`"x"`, "\"x\"\n"},
		"JSON with a blank":   {`{"a": 1}`, `{"a": 1}`},
		"JSON laid out":       {"{\n\t\"a\": 1\n}\n", "{\n\t\"a\": 1\n}\n"},
		"half JSON":           {`{"a":1`, `{"a":1`},
		"a number":            {"1e400", "1e400"},
		"text":                {"Hello", "Hello"},
		"lines":               {"a\nb\n", "a\nb\n"},
		"lines of Windows":    {"a\r\nb", "a\r\nb"},
		"nothing":             {"", ""},
		"other scripts":       {"注文 é\u0301 👩‍🚀", "注文 é\u0301 👩‍🚀"},
	} {
		f, err := FormOf([]byte(c.payload))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if string(f.Text) != c.text {
			t.Errorf("%s: the text is %q, want %q", name, f.Text, c.text)
		}
		// Left alone, with or without the line break that an editor adds.
		for _, left := range []string{c.text, c.text + "\n"} {
			if strings.HasSuffix(c.payload, "\n") && left != c.text {
				continue // a second one is the operator's
			}
			if got, err := f.Payload([]byte(left)); err != nil || string(got) != c.payload {
				t.Errorf("%s: %q became %q, %v, want %q", name, left, got, err, c.payload)
			}
		}
	}
}

func TestFormRefuses(t *testing.T) {
	for name, c := range map[string]struct{ payload, want string }{
		"not UTF-8":         {"ab\xffc", "byte 2 is 0xff"},
		"a zero":            {"a\x00", "byte 1 is the control character 0x00"},
		"an escape":         {"\x1b[2J", "control character 0x1b"},
		"a C1 control":      {"a\u009b", "control character 0x9b"},
		"delete":            {"\x7f", "control character 0x7f"},
		"a lone return":     {"a\rb", "control character 0x0d"},
		"a byte order mark": {"\ufeffa", "byte order mark"},
		"two line breaks":   {"a\r\nb\n", "two kinds"},
	} {
		if _, err := FormOf([]byte(c.payload)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want it to say %q", name, err, c.want)
		}
	}
}

// What an edit becomes, and what does not change with it.
func TestFormPayload(t *testing.T) {
	for name, c := range map[string]struct{ payload, left, want string }{
		"one digit":                  {`{"n":12345678901234567890.10,"m":1e400}`, "{\n  \"n\": 12345678901234567890.11,\n  \"m\": 1e400\n}\n", `{"n":12345678901234567890.11,"m":1e400}`},
		"blanks in strings stay":     {`{"a":1}`, "{ \"a b\" : \" x  y \" }\n", `{"a b":" x  y "}`},
		"the ending stays":           {"{\"a\":1}\n", "{\"a\": 2}", "{\"a\":2}\n"},
		"the ending of Windows":      {"{\"a\":1}\r\n", "{\"a\": 2}\n", "{\"a\":2}\r\n"},
		"not compact before":         {`{"a": 1}`, "{\"a\":  2}\n", `{"a":  2}`},
		"text":                       {"Hello", "Hello you\n", "Hello you"},
		"a line break of one's own":  {"Hello", "Hello\n\n", "Hello\n"},
		"text that ends with one":    {"Hello\n", "Hello you\n", "Hello you\n"},
		"one that was taken away":    {"Hello\n", "Hello you", "Hello you"},
		"text of Windows":            {"a\r\nb", "a\r\nc\r\n", "a\r\nc"},
		"a return is not taken":      {"a", "b\r\n", "b\r"},
		"text may become JSON":       {"Hello", "{ \"a\": 1 }\n", `{ "a": 1 }`},
		"JSON may become a number":   {`{"a":1}`, "1e400\n", "1e400"},
		"JSON may become other JSON": {`{"a":1}`, "[ ]\n", "[]"},
	} {
		f, err := FormOf([]byte(c.payload))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, err := f.Payload([]byte(c.left)); err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
}

func TestFormSaysWhere(t *testing.T) {
	f, err := FormOf([]byte(`{"a":1}`))
	if err != nil {
		t.Fatal(err)
	}
	for left, want := range map[string]string{
		"{\n  \"a\": 1,\n}\n":          "line 3, column 1: expected a name in double quotes",
		"{\n  \"é\": 'x'\n}\n":         "line 2, column 8: expected a value",
		"{\n  \"a\": 1\n":              "line 2, column 9: expected a comma or }",
		"[1 2]":                        "line 1, column 4: expected a comma or ]",
		"{a: 1}":                       "line 1, column 2: expected a name in double quotes or }",
		"{\"a\" 1}":                    "line 1, column 6: expected a colon",
		"{\"a\":1} x":                  "line 1, column 9: expected nothing more",
		"[,1]":                         "line 1, column 2: expected a value or ]",
		"{\"a\":\"x}":                  "line 1, column 6: this string is not closed",
		"{\"a\":\"x\n\"}":              "line 1, column 6: this string holds a line break",
		"{\"a\":\"\\x\"}":              "line 1, column 6: this string holds",
		"{\n\"a\":\"\xe9\"}":           "line 2, column 6: not UTF-8",
		strings.Repeat("[", 20_000):    "line 1, column 10001: nested too deep",
		"":                             "line 1, column 1: expected a value",
		"{\"a\": tru}":                 "line 1, column 7: expected a value",
		"{\"a\": 1.}":                  "line 1, column 7: expected a value",
		"{\"a\": [1, 2}":               "line 1, column 12: expected a comma or ]",
		"{\"a\": 1, \"b\": 2 \"c\":3}": "line 1, column 17: expected a comma or }",
	} {
		_, err := f.Payload([]byte(left))
		var at *SyntaxError
		if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", left, err, want)
		}
		if got := f.AsLeft([]byte(left)); !bytes.Equal(got, bytes.TrimSuffix([]byte(left), []byte("\n"))) {
			t.Errorf("%.40q is left as %.40q", left, got)
		}
	}
}

func TestFormLaid(t *testing.T) {
	compact, _ := FormOf([]byte(`{"a":1}`))
	ended, _ := FormOf([]byte("{\"a\":1}\n"))
	spaced, _ := FormOf([]byte(`{"a": 1}`))
	for _, c := range []struct {
		f             Form
		payload, want string
	}{
		{compact, `{"a":2}`, "{\n  \"a\": 2\n}\n"},
		{compact, `{"a":2`, "{\"a\":2\n"},
		{ended, "{\"a\":2\n", "{\"a\":2\n"},
		{ended, "{\"a\":2}\n", "{\n  \"a\": 2\n}\n"},
		{spaced, `{"a":2}`, `{"a":2}`},
	} {
		if got := c.f.Laid([]byte(c.payload)); string(got) != c.want {
			t.Errorf("%s is laid out as %q, want %q", c.payload, got, c.want)
		}
	}
}

// Any compact JSON comes back from the editor's text as it was, and the text is JSON
// of the same meaning; any text comes back as it was.
func FuzzForm(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2.50,1e400,12345678901234567890.10],"a":{"b":[]},"c":"\u00e9\n"}`, `[]`, `{}`, `"x"`, `[[[[{"":0}]]]]`,
		"[1]\n", "[1]\r\n", `[ 1 ]`, "Hello", "a\r\nb\r\n", "", "\n", "1e400",
		strings.Repeat("[", 60) + strings.Repeat("]", 60),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		form, err := FormOf(b)
		if err != nil {
			return
		}
		if form.JSON && !json.Valid(form.Text) {
			t.Fatalf("%q is laid out as %q, which is no JSON", b, form.Text)
		}
		got, err := form.Payload(form.Text)
		if err != nil || !bytes.Equal(got, b) {
			t.Fatalf("%q became %q, %v", b, got, err)
		}
		var line bytes.Buffer
		if form.JSON && json.Compact(&line, b) == nil {
			again, err := compactJSON(form.Text)
			if err != nil || !bytes.Equal(again, line.Bytes()) {
				t.Fatalf("%q: laid out and brought back it is %q, %v", b, again, err)
			}
		}
	})
}

// JSON that indentation would blow up is edited as it is.
func TestFormIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("lays out 64 MB")
	}
	b := []byte(strings.Repeat("[", 50) + strings.Repeat("1,", 900_000) + "1" + strings.Repeat("]", 50))
	f, err := FormOf(b)
	if err != nil || !f.JSON || !bytes.Equal(f.Text, b) {
		t.Fatalf("%d bytes become %d, %v", len(b), len(f.Text), err)
	}
	if got, err := f.Payload(append(bytes.Clone(b), '\n')); err != nil || !bytes.Equal(got, b) {
		t.Fatalf("left alone it is %d bytes, %v", len(got), err)
	}
}
