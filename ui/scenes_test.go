package ui

import (
	"errors"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"redq/queue"
)

// scene is a state of the program, made by its keys.
type scene struct {
	name  string
	setup func(*dashboard)
}

// scenes are all pages, modes and dialogs.
func scenes() []scene {
	keys := func(s string) func(*dashboard) { return func(d *dashboard) { d.press(s) } }
	return []scene{
		{"overview", keys("")},
		{"overview-filter", func(d *dashboard) { d.press("/"); d.typed("a"); d.press("left") }},
		{"filter", keys("enter 2 /")},
		{"filter-wrong", func(d *dashboard) { d.press("enter 2 /"); d.typed("timeout size>big !1799") }},
		{"filter-wrong-jq", func(d *dashboard) { d.press("enter 2 /"); d.typed(".nested.amount == 12.5 timeout") }},
		{"filter-wrong-command", func(d *dashboard) {
			d.press("enter 2 :")
			d.typed("filter timeout age>old")
			d.press("enter")
		}},
		{"filter-searching", func(d *dashboard) {
			d.press("enter 2 /")
			d.typed("timeout")
			d.hold = true
			d.press("enter")
		}},
		{"filter-found", func(d *dashboard) {
			d.press("enter 2 /")
			d.typed("timeout !1799 .nested.amount == 12.5")
			d.press("enter j")
		}},
		{"filter-nothing", func(d *dashboard) { d.press("enter 2 /"); d.typed("no such thing"); d.press("enter") }},
		{"filter-undecided", func(d *dashboard) { d.press("enter 2 /"); d.typed(".sku - 1 == 0"); d.press("enter") }},
		{"help-messages", keys("enter 2 ?")},
		{"command", func(d *dashboard) { d.press(":"); d.typed("so") }},
		{"help", keys("?")},
		{"undo", keys("u")},
		{"ready", keys("enter")},
		{"backup", keys("enter 2 j space j")},
		{"delayed", keys("enter 3 j j")},
		{"dead", keys("enter 4")},
		{"enqueue", func(d *dashboard) {
			d.press("enter n")
			d.typed(`{"a":1}`)
			d.press("ctrl+j")
			d.typed("x")
			d.press("tab")
			d.typed("5m")
		}},
		{"redrive", keys("enter 2 r")},
		{"redrive-marked", keys("enter 2 * r")},
		{"redrive-to-list", func(d *dashboard) {
			d.press("enter 4 r s t t tab tab tab tab tab tab tab")
			d.typed("mail-batch")
		}},
		{"redrive-delayed", func(d *dashboard) {
			d.press("enter 4 r s o t r")
			d.typed("50/s")
			d.press("tab")
			d.typed("20")
			d.press("tab w")
			d.typed("5m")
			d.press("tab")
			d.typed("1h")
		}},
		{"move", keys("enter 1 r s")},
		{"look", func(d *dashboard) { d.fake.jobs.looks = true; d.press("enter 4 r s y") }},
		{"look-nothing", func(d *dashboard) { d.fake.jobs.none = true; d.press("enter 4 D s y") }},
		{"review", keys("enter 4 r s y")},
		{"review-rate", func(d *dashboard) {
			d.press("enter 4 r s r")
			d.typed("50")
			d.press("tab tab y")
		}},
		{"job", func(d *dashboard) {
			d.press("enter 4 r s y y")
			d.advance(12 * time.Second)
		}},
		{"job-paused", func(d *dashboard) {
			d.fake.jobs.died = true
			d.press("enter 4 r s y y")
			d.advance(12 * time.Second)
		}},
		{"job-waiting", func(d *dashboard) {
			d.press("enter 4 r s y y")
			d.advance(12 * time.Second)
			d.goDown()
		}},
		{"jobs", func(d *dashboard) {
			d.press("enter 4 r s y y 2 X")
			d.typed("orders")
			d.press("enter y")
			d.advance(12 * time.Second)
			d.press("J x k")
			d.advance(time.Second)
		}},
		{"leave-jobs", func(d *dashboard) {
			d.press("enter 4 r s y y")
			d.advance(12 * time.Second)
			d.send(tea.KeyMsg{Type: tea.KeyCtrlC})
		}},
		{"delete", keys("enter 2 space j space D")},
		{"export", keys("enter 4 w tab")},
		{"export-queue", keys("w")},
		{"delete-all", keys("enter 2 D s")},
		{"reschedule-all", func(d *dashboard) {
			d.press("enter 3 t")
			d.typed("by 10m")
			d.press("enter s s")
		}},
		{"purge", func(d *dashboard) { d.press("enter 2 X"); d.typed("ord") }},
		{"reschedule", func(d *dashboard) { d.press("enter 3 j t"); d.typed("1h") }},
		{"message", keys("enter 2 j enter")},
		{"message-hex", keys("enter 2 j enter o o")},
		{"message-delayed", keys("enter 3 enter")},
		{"message-failed", func(d *dashboard) {
			d.fake.failed = queue.Failed{First: epoch.Add(-4 * time.Minute)}
			d.fake.failed.Attempts, d.fake.failed.Reason = 3, "dial tcp 10.0.0.8:443: connect: connection refused"
			d.press("enter 2 enter")
		}},
		{"consumers", func(d *dashboard) {
			d.fake.consumers = attendedBy(d.fake.now)
			d.press("enter 5 j")
		}},
		{"consumers-loading", func(d *dashboard) { d.hold = true; d.press("enter 5") }},
		{"consumers-denied", func(d *dashboard) {
			d.fake.consumers = queue.Consumers{Now: d.fake.now, Denied: true}
			d.press("enter 5")
			d.advance(40 * time.Second)
		}},
		{"consumers-unreadable", func(d *dashboard) {
			d.fake.consumers = queue.Consumers{Now: d.fake.now, Err: queue.ErrWrongType}
			d.press("enter 5")
		}},
		{"consumers-hostile", func(d *dashboard) {
			d.fake.consumers = hostileAttendance(d.fake.now)
			d.press("enter 5")
		}},
		{"consumers-blocked", func(d *dashboard) {
			d.fake.consumers = attendedBy(d.fake.now)
			d.press("enter 5 G")
		}},
		{"consumers-own", func(d *dashboard) {
			d.fake.consumers = attendedBy(d.fake.now)
			d.press("c y enter 5")
		}},
		{"consumers-nobody", func(d *dashboard) {
			d.press("enter 5")
			d.advance(30 * time.Second)
		}},
		{"consume", keys("c")},
		{"consume-lock", keys("c 5 tab tab tab tab")},
		{"consume-exec", func(d *dashboard) {
			d.press("c tab l tab")
			d.typed("jq -e .order >> /tmp/orders; exit $?")
		}},
		{"consume-again", keys("c y x x y r")},
		{"consumer", func(d *dashboard) {
			d.press("c y")
			d.advance(20 * time.Second)
		}},
		{"consumer-loading", func(d *dashboard) { d.fake.engine.quiet = true; d.press("c y") }},
		{"consumer-hostile", func(d *dashboard) {
			d.fake.engine.text = "x\x1b[2J\r\n\x1b]52;c;aGk=\x07\u202e\u200b"
			d.press("c y")
			d.advance(5 * time.Second)
			for _, r := range d.fake.engine.runs {
				r.news.Stats.State = queue.ConsumerStopping // so that it is the last
				d.fake.event(r, queue.Event{Kind: "odd\x1b[2J", Err: errors.New("bad\x1b[2J\nthing"), Note: "n\r\x9b"})
			}
			d.advance(time.Second)
		}},
		{"consumer-empty", func(d *dashboard) { d.press(":"); d.typed("consumers"); d.press("enter") }},
		{"consumer-several", func(d *dashboard) {
			d.press("c 3 y c 4 y c 8 y")
			d.advance(20 * time.Second)
			d.press("tab")
		}},
		{"consumer-paused", func(d *dashboard) {
			d.press("c y")
			d.advance(20 * time.Second)
			d.press("/")
			d.typed("refused")
			d.press("enter p k k")
			d.advance(5 * time.Second)
		}},
		{"consumer-stopping", func(d *dashboard) {
			d.press("c y")
			d.advance(5 * time.Second)
			d.press("x")
			d.advance(2 * time.Second)
		}},
		{"consumer-failed", func(d *dashboard) {
			d.press("c y")
			d.advance(5 * time.Second)
			for _, r := range d.fake.engine.runs {
				r.news.Ended, r.news.Err = true, errors.New("NOPERM this user has no permissions to run the 'lmpop' command")
			}
			d.advance(time.Second)
		}},
		{"consumer-abandon", func(d *dashboard) {
			d.press("c y")
			d.advance(2 * time.Second)
			d.press("x")
			d.advance(2 * time.Second)
			d.press("x")
		}},
		{"leave", func(d *dashboard) {
			d.press("c y")
			d.advance(2 * time.Second)
			d.send(tea.KeyMsg{Type: tea.KeyCtrlC})
		}},
		{"leave-draining", func(d *dashboard) {
			d.press("c y c y")
			d.advance(2 * time.Second)
			d.send(tea.KeyMsg{Type: tea.KeyCtrlC})
			d.advance(time.Second)
			d.send(tea.KeyMsg{Type: tea.KeyCtrlC})
			d.advance(time.Second)
		}},
		{"scenes", keys("d")},
		{"scene", func(d *dashboard) { d.press(":"); d.typed("scene crash"); d.press("enter"); d.advance(time.Second) }},
	}
}
