package filter

import (
	"bytes"
	"testing"
)

func BenchmarkMatch(b *testing.B) {
	payload := bytes.Repeat([]byte(`{"order":1841,"sku":"S-22","step":"pay"}`), 25_000)
	for name, text := range map[string]string{
		"substring": `"not in there"`, "unicode": `"nöt in there"`, "regexp": "/not in [t]here/", "two": "not_in there_",
	} {
		b.Run(name, func(b *testing.B) {
			m, err := Parse(text)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(payload)))
			b.ReportAllocs()
			for b.Loop() {
				if m.Match(payload) {
					b.Fatal("it is")
				}
			}
		})
	}
}

// BenchmarkMessage is one message of a usual size.
func BenchmarkMessage(b *testing.B) {
	payload := []byte(`{"order":1841,"sku":"S-22","step":"pay","msg":{"user":43,"name":"bob","tags":["a","b"]},` +
		`"at":"2026-01-01T00:00:00Z","try":3,"amount":19.99,"note":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}`)
	for name, text := range map[string]string{
		"size": "size>1k", "substring": "timeout", "regexp": "/time[o]ut/", "jq": ".msg.user == 42",
		"jq function": `.msg.name | test("^a")`, "substring jq": "timeout .msg.user == 42",
	} {
		b.Run(name, func(b *testing.B) {
			m, err := Parse(text)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if m.Match(payload) {
					b.Fatal("it does")
				}
			}
		})
	}
}
