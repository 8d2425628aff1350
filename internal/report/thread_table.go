package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// threadGrid is a row a member, grouped by instance, with those that have no
// task too (field cases 7 and 16).
func (s *screen) threadGrid(list []model.Instance) *render.Grid {
	t := traitsOf(s.g, list)
	g := render.NewGrid(
		render.Column{Head: "INSTANCE", Cap: nameCap},
		render.Column{Head: threadHead(s.g.Kind), Cap: memberCap},
		render.Column{Head: "INSTANCE-ID", Cap: nameCap, In: onlyIf(t.static, render.InText)},
		render.Column{Head: "ACTIVE", Right: true},
		render.Column{Head: "STANDBY", Right: true},
		render.Column{Head: learnerHead(s.g.Kind), Right: true, Drop: 1},
		render.Column{Head: "STATEFUL", Right: true, Drop: 3},
		render.Column{Head: "STATELESS", Right: true, Drop: 3},
		render.Column{Head: "EPOCH", Right: true, Drop: 5, In: onlyIf(s.g.Kind == model.Streams, render.InText)},
		render.Column{Head: "TASK-OFFSETS", Drop: 2, In: onlyIf(t.offsets, render.InText)},
		render.Column{Head: "METADATA", In: render.InWide},
		render.Column{Head: "CLIENT ID", In: render.InWide},
		render.Column{Head: "MEMBER ID", In: render.InWide},
		render.Column{Head: "LAG", Right: true, Drop: 4},
		render.Column{Head: "NOTE"},
	)
	for i := range list {
		in := &list[i]
		for _, m := range byThread(in.Members) {
			name := instanceName(in)
			c := countRoles(m.Tasks)
			stateful, stateless := statefulCells([]model.Member{*m})
			if s.g.AssignmentBasis == model.AssignmentNone {
				stateful, stateless = render.Dash(), render.Dash()
			}
			g.Row(
				render.Text(name), render.Text(threadName(m, name)), render.Text(m.InstanceID),
				roleNum(s.g, c.active), roleNum(s.g, c.standby), roleNum(s.g, c.learner), stateful, stateless,
				render.OptNum(m.Epoch), offsetsCell([]model.Member{*m}), render.Text(versionText(m)),
				render.Text(m.ClientID), render.Text(m.ID), render.OptNum(memberLag(m)), noteCell(m),
			)
		}
	}
	return g
}

// byThread orders members by thread number, those without one last.
func byThread(members []model.Member) []*model.Member {
	out := make([]*model.Member, len(members))
	for i := range members {
		out[i] = &members[i]
	}
	slices.SortStableFunc(out, func(a, b *model.Member) int {
		if (a.Thread == 0) != (b.Thread == 0) {
			return b.Thread - a.Thread
		}
		return a.Thread - b.Thread
	})
	return out
}

// threadName is what the member's name adds to that of its instance.
func threadName(m *model.Member, instance string) string {
	if m.Thread > 0 {
		return "T" + strconv.Itoa(m.Thread)
	}
	if rest, ok := strings.CutPrefix(shortName(m), instance+"/"); ok && rest != "" {
		return rest
	}
	return shortName(m)
}

type roleCount struct{ active, standby, learner int }

func countRoles(tasks []model.Task) roleCount {
	var c roleCount
	for i := range tasks {
		switch t := &tasks[i]; {
		case t.TargetOnly:
		case t.Role == model.Active:
			c.active++
		case t.Role == model.Standby:
			c.standby++
		case t.Role == model.Learner:
			c.learner++
		}
	}
	return c
}

// memberLag is the input lag of a member's active tasks, nil when that of any
// is not known.
func memberLag(m *model.Member) *int64 {
	sum := int64(0)
	for i := range m.Tasks {
		t := &m.Tasks[i]
		if t.Role != model.Active || t.TargetOnly {
			continue
		}
		if t.Lag == nil || t.Lag.Records == nil {
			return nil
		}
		sum += *t.Lag.Records
	}
	return &sum
}

// memberNotes say what is peculiar about a member.
func memberNotes(m *model.Member) []string {
	var out []string
	if m.Leftover {
		out = append(out, "possible leftover")
	}
	if m.VersionProbing {
		out = append(out, "version probing")
	}
	switch m.Metadata.Status {
	case model.MetadataNewer:
		out = append(out, "metadata v"+strconv.Itoa(int(m.Metadata.UsedVersion))+": not understood")
	case model.MetadataMalformed:
		out = append(out, "metadata undecodable")
	}
	if m.Assignment.Status == model.MetadataMalformed {
		out = append(out, "assignment undecodable")
	}
	if m.IsClassic {
		out = append(out, "classic member")
	}
	if len(m.Tasks) == 0 && len(out) == 0 && m.Metadata.Status != model.MetadataEmpty {
		out = append(out, "idle")
	}
	return out
}

func noteCell(m *model.Member) render.Cell {
	notes := memberNotes(m)
	c := render.List(notes, ", ")
	if len(notes) > 0 && notes[0] != "idle" {
		c = c.In(render.Warning)
	}
	return c
}

func versionText(m *model.Member) string {
	md := &m.Metadata
	switch {
	case md.UsedVersion == 0:
		return ""
	case md.SupportedVersion > md.UsedVersion:
		return "v" + strconv.Itoa(int(md.UsedVersion)) + " of " + strconv.Itoa(int(md.SupportedVersion))
	}
	return "v" + strconv.Itoa(int(md.UsedVersion))
}

// threadHead is the word for a member that people of this kind of group use.
func threadHead(k model.Kind) string {
	if k == model.Worker {
		return "WORKER"
	}
	return "THREAD"
}
