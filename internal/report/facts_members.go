package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

func (s *screen) memberLine(n int) string {
	text := render.Int(int64(n)) + " in " + render.Count(len(s.g.Instances), "instance")
	if s.g.Metadata.StaticMembers == 0 {
		text += ", none static"
	}
	if v := s.g.Metadata.GroupVersion; v > 0 && !s.g.Metadata.Mixed {
		text += "; metadata v" + strconv.Itoa(int(v))
	}
	return text
}

// static answers field case 26 and names the members that are not.
func (s *screen) static(n int) string {
	if s.g.Metadata.StaticMembers == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d members", s.g.Metadata.StaticMembers, n)
	var dynamic []string
	for i := range s.g.Instances {
		for j := range s.g.Instances[i].Members {
			if m := &s.g.Instances[i].Members[j]; m.InstanceID == "" {
				dynamic = append(dynamic, shortName(m))
			}
		}
	}
	if len(dynamic) > 0 {
		text += "; dynamic: " + s.names(dynamic, 8)
	}
	return text
}

// metadata answers field case 34 while formats differ.
func (s *screen) metadata() string {
	md := &s.g.Metadata
	if !md.Mixed {
		return ""
	}
	text := "v" + strconv.Itoa(int(md.GroupVersion))
	var parts []string
	for i, v := range slices.Sorted(maps.Keys(md.Supported)) {
		n := render.Int(int64(md.Supported[v]))
		if i == 0 {
			n = render.Count(md.Supported[v], "member") + " " + plural(md.Supported[v], "supports", "support")
		}
		parts = append(parts, fmt.Sprintf("%s up to %d", n, v))
	}
	text += " (" + strings.Join(parts, ", ") + ")"
	if len(md.Used) > 1 {
		parts = parts[:0]
		for _, v := range slices.Sorted(maps.Keys(md.Used)) {
			parts = append(parts, fmt.Sprintf("%d %s v%d", md.Used[v], plural(md.Used[v], "uses", "use"), v))
		}
		text += "; " + strings.Join(parts, ", ")
	}
	return text
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// standbys answers field case 18: how many there are of those that are wanted.
func (s *screen) standbys() string {
	want := s.g.Timing.Standbys
	if want == nil || s.g.AssignmentBasis == model.AssignmentNone {
		return ""
	}
	source := s.g.Timing.StandbysSource
	mark := ""
	if source == model.SourceEstimate {
		mark = "~"
	}
	text := strconv.Itoa(*want) + " a task" + mark
	if *want > 0 {
		have, wanted, missing := countStandbys(s.g, *want)
		text = fmt.Sprintf("%s of %s, %d a task%s", render.Int(int64(have)), render.Int(int64(wanted)), *want, mark)
		if len(missing) > 0 {
			text += " (missing: " + s.names(missing, 8) + ")"
		}
	} else if s.g.Kind != model.Classic {
		return "" // the timing line says so
	}
	if mark != "" {
		text += " (--standbys N if you know better)"
	}
	return text
}

// countStandbys counts the standbys of stateful tasks, no task with more than
// it wants.
func countStandbys(g *model.Group, want int) (have, wanted int, missing []string) {
	count := map[model.TaskID]int{}
	stateful := map[model.TaskID]bool{}
	for h := range eachTask(g) {
		t := h.task
		switch {
		case t.TargetOnly:
		case t.Role == model.Standby:
			count[t.ID]++
			stateful[t.ID] = true
		case t.Role == model.Active && t.Stateful != nil && *t.Stateful:
			stateful[t.ID] = true
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(stateful), model.TaskID.Compare) {
		wanted += want
		have += min(count[id], want)
		if count[id] < want {
			missing = append(missing, id.String())
		}
	}
	return have, wanted, missing
}
