package report

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/render"
)

// planScreen writes the text form of one plan.
type planScreen struct {
	p     *render.Page
	r     *Plan
	names map[string]string // of instances, by id
}

func newPlanScreen(p *render.Page, r *Plan) *planScreen {
	s := &planScreen{p: p, r: r, names: map[string]string{}}
	for _, b := range []plan.Balance{r.Before, r.After} {
		for id, c := range b.Instances {
			s.names[id] = cmp.Or(c.Name, id)
		}
	}
	return s
}

// name is an instance's name, the head of its id when it has none.
func (s *planScreen) name(id string) string {
	if n, ok := s.names[id]; ok {
		return s.p.Name(n)
	}
	if id == "" {
		return "nobody"
	}
	return s.p.Name(id[:min(len(id), 8)])
}

// block writes a table after a blank line, unless it has no rows.
func (s *planScreen) block(g *render.Grid) {
	if g.Len() > 0 {
		s.p.Blank()
		s.p.Table(g)
	}
}

func (s *planScreen) headline() {
	kind := "scenario"
	if s.r.g != nil && s.r.g.Kind != "" {
		kind = kindName(s.r.g.Kind)
	}
	from := "from " + render.Escape(s.r.BasedOn.State)
	if t := s.r.BasedOn.TakenAt; t != nil {
		from += ", " + render.Clock(*t, cmp.Or(s.r.o.Now, t)) + s.age(*t)
	}
	group := render.Span{Text: s.p.Name(s.r.Group), Style: render.Strong}
	assignor := "assignor " + render.Escape(s.r.Assignor)
	if render.Width(group.Text) > longGroup {
		s.p.Head("", group, render.Span{Text: kind})
		s.p.Line(2, "  "+assignor+", "+from)
		return
	}
	s.p.Head(from, group, render.Span{Text: kind + ", " + assignor})
}

// age tells how old what the plan starts from is, once that is worth saying.
func (s *planScreen) age(taken time.Time) string {
	if s.r.o.Now == nil || s.r.o.Now.Sub(taken) < time.Minute {
		return ""
	}
	return " (" + render.Duration(s.r.o.Now.Sub(taken)) + " old)"
}

// longGroup is the longest name that has the assignor on its line.
const longGroup = 16

// opening is the change and what the plan goes by.
func (s *planScreen) opening() []render.Fact {
	change := "none: what the next rebalances do by themselves"
	if len(s.r.Request.Set) > 0 {
		change = "none but the settings that are given"
	}
	if len(s.r.Changes) > 0 {
		change = render.Escape(strings.Join(s.r.Changes, "; "))
	}
	out := []render.Fact{{Label: "Change", Text: change}}
	if t := s.taken(); t != "" {
		out = append(out, render.Fact{Label: "Taken", Text: t})
	}
	copies := "as caught up, all that have been there since the last round"
	if s.r.BasedOn.Copies == plan.CopiesReported {
		copies = "where they were reported to be, the group is not settled"
	}
	return append(out, render.Fact{Label: "Copies", Text: copies})
}

// taken says which settings the plan goes by and where they come from.
func (s *planScreen) taken() string {
	bySource := map[string][]string{}
	for _, t := range s.r.Taken {
		bySource[t.Source] = append(bySource[t.Source], render.Escape(t.Key+" "+t.Value))
	}
	var out []string
	for _, source := range slices.Sorted(maps.Keys(bySource)) {
		list := strings.Join(bySource[source], ", ")
		switch source {
		case "default":
			list += ": the defaults, not readable from outside; --set KEY=VALUE if yours differ"
		case "user":
			list += ": as given"
		default:
			list += ": " + render.Escape(source)
		}
		out = append(out, list)
	}
	return strings.Join(out, "; ")
}

// planRow is one row of the rounds: a rebalance with the hand-overs that follow
// it at once.
type planRow struct {
	number, moves, learners, standbys, down int
	at, trigger                             string
	records                                 int64
	unknown                                 bool // records of some copy are not known
	active                                  map[string]int
}

func (s *planScreen) rows() []planRow {
	var out []planRow
	for i, r := range s.r.Rounds {
		if i == 0 || r.Trigger != plan.TriggerHandOver {
			at := took(r.AtS)
			if r.AtMostS != nil && *r.AtMostS != r.AtS {
				at += "-" + took(*r.AtMostS)
			}
			out = append(out, planRow{number: len(out) + 1, at: at, trigger: r.Trigger})
		}
		row := &out[len(out)-1]
		row.moves += len(r.Moves)
		row.learners += len(r.Learners)
		row.standbys += len(r.Standbys)
		row.down += len(r.Down)
		if i > 0 && row.active == nil {
			row.active = maps.Clone(out[len(out)-2].active)
		}
		if row.active == nil {
			row.active = map[string]int{}
		}
		maps.Copy(row.active, r.Active)
		for _, d := range r.Down {
			if d.RemainingRecords != nil {
				row.records += *d.RemainingRecords
			}
		}
		for _, list := range [][]plan.Copy{r.Learners, r.Standbys} {
			for _, c := range list {
				if c.RemainingRecords == nil {
					row.unknown = true
				} else {
					row.records += *c.RemainingRecords
				}
			}
		}
	}
	return out
}

// Rows of the rounds that the default form shows: so many first, then the last.
const (
	firstRounds = 16
	lastRounds  = 3
)

// rounds is a row a round, with the active tasks of the instances that change
// most.
func (s *planScreen) rounds() *render.Grid {
	rows := s.rows()
	standbys, down := false, false
	for _, r := range rows {
		standbys, down = standbys || r.standbys > 0, down || r.down > 0
	}
	cols := []render.Column{
		{Head: "ROUND"}, {Head: "AT"}, {Head: "TRIGGER", Cap: 24}, {Head: "MOVES", Right: true},
		{Head: "LEARN", Right: true}, {Head: "STANDBY", Right: true, In: onlyIf(standbys, render.InText)},
		{Head: "DOWN", Right: true, In: onlyIf(down, render.InText)}, {Head: "TO RESTORE", Right: true},
	}
	shown, rank := s.columns()
	for _, id := range shown {
		cols = append(cols, render.Column{Head: render.Shorten(s.name(id), 12), Right: true, Drop: rank[id]})
	}
	grid := render.NewGrid(cols...)
	for i, r := range rows {
		if !s.p.Wide() && len(rows) > firstRounds+lastRounds+1 && i >= firstRounds && i < len(rows)-lastRounds {
			if i == firstRounds {
				grid.Row(render.Text("…"), render.Blank(), render.Text(render.Int(int64(len(rows)-firstRounds-lastRounds))+" more: -o wide"))
			}
			continue
		}
		restore := render.Num(r.records)
		switch {
		case r.unknown && r.records == 0:
			restore = render.Dash()
		case r.records > 0:
			restore = restore.Prefix("≤")
		}
		cells := []render.Cell{
			render.Text(strconv.Itoa(r.number)), render.Text(r.at), render.Text(r.trigger), render.Num(r.moves),
			render.Num(r.learners), render.Num(r.standbys), render.Num(r.down), restore,
		}
		for _, id := range shown {
			n, there := r.active[id]
			if !there {
				cells = append(cells, render.Dash())
				continue
			}
			cells = append(cells, render.Num(n))
		}
		grid.Row(cells...)
	}
	return grid
}

// maxColumns is how many instances the table of rounds has at most.
const maxColumns = 6

// columns are the instances of the table of rounds, by name: those that change
// most. rank orders them by that, from 1; the last goes first where there is no
// room.
func (s *planScreen) columns() (ids []string, rank map[string]int) {
	ids = s.ids()
	change := func(id string) int {
		d := s.r.After.Instances[id].Active - s.r.Before.Instances[id].Active
		return max(d, -d)
	}
	ranked := slices.Clone(ids)
	slices.SortStableFunc(ranked, func(a, b string) int { return change(b) - change(a) })
	if !s.p.Wide() {
		ranked = ranked[:min(len(ranked), maxColumns)]
	}
	rank = make(map[string]int, len(ranked))
	for i, id := range ranked {
		rank[id] = i + 1
	}
	return slices.DeleteFunc(ids, func(id string) bool { return rank[id] == 0 }), rank
}

// ids are the instances before and after, by name.
func (s *planScreen) ids() []string {
	all := maps.Clone(s.r.Before.Instances)
	if all == nil {
		all = map[string]plan.Counts{}
	}
	maps.Copy(all, s.r.After.Instances)
	ids := slices.Collect(maps.Keys(all))
	slices.SortFunc(ids, func(a, b string) int {
		_, oldA := s.r.Before.Instances[a]
		_, oldB := s.r.Before.Instances[b]
		return cmp.Or(boolOrder(oldB)-boolOrder(oldA), strings.Compare(all[a].Name, all[b].Name), strings.Compare(a, b))
	})
	return ids
}

func boolOrder(b bool) int {
	if b {
		return 1
	}
	return 0
}

// moves lists each move and each copy that begins with -v.
func (s *planScreen) moves() {
	t := s.r.Totals
	if !s.r.o.Moves || t.Moves+t.Learners+t.Standbys == 0 {
		return
	}
	s.p.Blank()
	n := 0
	for i, r := range s.r.Rounds {
		if i == 0 || r.Trigger != plan.TriggerHandOver {
			n++
		}
		for _, m := range r.Moves {
			s.p.Line(2, "round "+strconv.Itoa(n)+"  "+render.Escape(m.Task)+"  "+s.name(m.From)+" -> "+s.name(m.To)+"  "+m.How)
		}
		s.copies(n, r.Learners, "learns it")
		s.copies(n, r.Standbys, "stands by")
	}
}

// copies lists the copies that begin in a round.
func (s *planScreen) copies(round int, list []plan.Copy, what string) {
	for _, c := range list {
		text := "round " + strconv.Itoa(round) + "  " + render.Escape(c.Task) + "  " + s.name(c.Instance) + " " + what
		if c.RemainingRecords != nil {
			text += ", ≤" + render.Int(*c.RemainingRecords) + " records"
		}
		s.p.Line(2, text)
	}
}
