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
	copies := "all that have been there since the last round are taken as caught up"
	switch classic := s.r.Assignor == plan.NameHighAvailability; {
	case !classic && !s.anyCopies():
		return out
	case classic && s.r.BasedOn.Copies == plan.CopiesReported:
		copies = "taken to be where they were reported, since the group is not settled"
	case s.r.BasedOn.Copies == plan.CopiesReported:
		copies = "taken as members reported them, and as caught up where none did"
	}
	return append(out, render.Fact{Label: "Copies", Text: copies})
}

// anyCopies reports whether somebody has a copy of a task before the change.
func (s *planScreen) anyCopies() bool {
	for _, c := range s.r.Before.Instances {
		if c.Standby+c.Learner > 0 {
			return true
		}
	}
	return false
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
