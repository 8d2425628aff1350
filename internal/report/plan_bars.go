package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/render"
)

// Bounds of the picture of the balance.
const (
	barWidth = 24
	maxBars  = 12
)

// bars is a row an instance: active tasks before and after, between which
// bounds they should be, and a picture of both.
func (s *planScreen) bars() *render.Grid {
	grid := render.NewGrid(
		render.Column{Head: "INSTANCE", Cap: 20}, render.Column{Head: "BEFORE", Right: true}, render.Column{Head: "AFTER", Right: true},
		render.Column{Head: "STANDBY", Right: true, In: render.InWide}, render.Column{Head: "LEARNER", Right: true, In: render.InWide},
		render.Column{Head: "EXPECTED", Right: true, In: render.InWide},
		render.Column{Head: "ALLOWED"}, render.Column{Head: "BALANCE"},
	)
	ids := s.ids()
	most := s.most(ids)
	ids, rest := s.worthABar(ids)
	for _, id := range ids {
		before, was := s.r.Before.Instances[id]
		after, is := s.r.After.Instances[id]
		first, last, allowed, note := render.Dash(), render.Dash(), render.Dash(), ""
		if was {
			first = render.Num(before.Active)
		}
		if is {
			last = render.Num(after.Active)
		}
		switch {
		case !is:
			note = " gone"
		case !bounded(after):
			note = " leaving"
		default:
			allowed = render.Text(render.Int(int64(after.Low)) + "-" + render.Int(int64(after.High)))
			note = outside(after)
		}
		picture := render.Text(bar(before.Active, after, most) + note)
		if note == " low" || note == " high" {
			picture = picture.In(render.Warning)
		}
		grid.Row(render.Text(cmp.Or(before.Name, after.Name, id)), first, last, render.Num(after.Standby), render.Num(after.Learner),
			render.Float(after.Expected), allowed, picture)
	}
	if rest > 0 {
		grid.Row(render.Text(render.Int(int64(rest)) + " more").In(render.Dim))
	}
	return grid
}

// legend explains the picture.
func (s *planScreen) legend() {
	if len(s.ids()) > 0 {
		s.p.Styled(0, render.Dim, "= keeps, + gains, - gives up; [ ] is what r "+render.Ratio(s.r.BalancingFactor)+" allows")
	}
}

// most is the number of tasks that a whole bar stands for.
func (s *planScreen) most(ids []string) int {
	most := 1
	for _, id := range ids {
		after := s.r.After.Instances[id]
		most = max(most, s.r.Before.Instances[id].Active, after.Active, after.Low)
		if after.High <= barWidth { // where there is room, the whole range that is allowed
			most = max(most, after.High)
		}
	}
	return most
}

// worthABar chooses the instances that change or are out of balance first; rest
// counts the others.
func (s *planScreen) worthABar(ids []string) (list []string, rest int) {
	if s.p.Wide() || len(ids) <= maxBars {
		return ids, 0
	}
	weight := func(id string) int {
		after := s.r.After.Instances[id]
		d := after.Active - s.r.Before.Instances[id].Active
		return max(d, -d) + 2*boolOrder(outside(after) != "")
	}
	kept := slices.Clone(ids)
	slices.SortStableFunc(kept, func(a, b string) int { return weight(b) - weight(a) })
	kept = kept[:maxBars]
	list = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !slices.Contains(kept, id) })
	return list, len(ids) - len(list)
}

// bounded reports whether an instance has bounds: one that leaves has none.
func bounded(c plan.Counts) bool { return c.High > 0 || c.Low > 0 }

// outside says on which side of its bounds an instance is; "" within them.
func outside(c plan.Counts) string {
	switch {
	case !bounded(c) || c.Low <= c.Active && c.Active <= c.High:
		return ""
	case c.Active < c.Low:
		return " low"
	}
	return " high"
}

// bar draws one instance: a sign a task, or so many tasks where a bar would be
// too long.
func bar(before int, after plan.Counts, most int) string {
	scale := func(n int) int {
		if most <= barWidth {
			return min(n, barWidth)
		}
		cells := (n*barWidth + most/2) / most
		if n > 0 {
			cells = max(cells, 1)
		}
		return min(cells, barWidth)
	}
	full := min(most, barWidth)
	was, is := scale(before), scale(after.Active)
	low, high := -1, -1
	if bounded(after) {
		low = max(scale(after.Low)-1, 0)
		if after.High <= most { // else it lies beyond the picture
			high = min(scale(after.High), full)
		}
	}
	var b strings.Builder
	for i := range full + 1 {
		if i == high {
			b.WriteByte(']')
		}
		if i == full {
			break
		}
		if i == low {
			b.WriteByte('[')
		}
		switch {
		case i < is && i < was:
			b.WriteByte('=')
		case i < is:
			b.WriteByte('+')
		case i < was:
			b.WriteByte('-')
		default:
			b.WriteByte('.')
		}
	}
	return b.String()
}
