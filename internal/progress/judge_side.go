package progress

import (
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/model"
)

// restoring lists the copies that restore. An active task whose commits move
// runs, whatever was said of its copy last: an app says no more of a copy once
// it is there.
func (j *Judge) restoring(g *model.Group) []TaskRestore {
	runs := map[copyKey]bool{}
	eachTask(g, func(_ *model.Instance, m *model.Member, t *model.Task) {
		if t.Role == model.Active && j.commitsMove(t) {
			runs[copyKey{t.ID, m.ID}] = true
		}
	})
	return slices.DeleteFunc(j.samples.Restoring(g), func(r TaskRestore) bool { return runs[copyKey{r.Task, r.Member}] })
}

// silentBlockers are the workers that write no status while the others do: the
// group is Stable until their sessions end, and then it is not.
func silentBlockers(g *model.Group) []Blocker {
	var out []Blocker
	for _, f := range g.Findings {
		if f.Code == model.FindingSilent {
			name := strings.TrimPrefix(f.Object, "instance ")
			out = append(out, Blocker{Object: f.Object, Why: strings.TrimPrefix(f.Text, name+" "), Clock: true})
		}
	}
	return out
}

// farewell tells how an instance that was seen went, by its last word, and what
// restores cold for it. One that owned nothing when it was stopped had been
// drained.
func (j *Judge) farewell(s *Status, g *model.Group) {
	st := statusOf(g, j.goal.Instance)
	switch {
	case st == nil:
		return
	case st.Left == string(control.LeftStopped) && !j.stopped:
		s.Left = string(control.LeftDrained)
	default:
		s.Left = st.Left
	}
	if s.WentExpired() || s.WentStopped() {
		s.Cold = j.coldOf(g)
	}
}

// coldOf lists the tasks with state that the instance had when it was last seen
// with any, and that went to an instance without a copy that was ready then.
func (j *Judge) coldOf(g *model.Group) []model.TaskID {
	var out []model.TaskID
	eachTask(g, func(in *model.Instance, _ *model.Member, t *model.Task) {
		if t.Role == model.Active && !t.TargetOnly && (t.Stateful == nil || *t.Stateful) &&
			slices.Contains(j.last, t.ID) && !slices.Contains(j.lastReady[t.ID], in.ID) {
			out = append(out, t.ID)
		}
	})
	slices.SortFunc(out, model.TaskID.Compare)
	return out
}

// WentExpired reports whether the instance went at its deadline.
func (s *Status) WentExpired() bool { return s.Left == string(control.LeftExpired) }

// WentStopped reports whether somebody stopped the instance before it was drained.
func (s *Status) WentStopped() bool { return s.Left == string(control.LeftStopped) }
