package model

import (
	"context"
	"errors"
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue/demo/scene"
	"redq/queue/payload"
)

// Stage plays scenes: faults that happen before the operator's eyes. Only the demo
// has one, a *scene.Stage.
type Stage interface {
	// Scenes returns what can be played, in the order it is offered.
	Scenes() []scene.Scene
	// Play starts a scene; one that plays is ended first. It may take until ctx ends.
	Play(ctx context.Context, name string) error
	// Line returns what is to be seen now. It does not block.
	Line() scene.Line
}

// Banner explains the scene that plays; its Scene is "" when none does.
type Banner struct {
	scene.Line
	Title string
}

// How often the explanation is asked for, and how long a scene takes to fill its queues.
const (
	sceneEvery = 250 * time.Millisecond
	sceneSetUp = time.Second
)

// Scenes returns what can be played here: nothing but in the demo.
func (m Model) Scenes() []scene.Scene {
	if m.cfg.Stage == nil {
		return nil
	}
	return m.cfg.Stage.Scenes()
}

func (m Model) scene(name string) (scene.Scene, bool) {
	for _, s := range m.Scenes() {
		if s.Name == name {
			return s, true
		}
	}
	return scene.Scene{}, false
}

// runScene reads the argument of `:scene`.
func runScene(m Model, args []string, rest string) (Intent, error) {
	if len(m.Scenes()) == 0 {
		return nil, errors.New("scenes are played by redq demo only")
	}
	if len(args) == 0 {
		return press{ActScenes}, nil
	}
	if _, ok := m.scene(rest); !ok {
		return nil, fmt.Errorf("%s is not a scene: expected one of %s", shown(rest), joinScenes(m.Scenes()))
	}
	return playScene{rest}, nil
}

func joinScenes(all []scene.Scene) string {
	text := ""
	for i, s := range all {
		if i > 0 {
			text += ", "
		}
		text += s.Name
	}
	return text
}

// playScene starts a scene.
func (m Model) playScene(name string) (Model, tea.Cmd) {
	s, _ := m.scene(name)
	m.Dialog = nil
	m.Banner = Banner{scene.Line{Scene: s.Name, Text: s.Explain}, s.Title}
	m.staging++
	stage, gen := m.cfg.Stage, m.staging
	return m, m.request(m.cfg.Timeout, func(ctx context.Context) tea.Msg {
		return scenePlayedMsg{gen: gen, err: stage.Play(ctx, name)}
	})
}

// scenePlayed takes the answer to its start, and begins to ask for the explanation.
func (m Model) scenePlayed(msg scenePlayedMsg) (Model, tea.Cmd) {
	if msg.gen != m.staging {
		return m, nil
	}
	if msg.err != nil {
		m.Banner = Banner{}
		return m.say(StatusError, "the scene cannot be played: "+explain(msg.err))
	}
	m, line := m.sceneDue(sceneDueMsg{m.staging})
	m.scan++ // its queues are new: they are looked for soon, and not only when that is due
	return m, tea.Batch(line, m.after(sceneSetUp, discoverDueMsg{m.scan}))
}

// sceneDue asks for the explanation until the scene is over.
func (m Model) sceneDue(msg sceneDueMsg) (Model, tea.Cmd) {
	if msg.gen != m.staging || m.Banner.Scene == "" {
		return m, nil
	}
	line := m.cfg.Stage.Line()
	if line.Scene == m.Banner.Scene && line.Text != "" {
		line.Text = payload.LineString(line.Text, statusBytes)
		m.Banner.Line = line
	}
	if m.Banner.Done {
		return m, nil
	}
	return m, m.after(sceneEvery, sceneDueMsg{m.staging})
}

// withoutBanner takes the explanation off the screen.
func (m Model) withoutBanner() Model {
	m.Banner = Banner{}
	m.staging++
	return m
}

// SceneDialog offers the scenes of the demo.
type SceneDialog struct {
	DialogHead
	Scenes []scene.Scene
	Cursor int
}

func newSceneDialog(h DialogHead, all []scene.Scene) SceneDialog {
	h.Title = "Scenes"
	return SceneDialog{DialogHead: h, Scenes: all}
}

func (d SceneDialog) withHead(h DialogHead) Dialog {
	d.DialogHead = h
	return d
}

func (d SceneDialog) typing() bool { return false }

func (d SceneDialog) key(k tea.KeyMsg, _ time.Time) (Dialog, Intent) {
	switch k.String() {
	case "down", "j", "tab":
		d.Cursor = min(d.Cursor+1, len(d.Scenes)-1)
	case "up", "k", "shift+tab":
		d.Cursor = max(d.Cursor-1, 0)
	case "esc", "n", "q":
		return d, closeIt{}
	case "enter", "y":
		return d, playScene{d.Scenes[d.Cursor].Name}
	default:
		return noted(d, "enter plays the selected scene, esc does not"), nil
	}
	return d, nil
}
