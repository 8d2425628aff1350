package chaos

import (
	"fmt"
	"slices"
	"time"

	"github.com/streamctl/streamctl/worker"
)

// span is the time that one instance was active with a task.
type span struct {
	task        worker.TaskID
	name        string
	life        int
	began, done time.Time // done is zero while it goes on
	gen, last   int32     // generation at its beginning and its end
	how         string    // it ended: "" by itself, else killed
	err         error
	index       int // of the span's beginning, among the rounds led
}

// spans are those of every task, by their beginning.
func (l *Journal) spans() map[worker.TaskID][]*span {
	all := map[worker.TaskID][]*span{}
	open := map[string]*span{}
	rounds := 0
	list := l.sorted()
	for _, e := range list {
		at := fmt.Sprintf("%s/%s", e.Task, lifeOf(e.name, e.life))
		switch e.Kind {
		case worker.RoundLed:
			rounds++
		case worker.ActiveStarted:
			s := &span{task: e.Task, name: e.name, life: e.life, began: e.At, gen: e.Generation, index: rounds}
			all[e.Task] = append(all[e.Task], s)
			open[at] = s
		case worker.ActiveStopped:
			if s := open[at]; s != nil {
				s.done, s.last, s.err = e.At, e.Generation, e.Err
				delete(open, at)
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range open {
		if e, ok := l.ends[lifeOf(s.name, s.life)]; ok {
			s.done, s.how = e.done, e.how
		}
	}
	return all
}

// overlaps lists where a task had two actives at a time.
func (l *Journal) overlaps() []string {
	var bad []string
	for t, list := range l.spans() {
		for i, a := range list {
			for _, b := range list[i+1:] {
				if a.done.IsZero() || b.began.Before(a.done) {
					bad = append(bad, fmt.Sprintf("task %s: %s from %s, generation %d, while %s from %s to %s, generation %d to %d", l.label(t),
						lifeOf(b.name, b.life), clock(b.began), b.gen, lifeOf(a.name, a.life), clock(a.began), clock(a.done), a.gen, a.last))
				}
			}
		}
	}
	slices.Sort(bad)
	return bad
}

func clock(t time.Time) string {
	if t.IsZero() {
		return "the end"
	}
	return t.Format("04:05.000")
}

// outside lists records that an instance processed while it was not active with
// the task.
func (l *Journal) outside(turns []turn) []string {
	spans := l.spans()
	var bad []string
	for _, x := range turns {
		if !slices.ContainsFunc(spans[x.task], func(s *span) bool {
			return s.name == x.name && !x.at.Before(s.began) && (s.done.IsZero() || !x.at.After(s.done))
		}) {
			bad = append(bad, fmt.Sprintf("task %s: a record on %s at %s, which was not active then", l.label(x.task), x.name, clock(x.at)))
		}
	}
	return bad
}

// gap is a time in which a task had no active.
type gap struct {
	task     worker.TaskID
	from, to *span
	length   time.Duration
	rounds   int  // led meanwhile
	excused  bool // a crash, a lost membership or a mode switch is in it
}

// gaps are the times without active that came to an end, the longest first.
func (l *Journal) gaps() []gap {
	var all []gap
	list := l.sorted()
	for t, spans := range l.spans() {
		for i := 1; i < len(spans); i++ {
			a, b := spans[i-1], spans[i]
			if a.done.IsZero() || b.began.Before(a.done) {
				continue // that is an overlap
			}
			g := gap{task: t, from: a, to: b, length: b.began.Sub(a.done), excused: a.how != "" || a.err != nil}
			for _, e := range list {
				switch {
				case e.At.Before(a.done.Add(-time.Millisecond)) || e.At.After(b.began):
				case e.Kind == worker.RoundLed && e.At.After(a.done):
					g.rounds++
				case e.Kind == worker.MembershipLost, e.Kind == worker.SwitchBegun, e.Kind == worker.Expired, e.Kind == worker.SwitchDone:
					g.excused = true
				}
			}
			l.mu.Lock()
			for life, e := range l.ends {
				mine := life == lifeOf(a.name, a.life)
				overlap := e.began.Before(b.began) && e.done.After(a.done.Add(-time.Millisecond))
				g.excused = g.excused || e.how != "ended" && (mine && e.began.Before(b.began) || overlap)
			}
			l.mu.Unlock()
			all = append(all, g)
		}
	}
	slices.SortFunc(all, func(a, b gap) int { return int(b.length - a.length) })
	return all
}

// idle lists times without active that no crash explains and that took more than
// one round. A round that is led counts only when somebody heard of it.
func (l *Journal) idle() []string {
	var bad []string
	for _, g := range l.gaps() {
		if !g.excused && g.rounds > 2 {
			bad = append(bad, fmt.Sprintf("task %s: nobody for %v and %d rounds, from %s on %s to %s on %s", l.label(g.task), g.length,
				g.rounds, clock(g.from.done), lifeOf(g.from.name, g.from.life), clock(g.to.began), lifeOf(g.to.name, g.to.life)))
		}
	}
	return bad
}
