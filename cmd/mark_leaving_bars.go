package cmd

import (
	"fmt"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

// barsShown is how many tasks have a line of their own at a time: those that are
// the furthest from being handed over.
const barsShown = 12

// drainBars draws a line a task on a terminal, in place. A nil one draws
// nothing.
type drainBars struct {
	b     *render.Bars
	width func() int // columns of the terminal
	told  bool       // the last heading was written as a line, too
}

// drawsBars reports whether stderr is a terminal that can be drawn on.
func (d *deps) drawsBars() bool {
	return d.io.ErrTTY && !d.dumb() && (!d.io.OutTTY || d.io.Size == nil || d.io.Size() > 0)
}

func newDrainBars(d *deps) *drainBars {
	fmt.Fprintln(d.io.Err, "  "+report.DrainHead()) //nolint:errcheck // a note
	return &drainBars{b: render.NewBars(d.io.Err, d.io.ErrWidth()), width: d.io.ErrWidth}
}

// say writes a line above the bars. It is false where there are none.
func (b *drainBars) say(text string) bool {
	return b.write("  ", oneLine(text))
}

// write writes a line above the bars, broken at blanks.
func (b *drainBars) write(indent, text string) bool {
	return b != nil && b.b != nil && b.b.Line(strings.Join(wrapped(indent, text, b.width()), "\n")) == nil
}

// writeRow writes a row of the table above the bars as it is.
func (b *drainBars) writeRow(text string) {
	if b.b != nil {
		b.b.Line(text) //nolint:errcheck // a note
	}
}

// draw shows one look.
func (b *drainBars) draw(since time.Duration, l *progress.DrainLook) {
	row := report.DrainLine(since, l)
	moves := report.DrainMoves(l)
	if b.told = moves != ""; b.told {
		if w := b.width(); w == 0 || 2+render.Width(row)+2+render.Width(moves) <= w {
			row, moves = row+"  "+moves, ""
		}
		b.writeRow("  " + row)
		if moves != "" {
			b.write("        ", moves)
		}
	}
	var bars []render.Bar
	left := 0
	for i := range l.Tasks {
		x := &l.Tasks[i]
		switch {
		case x.Ready: // the row counts them
			continue
		case !x.Stateful || len(bars) == barsShown:
			left++
			continue
		}
		bars = append(bars, barOf(x, b.width()))
	}
	head := "  " + row
	if left > 0 {
		head += fmt.Sprintf("  %d more not shown", left)
	}
	b.b.Draw(head, bars)
}

// barRoom is what the line of a task needs besides the names of two instances
// and the bar itself, which goes first where there is no room.
const barRoom = 42

// barOf is the line of one task on a terminal of so many columns.
func barOf(x *progress.DrainTask, width int) render.Bar {
	name := func(s string) string { return render.Shorten(render.Escape(s), max(10, (width-barRoom)/2)) }
	out := render.Bar{Key: x.Task.String(), Label: fmt.Sprintf("  %s %s -> %s", x.Task, name(x.Owner), name(x.On)), Text: "not known"}
	if x.On == "" {
		out.Label, out.Text = fmt.Sprintf("  %s %s -> nobody yet", x.Task, name(x.Owner)), ""
	}
	if x.Remaining != nil {
		out.Text = render.Int(*x.Remaining) + " to go"
		if x.Total != nil {
			out.Total, out.Current = *x.Total, max(0, *x.Total-*x.Remaining)
		}
	}
	switch {
	case x.Queued:
		out.Text += ", waits its turn"
	case x.Still >= 3*time.Second:
		out.Text += fmt.Sprintf(", 0/s for %s", x.Still.Round(time.Second))
	case x.Rate != nil:
		out.Text += fmt.Sprintf(", %s/s", render.Int(int64(*x.Rate)))
	}
	return out
}

// close ends the drawing; what was drawn last stays, once.
func (b *drainBars) close() {
	if b != nil && b.b != nil {
		b.b.Close(!b.told)
		b.b = nil
	}
}
