package model

import tea "github.com/charmbracelet/bubbletea"

// wheelRows is how far one notch of the wheel scrolls.
const wheelRows = 3

// mouse takes a click or the wheel. Dialogs, help and prompt are for keys only.
func (m Model) mouse(msg tea.MouseMsg) (Model, tea.Cmd) {
	if !m.Mouse || m.Mode() != NormalMode || m.Layout().TooSmall {
		return m, nil
	}
	switch {
	case msg.Button == tea.MouseButtonWheelDown:
		return m.wheel(ActDown)
	case msg.Button == tea.MouseButtonWheelUp:
		return m.wheel(ActUp)
	case msg.Button == tea.MouseButtonLeft && msg.Action == tea.MouseActionPress:
		return m.click(msg.X, msg.Y)
	}
	return m, nil
}

func (m Model) wheel(a Action) (Model, tea.Cmd) {
	var cmds [wheelRows]tea.Cmd
	for i := range cmds {
		m, cmds[i] = m.pageAct(a)
	}
	return m, tea.Batch(cmds[:]...)
}

// click selects what is under the mouse: a queue, a column, a tab or a message.
func (m Model) click(x, y int) (Model, tea.Cmd) {
	m.Status = Status{}
	l := m.Layout()
	switch {
	case m.Screen == OverviewScreen && l.TableHead.Contains(x, y):
		for _, c := range Columns(l.TableHead.W) {
			if x >= c.X && x < c.X+c.W && c.Column < columnCount {
				return m.do(sortBy{c.Column})
			}
		}
	case m.Screen == OverviewScreen && l.Table.Contains(x, y):
		if i := m.Overview.Top + y - l.Table.Y; i < len(m.Overview.Shown) {
			var in Intent
			m.Overview, in = m.Overview.moved(i, m.tableHeight())
			return m.do(in)
		}
	case m.Screen == QueueScreen && l.Bar.Contains(x, y):
		for _, t := range m.TabCells() {
			if t.Rect.Contains(x, y) {
				return m.pageAct(Action(t.Place))
			}
		}
	case m.Screen == ConsumerScreen && l.Consumers.Contains(x, y):
		if i := m.Consumer.Top(l.Consumers.H) + y - l.Consumers.Y; i < len(m.Consumer.Consumers) {
			m.Consumer.Cursor = i
		}
	case m.onConsumersTab() && l.List.Contains(x, y):
		if i := m.Queue.ConsumerTop + y - l.List.Y; i < len(m.ConsumerRows()) {
			m.Queue.ConsumerCursor = i
		}
	case m.Screen == QueueScreen && l.List.Contains(x, y):
		if pos := m.Queue.List().Top + int64(y-l.List.Y); pos < m.Queue.List().Total {
			var in Intent
			m.Queue, in = m.Queue.move(pos, m.listHeight())
			return m.do(in)
		}
	}
	return m, nil
}
