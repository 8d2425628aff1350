package cmd

import (
	"fmt"
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
type drainBars struct{ b *render.Bars }

// drawsBars reports whether stderr is a terminal that can be drawn on.
func (d *deps) drawsBars() bool {
	return d.io.ErrTTY && !d.dumb() && (!d.io.OutTTY || d.io.Size == nil || d.io.Size() > 0)
}

func newDrainBars(d *deps) *drainBars {
	fmt.Fprintln(d.io.Err, "  "+report.DrainHead()) //nolint:errcheck // a note
	return &drainBars{render.NewBars(d.io.Err)}
}

// say writes a line above the bars. It is false where there are none.
func (b *drainBars) say(text string) bool {
	return b != nil && b.b != nil && b.b.Line("  "+oneLine(text)) == nil
}

// draw shows one look.
func (b *drainBars) draw(since time.Duration, l *progress.DrainLook) {
	if moves := report.DrainMoves(l); moves != "" {
		b.say(report.DrainLine(since, l) + "  " + moves)
	}
	var bars []render.Bar
	left := 0
	for i := range l.Tasks {
		x := &l.Tasks[i]
		if x.Ready || !x.Stateful || len(bars) == barsShown {
			left++
			continue
		}
		bars = append(bars, barOf(x))
	}
	head := " " + report.DrainLine(since, l)
	if left > 0 {
		head += fmt.Sprintf("  %d more ready, or not shown", left)
	}
	b.b.Draw(head, bars)
}

// barOf is the line of one task.
func barOf(x *progress.DrainTask) render.Bar {
	out := render.Bar{Key: x.Task.String(), Label: render.Escape(fmt.Sprintf("  %s %s -> %s", x.Task, x.Owner, x.On)), Text: "not known"}
	if x.On == "" {
		out.Label, out.Text = render.Escape(fmt.Sprintf("  %s %s -> nobody yet", x.Task, x.Owner)), ""
	}
	if x.Remaining != nil {
		out.Text = render.Int(*x.Remaining) + " to go"
		if x.Total != nil {
			out.Total, out.Current = *x.Total, max(0, *x.Total-*x.Remaining)
		}
	}
	if x.Still >= 3*time.Second {
		out.Text += fmt.Sprintf(", 0/s for %s", x.Still.Round(time.Second))
	} else if x.Rate != nil {
		out.Text += fmt.Sprintf(", %s/s", render.Int(int64(*x.Rate)))
	}
	return out
}

// close ends the drawing; what was drawn last stays.
func (b *drainBars) close() {
	if b != nil && b.b != nil {
		b.b.Close()
		b.b = nil
	}
}
