package ui

import (
	"fmt"
	"strings"
	"time"

	"redq/model"
	"redq/queue"
	"redq/queue/payload"
	"redq/styles"
)

// maxName bounds the bytes of a key, a name or a sentence on one line.
const maxName = 400

// name makes text from Redis safe for one line. Blanks alone are put in quotes.
func name(s string) string {
	s = payload.LineString(s, maxName)
	if s != "" && strings.TrimSpace(s) == "" {
		return `"` + s + `"`
	}
	return s
}

const partGap = "   "

// header draws the two lines that are always there: where we are, and how the
// server is (or that it is not).
func (p painter) header() {
	r := p.l.Header
	second := p.server(r.W)
	if p.m.Conn.Down != nil {
		second = p.outage(*p.m.Conn.Down, r.W)
	}
	p.put(r, p.place(r.W), second)
}

// place is the first line: program, address, path of pages, modes.
func (p painter) place(w int) string {
	badges := p.badges()
	room := w - 2*len(edge) - width(badges) - 1
	sep := " " + p.Faint.Paint(p.Glyphs.Sep) + " "
	left := p.AppBadge.Paint(" redq ") + " "
	if p.m.Conn.Profile != "" {
		left += p.Title.Paint(name(p.m.Conn.Profile)) + "  "
	}
	left += p.Strong.Paint(name(p.m.Conn.Address))
	for _, crumb := range p.crumbs() {
		left += sep + crumb
	}
	return p.line(cut(left, room, p.Glyphs.Ellipsis), badges, w)
}

func (p painter) crumbs() []string {
	switch p.m.Screen {
	case model.OverviewScreen:
		return nil
	case model.ConsumerScreen:
		crumbs := []string{p.Title.Paint("consumers of this redq")}
		if q := p.m.Consumer.Queue(); q.Name != "" {
			crumbs = append(crumbs, p.Title.Paint(name(q.Name)))
		}
		return crumbs
	}
	crumbs := []string{p.Title.Paint(name(p.m.Queue.Name))}
	if p.m.Screen == model.MessageScreen {
		msg := p.m.Message.Message
		crumbs = append(crumbs, p.Title.Paint(fmt.Sprintf("%s #%d", msg.Place, msg.Index)))
	}
	return crumbs
}

func (p painter) badges() string {
	var all []string
	add := func(ink styles.Ink, text string) { all = append(all, ink.Paint(" "+text+" ")) }
	if n, _ := p.m.Consumer.Active(); n > 0 && p.m.Screen != model.ConsumerScreen {
		add(p.NoteBadge, plural(int64(n), "CONSUMER", "CONSUMERS"))
	}
	if p.m.Frozen && p.m.Screen != model.ConsumerScreen { // events have a pause of their own
		text := "FROZEN"
		if age, _ := p.m.Stale(); age >= time.Second {
			text += " " + span(age.Truncate(time.Second))
		}
		add(p.NoteBadge, text)
	}
	if p.m.ReadOnly {
		add(p.WarnBadge, "READ-ONLY")
	}
	if p.m.Conn.Demo != "" {
		add(p.DemoBadge, "DEMO")
	}
	return strings.Join(all, " ")
}

// server is the second line while the server answers.
func (p painter) server(w int) string {
	right := p.parts([]part{
		{p.demoHint(), 2},
		{p.pace(), 0},
	}, partGap, w/2)
	left := p.parts(p.serverParts(), partGap, w-2*len(edge)-width(right)-2)
	return p.line(left, right, w)
}

func (p painter) serverParts() []part {
	if !p.m.Conn.Known {
		return []part{{p.Muted.Paint("connecting" + p.Glyphs.Ellipsis), 0}}
	}
	s := p.m.Conn.Server
	product := "redis " + name(s.Version)
	if s.Version == "" {
		product = "redis, version not available"
	}
	if s.Role != "" {
		product += " " + name(s.Role)
	}
	mode := ""
	if s.Mode != "" && s.Mode != "standalone" {
		mode = name(s.Mode)
	}
	parts := []part{
		{p.Muted.Paint(product), 2},
		{p.Muted.Paint(mode), 3},
		{p.Muted.Paint("ping ") + latency(s.Ping), 1},
		{p.memory(s), 4},
	}
	if s.Loading {
		parts = append(parts, part{p.Warn.Paint(p.Glyphs.Warn + " loading its data"), 0})
	}
	if s.EvictsQueues() {
		parts = append(parts, part{p.Warn.Paint(p.Glyphs.Warn + " " + name(s.Policy) + " may evict queues"), 0})
	}
	if len(s.Denied) > 0 {
		parts = append(parts, part{p.Muted.Paint("no permission: " + name(strings.Join(s.Denied, ", "))), 5})
	}
	return parts
}

func (p painter) memory(s queue.Server) string {
	if s.Used == 0 {
		return p.Muted.Paint("mem not available")
	}
	text := size(s.Used)
	if s.Max > 0 {
		text = sizeOf(s.Used, s.Max)
	}
	if s.Max > 0 && float64(s.Used) > nearlyFull*float64(s.Max) {
		text = p.Bad.Paint(text)
	}
	return p.Muted.Paint("mem ") + text
}

// nearlyFull is the part of maxmemory from which writes may soon be refused.
const nearlyFull = 0.9

// pace is how often the server is asked and what the last time cost.
func (p painter) pace() string {
	s := p.Muted.Paint("every ") + interval(p.m.Refresh)
	if !p.m.Cost.At.IsZero() {
		s += p.Muted.Paint(", poll ") + latency(p.m.Cost.Took)
	}
	return s
}

// demoHint is how to look at the demo's server from another terminal.
func (p painter) demoHint() string {
	_, port, ok := strings.Cut(p.m.Conn.Demo, ":")
	if !ok {
		return ""
	}
	port, _, _ = strings.Cut(port, "/")
	return p.Muted.Paint("redis-cli -p ") + name(port)
}

// outage is the second line while the server does not answer.
func (p painter) outage(o model.Outage, w int) string {
	wait := "asking again now"
	if left := o.RetryAt.Sub(p.m.Now); left > 0 {
		wait = "next try in " + span(roundUp(left))
	}
	if !p.m.Cost.At.IsZero() {
		wait = "down " + span(p.m.Now.Sub(o.Since)) + ", " + wait
	}
	inner := w - 2*len(edge)
	return p.Alarm.Paint(edge + spread(p.Glyphs.Bad+" "+name(o.Reason), wait, inner, p.Glyphs.Ellipsis) + edge)
}
