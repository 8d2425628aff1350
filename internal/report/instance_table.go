package report

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// maxRows is how many rows a table of the default form has; the rest is
// counted, so that the verdict stays on the screen.
const maxRows = 40

// traits are the columns that the members of a group give reason for.
type traits struct {
	static   bool // any member has a group.instance.id
	target   bool // any instance has a target that may differ
	offsets  bool // some members send no task offsets
	mixed    bool // stateful and stateless tasks side by side
	noted    bool // any instance has a note
	inferred map[string]bool
}

func traitsOf(g *model.Group, list []model.Instance) traits {
	t := traits{inferred: map[string]bool{}}
	stateful, stateless := false, false
	for i := range list {
		in := &list[i]
		t.target = t.target || in.TargetActive != nil
		t.noted = t.noted || instanceNote(in) != ""
		for j := range in.Members {
			m := &in.Members[j]
			t.static = t.static || m.InstanceID != ""
			t.offsets = t.offsets || m.ReportsOffsets != nil && !*m.ReportsOffsets
			for k := range m.Tasks {
				task := &m.Tasks[k]
				if task.Role == model.Learner && task.Inferred {
					t.inferred[in.ID] = true
				}
				if task.Stateful != nil {
					stateful = stateful || *task.Stateful
					stateless = stateless || !*task.Stateful
				}
			}
		}
	}
	t.mixed = stateful && stateless
	return t
}

func onlyIf(yes bool, in render.Form) render.Form {
	if yes {
		return in
	}
	return render.InWide
}

// learnerHead is the word for a learner that people of this kind of group use.
func learnerHead(k model.Kind) string {
	if k == model.Streams {
		return "WARM-UP"
	}
	return "LEARNER"
}

func workersHead(k model.Kind) string {
	switch {
	case k == model.Worker:
		return "WORKERS"
	case !k.IsStream():
		return "MEMBERS"
	}
	return "THREADS"
}

// workersHeadOf is workersHead for several groups: that of all, where they agree.
func workersHeadOf(groups []*model.Group) string {
	head := ""
	for _, g := range groups {
		if h := workersHead(g.Kind); head == "" || head == h {
			head = h
		} else {
			return "THREADS"
		}
	}
	return cmp.Or(head, "THREADS")
}

// instanceGrid is a row an instance with a last line of totals.
func (s *screen) instanceGrid(total string) *render.Grid {
	g := s.g
	t := traitsOf(g, g.Instances)
	grid := render.NewGrid(instanceColumns(g.Kind, t)...)
	shown, rest := g.Instances, 0
	if !s.p.Wide() && total == "total" && len(shown) > maxRows {
		shown, rest = outstanding(shown)
	}
	for i := range shown {
		grid.Row(instanceCells(g, &shown[i], t)...)
	}
	if rest > 0 && len(shown) == 0 {
		grid.Row(s.instanceTotals(render.Count(rest, "instance"), t)...) // nothing stands out: the sums are all there is
		return grid
	}
	if rest > 0 {
		grid.Row(render.Text(render.Int(int64(rest)) + " more").In(render.Dim))
	}
	grid.Footer(s.instanceTotals(total, t)...)
	return grid
}

// outstanding chooses the instances worth a row, at most maxRows.
func outstanding(list []model.Instance) (shown []model.Instance, rest int) {
	for i := range list {
		in := &list[i]
		if len(shown) < maxRows && (!in.Balanced || in.Learner > 0 || in.Leaving != nil || instanceNote(in) != "") {
			shown = append(shown, *in)
		}
	}
	return shown, len(list) - len(shown)
}

func instanceColumns(kind model.Kind, t traits) []render.Column {
	ofExpected := render.InText
	if kind == model.Streams {
		ofExpected = render.InWide
	}
	columns := []render.Column{
		{Head: "INSTANCE", Cap: nameCap},
		{Head: "PROCESS", In: render.InWide},
		{Head: "HOST", In: render.InWide},
		{Head: "ENDPOINT", In: render.InWide},
		{Head: "RACK", In: render.InWide},
		{Head: "CLIENT TAGS", In: render.InWide},
		{Head: "INSTANCE-ID", Cap: nameCap + 3, Drop: 1, In: onlyIf(t.static, render.InText)},
		{Head: workersHead(kind), Right: true, Drop: 3},
		{Head: "ACTIVE", Right: true},
		{Head: "TARGET", Right: true, In: onlyIf(t.target, render.InText)},
		{Head: "STANDBY", Right: true, Drop: 2},
		{Head: learnerHead(kind), Right: true},
		{Head: "STATEFUL", Right: true, Drop: 5, In: onlyIf(t.mixed, render.InText)},
		{Head: "STATELESS", Right: true, Drop: 5, In: onlyIf(t.mixed, render.InText)},
		{Head: "EXPECTED", Right: true, Drop: 4},
		{Head: "OF EXPECTED", Right: true, Drop: 6, In: ofExpected},
		{Head: "TASK-OFFSETS", In: onlyIf(t.offsets, render.InText)},
		{Head: "LAG", Right: true},
		{Head: "NOTE", In: onlyIf(t.noted, render.InText)},
	}
	if !kind.IsStream() { // it runs no tasks: who is there is all there is to say
		for i := range columns {
			if columns[i].Right && columns[i].Head != workersHead(kind) {
				columns[i].In = render.InWide
			}
		}
	}
	return columns
}

func instanceCells(g *model.Group, in *model.Instance, t traits) []render.Cell {
	stateful, stateless := statefulCells(in.Members)
	expected, of := expectedCells(in)
	learner := roleNum(g, in.Learner)
	if t.inferred[in.ID] {
		learner = learner.Suffix("~")
	}
	if g.AssignmentBasis == model.AssignmentNone {
		stateful, stateless = render.Dash(), render.Dash()
	}
	process := render.Text(in.ID)
	if strings.HasPrefix(in.ID, "client:") {
		process = render.Dash()
	}
	return []render.Cell{
		render.Text(instanceName(in)), process, render.Text(strings.TrimPrefix(in.Host, "/")),
		render.Text(in.Endpoint), render.Text(in.Rack), render.List(tagTexts(in.Tags), " "), staticIDs(in.Members),
		render.Num(len(in.Members)), roleNum(g, in.Active), render.OptNum(in.TargetActive), roleNum(g, in.Standby), learner,
		stateful, stateless, expected, of, offsetsCell(in.Members), render.OptNum(in.Lag), render.Text(instanceNote(in)),
	}
}

// roleNum is a number of tasks, not known while no assignment is given (field
// case 38).
func roleNum(g *model.Group, n int) render.Cell {
	if g.AssignmentBasis == model.AssignmentNone {
		return render.Dash()
	}
	return render.Num(n)
}

// expectedCells are what an instance should run and the share of it that it
// runs, with a word when that is out of bounds.
func expectedCells(in *model.Instance) (expected, of render.Cell) {
	if in.Expected == 0 {
		return render.Dash(), render.Dash()
	}
	ratio := float64(in.Active) / in.Expected
	of = render.Float(ratio).Shown(strconv.FormatFloat(ratio, 'f', 2, 64))
	if !in.Balanced {
		word := "below"
		if in.Active > in.High {
			word = "above"
		}
		of = of.Suffix("  " + word).In(render.Warning)
	}
	return render.Float(in.Expected), of
}

func instanceNote(in *model.Instance) string {
	var out []string
	if in.Leaving != nil {
		out = append(out, "leaving")
	}
	for i := range in.Members {
		for _, n := range memberNotes(&in.Members[i]) {
			if n != "idle" && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return strings.Join(out, ", ")
}

func tagTexts(tags map[string]string) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, k+"="+tags[k])
	}
	return out
}

// staticIDs are the group.instance.ids of an instance, "-" for members without.
func staticIDs(members []model.Member) render.Cell {
	ids := make([]string, 0, len(members))
	static := false
	for i := range members {
		id := members[i].InstanceID
		static = static || id != ""
		if id == "" {
			id = render.None
		}
		ids = append(ids, id)
	}
	switch {
	case !static:
		return render.Dash()
	case len(ids) > 2, render.Width(strings.Join(ids, " ")) > nameCap:
		if len(ids) > 1 {
			return render.List(ids, " ").Shown(ids[0] + " +" + strconv.Itoa(len(ids)-1))
		}
	}
	return render.List(ids, " ")
}

// statefulCells count the active tasks with and without state; "?" where it
// cannot be told of any (field case 17).
func statefulCells(members []model.Member) (stateful, stateless render.Cell) {
	yes, no, unknown := 0, 0, 0
	for i := range members {
		for k := range members[i].Tasks {
			t := &members[i].Tasks[k]
			switch {
			case t.Role != model.Active || t.TargetOnly:
			case t.Stateful == nil:
				unknown++
			case *t.Stateful:
				yes++
			default:
				no++
			}
		}
	}
	if unknown > 0 {
		return render.Question(), render.Question()
	}
	return render.Num(yes), render.Num(no)
}

// offsetsCell says whether members send task offsets (field case 13).
func offsetsCell(members []model.Member) render.Cell {
	yes, no := 0, 0
	for i := range members {
		switch r := members[i].ReportsOffsets; {
		case r == nil:
		case *r:
			yes++
		default:
			no++
		}
	}
	switch {
	case yes+no == 0:
		return render.Dash()
	case no == 0:
		return render.Text("yes")
	case yes == 0:
		return render.Text("no").In(render.Warning)
	}
	return render.Text("no from " + strconv.Itoa(no)).In(render.Warning)
}

func (s *screen) instanceTotals(word string, t traits) []render.Cell {
	g := s.g
	threads, target := 0, 0
	var all []model.Member
	for i := range g.Instances {
		threads += len(g.Instances[i].Members)
		all = append(all, g.Instances[i].Members...)
		if n := g.Instances[i].TargetActive; n != nil {
			target += *n
		}
	}
	stateful, stateless := statefulCells(all)
	if g.AssignmentBasis == model.AssignmentNone {
		stateful, stateless = render.Dash(), render.Dash()
	}
	learner := roleNum(g, g.Totals.Learner)
	if len(t.inferred) > 0 {
		learner = learner.Suffix("~")
	}
	expected := render.Dash()
	if g.Totals.Tasks > 0 && g.Balance != nil {
		expected = render.Num(g.Totals.Tasks)
	}
	blank := render.Blank()
	return []render.Cell{
		render.Text(word), blank, blank, blank, blank, blank, blank,
		render.Num(threads), roleNum(g, g.Totals.Active), render.Num(target), roleNum(g, g.Totals.Standby), learner,
		stateful, stateless, expected, blank, blank, lagCell(newTotals(g).Lag, &g.Totals, true), blank,
	}
}
