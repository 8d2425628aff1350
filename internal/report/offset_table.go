package report

import (
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// offsetTable shows the partitions whose commits or logs stand out, or all of
// them in the wide form and where nobody runs any (field cases 45, 46, 49, 52).
func (s *screen) offsetTable() {
	all := s.p.Wide() || memberCount(s.g) == 0
	list := make([]*model.PartitionOffset, 0, len(s.g.Offsets))
	moving := movingPartitions(s.g)
	for i := range s.g.Offsets {
		if o := &s.g.Offsets[i]; all || offsetStandsOut(o, s.g) && !moving[o.TopicPartition] {
			list = append(list, o)
		}
	}
	if len(list) == 0 {
		return
	}
	shown := list
	if !s.p.Wide() {
		shown = list[:min(len(list), maxRows)]
	}
	s.p.Blank()
	s.p.Table(s.offsetGrid(shown))
	if more := len(list) - len(shown); more > 0 {
		s.p.Line(0, render.Int(int64(more))+" more partitions (-o wide)")
	}
	for _, line := range offsetLegend(list) {
		s.p.Line(2, line)
	}
}

// movingPartitions are those of tasks between two owners: nobody reads them for
// a moment, which the table of tasks says.
func movingPartitions(g *model.Group) map[model.TopicPartition]bool {
	out := map[model.TopicPartition]bool{}
	for h := range eachTask(g) {
		if h.task.Role == model.Active && h.task.TargetOnly {
			for _, p := range h.task.Partitions {
				out[p] = true
			}
		}
	}
	return out
}

func offsetStandsOut(o *model.PartitionOffset, g *model.Group) bool {
	if o.Problem != "" || o.BeyondEnd > 0 || o.FromStart {
		return true
	}
	return o.Member == "" && g.AssignmentBasis == model.AssignmentCurrent
}

func (s *screen) offsetGrid(list []*model.PartitionOffset) *render.Grid {
	noted := false
	for _, o := range list {
		noted = noted || offsetNote(o) != ""
	}
	g := render.NewGrid(
		render.Column{Head: "TOPIC", Cap: 24},
		render.Column{Head: "PARTITION", Right: true},
		render.Column{Head: "COMMITTED", Right: true},
		render.Column{Head: "LOG START", Right: true, In: render.InWide},
		render.Column{Head: "END", Right: true},
		render.Column{Head: "LAG", Right: true},
		render.Column{Head: "MEMBER", Cap: memberCap, Drop: 2},
		render.Column{Head: "NOTE", Drop: 1, In: onlyIf(noted, render.InText)},
	)
	for _, o := range list {
		lag := render.OptNum(o.Lag)
		if o.BeyondEnd > 0 {
			lag = lag.Suffix("*").In(render.Warning)
		}
		g.Row(
			render.Text(o.Topic), render.Num(o.Partition), render.OptNum(o.Committed), render.OptNum(o.LogStart),
			render.OptNum(o.LogEnd), lag, render.Text(s.memberName(o.Member)), render.Text(offsetNote(o)),
		)
	}
	return g
}

func offsetNote(o *model.PartitionOffset) string {
	switch {
	case o.Problem != "":
		return o.Problem
	case o.FromStart:
		return "from start"
	}
	return ""
}

// offsetLegend explains the marks of the table.
func offsetLegend(list []*model.PartitionOffset) []string {
	var out []string
	var beyond, partitions int64
	fromStart := false
	for _, o := range list {
		if o.BeyondEnd > 0 {
			beyond += o.BeyondEnd
			partitions++
		}
		fromStart = fromStart || o.FromStart
	}
	if beyond > 0 {
		text := "* committed beyond end by " + render.Int(beyond)
		if partitions > 1 {
			text += " in " + render.Int(partitions) + " partitions"
		}
		out = append(out, text)
	}
	if fromStart {
		out = append(out, "from start: nothing is committed, the lag is counted from the start of the log")
	}
	return out
}
