package model

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"redq/queue"
	"redq/queue/demo/scene"
)

func onStage(t *testing.T, s *fakeStage) *driver {
	t.Helper()
	return start(t, seeded(), func(c *Config) { c.Stage = s })
}

func TestScenesArePlayedAndExplained(t *testing.T) {
	s := &fakeStage{line: scene.Line{Scene: "crash", Text: "first\x1b[2J"}}
	d := onStage(t, s)
	d.commanded("scene crash")
	if !slices.Equal(s.played, []string{"crash"}) || d.m.Banner.Title != "A worker dies" || d.m.Banner.Text == "" {
		t.Fatalf("played %v, banner %+v", s.played, d.m.Banner)
	}
	d.advance(time.Second)
	if b := d.m.Banner; !strings.HasPrefix(b.Text, "first") || strings.Contains(b.Text, "\x1b") {
		t.Fatalf("banner %+v", b)
	}
	s.line = scene.Line{Scene: "crash", Text: "second", Done: true}
	d.advance(time.Second)
	if b := d.m.Banner; b.Text != "second" || !b.Done {
		t.Fatalf("banner %+v", b)
	}
	s.line.Text = "after the end"
	d.advance(10 * time.Second)
	if b := d.m.Banner; b.Text != "second" {
		t.Fatalf("an ended scene goes on: %+v", b)
	}
	d.press("enter esc")
	if d.m.Banner.Scene != "" || d.m.Screen != QueueScreen || !d.m.Layout().Banner.Empty() {
		t.Fatal("esc does not close the explanation first")
	}
}

func TestScenesAreOfferedByKeyAndCommand(t *testing.T) {
	s := &fakeStage{}
	d := onStage(t, s)
	d.press("d")
	g, ok := d.m.Dialog.(SceneDialog)
	if !ok || len(g.Scenes) != 2 {
		t.Fatalf("dialog %T", d.m.Dialog)
	}
	d.press("j enter")
	if !slices.Equal(s.played, []string{"poison"}) || d.m.Dialog != nil {
		t.Fatalf("played %v", s.played)
	}
	d.commanded("scene")
	if _, ok := d.m.Dialog.(SceneDialog); !ok {
		t.Fatal(":scene does not list them")
	}
	d.press("esc")
	if got := d.m.completions("scene "); !slices.Equal(got, []string{"scene crash", "scene poison"}) {
		t.Errorf("completions %q", got)
	}
	d.press(":")
	d.typed("scene nothing")
	d.press("enter")
	if !strings.Contains(d.m.Prompt.Err, "crash, poison") {
		t.Errorf("error %q", d.m.Prompt.Err)
	}
}

// The queues of a scene show up soon, and looking for queues stays one loop.
func TestQueuesOfASceneAreLookedFor(t *testing.T) {
	d := onStage(t, &fakeStage{line: scene.Line{Scene: "crash", Done: true}})
	d.advance(3 * time.Second)
	d.f.queues = append(slices.Clone(d.f.queues), queue.Named("scene:new"))
	d.commanded("scene crash")
	d.advance(2 * time.Second)
	if _, ok := d.m.Row("scene:new"); !ok {
		t.Fatal("the new queue is not there")
	}
	before := d.f.calls["Rediscover"]
	d.advance(30 * time.Second)
	if n := d.f.calls["Rediscover"] - before; n < 2 || n > 3 {
		t.Fatalf("%d scans in 30 s", n)
	}
}

func TestASceneThatCannotBePlayed(t *testing.T) {
	d := onStage(t, &fakeStage{err: errors.New("no room")})
	d.commanded("scene crash")
	d.wantStatus("no room")
	if d.m.Banner.Scene != "" {
		t.Fatalf("banner %+v", d.m.Banner)
	}
}

// Another scene's line, or one that comes late, is not shown under this one's title.
func TestLinesOfOtherScenesAreNotShown(t *testing.T) {
	s := &fakeStage{line: scene.Line{Scene: "crash", Text: "of the crash"}}
	d := onStage(t, s)
	d.commanded("scene poison")
	d.advance(time.Second)
	if b := d.m.Banner; b.Scene != "poison" || b.Text == "of the crash" {
		t.Fatalf("banner %+v", b)
	}
}

func TestThereAreNoScenesOutsideTheDemo(t *testing.T) {
	d := start(t, seeded())
	d.press("d")
	if d.m.Dialog != nil || d.m.Status.Text != "" {
		t.Fatalf("d does something: %T, %q", d.m.Dialog, d.m.Status.Text)
	}
	if slices.Contains(d.m.completions("sc"), "scene") || strings.Contains(d.m.commandNames(), "scene") {
		t.Error("the command line knows scenes")
	}
	for _, g := range d.m.HelpGroups() {
		for _, b := range g.Bindings {
			if b.Help().Key == "d" {
				t.Error("the help knows scenes")
			}
		}
	}
}
