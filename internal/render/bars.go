package render

import (
	"io"
	"slices"
	"sync"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// Bars draws lines of progress on a terminal, in place: a heading, and a bar a
// thing below it. Other lines go above them. It is safe for use by several
// goroutines. Its texts must be safe.
type Bars struct {
	p    *mpb.Progress
	head *barLine
	by   map[string]*barLine
}

// barLine is one line with its texts, which the drawing goroutine reads.
type barLine struct {
	bar *mpb.Bar

	mu          sync.Mutex
	label, text string
}

func (l *barLine) set(label, text string) {
	l.mu.Lock()
	l.label, l.text = label, text
	l.mu.Unlock()
}

func (l *barLine) left(decor.Statistics) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.label
}

func (l *barLine) right(decor.Statistics) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text
}

// Bar is one bar.
type Bar struct {
	Key     string // what it is about; the same from one drawing to the next
	Label   string
	Text    string // what follows it
	Current int64
	Total   int64 // 0: not known
}

// NewBars begins to draw on w, a terminal. The width, in columns, counts where
// w does not tell its own.
func NewBars(w io.Writer, width int) *Bars {
	b := &Bars{p: mpb.New(mpb.WithOutput(w), mpb.WithAutoRefresh(), mpb.WithWidth(width)), by: map[string]*barLine{}}
	b.head = &barLine{}
	b.head.bar = b.p.New(0, mpb.NopStyle(), mpb.PrependDecorators(decor.Any(b.head.left)))
	return b
}

const barWidth = 20 // columns of a bar itself

// Draw shows a heading and bars in the order given; a bar that is not among
// them any more goes.
func (b *Bars) Draw(head string, bars []Bar) {
	b.head.set(head, "")
	for key, l := range b.by {
		if !slices.ContainsFunc(bars, func(x Bar) bool { return x.Key == key }) {
			l.bar.Abort(true)
			delete(b.by, key)
		}
	}
	for i, x := range bars {
		l := b.by[x.Key]
		if l == nil {
			l = &barLine{}
			l.set(x.Label, x.Text)
			l.bar = b.p.New(0, mpb.BarStyle().Lbound("[").Filler("=").Tip(">").Padding(" ").Rbound("]"),
				mpb.BarWidth(barWidth), mpb.PrependDecorators(decor.Any(l.left, decor.WCSyncSpaceR)), mpb.AppendDecorators(decor.Any(l.right, decor.WCSyncSpaceR)))
			b.by[x.Key] = l
		}
		l.set(x.Label, x.Text)
		l.bar.SetPriority(i + 1)
		if x.Total > 0 {
			l.bar.SetTotal(x.Total, false)
			l.bar.SetCurrent(min(x.Current, x.Total-1)) // a bar that is full would end
		}
	}
}

// Line writes a line above the bars.
func (b *Bars) Line(text string) error {
	_, err := b.p.Write([]byte(text + "\n"))
	return err
}

// Close ends the drawing. All lines stay, and the heading of the last one where
// that is asked for.
func (b *Bars) Close(heading bool) {
	for _, l := range b.by {
		l.bar.Abort(true)
	}
	b.head.bar.Abort(!heading)
	b.p.Wait()
}
