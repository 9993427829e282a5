package ui

import (
	"strconv"
	"strings"
	"time"

	"redq/model"
	"redq/queue"
	"redq/styles"
)

// attendanceColumns are the widths of the columns of the consumers tab; 0 where one
// is not shown.
type attendanceColumns struct {
	who, pattern, state, hand, done, failed, held int
}

// Widths of the columns of the consumers tab.
const (
	whoLeast   = 22
	stateWidth = 15
	tallyWidth = 8
)

func (p painter) attendanceColumns() attendanceColumns {
	c := attendanceColumns{pattern: patternName, state: stateWidth}
	room := p.l.List.W - flagsWidth - c.pattern - c.state - 2*columnGap - len(edge) - whoLeast
	for _, w := range []*int{&c.hand, &c.done, &c.held, &c.failed} {
		if room >= tallyWidth+columnGap {
			*w, room = tallyWidth, room-tallyWidth-columnGap
		}
	}
	c.who = max(1, whoLeast+room)
	return c
}

// attendance draws who consumes the queue.
func (p painter) attendance() {
	c := p.attendanceColumns()
	p.put(p.l.ListHead, p.attendanceHead(c))
	p.put(p.l.List, p.attendanceRows(c)...)
	p.put(p.l.Preview, p.attendancePreview(p.l.Preview.W, p.l.Preview.H)...)
}

func (p painter) attendanceHead(c attendanceColumns) string {
	a := p.m.Attendance(p.m.Queue.Name)
	err := a.Err
	if a.Consumers.Err != nil {
		err = "the list of consumers cannot be read: " + queue.Explain(a.Consumers.Err)
	}
	if err != "" {
		return p.Bad.Paint(cut(edge+p.Glyphs.Bad+" "+name(err), p.l.ListHead.W, p.Glyphs.Ellipsis))
	}
	gap := blanks(columnGap)
	head := blanks(flagsWidth) + pad("CONSUMER", c.who) + gap + pad("PATTERN", c.pattern) + gap + pad("STATE", c.state)
	for _, one := range []struct {
		title string
		w     int
	}{{"IN HAND", c.hand}, {"DONE", c.done}, {"FAILED", c.failed}, {"HELD", c.held}} {
		if one.w > 0 {
			head += gap + padLeft(one.title, one.w)
		}
	}
	return p.Heading.Paint(head)
}

func (p painter) attendanceRows(c attendanceColumns) []string {
	rows := p.m.ConsumerRows()
	if len(rows) == 0 {
		return p.nobody(p.l.List.W)
	}
	var lines []string
	for i := p.m.Queue.ConsumerTop; i < len(rows) && len(lines) < p.l.List.H; i++ {
		selected := i == p.m.Queue.ConsumerCursor
		line := p.attendanceRow(rows[i], c, selected)
		if selected {
			line = p.Selection.Over(fit(line, p.l.List.W, ""))
		}
		lines = append(lines, line)
	}
	return lines
}

// nobody says why there is no line, and what that means.
func (p painter) nobody(w int) []string {
	a := p.m.Attendance(p.m.Queue.Name)
	row, _ := p.m.Row(p.m.Queue.Name)
	ink, text := p.Text, "Nobody is known to consume this queue."
	switch {
	case a.At.IsZero() && a.Err != "":
		text = "Not readable."
	case a.At.IsZero():
		ink, text = p.Muted, "Asking"+p.Glyphs.Ellipsis
	case row.Unattended != "":
		ink, text = p.Warn, p.Glyphs.Warn+" "+sentenceCase(row.Unattended)+"."
	}
	lines := []string{""}
	add := func(ink styles.Ink, text string) {
		for _, s := range wrap(text, w-flagsWidth-len(edge)) {
			lines = append(lines, blanks(flagsWidth)+ink.Paint(s))
		}
	}
	add(ink, text)
	if !a.At.IsZero() && a.Consumers.Err == nil && !p.m.ReadOnly {
		add(p.Muted, "c starts a consumer in this redq.")
	}
	return lines
}

// whoIsSeen says who would be in the list, and who cannot be.
func (p painter) whoIsSeen(w int) []string {
	a := p.m.Attendance(p.m.Queue.Name)
	text := "Seen are consumers with a heartbeat, those of this redq, and clients of this database that wait in a blocking pop. Programs that poll are not."
	switch {
	case a.At.IsZero():
		return nil
	case a.Consumers.Err != nil:
		return p.sentence(p.Bad, "The list of consumers cannot be read: "+name(queue.Explain(a.Consumers.Err)), w)
	case a.Consumers.Denied:
		text = "Seen are consumers with a heartbeat, and those of this redq. Clients that wait in a blocking pop: not available (CLIENT LIST)."
	}
	return p.sentence(p.Muted, text, w)
}

// sentenceCase begins a sentence with a capital.
func sentenceCase(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (p painter) attendanceRow(r model.ConsumerRow, c attendanceColumns, selected bool) string {
	gap := blanks(columnGap)
	who, pattern, state := p.identity(r)
	line := p.flags(selected, false, p.attendanceGlyph(r)) +
		pad(cut(who, c.who, p.Glyphs.Ellipsis), c.who) + gap +
		pad(cut(pattern, c.pattern, p.Glyphs.Ellipsis), c.pattern) + gap +
		pad(cut(state, c.state, p.Glyphs.Ellipsis), c.state)
	hand, done, failed, held := p.tallies(r)
	for _, one := range []struct {
		text string
		w    int
	}{{hand, c.hand}, {done, c.done}, {failed, c.failed}, {held, c.held}} {
		if one.w > 0 {
			line += gap + padLeft(one.text, one.w)
		}
	}
	return line
}

func (p painter) attendanceGlyph(r model.ConsumerRow) string {
	switch {
	case r.Blocked != nil:
		return p.Muted.Paint(p.Glyphs.Idle)
	case r.Own.ID != 0:
		return p.stateGlyph(r.Own.State)
	case r.Info.Alive:
		return p.Good.Paint(p.Glyphs.Good)
	}
	return p.Bad.Paint(p.Glyphs.Bad)
}

// identity is who it is, how it takes messages, and how it is.
func (p painter) identity(r model.ConsumerRow) (who, pattern, state string) {
	switch {
	case r.Blocked != nil:
		b := r.Blocked
		who = name(b.Name)
		if who == "" {
			who = p.Muted.Paint("client " + strconv.FormatInt(b.ID, 10))
		}
		return who + " " + p.Muted.Paint(name(b.Addr)), p.Muted.Paint(name(b.Command)), p.Muted.Paint("waits ") + span(b.Idle)
	case r.Own.ID != 0:
		return p.Strong.Paint("this redq") + " " + p.Muted.Paint(name(r.Own.Stats.ID)), string(r.Own.Settings.Pattern), r.Own.State.String()
	}
	i := r.Info
	who = name(i.ID)
	if i.Host != "" && !strings.HasPrefix(i.ID, i.Host) { // the ids that redq makes tell the host
		who = name(i.Host) + p.Muted.Paint(":"+strconv.FormatInt(i.PID, 10)) + " " + p.Muted.Paint(who)
	}
	if !i.Alive {
		return who, name(string(i.Pattern)), p.Bad.Paint("gone")
	}
	return who, name(string(i.Pattern)), "alive" + p.Muted.Paint(" "+span(max(p.m.ServerNow().Sub(i.Beat), 0))+" ago")
}

func (p painter) tallies(r model.ConsumerRow) (hand, done, failed, held string) {
	n := func(n int64, ink styles.Ink) string {
		if n == 0 {
			ink = p.Muted
		}
		return ink.Paint(shortNumber(n, tallyWidth))
	}
	switch {
	case r.Blocked != nil:
		return p.absent(), p.absent(), p.absent(), p.absent()
	case r.Own.ID != 0:
		s := r.Own.Stats
		held = p.absent()
		if r.Info.Backup != "" {
			held = n(r.Info.Held, p.Text)
		}
		return n(int64(s.InHand), p.Text), n(s.Done, p.Good), n(s.Failed, p.Warn), held
	}
	i := r.Info
	heldInk := p.Text
	if !i.Alive {
		heldInk = p.Bad
	}
	held = p.absent()
	if i.Backup != "" {
		held = n(i.Held, heldInk)
	}
	if !i.Alive {
		return p.absent(), p.absent(), p.absent(), held
	}
	return n(i.InHand, p.Text), n(i.Done, p.Good), n(i.Failed, p.Warn), held
}

// attendancePreview says about the selected line what it has no room for.
func (p painter) attendancePreview(w, h int) []string {
	if w <= 0 || h <= 0 {
		return nil
	}
	b := boxed{ink: p.Faint}
	inner := w - boxFrame
	r, ok := p.m.SelectedConsumer()
	if !ok {
		b.title = p.Title.Paint("who is seen")
		return p.box(b, p.whoIsSeen(inner), w, h)
	}
	b.title = p.Title.Paint("consumer")
	var facts [][2]string
	switch {
	case r.Blocked != nil:
		b.title = p.Title.Paint("client ") + number(r.Blocked.ID)
		return p.box(b, p.blockedFacts(r, inner), w, h)
	case r.Own.ID != 0:
		b.title = p.Title.Paint("this redq")
		b.note = p.keys("enter", "opens it")
		s := r.Own.Settings
		facts = [][2]string{
			{"id", name(r.Own.Stats.ID)},
			{"started", fromNow(r.Own.Started, p.m.Now)},
			{"handler", name(s.Handler.String())},
			{"workers", number(int64(s.Concurrency))},
		}
		if r.Info.ID == "" {
			facts = append(facts, [2]string{"", p.Muted.Paint("no heartbeat: others cannot see it")})
		}
	default:
		facts = p.infoFacts(r)
	}
	lines := make([]string, 0, len(facts))
	for _, f := range facts {
		lines = append(lines, p.labelled(f[0], cut(f[1], inner-labelWidth, p.Glyphs.Ellipsis), false))
	}
	return p.box(b, lines, w, h)
}

func (p painter) blockedFacts(r model.ConsumerRow, w int) []string {
	b := r.Blocked
	who := name(b.Addr)
	if b.Name != "" {
		who = name(b.Name) + p.Muted.Paint(" at ") + who
	}
	lines := []string{
		p.labelled("who", who, false),
		p.labelled("waits", span(b.Idle)+p.Muted.Paint(" in ")+name(b.Command)+p.Muted.Paint(", database "+strconv.FormatInt(b.DB, 10)), false),
	}
	return append(lines, p.sentence(p.Muted, "Redis does not tell for which keys a client waits: it may be any queue of this database.", w)...)
}

func (p painter) infoFacts(r model.ConsumerRow) [][2]string {
	i, now := r.Info, p.m.ServerNow()
	facts := [][2]string{{"id", name(i.ID)}}
	switch {
	case i.Alive:
		facts = append(facts, [2]string{"beat", fromNow(i.Beat, now)})
	case i.Held > 0:
		facts = append(facts, [2]string{"gone", p.Bad.Paint("a pipeline consumer recovers what it held; by hand: 2, then r")})
	default:
		facts = append(facts, [2]string{"gone", p.Muted.Paint("it held nothing")})
	}
	if i.Backup != "" {
		facts = append(facts, [2]string{"backup", name(i.Backup) + p.Muted.Paint(", "+plural(i.Held, "message", "messages"))})
	}
	if i.Host != "" {
		facts = append(facts, [2]string{"runs on", name(i.Host) + p.Muted.Paint(", process "+strconv.FormatInt(i.PID, 10))})
	}
	if !i.Started.IsZero() {
		facts = append(facts, [2]string{"started", fromNow(i.Started, now) + p.Muted.Paint("  "+i.Started.Local().Format(time.DateTime))})
	}
	if i.Concurrency > 0 {
		facts = append(facts, [2]string{"workers", number(i.Concurrency)})
	}
	return facts
}

// attendanceNotes say what is known of clients that wait in blocking pops.
func (p painter) attendanceNotes() []part {
	if p.m.Attendance(p.m.Queue.Name).Consumers.Denied {
		return []part{{p.Muted.Paint("clients: not available"), 1}}
	}
	var n int64
	for _, r := range p.m.ConsumerRows() {
		if r.Blocked != nil {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []part{{p.Muted.Paint(plural(n, "client waits", "clients wait") + " in this database"), 1}}
}
