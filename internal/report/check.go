package report

import (
	"slices"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
)

// Blocker is one thing that stands in the way of a check or a wait.
type Blocker struct {
	Task             *string `json:"task"` // null when it is no task; Why then names the object
	Why              string  `json:"why"`
	Copy             *string `json:"copy"` // instance with a copy of the task
	RemainingRecords *int64  `json:"remaining_records"`
}

func newBlockers(in []progress.Blocker) []Blocker {
	out := make([]Blocker, len(in))
	for i, b := range in {
		out[i] = Blocker{Why: b.Why, Copy: optional(b.Copy), RemainingRecords: b.RemainingRecords}
		if b.Task != (model.TaskID{}) {
			id := b.Task.String()
			out[i].Task = &id
		} else if b.Object != "" {
			out[i].Why = b.Object + ": " + b.Why
		}
	}
	return out
}

// Check is what `check stop` shows.
type Check struct {
	Head
	Check    string    `json:"check"`
	Group    string    `json:"group"`
	Instance string    `json:"instance"`
	Answer   string    `json:"answer"` // yes, no, unknown
	Blockers []Blocker `json:"blockers"`
	// Findings: what the prediction behind the answer assumes, and what it cannot know; streams groups only.
	Findings []plan.Finding `json:"findings"`
	// Refreshed: the group was asked for a rebalance before, so that positions are those of now.
	Refreshed bool `json:"refreshed"`
	Read

	g  *model.Group
	in *model.Instance
	c  progress.StopCheck
	o  DescribeOptions
}

// NewCheck makes the report of a `check stop` of an instance of g.
func NewCheck(g *model.Group, in *model.Instance, c progress.StopCheck) *Check {
	return &Check{
		Head: head("Check"), Check: "stop", Group: g.ID, Instance: in.ID, Answer: string(c.Answer),
		Blockers: newBlockers(c.Blockers), Findings: append([]plan.Finding{}, c.Rests...), Read: readOf(g), g: g, in: in, c: c,
	}
}

// With lets hints name the commands of this build.
func (c *Check) With(commands func(string) bool) *Check {
	c.o.Commands = commands
	return c
}

// Text writes the answer, then a line a task in the way.
func (c *Check) Text(p *render.Page) {
	style := render.Warning
	switch c.c.Answer {
	case progress.Yes:
		style = render.Good
	case progress.No:
		style = render.Problem
	}
	p.Styled(2, style, render.Escape(c.c.Headline(instanceName(c.in))))
	blockerLines(p, c.c.Blockers)
	p.Facts(2, findingFacts(c.Findings))
	if c.c.Answer == progress.Yes && c.g.Kind == model.Classic && len(c.c.Active) > 0 {
		p.Line(2, c.afterwards())
	}
}

// afterwards says what a classic group does once the process has ended.
func (c *Check) afterwards() string {
	if !c.o.has("remove-member") {
		return "once the process has ended, its tasks stand still until its session timeout (45s by default) is over"
	}
	return "once the process has ended, remove-member " + render.ShellWord(c.g.ID) + " --instance " + render.ShellWord(instanceName(c.in)) +
		" hands its tasks over at once; else the broker waits for the session timeout"
}

// blockerLines writes a line a thing in the way; the group needs no name.
func blockerLines(p *render.Page, list []progress.Blocker) {
	shown := list
	if !p.Wide() {
		shown = list[:min(len(list), maxRows)]
	}
	facts := make([]render.Fact, len(shown))
	for i, b := range shown {
		facts[i].Text = render.Escape(b.Why)
		switch {
		case b.Task != (model.TaskID{}):
			facts[i].Label = render.Escape(b.Task.String())
		case strings.HasPrefix(b.Object, "group "):
			facts[i].Label = "group"
		default:
			facts[i].Label = render.Escape(b.Object)
		}
	}
	p.Facts(2, facts)
	if n := len(list) - len(shown); n > 0 {
		p.Line(2, "  "+render.Int(int64(n))+" more (-o wide)")
	}
}

// Wait is what `wait` shows at its end.
type Wait struct {
	Head
	Group    string    `json:"group"`
	For      string    `json:"for"`
	Met      bool      `json:"met"`
	WaitedMs int64     `json:"waited_ms"`
	Blockers []Blocker `json:"blockers"`
	Left     *string   `json:"left"` // drained: how an instance that is gone went, drained, expired or stopped; null: it is there, or not known
	Cold     []string  `json:"cold"` // drained: tasks that it left and that restore cold elsewhere, as far as it was seen
	Read

	r WaitResult
}

// WaitResult is how a wait ended.
type WaitResult struct {
	Group  *model.Group // as last seen; nil before the first look
	Goal   progress.Goal
	Name   string // of the instance to be drained; "" otherwise
	Status progress.Status
	Waited time.Duration
}

// NewWait makes the report of a wait.
func NewWait(r WaitResult) *Wait {
	w := &Wait{
		Head: head("Wait"), For: string(r.Goal.For), Met: r.Status.Met, WaitedMs: r.Waited.Milliseconds(),
		Blockers: newBlockers(r.Status.Blockers), Left: optional(r.Status.Left), Cold: []string{}, r: r, Read: Read{Errors: []Error{}},
	}
	for _, id := range r.Status.Cold {
		w.Cold = append(w.Cold, id.String())
	}
	if r.Group != nil {
		w.Group, w.Read = r.Group.ID, readOf(r.Group)
	}
	return w
}

// Text writes the result, then a line a thing in the way.
func (w *Wait) Text(p *render.Page) {
	what := p.Name(w.Group)
	if w.r.Name != "" {
		what = p.Name(w.r.Name) + " of " + what
	}
	if w.Met {
		word, after, style := w.For, "", render.Good
		switch st := &w.r.Status; {
		case st.WentExpired():
			word, after, style = "gone at its deadline", w.cold(p), render.Warning
		case st.WentStopped():
			word, after, style = "gone, stopped without being drained", w.cold(p), render.Warning
		}
		p.Styled(2, style, word+": "+what+" after "+render.Duration(w.r.Waited)+after)
		return
	}
	p.Styled(2, render.Warning, "not "+w.For+": "+what+" after "+render.Duration(w.r.Waited))
	blockerLines(p, w.r.Status.Blockers)
}

// cold says what restores cold where it went, "" when nothing is known to.
func (w *Wait) cold(p *render.Page) string {
	n := len(w.r.Status.Cold)
	if n == 0 || w.r.Group == nil {
		return ""
	}
	var names []string
	for _, h := range holdersByTask(w.r.Group) {
		name := p.Name(instanceName(h.instance))
		if h.task.Role == model.Active && !h.task.TargetOnly && slices.Contains(w.r.Status.Cold, h.task.ID) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	const shown = 4
	if len(names) > shown {
		names = append(names[:shown], "others")
	}
	return ": " + render.Count(n, "task") + plural(n, " restores", " restore") + " cold on " + strings.Join(names, ", ")
}

// WaitLines are the lines of progress while a wait goes on: what is in the
// way, then each copy that restores with its rate and the time to go (field
// case 8). A wait that is not about state has no such lines, and one for which
// state is a side issue only those of copies that are seen to move or wait their
// turn; converged none of standbys, which follow their logs for ever.
func WaitLines(want progress.Condition, s progress.Status) []string {
	const shown = 10
	out := []string{render.Escape(s.Sentence())}
	list := s.Restore
	switch want {
	case progress.Stable, progress.CaughtUp:
		list = nil
	case progress.Converged, progress.Drained:
		list = slices.DeleteFunc(slices.Clone(list), func(r progress.TaskRestore) bool {
			moves := r.Queued || r.Rate != nil && *r.Rate > 0
			standby := want == progress.Converged && r.Role == model.Standby
			return r.Why != "" || standby || !moves && r.Role != model.Learner
		})
	}
	for i, r := range list {
		if i == shown {
			out = append(out, render.Int(int64(len(list)-shown))+" more restore")
			break
		}
		out = append(out, restoreLine(r))
	}
	return out
}

func restoreLine(r progress.TaskRestore) string {
	text := r.Task.String() + " on " + render.Escape(r.Name)
	if r.Role != model.Active && r.Role != "" {
		text += " (" + string(r.Role) + ")"
	}
	text += "  " + render.OptInt(r.Restored) + "/" + render.OptInt(r.Total)
	if r.Why != "" {
		return text + "  rate -  left - (" + render.Escape(r.Why) + ")"
	}
	rate, left := "-", "-"
	if r.Rate != nil {
		rate = render.Int(int64(*r.Rate)) + "/s"
	}
	if r.Left != nil {
		left = render.Duration(*r.Left)
	}
	text += "  " + rate + "  left " + left
	if n := r.NoProgress(); n != "" {
		text += " (" + n + ")"
	}
	return text
}
