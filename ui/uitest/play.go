//go:build unix

package uitest

import (
	"time"

	"redq/ui/uitest/tape"
)

// Play does what a tape says, and checks what it promises. Where the tape lets
// the viewer look, it waits until the screen settles.
func (t *Term) Play(steps []tape.Step) {
	t.t.Helper()
	for _, s := range steps {
		t.play(s)
	}
}

func (t *Term) play(s tape.Step) {
	t.t.Helper()
	t.t.Logf("line %d: %s %s%s", s.Line, s.Kind, s.Text, s.Key)
	switch s.Kind {
	case tape.Type:
		t.Type(s.Text)
	case tape.Press:
		for range s.Count {
			t.Press(s.Key)
		}
	case tape.Sleep, tape.Screenshot:
		time.Sleep(readTime) // a dialog takes no answer that comes sooner
		t.Settle()
	case tape.Wait:
		t.playWait(s)
	case tape.Expect:
		if s.Pattern != nil {
			t.WaitUntil("for a match of "+s.Text, s.Pattern.MatchString)
			return
		}
		t.WaitFor(s.Text)
	case tape.Gone:
		t.WaitGone(s.Text)
	}
}

// playWait looks at the whole screen in each case: a prompt stands on it too.
func (t *Term) playWait(s tape.Step) {
	t.t.Helper()
	if s.Pattern == nil {
		t.WaitFor("$")
		return
	}
	t.WaitUntil("for a match of "+s.Pattern.String(), s.Pattern.MatchString)
}
