package model

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"redq/queue"
	"redq/queue/queuetest"
	"redq/queue/transfer"
)

func TestExportForm(t *testing.T) {
	for keys, want := range map[string]func(ExportWork) bool{
		"4 w ctrl+u =out.jsonl enter y": func(w ExportWork) bool {
			return w.Path == "out.jsonl" && w.Messages == nil && w.Filter.All() && len(w.Places) == 1 && w.Places[0] == queue.Dead && !w.Replace
		},
		"4 w enter s f y": func(w ExportWork) bool {
			return w.Places == nil && w.Replace && strings.HasPrefix(w.Path, "orders-dead-")
		},
		"4 space space w enter y":           func(w ExportWork) bool { return len(w.Messages) == 2 },
		"4 / =dead1 enter w enter y":        func(w ExportWork) bool { return w.Filter.String() == "dead1" },
		"4 enter w enter y":                 func(w ExportWork) bool { return len(w.Messages) == 1 },
		"esc w ctrl+u =~/all.jsonl enter y": func(w ExportWork) bool { return w.Places == nil && w.Path == "~/all.jsonl" },
	} {
		d, f := onDead(t, 150)
		d.types(strings.TrimPrefix(keys, "4 "))
		if len(f.jobs.all) != 1 {
			t.Errorf("%s: %d jobs, dialog %+v", keys, len(f.jobs.all), d.m.Dialog)
			continue
		}
		if w := f.jobs.all[0].work.(ExportWork); !want(w) {
			t.Errorf("%s: %+v", keys, w)
		}
	}
	d, f := onDead(t, 5)
	d.types("w ctrl+u enter y")
	if d.m.Dialog == nil || !strings.Contains(d.m.Dialog.Head().Note, "which file") || len(f.jobs.all) > 0 {
		t.Fatalf("dialog %+v", d.m.Dialog)
	}
}

// What is on the screen goes to a file, which is not replaced unawares.
func TestExportOnAServer(t *testing.T) {
	queuetest.Each(t, func(t *testing.T, s *queuetest.Server) {
		_, _, rdb := workshop(t, s, 300)
		rdb.LPush(t.Context(), "q:dead", "a\xffb\n")
		rdb.LPush(t.Context(), "q", "ready")
		d := live(t, s)
		d.press("enter 4")
		path := filepath.Join(t.TempDir(), "dead.jsonl")
		write := func(keys string) {
			t.Helper()
			d.press("w ctrl+u")
			d.typed(path)
			d.types(keys)
			d.awaitJobs()
		}
		lines := func() int {
			t.Helper()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return bytes.Count(text, []byte("\n"))
		}
		write("enter y")
		d.wantStatus("wrote 301 to " + path)
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 || lines() != 301 {
			t.Fatalf("%v, %v, %d lines", info, err, lines())
		}
		write("enter y")
		if d.m.Dialog == nil || !strings.Contains(d.m.Dialog.Head().Note, "there already") {
			t.Fatalf("dialog %+v, status %q", d.m.Dialog, d.m.Status.Text)
		}
		d.types("s f y")
		d.awaitJobs()
		d.wantStatus("wrote 302 to " + path) // the whole queue
		if lines() != 302 {
			t.Fatalf("%d lines", lines())
		}
		d.types("/ =m001 enter")
		write("enter f y")
		d.wantStatus("wrote 10 to " + path)
		d.types("esc g space space")
		rdb.LPop(t.Context(), "q:dead")
		write("enter f y")
		d.wantStatus("wrote 1 to " + path + ", 1 already gone")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		line, err := transfer.Decode(bytes.TrimSpace(text))
		if err != nil || string(line.Payload) != "m0000" || line.Key != "q:dead" {
			t.Errorf("%+v, %v", line, err)
		}
	})
}
