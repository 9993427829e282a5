package model

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redq/queue"
)

func TestQuittingWithAConsumerAsks(t *testing.T) {
	for _, keys := range []string{"esc q", "ctrl+c"} {
		d, r := consuming(t)
		r.holds(d.clock, "a", "b")
		d.advance(time.Second)
		d.press(keys)
		g, ok := d.m.Dialog.(LeaveDialog)
		if !ok || d.quit || g.Consumers != 1 || g.InHand != 2 || g.Draining || g.Focus != FocusNo {
			t.Fatalf("%s: quit %v, dialog %+v", keys, d.quit, d.m.Dialog)
		}
		d.press("enter")
		if d.m.Dialog != nil || d.quit || r.stopped {
			t.Fatalf("%s: enter on No does something", keys)
		}
	}
	d, _ := consuming(t)
	d.commanded("q")
	if _, ok := d.m.Dialog.(LeaveDialog); !ok || d.quit {
		t.Fatal(":q does not ask")
	}
}

func TestLeavingWaitsForWhatIsInHand(t *testing.T) {
	d, r := consuming(t)
	r.holds(d.clock, "a", "b")
	d.advance(time.Second)
	d.press("ctrl+c y")
	d.advance(time.Second)
	g := d.m.Dialog.(LeaveDialog)
	if !g.Draining || !r.stopped || d.quit || g.InHand != 2 {
		t.Fatalf("stopped %v, quit %v, %+v", r.stopped, d.quit, g)
	}
	for _, k := range []string{"n", "esc", "q", "y", "enter"} { // it cannot be taken back
		d.press(k)
	}
	r.holds(d.clock, "b")
	d.advance(time.Second)
	if g := d.m.Dialog.(LeaveDialog); g.InHand != 1 || d.quit {
		t.Fatalf("quit %v, %+v", d.quit, g)
	}
	r.holds(d.clock)
	r.end(nil)
	d.advance(time.Second)
	if !d.quit || d.m.Fatal != nil || r.abandoned {
		t.Fatalf("quit %v, fatal %v, abandoned %v", d.quit, d.m.Fatal, r.abandoned)
	}
}

func TestAnotherInterruptAbandons(t *testing.T) {
	d, r := consuming(t)
	r.holds(d.clock, "a", "b")
	d.advance(time.Second)
	d.press("ctrl+c")
	d.send(keyMsg("ctrl+c")) // it is a yes
	d.send(keyMsg("ctrl+c")) // a key that is held down is no further one
	if !r.stopped || r.abandoned || d.quit {
		t.Fatalf("stopped %v, abandoned %v, quit %v", r.stopped, r.abandoned, d.quit)
	}
	d.press("ctrl+c")
	d.advance(time.Second)
	if !r.abandoned || !d.quit {
		t.Fatalf("abandoned %v, quit %v", r.abandoned, d.quit)
	}
	if got := fmt.Sprint(d.m.Fatal); !strings.Contains(got, "2 messages of queueA in hand: they stay in queueA:backup") {
		t.Errorf("it says %q", got)
	}
}

func TestTheLastInterruptLeavesAtOnce(t *testing.T) {
	d, r := consuming(t)
	r.holds(d.clock, "a")
	d.advance(time.Second)
	d.press("ctrl+c ctrl+c")
	d.advance(time.Second)
	d.hold = true // the answers never come
	d.send(keyMsg("ctrl+c"))
	d.clock = d.clock.Add(time.Second)
	d.hold, d.held = false, nil
	d.send(keyMsg("ctrl+c"))
	if !d.quit || r.abandoned {
		t.Fatalf("quit %v", d.quit)
	}
}

func TestTheQuestionKeepsTheDialogUnderIt(t *testing.T) {
	d, _ := consuming(t)
	d.press("n")
	d.typed("a payload")
	d.press("ctrl+c n")
	g, ok := d.m.Dialog.(EnqueueDialog)
	if !ok || g.Payload.Text() != "a payload" {
		t.Fatalf("after no, the dialog is %T", d.m.Dialog)
	}
}

// The consumers end by themselves while the question is open: it stays, and yes quits.
func TestTheQuestionStaysWhenConsumersEnd(t *testing.T) {
	d, r := consuming(t)
	d.press("ctrl+c")
	r.end(nil)
	d.advance(time.Second)
	if g, ok := d.m.Dialog.(LeaveDialog); !ok || g.Consumers != 0 || d.quit {
		t.Fatalf("quit %v, dialog %T", d.quit, d.m.Dialog)
	}
	d.press("y")
	if !d.quit {
		t.Fatal("yes does not quit")
	}
}

func TestQuitsAtOnceWithoutConsumers(t *testing.T) {
	d, r := consuming(t)
	r.end(nil)
	d.advance(time.Second)
	d.press("ctrl+c")
	if !d.quit {
		t.Fatal("an ended consumer keeps the program")
	}
}

// After a write that was waited for, consumers are asked about too.
func TestInterruptedWriteThenConsumers(t *testing.T) {
	d, _ := consuming(t)
	d.press("n")
	d.typed("x")
	d.press("enter")
	if d.m.Dialog.(EnqueueDialog).Focus == FocusWhen {
		d.press("enter")
	}
	d.advance(time.Second)
	d.hold = true
	d.send(keyMsg("enter"))
	d.send(keyMsg("ctrl+c"))
	if !d.m.Dialog.Head().Leaving {
		t.Fatalf("dialog %+v", d.m.Dialog)
	}
	d.release()
	if _, ok := d.m.Dialog.(LeaveDialog); !ok || d.quit {
		t.Fatalf("quit %v, dialog %T", d.quit, d.m.Dialog)
	}
}

// A consumer that is being started when ctrl+c comes is not forgotten.
func TestInterruptedStart(t *testing.T) {
	d := start(t, seeded())
	d.commanded("consume queueA")
	d.advance(time.Second)
	d.hold = true
	d.send(keyMsg("y"))
	d.send(keyMsg("ctrl+c"))
	d.release()
	if _, ok := d.m.Dialog.(LeaveDialog); !ok || d.quit || len(d.m.Consumer.Consumers) != 1 {
		t.Fatalf("quit %v, dialog %T", d.quit, d.m.Dialog)
	}
}

// A signal, or a terminal that closed: nobody is there to be asked.
func TestToldToLeave(t *testing.T) {
	d := start(t, seeded())
	d.send(LeaveMsg{})
	if !d.quit {
		t.Fatal("without a consumer it does not leave")
	}

	d, r := consuming(t)
	r.holds(d.clock, "a")
	d.advance(time.Second)
	d.send(LeaveMsg{})
	if !r.stopped || d.quit {
		t.Fatalf("stopped %v, quit %v", r.stopped, d.quit)
	}
	d.advance(leaveWithin - time.Second)
	if r.abandoned || d.quit {
		t.Fatal("it does not wait")
	}
	d.advance(2 * time.Second)
	if !r.abandoned || !d.quit || d.m.Fatal == nil {
		t.Fatalf("abandoned %v, quit %v, fatal %v", r.abandoned, d.quit, d.m.Fatal)
	}

	d, r = consuming(t)
	r.holds(d.clock, "a")
	d.advance(time.Second)
	d.send(LeaveMsg{})
	d.send(LeaveMsg{AtOnce: true})
	d.advance(time.Second)
	if !r.abandoned || !d.quit {
		t.Fatalf("at once: abandoned %v, quit %v", r.abandoned, d.quit)
	}

	d, _ = onBackup(t, numbered("m", 3))
	d.press("D")
	d.advance(time.Second)
	d.hold = true
	d.send(keyMsg("y"))
	d.send(LeaveMsg{})
	if d.m.Dialog == nil || !d.m.Dialog.Head().Leaving {
		t.Fatal("a write that is under way is not waited for")
	}
	d.release()
	if !d.quit || d.f.calls["delete"] != 1 {
		t.Fatalf("quit %v after %d deletes", d.quit, d.f.calls["delete"])
	}
}

func TestFinishEndsWhatStillRuns(t *testing.T) {
	d, _ := consuming(t)
	d.m.Finish(t.Context())
	if !d.f.engine.ended {
		t.Fatal("the engine was not told")
	}
}

func TestWhatBecomesOfMessagesInHand(t *testing.T) {
	q := queue.Named("q")
	for p, want := range map[queue.Pattern]string{
		queue.BackupList: "they stay in q:backup", queue.Pipeline: "they stay in q:backup:me", queue.ListPoll: "they are put back",
	} {
		c := OwnConsumer{Settings: ConsumerSettings{Queue: q, Pattern: p}, Stats: queue.ConsumerStats{ID: "me"}}
		if got := c.leavesInHand(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", p, got, want)
		}
	}
}
