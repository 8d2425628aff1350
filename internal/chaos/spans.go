package chaos

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/streamctl/streamctl/worker"
)

// span is the time that one instance was active with a task: from when the first
// record could come until the last was processed and all that it wrote was in
// the changelog. Its last commit comes after that and can harm no later owner: it
// is refused when another instance has the task by then.
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
		case worker.ActiveHalted:
			if s := open[at]; s != nil {
				s.done, s.last = e.At, e.Generation
			}
		case worker.ActiveStopped:
			if s := open[at]; s != nil {
				s.err = e.Err
				if s.done.IsZero() {
					s.done, s.last = e.At, e.Generation
				}
				delete(open, at)
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range open {
		if e, ok := l.ends[lifeOf(s.name, s.life)]; ok {
			s.how = e.how
			if s.done.IsZero() {
				s.done = e.done
			}
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
	rounds   int  // that ended meanwhile, up to the first that gave the task to somebody
	excused  bool // a crash, a lost membership or a mode switch may be its cause
}

// gaps are the times without active that came to an end, the longest first.
func (j *Job) gaps() []gap {
	var all []gap
	list, rounds := j.sorted(), j.rounds()
	causes := j.causes(list)
	for t, spans := range j.spans() {
		for i := 1; i < len(spans); i++ {
			a, b := spans[i-1], spans[i]
			if a.done.IsZero() || b.began.Before(a.done) {
				continue // that is an overlap
			}
			g := gap{task: t, from: a, to: b, length: b.began.Sub(a.done), excused: a.how != "" || a.err != nil, rounds: j.between(rounds, t, a.done, b.name)}
			for _, c := range causes {
				g.excused = g.excused || c.began.Before(b.began) && c.done.After(a.done)
			}
			all = append(all, g)
		}
	}
	slices.SortFunc(all, func(a, b gap) int { return cmp.Compare(b.length, a.length) })
	return all
}

// causes are the times in which a task may be without an active for another
// cause than a round: what the test did to an instance, up to where the group
// must have noticed; a lost membership; a mode switch.
func (j *Job) causes(list []entry) []end {
	notice := j.O.Session + j.rebalance() + 2*time.Second
	var causes []end
	j.Journal.mu.Lock()
	for _, e := range j.ends {
		if e.how != "ended" {
			causes = append(causes, end{e.how, e.began.Add(-time.Millisecond), e.done.Add(notice)})
		}
	}
	j.Journal.mu.Unlock()
	switches := map[string]time.Time{}
	for _, e := range list {
		switch e.Kind {
		case worker.MembershipLost, worker.Expired:
			causes = append(causes, end{string(e.Kind), e.At.Add(-notice), e.At.Add(notice)})
		case worker.SwitchBegun:
			switches[lifeOf(e.name, e.life)] = e.At
		case worker.SwitchDone:
			if at, ok := switches[lifeOf(e.name, e.life)]; ok {
				causes = append(causes, end{string(e.Kind), at, e.At})
			}
		}
	}
	return causes
}

// between counts the rounds that were led, and that somebody heard of, from a
// moment on up to the first that gave the task to somebody who heard of it. None
// is counted when the round before gave it to who began with it: it went from
// one worker of an instance to another.
func (j *Job) between(rounds []*led, t worker.TaskID, from time.Time, to string) int {
	n := 0
	for i, r := range rounds {
		id, _ := r.owner(t)
		if r.At.Before(from) {
			if j.nameOf(id) == to && (i+1 == len(rounds) || !rounds[i+1].At.Before(from)) {
				return 0
			}
			continue
		}
		if len(r.done) == 0 {
			continue
		}
		n++
		if r.done[id] > 0 {
			break
		}
	}
	return n
}

// idle lists times in which a task belonged to nobody for more than one round,
// without a cause.
func (j *Job) idle() []string {
	var bad []string
	for _, g := range j.gaps() {
		if !g.excused && g.rounds > 1 {
			bad = append(bad, fmt.Sprintf("task %s: nobody for %v and %d rounds, from %s on %s to %s on %s", j.label(g.task), g.length,
				g.rounds, clock(g.from.done), lifeOf(g.from.name, g.from.life), clock(g.to.began), lifeOf(g.to.name, g.to.life)))
		}
	}
	return bad
}
