package queuetest

import (
	"context"
	_ "embed"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// Seeds is a file of redis-cli commands that lays down one queue of each pattern
// as other programs leave them.
//
//go:embed testdata/seeds.redis
var Seeds string

// Seed runs Seeds on the server, and then puts off by an hour all that is not due
// yet: the same number is due however slow the machine is.
func Seed(t testing.TB, s *Server) {
	t.Helper()
	Feed(t, s.Client, Seeds)
	for _, put := range []struct {
		key       string
		perSecond int
		since     string // seconds from now
	}{
		{"q-demo", 1000, "0"},
		{"redis-queue", 1000, "0"},
		{"delay-queue", 1, "0"},
		{"reminders:delayed", 1, "-60"}, // the first is due within a second, perhaps by now
	} {
		err := putOff.Run(context.Background(), s.Client, []string{put.key}, put.perSecond, put.since).Err()
		if err != nil && !errors.Is(err, redis.Nil) {
			t.Fatalf("putting off what is due soon: %v", err)
		}
	}
}

// putOff adds an hour to the scores of a sorted set that lie after a moment.
// KEYS[1] the sorted set; ARGV[1] how many of its scores make a second, ARGV[2] seconds from now
var putOff = redis.NewScript(`
local unit, t = tonumber(ARGV[1]), redis.call('TIME')
local from = (t[1] + t[2] / 1000000 + ARGV[2]) * unit
for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], string.format('%.6f', from), '+inf')) do
  redis.call('ZINCRBY', KEYS[1], 3600 * unit, member)
end`)

// Feed runs the lines of a redis-cli command file: words with "…" and '…' quotes
// and redis-cli's escapes. Empty lines are skipped; an error fails the test.
func Feed(t testing.TB, rdb *redis.Client, commands string) {
	t.Helper()
	for line := range strings.Lines(commands) {
		words := splitLine(strings.TrimRight(line, "\r\n"))
		if len(words) == 0 {
			continue
		}
		args := make([]any, len(words))
		for i, w := range words {
			args[i] = w
		}
		if err := rdb.Do(context.Background(), args...).Err(); err != nil && !errors.Is(err, redis.Nil) {
			t.Fatalf("%s: %v", strings.TrimSpace(line), err)
		}
	}
}

// splitLine splits a line into words as redis-cli does.
func splitLine(line string) []string {
	var words []string
	for i := 0; i < len(line); {
		if line[i] == ' ' || line[i] == '\t' {
			i++
			continue
		}
		word, n := nextWord(line[i:])
		words = append(words, word)
		i += n
	}
	return words
}

// nextWord reads one word and tells how many bytes it took.
func nextWord(s string) (word string, n int) {
	var b strings.Builder
	var quote byte
	for n < len(s) {
		c := s[n]
		switch {
		case quote == 0 && (c == ' ' || c == '\t'):
			return b.String(), n
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
			n++
		case quote != 0 && c == quote:
			quote = 0
			n++
		case quote != 0 && c == '\\' && n+1 < len(s):
			text, took := unescape(s[n:], quote)
			b.WriteString(text)
			n += took
		default:
			b.WriteByte(c)
			n++
		}
	}
	return b.String(), n
}

// unescape reads one escape of redis-cli: \xHH, \n \r \t \b \a, or the byte itself.
// Single quotes know \' only.
func unescape(s string, quote byte) (text string, n int) {
	if quote == '\'' {
		if s[1] == '\'' {
			return "'", 2
		}
		return `\`, 1
	}
	if s[1] == 'x' && len(s) >= 4 {
		if v, err := strconv.ParseUint(s[2:4], 16, 8); err == nil {
			return string([]byte{byte(v)}), 4
		}
	}
	if i := strings.IndexByte("nrtba", s[1]); i >= 0 {
		return "\n\r\t\b\a"[i : i+1], 2
	}
	return s[1:2], 2
}
