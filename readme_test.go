package main

import (
	"os"
	"strings"
	"testing"

	"redq/queue/demo"
)

// The tour in README leads to the demo's queues by the keys that the demo itself names.
func TestReadmeToursTheDemo(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	d, err := demo.Start(t.Context(), demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, step := range d.Tour() {
		filter, _, _ := strings.Cut(step.Keys, " ")
		if !strings.Contains(string(readme), "`"+filter+"` enter enter") {
			t.Errorf("README does not lead to %s by %s", step.Queue, filter)
		}
		if !strings.Contains(step.Queue, strings.TrimPrefix(filter, "/")) {
			t.Errorf("%s does not find %s", filter, step.Queue)
		}
	}
}
