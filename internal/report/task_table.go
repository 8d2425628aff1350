package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// memberCap is nameCap with the thread part, "/T12".
const memberCap = nameCap + 4

// taskTable shows the tasks that stand out and counts the rest.
func (s *screen) taskTable() {
	if s.g.AssignmentBasis == model.AssignmentNone && len(s.g.Unassigned) == 0 {
		return
	}
	all := views(s.g, standsOut(s.g))
	total := s.taskCount()
	if len(all) == 0 {
		if total > 0 {
			s.p.Blank()
			s.rest(plural(total, "the only task", "all "+render.Count(total, "task")), total)
		}
		return
	}
	shown := all[:min(len(all), maxRows)]
	s.p.Blank()
	if s.g.Kind == model.Streams {
		s.p.Table(s.targetGrid(shown))
	} else {
		s.p.Table(s.pairGrid(shown))
	}
	if more := len(all) - len(shown); more > 0 {
		s.p.Line(0, render.Int(int64(more))+" more stand out")
	}
	if rest := total - len(all); rest > 0 {
		s.rest(render.Int(int64(rest))+" more", rest)
	}
}

// taskCount is the number of tasks there are, as far as known.
func (s *screen) taskCount() int {
	if s.g.Totals.Tasks > 0 {
		return s.g.Totals.Tasks
	}
	return s.g.Totals.Active + len(s.g.Unassigned)
}

func (s *screen) rest(subject string, n int) {
	text := subject + plural(n, " runs undisturbed", " run undisturbed")
	switch {
	case s.g.AssignmentBasis == model.AssignmentPrevious:
		text = subject + " ran undisturbed in the round before"
	case s.g.Kind == model.Streams:
		text = subject + plural(n, " is where it should be", " are where they should be")
	case s.stalled():
		text = subject + plural(n, " stays where it is", " stay where they are")
	}
	if s.o.has("get tasks") {
		text += ": streamctl get tasks -g " + render.ShellWord(s.g.ID)
	}
	s.p.Line(2, text)
}

// stalled reports whether tasks may not run although they are assigned as they
// should be: input waits, and nothing of it is committed.
func (s *screen) stalled() bool {
	return slices.ContainsFunc(s.g.Findings, func(f model.Finding) bool {
		return f.Code == model.FindingSilent || f.Code == model.FindingNoCommit
	})
}

// pairGrid is a row a task with the copy that matters most.
func (s *screen) pairGrid(list []*taskView) *render.Grid {
	g := render.NewGrid(
		render.Column{Head: "TASK", Cap: nameCap},
		render.Column{Head: "ACTIVE", Cap: memberCap},
		render.Column{Head: "COPY", Cap: memberCap + len(" learner~")},
		render.Column{Head: "TAGS", Drop: 3},
		render.Column{Head: "LAG", Right: true, Drop: 2},
		render.Column{Head: "TO RESTORE", Right: true, Drop: 1},
	)
	for _, v := range list {
		g.Row(render.Text(v.id.String()), v.activeCell(), v.copyCell(), v.tagCell(s.g), v.lagCell(), v.toRestore(s.g))
	}
	return g
}

// targetGrid is a row a task of a streams group: who has it, who shall have it.
func (s *screen) targetGrid(list []*taskView) *render.Grid {
	long, restoring, moving := false, false, false
	for _, v := range list {
		restoring = restoring || v.restores()
		moving = moving || v.active == nil || v.target != nil || v.active.task.LeavesTo != ""
	}
	for i := range s.g.Instances {
		long = long || render.Width(instanceName(&s.g.Instances[i])) > 12
	}
	g := render.NewGrid(
		render.Column{Head: "TASK", Cap: nameCap},
		render.Column{Head: "ACTIVE", Cap: memberCap},
		render.Column{Head: "TARGET", Cap: memberCap, In: onlyIf(moving, render.InText)},
		render.Column{Head: "STATE"},
		render.Column{Head: "LAG", Right: true, Drop: 1},
		render.Column{Head: "TO RESTORE", Right: true, Drop: 2, In: onlyIf(restoring, render.InText)},
	)
	for _, v := range list {
		g.Row(render.Text(v.id.String()), v.activeCell(), s.targetCell(v), render.Text(s.stateOf(v, long)), v.lagCell(), v.toRestore(s.g))
	}
	return g
}

func (v *taskView) activeCell() render.Cell {
	if v.active == nil {
		return render.Dash()
	}
	return render.Text(shortName(v.active.member))
}

// copyCell is the copy that matters most, with its role.
func (v *taskView) copyCell() render.Cell {
	if len(v.copies) == 0 {
		return render.Dash()
	}
	c := v.copies[0]
	cell := render.Text(shortName(c.member) + " " + roleWord(c.task))
	if n := len(v.copies) - 1; n > 0 {
		cell = cell.Suffix(" +" + strconv.Itoa(n))
	}
	return cell
}

// roleWord is the role with a mark when it was worked out.
func roleWord(t *model.Task) string {
	word := string(t.Role)
	switch {
	case t.Uncertain:
		return word + "?"
	case t.Role == model.Learner && t.Inferred:
		return word + "~"
	}
	return word
}

func (v *taskView) tagCell(g *model.Group) render.Cell {
	switch {
	case v.nobody:
		return render.Text("nobody's").In(render.Problem)
	case v.active == nil && (v.moving || v.target != nil):
		return render.Text("moving").In(render.Warning)
	case v.active == nil:
		return render.Text("nobody runs it").In(render.Warning)
	}
	t := v.active.task
	words := tagWords(t, false)
	if t.Release {
		words = append(words, "release")
	}
	if restoreWord(g, t) == string(model.Restoring) {
		words = append(words, string(model.Restoring))
	}
	if g.StateUntold(t) {
		words = append(words, "state not told")
	}
	if t.Restore.Note != "" {
		words = append(words, t.Restore.Note)
	}
	return render.List(words, ",")
}

// tagWords are the tags in words; stateful, which most have, only on demand.
func tagWords(t *model.Task, stateful bool) []string {
	words := make([]string, 0, len(t.Tags)+2)
	for _, tag := range t.Tags {
		if tag == model.IsStateful && !stateful {
			continue
		}
		word := tag.Word()
		if t.Inferred && (tag == model.BeingLearned || tag == model.IsLearner) {
			word += "~"
		}
		words = append(words, word)
	}
	return words
}

func (v *taskView) lagCell() render.Cell {
	if v.active == nil {
		return render.Dash()
	}
	return taskLag(v.active.task)
}

// taskLag marks a commit beyond the end with a star (field case 46).
func taskLag(t *model.Task) render.Cell {
	if t.Lag == nil || t.Lag.Records == nil {
		return render.Dash()
	}
	c := render.Num(*t.Lag.Records)
	if t.Lag.BeyondEnd > 0 {
		c = c.Suffix("*")
	}
	return c
}

// toRestore is what the first copy still lacks, or the active that restores.
func (v *taskView) toRestore(g *model.Group) render.Cell {
	if v.active != nil && restoreWord(g, v.active.task) == string(model.Restoring) {
		return remaining(v.active.task)
	}
	for _, c := range v.copies {
		if c.task.Role == model.Learner {
			return remaining(c.task)
		}
	}
	if len(v.copies) > 0 {
		return remaining(v.copies[0].task)
	}
	return render.Dash()
}

// restores reports whether it is known of any copy what it still lacks.
func (v *taskView) restores() bool {
	if v.active != nil && v.active.task.Restore.State == model.Restoring {
		return true
	}
	for _, c := range v.copies {
		if c.task.Restore.RemainingRecords != nil {
			return true
		}
	}
	return false
}

// remaining is an upper bound, so it carries the mark for one unless it is 0.
func remaining(t *model.Task) render.Cell {
	r := &t.Restore
	switch {
	case t.Role == model.Active && r.State == model.Running:
		return render.Dash()
	case r.RemainingRecords == nil:
		return render.Dash()
	case *r.RemainingRecords == 0:
		return render.Num(int64(0))
	}
	return render.Num(*r.RemainingRecords).Prefix("≤")
}

func (s *screen) targetCell(v *taskView) render.Cell {
	switch {
	case v.target != nil:
		return render.Text(shortName(v.target.member))
	case v.active != nil && v.active.task.LeavesTo != "":
		return render.Text(s.memberName(v.active.task.LeavesTo))
	case v.active != nil:
		return v.activeCell()
	}
	return render.Dash()
}

// stateOf says in words what a task of a streams group is going through.
func (s *screen) stateOf(v *taskView, long bool) string {
	switch {
	case v.nobody:
		return "nobody's"
	case v.active == nil && (v.moving || v.target != nil):
		if long {
			return "moving"
		}
		return "moving (nobody, up to one heartbeat)"
	case v.active == nil:
		return "nobody runs it"
	case v.active.task.LeavesTo != "" || v.target != nil:
		if long {
			return "to be given up"
		}
		return "to be given up by " + instanceName(v.active.instance)
	case v.active.task.Restore.Note != "":
		return v.active.task.Restore.Note
	case v.active.task.Restore.State == model.Restoring:
		return "restoring"
	}
	for _, c := range v.copies {
		word := "standby"
		if c.task.Role == model.Learner {
			word = "warm-up (learner)"
		}
		switch {
		case c.task.Role == model.Learner && long:
			return word
		case c.task.Role == model.Learner:
			return word + " on " + instanceName(c.instance)
		case c.task.TargetOnly, c.task.LeavesTo != "":
			return word + " moves"
		}
	}
	if l := v.active.task.Lag; l != nil && l.Records != nil && *l.Records >= behind {
		return "behind"
	}
	return strings.Join(tagWords(v.active.task, false), ",")
}

// wideTaskGrid is a row a task and holder of one group, for the wide form.
func wideTaskGrid(g *model.Group) *render.Grid { return taskGrid([]*model.Group{g}) }

// holdersByTask are all holders of a group, by task, actives first.
func holdersByTask(g *model.Group) []holder {
	all := slices.Collect(eachTask(g))
	order := func(t *model.Task) int {
		n := 0
		switch t.Role {
		case model.Learner:
			n = 2
		case model.Standby:
			n = 4
		}
		if t.TargetOnly {
			n++
		}
		return n
	}
	slices.SortStableFunc(all, func(a, b holder) int {
		if c := a.task.ID.Compare(b.task.ID); c != 0 {
			return c
		}
		return order(a.task) - order(b.task)
	})
	return all
}
