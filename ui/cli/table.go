package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// table prints rows in aligned columns. Its cells must be safe to print.
type table struct {
	w   *tabwriter.Writer
	err error
}

// table starts a table. The last column is never padded.
func (r *run) table(heads ...string) *table {
	t := &table{w: tabwriter.NewWriter(r.Stdout, 0, 0, 2, ' ', 0)}
	t.row(heads...)
	return t
}

func (t *table) row(cells ...string) {
	if _, err := fmt.Fprintln(t.w, strings.Join(cells, "\t")); t.err == nil {
		t.err = err
	}
}

func (t *table) flush() error {
	if err := t.w.Flush(); t.err == nil {
		t.err = err
	}
	return t.err
}
