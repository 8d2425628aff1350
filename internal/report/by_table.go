package report

import (
	"slices"
	"strconv"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// topicGrid sums the offsets by topic, with a last line of totals (field case
// 53).
func (s *screen) topicGrid() *render.Grid {
	g := render.NewGrid(
		render.Column{Head: "TOPIC", Cap: 32},
		render.Column{Head: "PARTITIONS", Right: true},
		render.Column{Head: "COMMITTED", Right: true},
		render.Column{Head: "MEMBERS", Right: true, Drop: 1},
		render.Column{Head: "LAG", Right: true},
		render.Column{Head: "NOTE"},
	)
	var total topicSum
	for _, list := range byTopic(s.g.Offsets) {
		sum := sumTopic(list)
		total.join(sum)
		g.Row(sum.cells(list[0].Topic)...)
	}
	if g.Len() > 0 {
		g.Footer(total.cells("TOTAL")...)
	}
	return g
}

// byTopic cuts offsets, which are sorted by topic, into topics.
func byTopic(list []model.PartitionOffset) [][]model.PartitionOffset {
	var out [][]model.PartitionOffset
	for start, i := 0, 0; i < len(list); i++ {
		if i+1 == len(list) || list[i+1].Topic != list[start].Topic {
			out = append(out, list[start:i+1])
			start = i + 1
		}
	}
	return out
}

type topicSum struct {
	partitions, committed int
	lag                   int64
	lagMissing            int
	beyond                int64
	members               map[string]bool
	problems              []string
}

func sumTopic(list []model.PartitionOffset) topicSum {
	t := topicSum{members: map[string]bool{}}
	for i := range list {
		o := &list[i]
		t.partitions++
		if o.Committed != nil {
			t.committed++
		}
		if o.Lag != nil {
			t.lag += *o.Lag
		} else {
			t.lagMissing++
		}
		t.beyond += o.BeyondEnd
		if o.Member != "" {
			t.members[o.Member] = true
		}
		if o.Problem != "" && !slices.Contains(t.problems, o.Problem) {
			t.problems = append(t.problems, o.Problem)
		}
	}
	return t
}

func (t *topicSum) join(o topicSum) {
	if t.members == nil {
		t.members = map[string]bool{}
	}
	t.partitions += o.partitions
	t.committed += o.committed
	t.lag += o.lag
	t.lagMissing += o.lagMissing
	t.beyond += o.beyond
	for m := range o.members {
		t.members[m] = true
	}
}

func (t *topicSum) cells(name string) []render.Cell {
	lag := render.Num(t.lag)
	switch {
	case t.lagMissing == t.partitions:
		lag = render.Dash()
	case t.lagMissing > 0:
		lag = lag.Prefix("≥")
	}
	notes := slices.Clone(t.problems)
	if t.beyond > 0 {
		notes = append(notes, "committed beyond end by "+render.Int(t.beyond))
	}
	return []render.Cell{
		render.Text(name), render.Num(t.partitions), render.Num(t.committed), render.Num(len(t.members)), lag, render.List(notes, ", "),
	}
}

// manyInstances is from how many instances on a matrix shows only how they
// spread.
const manyInstances = 8

// bySubtopology shows how the active tasks of each sub-topology spread over the
// instances, with the largest share of what is expected (field case 15).
func (s *screen) bySubtopology() {
	counts := map[string]map[string]int{}
	tasks := map[string]int{}
	var ids []string
	for h := range eachTask(s.g) {
		if h.task.Role != model.Active || h.task.TargetOnly {
			continue
		}
		id := taskSubtopology(h.task.ID)
		if counts[id] == nil {
			counts[id] = map[string]int{}
			ids = append(ids, id)
		}
		counts[id][h.instance.ID]++
		tasks[id]++
	}
	slices.SortFunc(ids, model.CompareSubtopologies)
	matrix := len(s.g.Instances) <= manyInstances || s.p.Wide()
	g := render.NewGrid(s.matrixColumns(matrix)...)
	for _, id := range ids {
		g.Row(s.matrixRow(id, counts[id], tasks[id], matrix)...)
	}
	if len(ids) > 0 {
		all := map[string]int{}
		sum := 0
		for _, id := range ids {
			for in, n := range counts[id] {
				all[in] += n
				sum += n
			}
		}
		g.Footer(s.matrixRow("TOTAL", all, sum, matrix)...)
	}
	s.block(g)
}

func taskSubtopology(id model.TaskID) string {
	if id.Topology != "" {
		return id.Topology + "__" + id.Subtopology
	}
	return id.Subtopology
}

func (s *screen) matrixColumns(matrix bool) []render.Column {
	cols := []render.Column{{Head: "SUBTOPOLOGY", Cap: nameCap}, {Head: "TASKS", Right: true}}
	if matrix {
		for i := range s.g.Instances {
			cols = append(cols, render.Column{Head: s.p.Name(instanceName(&s.g.Instances[i])), Right: true, Cap: nameCap, Drop: 1})
		}
	} else {
		cols = append(cols, render.Column{Head: "LEAST", Right: true}, render.Column{Head: "MOST", Right: true},
			render.Column{Head: "MOST ON", Cap: nameCap})
	}
	return append(cols, render.Column{Head: "FACTOR", Right: true})
}

func (s *screen) matrixRow(id string, counts map[string]int, tasks int, matrix bool) []render.Cell {
	cells := []render.Cell{render.Text(id), render.Num(tasks)}
	threads := memberCount(s.g)
	least, most, factor := -1, -1, 0.0
	mostOn := ""
	for i := range s.g.Instances {
		in := &s.g.Instances[i]
		n := counts[in.ID]
		if matrix {
			cells = append(cells, render.Num(n))
		}
		if least < 0 || n < least {
			least = n
		}
		if n > most {
			most, mostOn = n, instanceName(in)
		}
		if share := float64(tasks) * float64(len(in.Members)) / float64(max(threads, 1)); share > 0 {
			factor = max(factor, float64(n)/share)
		}
	}
	if !matrix {
		cells = append(cells, render.Num(max(least, 0)), render.Num(max(most, 0)), render.Text(mostOn))
	}
	f := render.Float(factor).Shown(strconv.FormatFloat(factor, 'f', 2, 64))
	if s.g.Balance != nil && factor > s.g.Balance.Factor {
		f = f.In(render.Warning)
	}
	return append(cells, f)
}
