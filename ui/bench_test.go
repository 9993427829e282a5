package ui

import (
	"fmt"
	"testing"

	"github.com/charmbracelet/bubbles/table"
	"github.com/muesli/termenv"

	"redq/model"
)

// BenchmarkView draws whole frames of 200x50 with nothing remembered but previews
// of payloads. To be compared with BenchmarkBubblesTable, which draws a table alone.
func BenchmarkView(b *testing.B) {
	for _, s := range []string{"overview", "backup", "delayed", "message", "redrive", "consumer-several", "consumers"} {
		b.Run(s, func(b *testing.B) {
			d := open(b, busyServer(), testTheme(termenv.TrueColor, true))
			d.live(130)
			d.resize(200, 50)
			sceneNamed(b, s).setup(d)
			checkFrame(b, d.frame(), 200, 50)
			b.ReportAllocs()
			for b.Loop() {
				draw(d.app.theme, d.app.model, d.app.cache)
			}
		})
	}
}

// busyServer has more queues than a screen shows.
func busyServer() *fake {
	f := normalServer()
	for i := range 60 {
		q := f.queues[0]
		q.Name = fmt.Sprintf("orders-%02d", i)
		f.queues = append(f.queues, q)
	}
	return f
}

func BenchmarkBubblesTable(b *testing.B) {
	columns := model.Columns(200)
	header := make([]table.Column, len(columns))
	for i, c := range columns {
		header[i] = table.Column{Title: c.Title, Width: c.W - 1}
	}
	rows := make([]table.Row, 60)
	for i := range rows {
		row := make(table.Row, len(columns))
		for j := range row {
			row[j] = fmt.Sprintf("%d,%03d", i, j)
		}
		rows[i] = row
	}
	t := table.New(table.WithColumns(header), table.WithRows(rows), table.WithHeight(50), table.WithWidth(200), table.WithFocused(true))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		t.SetCursor(i % len(rows)) // renders the rows anew
		_ = t.View()
	}
}
