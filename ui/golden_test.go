package ui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/muesli/termenv"
)

// sizes are those every page is looked at.
var sizes = [][2]int{{40, 12}, {80, 24}, {120, 36}, {200, 50}}

// A state is what the server is like.
type state struct {
	name string
	open func(t testing.TB) *dashboard
	// pages are the scenes that exist in it.
	pages []string
}

func states() []state {
	queuePages := []string{"overview", "ready", "backup", "delayed", "message", "message-delayed"}
	consumerPages := []string{"consumer", "consumer-several", "consumers"}
	return []state{
		{"empty", func(t testing.TB) *dashboard { return plain(t, emptyServer()) }, []string{"overview", "consumer-empty"}},
		{"loading", func(t testing.TB) *dashboard {
			return newDashboard(t, normalServer(), testTheme(termenv.Ascii, true))
		}, []string{"overview"}},
		{"normal", func(t testing.TB) *dashboard {
			d := plain(t, normalServer())
			d.live(130)
			return d
		}, slices.Concat(queuePages, consumerPages, []string{"consume", "consumer-loading", "consumer-failed", "consumers-loading", "consumers-unreadable", "leave"})},
		{"down", func(t testing.TB) *dashboard {
			d := plain(t, normalServer())
			d.live(60)
			return d
		}, slices.Concat(queuePages, consumerPages)},
		{"hostile-consumers", func(t testing.TB) *dashboard { return plain(t, hostileServer(), staged) }, []string{"consume", "consumer-hostile", "consumers-hostile", "leave"}},
		{"hostile", func(t testing.TB) *dashboard { return plain(t, hostileServer(), readOnly, demo) }, []string{"overview", "backup", "delayed", "message"}},
	}
}

func (d *dashboard) goDown() {
	d.fake.down = errors.New("dial tcp 10.0.3.7:6379: connect: connection refused")
	d.advance(5 * time.Second)
}

func sceneNamed(t testing.TB, name string) scene {
	for _, s := range scenes() {
		if s.name == name {
			return s
		}
	}
	t.Fatalf("no scene %q", name)
	return scene{}
}

// Each page in each state at each size, without colours.
func TestPages(t *testing.T) {
	for _, st := range states() {
		for _, page := range st.pages {
			for _, size := range sizes {
				w, h := size[0], size[1]
				t.Run(fmt.Sprintf("%s/%s/%dx%d", page, st.name, w, h), func(t *testing.T) {
					d := st.open(t)
					d.resize(w, h)
					sceneNamed(t, page).setup(d)
					if st.name == "down" {
						d.goDown()
					}
					requireFrame(t, d.frame(), w, h)
				})
			}
		}
	}
}

// The other scenes once each.
func TestScenes(t *testing.T) {
	for _, s := range scenes() {
		t.Run(s.name, func(t *testing.T) {
			var options []option
			if strings.HasPrefix(s.name, "scene") {
				options = append(options, staged)
			}
			d := plain(t, normalServer(), options...)
			d.live(30)
			d.resize(80, 24)
			s.setup(d)
			requireFrame(t, d.frame(), 80, 24)
		})
	}
}

func requireFrame(t *testing.T, frame string, w, h int) {
	t.Helper()
	checkFrame(t, frame, w, h)
	golden.RequireEqual(t, []byte(ansi.Strip(frame)+"\n"))
}

// The same frame in the colours of each kind of terminal.
func TestColours(t *testing.T) {
	for name, profile := range map[string]termenv.Profile{
		"truecolor": termenv.TrueColor, "256": termenv.ANSI256, "16": termenv.ANSI, "none": termenv.Ascii,
	} {
		for _, ground := range []string{"dark", "light"} {
			t.Run(name+"/"+ground, func(t *testing.T) {
				d := open(t, normalServer(), testTheme(profile, ground == "dark"))
				d.live(30)
				d.resize(100, 30)
				d.press("enter 2 j space j")
				checkFrame(t, d.frame(), 100, 30)
				golden.RequireEqual(t, []byte(d.frame()))
			})
		}
	}
}
