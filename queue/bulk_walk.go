package queue

import (
	"context"
	"errors"
	"math"
	"slices"
)

// foreseen works through the steps of a part that need no reading. While the server is at
// work on one, the next one is written to the journal. It returns false as soon as the
// messages are not where they were: then the rest must be looked for.
func (r *bulkRun) foreseen(ctx context.Context, p *setPart) (done bool, err error) {
	if p.steps == nil || !r.mayForesee(p) {
		return false, nil
	}
	defer func() { p.steps = nil }()
	if r.most() < stepMessages {
		return false, nil // the steps are too large for the rate
	}
	met, first := 0, r.ordinal // messages that were dealt with, of this part and before it
	defer func() { p.prints = p.prints[met:] }()
	s, err := r.foresee(ctx, p, 0, first)
	for s != nil && err == nil {
		answered := make(chan error, 1)
		go func() { answered <- r.ask(ctx, s) }()
		following, failed := r.foresee(ctx, p, met+s.n, first)
		if err = <-answered; err != nil {
			r.failed(s, err)
			if following != nil {
				r.failed(following, errMoved)
			}
			break
		}
		met += s.n
		r.ordinal += int64(s.n)
		r.took(s, nil)
		s, err = following, failed
	}
	if errors.Is(err, errMoved) || errors.Is(err, errPresent) {
		return false, nil
	}
	return err == nil, err
}

// mayForesee reports whether all of a part's steps can go without reading anything.
func (r *bulkRun) mayForesee(p *setPart) bool {
	switch r.target {
	case "none": // the journal needs their bytes
		return !slices.ContainsFunc(p.steps, func(f foreseen) bool { return f.payloads == nil })
	case "same": // those that get another score stay in the key, at another position
		return !r.Due.At.IsZero() && !slices.ContainsFunc(p.steps, func(f foreseen) bool { return f.at != nil })
	}
	return true
}

// foresee prepares the next step of a part, of which the first met messages are dealt
// with by then, after as many of other parts; nil when there is none.
func (r *bulkRun) foresee(ctx context.Context, p *setPart, met int, first int64) (*bulkStep, error) {
	if len(p.steps) == 0 {
		return nil, nil
	}
	f := p.steps[0]
	p.steps = p.steps[1:]
	s := &bulkStep{
		part: p, n: f.messages, total: f.total - int64(met), prints: p.prints[met : met+f.messages],
		scores: f.scores, payloads: f.payloads, identity: f.identity,
	}
	if f.at != nil && f.at[f.messages-1]-int64(met) >= int64(f.messages) { // not in a row at the end by now
		s.at = make([]int64, f.messages)
		for i, at := range f.at {
			s.at[i] = at - int64(met)
		}
	}
	if r.scored() {
		for i := range s.n {
			score, err := r.newScore(first+int64(met+i), met+i, "")
			if err != nil {
				return nil, err
			}
			s.toScores = append(s.toScores, score)
		}
	}
	if err := r.prepare(ctx, s); err != nil {
		return nil, err
	}
	return s, nil
}

// walker looks for the messages of a part and deals with them where it finds them.
type walker struct {
	run  *bulkRun
	part *setPart

	at    int64     // position to read from; what is left before it does not belong to the set
	step  *bulkStep // messages that were found and not yet asked for
	found []int     // their places in the part's prints
	size  int64     // bytes of their payloads
	sum   float64   // what reaching them costs the server, in microseconds
	most  int       // messages of a step: few while others move the place
	moves int       // times in a row that they did
	any   bool      // something was done in this pass
	taken int64     // messages that left the key since it was last read
}

// Steps that reach into the middle of a long list cost the server more, in microseconds an
// entry: what it passes on the way to one, and what it compares to remove those marked.
const (
	passing   = 0.6e-3
	comparing = 11e-3
	stepCost  = 20_000
)

// reach is what it costs to remove marked entries, the first and the last of which are at
// these positions.
func reach(first, last, total int64) float64 { return comparing * float64(min(last, total-first)) }

// mostMoves is how often in a row a place may have moved before the search is given up.
const mostMoves = 200

// walk goes through the key, and again when others have moved it meanwhile, until there
// is nothing more to find.
func (w *walker) walk(ctx context.Context) error {
	w.part.index()
	w.most = w.run.most()
	for again := true; again; {
		w.any = false
		moved, err := w.pass(ctx)
		if err != nil {
			return err
		}
		again = moved && w.any && w.part.rest > 0
	}
	w.run.report.Gone += w.part.rest
	w.run.tell()
	return nil
}

// pass goes through the key once. moved: messages may have been passed over.
func (w *walker) pass(ctx context.Context) (moved bool, err error) {
	w.at = 0
	for w.part.rest > 0 {
		sp, err := w.run.c.readSpan(ctx, w.part.side, w.at, max(16, min(stepMessages, 4*w.most)), largePayload)
		if isAway(err) {
			if err = w.run.await(ctx, err, w.ping); err == nil {
				continue
			}
		}
		if err != nil {
			return moved, err
		}
		w.taken = 0
		before := w.run.report.Done
		last := len(sp.all) == 0 || w.at+int64(len(sp.all)) >= sp.total
		err = w.look(ctx, sp, last)
		w.any = w.any || w.run.report.Done > before
		switch {
		case errors.Is(err, errMoved):
			moved = true
			if w.moves++; w.moves > mostMoves {
				return moved, &RefusedError{Code: "BUSY", Text: "others change " + w.part.key + " faster than its messages can be taken: stop them, or take fewer"}
			}
			continue
		case err != nil:
			return moved, err
		}
		if last {
			return moved || w.run.target == "same", nil // what got another score has another position
		}
	}
	return moved, nil
}

func (w *walker) ping(ctx context.Context) error { return w.run.c.read.Ping(ctx).Err() }

// look takes up those messages of a span that are in the set, and has the server carry
// out a step whenever one is full.
func (w *walker) look(ctx context.Context, sp span, last bool) error {
	for _, m := range sp.all {
		at := w.part.find(m.print())
		if at < 0 {
			w.at++
			continue
		}
		if err := w.take(ctx, m, at, sp); err != nil {
			return err
		}
		w.at++
		if w.step != nil && w.full(sp) {
			if err := w.send(ctx); err != nil {
				return err
			}
		}
	}
	if last || w.part.rest == 0 { // all were found
		return w.send(ctx)
	}
	return nil
}

// full reports whether a step should go now.
func (w *walker) full(sp span) bool {
	if w.step.n == 0 {
		return false
	}
	return w.step.n >= w.most || w.size >= stepBytes ||
		w.part.place != Delayed && w.sum+reach(w.step.at[0], w.at, sp.total) >= stepCost
}

// take adds the message at w.at to the step.
func (w *walker) take(ctx context.Context, m spanned, at int, sp span) error {
	if w.step == nil {
		w.step = &bulkStep{part: w.part, total: sp.total - w.taken}
	}
	if w.run.target == "none" && m.digest != "" {
		whole, err := w.run.c.readSpan(ctx, w.part.side, w.at, 1, math.MaxInt64)
		if isAway(err) {
			err = w.run.await(ctx, err, w.ping)
			whole = span{}
		}
		if err != nil {
			return err
		}
		if len(whole.all) == 0 || whole.all[0].print() != m.print() {
			return w.lose()
		}
		m = whole.all[0]
	}
	s := w.step
	if w.run.scored() {
		score, err := w.run.newScore(w.run.ordinal, at, m.score)
		if err != nil {
			w.part.meet(at)
			if errors.Is(err, ErrGone) || errors.Is(err, ErrAlreadyBack) {
				w.run.report.Gone++
			} else {
				w.run.refused(1, err)
			}
			return nil
		}
		s.toScores = append(s.toScores, score)
	}
	w.run.ordinal++
	w.part.meet(at)
	w.found = append(w.found, at)
	w.size += m.size
	w.sum += passing * float64(min(w.at, sp.total-w.at))
	s.at = append(s.at, w.at)
	s.n++
	s.prints = append(s.prints, w.part.prints[at])
	if m.score != "" {
		s.scores = append(s.scores, m.score)
	}
	if w.run.target == "none" {
		s.payloads = append(s.payloads, m.payload)
	}
	s.messages = append(s.messages, m)
	return nil
}

// lose forgets the step: the place has moved since its messages were read.
func (w *walker) lose() error {
	if w.step != nil && w.step.n > 0 {
		w.at = max(0, w.step.positions(0)-stepMessages)
		for _, at := range w.found {
			w.part.left[at]++
			w.part.rest++
		}
		w.run.ordinal -= int64(w.step.n)
	}
	w.clear()
	w.most = max(1, w.most/2)
	return errMoved
}

func (w *walker) clear() { w.step, w.found, w.size, w.sum = nil, nil, 0, 0 }

// send has the server carry out the step.
func (w *walker) send(ctx context.Context) error {
	for w.step != nil && w.step.n > 0 {
		s := w.step
		s.finish(w.run.set.mark)
		if err := w.run.prepare(ctx, s); err != nil {
			return err
		}
		err := w.run.ask(ctx, s)
		switch {
		case err == nil:
			w.run.took(s, w.found)
			w.at -= int64(s.n)
			if w.run.target != "same" {
				w.taken += int64(s.n)
			}
			w.moves, w.most = 0, min(w.run.most(), 2*w.most)
			w.clear()
			return nil
		case errors.Is(err, errPresent):
			w.run.failed(s, err)
			w.leaveOut(s.refused)
		case errors.Is(err, errMoved):
			w.run.failed(s, err)
			return w.lose()
		default:
			w.run.failed(s, err)
			return err
		}
	}
	w.clear()
	return nil
}

// leaveOut drops messages from the step that the server refuses one by one.
func (w *walker) leaveOut(which []int) {
	old := w.step
	found := w.found
	w.step, w.found = &bulkStep{part: old.part, total: old.total}, nil
	s, drop := w.step, map[int]bool{}
	for _, i := range which {
		drop[i] = true
	}
	for i := range old.n {
		if drop[i] {
			continue
		}
		s.n++
		s.at = append(s.at, old.positions(i))
		w.found = append(w.found, found[i])
		s.prints = append(s.prints, old.prints[i])
		s.messages = append(s.messages, old.messages[i])
		if old.scores != nil {
			s.scores = append(s.scores, old.scores[i])
		}
		if old.toScores != nil {
			s.toScores = append(s.toScores, old.toScores[i])
		}
		if old.payloads != nil {
			s.payloads = append(s.payloads, old.payloads[i])
		}
	}
	w.run.refused(int64(len(drop)), errPresent)
	w.run.tell()
}
