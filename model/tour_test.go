package model

import (
	"slices"
	"testing"
)

// The main job, key by key.
func TestStuckBackupIsRepaired(t *testing.T) {
	f := seeded()
	d := start(t, f)
	d.press("/")
	d.typed("queueA")
	if n := len(d.m.Overview.Shown); n != 1 {
		t.Fatalf("%d queues match, want 1", n)
	}
	d.press("enter enter 2")
	if want := []string{"Hello-2", "Hello-1", "Hello-0"}; !slices.Equal(d.rows(), want) {
		t.Fatalf("rows %q, want %q", d.rows(), want)
	}
	d.press("r y")
	d.wantStatus("re-driven 1 to queueA (u undoes)")
	if want := []string{"Hello-1", "Hello-0"}; !slices.Equal(d.rows(), want) {
		t.Fatalf("rows %q, want %q", d.rows(), want)
	}
	if want := []string{"Hello-2", "Hello-6", "Hello-5", "Hello-4", "Hello-3"}; !slices.Equal(f.lists["queueA"], want) {
		t.Fatalf("ready is %q, want %q", f.lists["queueA"], want)
	}
	d.press("D y")
	d.wantStatus("deleted 1 of queueA:backup (u undoes)")
	if want := []string{"Hello-0"}; !slices.Equal(d.rows(), want) || d.m.Queue.List().Gone {
		t.Fatalf("rows %q (gone %v), want %q", d.rows(), d.m.Queue.List().Gone, want)
	}
	if d.m.Dialog != nil {
		t.Fatal("the dialog is still open")
	}
}
