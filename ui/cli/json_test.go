package cli

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"unicode"

	"redq/queue"
)

func TestScoreJSON(t *testing.T) {
	for in, want := range map[queue.Score]string{
		"1700000000000":          `1700000000000`,
		"1700000000.123456":      `1700000000.123456`,
		"-5":                     `-5`,
		"1.0000000000000001e+20": `1.0000000000000001e+20`,
		"inf":                    `"inf"`,
		"-inf":                   `"-inf"`,
		"nan":                    `"nan"`,
		"":                       `""`,
		"0x10":                   `"0x10"`,
	} {
		if got := string(scoreJSON(in)); got != want {
			t.Errorf("scoreJSON(%q) = %s, want %s", in, got, want)
		}
	}
}

func FuzzWriteJSONHidesNothingFromReaders(f *testing.F) {
	for _, s := range []string{"plain", "a\x1b[2J", "\u009b2J", "\u202e", "\U000e0041", "\x7f", "\u2028", "<&>", `"\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var out bytes.Buffer
		if err := writeJSON(&out, []string{s}); err != nil {
			t.Fatal(err)
		}
		line := bytes.TrimSuffix(out.Bytes(), []byte("\n"))
		for _, r := range string(line) {
			if !unicode.IsGraphic(r) {
				t.Errorf("%q is written as %s", s, line)
			}
		}
		var back []string
		if err := json.Unmarshal(line, &back); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		want, err := json.Marshal([]string{s}) // replaces what is no valid UTF-8
		if err != nil {
			t.Fatal(err)
		}
		var same []string
		if err := json.Unmarshal(want, &same); err != nil || !reflect.DeepEqual(back, same) {
			t.Errorf("%q reads back as %q", same, back)
		}
	})
}
