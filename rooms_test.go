package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// What a room may not know. Arrows go one way: main -> ui -> model -> queue, ui -> styles.
var forbidden = []struct {
	room   string // folder and all below it
	except string // a folder below room that is free to
	not    []string
}{
	{"queue", "", []string{"redq/model", "redq/ui", "redq/styles", "github.com/charmbracelet/"}},
	{"queue/payload", "", []string{"redq/queue/journal", "redq/queue/layout", "github.com/redis/"}},
	{"model", "", []string{"redq/ui", "redq/styles", "github.com/charmbracelet/lipgloss", "github.com/redis/", "os"}},
	{"styles", "", []string{"redq/"}},
	{"ui", "ui/cli", []string{"github.com/redis/"}},
}

func TestArrowsBetweenRoomsGoOneWay(t *testing.T) {
	seen := map[string]int{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, rule := range forbidden {
			if !within(path, rule.room) || rule.except != "" && within(path, rule.except) {
				continue
			}
			seen[rule.room]++
			for _, spec := range file.Imports {
				imported, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					return err
				}
				for _, not := range rule.not {
					if imported == not || strings.HasSuffix(not, "/") && strings.HasPrefix(imported, not) || strings.HasPrefix(imported, not+"/") {
						t.Errorf("%s imports %s, which %s must not know", path, imported, rule.room)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range forbidden {
		if seen[rule.room] == 0 {
			t.Errorf("no file in %s was looked at", rule.room)
		}
	}
}

func within(path, room string) bool {
	return strings.HasPrefix(filepath.ToSlash(path), room+"/")
}
